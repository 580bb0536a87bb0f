/* SPDX-License-Identifier: MIT */
/*
 * Opens against closes: a new number is the lowest free one at some instant
 * between call and return (F4), and nobody else's.
 *
 * Every call takes a stamp of a common clock before and after it.  From them
 * follows when a number was free beyond doubt: from the stamp after its close
 * until the stamp before the call that got it next.  A call that returned r is
 * wrong if at every instant of it some lower number was free beyond doubt; it
 * is checked when the round is over.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	WORKERS = 3,
	CALLS = 150, /* of each worker in a round */
	LOWEST = 61, /* below, all is taken; words of bits meet at 64 */
	NUMBERS = 6,
	LIMIT = LOWEST + NUMBERS,
};

static const unsigned long NEVER = ~0ul;

/* One number's time with one worker. */
struct hold {
	int min; /* what was asked for */
	int fd;	 /* what came, LIMIT when there was none */
	unsigned long call, opened, closing, closed;
};

struct log {
	struct hold holds[CALLS];
	unsigned int count;
};

static struct log logs[WORKERS];
static atomic_ulong ticks;
static unsigned long opens, full;

static unsigned long stamp(void)
{
	return atomic_fetch_add(&ticks, 1) + 1;
}

/* ---- The round's work ---- */

static int open_from(int min, struct random *random)
{
	int fd;

	if (random_once_in(random, 2))
		return berth_files_dupfd(table, 0, min, 0);
	fd = berth_files_reserve(table, min, 0);
	if (fd >= 0)
		berth_files_install(table, fd, &probe_create(NULL, 0)->file);
	return fd;
}

static void log_open(struct log *log, struct random *random)
{
	struct hold *hold = &log->holds[log->count++];
	int fd;

	hold->min = LOWEST;
	if (random_once_in(random, 4))
		hold->min += (int)random_below(random, NUMBERS);
	hold->closing = hold->closed = NEVER;
	hold->call = stamp();
	/* Below LOWEST nothing is free, so from 0 is the same. */
	fd = open_from(hold->min == LOWEST ? 0 : hold->min, random);
	hold->opened = stamp();
	check(fd == -EMFILE || (fd >= hold->min && fd < LIMIT));
	hold->fd = fd < 0 ? LIMIT : fd;
}

/* Close one of those that this worker has; false when it has none. */
static bool log_close(struct log *log, struct random *random)
{
	unsigned int i, start = random_below(random, CALLS);
	struct hold *hold;

	for (i = 0; i < log->count; i++) {
		hold = &log->holds[(start + i) % log->count];
		if (hold->fd == LIMIT || hold->closing != NEVER)
			continue;
		hold->closing = stamp();
		check_equal(berth_files_close(table, hold->fd), 0);
		hold->closed = stamp();
		return true;
	}
	return false;
}

/* ---- Afterwards ---- */

/* The holds of one number in their order. */
static struct hold *holds_of[NUMBERS][WORKERS * CALLS];
static unsigned int hold_count[NUMBERS];

static int compare_holds(const void *a, const void *b)
{
	const struct hold *const *x = a, *const *y = b;

	return (*x)->opened < (*y)->opened ? -1 : 1;
}

static void sort_holds(void)
{
	struct hold *hold;
	unsigned int w, i, n;

	memset(hold_count, 0, sizeof(hold_count));
	for (w = 0; w < WORKERS; w++)
		for (i = 0; i < logs[w].count; i++) {
			hold = &logs[w].holds[i];
			opens++;
			full += hold->fd == LIMIT;
			if (hold->fd == LIMIT)
				continue;
			n = (unsigned int)(hold->fd - LOWEST);
			holds_of[n][hold_count[n]++] = hold;
		}
	for (n = 0; n < NUMBERS; n++)
		qsort(holds_of[n], hold_count[n], sizeof(holds_of[n][0]),
		      compare_holds);
}

/* Nobody gets a number before its holder began to close it. */
static void check_holds_are_apart(void)
{
	unsigned int n, i;

	for (n = 0; n < NUMBERS; n++)
		for (i = 1; i < hold_count[n]; i++)
			check(holds_of[n][i - 1]->closing <
			      holds_of[n][i]->opened);
}

/* Until when is @n free beyond doubt from @from on?  @from: it is not. */
static unsigned long free_until(unsigned int n, unsigned long from)
{
	unsigned long since = 0;
	unsigned int i;

	for (i = 0; i < hold_count[n]; i++) {
		if (since > from)
			return from;
		if (from < holds_of[n][i]->call)
			return holds_of[n][i]->call;
		since = holds_of[n][i]->closed;
	}
	return since <= from ? NEVER : from;
}

static void check_lowest(const struct hold *hold)
{
	unsigned long time = hold->call, until = time;
	int fd;

	while (time < hold->opened) {
		for (fd = hold->min; fd < hold->fd && until == time; fd++)
			until = free_until((unsigned int)(fd - LOWEST), time);
		if (until == time)
			return; /* here it was the lowest, for all we know */
		time = until;
	}
	print_error("number %d came though a lower one was free all the time\n",
		    hold->fd);
	check_failed(__FILE__, __LINE__, "the lowest free number");
}

static void check_round(void)
{
	unsigned int w, i;

	sort_holds();
	check_holds_are_apart();
	for (w = 0; w < WORKERS; w++)
		for (i = 0; i < logs[w].count; i++)
			check_lowest(&logs[w].holds[i]);
}

static void next_table(void *shared)
{
	int fd;

	(void)shared;
	check_round();
	memset(logs, 0, sizeof(logs));
	atomic_store(&ticks, 0);

	berth_files_put_table(table);
	check_equal(berth_files_create(&table), 0);
	berth_files_set_limit(table, LIMIT);
	for (fd = 0; fd < LOWEST; fd++)
		check_equal(probe_open(table, NULL), fd);
}

static void opener(struct worker *worker)
{
	struct log *log = &logs[worker->index];
	struct random *random = &worker->random;

	while (next_round(worker, next_table))
		while (log->count < CALLS) {
			if (random_once_in(random, 2) ||
			    !log_close(log, random))
				log_open(log, random);
			worker->work++;
		}
}

static void open_close_lowest(void **state)
{
	(void)state;
	race(NULL, opener, opener, opener);
	check(opens > full);
	check(full > 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(open_close_lowest),
	};

	return run_cases(argc, argv, cases);
}
