/* SPDX-License-Identifier: MIT */
/* What the C language lacks, in the words that kernels use for it. */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#include <assert.h>
#include <stddef.h>

#define CACHE_LINE 64

/* Set by the build: run the check functions after each mutation. */
#ifndef BERTH_DEBUG_CHECKS
#define BERTH_DEBUG_CHECKS 0
#endif

/* Set by the build: say to helgrind what it cannot see. */
#ifndef WITH_VALGRIND
#define WITH_VALGRIND 0
#endif

/* Set by the build: reference counts without compare-and-swap. */
#ifndef BERTH_KREF_HASHED
#define BERTH_KREF_HASHED 0
#endif

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr)-offsetof(type, member)))

/* The line at @p will be written soon. */
#define prefetch_to_write(p) __builtin_prefetch((p), 1)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define cache_aligned __attribute__((aligned(CACHE_LINE)))
#define noinline      __attribute__((noinline))
#define hot_inline    static inline __attribute__((always_inline))

/* One name for "a sanitizer watches", however the compiler tells; or the build
 * does, which has the hooks of one lead elsewhere. */
#ifdef WITH_TSAN
#elif defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif
#ifndef WITH_TSAN
#define WITH_TSAN 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifndef WITH_ASAN
#define WITH_ASAN 0
#endif

#endif
