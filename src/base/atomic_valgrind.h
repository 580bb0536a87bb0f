/* SPDX-License-Identifier: MIT */
/*
 * The names of atomic.h in a valgrind build.
 *
 * Helgrind orders threads by locks and the like, and knows no atomics.  So each
 * access tells it that its word is not to be looked at, and the ordered ones send
 * to, and receive from, the word's address.  It sends before the access and
 * receives behind it; what the access needs from elsewhere is read before.
 */
#ifndef BASE_ATOMIC_VALGRIND_H
#define BASE_ATOMIC_VALGRIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

#if WITH_VALGRIND
#include <valgrind/helgrind.h>

static inline void atomic_range(const volatile void *p, size_t n)
{
	VALGRIND_HG_DISABLE_CHECKING(p, n);
}

static inline void no_order(const volatile void *p)
{
	(void)p;
}

static inline void atomic_before(const volatile void *p)
{
	ANNOTATE_HAPPENS_BEFORE(p);
}

static inline void atomic_after(const volatile void *p)
{
	ANNOTATE_HAPPENS_AFTER(p);
}

#define atomic_load_by(before, after, order, p)                        \
	__extension__({                                                \
		__typeof__(p) word_ = (p);                             \
		__typeof__(__atomic_load_n(p, __ATOMIC_RELAXED)) old_; \
		atomic_range(word_, sizeof(*word_));                   \
		old_ = __atomic_load_n(word_, order);                  \
		after(word_);                                          \
		old_;                                                  \
	})

#define atomic_store_by(before, after, order, p, v)   \
	__extension__({                               \
		__typeof__(p) word_ = (p);            \
		__typeof__(*(p)) new_ = (v);          \
		atomic_range(word_, sizeof(*word_));  \
		before(word_);                        \
		__atomic_store_n(word_, new_, order); \
	})

#define atomic_rmw_by(before, after, order, operation, p, v)         \
	__extension__({                                              \
		__typeof__(p) word_ = (p);                           \
		__typeof__(*(p)) new_ = (__typeof__(*(p)))(v), old_; \
		atomic_range(word_, sizeof(*word_));                 \
		before(word_);                                       \
		old_ = operation(word_, new_, order);                \
		after(word_);                                        \
		old_;                                                \
	})

#define atomic_cas_by(before, after, order, p, expected, v)                    \
	__extension__({                                                        \
		__typeof__(p) word_ = (p);                                     \
		__typeof__(*(p)) new_ = (v), *expected_ = (expected),          \
				 old_ = *expected_;                            \
		bool done_;                                                    \
		atomic_range(word_, sizeof(*word_));                           \
		before(word_);                                                 \
		done_ = __atomic_compare_exchange_n(word_, &old_, new_, false, \
						    order, __ATOMIC_RELAXED);  \
		if (done_)                                                     \
			after(word_);                                          \
		else                                                           \
			*expected_ = old_;                                     \
		done_;                                                         \
	})

#define load_relaxed(p) atomic_load_by(no_order, no_order, __ATOMIC_RELAXED, p)
#define load_acquire(p) \
	atomic_load_by(no_order, atomic_after, __ATOMIC_ACQUIRE, p)
#define store_relaxed(p, v) \
	atomic_store_by(no_order, no_order, __ATOMIC_RELAXED, p, v)
#define store_release(p, v) \
	atomic_store_by(atomic_before, no_order, __ATOMIC_RELEASE, p, v)
#define swap_relaxed(p, v)                                  \
	atomic_rmw_by(no_order, no_order, __ATOMIC_RELAXED, \
		      __atomic_exchange_n, p, v)
#define swap_acquire(p, v)                                      \
	atomic_rmw_by(no_order, atomic_after, __ATOMIC_ACQUIRE, \
		      __atomic_exchange_n, p, v)
#define swap_release(p, v)                                       \
	atomic_rmw_by(atomic_before, no_order, __ATOMIC_RELEASE, \
		      __atomic_exchange_n, p, v)
#define swap_acq_rel(p, v)                                           \
	atomic_rmw_by(atomic_before, atomic_after, __ATOMIC_ACQ_REL, \
		      __atomic_exchange_n, p, v)
#define fetch_add_relaxed(p, v)                             \
	atomic_rmw_by(no_order, no_order, __ATOMIC_RELAXED, \
		      __atomic_fetch_add, p, v)
#define fetch_add_acquire(p, v)                                 \
	atomic_rmw_by(no_order, atomic_after, __ATOMIC_ACQUIRE, \
		      __atomic_fetch_add, p, v)
#define fetch_sub_relaxed(p, v)                             \
	atomic_rmw_by(no_order, no_order, __ATOMIC_RELAXED, \
		      __atomic_fetch_sub, p, v)
#define fetch_add_release(p, v)                                  \
	atomic_rmw_by(atomic_before, no_order, __ATOMIC_RELEASE, \
		      __atomic_fetch_add, p, v)
#define fetch_sub_release(p, v)                                  \
	atomic_rmw_by(atomic_before, no_order, __ATOMIC_RELEASE, \
		      __atomic_fetch_sub, p, v)
#define fetch_or_relaxed(p, v)                                                 \
	atomic_rmw_by(no_order, no_order, __ATOMIC_RELAXED, __atomic_fetch_or, \
		      p, v)
#define fetch_and_relaxed(p, v)                             \
	atomic_rmw_by(no_order, no_order, __ATOMIC_RELAXED, \
		      __atomic_fetch_and, p, v)
#define cas_relaxed(p, expected, v) \
	atomic_cas_by(no_order, no_order, __ATOMIC_RELAXED, p, expected, v)
#define cas_acquire(p, expected, v) \
	atomic_cas_by(no_order, atomic_after, __ATOMIC_ACQUIRE, p, expected, v)
#define cas_release(p, expected, v) \
	atomic_cas_by(atomic_before, no_order, __ATOMIC_RELEASE, p, expected, v)
#define cas_acq_rel(p, expected, v)                                     \
	atomic_cas_by(atomic_before, atomic_after, __ATOMIC_ACQ_REL, p, \
		      expected, v)

#endif
#endif
