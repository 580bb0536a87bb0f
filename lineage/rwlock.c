/* SPDX-License-Identifier: MIT */
/*
 * The slow half of the reader-writer lock: what a waiter does.  As in
 * base/lock.c a waiter only looks, then rests, then yields.
 */
#include "files/files.h"

#define SPINS_EAGER 32u
#define SPINS	    128u

/* Wait until @lock has none of @bits, or for long enough. */
static void rw_wait(const struct rwlock *lock, uint32_t bits,
		    unsigned int *tries)
{
	unsigned int i;

	for (i = 0; i < SPINS; i++) {
		if (!(load_relaxed(&lock->state) & bits))
			return;
		if (i >= SPINS_EAGER)
			cpu_relax();
	}
	sys_yield((*tries)++);
}

/* The reader is counted already, in vain. */
noinline void rw_read_lock_slow(struct rwlock *lock)
{
	unsigned int tries = 0;

	do {
		/* Relaxed: it has seen nothing. */
		fetch_sub_relaxed(&lock->state, 1u);
		rw_wait(lock, RW_WRITER, &tries);
	} while (!rw_read_take(lock));
}

noinline void rw_write_lock_slow(struct rwlock *lock)
{
	unsigned int tries = 0;

	do
		rw_wait(lock, ~UINT32_C(0), &tries);
	while (!rw_write_take(lock));
}
