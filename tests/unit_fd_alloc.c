/* SPDX-License-Identifier: MIT */
/* Which number a new descriptor gets: the lowest, limits, growth. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	MILLION = 1 << 20,
	MAXIMUM = 1 << 30, /* the table's own */
};

static void open_many(int count)
{
	int fd;

	for (fd = 0; fd < count; fd++)
		assert_int_equal(probe_open(table, NULL), fd);
}

/* ---- The lowest ---- */

static void numbers_start_at_zero_and_are_dense(void **state)
{
	(void)state;
	open_many(1000);
	assert_int_equal(berth_files_count(table), 1000);
}

static void freed_numbers_are_taken_from_the_lowest(void **state)
{
	static const int freed[] = { 511, 64, 63, 0, 300, 65, 128 };
	static const int taken[] = { 0, 63, 64, 65, 128, 300, 511, 600 };
	size_t i;

	(void)state;
	open_many(600);
	for (i = 0; i < 7; i++)
		assert_int_equal(berth_files_close(table, freed[i]), 0);
	for (i = 0; i < 8; i++)
		assert_int_equal(probe_open(table, NULL), taken[i]);
}

static void reserved_numbers_are_taken(void **state)
{
	(void)state;
	assert_int_equal(berth_files_reserve(table, 0, 0), 0);
	assert_int_equal(berth_files_reserve(table, 0, 0), 1);
	assert_int_equal(probe_open(table, NULL), 2);
	assert_int_equal(berth_files_dup(table, 2), 3);
	assert_int_equal(berth_files_count(table), 4);
	berth_files_unreserve(table, 1);
	assert_int_equal(berth_files_count(table), 3);
	assert_int_equal(berth_files_dup(table, 2), 1);
	berth_files_unreserve(table, 0);
	assert_int_equal(berth_files_reserve(table, 0, 0), 0);
	berth_files_unreserve(table, 0);
}

static void lowest_from_a_minimum(void **state)
{
	(void)state;
	assert_int_equal(berth_files_reserve(table, 100, 0), 100);
	assert_int_equal(berth_files_reserve(table, 100, 0), 101);
	assert_int_equal(berth_files_reserve(table, 99, 0), 99);
	assert_int_equal(berth_files_reserve(table, 99, 0), 102);
	assert_int_equal(berth_files_reserve(table, 1, 0), 1);
	/* A minimum does not hide what is below it. */
	assert_int_equal(berth_files_reserve(table, 0, 0), 0);
	assert_int_equal(berth_files_reserve(table, 0, 0), 2);
	/* dup2 takes numbers out of their turn. */
	assert_int_equal(probe_open(table, NULL), 3);
	assert_int_equal(berth_files_dup2(table, 3, 4), 4);
	assert_int_equal(berth_files_dup2(table, 3, 6), 6);
	assert_int_equal(berth_files_dup(table, 3), 5);
	assert_int_equal(berth_files_dup(table, 3), 7);
}

/* ---- What reserve refuses ---- */

static void unknown_flags_are_refused(void **state)
{
	unsigned int flag;

	(void)state;
	for (flag = 1; flag; flag <<= 1) {
		if (flag == O_CLOEXEC || flag == BERTH_ANYFD)
			continue;
		assert_int_equal(berth_files_reserve(table, 0, flag), -EINVAL);
		assert_int_equal(
			berth_files_reserve(table, 0, flag | O_CLOEXEC),
			-EINVAL);
	}
	assert_int_equal(berth_files_count(table), 0);
	assert_int_equal(berth_files_reserve(table, 0, O_CLOEXEC), 0);
}

static void negative_minimum_is_refused(void **state)
{
	(void)state;
	assert_int_equal(berth_files_reserve(table, -1, 0), -EINVAL);
	assert_int_equal(berth_files_reserve(table, INT_MIN, 0), -EINVAL);
	assert_int_equal(berth_files_reserve(table, INT_MIN, O_CLOEXEC),
			 -EINVAL);
	assert_int_equal(berth_files_count(table), 0);
}

static void minimum_beyond_the_limit_finds_none(void **state)
{
	static const int minima[] = { 1024,	   1025,    65536,
				      MAXIMUM - 1, MAXIMUM, INT_MAX };
	size_t i;

	(void)state;
	for (i = 0; i < 6; i++)
		assert_int_equal(berth_files_reserve(table, minima[i], 0),
				 -EMFILE);
	assert_int_equal(berth_files_count(table), 0);
}

/* ---- Limits ---- */

static void limit_is_1024_at_first(void **state)
{
	(void)state;
	assert_int_equal(berth_files_limit(table), 1024);
	open_many(1024);
	assert_int_equal(probe_open(table, NULL), -EMFILE);
	assert_int_equal(berth_files_dup(table, 0), -EMFILE);
}

static void full_table_works_again_after_a_close(void **state)
{
	int i;

	(void)state;
	assert_int_equal(berth_files_set_limit(table, 10), 0);
	open_many(10);
	for (i = 0; i < 100; i++) {
		assert_int_equal(probe_open(table, NULL), -EMFILE);
		assert_int_equal(berth_files_reserve(table, 0, 0), -EMFILE);
		assert_int_equal(berth_files_dup(table, 0), -EMFILE);
		assert_int_equal(berth_files_dup(table, 10), -EBADF);
		assert_int_equal(berth_files_close(table, i % 10), 0);
		assert_int_equal(probe_open(table, NULL), i % 10);
	}
}

static void limit_of_zero_gives_nothing(void **state)
{
	(void)state;
	assert_int_equal(berth_files_set_limit(table, 0), 0);
	assert_int_equal(berth_files_limit(table), 0);
	assert_int_equal(probe_open(table, NULL), -EMFILE);
	assert_int_equal(berth_files_set_limit(table, 1), 0);
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(probe_open(table, NULL), -EMFILE);
	assert_int_equal(berth_files_set_limit(table, 0), 0);
	assert_int_equal(berth_files_dup(table, 0), -EMFILE);
	assert_int_equal(berth_files_dupfd(table, 0, 0, 0), -EINVAL);
	assert_int_equal(berth_files_set_limit(table, 1), 0);
	assert_int_equal(berth_files_dup2(table, 0, 0), 0);
	assert_int_equal(berth_files_dup2(table, 0, 1), -EBADF);
	assert_int_equal(berth_files_dupfd(table, 0, 1, 0), -EINVAL);
	assert_int_equal(berth_files_dupfd(table, 0, 0, 0), -EMFILE);
}

static void limit_beyond_the_maximum_is_refused(void **state)
{
	(void)state;
	assert_int_equal(berth_files_set_limit(table, MAXIMUM + 1u), -EPERM);
	assert_int_equal(berth_files_set_limit(table, UINT_MAX), -EPERM);
	assert_int_equal(berth_files_limit(table), 1024);
	assert_int_equal(berth_files_set_limit(table, MAXIMUM), 0);
	assert_int_equal(berth_files_limit(table), MAXIMUM);
	assert_int_equal(probe_open(table, NULL), 0);
}

static void higher_numbers_survive_a_lower_limit(void **state)
{
	struct fate *fate = new_fate();
	struct berth_file *file;

	(void)state;
	open_many(5);
	assert_int_equal(probe_open(table, fate), 5);
	assert_int_equal(berth_files_dup2(table, 5, 500), 500);
	assert_int_equal(berth_files_reserve(table, 501, 0), 501);
	assert_int_equal(berth_files_set_limit(table, 3), 0);

	assert_true(is_open(table, 500));
	file = berth_files_get(table, 500);
	assert_non_null(file);
	berth_file_put(file);
	assert_int_equal(berth_files_setfd(table, 500, FD_CLOEXEC), 0);
	assert_int_equal(berth_files_getfd(table, 500), FD_CLOEXEC);
	assert_int_equal(berth_files_dup2(table, 500, 500), 500);
	assert_int_equal(berth_files_dup2(table, 500, 2), 2);
	assert_int_equal(berth_files_dup2(table, 2, 500), -EBADF);
	assert_int_equal(berth_files_dup2(table, 500, 3), -EBADF);
	assert_int_equal(berth_files_dup(table, 500), -EMFILE);
	assert_int_equal(berth_files_close(table, 1), 0);
	assert_int_equal(berth_files_dup(table, 500), 1);
	berth_files_install(table, 501, &probe_create(NULL, 0)->file);
	assert_true(is_open(table, 501));

	assert_int_equal(berth_files_close(table, 500), 0);
	assert_int_equal(berth_files_close(table, 500), -EBADF);
	assert_int_equal(berth_files_set_limit(table, 1024), 0);
	assert_int_equal(berth_files_close(table, 5), 0);
	assert_int_equal(probe_open(table, NULL), 5);
	assert_int_equal(probe_open(table, NULL), 6);
	assert_int_equal(fate->flushes, 2);
}

static void raised_limit_goes_on_where_it_stopped(void **state)
{
	int limit;

	(void)state;
	for (limit = 1; limit <= 4096; limit *= 4) {
		assert_int_equal(berth_files_set_limit(table, (unsigned)limit),
				 0);
		while (berth_files_count(table) < (unsigned)limit)
			assert_true(probe_open(table, NULL) >= 0);
		assert_int_equal(probe_open(table, NULL), -EMFILE);
		assert_true(is_open(table, limit - 1));
	}
}

/* ---- Growth ---- */

/* One file under many numbers. */
static void fill(struct berth_file *file, int from, int to)
{
	int fd;

	for (fd = from; fd < to; fd++) {
		check_equal(berth_files_reserve(table, 0, fd & O_CLOEXEC), fd);
		berth_file_get(file);
		berth_files_install(table, fd, file);
	}
}

static void grows_to_a_million(void **state)
{
	struct fate *fate = new_fate();
	struct berth_file *file;
	int fd, count = under_valgrind() ? MILLION / 32 : MILLION;

	(void)state;
	assert_int_equal(berth_files_set_limit(table, count), 0);
	assert_int_equal(probe_open(table, fate), 0);
	file = berth_files_get(table, 0);
	fill(file, 1, count);
	assert_int_equal(berth_files_count(table), count);
	assert_int_equal(berth_files_reserve(table, 0, 0), -EMFILE);
	assert_int_equal(berth_files_dup2(table, 0, count), -EBADF);
	for (fd = 0; fd < count; fd++) {
		check(berth_files_borrow(table, fd) == file);
		berth_files_return(file);
	}

	/* The lowest, wherever it is. */
	for (fd = count - 1; fd > 0; fd /= 3) {
		check_equal(berth_files_close(table, fd), 0);
		check_equal(berth_files_dup(table, 0), fd);
	}
	for (fd = 0; fd < count; fd++)
		check_equal(berth_files_close(table, fd), 0);
	assert_int_equal(berth_files_count(table), 0);
	assert_int_equal(fate->releases, 0);
	berth_file_put(file);
	assert_int_equal(fate->releases, 1);
	assert_int_equal(probe_open(table, NULL), 0);
}

/* Straight to a far number: what lies between stays free and usable. */
static void far_numbers_leave_gaps(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(berth_files_set_limit(table, MILLION), 0);
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_dup2(table, 0, MILLION - 1), MILLION - 1);
	for (fd = 1; fd < MILLION - 1; fd = fd * 2 + 1) {
		assert_false(is_open(table, fd));
		assert_int_equal(berth_files_close(table, fd), -EBADF);
		assert_int_equal(berth_files_dupfd(table, 0, fd, 0), fd);
	}
	assert_int_equal(berth_files_dup(table, 0), 2);
	assert_int_equal(berth_files_dupfd(table, 0, MILLION - 1, 0), -EMFILE);
	assert_int_equal(berth_files_dupfd(table, 0, MILLION - 2, 0),
			 MILLION - 2);
	assert_int_equal(berth_files_dupfd(table, 0, MILLION - 2, 0), -EMFILE);
}

/* Every number whose binary form is a one and zeros, and its neighbours. */
static void numbers_at_powers_of_two(void **state)
{
	int bit, fd;

	(void)state;
	assert_int_equal(berth_files_set_limit(table, MAXIMUM), 0);
	assert_int_equal(probe_open(table, NULL), 0);
	for (bit = 1; bit <= 22; bit++)
		for (fd = (1 << bit) - 1; fd <= (1 << bit) + 1; fd++) {
			assert_int_equal(berth_files_dup2(table, 0, fd), fd);
			assert_true(is_open(table, fd));
			assert_int_equal(berth_files_close(table, fd), 0);
			assert_false(is_open(table, fd));
			assert_int_equal(berth_files_reserve(table, fd, 0), fd);
			berth_files_unreserve(table, fd);
		}
	assert_int_equal(berth_files_count(table), 1);
}

/* No memory is a good answer to the last number of all; a crash is not. */
static void last_number_of_all(void **state)
{
	int fd = MAXIMUM - 1, ret;

	(void)state;
	if (UNDER_ASAN || UNDER_TSAN || under_valgrind())
		skip(); /* six gigabytes at once */
	assert_int_equal(berth_files_set_limit(table, MAXIMUM), 0);
	assert_int_equal(probe_open(table, NULL), 0);
	ret = berth_files_dup2(table, 0, fd);
	assert_true(ret == fd || ret == -ENOMEM || ret == -EMFILE);
	assert_true(is_open(table, fd) == (ret == fd));
	assert_int_equal(berth_files_close(table, fd), ret == fd ? 0 : -EBADF);
	assert_int_equal(berth_files_dup2(table, 0, MAXIMUM), -EBADF);
	assert_int_equal(berth_files_dup2(table, 0, INT_MAX), -EBADF);
	assert_int_equal(berth_files_dupfd(table, 0, MAXIMUM, 0), -EINVAL);
	assert_int_equal(berth_files_dupfd(table, 0, INT_MAX, 0), -EINVAL);
	assert_int_equal(berth_files_dup(table, 0), 1);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(numbers_start_at_zero_and_are_dense),
		table_test(freed_numbers_are_taken_from_the_lowest),
		table_test(reserved_numbers_are_taken),
		table_test(lowest_from_a_minimum),
		table_test(unknown_flags_are_refused),
		table_test(negative_minimum_is_refused),
		table_test(minimum_beyond_the_limit_finds_none),
		table_test(limit_is_1024_at_first),
		table_test(full_table_works_again_after_a_close),
		table_test(limit_of_zero_gives_nothing),
		table_test(limit_beyond_the_maximum_is_refused),
		table_test(higher_numbers_survive_a_lower_limit),
		table_test(raised_limit_goes_on_where_it_stopped),
		table_test(grows_to_a_million),
		table_test(far_numbers_leave_gaps),
		table_test(numbers_at_powers_of_two),
		table_test(last_number_of_all),
	};

	return run_cases(argc, argv, cases);
}
