/* SPDX-License-Identifier: MIT */
/*
 * A thread that was to be cancelled was so in the midst of a drain, where it
 * waited for a borrow: it kept the lock of reclamation, and all others waited
 * for that for ever.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	TOO_LONG = 5,	 /* seconds */
	LONG_US = 30000, /* for a wait to become a sleep; less is no fault */
};

static atomic_bool borrowed, drained, may_drain;

static void *borrow(void *unused)
{
	struct berth_file *file = berth_files_borrow(table, 0);

	(void)unused;
	check(file);
	atomic_store(&borrowed, true);
	while (!atomic_load(&may_drain))
		sched_yield();
	usleep(LONG_US);
	berth_files_return(file);
	return NULL;
}

static void *drain(void *unused)
{
	(void)unused;
	while (!atomic_load(&may_drain))
		;
	berth_drain();
	atomic_store(&drained, true);
	pthread_testcancel();
	return NULL;
}

static void cancelled_while_it_drains(void **state)
{
	pthread_t drainer, borrower;
	void *result;

	(void)state;
	alarm(TOO_LONG);
	check_equal(probe_open(table, NULL), 0);
	check_equal(probe_open(table, NULL), 1);
	check(!pthread_create(&borrower, NULL, borrow, NULL));
	while (!atomic_load(&borrowed))
		sched_yield();
	check_equal(berth_files_close(table, 1), 0);
	check(!pthread_create(&drainer, NULL, drain, NULL));
	check(!pthread_cancel(drainer));
	atomic_store(&may_drain, true);
	pthread_join(drainer, &result);
	check(result == PTHREAD_CANCELED);
	check(atomic_load(&drained));
	pthread_join(borrower, NULL);
	berth_drain();
	alarm(0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(cancelled_while_it_drains),
	};

	return run_cases(argc, argv, cases);
}
