/* SPDX-License-Identifier: MIT */
/*
 * The table of allocation and OS calls: the one way out of berth.
 *
 * Each can be made to fail as the system would: see base/fault.h.  None of them
 * changes errno.
 */
#ifndef BASE_SYS_H
#define BASE_SYS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/compiler.h"

/*
 * A number of bytes.  Only these functions make one, so that a count of
 * elements never passes for it (the fault of 2005).
 */
struct bytes {
	size_t n;
};

static inline struct bytes bytes_of(size_t n)
{
	return (struct bytes){ n };
}

/* @count elements of @size bytes behind a header of @head bytes. */
static inline struct bytes bytes_array(size_t head, size_t count, size_t size)
{
	size_t n;

	if (__builtin_mul_overflow(count, size, &n) ||
	    __builtin_add_overflow(n, head, &n))
		n = SIZE_MAX; /* no allocator has that */
	return (struct bytes){ n };
}

/* Rounded up to whole cache lines. */
static inline struct bytes bytes_lines(struct bytes bytes)
{
	size_t rest = CACHE_LINE - 1;

	if (bytes.n > SIZE_MAX - rest)
		return (struct bytes){ SIZE_MAX };
	return (struct bytes){ (bytes.n + rest) & ~rest };
}

/* What the system maps in. */
#define SYS_PAGE ((size_t)4096)

/* ---- Memory ---- */

/* Memory for any type, or NULL. */
void *sys_alloc(struct bytes bytes);
/* The same, zeroed. */
void *sys_zalloc(struct bytes bytes);
/* The same on cache lines of its own; @bytes is a multiple of a line. */
void *sys_zalloc_lines(struct bytes bytes);
void sys_free(void *memory, struct bytes bytes);

/* Fresh zeroed pages, aligned to @align (a power of two, at least a page), or
 * NULL.  They take memory when they are first touched. */
void *sys_map(struct bytes bytes, size_t align);
/* Never fails: what the system will not unmap is kept, empty, for sys_map(). */
void sys_unmap(void *memory, struct bytes bytes);
/* All pages of a mapping will be written soon.  A hint. */
void sys_populate(void *memory, struct bytes bytes);

/* Bytes of memory that the machine has, or UINT64_MAX when nobody can tell. */
uint64_t sys_memory(void);

/* ---- Processors ---- */

/* The processor that the caller is on, or was a moment ago; 0 when nobody can
 * tell.  (From the thread's rseq area, where there is one.) */
unsigned int sys_cpu(void);
/* How many there are, or may come to be; 1 when nobody can tell. */
unsigned int sys_cpus(void);

/* ---- Time and waiting ---- */

/* The time of day: of the coarse clock, or the precise one, or 1970. */
void sys_clock(struct timespec *now);

/* Sleep while *@word is @value; wake-ups without cause happen. */
void sys_futex_wait(const uint32_t *word, uint32_t value);
void sys_futex_wake(uint32_t *word, int waiters);

/* Let others run: a lock's holder may have been preempted. */
void sys_yield(unsigned int tries);

/* ---- Signals ---- */

/* No handler runs on this thread until they are restored; but signals that an
 * instruction of its own causes are not blocked. */
void sys_block_signals(sigset_t *former);
void sys_restore_signals(const sigset_t *former);

/* ---- Threads and processes: did it work? ---- */

bool sys_key_create(pthread_key_t *key, void (*destroy)(void *value));
bool sys_key_set(pthread_key_t key, const void *value);
bool sys_atfork(void (*prepare)(void), void (*parent)(void),
		void (*child)(void));

#endif
