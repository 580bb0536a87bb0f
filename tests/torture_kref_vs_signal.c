/* SPDX-License-Identifier: MIT */
/*
 * Signal handlers take and give back references of the same counts as the
 * threads that they interrupt: nobody waits for his own thread, nor two for each
 * other, and no reference is lost.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include <berth/kref.h>

#include "harness.h"

enum {
	WORKERS = 2,
	COUNTS = 8,
	TOO_LONG = 10, /* seconds more than the race takes */
};

/* Far from each other, so that they do not share what they may share. */
static struct {
	struct berth_kref kref;
} __attribute__((aligned(256))) counts[COUNTS];

static pthread_t threads[WORKERS];
static atomic_uint running;
static atomic_ulong handled;

/* The case owns a reference of each, so none is the last. */
static void take_and_give(struct berth_kref *kref)
{
	berth_kref_get(kref);
	check(berth_kref_get_unless_zero(kref));
	check(!berth_kref_put_last(kref));
	check(!berth_kref_put_last(kref));
}

static void handle(int number)
{
	int i;

	(void)number;
	for (i = 0; i < COUNTS; i++)
		take_and_give(&counts[i].kref);
	atomic_fetch_add(&handled, 1);
}

static void work(struct worker *me)
{
	threads[me->index] = pthread_self();
	atomic_fetch_add(&running, 1);
	for (; keep_going_until(&handled); me->work++)
		take_and_give(&counts[random_below(&me->random, COUNTS)].kref);
	/* Nobody sends to a thread that has ended. */
	atomic_fetch_add(&running, 1);
	while (atomic_load(&running) < 2 * WORKERS + 1)
		sched_yield();
}

static void send_signals(struct worker *me)
{
	while (atomic_load(&running) < WORKERS)
		sched_yield();
	for (; keep_going_until(&handled); me->work++)
		check(!pthread_kill(threads[random_below(&me->random, WORKERS)],
				    SIGUSR1));
	atomic_fetch_add(&running, 1);
}

static void handlers_count_too(void **state)
{
	struct sigaction action = { .sa_handler = handle,
				    .sa_flags = SA_RESTART };
	int i;

	(void)state;
	alarm((unsigned int)test_seconds() + TOO_LONG);
	for (i = 0; i < COUNTS; i++)
		berth_kref_init(&counts[i].kref);
	check(!sigaction(SIGUSR1, &action, NULL));
	race(NULL, work, work, send_signals);
	for (i = 0; i < COUNTS; i++)
		check(berth_kref_put_last(&counts[i].kref));
	alarm(0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(handlers_count_too),
	};

	return run_cases(argc, argv, cases);
}
