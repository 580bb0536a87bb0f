/* SPDX-License-Identifier: MIT */
/*
 * A program that is not linked with berth loads it, uses it from threads, and
 * unloads it before they end.  LIBBERTH is the library's path.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <berth/vfs.h>

enum {
	THREADS = 4,
};

/* The calls, as dlsym() finds them. */
static struct {
	__typeof__(&berth_vfs_create) vfs_create;
	__typeof__(&berth_vfs_destroy) vfs_destroy;
	__typeof__(&berth_task_create) task_create;
	__typeof__(&berth_task_destroy) task_destroy;
	__typeof__(&berth_open) open;
	__typeof__(&berth_write) write;
	__typeof__(&berth_pread) pread;
	__typeof__(&berth_unlink) unlink;
	__typeof__(&berth_close) close;
	__typeof__(&berth_drain) drain;
} call;

static void *load(void)
{
	void *library = dlopen(LIBBERTH, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		print_error("%s\n", dlerror());
	assert_non_null(library);
#define find(name)                                             \
	*(void **)&call.name = dlsym(library, "berth_" #name); \
	assert_non_null(call.name)
	find(vfs_create);
	find(vfs_destroy);
	find(task_create);
	find(task_destroy);
	find(open);
	find(write);
	find(pread);
	find(unlink);
	find(close);
	find(drain);
#undef find
	return library;
}

/* How many have called; when all have, the library is closed. */
static pthread_barrier_t called, closed;
static struct berth_vfs *vfs;

static int use(struct berth_task *task)
{
	char buf[5];
	int fd = call.open(task, "/f", O_CREAT | O_RDWR, 0644);

	return fd >= 0 && call.write(task, fd, "hello", 5) == 5 &&
	       call.pread(task, fd, buf, 5, 0) == 5 &&
	       !memcmp(buf, "hello", 5) && !call.close(task, fd);
}

/* Its own thread-local memory is tidied after the library was closed. */
static void *use_and_outlive(void *result)
{
	struct berth_task *task;

	if (!call.task_create(vfs, NULL, &task)) {
		*(int *)result = use(task);
		call.task_destroy(task);
	}
	pthread_barrier_wait(&called);
	pthread_barrier_wait(&closed);
	return NULL;
}

static void threads_outlive_the_library(void **state)
{
	pthread_t threads[THREADS];
	int good[THREADS] = { 0 }, i;
	void *library = load();

	(void)state;
	pthread_barrier_init(&called, NULL, THREADS + 1);
	pthread_barrier_init(&closed, NULL, THREADS + 1);
	assert_int_equal(call.vfs_create(NULL, &vfs), 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
						use_and_outlive, &good[i]),
				 0);
	pthread_barrier_wait(&called);
	call.drain();
	assert_int_equal(call.vfs_destroy(vfs), 0);
	assert_int_equal(dlclose(library), 0);
	pthread_barrier_wait(&closed);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_true(good[i]);
	}
}

static void *load_and_unload(void *result)
{
	struct berth_task *task;
	void *library = load();

	call.vfs_create(NULL, &vfs);
	call.task_create(vfs, NULL, &task);
	*(int *)result = use(task);
	call.task_destroy(task);
	call.vfs_destroy(vfs);
	dlclose(library);
	return NULL;
}

/* Loaded again, by a thread that ends; the last one is left loaded at exit. */
static void it_can_be_loaded_again(void **state)
{
	pthread_t thread;
	int good, i;

	(void)state;
	for (i = 0; i < 20; i++) {
		good = 0;
		assert_int_equal(
			pthread_create(&thread, NULL, load_and_unload, &good),
			0);
		pthread_join(thread, NULL);
		assert_true(good);
	}
	load();
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(threads_outlive_the_library),
		cmocka_unit_test(it_can_be_loaded_again),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
