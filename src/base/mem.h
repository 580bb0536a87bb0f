/* SPDX-License-Identifier: MIT */
/*
 * Memory of one instance: its allocator, and its cap.
 *
 * The cap counts what was asked for and not yet given back, deferred frees
 * included.  An instance without a cap counts nothing, so that its threads
 * share no counter.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "base/atomic.h"
#include "base/sys.h"

struct mem {
	/* Read-mostly; set before the first use. */
	void *(*alloc)(size_t bytes, size_t align, void *arg); /* or NULL */
	void (*dealloc)(void *memory, size_t bytes, void *arg);
	void *arg;
	uint64_t max; /* 0: no cap */

	/* Written by every allocation, if there is a cap. */
	uint64_t used cache_aligned;
};

/* Account for @bytes more; false when that would exceed the cap. */
bool mem_charge(struct mem *mem, struct bytes bytes);
void mem_uncharge(struct mem *mem, struct bytes bytes);

/* NULL when the cap or the memory is reached. */
void *mem_alloc(struct mem *mem, struct bytes bytes);
void *mem_zalloc(struct mem *mem, struct bytes bytes);
/* On cache lines of its own; @bytes is a multiple of a line. */
void *mem_zalloc_lines(struct mem *mem, struct bytes bytes);
/* @bytes is what it was allocated with; NULL is accepted. */
void mem_free(struct mem *mem, void *memory, struct bytes bytes);

/* Pages aligned to @bytes, a power of two.  *@zeroed: are they? */
void *mem_map(struct mem *mem, struct bytes bytes, bool *zeroed);
void mem_unmap(struct mem *mem, void *memory, struct bytes bytes);

/* Does the instance use the system's allocator, without a cap? */
static inline bool mem_is_plain(const struct mem *mem)
{
	return !mem->alloc && !mem->max;
}

#endif
