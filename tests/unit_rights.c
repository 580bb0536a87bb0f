/* SPDX-License-Identifier: MIT */
/* Rights of numbers: what takes them away, who has them, who is refused. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

static const struct berth_rights all = { BERTH_RIGHTS_ALL, BERTH_RIGHTS_ALL };
static const struct berth_rights few = { 0x5, 0xf0 };

static void check_rights(struct berth_files *files, int fd,
			 const struct berth_rights *expected)
{
	struct berth_rights rights;

	assert_int_equal(berth_files_rights(files, fd, &rights), 0);
	assert_true(rights.base == expected->base);
	assert_true(rights.inheriting == expected->inheriting);
}

static void a_number_has_all_at_first(void **state)
{
	struct berth_file *file;
	int fd = probe_open(table, NULL);

	(void)state;
	check_rights(table, fd, &all);
	assert_int_equal(
		berth_files_borrow_for(table, fd, BERTH_RIGHTS_ALL, &file), 0);
	assert_ptr_equal(file, berth_files_borrow(table, fd));
	berth_files_return(file);
	berth_files_return(file);
	assert_int_equal(berth_files_close(table, fd), 0);
}

static void rights_only_go(void **state)
{
	static const struct berth_rights more_base = { 0x7, 0xf0 },
					 more_inheriting = { 0x5, 0xf1 },
					 fewer = { 0x4, 0x10 };
	int fd = probe_open(table, NULL);

	(void)state;
	assert_int_equal(berth_files_limit_rights(table, fd, &all), 0);
	assert_int_equal(berth_files_limit_rights(table, fd, &few), 0);
	check_rights(table, fd, &few);
	assert_int_equal(berth_files_limit_rights(table, fd, &more_base),
			 -EPERM);
	assert_int_equal(berth_files_limit_rights(table, fd, &more_inheriting),
			 -EPERM);
	check_rights(table, fd, &few);
	assert_int_equal(berth_files_limit_rights(table, fd, &fewer), 0);
	check_rights(table, fd, &fewer);
	assert_int_equal(berth_files_close(table, fd), 0);
}

static void who_lacks_one_is_refused(void **state)
{
	struct berth_file *file;
	int fd = probe_open(table, NULL);

	(void)state;
	assert_int_equal(berth_files_limit_rights(table, fd, &few), 0);
	assert_int_equal(berth_files_borrow_for(table, fd, 0x7, &file), -EPERM);
	assert_int_equal(berth_files_get_for(table, fd, 0x2, &file), -EPERM);
	assert_int_equal(berth_files_borrow_for(table, fd, 0x5, &file), 0);
	berth_files_return(file);
	assert_int_equal(berth_files_get_for(table, fd, 0x4, &file), 0);
	assert_int_equal(berth_files_close(table, fd), 0);
	probe_check_owned(probe_of(file));
	berth_file_put(file);
	/* Who asks for nothing gets what is there; so do plain lookups. */
	fd = probe_open(table, NULL);
	assert_int_equal(berth_files_borrow_for(table, fd, 0, &file), 0);
	berth_files_return(file);
	assert_int_equal(berth_files_close(table, fd), 0);
}

static void bad_numbers(void **state)
{
	static const int bad[] = { -1,	 0,	  63,	   64,
				   1023, 1 << 30, INT_MAX, INT_MIN };
	struct berth_rights rights;
	struct berth_file *file;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(berth_files_rights(table, bad[i], &rights),
				 -EBADF);
		assert_int_equal(berth_files_limit_rights(table, bad[i], &few),
				 -EBADF);
		assert_int_equal(
			berth_files_borrow_for(table, bad[i], 0, &file),
			-EBADF);
		assert_int_equal(berth_files_get_for(table, bad[i], 0, &file),
				 -EBADF);
	}
	/* A reserved number is not open. */
	assert_int_equal(berth_files_reserve(table, 0, 0), 0);
	assert_int_equal(berth_files_limit_rights(table, 0, &few), -EBADF);
	berth_files_unreserve(table, 0);
}

static void duplicates_and_copies_have_them(void **state)
{
	int fd = probe_open(table, NULL), other;
	struct berth_files *copy;

	(void)state;
	other = berth_files_dup(table, fd);
	assert_int_equal(berth_files_limit_rights(table, fd, &few), 0);
	check_rights(table, other, &all);
	assert_int_equal(berth_files_dup2(table, fd, other), other);
	check_rights(table, other, &few);
	assert_int_equal(berth_files_dupfd(table, fd, 100, 0), 100);
	check_rights(table, 100, &few);
	assert_int_equal(berth_files_renumber(table, 100, 99), 99);
	check_rights(table, 99, &few);
	assert_int_equal(berth_files_fork(table, &copy), 0);
	assert_int_equal(berth_files_close(table, fd), 0);
	assert_int_equal(berth_files_close(table, other), 0);
	assert_int_equal(berth_files_close(table, 99), 0);
	check_rights(copy, 99, &few);
	berth_files_put_table(copy);
	/* A number that was limited comes back without limits. */
	assert_int_equal(probe_open(table, NULL), fd);
	check_rights(table, fd, &all);
	assert_int_equal(berth_files_close(table, fd), 0);
}

static void installed_with_few(void **state)
{
	struct probe *probe = probe_create(NULL, 0);
	int fd = berth_files_reserve(table, 0, 0);

	(void)state;
	assert_int_equal(
		berth_files_install_limited(table, fd, &probe->file, &few), 0);
	check_rights(table, fd, &few);
	probe_check_owned(probe);
	assert_int_equal(berth_files_setfd(table, fd, FD_CLOEXEC), 0);
	berth_files_exec(table);
	assert_false(is_open(table, fd));
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(a_number_has_all_at_first),
		table_test(rights_only_go),
		table_test(who_lacks_one_is_refused),
		table_test(bad_numbers),
		table_test(duplicates_and_copies_have_them),
		table_test(installed_with_few),
	};

	return run_cases(argc, argv, cases);
}
