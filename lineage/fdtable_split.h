/* SPDX-License-Identifier: MIT */
/*
 * 2005: the replaceable table (replaced.h), split.
 *
 * *Layout*.  As packed, but lock, @next_fd and the first bitmaps, which opens
 * and closes write, are on a line of their own: lookups keep theirs.
 */
#ifndef LINEAGE_FDTABLE_SPLIT_H
#define LINEAGE_FDTABLE_SPLIT_H

#include "lineage/table.h"

#define FDSET_EMBEDDED FDSET_2005

struct files_struct {
	/* Read-mostly: what lookups see. */
	struct berth_kref users;
	struct fdtable *fdt; /* &fdtab until the table grows */
	struct fdtable fdtab;

	/* Written at every open and close. */
	struct spinlock lock cache_aligned;
	unsigned int next_fd;
	uint64_t open_init[FDSET_EMBEDDED / BITS_PER_WORD];
	uint64_t cloexec_init[FDSET_EMBEDDED / BITS_PER_WORD];
	struct files_rest rest;

	struct berth_file *fd_array[FD_EMBEDDED] cache_aligned;
};

#if !WITH_VALGRIND
static_assert(sizeof(struct fdtable) == 48,
	      "of a 64-bit machine, without next_fd");
static_assert(offsetof(struct files_struct, lock) == CACHE_LINE,
	      "pointer and first table are on the first line, with no lock");
static_assert(offsetof(struct files_struct, fd_array) == 2ul * CACHE_LINE,
	      "all that an open writes beside its slot is one line");
#endif

#define files_next_fd(files) ((files)->next_fd)

#include "lineage/replaced.h"

#endif
