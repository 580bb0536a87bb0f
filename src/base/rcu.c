/* SPDX-License-Identifier: MIT */
/*
 * Deferred frees in batches.
 *
 * *Structure*.  Each thread that retires has a list of its own, in a registry
 * that only grows; a thread that ends leaves its structure, list included, to
 * the next one.  The owner pushes; anyone takes the whole list by a swap, so
 * there is no ABA and a push is one compare-and-swap on a line of the thread's
 * own.
 *
 * *Locking*.  reclaim_lock is held from taking lists until their callbacks have
 * run.  So whoever gets it knows that all that was taken before is freed, which
 * is what rcu_drain() promises.  It is never waited for inside a read section
 * nor with another lock held that a callback wants.
 *
 * *Bound*.  A thread's list is at most RCU_BATCH long after rcu_poll(), or
 * RCU_BATCH_MAX while another thread is reclaiming; what limits set by the user
 * count (pages, inodes) stays charged until it is freed, and the writer that
 * meets such a limit drains.
 *
 * *Ordering*
 *	REL(rcu_retire:A) pairs with ACQ(rcu_take:A)
 *	REL(rcu_self_leave:A) pairs with ACQ(rcu_self_adopt:A)
 *	REL(rcu_self_create:A) pairs with ACQ(rcu_drain:A),
 *		ACQ(rcu_thread_next:A)
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/fork.h"
#include "base/lock.h"
#include "base/rcu.h"
#include "base/report.h"
#include "base/sys.h"
#include "base/thread.h"

/* A thread waits for the reclaiming of others only beyond this. */
#define RCU_BATCH_MAX (8 * RCU_BATCH)

__thread struct rcu_thread *rcu_self;

/* This thread runs callbacks: what they retire is for later. */
static __thread bool rcu_reclaiming;

static struct rcu_thread *registry;
static struct mutex reclaim_lock;
static uint64_t progress; /* written under reclaim_lock */

/* For threads that could not get a list of their own; they count in it by
 * read-modify-writes, and ask again after each batch. */
static struct rcu_thread rcu_common = { .in_use = 1 };

#if WITH_TSAN || WITH_VALGRIND
char rcu_domain;
#endif
#if WITH_VALGRIND
char rcu_section;
#endif

/* ---- The thread's own list ---- */

/* The thread ends; its list stays, for the next owner or for a drain. */
static void rcu_self_leave(void)
{
	struct rcu_thread *self = rcu_self;

	rcu_self = NULL;
	/* REL(rcu_self_leave:A) pairs with ACQ(rcu_self_adopt:A) */
	if (self && self != &rcu_common)
		store_release(&self->in_use, 0u);
}

static struct rcu_thread *rcu_self_adopt(void)
{
	struct rcu_thread *thread;
	unsigned int free;

	/* As ACQ(rcu_drain:A): the links of the registry never change. */
	for (thread = load_acquire(&registry); thread; thread = thread->next) {
		free = 0;
		/* ACQ(rcu_self_adopt:A) pairs with REL(rcu_self_leave:A) */
		if (!load_relaxed(&thread->in_use) &&
		    cas_acquire(&thread->in_use, &free, 1u))
			return thread;
	}
	return NULL;
}

static struct rcu_thread *rcu_self_create(void)
{
	struct rcu_thread *self = sys_zalloc_lines(bytes_of(sizeof(*self)));

	if (!self)
		return NULL;
	store_relaxed(&self->in_use, 1u);
	spin_init(&self->uses_lock);
	self->next = load_relaxed(&registry);
	/* REL(rcu_self_create:A) pairs with ACQ(rcu_drain:A),
	 * ACQ(rcu_thread_next:A) */
	while (!cas_release(&registry, &self->next, self))
		;
	return self;
}

static noinline struct rcu_thread *rcu_self_register(void)
{
	struct rcu_thread *self = NULL;

	if (thread_at_exit(rcu_self_leave)) {
		self = rcu_self_adopt();
		if (!self)
			self = rcu_self_create();
	}
	rcu_self = self ? self : &rcu_common;
	return rcu_self;
}

struct rcu_thread *rcu_thread_self(void)
{
	return likely(rcu_self) ? rcu_self : rcu_self_register();
}

struct rcu_thread *rcu_thread_next(struct rcu_thread *thread)
{
	if (!thread)
		return &rcu_common;
	/* ACQ(rcu_thread_next:A) pairs with REL(rcu_self_create:A) */
	return thread == &rcu_common ? load_acquire(&registry) : thread->next;
}

/* Relaxed: the owner's own, or a rough measure of the common list. */
static void rcu_count(struct rcu_thread *self)
{
	if (unlikely(self == &rcu_common))
		fetch_add_relaxed(&self->count, 1u);
	else
		store_relaxed(&self->count, self->count + 1);
}

void rcu_retire(struct berth_retired *object,
		void (*func)(struct berth_retired *object))
{
	struct rcu_thread *self = rcu_thread_self();

	object->func = func;
	object->next = load_relaxed(&self->retired);
	/* REL(rcu_retire:A) pairs with ACQ(rcu_take:A) */
	while (!cas_release(&self->retired, &object->next, object))
		;
	rcu_count(self);
}

/* ---- Reclaiming ---- */

static struct berth_retired *rcu_take(struct rcu_thread *thread)
{
	if (!load_relaxed(&thread->retired))
		return NULL;
	/* ACQ(rcu_take:A) pairs with REL(rcu_retire:A) */
	return swap_acquire(&thread->retired, NULL);
}

/*
 * A thread may be cancelled where it sleeps, and a grace period and the user's
 * callbacks sleep: while it reclaims it is not.
 */
static int reclaim_begin(bool wait)
{
	int state;

	if (wait)
		mutex_lock(&reclaim_lock);
	else if (!mutex_trylock(&reclaim_lock))
		return -1;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

static void reclaim_end(int state)
{
	mutex_unlock(&reclaim_lock);
	pthread_setcancelstate(state, NULL);
}

/* The library polls and makes system calls; errno stays the caller's. */
void rcu_wait_for_readers(void)
{
	int saved = errno, state;

	/* The library's wait is a cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	synchronize_rcu();
	pthread_setcancelstate(state, NULL);
	errno = saved;
}

/* Under reclaim_lock, after a grace period. */
static void rcu_run(struct berth_retired *list)
{
	struct berth_retired *next;

	rcu_reclaiming = true;
	for (; list; list = next) {
		next = list->next;
		list->func(list);
	}
	rcu_reclaiming = false;
	store_relaxed(&progress, progress + 1);
}

uint64_t rcu_progress(void)
{
	/* Relaxed: a hint; who wants more waits for reclaim_lock. */
	return load_relaxed(&progress);
}

noinline void rcu_reclaim(struct rcu_thread *self)
{
	struct berth_retired *list;
	int state;

	if (rcu_reclaiming || rcu_read_held())
		return;
	state = reclaim_begin(load_relaxed(&self->count) >= RCU_BATCH_MAX);
	if (state < 0)
		return;
	store_relaxed(&self->count, 0u);
	list = rcu_take(self);
	/* A drain may have been here first. */
	if (list) {
		rcu_wait_for_readers();
		rcu_run(list);
	}
	reclaim_end(state);
	if (self == &rcu_common)
		rcu_self = NULL;
}

/* Take every list; at most RCU_LISTS at once, the rest in the next round. */
#define RCU_LISTS 64u

static unsigned int rcu_take_all(struct berth_retired **lists)
{
	struct rcu_thread *thread;
	unsigned int n = 0;

	lists[n] = rcu_take(&rcu_common);
	n += lists[n] != NULL;
	/* ACQ(rcu_drain:A) pairs with REL(rcu_self_create:A) */
	for (thread = load_acquire(&registry); thread && n < RCU_LISTS;
	     thread = thread->next) {
		lists[n] = rcu_take(thread);
		n += lists[n] != NULL;
	}
	return n;
}

/* The caller's own list is empty, so what it pushes is counted anew. */
static void rcu_uncount(void)
{
	if (rcu_self)
		store_relaxed(&rcu_self->count, 0u);
}

/*
 * One pass over the threads takes all that was retired before, unless there are
 * more lists than fit; what is retired meanwhile is not waited for.
 */
bool rcu_drain(void)
{
	struct berth_retired *lists[RCU_LISTS];
	unsigned int i, n;
	int state;

	if (rcu_reclaiming)
		return false;
	if (rcu_read_held()) {
		report("drain-inside-borrow",
		       "waiting for the end of borrows inside one");
		return false;
	}
	state = reclaim_begin(true);
	do {
		n = rcu_take_all(lists);
		rcu_uncount();
		if (n)
			rcu_wait_for_readers();
		for (i = 0; i < n; i++)
			rcu_run(lists[i]);
	} while (n >= RCU_LISTS);
	reclaim_end(state);
	return true;
}

/* ---- Fork of the host process ---- */

/*
 * Reclamation comes to rest first: callbacks may take tables' locks and pass
 * gates, and a grace period may wait for a borrower who wants a table's lock;
 * so its lock is never waited for while those are held.
 */
static void reclaim_quiesce(void)
{
	mutex_lock(&reclaim_lock);
}

static void reclaim_resume(bool in_child)
{
	(void)in_child;
	mutex_unlock(&reclaim_lock);
}

static void urcu_quiesce(void)
{
	urcu_bp_before_fork();
}

/*
 * In the child this thread is the only one: the lists of the others are
 * nobody's now, and the next threads adopt them.
 */
static void urcu_resume(bool in_child)
{
	struct rcu_thread *thread;

	if (!in_child) {
		urcu_bp_after_fork_parent();
		return;
	}
	urcu_bp_after_fork_child();
	/* As ACQ(rcu_drain:A). */
	for (thread = load_acquire(&registry); thread; thread = thread->next)
		if (thread != rcu_self)
			store_relaxed(&thread->in_use, 0u);
}

static const struct fork_handler reclaim_fork = {
	.quiesce = reclaim_quiesce,
	.resume = reclaim_resume,
};

static const struct fork_handler urcu_fork = {
	.quiesce = urcu_quiesce,
	.resume = urcu_resume,
};

__attribute__((constructor)) static void rcu_setup(void)
{
	fork_register(FORK_RECLAIM, &reclaim_fork);
	fork_register(FORK_URCU, &urcu_fork);
}
