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
 * In a valgrind build helgrind learns which lock is taken while which is held,
 * and complains of two orders: by class, not by lock, for a directory that was
 * moved comes before what was before it.  A lock that has been initialised by
 * spin_init() or mutex_init() is of the class of that place; any other one, which
 * is static and zero, is alone in its class.
 *
 * No lock is taken inside a borrow.  Locks are held over the fork of the host
 * process by nobody but base/fork.h's handlers.
 *
 * *Ordering*
 *	REL(spin_unlock:A) pairs with ACQ(spin_take:A)
 *	REL(mutex_unlock:A) pairs with ACQ(mutex_take:A), ACQ(mutex_lock:A)
 *	REL(seq_write_end:A) pairs with ACQ(seq_read_begin:A)
 *	ACQ(seq_read_retry:A) pairs with REL(seq_store:A)
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include "base/atomic.h"
#include "base/sys.h"

/* How deep locks of one class are nested, as mutex_lock_nested() says. */
#define LOCK_DEPTHS 4

#if WITH_VALGRIND
struct lock_class {
	char depth[LOCK_DEPTHS]; /* what helgrind knows them by */
};

#define LOCK_CLASS                \
	struct lock_class *class; \
	char *taken /* by whoever holds it; under the lock */

/* For helgrind a shared hold of the class: it says nothing about other holders,
 * and the lock's own word orders them. */
#define lock_taken(lock, level)                                       \
	((lock)->taken = (lock)->class ? &(lock)->class->depth[level] \
				       : (char *)(lock),              \
	 lock_class_taken((lock)->taken))
#define lock_dropped(lock) lock_class_dropped((lock)->taken)
#define lock_init(lock)                        \
	do {                                   \
		static struct lock_class here; \
		(lock)->class = &here;         \
	} while (0)

static inline void lock_class_taken(char *class)
{
	ANNOTATE_RWLOCK_ACQUIRED(class, 0);
}

static inline void lock_class_dropped(char *class)
{
	ANNOTATE_RWLOCK_RELEASED(class, 0);
}
#else
#define LOCK_CLASS
#define lock_taken(lock, level) ((void)(lock), (void)(level))
#define lock_dropped(lock)	((void)(lock))
#define lock_init(lock)		((void)(lock))
#endif

struct spinlock {
	uint32_t held;
	LOCK_CLASS;
};

/* Of zeroed memory. */
#define spin_init(lock) lock_init(lock)

void spin_lock_slow(struct spinlock *lock);

static inline bool spin_take(struct spinlock *lock)
{
	uint32_t free = 0;

	/* ACQ(spin_take:A) pairs with REL(spin_unlock:A) */
	return cas_acquire(&lock->held, &free, 1u);
}

static inline void spin_lock(struct spinlock *lock)
{
	if (unlikely(!spin_take(lock)))
		spin_lock_slow(lock);
	lock_taken(lock, 0);
}

static inline bool spin_trylock(struct spinlock *lock)
{
	if (!spin_take(lock))
		return false;
	lock_taken(lock, 0);
	return true;
}

static inline void spin_unlock(struct spinlock *lock)
{
	lock_dropped(lock);
	/* REL(spin_unlock:A) pairs with ACQ(spin_take:A) */
	store_release(&lock->held, 0u);
}

/* In the child of a fork: whoever held it is not there. */
static inline void spin_renew(struct spinlock *lock)
{
	store_relaxed(&lock->held, 0u);
}

/* 0: free; 1: held; 2: held, and somebody may sleep. */
struct mutex {
	uint32_t state;
	LOCK_CLASS;
};

/* Of zeroed memory. */
#define mutex_init(mutex) lock_init(mutex)

void mutex_lock_slow(struct mutex *mutex);

static inline bool mutex_take(struct mutex *mutex)
{
	uint32_t free = 0;

	/* ACQ(mutex_take:A) pairs with REL(mutex_unlock:A) */
	return cas_acquire(&mutex->state, &free, 1u);
}

/* With locks of its class held already, so many that the next @depth is free. */
static inline void mutex_lock_nested(struct mutex *mutex, unsigned int depth)
{
	if (unlikely(!mutex_take(mutex)))
		mutex_lock_slow(mutex);
	lock_taken(mutex, depth);
}

static inline void mutex_lock(struct mutex *mutex)
{
	mutex_lock_nested(mutex, 0);
}

static inline bool mutex_trylock(struct mutex *mutex)
{
	if (!mutex_take(mutex))
		return false;
	lock_taken(mutex, 0);
	return true;
}

static inline void mutex_unlock(struct mutex *mutex)
{
	lock_dropped(mutex);
	/* REL(mutex_unlock:A) pairs with ACQ(mutex_take:A),
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
