/* SPDX-License-Identifier: MIT */
/*
 * RCU: read sections without shared writes, and deferred frees in batches.
 *
 * userspace-rcu (flavour bp: threads register themselves) stands behind this
 * header alone, so that it can be exchanged.  Its words are used as they are:
 * rcu_read_lock(), rcu_read_unlock(), rcu_dereference(), rcu_assign_pointer(),
 * synchronize_rcu().  Ours are:
 *
 * rcu_retire()	hand over an object that readers may still see; its callback
 *		runs once they have left.  Never waits: it pushes onto the
 *		thread's own list.
 * rcu_poll()	the place where a call of berth, holding nothing, pays for the
 *		frees it deferred: a full list waits for one grace period for the
 *		lot.
 * rcu_drain()	wait until all that was retired before, by anybody, is freed.
 *
 * Here are the only ThreadSanitizer annotations of berth, for it does not see
 * the order that a grace period gives (membarrier(2), inside the library);
 * helgrind is told the same, and of locks and atomics in their headers.
 */
#ifndef BASE_RCU_H
#define BASE_RCU_H

#include <urcu-bp.h>

#include <berth/files.h>

#include "base/atomic.h"
#include "base/lock.h"

/* Retired objects that a thread collects before it waits for readers. */
#define RCU_BATCH 4096u

void rcu_retire(struct berth_retired *object,
		void (*func)(struct berth_retired *object));
/* False: called where nothing can be waited for: in a callback, or a borrow. */
bool rcu_drain(void);
/* Until all read sections of before have ended; errno stays the caller's. */
void rcu_wait_for_readers(void);
/* How many lists have been freed: has there been progress? */
uint64_t rcu_progress(void);

/* What a thread of berth's has for itself, on a line of its own. */
struct rcu_thread {
	/* Retired objects, newest first; anyone may take the list whole. */
	struct berth_retired *retired;
	unsigned int count;  /* pushed by the owner since it was last taken */
	unsigned int in_use; /* some thread owns this structure */
	struct rcu_thread *next; /* in the registry; never changes */

	/* What it is inside of (files/wait.c), under the lock. */
	struct spinlock uses_lock;
	struct berth_use *uses;
} cache_aligned;

extern __thread struct rcu_thread *rcu_self;

void rcu_reclaim(struct rcu_thread *self);
/* The calling thread's; where there is no memory for one, that of many. */
struct rcu_thread *rcu_thread_self(void);
/* One after the other, from NULL to NULL. */
struct rcu_thread *rcu_thread_next(struct rcu_thread *thread);

static inline void rcu_poll(void)
{
	struct rcu_thread *self = rcu_self;

	if (unlikely(self && load_relaxed(&self->count) >= RCU_BATCH))
		rcu_reclaim(self);
}

static inline bool rcu_read_held(void)
{
	return urcu_bp_read_ongoing();
}

#if WITH_TSAN || WITH_VALGRIND

extern char rcu_domain; /* stands for "some grace period" */

#if WITH_TSAN
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);

#define rcu_order_after()  __tsan_acquire(&rcu_domain)
#define rcu_order_before() __tsan_release(&rcu_domain)
#define rcu_section_begins()
#define rcu_section_ends()
#else
#define rcu_order_after()    ANNOTATE_HAPPENS_AFTER(&rcu_domain)
#define rcu_order_before()   ANNOTATE_HAPPENS_BEFORE(&rcu_domain)
/* A class of locks like others': none is taken inside it. */
#define rcu_section_begins() lock_class_taken(&rcu_section)
#define rcu_section_ends()   lock_class_dropped(&rcu_section)

extern char rcu_section;
#endif

static inline void rcu_watched_read_lock(void)
{
	urcu_bp_read_lock();
	rcu_section_begins();
	rcu_order_after();
}

static inline void rcu_watched_read_unlock(void)
{
	rcu_order_before();
	rcu_section_ends();
	urcu_bp_read_unlock();
}

static inline void rcu_watched_synchronize(void)
{
	rcu_order_before();
	urcu_bp_synchronize_rcu();
	rcu_order_after();
}

#undef rcu_read_lock
#undef rcu_read_unlock
#undef synchronize_rcu
#define rcu_read_lock	rcu_watched_read_lock
#define rcu_read_unlock rcu_watched_read_unlock
#define synchronize_rcu rcu_watched_synchronize

#endif

/*
 * A pointer that readers follow.  The library orders by the address dependency;
 * C17 has no word for that which compilers honour, and an acquire load costs
 * nothing on x86-64 and next to nothing elsewhere.
 */
#undef rcu_dereference
#undef rcu_assign_pointer
#define rcu_dereference(p)	 load_acquire(&(p))
#define rcu_assign_pointer(p, v) store_release(&(p), (v))

#endif
