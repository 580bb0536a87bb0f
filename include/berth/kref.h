/* SPDX-License-Identifier: MIT */
/*
 * Reference counts that survive every race.
 *
 * A count starts at one.  Whoever reaches an object through a reference that
 * he owns takes another with berth_kref_get(); whoever finds it without one
 * (in a table, under RCU) takes it with berth_kref_get_unless_zero(), which
 * fails once the last owner has left.  Nobody decides anything by reading the
 * value of a count.
 *
 * A broken contract (get on zero, one put too many, overflow) is reported
 * through the handler of berth_set_report_handler() and the count saturates:
 * the object then leaks instead of being used after it was freed.
 *
 * "Lock-free" below holds where the processor can compare and swap.  A library
 * that was built for others (-Dkref=hashed) takes a short lock instead, with
 * signals blocked, so that all the same may be called from the same places.
 */
#ifndef BERTH_KREF_H
#define BERTH_KREF_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A reference count.  Embed it in the object; the member is private. */
struct berth_kref {
	unsigned int refs;
};

/**
 * berth_kref_init() - start a count at one, owned by the caller.
 * @kref: the count; not yet visible to any other thread.
 *
 * Context: any.
 */
void berth_kref_init(struct berth_kref *kref);

/**
 * berth_kref_get() - take a further reference.
 * @kref: a count of which the caller already owns a reference.
 *
 * Context: any thread, any signal handler; lock-free.
 * A count of zero is reported as "kref-get-on-zero"; a count that would
 * overflow saturates and is reported as "kref-overflow".
 */
void berth_kref_get(struct berth_kref *kref);

/**
 * berth_kref_get_unless_zero() - take a reference to an object found without.
 * @kref: a count whose memory the caller knows to be valid (for example in
 *	an RCU read section), without owning a reference.
 *
 * Context: any thread, any signal handler; lock-free.
 * Return: true when a reference was taken; false when the count was zero
 * already, and then it stays zero for ever.
 */
bool berth_kref_get_unless_zero(struct berth_kref *kref);

/**
 * berth_kref_put() - give a reference back.
 * @kref: a count of which the caller owns a reference; he no longer does.
 * @release: called with @kref, on this thread, when this was the last one.
 *	It must be given.
 *
 * Context: any thread.  @release runs in the caller's context.
 * Return: true when @release was called.
 * A put on zero is reported as "kref-put-on-zero".
 */
bool berth_kref_put(struct berth_kref *kref,
		    void (*release)(struct berth_kref *kref));

/**
 * berth_kref_put_last() - give a reference back, the caller destroys.
 * @kref: a count of which the caller owns a reference; he no longer does.
 *
 * For a release that needs more than the object itself.
 *
 * Context: any thread; lock-free.
 * Return: true for exactly one caller: the one who gave back the last
 * reference and must now destroy the object.
 */
bool berth_kref_put_last(struct berth_kref *kref);

/**
 * berth_kref_read() - the value of a count, for messages and tests only.
 * @kref: a count whose memory is valid.
 *
 * Context: any.
 * Return: the number of references at some instant during the call.
 */
unsigned int berth_kref_read(const struct berth_kref *kref);

/**
 * berth_set_report_handler() - decide what happens on a broken contract.
 * @report: called with the invariant's short name, a sentence and @arg; NULL
 *	sets the default back, which prints both to stderr and aborts.  When
 *	the handler returns, berth carries on in the safest way it knows.
 * @arg: passed to @report as it is.
 *
 * Context: any thread, but set it before the other threads start: calls that
 * are under way may still use the former handler.
 */
void berth_set_report_handler(void (*report)(const char *invariant,
					     const char *detail, void *arg),
			      void *arg);

#ifdef __cplusplus
}
#endif

#endif
