/* SPDX-License-Identifier: MIT */
/*
 * Reference counts, inline: the words of <berth/kref.h> without its prefix.
 *
 * *Ordering*.  A get needs no order: who has a reference, or a protected
 * pointer, has the object's contents already.  A put releases, so that every
 * use of the object comes before its destruction; the put that finds one
 * acquires, so that the destroyer sees them all:
 *
 *	REL(kref_put_last:A) pairs with ACQ(kref_put_last:B)
 *
 * *Without compare-and-swap*.  Built with -DBERTH_KREF_HASHED=1, the same names
 * are functions that take a hashed lock: see kref_hashed.c.
 *
 * *Saturation* (R3).  Counts live in the lower half of the range.  A count that
 * leaves it upwards is set to KREF_SATURATED, far from both ends, reported, and
 * put back there by every later get or put: the object leaks, nothing is freed
 * under a user.
 */
#ifndef BASE_KREF_H
#define BASE_KREF_H

#include <limits.h>

#include <berth/kref.h>

#include "base/atomic.h"

#define KREF_MAX       ((unsigned int)INT_MAX)
#define KREF_SATURATED 0xc0000000u

/* A get, or a put, found @old: is that a broken contract?  Reports it. */
void kref_get_report(unsigned int old);
void kref_put_report(unsigned int old);

static inline void kref_init(struct berth_kref *kref)
{
	store_relaxed(&kref->refs, 1u);
}

#if BERTH_KREF_HASHED

unsigned int kref_read(const struct berth_kref *kref);
void kref_get(struct berth_kref *kref);
bool kref_get_unless_zero(struct berth_kref *kref);
bool kref_put_last(struct berth_kref *kref);

#else

void kref_get_slow(struct berth_kref *kref, unsigned int old);
void kref_put_slow(struct berth_kref *kref, unsigned int old);

static inline unsigned int kref_read(const struct berth_kref *kref)
{
	return load_relaxed(&kref->refs);
}

static inline void kref_get(struct berth_kref *kref)
{
	unsigned int old = fetch_add_relaxed(&kref->refs, 1u);

	if (unlikely(old - 1u >= KREF_MAX - 1u))
		kref_get_slow(kref, old);
}

/* R1: from zero there is no way up, for the swap only succeeds from above. */
static inline bool kref_get_unless_zero(struct berth_kref *kref)
{
	unsigned int old = load_relaxed(&kref->refs);

	do {
		if (unlikely(old == 0))
			return false;
	} while (!cas_relaxed(&kref->refs, &old, old + 1u));
	if (unlikely(old >= KREF_MAX))
		kref_get_slow(kref, old);
	return true;
}

/* R2: the counter passes from one to zero once, and that put is told so. */
static inline bool kref_put_last(struct berth_kref *kref)
{
	unsigned int old;

	/* REL(kref_put_last:A) pairs with ACQ(kref_put_last:B) */
	old = fetch_sub_release(&kref->refs, 1u);
	if (old == 1u) {
		/* ACQ(kref_put_last:B) pairs with REL(kref_put_last:A) */
		(void)load_acquire(&kref->refs);
		return true;
	}
	if (unlikely(old - 1u >= KREF_MAX))
		kref_put_slow(kref, old);
	return false;
}

#endif

static inline bool kref_put(struct berth_kref *kref,
			    void (*release)(struct berth_kref *kref))
{
	if (!kref_put_last(kref))
		return false;
	release(kref);
	return true;
}

#endif
