/* SPDX-License-Identifier: MIT */
/*
 * Descriptor tables when memory runs out: the call fails, nothing changed, and
 * what needs no memory goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#include <berth/files.h>

#include "base/fault.h"

#include "harness.h"
#include "probe.h"

/* Number 0 is open, with close-on-exec; 1 to 63 are, too. */
static void fill_first_segment(void)
{
	int fd;

	for (fd = 0; fd < 64; fd++)
		assert_int_equal(probe_open(table, NULL), fd);
	assert_int_equal(berth_files_setfd(table, 0, FD_CLOEXEC), 0);
}

static void check_unchanged(void)
{
	int fd;

	assert_int_equal(berth_files_count(table), 64);
	assert_int_equal(berth_files_getfd(table, 0), FD_CLOEXEC);
	for (fd = 0; fd < 64; fd++)
		assert_true(is_open(table, fd));
	for (; fd < 1024; fd++)
		assert_false(is_open(table, fd));
}

static void create_fails(void **state)
{
	struct berth_files *files = NULL;

	(void)state;
	sys_fail_nth(SYS_ALLOC, 1);
	assert_int_equal(berth_files_create(&files), -ENOMEM);
	assert_null(files);
	assert_int_equal(berth_files_create(&files), 0);
	berth_files_put_table(files);
}

static void growth_fails(void **state)
{
	(void)state;
	fill_first_segment();
	sys_fail_nth(SYS_ALLOC, 1);
	assert_int_equal(berth_files_reserve(table, 0, 0), -ENOMEM);
	check_unchanged();
	sys_fail_nth(SYS_ALLOC, 1);
	assert_int_equal(berth_files_reserve(table, 500, 0), -ENOMEM);
	sys_fail_nth(SYS_ALLOC, 1);
	assert_int_equal(berth_files_dup(table, 0), -ENOMEM);
	sys_fail_nth(SYS_ALLOC, 1);
	assert_int_equal(berth_files_dup2(table, 0, 64), -ENOMEM);
	sys_fail_nth(SYS_ALLOC, 1);
	assert_int_equal(berth_files_dup3(table, 0, 999, O_CLOEXEC), -ENOMEM);
	sys_fail_nth(SYS_ALLOC, 1);
	assert_int_equal(berth_files_dupfd(table, 0, 256, 0), -ENOMEM);
	check_unchanged();

	/* And with memory it works as ever. */
	assert_int_equal(berth_files_dup2(table, 0, 999), 999);
	assert_int_equal(berth_files_dup(table, 0), 64);
}

/* Linux looks at the number before it looks for memory. */
static void bad_number_comes_before_no_memory(void **state)
{
	(void)state;
	sys_fail_nth(SYS_ALLOC, 1);
	assert_int_equal(berth_files_dup2(table, 0, 64), -EBADF);
	assert_int_equal(berth_files_dupfd(table, 0, 64, 0), -EBADF);
	sys_fail_none();
}

/* At each allocation of a copy in turn. */
static void copy_fails(void **state)
{
	struct berth_files *copy;
	uint64_t nth;
	int ret;

	(void)state;
	fill_first_segment();
	assert_int_equal(berth_files_dup2(table, 0, 64), 64);
	assert_int_equal(berth_files_dup2(table, 0, 1000), 1000);
	for (nth = 1;; nth++) {
		copy = NULL;
		sys_fail_nth(SYS_ALLOC, nth);
		ret = berth_files_fork(table, &copy);
		sys_fail_none();
		if (ret == 0)
			break;
		assert_int_equal(ret, -ENOMEM);
		assert_null(copy);
	}
	assert_true(nth > 2);
	assert_int_equal(berth_files_count(copy), 66);
	berth_files_put_table(copy);
	assert_int_equal(berth_files_close(table, 64), 0);
	assert_int_equal(berth_files_close(table, 1000), 0);
	check_unchanged();
}

/* A first call on a new thread, too. */
static void *use_without_memory(void *arg)
{
	struct berth_file *file;
	int fd;

	(void)arg;
	for (fd = 1; fd < 64; fd++) {
		file = berth_files_get(table, fd);
		check(file);
		check_equal(berth_files_close(table, fd), 0);
		berth_file_put(file);
	}
	check_equal(berth_files_dup2(table, 0, 1), 1);
	check_equal(berth_files_setfd(table, 1, FD_CLOEXEC), 0);
	berth_files_exec(table);
	berth_drain();
	return NULL;
}

static void what_needs_no_memory_goes_on(void **state)
{
	pthread_t thread;

	(void)state;
	fill_first_segment();
	sys_fail_random(1, 1);
	check(!pthread_create(&thread, NULL, use_without_memory, NULL));
	pthread_join(thread, NULL);
	sys_fail_none();
	assert_int_equal(berth_files_count(table), 0);
	check_no_probe_left();
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(create_fails),
		table_test(growth_fails),
		table_test(bad_number_comes_before_no_memory),
		table_test(copy_fails),
		table_test(what_needs_no_memory_goes_on),
	};

	return run_cases(argc, argv, cases);
}
