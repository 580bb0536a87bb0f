/* SPDX-License-Identifier: MIT */
/*
 * Threads come and go by the thousand, each after a few calls: some end with a
 * full list of what they deferred, some call berth again from the destructors
 * of keys of their own, some are cancelled.  Nothing is lost, and no memory
 * stays behind but what those need that are alive at one time.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <berth/files.h>

#include "fixture.h"
#include "harness.h"

enum {
	SPAWNERS = 3,
	/* A list that is full, and what comes while another reclaims. */
	MANY = 5000,
	/* Calls of destructors, one after the other; glibc makes four rounds.
	 * ThreadSanitizer leaves a thread in the last, in which berth ends. */
	ROUNDS = UNDER_TSAN ? 2 : 3,
	/* What 2000 threads may leave in all: a leak is 24 bytes a thread. */
	THREADS = 2000,
	LEFT_BYTES = 24 * 200,
};

static struct berth_files *table;
static atomic_ulong made, freed;
static pthread_key_t key;

/* ---- A file without a pool, so that the heap tells ---- */

static void file_free(struct berth_file *file)
{
	atomic_fetch_add(&freed, 1);
	free(file);
}

static const struct berth_file_operations operations = { .free = file_free };

static void open_and_close(void)
{
	struct berth_file *file = malloc(sizeof(*file));
	int fd = berth_files_reserve(table, 0, 0);

	check(file && fd >= 0);
	berth_file_init(file, &operations, O_RDWR, 0);
	atomic_fetch_add(&made, 1);
	berth_files_install(table, fd, file);
	check_equal(berth_files_close(table, fd), 0);
}

static void open_and_close_in_the_tree(void)
{
	int fd = berth_open(task, "/file", O_RDONLY, 0);

	check(fd >= 0);
	check(file_holds(task, fd, "hello"));
	check_equal(berth_close(task, fd), 0);
}

/* ---- Lives ---- */

/* The key's value is the number of rounds that are left. */
static void call_again(void *value)
{
	uintptr_t left = (uintptr_t)value;

	open_and_close();
	open_and_close_in_the_tree();
	if (left > 1)
		pthread_setspecific(key, (void *)(left - 1));
}

struct life {
	unsigned int calls;
	unsigned int rounds;
	bool until_cancelled;
};

static void *live(void *arg)
{
	const struct life *life = arg;
	unsigned int i;

	if (life->rounds)
		pthread_setspecific(key, (void *)(uintptr_t)life->rounds);
	for (i = 0; i < life->calls; i++)
		open_and_close();
	while (life->until_cancelled) {
		open_and_close_in_the_tree();
		pthread_testcancel();
	}
	return NULL;
}

static void spawn(struct random *random)
{
	struct life life = {
		.calls = random_below(random, 20),
		.rounds = random_below(random, ROUNDS + 1),
		.until_cancelled = random_once_in(random, 8),
	};
	pthread_t thread;

	if (random_once_in(random, 64))
		life.calls = MANY;
	check(!pthread_create(&thread, NULL, live, &life));
	if (life.until_cancelled)
		check(!pthread_cancel(thread));
	check(!pthread_join(thread, NULL));
}

static void spawner(struct worker *worker)
{
	for (; keep_going(); worker->work++)
		spawn(&worker->random);
}

/* ---- What is left ---- */

/* What it frees it would keep for its next opens: so it ends. */
static void *drain(void *unused)
{
	(void)unused;
	berth_drain();
	return NULL;
}

static size_t bytes_in_use(void)
{
	pthread_t thread;

	check(!pthread_create(&thread, NULL, drain, NULL));
	check(!pthread_join(thread, NULL));
	check_equal((long)atomic_load(&freed), (long)atomic_load(&made));
	return mallinfo2().uordblks;
}

static void nothing_is_lost(void **state)
{
	(void)state;
	race(NULL, spawner, spawner, spawner);
	bytes_in_use();
}

static void no_memory_stays(void **state)
{
	struct random random = random_of(test_seed(), 0);
	size_t before;
	int i;

	(void)state;
	if (UNDER_ASAN || UNDER_TSAN)
		skip(); /* mallinfo2() knows nothing of their heaps */
	for (i = 0; i < 20; i++)
		spawn(&random);
	before = bytes_in_use();
	for (i = 0; i < THREADS; i++)
		spawn(&random);
	check(bytes_in_use() < before + LEFT_BYTES);
}

static int begin(void **state)
{
	create(state);
	make_file("/file", "hello");
	check_equal(berth_files_create(&table), 0);
	return pthread_key_create(&key, call_again);
}

static int end(void **state)
{
	berth_files_put_table(table);
	pthread_key_delete(key);
	return destroy(state);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(no_memory_stays, begin, end),
		cmocka_unit_test_setup_teardown(nothing_is_lost, begin, end),
	};

	return run_cases(argc, argv, cases);
}
