/* SPDX-License-Identifier: MIT */
/*
 * 2005: one replaceable table (replaced.h), as it was first laid out.
 *
 * *Layout*.  Users, lock, the pointer to the table and the first table itself
 * follow each other; @next_fd is in the table, so whoever opens or closes writes
 * to what lookups read; the first bitmaps are of 128 bytes.
 */
#ifndef LINEAGE_FDTABLE_H
#define LINEAGE_FDTABLE_H

#define FDTABLE_HAS_NEXT_FD 1

#include "lineage/table.h"

#define FDSET_EMBEDDED FDSET_2004

struct files_struct {
	struct berth_kref users;
	struct spinlock lock;
	struct fdtable *fdt; /* &fdtab until the table grows */
	struct fdtable fdtab;
	uint64_t open_init[FDSET_EMBEDDED / BITS_PER_WORD];
	uint64_t cloexec_init[FDSET_EMBEDDED / BITS_PER_WORD];
	struct berth_file *fd_array[FD_EMBEDDED];
	struct files_rest rest;
};

#if !WITH_VALGRIND
static_assert(sizeof(struct fdtable) == 56,
	      "of a 64-bit machine, with next_fd");
static_assert(offsetof(struct files_struct, fdt) == 8,
	      "the lock is on the line of what lookups read");
static_assert(sizeof(((struct files_struct *)0)->open_init) == 128,
	      "the first bitmaps are of 128 bytes");
#endif

#define files_next_fd(files) ((files)->fdt->next_fd)

#include "lineage/replaced.h"

#endif
