/* SPDX-License-Identifier: MIT */
/*
 * 2004: lookups without a lock, by get-unless-zero.
 *
 * *Lookup*.  In a read section: size, array, slot, and one more reference if
 * there is one.  The table is not written, so files of different numbers do
 * not disturb each other; the file's count still moves from user to user.
 *
 * A file that is past its last owner has left its slot, so its reader looks
 * again: the number may have been given another one in the same instant (F5).
 * When the count was taken, nothing has to be looked at again: the file's memory
 * outlives the section, so it is the one that was in the slot.
 *
 * *Lifetime*.  Files, and arrays that the table has outgrown, are freed after a
 * grace period.
 *
 * *Growth*.  Size and array are fields of the table, and one is written after
 * the other: array first.  So whoever sees the new size sees an array that has
 * it, and whoever sees the old one may see either.
 *
 * *Ordering*
 *	REL(kref_replace:A) pairs with RCU(kref_lookup:B)
 *	REL(kref_replace:B) pairs with ACQ(kref_lookup:A)
 *	RCU(kref_lookup:C) pairs with REL(fd_slot_set:A)
 */
#ifndef LINEAGE_KREF_H
#define LINEAGE_KREF_H

#include "lineage/table.h"

#define FDSET_EMBEDDED FDSET_2004

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
	      "the lock is on the line that lookups read");
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
	struct fdtable *fdt = &files->fdtab, was = *fdt;

	fdt->max_fdset = new->max_fdset;
	fdt->open = new->open;
	fdt->cloexec = new->cloexec;
	/* REL(kref_replace:A) pairs with RCU(kref_lookup:B) */
	store_release(&fdt->fd, new->fd);
	/* REL(kref_replace:B) pairs with ACQ(kref_lookup:A) */
	store_release(&fdt->max_fds, new->max_fds);
	*new = was;
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
	fdtable_retire(fdt);
}

/* In a read section: the file behind a number, or NULL. */
hot_inline struct berth_file *kref_lookup(struct files_struct *files,
					  unsigned int fd)
{
	struct berth_file **array;

	/* ACQ(kref_lookup:A) pairs with REL(kref_replace:B) */
	if (unlikely(fd >= load_acquire(&files->fdtab.max_fds)))
		return NULL;
	/* RCU(kref_lookup:B) pairs with REL(kref_replace:A) */
	array = rcu_dereference(files->fdtab.fd);
	/* RCU(kref_lookup:C) pairs with REL(fd_slot_set:A) */
	return rcu_dereference(array[fd]);
}

hot_inline struct berth_file *fget(struct files_struct *files, unsigned int fd)
{
	struct berth_file *file;

	rcu_read_lock();
	do {
		file = kref_lookup(files, fd);
	} while (file && unlikely(!kref_get_unless_zero(&file->refs)));
	rcu_read_unlock();
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
