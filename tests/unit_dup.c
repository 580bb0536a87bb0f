/* SPDX-License-Identifier: MIT */
/* dup, dup2, dup3, F_DUPFD: what they do, what they refuse and in what order. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

static struct berth_file *peek(int fd)
{
	struct berth_file *file = berth_files_borrow(table, fd);

	if (file)
		berth_files_return(file);
	return file;
}

static bool is_cloexec(int fd)
{
	int ret = berth_files_getfd(table, fd);

	assert_true(ret == 0 || ret == FD_CLOEXEC);
	return ret;
}

/* ---- dup ---- */

static void dup_shares_the_file(void **state)
{
	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_dup(table, 0), 1);
	assert_ptr_equal(peek(0), peek(1));
	assert_int_equal(berth_files_close(table, 0), 0);
	assert_true(is_open(table, 1));
	probe_check_owned(probe_of(peek(1)));
}

static void dup_leaves_close_on_exec_behind(void **state)
{
	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_setfd(table, 0, FD_CLOEXEC), 0);
	assert_int_equal(berth_files_dup(table, 0), 1);
	assert_int_equal(berth_files_dup2(table, 0, 2), 2);
	assert_int_equal(berth_files_dup3(table, 0, 3, 0), 3);
	assert_int_equal(berth_files_dupfd(table, 0, 4, 0), 4);
	assert_true(is_cloexec(0));
	assert_false(is_cloexec(1));
	assert_false(is_cloexec(2));
	assert_false(is_cloexec(3));
	assert_false(is_cloexec(4));
}

static void bad_number_before_full_table(void **state)
{
	(void)state;
	berth_files_set_limit(table, 1);
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_dup(table, 1), -EBADF);
	assert_int_equal(berth_files_dup(table, -1), -EBADF);
	assert_int_equal(berth_files_dup(table, 0), -EMFILE);
}

/* ---- dup2 and dup3 ---- */

static void dup2_takes_the_number_asked_for(void **state)
{
	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_dup2(table, 0, 63), 63);
	assert_int_equal(berth_files_dup2(table, 63, 64), 64);
	assert_int_equal(berth_files_dup2(table, 64, 1023), 1023);
	assert_ptr_equal(peek(0), peek(63));
	assert_ptr_equal(peek(0), peek(64));
	assert_ptr_equal(peek(0), peek(1023));
	assert_int_equal(berth_files_count(table), 4);
	assert_int_equal(berth_files_dup(table, 0), 1);
}

static void dup2_closes_what_was_there(void **state)
{
	struct fate *replaced = new_fate(), *kept = new_fate();

	(void)state;
	assert_int_equal(probe_open(table, replaced), 0);
	assert_int_equal(probe_open(table, kept), 1);
	assert_int_equal(berth_files_dup2(table, 1, 0), 0);
	assert_int_equal(replaced->flushes, 1);
	assert_int_equal(replaced->releases, 1);
	assert_int_equal(kept->flushes, 0);
	assert_ptr_equal(peek(0), peek(1));
	assert_int_equal(berth_files_count(table), 2);

	assert_int_equal(berth_files_close(table, 0), 0);
	assert_int_equal(berth_files_close(table, 1), 0);
	berth_drain();
	assert_int_equal(replaced->flushes, 1);
	assert_int_equal(replaced->frees, 1);
	assert_int_equal(kept->flushes, 2);
	assert_int_equal(kept->frees, 1);
}

static void dup2_ignores_an_error_of_flush(void **state)
{
	struct fate *replaced = new_fate();

	(void)state;
	assert_int_equal(probe_open(table, replaced), 0);
	assert_int_equal(probe_open(table, NULL), 1);
	probe_of(peek(0))->flush_result = -EIO;
	assert_int_equal(berth_files_dup2(table, 1, 0), 0);
	assert_int_equal(replaced->flushes, 1);
	assert_int_equal(replaced->releases, 1);
	assert_ptr_equal(peek(0), peek(1));
}

/* Replacing a file by itself is still a close. */
static void dup2_of_a_file_onto_itself(void **state)
{
	struct fate *fate = new_fate();

	(void)state;
	assert_int_equal(probe_open(table, fate), 0);
	assert_int_equal(berth_files_dup(table, 0), 1);
	assert_int_equal(berth_files_dup2(table, 0, 1), 1);
	assert_int_equal(berth_files_dup2(table, 1, 0), 0);
	assert_int_equal(fate->flushes, 2);
	assert_int_equal(fate->releases, 0);
	assert_int_equal(berth_files_close(table, 0), 0);
	assert_int_equal(fate->releases, 0);
	assert_int_equal(berth_files_close(table, 1), 0);
	assert_int_equal(fate->flushes, 4);
	assert_int_equal(fate->releases, 1);
}

static void dup2_of_equal_numbers_changes_nothing(void **state)
{
	struct fate *fate = new_fate();

	(void)state;
	assert_int_equal(probe_open(table, fate), 0);
	assert_int_equal(berth_files_setfd(table, 0, FD_CLOEXEC), 0);
	assert_int_equal(berth_files_dup2(table, 0, 0), 0);
	assert_true(is_cloexec(0));
	assert_int_equal(fate->flushes, 0);
	assert_int_equal(berth_files_count(table), 1);
	assert_int_equal(berth_files_dup2(table, 1, 1), -EBADF);
	assert_int_equal(berth_files_dup2(table, -1, -1), -EBADF);
}

static void dup2_sets_close_on_exec_of_the_target(void **state)
{
	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(probe_open(table, NULL), 1);

	assert_int_equal(berth_files_dup3(table, 0, 1, O_CLOEXEC), 1);
	assert_true(is_cloexec(1));
	assert_false(is_cloexec(0));
	assert_int_equal(berth_files_dup3(table, 0, 1, 0), 1);
	assert_false(is_cloexec(1));
	assert_int_equal(berth_files_dup3(table, 0, 500, O_CLOEXEC), 500);
	assert_true(is_cloexec(500));
	assert_int_equal(berth_files_dup2(table, 0, 500), 500);
	assert_false(is_cloexec(500));

	/* And not of the source. */
	assert_int_equal(berth_files_setfd(table, 0, FD_CLOEXEC), 0);
	assert_int_equal(berth_files_dup2(table, 0, 1), 1);
	assert_true(is_cloexec(0));
	assert_false(is_cloexec(1));
}

static void dup3_refuses_other_flags_first(void **state)
{
	unsigned int flag;

	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	for (flag = 1; flag; flag <<= 1) {
		if (flag == O_CLOEXEC)
			continue;
		assert_int_equal(berth_files_dup3(table, 0, 1, flag), -EINVAL);
		assert_int_equal(berth_files_dup3(table, 0, 0, flag), -EINVAL);
		assert_int_equal(berth_files_dup3(table, -1, 1, flag), -EINVAL);
		assert_int_equal(berth_files_dup3(table, 0, -1, flag), -EINVAL);
		assert_int_equal(
			berth_files_dup3(table, 0, 1, flag | O_CLOEXEC),
			-EINVAL);
	}
	assert_int_equal(berth_files_count(table), 1);
}

static void dup3_refuses_equal_numbers_before_bad_ones(void **state)
{
	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_dup3(table, 0, 0, 0), -EINVAL);
	assert_int_equal(berth_files_dup3(table, 0, 0, O_CLOEXEC), -EINVAL);
	assert_int_equal(berth_files_dup3(table, 1, 1, 0), -EINVAL);
	assert_int_equal(berth_files_dup3(table, -1, -1, 0), -EINVAL);
	assert_int_equal(berth_files_dup3(table, INT_MAX, INT_MAX, 0), -EINVAL);
	assert_false(is_cloexec(0));
}

static void failed_dup2_leaves_the_target(void **state)
{
	struct fate *fate = new_fate();

	(void)state;
	assert_int_equal(probe_open(table, fate), 0);
	assert_int_equal(berth_files_setfd(table, 0, FD_CLOEXEC), 0);
	assert_int_equal(berth_files_dup2(table, 1, 0), -EBADF);
	assert_int_equal(berth_files_dup3(table, 1, 0, 0), -EBADF);
	assert_int_equal(berth_files_dup2(table, -1, 0), -EBADF);
	assert_int_equal(berth_files_dup2(table, 1, 5), -EBADF);
	assert_int_equal(berth_files_dup2(table, 1, 500), -EBADF);
	assert_true(is_cloexec(0));
	assert_int_equal(fate->flushes, 0);
	assert_int_equal(berth_files_count(table), 1);
	assert_int_equal(probe_open(table, NULL), 1);
}

static void dup2_onto_a_reserved_number_is_busy(void **state)
{
	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_reserve(table, 5, O_CLOEXEC), 5);
	assert_int_equal(berth_files_dup2(table, 0, 5), -EBUSY);
	assert_int_equal(berth_files_dup3(table, 0, 5, 0), -EBUSY);
	assert_int_equal(berth_files_dup3(table, 0, 5, O_CLOEXEC), -EBUSY);
	assert_false(is_open(table, 5));
	/* A source that is not open is found out first. */
	assert_int_equal(berth_files_dup2(table, 1, 5), -EBADF);
	assert_int_equal(berth_files_dup2(table, 5, 5), -EBADF);

	berth_files_install(table, 5, &probe_create(NULL, 0)->file);
	assert_true(is_cloexec(5));
	assert_int_equal(berth_files_dup2(table, 0, 5), 5);
}

/* ---- F_DUPFD ---- */

static void dupfd_takes_the_lowest_from_the_minimum(void **state)
{
	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_dupfd(table, 0, 10, 0), 10);
	assert_int_equal(berth_files_dupfd(table, 0, 10, O_CLOEXEC), 11);
	assert_int_equal(berth_files_dupfd(table, 0, 9, 0), 9);
	assert_int_equal(berth_files_dupfd(table, 0, 9, 0), 12);
	assert_int_equal(berth_files_dupfd(table, 0, 0, O_CLOEXEC), 1);
	assert_true(is_cloexec(1));
	assert_true(is_cloexec(11));
	assert_false(is_cloexec(10));
	assert_false(is_cloexec(0));
	assert_ptr_equal(peek(0), peek(11));
}

static void dupfd_refuses_in_order(void **state)
{
	unsigned int flag;

	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_dupfd(table, 1, -1, 0), -EBADF);
	assert_int_equal(berth_files_dupfd(table, 1, 1024, 0), -EBADF);
	assert_int_equal(berth_files_dupfd(table, 0, -1, 0), -EINVAL);
	assert_int_equal(berth_files_dupfd(table, 0, INT_MIN, 0), -EINVAL);
	assert_int_equal(berth_files_dupfd(table, 0, 1024, 0), -EINVAL);
	assert_int_equal(berth_files_dupfd(table, 0, INT_MAX, 0), -EINVAL);
	for (flag = 1; flag; flag <<= 1)
		if (flag != O_CLOEXEC)
			assert_int_equal(berth_files_dupfd(table, 0, 0, flag),
					 -EINVAL);

	/* None free is said after a bad minimum. */
	berth_files_set_limit(table, 2);
	assert_int_equal(probe_open(table, NULL), 1);
	assert_int_equal(berth_files_dupfd(table, 0, 0, 0), -EMFILE);
	assert_int_equal(berth_files_dupfd(table, 0, 1, 0), -EMFILE);
	assert_int_equal(berth_files_dupfd(table, 0, 2, 0), -EINVAL);
}

static void failed_dups_take_no_reference(void **state)
{
	struct fate *fate = new_fate();
	int i;

	(void)state;
	berth_files_set_limit(table, 2);
	assert_int_equal(probe_open(table, fate), 0);
	assert_int_equal(berth_files_reserve(table, 0, 0), 1);
	for (i = 0; i < 100; i++) {
		assert_int_equal(berth_files_dup(table, 0), -EMFILE);
		assert_int_equal(berth_files_dupfd(table, 0, 2, 0), -EINVAL);
		assert_int_equal(berth_files_dup2(table, 0, 1), -EBUSY);
		assert_int_equal(berth_files_dup2(table, 0, 2), -EBADF);
		assert_int_equal(berth_files_dup3(table, 0, 1, 1), -EINVAL);
	}
	assert_int_equal(berth_files_close(table, 0), 0);
	assert_int_equal(fate->flushes, 1);
	assert_int_equal(fate->releases, 1);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(dup_shares_the_file),
		table_test(dup_leaves_close_on_exec_behind),
		table_test(bad_number_before_full_table),
		table_test(dup2_takes_the_number_asked_for),
		table_test(dup2_closes_what_was_there),
		table_test(dup2_ignores_an_error_of_flush),
		table_test(dup2_of_a_file_onto_itself),
		table_test(dup2_of_equal_numbers_changes_nothing),
		table_test(dup2_sets_close_on_exec_of_the_target),
		table_test(dup3_refuses_other_flags_first),
		table_test(dup3_refuses_equal_numbers_before_bad_ones),
		table_test(failed_dup2_leaves_the_target),
		table_test(dup2_onto_a_reserved_number_is_busy),
		table_test(dupfd_takes_the_lowest_from_the_minimum),
		table_test(dupfd_refuses_in_order),
		table_test(failed_dups_take_no_reference),
	};

	return run_cases(argc, argv, cases);
}
