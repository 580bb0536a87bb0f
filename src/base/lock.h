/* SPDX-License-Identifier: MIT */
/*
 * Two locks of four bytes, and a sequence counter.
 *
 * spinlock	for sections of a few dozen instructions.  Its release is one
 *		plain store, half the price of a mutex; waiters spin, then
 *		yield, then nap.
 * mutex	for everything longer.  Waiters sleep in the kernel.
 * seqcount	lets readers find out that a writer was at work; writers exclude
 *		each other by a lock.
 *
 * No lock is taken inside a borrow.  Locks are held over the fork of the host
 * process by nobody but base/fork.h's handlers.
 *
 * *Ordering*
 *	REL(spin_unlock:A) pairs with ACQ(spin_trylock:A)
 *	REL(mutex_unlock:A) pairs with ACQ(mutex_trylock:A), ACQ(mutex_lock:A)
 *	REL(seq_write_end:A) pairs with ACQ(seq_read_begin:A)
 *	ACQ(seq_read_retry:A) pairs with REL(seq_store:A)
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include "base/atomic.h"
#include "base/sys.h"

struct spinlock {
	uint32_t held;
};

void spin_lock_slow(struct spinlock *lock);

static inline bool spin_trylock(struct spinlock *lock)
{
	uint32_t free = 0;

	/* ACQ(spin_trylock:A) pairs with REL(spin_unlock:A) */
	return cas_acquire(&lock->held, &free, 1u);
}

static inline void spin_lock(struct spinlock *lock)
{
	if (unlikely(!spin_trylock(lock)))
		spin_lock_slow(lock);
}

static inline void spin_unlock(struct spinlock *lock)
{
	/* REL(spin_unlock:A) pairs with ACQ(spin_trylock:A) */
	store_release(&lock->held, 0u);
}

/* 0: free; 1: held; 2: held, and somebody may sleep. */
struct mutex {
	uint32_t state;
};

void mutex_lock_slow(struct mutex *mutex);

static inline bool mutex_trylock(struct mutex *mutex)
{
	uint32_t free = 0;

	/* ACQ(mutex_trylock:A) pairs with REL(mutex_unlock:A) */
	return cas_acquire(&mutex->state, &free, 1u);
}

static inline void mutex_lock(struct mutex *mutex)
{
	if (unlikely(!mutex_trylock(mutex)))
		mutex_lock_slow(mutex);
}

static inline void mutex_unlock(struct mutex *mutex)
{
	/* REL(mutex_unlock:A) pairs with ACQ(mutex_trylock:A),
	 * ACQ(mutex_lock:A) */
	if (unlikely(swap_release(&mutex->state, 0u) == 2u))
		sys_futex_wake(&mutex->state, 1);
}

/*
 * A sequence counter: odd while a writer is at work.  What it guards is read
 * and written with relaxed accesses, or published by store_release() as
 * seq_store() below does, so that a reader who saw a value from a section also
 * sees in seq_read_retry() that the section began.
 */
struct seqcount {
	uint32_t sequence;
};

void seq_read_wait(const struct seqcount *seq);
/* Spin for a short time; is the counter even now? */
bool seq_read_spin(const struct seqcount *seq);

/* Waits while a writer is at work; writers are short. */
static inline uint32_t seq_read_begin(const struct seqcount *seq)
{
	uint32_t start;

	/* ACQ(seq_read_begin:A) pairs with REL(seq_write_end:A) */
	while (unlikely((start = load_acquire(&seq->sequence)) & 1))
		seq_read_wait(seq);
	return start;
}

/* The same where nobody may wait for long: false when he would have to. */
static inline bool seq_read_try_begin(const struct seqcount *seq,
				      uint32_t *start)
{
	/* As ACQ(seq_read_begin:A). */
	while (unlikely((*start = load_acquire(&seq->sequence)) & 1))
		if (!seq_read_spin(seq))
			return false;
	return true;
}

/*
 * What a reader copies between begin and retry: an acquire, so that the look at
 * the counter in seq_read_retry() comes after it.
 */
/* ACQ(seq_read_retry:A) pairs with REL(seq_store:A) */
#define seq_load(p) load_acquire(p)

/* What a writer stores in its section: a release, so that whoever sees the
 * value also sees the odd counter before it. */
/* REL(seq_store:A) pairs with ACQ(seq_read_retry:A) */
#define seq_store(p, v) store_release(p, v)

static inline bool seq_read_retry(const struct seqcount *seq, uint32_t start)
{
	return unlikely(load_relaxed(&seq->sequence) != start);
}

static inline void seq_write_begin(struct seqcount *seq)
{
	store_relaxed(&seq->sequence, load_relaxed(&seq->sequence) + 1);
}

static inline void seq_write_end(struct seqcount *seq)
{
	/* REL(seq_write_end:A) pairs with ACQ(seq_read_begin:A) */
	store_release(&seq->sequence, load_relaxed(&seq->sequence) + 1);
}

#endif
