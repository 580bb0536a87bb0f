/* SPDX-License-Identifier: MIT */
/*
 * Many threads put their file onto the same few numbers, or close them, while
 * others open: each use of a number is flushed once, by whoever ended it, and no
 * file is lost or released twice.  Two openers never get the same number, and
 * the limit is kept though many meet it at once.
 */
#include <errno.h>
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	SOURCES = 3, /* a number of each worker's own, from 0 up */
	SHARED = 3,  /* those fought for come behind */
	NUMBERS = SOURCES + SHARED,
	OPENERS = 2,
	LIMIT = NUMBERS + OPENERS + 1,
};

static atomic_ulong uses;	  /* how often a number was given a file */
static atomic_uint opened[LIMIT]; /* by an opener, who has it still */
static atomic_ulong full;

static void put_onto_shared(struct worker *worker)
{
	int mine = (int)worker->index, fd, ret;

	for (; keep_going(); worker->work++) {
		fd = SOURCES + (int)random_below(&worker->random, SHARED);
		if (random_once_in(&worker->random, 4)) {
			ret = berth_files_close(table, fd);
			check(!ret || ret == -EBADF);
			continue;
		}
		ret = berth_files_dup2(table, mine, fd);
		if (ret == -EBUSY)
			continue; /* an opener has reserved it */
		check_equal(ret, fd);
		atomic_fetch_add(&uses, 1);
	}
}

/*
 * The numbers beyond those fought for belong to whoever opened them: nobody
 * else may get one meanwhile.  One of them is always free, so the table is full
 * only when an opener has one of each more than it may.
 */
static void open_and_close(struct worker *worker)
{
	int fd;

	for (; keep_going(); worker->work++) {
		fd = berth_files_reserve(table, NUMBERS, 0);
		check(fd >= NUMBERS && fd < LIMIT);
		check_equal(atomic_exchange(&opened[fd], 1), 0);
		berth_files_install(table, fd, &probe_create(NULL, 0)->file);
		atomic_fetch_add(&uses, 1);
		check(is_open(table, fd));
		check_equal(atomic_exchange(&opened[fd], 0), 1);
		check_equal(berth_files_close(table, fd), 0);
	}
}

/* Takes what is free below, too: one that is being fought for. */
static void open_the_lowest(struct worker *worker)
{
	int fd = 0;

	for (; keep_going(); worker->work++) {
		fd = probe_open(table, NULL);
		if (fd < 0) {
			check_equal(fd, -EMFILE);
			atomic_fetch_add(&full, 1);
			continue;
		}
		check(fd >= SOURCES && fd < LIMIT);
		atomic_fetch_add(&uses, 1);
		/* Somebody else may have put his file there, or closed it. */
		if (fd < NUMBERS)
			berth_files_close(table, fd);
		else
			check_equal(berth_files_close(table, fd), 0);
	}
}

static void dup2_vs_dup2(void **state)
{
	unsigned long flushes = atomic_load(&all_probes.flushes);
	int i;

	(void)state;
	berth_files_set_limit(table, LIMIT);
	for (i = 0; i < SOURCES; i++)
		check_equal(probe_open(table, NULL), i);
	atomic_store(&uses, SOURCES);
	race(NULL, put_onto_shared, put_onto_shared, put_onto_shared,
	     open_and_close, open_and_close, open_the_lowest);
	check(berth_files_count(table) <= NUMBERS);
	for (i = 0; i < LIMIT; i++)
		berth_files_close(table, i);
	check_equal(berth_files_count(table), 0);
	check_equal((long)(atomic_load(&all_probes.flushes) - flushes),
		    (long)atomic_load(&uses));
}

/* ---- More openers than numbers ---- */

static void open_and_close_one(struct worker *worker)
{
	int fd;

	for (; keep_going_until(&full); worker->work++) {
		fd = probe_open(table, NULL);
		if (fd < 0) {
			check_equal(fd, -EMFILE);
			atomic_fetch_add(&full, 1);
			continue;
		}
		check(fd < 2);
		check_equal(atomic_exchange(&opened[fd], 1), 0);
		check_equal(atomic_exchange(&opened[fd], 0), 1);
		check_equal(berth_files_close(table, fd), 0);
	}
}

static void the_limit_is_kept(void **state)
{
	(void)state;
	berth_files_set_limit(table, 2);
	race(NULL, open_and_close_one, open_and_close_one, open_and_close_one,
	     open_and_close_one);
	check(atomic_load(&full) > 0);
	check_equal(berth_files_count(table), 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(dup2_vs_dup2),
		table_test(the_limit_is_kept),
	};

	return run_cases(argc, argv, cases);
}
