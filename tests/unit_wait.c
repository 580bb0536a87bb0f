/* SPDX-License-Identifier: MIT */
/* Tables whose close waits: options, uses, closes from inside, forks. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

static struct berth_files *files; /* whose close waits */

static int create_waiting(void **state)
{
	const struct berth_files_options options = {
		.struct_size = sizeof(options),
		.flags = BERTH_FILES_CLOSE_WAITS,
	};

	(void)state;
	return berth_files_create_with(&files, &options);
}

static int destroy_waiting(void **state)
{
	(void)state;
	berth_files_put_table(files);
	check_no_probe_left();
	return 0;
}

/* ---- Options ---- */

static void options_are_checked(void **state)
{
	struct berth_files_options options = { .struct_size = sizeof(options) };
	struct berth_files *other;
	unsigned int flag;

	(void)state;
	options.limit = 7;
	options.maximum = 9;
	assert_int_equal(berth_files_create_with(&other, &options), 0);
	assert_int_equal(berth_files_limit(other), 7);
	assert_int_equal(berth_files_maximum(other), 9);
	berth_files_put_table(other);

	options.limit = 10;
	assert_int_equal(berth_files_create_with(&other, &options), -EPERM);
	options.maximum = UINT_MAX;
	assert_int_equal(berth_files_create_with(&other, &options), -EPERM);
	options.maximum = 0;
	for (flag = BERTH_FILES_CLOSE_WAITS << 1; flag; flag <<= 1) {
		options.flags = flag | BERTH_FILES_CLOSE_WAITS;
		assert_int_equal(berth_files_create_with(&other, &options),
				 -EINVAL);
	}
	options.flags = 0;
	options.struct_size--;
	assert_int_equal(berth_files_create_with(&other, &options), -EINVAL);
}

static void the_maximum_only_falls(void **state)
{
	(void)state;
	assert_int_equal(berth_files_set_maximum(table, 100), 0);
	assert_int_equal(berth_files_limit(table), 100);
	assert_int_equal(berth_files_set_limit(table, 101), -EPERM);
	assert_int_equal(berth_files_set_limit(table, 50), 0);
	assert_int_equal(berth_files_set_maximum(table, 101), -EPERM);
	assert_int_equal(berth_files_set_maximum(table, 60), 0);
	assert_int_equal(berth_files_limit(table), 50);
	assert_int_equal(berth_files_maximum(table), 60);
}

/* ---- Uses ---- */

static void uses_nest_and_end_in_any_order(void **state)
{
	struct berth_use a, b, c;
	int fd = probe_open(files, NULL);

	(void)state;
	assert_int_equal(berth_files_enter(files, fd, &a), 0);
	assert_int_equal(berth_files_enter(files, fd, &b), 0);
	assert_int_equal(berth_files_enter(files, fd, &c), 0);
	assert_ptr_equal(a.file, c.file);
	berth_files_leave(&b);
	berth_files_leave(&a);
	berth_files_leave(&c);
	assert_int_equal(berth_files_close(files, fd), 0);
	assert_int_equal(berth_files_enter(files, fd, &a), -EBADF);
	assert_int_equal(berth_files_enter(files, -1, &a), -EBADF);
	assert_int_equal(berth_files_enter(files, INT_MAX, &a), -EBADF);
}

static void a_use_of_any_other_table_owns(void **state)
{
	struct fate *fate = new_fate();
	int fd = probe_open(table, fate);
	struct berth_use use;

	(void)state;
	assert_int_equal(berth_files_enter(table, fd, &use), 0);
	assert_int_equal(berth_files_close(table, fd), 0);
	probe_check_owned(probe_of(use.file));
	assert_int_equal(atomic_load(&fate->releases), 0);
	berth_files_leave(&use);
	assert_int_equal(atomic_load(&fate->releases), 1);
	assert_int_equal(berth_files_enter(table, fd, &use), -EBADF);
}

/* ---- From inside ---- */

static void close_from_inside_a_use(void **state)
{
	struct fate *fate = new_fate();
	int fd = probe_open(files, fate);
	struct berth_use a, b;

	(void)state;
	assert_int_equal(berth_files_enter(files, fd, &a), 0);
	assert_int_equal(berth_files_enter(files, fd, &b), 0);
	assert_int_equal(berth_files_close(files, fd), -EDEADLK);
	/* The number is free, the file is there as long as the uses are. */
	assert_false(is_open(files, fd));
	assert_int_equal(berth_files_reserve(files, 0, 0), fd);
	berth_files_unreserve(files, fd);
	assert_int_equal(atomic_load(&fate->flushes), 1);
	assert_int_equal(atomic_load(&fate->releases), 0);
	berth_files_leave(&a);
	probe_check_owned(probe_of(b.file));
	berth_files_leave(&b);
	assert_int_equal(atomic_load(&fate->releases), 1);
}

static void other_closes_from_inside(void **state)
{
	int a = probe_open(files, NULL), b = probe_open(files, NULL);
	struct berth_use use;

	(void)state;
	/* Another number of the same file is another way in. */
	assert_int_equal(berth_files_enter(files, a, &use), 0);
	assert_int_equal(berth_files_dup(files, a), 2);
	assert_int_equal(berth_files_close(files, 2), 0);
	/* What replaces a number, or moves it, says nothing of it. */
	assert_int_equal(berth_files_dup2(files, b, a), a);
	berth_files_leave(&use);
	assert_int_equal(berth_files_enter(files, b, &use), 0);
	assert_int_equal(berth_files_renumber(files, b, 7), 7);
	berth_files_leave(&use);
	assert_int_equal(berth_files_close(files, a), 0);
	assert_int_equal(berth_files_close(files, 7), 0);
}

static void close_from_inside_a_borrow(void **state)
{
	int fd = probe_open(files, NULL), other;
	struct berth_file *file;

	(void)state;
	other = berth_files_dup(files, fd);
	file = berth_files_borrow(files, fd);
	assert_int_equal(berth_files_close(files, fd), -EDEADLK);
	assert_false(is_open(files, fd));
	berth_files_return(file);
	assert_int_equal(berth_files_close(files, other), 0);
}

/* ---- Other threads' ---- */

static atomic_bool inside, woken;

static void *stay_inside(void *fd)
{
	struct berth_use use;

	assert_int_equal(berth_files_enter(files, *(int *)fd, &use), 0);
	atomic_store(&inside, true);
	while (!atomic_load(&woken))
		sched_yield();
	probe_check_owned(probe_of(use.file));
	atomic_store(&inside, false);
	berth_files_leave(&use);
	return NULL;
}

static int wake(struct berth_file *file, struct berth_files *of)
{
	(void)file;
	(void)of;
	atomic_store(&woken, true);
	return -EIO;
}

static struct berth_file_operations waking_ops;

/* A file whose flush wakes who sleeps inside. */
static int open_waking(void)
{
	struct probe *probe = probe_create(NULL, 0);
	int fd = berth_files_reserve(files, 0, 0);

	waking_ops = *probe->file.ops;
	waking_ops.flush = wake;
	probe->file.ops = &waking_ops;
	berth_files_install(files, fd, &probe->file);
	return fd;
}

static pthread_t begin_inside(int *fd)
{
	pthread_t thread;

	atomic_store(&inside, false);
	atomic_store(&woken, false);
	assert_int_equal(pthread_create(&thread, NULL, stay_inside, fd), 0);
	while (!atomic_load(&inside))
		sched_yield();
	return thread;
}

static void flush_comes_before_the_wait(void **state)
{
	int fd = open_waking();
	pthread_t thread = begin_inside(&fd);

	(void)state;
	assert_int_equal(berth_files_close(files, fd), -EIO);
	assert_false(atomic_load(&inside));
	pthread_join(thread, NULL);
}

static bool refuse_waking(int fd, struct berth_file *file, void *arg)
{
	(void)fd;
	(void)arg;
	return file->ops == &waking_ops;
}

static void every_end_of_a_number_waits(void **state)
{
	int fd, other = probe_open(files, NULL);
	pthread_t thread;

	(void)state;
	fd = open_waking();
	thread = begin_inside(&fd);
	assert_int_equal(berth_files_dup2(files, other, fd), fd);
	assert_false(atomic_load(&inside));
	pthread_join(thread, NULL);
	assert_int_equal(berth_files_close(files, fd), 0);

	fd = open_waking();
	thread = begin_inside(&fd);
	assert_int_equal(berth_files_renumber(files, other, fd), fd);
	assert_false(atomic_load(&inside));
	pthread_join(thread, NULL);
	assert_int_equal(berth_files_close(files, fd), 0);

	fd = open_waking();
	thread = begin_inside(&fd);
	assert_int_equal(berth_files_setfd(files, fd, FD_CLOEXEC), 0);
	berth_files_exec(files);
	assert_false(atomic_load(&inside));
	pthread_join(thread, NULL);

	fd = open_waking();
	thread = begin_inside(&fd);
	assert_int_equal(berth_files_revoke(files, refuse_waking, NULL, NULL),
			 1);
	assert_false(atomic_load(&inside));
	pthread_join(thread, NULL);

	fd = open_waking();
	thread = begin_inside(&fd);
	berth_files_put_table(files);
	assert_false(atomic_load(&inside));
	pthread_join(thread, NULL);
	assert_int_equal(create_waiting(state), 0);
}

static void *renumber_it(void *fd)
{
	assert_int_equal(berth_files_renumber(files, *(int *)fd, 5), 5);
	return NULL;
}

static int flush_nothing(struct berth_file *file, struct berth_files *of)
{
	(void)file;
	(void)of;
	return 0;
}

/* The number that it was moved to may be closed before they have left. */
static void a_move_keeps_the_file_for_those_inside(void **state)
{
	int fd = open_waking();
	pthread_t sleeper, mover;

	(void)state;
	waking_ops.flush = flush_nothing;
	sleeper = begin_inside(&fd);
	assert_int_equal(pthread_create(&mover, NULL, renumber_it, &fd), 0);
	while (!is_open(files, 5))
		sched_yield();
	assert_int_equal(berth_files_close(files, 5), 0);
	atomic_store(&woken, true); /* and the file has an owner still */
	pthread_join(sleeper, NULL);
	pthread_join(mover, NULL);
}

static void a_move_wakes_those_inside(void **state)
{
	int fd = open_waking();
	pthread_t sleeper = begin_inside(&fd);

	(void)state;
	assert_int_equal(berth_files_renumber(files, fd, 5), 5);
	assert_false(atomic_load(&inside));
	pthread_join(sleeper, NULL);
	assert_int_equal(berth_files_close(files, 5), -EIO);
}

static void *dup2_onto_0(void *unused)
{
	(void)unused;
	assert_int_equal(berth_files_dup2(files, 1, 0), 0);
	return NULL;
}

/* The same file at the same number again: who enters now is nothing to those who
 * waited for the ones before.  (If it were, this would hang.) */
static void later_uses_are_not_waited_for(void **state)
{
	struct berth_use before, later;
	pthread_t replacer;

	(void)state;
	assert_int_equal(probe_open(files, NULL), 0);
	assert_int_equal(berth_files_dup(files, 0), 1);
	assert_int_equal(berth_files_setfd(files, 0, FD_CLOEXEC), 0);
	assert_int_equal(berth_files_enter(files, 0, &before), 0);
	assert_int_equal(pthread_create(&replacer, NULL, dup2_onto_0, NULL), 0);
	while (berth_files_getfd(files, 0) != 0)
		sched_yield(); /* dup2 takes the bit away */
	/* Until one begins after the end has been counted. */
	do {
		assert_int_equal(berth_files_enter(files, 0, &later), 0);
		if (later.since > before.since)
			break;
		berth_files_leave(&later);
	} while (true);
	berth_files_leave(&before);
	pthread_join(replacer, NULL);
	berth_files_leave(&later);
	assert_int_equal(berth_files_close(files, 0), 0);
	assert_int_equal(berth_files_close(files, 1), 0);
}

static struct berth_use handed_over;

static void *enter_for_another(void *fd)
{
	assert_int_equal(berth_files_enter(files, *(int *)fd, &handed_over), 0);
	return NULL;
}

static void *close_it(void *fd)
{
	return (void *)(intptr_t)berth_files_close(files, *(int *)fd);
}

/* A use belongs to the thread that entered, even if another one leaves it; and no
 * thread is taken for one that has ended. */
static void a_use_that_is_handed_over(void **state)
{
	int fd = probe_open(files, NULL);
	pthread_t enterer, closer;
	void *result;

	(void)state;
	assert_int_equal(pthread_create(&enterer, NULL, enter_for_another, &fd),
			 0);
	pthread_join(enterer, NULL);
	assert_int_equal(pthread_create(&closer, NULL, close_it, &fd), 0);
	while (is_open(files, fd))
		sched_yield();
	berth_files_leave(&handed_over);
	pthread_join(closer, &result);
	assert_int_equal((intptr_t)result, 0);
}

/* ---- Fork of the host ---- */

static void a_child_waits_for_no_thread_of_its_parent(void **state)
{
	int fd = probe_open(files, NULL), status;
	struct berth_use mine;
	pthread_t thread;
	pid_t pid;

	(void)state;
	if (forks_mislead_tools())
		skip(); /* the child goes on with allocators that were in use */
	thread = begin_inside(&fd);
	assert_int_equal(berth_files_enter(files, fd, &mine), 0);
	pid = fork();
	if (pid == 0) {
		check_equal(berth_files_close(files, fd), -EDEADLK);
		berth_files_leave(&mine);
		leave_child(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	berth_files_leave(&mine);
	atomic_store(&woken, true);
	pthread_join(thread, NULL);
	assert_int_equal(berth_files_close(files, fd), 0);
}

#define waiting_test(name) \
	cmocka_unit_test_setup_teardown(name, create_waiting, destroy_waiting)

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(options_are_checked),
		table_test(the_maximum_only_falls),
		waiting_test(uses_nest_and_end_in_any_order),
		table_test(a_use_of_any_other_table_owns),
		waiting_test(close_from_inside_a_use),
		waiting_test(other_closes_from_inside),
		waiting_test(close_from_inside_a_borrow),
		waiting_test(flush_comes_before_the_wait),
		waiting_test(every_end_of_a_number_waits),
		waiting_test(a_move_keeps_the_file_for_those_inside),
		waiting_test(a_move_wakes_those_inside),
		waiting_test(later_uses_are_not_waited_for),
		waiting_test(a_use_that_is_handed_over),
		waiting_test(a_child_waits_for_no_thread_of_its_parent),
	};

	return run_cases(argc, argv, cases);
}
