/* SPDX-License-Identifier: MIT */
/*
 * Reference counts for processors without compare-and-swap: hashed locks.
 *
 * *Structure*.  Four spinlocks; the address of a count chooses one of them, and
 * every operation on the count takes it.  A lock needs no more than an exchange,
 * and a count no more than loads and stores.
 *
 * *Locking*.  A hashed lock is a leaf: whoever holds it loads a word, stores it
 * and leaves.  So these, alone, are taken inside read sections, too, and under
 * any other lock.  Reports, which run code of the user's, come after it.
 *
 * *Signals* are blocked while a lock is held or waited for, as a kernel turns
 * interrupts off.  A handler on the thread that holds a lock could otherwise
 * wait for it for ever.  That it finds out who holds the lock would not help:
 * with more than one lock, two threads may hold one each, and the handler of
 * each wait for the other's.  Nor can it go ahead without the lock: the count
 * that it wants may be the one which the thread has read and not yet written.
 *
 * *Fork of the host process*.  The child frees all locks: whoever held one is
 * not there.  He was about to store a count, or had just done so; both values
 * are good ones, and with either his reference stays taken, or is not taken, as
 * if he had been caught before or behind the operation.
 *
 * *Ordering*.  What puts order by release and acquire in the other form is here
 * in the lock's hands, for the puts of one count take one lock:
 *
 *	REL(kref_unlock:A) pairs with ACQ(kref_lock:A)
 */
#include "base/fork.h"
#include "base/kref.h"
#include "base/sys.h"

#define LOCKS 4u
#define SPINS 128u

static struct {
	uint32_t held cache_aligned;
} locks[LOCKS];

/* What is to be undone at the end of an operation. */
struct hold {
	uint32_t *lock;
	sigset_t signals;
};

static noinline void kref_lock_wait(const uint32_t *lock)
{
	unsigned int looks, tries = 0;

	for (looks = 1; load_relaxed(lock); looks++) {
		if (looks % SPINS)
			cpu_relax();
		else
			sys_yield(tries++);
	}
}

static void kref_lock(struct hold *hold, const struct berth_kref *kref)
{
	hold->lock = &locks[((uintptr_t)kref >> 8) % LOCKS].held;
	sys_block_signals(&hold->signals);
	/* ACQ(kref_lock:A) pairs with REL(kref_unlock:A) */
	while (unlikely(swap_acquire(hold->lock, 1u) != 0))
		kref_lock_wait(hold->lock);
}

static void kref_unlock(const struct hold *hold)
{
	/* REL(kref_unlock:A) pairs with ACQ(kref_lock:A) */
	store_release(hold->lock, 0u);
	sys_restore_signals(&hold->signals);
}

/* R3: one reference more, or less, than a live count; no other ever changes
 * but to the saturated one. */
static void kref_store(struct berth_kref *kref, unsigned int old,
		       unsigned int more)
{
	unsigned int new = old + more;

	if (unlikely(old - 1u >= KREF_MAX || new > KREF_MAX))
		new = KREF_SATURATED;
	store_relaxed(&kref->refs, new);
}

static unsigned int kref_add(struct berth_kref *kref, unsigned int more)
{
	struct hold hold;
	unsigned int old;

	kref_lock(&hold, kref);
	old = load_relaxed(&kref->refs);
	kref_store(kref, old, more);
	kref_unlock(&hold);
	return old;
}

unsigned int kref_read(const struct berth_kref *kref)
{
	struct hold hold;
	unsigned int refs;

	kref_lock(&hold, kref);
	refs = load_relaxed(&kref->refs);
	kref_unlock(&hold);
	return refs;
}

void kref_get(struct berth_kref *kref)
{
	unsigned int old = kref_add(kref, 1u);

	if (unlikely(old - 1u >= KREF_MAX - 1u))
		kref_get_report(old);
}

/* R1: zero is seen, and left, under the lock. */
bool kref_get_unless_zero(struct berth_kref *kref)
{
	struct hold hold;
	unsigned int old;

	kref_lock(&hold, kref);
	old = load_relaxed(&kref->refs);
	if (likely(old != 0))
		kref_store(kref, old, 1u);
	kref_unlock(&hold);
	if (unlikely(old >= KREF_MAX))
		kref_get_report(old);
	return old != 0;
}

/* R2: who finds one under the lock leaves zero behind. */
bool kref_put_last(struct berth_kref *kref)
{
	unsigned int old = kref_add(kref, -1u);

	if (unlikely(old == 0))
		kref_put_report(old);
	return old == 1u;
}

/* ---- Fork of the host process ---- */

/* There is nothing to bring to rest, see above. */
static void kref_resume(bool in_child)
{
	unsigned int i;

	for (i = 0; in_child && i < LOCKS; i++)
		store_relaxed(&locks[i].held, 0u);
}

static const struct fork_handler kref_fork = {
	.resume = kref_resume,
};

__attribute__((constructor)) static void kref_setup(void)
{
	fork_register(FORK_KREF, &kref_fork);
}
