/* SPDX-License-Identifier: MIT */
/*
 * File and rights of one instant: a number finds, in turn, files that it may do
 * anything with and files that it lacks a right for; who asks for that right
 * never gets one of the latter, and is never refused one of the former.
 */
#include <errno.h>
#include <fcntl.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

#define RIGHT 0x1u

static const struct berth_rights lacking = { ~(uint64_t)RIGHT,
					     BERTH_RIGHTS_ALL };

/* A probe's flush result says which kind it is. */
static struct probe *probe_of_kind(bool lacks)
{
	struct probe *probe = probe_create(NULL, 0);

	probe->flush_result = lacks ? -EPERM : 0;
	return probe;
}

static bool lacks(struct berth_file *file)
{
	return probe_of(file)->flush_result != 0;
}

/* The same number again, with either kind, and from the start. */
static void changer(struct worker *worker)
{
	struct probe *probe;
	bool lack;
	int fd;

	for (; keep_going(); worker->work++) {
		lack = worker->work & 1;
		probe = probe_of_kind(lack);
		fd = berth_files_reserve(table, 1, 0);
		check(fd > 0);
		if (lack)
			check_equal(berth_files_install_limited(
					    table, fd, &probe->file, &lacking),
				    0);
		else
			berth_files_install(table, fd, &probe->file);
		check_equal(berth_files_dup2(table, fd, 0), 0);
		/* Fewer rights than none lacks: as good as before. */
		check_equal(berth_files_limit_rights(table, fd, &lacking), 0);
		berth_files_close(table, fd);
	}
}

static void borrower(struct worker *worker)
{
	struct berth_file *file;
	int ret;

	for (; keep_going(); worker->work++) {
		ret = berth_files_borrow_for(table, 0, RIGHT, &file);
		check(ret == 0 || ret == -EPERM);
		if (ret)
			continue;
		probe_check(probe_of(file));
		check(!lacks(file));
		berth_files_return(file);
	}
}

static void getter(struct worker *worker)
{
	struct berth_rights rights;
	struct berth_file *file;
	int ret, fd;

	for (; keep_going(); worker->work++) {
		ret = berth_files_get_for(table, 0, RIGHT, &file);
		check(ret == 0 || ret == -EPERM);
		if (!ret) {
			probe_check_owned(probe_of(file));
			check(!lacks(file));
			berth_file_put(file);
		}
		/* A duplicate keeps both as they are. */
		fd = berth_files_dup(table, 0);
		check(fd > 0);
		check_equal(berth_files_rights(table, fd, &rights), 0);
		file = berth_files_get(table, fd);
		check_equal(!(rights.base & RIGHT), lacks(file));
		berth_file_put(file);
		berth_files_close(table, fd);
	}
}

static void rights_vs_lookup(void **state)
{
	(void)state;
	check_equal(probe_open(table, NULL), 0);
	race(NULL, changer, borrower, getter, changer);
	berth_files_close(table, 0);
	check_equal(berth_files_count(table), 0);
	check_no_probe_left();
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(rights_vs_lookup),
	};

	return run_cases(argc, argv, cases);
}
