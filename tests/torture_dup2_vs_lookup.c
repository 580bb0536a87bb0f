/* SPDX-License-Identifier: MIT */
/*
 * dup2 against lookups: while two threads replace what number 0 finds, nobody
 * ever sees it empty (F5); each file that was replaced is flushed and released
 * once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

/* How often a number lost its file: each time one flush is due. */
static atomic_ulong closes;

static void borrower(struct worker *worker)
{
	struct berth_file *file;

	for (; keep_going(); worker->work++) {
		file = berth_files_borrow(table, 0);
		check(file);
		probe_check(probe_of(file));
		berth_files_return(file);
	}
}

/* Everything else that looks a number up. */
static void looker(struct worker *worker)
{
	struct berth_file *file;
	int fd;

	for (; keep_going(); worker->work++) {
		file = berth_files_get(table, 0);
		check(file);
		probe_check_owned(probe_of(file));
		berth_file_put(file);

		check(berth_files_getfd(table, 0) >= 0);
		check_equal(berth_files_dup2(table, 0, 0), 0);
		fd = berth_files_dup(table, 0);
		check(fd > 0);
		check_equal(berth_files_close(table, fd), 0);
		atomic_fetch_add(&closes, 1);
	}
}

static void replacer(struct worker *worker)
{
	unsigned int flags;
	int fd;

	for (; keep_going(); worker->work++) {
		flags = random_once_in(&worker->random, 2) ? O_CLOEXEC : 0;
		fd = probe_open(table, NULL);
		check(fd > 0);
		check_equal(berth_files_dup3(table, fd, 0, flags), 0);
		check_equal(berth_files_close(table, fd), 0);
		atomic_fetch_add(&closes, 2);
	}
}

static void dup2_vs_lookup(void **state)
{
	(void)state;
	check_equal(probe_open(table, NULL), 0);
	race(NULL, borrower, replacer, looker, replacer);
	check_equal(berth_files_close(table, 0), 0);
	atomic_fetch_add(&closes, 1);
	check_equal(berth_files_count(table), 0);
	check_equal(atomic_load(&all_probes.flushes), atomic_load(&closes));
	check_no_probe_left();
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(dup2_vs_lookup),
	};

	return run_cases(argc, argv, cases);
}
