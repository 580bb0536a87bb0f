/* SPDX-License-Identifier: MIT */
/*
 * Installs against everything that takes a number from its table: one thread
 * opens, others close and copy whatever they find, without having heard of it
 * in any other way.  A file that is found is complete, each is closed
 * once, and none is lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	NUMBERS = 70, /* the first segment and a piece of the next */
};

/* How often a number lost its file: each time one flush is due. */
static atomic_ulong closes;

static void opener(struct worker *worker)
{
	int fd;

	while (keep_going()) {
		fd = probe_open(table, NULL);
		check(fd >= 0 || fd == -EMFILE);
		worker->work += fd >= 0;
	}
}

static void close_some(struct random *random, struct worker *worker)
{
	int fd = (int)random_below(random, NUMBERS);
	int ret = berth_files_close(table, fd);

	check(ret == 0 || ret == -EBADF);
	if (ret)
		return;
	atomic_fetch_add(&closes, 1);
	worker->work++;
}

static void closer(struct worker *worker)
{
	while (keep_going())
		close_some(&worker->random, worker);
}

/* By fork and exec: all that is marked, in the copy and in the table. */
static void copy_all(void)
{
	struct berth_files *copy;
	unsigned int open;

	check_equal(berth_files_fork(table, &copy), 0);
	open = berth_files_count(copy);
	check(open <= NUMBERS);
	berth_files_put_table(copy);
	atomic_fetch_add(&closes, open);
}

static void copier(struct worker *worker)
{
	struct random *random = &worker->random;
	int from, to;

	for (; keep_going(); worker->work++) {
		from = (int)random_below(random, NUMBERS);
		to = berth_files_dup(table, from);
		check(to >= 0 || to == -EBADF || to == -EMFILE);
		to = (int)random_below(random, NUMBERS);
		to = berth_files_dup2(table, from, to);
		check(to >= 0 || to == -EBADF || to == -EBUSY);
		close_some(random, worker);
		if (random_once_in(random, 16))
			copy_all();
	}
}

/* Replaced files were flushed, too, but only the library knows how many. */
static void check_flushes(void)
{
	check(atomic_load(&all_probes.flushes) >= atomic_load(&closes));
	check(atomic_load(&all_probes.flushes) >=
	      atomic_load(&all_probes.made));
}

static void install_vs_close(void **state)
{
	(void)state;
	check_equal(berth_files_set_limit(table, NUMBERS), 0);
	race(NULL, opener, closer, copier);
	berth_files_put_table(table);
	check_no_probe_left();
	check_flushes();
	check_equal(berth_files_create(&table), 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(install_vs_close),
	};

	return run_cases(argc, argv, cases);
}
