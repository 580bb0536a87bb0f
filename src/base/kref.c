/* SPDX-License-Identifier: MIT */
/* Reference counts: what happens when a contract is broken, and the edge. */
#include "base/kref.h"
#include "base/report.h"

noinline void kref_get_report(unsigned int old)
{
	if (old == 0)
		report("kref-get-on-zero",
		       "a reference was taken of an object without owners");
	else if (old == KREF_MAX)
		report("kref-overflow", "a count reached its maximum; "
					"the object will never be freed");
}

noinline void kref_put_report(unsigned int old)
{
	if (old == 0)
		report("kref-put-on-zero",
		       "a reference was given back that nobody owned");
}

#if !BERTH_KREF_HASHED
/*
 * The increment has happened; put the count where it does no harm.  Others may
 * be in here too: all store the same value.
 */
noinline void kref_get_slow(struct berth_kref *kref, unsigned int old)
{
	store_relaxed(&kref->refs, KREF_SATURATED);
	kref_get_report(old);
}

noinline void kref_put_slow(struct berth_kref *kref, unsigned int old)
{
	store_relaxed(&kref->refs, KREF_SATURATED);
	kref_put_report(old);
}
#endif

void berth_kref_init(struct berth_kref *kref)
{
	kref_init(kref);
}

void berth_kref_get(struct berth_kref *kref)
{
	kref_get(kref);
}

bool berth_kref_get_unless_zero(struct berth_kref *kref)
{
	return kref_get_unless_zero(kref);
}

bool berth_kref_put(struct berth_kref *kref,
		    void (*release)(struct berth_kref *kref))
{
	return kref_put(kref, release);
}

bool berth_kref_put_last(struct berth_kref *kref)
{
	return kref_put_last(kref);
}

unsigned int berth_kref_read(const struct berth_kref *kref)
{
	return kref_read(kref);
}
