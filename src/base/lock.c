/* SPDX-License-Identifier: MIT */
/* The slow halves of the locks: what a waiter does. */
#include "base/lock.h"

/* About two microseconds: longer than any section, unless preempted. */
#define SPINS 64u

noinline void spin_lock_slow(struct spinlock *lock)
{
	unsigned int i, tries = 0;

	for (;;) {
		for (i = 0; i < SPINS; i++) {
			if (!load_relaxed(&lock->held) && spin_trylock(lock))
				return;
			cpu_relax();
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
		if (!load_relaxed(&mutex->state) && mutex_trylock(mutex))
			return;
		cpu_relax();
	}
	/* ACQ(mutex_lock:A) pairs with REL(mutex_unlock:A) */
	while (swap_acquire(&mutex->state, 2u) != 0)
		sys_futex_wait(&mutex->state, 2u);
}

noinline void seq_read_wait(const struct seqcount *seq)
{
	unsigned int i, tries = 0;

	for (;;) {
		for (i = 0; i < SPINS; i++) {
			if (!(load_relaxed(&seq->sequence) & 1))
				return;
			cpu_relax();
		}
		sys_yield(tries++);
	}
}
