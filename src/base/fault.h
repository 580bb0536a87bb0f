/* SPDX-License-Identifier: MIT */
/*
 * Faults injected into the calls of base/sys.h, and a count of the memory that
 * they gave, for tests.
 *
 * A fault is what the system may do at that call: fail, or return early.  While
 * nothing is watched each call pays one load.
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include "base/atomic.h"

/* Each kind of call, and how it fails. */
enum sys_call {
	SYS_ALLOC,     /* malloc: no memory */
	SYS_MAP,       /* mmap: no memory */
	SYS_NORESERVE, /* mmap does not take MAP_NORESERVE */
	SYS_UNMAP,     /* munmap would have to split a mapping, and can not */
	SYS_DISCARD,   /* madvise will not drop the pages: they are locked */
	SYS_MEMORY,    /* sysconf can not tell how much memory there is */
	SYS_CPU,       /* nobody tells which processor, and how many */
	SYS_CLOCK,     /* clock_gettime knows no such clock */
	SYS_WAIT,      /* a futex wait returns at once */
	SYS_WAKE,      /* a futex wake wakes more than were asked for */
	SYS_YIELD,     /* sched_yield lets nobody run */
	SYS_NAP,       /* nanosleep returns at once */
	SYS_KEY,       /* pthread_key_create: no key is left */
	SYS_KEY_SET,   /* pthread_setspecific: no memory */
	SYS_ATFORK,    /* pthread_atfork: no memory */
	SYS_CALLS,
};

/* The @nth use of @call from now on fails. */
void sys_fail_nth(enum sys_call call, uint64_t nth);
/* And so does every one after it. */
void sys_fail_from(enum sys_call call, uint64_t nth);
/* One use in @one_in of any call fails, by @seed. */
void sys_fail_random(uint64_t seed, unsigned int one_in);
/* Nothing fails any more. */
void sys_fail_none(void);
/* How many failures were injected since the last arming. */
uint64_t sys_failures(void);

/* What is out: allocations, their bytes, and bytes mapped, kept ones too. */
struct sys_use {
	int64_t blocks;
	int64_t bytes;
	int64_t mapped;
};

/* Count from now on; what was out before is not known. */
void sys_count_use(void);
struct sys_use sys_in_use(void);

/* ---- For base/sys.c ---- */

extern unsigned int fault_watched;

bool fault_due(enum sys_call call);
void fault_count_due(int64_t blocks, int64_t bytes, int64_t mapped);

/* Is this use of @call to fail? */
static inline bool fault(enum sys_call call)
{
	return unlikely(load_relaxed(&fault_watched)) && fault_due(call);
}

static inline void fault_count(int64_t blocks, int64_t bytes, int64_t mapped)
{
	if (unlikely(load_relaxed(&fault_watched)))
		fault_count_due(blocks, bytes, mapped);
}

#endif
