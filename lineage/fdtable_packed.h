/* SPDX-License-Identifier: MIT */
/*
 * 2005: the replaceable table (replaced.h), packed.
 *
 * *Layout*.  @next_fd has left the table, for only those who change it look at
 * it; the first bitmaps are one word each.  Users, lock, @next_fd, the first
 * bitmaps and the pointer to the table are on one line: the fewest lines for an
 * open, and each open takes from lookups the line that they read.
 */
#ifndef LINEAGE_FDTABLE_PACKED_H
#define LINEAGE_FDTABLE_PACKED_H

#include "lineage/table.h"

#define FDSET_EMBEDDED FDSET_2005

struct files_struct {
	struct berth_kref users;
	struct spinlock lock;
	struct fdtable *fdt; /* &fdtab until the table grows */
	uint64_t open_init[FDSET_EMBEDDED / BITS_PER_WORD];
	uint64_t cloexec_init[FDSET_EMBEDDED / BITS_PER_WORD];
	unsigned int next_fd;

	struct fdtable fdtab cache_aligned;
	struct berth_file *fd_array[FD_EMBEDDED];
	struct files_rest rest;
};

#if !WITH_VALGRIND
static_assert(sizeof(struct fdtable) == 48,
	      "of a 64-bit machine, without next_fd");
static_assert(offsetof(struct files_struct, next_fd) < CACHE_LINE,
	      "what is written is on the line of what lookups read");
static_assert(offsetof(struct files_struct, fdtab) == CACHE_LINE,
	      "and that is the first one");
static_assert(sizeof(((struct files_struct *)0)->open_init) == 8,
	      "the first bitmaps are of one word");
#endif

#define files_next_fd(files) ((files)->next_fd)

#include "lineage/replaced.h"

#endif
