/* SPDX-License-Identifier: MIT */
/*
 * Injected faults: which use of which call is to fail.
 *
 * Tests arm these from one thread; any thread counts them down.  Relaxed
 * throughout: an injection orders nothing.
 */
#include "base/fault.h"

enum {
	FAILING = 1,
	COUNTING = 2,
};

unsigned int fault_watched;

static struct {
	unsigned int one_in;
	unsigned int for_good; /* the countdown stays at one */
	uint64_t seed;
	uint64_t countdown[SYS_CALLS];
	uint64_t failures;
} faults;

static struct sys_use use;

/* ---- Failing ---- */

static bool fault_by_chance(void)
{
	unsigned int one_in = load_relaxed(&faults.one_in);
	uint64_t x;

	if (!one_in)
		return false;
	/* A Weyl sequence, mixed: repeatable in one thread, cheap in many. */
	x = fetch_add_relaxed(&faults.seed, UINT64_C(0x9e3779b97f4a7c15));
	x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return (x >> 33) % one_in == 0;
}

static bool fault_by_count(enum sys_call call)
{
	uint64_t *countdown = &faults.countdown[call];
	uint64_t left = load_relaxed(countdown);

	while (left > load_relaxed(&faults.for_good) &&
	       !cas_relaxed(countdown, &left, left - 1))
		;
	return left == 1;
}

noinline bool fault_due(enum sys_call call)
{
	if (!fault_by_count(call) && !fault_by_chance())
		return false;
	fetch_add_relaxed(&faults.failures, 1);
	return true;
}

static void fault_arm(void)
{
	store_relaxed(&faults.failures, 0);
	fetch_or_relaxed(&fault_watched, (unsigned int)FAILING);
}

void sys_fail_nth(enum sys_call call, uint64_t nth)
{
	store_relaxed(&faults.for_good, 0u);
	store_relaxed(&faults.countdown[call], nth);
	fault_arm();
}

void sys_fail_from(enum sys_call call, uint64_t nth)
{
	store_relaxed(&faults.for_good, 1u);
	store_relaxed(&faults.countdown[call], nth);
	fault_arm();
}

void sys_fail_random(uint64_t seed, unsigned int one_in)
{
	store_relaxed(&faults.seed, seed);
	store_relaxed(&faults.one_in, one_in);
	fault_arm();
}

void sys_fail_none(void)
{
	unsigned int call;

	fetch_and_relaxed(&fault_watched, ~(unsigned int)FAILING);
	store_relaxed(&faults.one_in, 0u);
	for (call = 0; call < SYS_CALLS; call++)
		store_relaxed(&faults.countdown[call], (uint64_t)0);
}

uint64_t sys_failures(void)
{
	return load_relaxed(&faults.failures);
}

/* ---- Counting ---- */

noinline void fault_count_due(int64_t blocks, int64_t bytes, int64_t mapped)
{
	if (!(load_relaxed(&fault_watched) & COUNTING))
		return;
	fetch_add_relaxed(&use.blocks, blocks);
	fetch_add_relaxed(&use.bytes, bytes);
	fetch_add_relaxed(&use.mapped, mapped);
}

void sys_count_use(void)
{
	fetch_or_relaxed(&fault_watched, (unsigned int)COUNTING);
}

struct sys_use sys_in_use(void)
{
	return (struct sys_use){ .blocks = load_relaxed(&use.blocks),
				 .bytes = load_relaxed(&use.bytes),
				 .mapped = load_relaxed(&use.mapped) };
}
