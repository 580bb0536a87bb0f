/* SPDX-License-Identifier: MIT */
/* Close-on-exec, exec, the copy of a table, and the fork of the process. */
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

/* ---- Close-on-exec ---- */

static void bit_belongs_to_the_number(void **state)
{
	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_dup(table, 0), 1);
	assert_int_equal(berth_files_getfd(table, 0), 0);
	assert_int_equal(berth_files_setfd(table, 0, FD_CLOEXEC), 0);
	assert_int_equal(berth_files_getfd(table, 0), FD_CLOEXEC);
	assert_int_equal(berth_files_getfd(table, 1), 0);
	assert_int_equal(berth_files_setfd(table, 0, 0), 0);
	assert_int_equal(berth_files_getfd(table, 0), 0);
}

static void other_bits_are_ignored(void **state)
{
	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_setfd(table, 0, -1), 0);
	assert_int_equal(berth_files_getfd(table, 0), FD_CLOEXEC);
	assert_int_equal(berth_files_setfd(table, 0, ~FD_CLOEXEC), 0);
	assert_int_equal(berth_files_getfd(table, 0), 0);
	assert_int_equal(berth_files_setfd(table, 0, INT_MIN | FD_CLOEXEC), 0);
	assert_int_equal(berth_files_getfd(table, 0), FD_CLOEXEC);
	assert_int_equal(berth_files_setfd(table, 0, O_CLOEXEC), 0);
	assert_int_equal(berth_files_getfd(table, 0), 0);
}

static void reserve_sets_it_from_the_start(void **state)
{
	static const int minima[] = { 0, 63, 64, 1000 };
	int i, fd;

	(void)state;
	for (i = 0; i < 4; i++) {
		fd = berth_files_reserve(table, minima[i], O_CLOEXEC);
		berth_files_install(table, fd, &probe_create(NULL, 0)->file);
		assert_int_equal(berth_files_getfd(table, fd), FD_CLOEXEC);
	}
}

/* A number does not keep the bit over its free time. */
static void bit_goes_with_close(void **state)
{
	(void)state;
	assert_int_equal(berth_files_reserve(table, 0, O_CLOEXEC), 0);
	berth_files_unreserve(table, 0);
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_getfd(table, 0), 0);

	assert_int_equal(berth_files_setfd(table, 0, FD_CLOEXEC), 0);
	assert_int_equal(berth_files_close(table, 0), 0);
	assert_int_equal(berth_files_getfd(table, 0), -EBADF);
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_getfd(table, 0), 0);

	assert_int_equal(berth_files_dup3(table, 0, 70, O_CLOEXEC), 70);
	assert_int_equal(berth_files_close(table, 70), 0);
	assert_int_equal(berth_files_dup2(table, 0, 70), 70);
	assert_int_equal(berth_files_getfd(table, 70), 0);
}

/* ---- Exec ---- */

static void exec_closes_what_is_marked(void **state)
{
	struct fate *fates[200];
	int fd;

	(void)state;
	for (fd = 0; fd < 200; fd++) {
		fates[fd] = new_fate();
		assert_int_equal(probe_open(table, fates[fd]), fd);
		if (fd % 3 == 0)
			berth_files_setfd(table, fd, FD_CLOEXEC);
	}
	berth_files_exec(table);
	berth_drain();
	for (fd = 0; fd < 200; fd++) {
		assert_int_equal(is_open(table, fd), fd % 3 != 0);
		assert_int_equal(fates[fd]->flushes, fd % 3 == 0);
		assert_int_equal(fates[fd]->releases, fd % 3 == 0);
		assert_int_equal(fates[fd]->frees, fd % 3 == 0);
	}
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(probe_open(table, NULL), 3);
	berth_files_exec(table);
	assert_true(is_open(table, 0));
}

static void exec_frees_numbers_though_flush_fails(void **state)
{
	struct berth_file *file;

	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	file = berth_files_get(table, 0);
	probe_of(file)->flush_result = -ENOSPC;
	berth_files_setfd(table, 0, FD_CLOEXEC);
	berth_files_exec(table);
	assert_false(is_open(table, 0));
	berth_file_put(file);
	assert_int_equal(berth_files_count(table), 0);
}

static void exec_spares_a_duplicate(void **state)
{
	struct fate *fate = new_fate();

	(void)state;
	assert_int_equal(probe_open(table, fate), 0);
	assert_int_equal(berth_files_dupfd(table, 0, 500, O_CLOEXEC), 500);
	berth_files_exec(table);
	assert_int_equal(berth_files_getfd(table, 500), -EBADF);
	assert_int_equal(berth_files_getfd(table, 0), 0);
	assert_int_equal(fate->flushes, 1);
	assert_int_equal(fate->releases, 0);
}

/* ---- Copies ---- */

static struct berth_files *copy_of(struct berth_files *files)
{
	struct berth_files *copy = NULL;

	assert_int_equal(berth_files_fork(files, &copy), 0);
	assert_non_null(copy);
	assert_ptr_not_equal(copy, files);
	return copy;
}

static void copy_has_the_same_numbers(void **state)
{
	static const int numbers[] = { 0, 2, 63, 64, 200, 255, 256, 1023 };
	struct berth_files *copy;
	unsigned int i;
	int fd;

	(void)state;
	for (i = 0; i < 8; i++) {
		fd = berth_files_reserve(table, numbers[i],
					 i % 2 ? O_CLOEXEC : 0);
		assert_int_equal(fd, numbers[i]);
		berth_files_install(table, fd, &probe_create(NULL, 0)->file);
	}
	copy = copy_of(table);
	assert_int_equal(berth_files_count(copy), 8);
	for (fd = -1; fd < 1100; fd++) {
		assert_int_equal(probe_id_at(copy, fd), probe_id_at(table, fd));
		assert_int_equal(berth_files_getfd(copy, fd),
				 berth_files_getfd(table, fd));
	}
	/* The gaps are free, the lowest first. */
	assert_int_equal(probe_open(copy, NULL), 1);
	assert_int_equal(probe_open(copy, NULL), 3);
	assert_false(is_open(table, 1));
	berth_files_put_table(copy);
}

static void copy_of_an_empty_table(void **state)
{
	struct berth_files *copy = copy_of(table);

	(void)state;
	assert_int_equal(berth_files_count(copy), 0);
	assert_int_equal(probe_open(copy, NULL), 0);
	berth_files_put_table(copy);
}

static void reserved_numbers_are_free_in_the_copy(void **state)
{
	struct berth_files *copy;

	(void)state;
	assert_int_equal(berth_files_reserve(table, 0, O_CLOEXEC), 0);
	assert_int_equal(probe_open(table, NULL), 1);
	assert_int_equal(berth_files_reserve(table, 100, 0), 100);
	copy = copy_of(table);
	assert_int_equal(berth_files_count(copy), 1);
	assert_int_equal(berth_files_dup2(copy, 1, 100), 100);
	assert_int_equal(probe_open(copy, NULL), 0);
	assert_int_equal(berth_files_getfd(copy, 0), 0);

	/* And still the first table's own. */
	assert_int_equal(berth_files_count(table), 3);
	berth_files_install(table, 0, &probe_create(NULL, 0)->file);
	assert_int_not_equal(probe_id_at(copy, 0), probe_id_at(table, 0));
	berth_files_put_table(copy);
}

static void tables_part_after_the_copy(void **state)
{
	struct fate *fate = new_fate();
	struct berth_files *copy;

	(void)state;
	assert_int_equal(probe_open(table, fate), 0);
	copy = copy_of(table);
	assert_int_equal(berth_files_setfd(copy, 0, FD_CLOEXEC), 0);
	assert_int_equal(berth_files_getfd(table, 0), 0);
	assert_int_equal(berth_files_dup(copy, 0), 1);
	assert_false(is_open(table, 1));

	assert_int_equal(berth_files_close(table, 0), 0);
	assert_int_equal(fate->flushes, 1);
	assert_int_equal(fate->releases, 0);
	assert_true(is_open(copy, 0));
	berth_files_put_table(copy);
	assert_int_equal(fate->flushes, 3);
	assert_int_equal(fate->releases, 1);
}

static void copy_keeps_the_limit(void **state)
{
	struct berth_files *copy;

	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_dup2(table, 0, 900), 900);
	berth_files_set_limit(table, 2);
	copy = copy_of(table);
	assert_int_equal(berth_files_limit(copy), 2);
	assert_true(is_open(copy, 900));
	assert_int_equal(berth_files_dup(copy, 0), 1);
	assert_int_equal(berth_files_dup(copy, 0), -EMFILE);
	berth_files_set_limit(copy, 3);
	assert_int_equal(berth_files_limit(table), 2);
	berth_files_put_table(copy);
}

static void copies_of_copies(void **state)
{
	struct berth_files *copies[50];
	struct fate *fate = new_fate();
	int i;

	(void)state;
	assert_int_equal(probe_open(table, fate), 0);
	for (i = 0; i < 50; i++)
		copies[i] = copy_of(i ? copies[i - 1] : table);
	for (i = 0; i < 50; i++)
		berth_files_put_table(copies[i]);
	assert_int_equal(fate->flushes, 50);
	assert_int_equal(fate->releases, 0);
	assert_true(is_open(table, 0));
}

static void copy_of_a_large_table(void **state)
{
	struct berth_files *copy;
	struct fate *fate = new_fate();
	int fd;

	(void)state;
	berth_files_set_limit(table, 1 << 20);
	assert_int_equal(probe_open(table, fate), 0);
	for (fd = 1; fd < 100000; fd++)
		check_equal(berth_files_dup(table, 0), fd);
	assert_int_equal(berth_files_dup2(table, 0, (1 << 20) - 1),
			 (1 << 20) - 1);
	copy = copy_of(table);
	assert_int_equal(berth_files_count(copy), 100001);
	for (fd = 0; fd < 100000; fd++)
		check_equal(berth_files_close(table, fd), 0);
	for (fd = 0; fd < 100000; fd++)
		check(is_open(copy, fd));
	assert_true(is_open(copy, (1 << 20) - 1));
	assert_int_equal(berth_files_dup(copy, 0), 100000);
	assert_int_equal(fate->releases, 0);
	berth_files_put_table(copy);
}

/* ---- The process forks ---- */

static atomic_bool child_is_over;

/* Is always in the middle of something when the fork comes. */
static void *borrow_and_close(void *arg)
{
	int fd;

	(void)arg;
	while (!atomic_load(&child_is_over)) {
		fd = probe_open(table, NULL);
		probe_id_at(table, 0);
		berth_files_close(table, fd);
	}
	return NULL;
}

/* The child's tables are whole, and frees still come. */
static int child_uses_tables(void)
{
	struct fate *fate = new_fate();
	struct berth_files *copy;
	int i, fd;

	alarm(10);
	for (i = 0; i < 600; i++) {
		fd = probe_open(table, fate);
		check(fd > 0);
		check(is_open(table, fd));
		check_equal(berth_files_close(table, fd), 0);
	}
	berth_drain();
	check_equal(fate->frees, 600);
	check(is_open(table, 0));
	check_equal(berth_files_fork(table, &copy), 0);
	check_equal(berth_files_close(copy, 0), 0);
	berth_files_put_table(copy);
	check_equal(berth_files_close(table, 0), 0);
	berth_drain();
	return 0;
}

static void check_child(void)
{
	int status;
	pid_t child = fork();

	check(child >= 0);
	if (child == 0)
		leave_child(child_uses_tables());
	check_equal(waitpid(child, &status, 0), child);
	check_equal(status, 0);
}

static void fork_of_the_process_leaves_whole_tables(void **state)
{
	double end = now() + 0.5;
	pthread_t thread;

	(void)state;
	if (UNDER_ASAN || UNDER_TSAN)
		skip(); /* their allocators do not survive it */
	assert_int_equal(probe_open(table, NULL), 0);
	atomic_store(&child_is_over, false);
	check(!pthread_create(&thread, NULL, borrow_and_close, NULL));
	do {
		check_child();
	} while (now() < end);
	atomic_store(&child_is_over, true);
	pthread_join(thread, NULL);
	assert_true(is_open(table, 0));
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(bit_belongs_to_the_number),
		table_test(other_bits_are_ignored),
		table_test(reserve_sets_it_from_the_start),
		table_test(bit_goes_with_close),
		table_test(exec_closes_what_is_marked),
		table_test(exec_frees_numbers_though_flush_fails),
		table_test(exec_spares_a_duplicate),
		table_test(copy_has_the_same_numbers),
		table_test(copy_of_an_empty_table),
		table_test(reserved_numbers_are_free_in_the_copy),
		table_test(tables_part_after_the_copy),
		table_test(copy_keeps_the_limit),
		table_test(copies_of_copies),
		table_test(copy_of_a_large_table),
		table_test(fork_of_the_process_leaves_whole_tables),
	};

	return run_cases(argc, argv, cases);
}
