/* SPDX-License-Identifier: MIT */
/* Status flags, and files that are only places. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

#define CHANGED ((unsigned int)(O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME))

static void open_with(unsigned int mode)
{
	struct probe *probe = probe_create(NULL, mode);

	assert_int_equal(berth_files_receive(table, &probe->file, 0, NULL), 0);
	berth_file_put(&probe->file);
}

/* ---- Flags ---- */

static void setfl_changes_some_flags(void **state)
{
	unsigned int flag;

	(void)state;
	open_with(0);
	assert_int_equal(berth_files_dup(table, 0), 1);
	assert_int_equal(berth_files_getfl(table, 0), O_RDWR);
	for (flag = 1; flag; flag <<= 1) {
		assert_int_equal(berth_files_setfl(table, 0, flag), 0);
		assert_int_equal(berth_files_getfl(table, 1),
				 O_RDWR | (int)(flag & CHANGED));
	}
	assert_int_equal(berth_files_setfl(table, 1, ~0u), 0);
	assert_int_equal(berth_files_getfl(table, 0), O_RDWR | (int)CHANGED);
	assert_int_equal(berth_files_setfl(table, 1, 0), 0);
	assert_int_equal(berth_files_getfl(table, 0), O_RDWR);
}

static void setfl_async_is_for_who_keeps_it(void **state)
{
	(void)state;
	open_with(BERTH_FILE_ASYNC);
	assert_int_equal(berth_files_setfl(table, 0, O_ASYNC | O_APPEND), 0);
	assert_int_equal(berth_files_getfl(table, 0),
			 O_RDWR | O_ASYNC | O_APPEND);
	assert_int_equal(berth_files_setfl(table, 0, 0), 0);
	assert_int_equal(berth_files_getfl(table, 0), O_RDWR);
}

static void flags_of_bad_numbers(void **state)
{
	static const int bad[] = { -1, 1, 63, 64, 1024, INT_MAX, INT_MIN };
	unsigned int i;

	(void)state;
	open_with(0);
	assert_int_equal(berth_files_reserve(table, 63, 0), 63);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(berth_files_getfl(table, bad[i]), -EBADF);
		assert_int_equal(berth_files_setfl(table, bad[i], 0), -EBADF);
	}
	berth_files_unreserve(table, 63);
}

static unsigned int asked;

static int no_direct(struct berth_file *file, unsigned int flags)
{
	(void)file;
	asked = flags;
	return flags & O_DIRECT ? -EINVAL : 0;
}

static void nothing(struct berth_file *file)
{
	(void)file;
}

static const struct berth_file_operations checked = {
	.free = nothing,
	.check_flags = no_direct,
};

static void setfl_asks_the_file(void **state)
{
	static struct berth_file file;

	(void)state;
	berth_file_init(&file, &checked, O_WRONLY, 0);
	assert_int_equal(berth_files_receive(table, &file, 0, NULL), 0);
	assert_int_equal(berth_files_setfl(table, 0, O_APPEND | O_DIRECT),
			 -EINVAL);
	assert_int_equal(berth_files_getfl(table, 0), O_WRONLY);
	assert_int_equal(berth_files_setfl(table, 0, O_APPEND | O_CREAT), 0);
	assert_int_equal(asked, O_WRONLY | O_APPEND);
	assert_int_equal(berth_files_getfl(table, 0), O_WRONLY | O_APPEND);
	assert_int_equal(berth_files_close(table, 0), 0);
	berth_file_put(&file);
	berth_drain();
}

/* ---- Places ---- */

static void places_are_for_those_who_ask(void **state)
{
	struct berth_file *file;

	(void)state;
	open_with(BERTH_FILE_PATH);
	assert_null(berth_files_get(table, 0));
	file = berth_files_borrow(table, 0);
	assert_non_null(file);
	assert_null(berth_files_borrow_of(table, 0, file->ops));
	berth_files_return(file);
	assert_ptr_equal(berth_files_get_raw(table, 0), file);
	berth_file_put(file);

	/* What belongs to the number works. */
	assert_int_equal(berth_files_dup(table, 0), 1);
	assert_int_equal(berth_files_same(table, 0, 1), 1);
	assert_int_equal(berth_files_setfd(table, 1, FD_CLOEXEC), 0);
	assert_int_equal(berth_files_getfl(table, 0), O_RDWR);
	assert_int_equal(berth_files_setfl(table, 0, 0), -EBADF);
	assert_int_equal(berth_files_close(table, 0), 0);
	assert_int_equal(berth_files_close(table, 1), 0);
}

static void raw_forms_of_bad_numbers(void **state)
{
	static const int bad[] = { -1, 0, 64, 1024, INT_MAX, INT_MIN };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_null(berth_files_get_raw(table, bad[i]));
}

/* ---- Broken contracts ---- */

static void open_takes_number_and_reference(void **state)
{
	struct fate *fate = new_fate();
	struct probe *probe = probe_create(fate, 0);

	(void)state;
	assert_int_equal(berth_files_open(table, &probe->file, O_APPEND),
			 -EINVAL);
	assert_int_equal(berth_files_set_limit(table, 0), 0);
	assert_int_equal(berth_files_open(table, &probe->file, 0), -EMFILE);
	assert_int_equal(berth_files_set_limit(table, 8), 0);
	assert_int_equal(berth_files_open(table, &probe->file, O_CLOEXEC), 0);
	assert_int_equal(berth_files_getfd(table, 0), FD_CLOEXEC);
	assert_int_equal(berth_files_close(table, 0), 0);
	assert_int_equal(atomic_load(&fate->releases), 1);
}

static void no_file_at_all_is_reported(void **state)
{
	static const struct berth_rights few = { 1, 1 };
	struct probe *probe = probe_create(NULL, 0);

	(void)state;
	record_reports();
	assert_int_equal(berth_files_open(table, NULL, 0), -EINVAL);
	assert_int_equal(reports_of("install-without-file"), 1);
	assert_int_equal(berth_files_reserve(table, 0, 0), 0);
	berth_files_install(table, 0, NULL);
	assert_int_equal(reports_of("install-without-file"), 2);
	assert_int_equal(
		berth_files_install_limited(table, 1, &probe->file, &few),
		-EBADF);
	assert_int_equal(reports_of("install-not-reserved"), 1);
	assert_int_equal(stop_recording(), 3);
	/* Number and reference are still the caller's. */
	berth_files_install(table, 0, &probe->file);
	assert_int_equal(berth_files_close(table, 0), 0);
}

/* ---- A flush that uses the table ---- */

static struct berth_files *dying;
static struct fate *late;

static int open_another(struct berth_file *file, struct berth_files *files)
{
	(void)file;
	if (files == dying && atomic_load(&late->made) < 70)
		(void)probe_open(files, late);
	return 0;
}

static struct berth_file_operations opening_ops;

/* Wherever it lands, below or above what has been closed already. */
static void what_is_opened_at_the_end_ends_as_well(void **state)
{
	struct fate *fate = new_fate();
	struct probe *probe;
	int fd, i;

	(void)state;
	late = new_fate();
	assert_int_equal(berth_files_create(&dying), 0);
	for (i = 0; i < 300; i++) {
		fd = berth_files_reserve(dying, 0, 0);
		probe = probe_create(fate, 0);
		if (i % 10 == 0) {
			opening_ops = *probe->file.ops;
			opening_ops.flush = open_another;
			probe->file.ops = &opening_ops;
		}
		berth_files_install(dying, fd, &probe->file);
	}
	/* The lowest free numbers are among those that are closed first. */
	for (fd = 1; fd < 60; fd++)
		if (fd % 10)
			assert_int_equal(berth_files_close(dying, fd), 0);
	berth_files_put_table(dying);
	assert_int_equal(atomic_load(&fate->releases), 300);
	assert_int_equal(atomic_load(&late->made), 30);
	assert_int_equal(atomic_load(&late->releases), 30);
}

static void a_file_without_operations_is_reported(void **state)
{
	static const struct berth_file_operations none;
	static struct berth_file first, second;

	(void)state;
	record_reports();
	berth_file_init(&first, NULL, 0, 0);
	assert_int_equal(reports_of("file-without-operations"), 1);
	berth_file_init(&second, &none, 0, 0);
	assert_int_equal(reports_of("file-without-operations"), 2);
	berth_file_put(&first);
	berth_file_put(&second);
	berth_drain();
	assert_int_equal(stop_recording(), 2);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(setfl_changes_some_flags),
		table_test(setfl_async_is_for_who_keeps_it),
		table_test(flags_of_bad_numbers),
		table_test(setfl_asks_the_file),
		table_test(places_are_for_those_who_ask),
		table_test(raw_forms_of_bad_numbers),
		table_test(a_file_without_operations_is_reported),
		table_test(open_takes_number_and_reference),
		table_test(no_file_at_all_is_reported),
		cmocka_unit_test(what_is_opened_at_the_end_ends_as_well),
	};

	return run_cases(argc, argv, cases);
}
