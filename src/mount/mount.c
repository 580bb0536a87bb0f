/* SPDX-License-Identifier: MIT */
/*
 * The write gate of a mount: one word, one compare-and-swap a decision.
 *
 * *Ordering*.  What a writer did inside must be seen by who finds the counts at
 * zero, and what the holder did before it let writers in again must be seen by
 * them:
 *
 *	REL(mnt_leave:A) pairs with ACQ(mnt_make_readonly:A), ACQ(mnt_freeze:A)
 *	REL(mnt_open_gate:A) pairs with ACQ(mnt_enter:A)
 */
#include <errno.h>

#include "base/fork.h"
#include "base/lock.h"
#include "base/rcu.h"
#include "mount/mount.h"

#define MNT_READONLY UINT64_C(0x1)
#define MNT_FROZEN   UINT64_C(0x2)
#define MNT_WAITERS  UINT64_C(0x4) /* somebody sleeps on the word */
#define MNT_FLAGS    UINT64_C(0xff)
#define MNT_OP	     (UINT64_C(1) << 8)
#define MNT_OPS	     (UINT64_C(0xffffff) << 8)
#define MNT_LONG     (UINT64_C(1) << 32)

/* Every mount, for the fork of the host process. */
static struct vfsmount *mounts;
static struct mutex mounts_lock;

/* The half of the word that holds the flags and the operations. */
static uint32_t *gate_low(struct vfsmount *mnt)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint32_t *)(void *)&mnt->gate;
#else
	return (uint32_t *)(void *)&mnt->gate + 1;
#endif
}

/* Sleep until the word is no longer @seen (or without cause). */
static noinline void gate_wait(struct vfsmount *mnt, uint64_t seen)
{
	if (!(seen & MNT_WAITERS)) {
		/* Relaxed: whoever wakes us changes the word again. */
		if (!cas_relaxed(&mnt->gate, &seen, seen | MNT_WAITERS))
			return;
		seen |= MNT_WAITERS;
	}
	sys_futex_wait(gate_low(mnt), (uint32_t)seen);
}

static void gate_wake(struct vfsmount *mnt)
{
	/* Relaxed: a hint to us alone, whether to make a system call. */
	if (fetch_and_relaxed(&mnt->gate, ~MNT_WAITERS) & MNT_WAITERS)
		sys_futex_wake(gate_low(mnt), INT32_MAX);
}

/*
 * Count @unit in, unless one of @stop stands.  Returns the word as it was.
 */
static uint64_t mnt_enter(struct vfsmount *mnt, uint64_t unit, uint64_t stop)
{
	uint64_t gate = load_relaxed(&mnt->gate);

	do {
		if (unlikely(gate & stop))
			break;
		/* ACQ(mnt_enter:A) pairs with REL(mnt_open_gate:A) */
	} while (!cas_acquire(&mnt->gate, &gate, gate + unit));
	return gate;
}

static void mnt_leave(struct vfsmount *mnt, uint64_t unit)
{
	uint64_t old;

	/* REL(mnt_leave:A) pairs with ACQ(mnt_make_readonly:A),
	 * ACQ(mnt_freeze:A) */
	old = fetch_sub_release(&mnt->gate, unit);
	if (unlikely(old & MNT_WAITERS))
		gate_wake(mnt);
}

int mnt_want_write(struct vfsmount *mnt)
{
	uint64_t gate;

	for (;;) {
		gate = mnt_enter(mnt, MNT_OP, MNT_READONLY | MNT_FROZEN);
		if (likely(!(gate & (MNT_READONLY | MNT_FROZEN))))
			return 0;
		if (gate & MNT_READONLY)
			return -EROFS;
		gate_wait(mnt, gate);
	}
}

void mnt_want_write_file(struct vfsmount *mnt)
{
	uint64_t gate;

	for (;;) {
		gate = mnt_enter(mnt, MNT_OP, MNT_FROZEN);
		if (likely(!(gate & MNT_FROZEN)))
			return;
		gate_wait(mnt, gate);
	}
}

bool mnt_try_want_write(struct vfsmount *mnt)
{
	return !(mnt_enter(mnt, MNT_OP, MNT_READONLY | MNT_FROZEN) &
		 (MNT_READONLY | MNT_FROZEN));
}

void mnt_drop_write(struct vfsmount *mnt)
{
	mnt_leave(mnt, MNT_OP);
}

int mnt_get_write_access(struct vfsmount *mnt)
{
	return mnt_enter(mnt, MNT_LONG, MNT_READONLY) & MNT_READONLY ? -EROFS
								     : 0;
}

void mnt_put_write_access(struct vfsmount *mnt)
{
	mnt_leave(mnt, MNT_LONG);
}

bool mnt_is_readonly(const struct vfsmount *mnt)
{
	/* Relaxed: a look; what must hold enters the gate. */
	return load_relaxed(&mnt->gate) & MNT_READONLY;
}

int mnt_make_readonly(struct vfsmount *mnt)
{
	uint64_t gate = load_relaxed(&mnt->gate);

	do {
		if (gate & ~MNT_FLAGS)
			return -EBUSY;
		/* ACQ(mnt_make_readonly:A) pairs with REL(mnt_leave:A) */
	} while (!cas_acquire(&mnt->gate, &gate, gate | MNT_READONLY));
	return 0;
}

static void mnt_open_gate(struct vfsmount *mnt, uint64_t flag)
{
	uint64_t gate = load_relaxed(&mnt->gate);

	do {
		/* REL(mnt_open_gate:A) pairs with ACQ(mnt_enter:A) */
	} while (!cas_release(&mnt->gate, &gate, gate & ~flag));
	gate_wake(mnt);
}

void mnt_make_writable(struct vfsmount *mnt)
{
	mnt_open_gate(mnt, MNT_READONLY);
}

/* No more operations come in; wait until those inside have left. */
static void mnt_freeze(struct vfsmount *mnt)
{
	uint64_t gate;

	fetch_or_relaxed(&mnt->gate, MNT_FROZEN);
	for (;;) {
		/* ACQ(mnt_freeze:A) pairs with REL(mnt_leave:A) */
		gate = load_acquire(&mnt->gate);
		if (!(gate & MNT_OPS))
			return;
		gate_wait(mnt, gate);
	}
}

void mnt_init(struct vfsmount *mnt, bool readonly)
{
	store_relaxed(&mnt->gate, readonly ? MNT_READONLY : 0);
	mutex_lock(&mounts_lock);
	mnt->next = mounts;
	mnt->pprev = &mounts;
	if (mounts)
		mounts->pprev = &mnt->next;
	mounts = mnt;
	mutex_unlock(&mounts_lock);
}

bool mnt_is_idle(const struct vfsmount *mnt)
{
	/* Relaxed: asked when nobody else is there. */
	return !(load_relaxed(&mnt->gate) & ~MNT_FLAGS);
}

void mnt_finish(struct vfsmount *mnt)
{
	mutex_lock(&mounts_lock);
	*mnt->pprev = mnt->next;
	if (mnt->next)
		mnt->next->pprev = mnt->pprev;
	mutex_unlock(&mounts_lock);
}

/* ---- Fork of the host process: no tree is being modified ---- */

static void mounts_quiesce(void)
{
	struct vfsmount *mnt;

	mutex_lock(&mounts_lock);
	for (mnt = mounts; mnt; mnt = mnt->next)
		mnt_freeze(mnt);
}

static void mounts_resume(bool in_child)
{
	struct vfsmount *mnt;

	(void)in_child;
	for (mnt = mounts; mnt; mnt = mnt->next)
		mnt_open_gate(mnt, MNT_FROZEN);
	mutex_unlock(&mounts_lock);
}

static const struct fork_handler mounts_fork = {
	.quiesce = mounts_quiesce,
	.resume = mounts_resume,
};

__attribute__((constructor)) static void mounts_setup(void)
{
	fork_register(FORK_MOUNT, &mounts_fork);
}
