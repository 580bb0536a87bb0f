/* SPDX-License-Identifier: MIT */
/*
 * Atomic accesses whose names carry their order.
 *
 * This is the only file that knows how the compiler spells them; everything
 * else uses these names on plain fields.  The order of a name is that of
 * C17: relaxed, acquire, release, acq_rel.  An ordered access is labelled where
 * it stands, and names its partner (docs/CONCURRENCY.md, tools/check-labels).
 *
 * There is no stand-alone fence here but fence_full(): ThreadSanitizer does
 * not see fences, and an ordered operation says more.
 */
#ifndef BASE_ATOMIC_H
#define BASE_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

/*
 * A valgrind build tells helgrind, which takes every access for a plain one, what
 * is atomic and what is ordered with what; it has its own set of the same names.
 */
#if WITH_VALGRIND
#include "base/atomic_valgrind.h"
#else

static inline void atomic_range(const void *p, size_t n)
{
	(void)p;
	(void)n;
}

#define load_relaxed(p)	    __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p)	    __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

#define swap_relaxed(p, v) __atomic_exchange_n((p), (v), __ATOMIC_RELAXED)
#define swap_acquire(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE)
#define swap_release(p, v) __atomic_exchange_n((p), (v), __ATOMIC_RELEASE)
#define swap_acq_rel(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)

#define fetch_add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define fetch_add_acquire(p, v) __atomic_fetch_add((p), (v), __ATOMIC_ACQUIRE)
#define fetch_add_release(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELEASE)
#define fetch_sub_relaxed(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_RELAXED)
#define fetch_sub_release(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_RELEASE)
#define fetch_or_relaxed(p, v)	__atomic_fetch_or((p), (v), __ATOMIC_RELAXED)
#define fetch_and_relaxed(p, v) __atomic_fetch_and((p), (v), __ATOMIC_RELAXED)

/*
 * Compare and swap: true when *p was *expected and is now v; otherwise
 * *expected is what *p was.  The order is that of success; failure is relaxed.
 */
#define cas_relaxed(p, expected, v)                              \
	__atomic_compare_exchange_n((p), (expected), (v), false, \
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define cas_acquire(p, expected, v)                              \
	__atomic_compare_exchange_n((p), (expected), (v), false, \
				    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
#define cas_release(p, expected, v)                              \
	__atomic_compare_exchange_n((p), (expected), (v), false, \
				    __ATOMIC_RELEASE, __ATOMIC_RELAXED)
#define cas_acq_rel(p, expected, v)                              \
	__atomic_compare_exchange_n((p), (expected), (v), false, \
				    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)

#endif

#define fence_full() __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* The processor may rest: we are waiting for another one. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#endif
}

/*
 * File data is read and written by several threads at once without a lock, as
 * in a kernel: a reader that overlaps a writer may see a mixture of old and new
 * bytes, and nothing else.  To the compiler that must not be a data race, so
 * the shared side is copied by the C library's routines, which it can not look
 * into; under ThreadSanitizer, which can, by relaxed atomic accesses.
 */
#if WITH_TSAN
static inline void copy_from_shared(void *to, const void *from, size_t n)
{
	unsigned char *t = (unsigned char *)to;
	const unsigned char *f = (const unsigned char *)from;

	while (n--)
		*t++ = load_relaxed(f++);
}

static inline void copy_to_shared(void *to, const void *from, size_t n)
{
	unsigned char *t = (unsigned char *)to;
	const unsigned char *f = (const unsigned char *)from;

	for (; n; n--, t++)
		store_relaxed(t, *f++);
}

static inline void zero_shared(void *to, size_t n)
{
	unsigned char *t = (unsigned char *)to;

	for (; n; n--, t++)
		store_relaxed(t, 0);
}
#else
hot_inline void copy_from_shared(void *to, const void *from, size_t n)
{
	atomic_range(from, n);
	if (n == 1)
		*(unsigned char *)to =
			load_relaxed((const unsigned char *)from);
	else
		memcpy(to, from, n);
}

hot_inline void copy_to_shared(void *to, const void *from, size_t n)
{
	atomic_range(to, n);
	memcpy(to, from, n);
}

hot_inline void zero_shared(void *to, size_t n)
{
	atomic_range(to, n);
	memset(to, 0, n);
}
#endif

#endif
