/* SPDX-License-Identifier: MIT */
/*
 * 2004: the table's spinlock around the lookup.
 *
 * *Lookup*.  Take the lock, index the array, count the file, leave the lock.
 * Two cache lines are written at every lookup, the table's and the file's, and
 * the file's once more when its user has done.
 *
 * *Lifetime*.  Nobody sees a file without having counted it, nor an array without
 * the lock: both are freed at once.
 *
 * *Layout*.  Everything that a lookup reads or writes before it gets to the
 * array is on one line.
 */
#ifndef LINEAGE_SPINLOCK_H
#define LINEAGE_SPINLOCK_H

#include "lineage/table.h"

#define FDSET_EMBEDDED FDSET_2004

/* Its last owner is the last who can see a file. */
#define FILES_FREED_AT_ONCE 1

struct files_struct {
	struct berth_kref users;
	struct spinlock lock;
	unsigned int next_fd;
	struct fdtable fdtab;
	uint64_t open_init[FDSET_EMBEDDED / BITS_PER_WORD];
	uint64_t cloexec_init[FDSET_EMBEDDED / BITS_PER_WORD];
	struct berth_file *fd_array[FD_EMBEDDED];
	struct files_rest rest;
};

#if !WITH_VALGRIND
static_assert(offsetof(struct files_struct, fdtab.fd) < CACHE_LINE,
	      "lock, size and array are on one line");
static_assert(sizeof(((struct files_struct *)0)->open_init) == 128,
	      "the first bitmaps are of 128 bytes");
#endif

#define table_lock_init(files)	   spin_init(&(files)->lock)
#define table_lock(files)	   spin_lock(&(files)->lock)
#define table_unlock(files)	   spin_unlock(&(files)->lock)
#define table_lock_renew(files)	   spin_renew(&(files)->lock)
#define table_lock_shared(files)   spin_lock(&(files)->lock)
#define table_unlock_shared(files) spin_unlock(&(files)->lock)

#define files_next_fd(files) ((files)->next_fd)
#define files_fdtable(files) (&(files)->fdtab)

static inline struct fdtable *files_replace(struct files_struct *files,
					    struct fdtable *new)
{
	fdtable_exchange(&files->fdtab, new);
	return new;
}

static inline void fdtab_in_force(struct files_struct *files)
{
	(void)files;
}

static inline void files_free_last(struct files_struct *files)
{
	fdtable_free_arrays(&files->fdtab);
}

static inline void files_outgrown(struct fdtable *fdt)
{
	fdtable_free(fdt);
}

hot_inline struct berth_file *fget(struct files_struct *files, unsigned int fd)
{
	struct berth_file *file = NULL;

	spin_lock(&files->lock);
	/* Relaxed: under the lock. */
	if (likely(fd < files->fdtab.max_fds))
		file = load_relaxed(&files->fdtab.fd[fd]);
	if (likely(file))
		get_file(file);
	spin_unlock(&files->lock);
	return file;
}

hot_inline struct berth_file *fdget_rcu(struct files_struct *files,
					unsigned int fd)
{
	return fget(files, fd);
}

hot_inline void fdput_rcu(struct berth_file *file)
{
	fdput_counted(file);
}

#endif
