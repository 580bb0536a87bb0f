/* SPDX-License-Identifier: MIT */
/*
 * The process forks while its threads take and give back references: the child
 * can count on, and what it finds is what the threads may have left.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <berth/kref.h>

#include "harness.h"

enum {
	COUNTS = 8,
	WORKERS = 2,
	TOO_LONG = 20, /* seconds more than the race takes */
};

/* Far from each other, so that they do not share what they may share. */
static struct {
	struct berth_kref kref;
} __attribute__((aligned(256))) counts[COUNTS];

static void work(struct worker *me)
{
	struct berth_kref *kref;

	for (; keep_going(); me->work++) {
		kref = &counts[random_below(&me->random, COUNTS)].kref;
		berth_kref_get(kref);
		check(!berth_kref_put_last(kref));
	}
}

/* The references that the threads held are nobody's now. */
static void in_child(void)
{
	unsigned int held;
	int i;

	/* A child that hangs may do so with signals blocked. */
	check(!prctl(PR_SET_PDEATHSIG, SIGKILL));
	for (i = 0; i < COUNTS; i++) {
		check(berth_kref_get_unless_zero(&counts[i].kref));
		held = berth_kref_read(&counts[i].kref) - 2;
		check(held <= WORKERS);
		while (held--)
			check(!berth_kref_put_last(&counts[i].kref));
		check(!berth_kref_put_last(&counts[i].kref));
		check(berth_kref_put_last(&counts[i].kref));
	}
}

static void fork_it(struct worker *me)
{
	fork_until_over(me, in_child);
}

static void kref_vs_fork(void **state)
{
	int i;

	(void)state;
	if (forks_mislead_tools())
		skip(); /* see harness.h */
	alarm((unsigned int)test_seconds() + TOO_LONG);
	for (i = 0; i < COUNTS; i++)
		berth_kref_init(&counts[i].kref);
	race(NULL, fork_it, work, work);
	for (i = 0; i < COUNTS; i++)
		check(berth_kref_put_last(&counts[i].kref));
	alarm(0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(kref_vs_fork),
	};

	return run_cases(argc, argv, cases);
}
