/* SPDX-License-Identifier: MIT */
/*
 * The contenders that are berth, or one of the designs it descends from.
 *
 * A workload's file for them is compiled with the program, over libberth, and
 * once with each design in lineage/, whose names all get a prefix of their own;
 * the build then says which one it is:
 *
 * DESIGN_WORD		its prefix, for what the file exports
 * DESIGN_NAME		what it is called
 * DESIGN_DOES		what is peculiar about it
 * DESIGN_IS_YARDSTICK	is fget always measured against it?
 */
#ifndef BENCH_DESIGN_H
#define BENCH_DESIGN_H

#include "bench.h"

#ifdef DESIGN_WORD
#define DESIGN_IS_OURS false
#else
#define DESIGN_IS_OURS	    true
#define DESIGN_WORD	    ours
#define DESIGN_NAME	    "berth"
#define DESIGN_DOES	    NULL
#define DESIGN_IS_YARDSTICK false
#endif

#define DESIGN_JOIN(a, b)  a##_##b
#define DESIGN_PASTE(a, b) DESIGN_JOIN(a, b)
#define DESIGN(workload)   DESIGN_PASTE(DESIGN_WORD, workload)

extern const struct bench_contender ours_open_loop, ours_fget_borrow,
	ours_fget_ref;

/* The designs of lineage/meson.build, oldest first; or none of them. */
#if WITHOUT_LINEAGE
#define LINEAGE(workload) NULL
#else
#define LINEAGE(workload)                                              \
	&lineage_spinlock_##workload, &lineage_rwlock_##workload,      \
		&lineage_kref_##workload, &lineage_fdtable_##workload, \
		&lineage_fdtable_packed_##workload,                    \
		&lineage_fdtable_split_##workload

#define LINEAGE_DECLARE(workload)                                              \
	extern const struct bench_contender lineage_spinlock_##workload,       \
		lineage_rwlock_##workload, lineage_kref_##workload,            \
		lineage_fdtable_##workload, lineage_fdtable_packed_##workload, \
		lineage_fdtable_split_##workload

LINEAGE_DECLARE(open_loop);
LINEAGE_DECLARE(fget_borrow);
LINEAGE_DECLARE(fget_ref);
#endif

#endif
