/* SPDX-License-Identifier: MIT */
/*
 * Drains against closes: a drain frees all that was closed before it, by any
 * thread, and it ends though others go on closing.
 */
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	WORKERS = 3,
};

/* What became of each worker's files, and how many closes have returned. */
static struct fate fates[WORKERS];
static atomic_ulong closes[WORKERS];

static atomic_ulong drains;

static void open_and_close(struct worker *worker)
{
	int fd = probe_open(table, &fates[worker->index]);

	check(fd >= 0);
	check_equal(berth_files_close(table, fd), 0);
	atomic_fetch_add(&closes[worker->index], 1);
	worker->work++;
}

static void closer(struct worker *worker)
{
	while (keep_going())
		open_and_close(worker);
}

static void drainer(struct worker *worker)
{
	unsigned long before[WORKERS];
	int i;

	while (keep_going()) {
		open_and_close(worker);
		for (i = 0; i < WORKERS; i++)
			before[i] = atomic_load(&closes[i]);
		berth_drain();
		for (i = 0; i < WORKERS; i++)
			check(atomic_load(&fates[i].frees) >= before[i]);
		if (keep_going())
			atomic_fetch_add(&drains, 1);
	}
}

static void drain_vs_close(void **state)
{
	(void)state;
	race(NULL, closer, drainer, closer);
	check(atomic_load(&drains) > 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(drain_vs_close),
	};

	return run_cases(argc, argv, cases);
}
