/* SPDX-License-Identifier: MIT */
/* The slow halves of the locks: what a waiter does. */
#include "base/lock.h"

/*
 * Sections are shorter than a pause instruction on some processors, so a waiter
 * first looks without one.  All looks together take a few microseconds: longer
 * than any section whose holder was not preempted.
 */
#define SPINS_EAGER 32u
#define SPINS	    128u

static void spin_pause(unsigned int looks)
{
	if (looks >= SPINS_EAGER)
		cpu_relax();
}

noinline void spin_lock_slow(struct spinlock *lock)
{
	unsigned int i, tries = 0;

	for (;;) {
		for (i = 0; i < SPINS; i++) {
			if (!load_relaxed(&lock->held) && spin_take(lock))
				return;
			spin_pause(i);
		}
		sys_yield(tries++);
	}
}

/*
 * A waiter marks the mutex before it sleeps, and takes it marked when it comes
 * back: there may be others, whom the next unlock has to wake.
 */
noinline void mutex_lock_slow(struct mutex *mutex)
{
	unsigned int i;

	for (i = 0; i < SPINS; i++) {
		if (!load_relaxed(&mutex->state) && mutex_take(mutex))
			return;
		spin_pause(i);
	}
	/* ACQ(mutex_lock:A) pairs with REL(mutex_unlock:A) */
	while (swap_acquire(&mutex->state, 2u) != 0)
		sys_futex_wait(&mutex->state, 2u);
}

noinline bool seq_read_spin(const struct seqcount *seq)
{
	unsigned int i;

	for (i = 0; i < SPINS; i++) {
		if (!(load_relaxed(&seq->sequence) & 1))
			return true;
		spin_pause(i);
	}
	return false;
}

noinline void seq_read_wait(const struct seqcount *seq)
{
	unsigned int tries = 0;

	while (!seq_read_spin(seq))
		sys_yield(tries++);
}
