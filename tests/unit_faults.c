/* SPDX-License-Identifier: MIT */
/*
 * The steps of a life, once for each fault that they can meet: each use of each
 * kind of call fails, alone, and together with all that come after it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "twins.h"

/* The use that each step is to lose next; 0 when it has met all of them. */
static uint64_t *next_use;

struct round {
	struct aim aim;
	bool on_heap;
	bool again; /* some step has not met all its faults */
	unsigned long failed;
	unsigned long survived;
};

/*
 * A step that failed has changed nothing, so it is taken again at once, with the
 * next fault.  One that survives its fault is done: the rest is for the next
 * round.
 */
static void step_with_faults(struct round *round, struct twins *twins,
			     unsigned int i)
{
	struct aim aim = round->aim;
	struct taken taken;

	do {
		aim.nth = next_use[i];
		taken = twins_step(twins, &life[i], &aim);
		next_use[i] = taken.faults ? next_use[i] + 1 : 0;
	} while (!taken.done);
	round->again |= next_use[i] != 0;
}

/* On a thread that berth has not seen before. */
static void *live_once(void *arg)
{
	struct round *round = arg;
	struct twins twins;
	unsigned int i;

	round->again = false;
	twins_create(&twins, round->on_heap);
	for (i = 0; i < life_length; i++)
		step_with_faults(round, &twins, i);
	twins_destroy(&twins);
	round->failed += twins.failed;
	round->survived += twins.survived;
	return NULL;
}

static void live(struct round *round)
{
	pthread_t thread;

	check(!pthread_create(&thread, NULL, live_once, round));
	pthread_join(thread, NULL);
}

static void live_and_leave_nothing(struct round *round)
{
	struct sys_use before = sys_in_use(), after;

	live(round);
	after = sys_in_use();
	check_equal(after.blocks, before.blocks);
	check_equal(after.bytes, before.bytes);
	check_equal(after.mapped, before.mapped);
}

/* Fail each use of a call, until the whole life meets no fault any more. */
static struct round fail_each(enum sys_call call, int kind, bool on_heap)
{
	struct round round = { .on_heap = on_heap };
	unsigned int i;

	round.aim.kind = kind;
	round.aim.call = call;
	next_use = calloc(life_length, sizeof(*next_use));
	check(next_use);
	live(&round); /* what a first thread leaves to the next is there now */
	for (i = 0; i < life_length; i++)
		next_use[i] = 1;
	do {
		live_and_leave_nothing(&round);
	} while (round.again);
	free(next_use);
	print_message("call %d: failed %lu, survived %lu\n", (int)call,
		      round.failed, round.survived);
	return round;
}

static void no_memory(void **state)
{
	struct round round;

	(void)state;
	round = fail_each(SYS_ALLOC, AIM_NTH, false);
	assert_true(round.failed > 50);
	round = fail_each(SYS_ALLOC, AIM_FROM, false);
	assert_true(round.failed > 50);
}

static void no_memory_from_the_users_allocator(void **state)
{
	struct round round;

	(void)state;
	round = fail_each(SYS_CALLS, AIM_NTH, true);
	assert_true(round.failed > 50);
	round = fail_each(SYS_CALLS, AIM_FROM, true);
	assert_true(round.failed > 50);
}

static void no_mapping(void **state)
{
	struct round round;

	(void)state;
	round = fail_each(SYS_MAP, AIM_NTH, false);
	assert_true(round.failed > 5);
	round = fail_each(SYS_MAP, AIM_FROM, false);
	assert_true(round.failed > 5);
}

/* Without these everything works all the same. */
static void does_without(enum sys_call call, unsigned long least)
{
	struct round round = fail_each(call, AIM_NTH, false);

	assert_int_equal(round.failed, 0);
	assert_true(round.survived >= least);
	round = fail_each(call, AIM_FROM, false);
	assert_int_equal(round.failed, 0);
	assert_true(round.survived >= least);
}

static void does_without_noreserve(void **state)
{
	(void)state;
	does_without(SYS_NORESERVE, 5);
}

static void does_without_unmapping(void **state)
{
	(void)state;
	does_without(SYS_UNMAP, 3);
}

static void does_without_the_size_of_memory(void **state)
{
	(void)state;
	does_without(SYS_MEMORY, 1);
}

static void does_without_the_processor(void **state)
{
	(void)state;
	does_without(SYS_CPU, 1);
}

/* Armed all the time, for a thread asks once. */
static void does_without_thread_keys(void **state)
{
	struct round round = { 0 };

	(void)state;
	next_use = calloc(life_length, sizeof(*next_use));
	check(next_use);
	live(&round);
	sys_fail_from(SYS_KEY_SET, 1);
	live_and_leave_nothing(&round);
	sys_fail_none();
	assert_true(sys_failures() > 0);
	free(next_use);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(no_memory),
		cmocka_unit_test(no_memory_from_the_users_allocator),
		cmocka_unit_test(no_mapping),
		cmocka_unit_test(does_without_noreserve),
		cmocka_unit_test(does_without_unmapping),
		cmocka_unit_test(does_without_the_size_of_memory),
		cmocka_unit_test(does_without_the_processor),
		cmocka_unit_test(does_without_thread_keys),
	};

	if (under_helgrind())
		return 77; /* one thread: it sees nothing, and takes minutes */
	sys_count_use();
	return run_cases(argc, argv, cases);
}
