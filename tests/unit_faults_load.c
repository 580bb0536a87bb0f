/* SPDX-License-Identifier: MIT */
/*
 * When berth is loaded, the C library has no key left for what a thread leaves
 * behind, and no memory for the handlers of a fork.  So threads share a list of
 * deferred frees, and no table is made until a fork will be safe.
 */
#include <errno.h>
#include <unistd.h>

#include <berth/berth.h>

#include "base/fault.h"
#include "base/rcu.h"

#include "harness.h"
#include "probe.h"

enum {
	TOO_LONG = 20, /* seconds, for a microsecond's work */
};

/* Before berth's own constructors. */
__attribute__((constructor(101))) static void fail_at_load(void)
{
	sys_fail_nth(SYS_KEY, 1);
	sys_fail_nth(SYS_ATFORK, 1);
}

/* That no other case comes first is what its place in the list is for. */
static void no_table_without_safe_forks(void **state)
{
	struct berth_vfs *vfs = NULL;

	(void)state;
	assert_int_equal(sys_failures(), 2);
	sys_fail_nth(SYS_ATFORK, 1);
	assert_int_equal(berth_files_create(&table), -ENOMEM);
	assert_null(table);
	sys_fail_nth(SYS_ATFORK, 1);
	assert_int_equal(berth_vfs_create(NULL, &vfs), -ENOMEM);
	assert_null(vfs);
	/* From here on they are. */
	assert_int_equal(berth_files_create(&table), 0);
	assert_int_equal(sys_failures(), 1);
	sys_fail_none();
	berth_files_put_table(table);
}

static void open_and_close(struct worker *me)
{
	while (keep_going()) {
		check_equal(berth_files_close(table, probe_open(table, NULL)),
			    0);
		me->work++;
	}
}

/* A lock that another thread held at the fork would be held for ever. */
static void use_in_the_child(void)
{
	alarm(TOO_LONG);
	check_equal(berth_files_close(table, probe_open(table, NULL)), 0);
	berth_drain();
}

static void fork_again_and_again(struct worker *me)
{
	fork_until_over(me, use_in_the_child);
}

static void then_forks_are_safe(void **state)
{
	(void)state;
	if (forks_mislead_tools())
		skip(); /* see harness.h */
	race(NULL, open_and_close, open_and_close, fork_again_and_again);
}

/* One list is being freed while the next one grows; see docs/CONCURRENCY.md. */
#define MOST_LEFT (2 * 8 * RCU_BATCH + 100)

/* What the threads have closed and nobody has freed, at any moment. */
static void close_and_look(struct worker *me)
{
	struct fate *fate = me->shared;
	long left;

	while (keep_going() || fate->made < 3ul * MOST_LEFT) {
		check_equal(berth_files_close(table, probe_open(table, fate)),
			    0);
		/* In this order: what is freed in between makes it less. */
		left = (long)fate->made;
		left -= (long)fate->frees;
		check(left <= (long)MOST_LEFT);
		me->work++;
	}
}

static void deferred_frees_are_bounded(void **state)
{
	struct fate *fate = new_fate();

	(void)state;
	race(fate, close_and_look, close_and_look);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(no_table_without_safe_forks),
		table_test(then_forks_are_safe),
		table_test(deferred_frees_are_bounded),
	};

	return run_cases(argc, argv, cases);
}
