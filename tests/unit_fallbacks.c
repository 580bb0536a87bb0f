/* SPDX-License-Identifier: MIT */
/*
 * What the system lacks is replaced: by userspace-rcu, by the C library, by
 * berth.  Under tests/without this sees that it is lacking.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

#include <berth/files.h>

#include "base/rcu.h"

#include "harness.h"
#include "probe.h"
#include "without.h"

/* The headers show it to some builds only. */
extern int urcu_bp_has_sys_membarrier;

static void what_was_taken_is_gone(void **state)
{
	const char *left = still_there();

	(void)state;
	if (left)
		print_error("%s\n", left);
	assert_null(left);
}

/*
 * The library decides when it is loaded, and falls back to barriers in readers
 * that its own inline functions have to make, compiled into berth.
 */
static void readers_know_of_membarrier(void **state)
{
	(void)state;
	print_message("membarrier: %s, RCU %s it\n",
		      have_membarrier() ? "there" : "lacking",
		      urcu_bp_has_sys_membarrier ? "uses" : "does without");
	assert_int_equal(!urcu_bp_has_sys_membarrier, !have_membarrier());
}

static void *default_stack(void *arg)
{
	pthread_attr_t attr;
	size_t *size = arg;

	check(!pthread_getattr_np(pthread_self(), &attr));
	check(!pthread_attr_getstacksize(&attr, size));
	pthread_attr_destroy(&attr);
	return NULL;
}

/* The limit reaches the threads. */
static void threads_have_the_stack_of_the_limit(void **state)
{
	struct rlimit limit;
	pthread_t thread;
	size_t size = 0;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_STACK, &limit), 0);
	check(!pthread_create(&thread, NULL, default_stack, &size));
	pthread_join(thread, NULL);
	print_message("stack of a thread: %zu KiB\n", size / 1024);
	if (limit.rlim_cur != RLIM_INFINITY)
		assert_true(size <= limit.rlim_cur);
}

/* A grace period waits for a borrow, however that is done. */
static void borrow_and_look(struct worker *me)
{
	struct berth_file *file;

	for (; keep_going(); me->work++) {
		file = berth_files_borrow(table, 0);
		if (!file)
			continue;
		probe_check(probe_of(file));
		berth_files_return(file);
	}
}

static void open_close_drain(struct worker *me)
{
	for (; keep_going(); me->work++) {
		check_equal(probe_open(table, NULL), 0);
		check_equal(berth_files_close(table, 0), 0);
		berth_drain();
	}
}

static void grace_periods_wait(void **state)
{
	(void)state;
	race(NULL, borrow_and_look, open_close_drain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(what_was_taken_is_gone),
		cmocka_unit_test(readers_know_of_membarrier),
		cmocka_unit_test(threads_have_the_stack_of_the_limit),
		table_test(grace_periods_wait),
	};

	return run_cases(argc, argv, cases);
}
