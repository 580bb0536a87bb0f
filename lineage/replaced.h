/* SPDX-License-Identifier: MIT */
/*
 * The lookup of 2005: sizes, array and bitmaps are one table, which is replaced
 * by one pointer store.  Common to the three designs that differ in where their
 * fields lie.
 *
 * *Lookup*.  In a read section: table, its size, slot, get-unless-zero; again if
 * the file was past its end, as in kref.h.
 *
 * *Single users*.  A process with one thread borrows without counting: nobody
 * else can close the number or replace the table.  In 2005 that was a table with
 * one user, for in a kernel each thread is one.  Here threads may use a table by
 * just having its address, and only the C library knows that there are none:
 * so it is asked, when the borrow begins and when it ends.  Whoever makes the
 * process's first thread, or joins its last, does not do so in a borrow, in which
 * nothing waits.
 *
 * *Ordering*
 *	REL(files_replace:A) pairs with RCU(fdtable_lookup:A)
 *	RCU(fdtable_lookup:B) pairs with REL(fd_slot_set:A)
 */
#ifndef LINEAGE_REPLACED_H
#define LINEAGE_REPLACED_H

#include <sys/single_threaded.h>

/* Included by itself, it is that of the first of the three. */
#ifndef FDSET_EMBEDDED
#include "lineage/fdtable.h"
#endif

#define table_lock_init(files)	   spin_init(&(files)->lock)
#define table_lock(files)	   spin_lock(&(files)->lock)
#define table_unlock(files)	   spin_unlock(&(files)->lock)
#define table_lock_renew(files)	   spin_renew(&(files)->lock)
#define table_lock_shared(files)   spin_lock(&(files)->lock)
#define table_unlock_shared(files) spin_unlock(&(files)->lock)

#define files_fdtable(files) ((files)->fdt)

static inline struct fdtable *files_replace(struct files_struct *files,
					    struct fdtable *new)
{
	struct fdtable *was = files->fdt;

	/* REL(files_replace:A) pairs with RCU(fdtable_lookup:A) */
	rcu_assign_pointer(files->fdt, new);
	return was == &files->fdtab ? NULL : was;
}

static inline void fdtab_in_force(struct files_struct *files)
{
	files->fdt = &files->fdtab;
}

static inline void files_free_last(struct files_struct *files)
{
	if (files->fdt != &files->fdtab)
		fdtable_free(files->fdt);
}

static inline void files_outgrown(struct fdtable *fdt)
{
	if (fdt)
		fdtable_retire(fdt);
}

/* In a read section, or without another thread: the file, or NULL. */
hot_inline struct berth_file *fdtable_lookup(struct files_struct *files,
					     unsigned int fd)
{
	struct fdtable *fdt;

	/* RCU(fdtable_lookup:A) pairs with REL(files_replace:A) */
	fdt = rcu_dereference(files->fdt);
	if (unlikely(fd >= fdt->max_fds))
		return NULL;
	/* RCU(fdtable_lookup:B) pairs with REL(fd_slot_set:A) */
	return rcu_dereference(fdt->fd[fd]);
}

hot_inline struct berth_file *fget(struct files_struct *files, unsigned int fd)
{
	struct berth_file *file;

	rcu_read_lock();
	do {
		file = fdtable_lookup(files, fd);
	} while (file && unlikely(!kref_get_unless_zero(&file->refs)));
	rcu_read_unlock();
	return file;
}

hot_inline struct berth_file *fdget_rcu(struct files_struct *files,
					unsigned int fd)
{
	if (__libc_single_threaded)
		return fdtable_lookup(files, fd);
	return fget(files, fd);
}

hot_inline void fdput_rcu(struct berth_file *file)
{
	if (!__libc_single_threaded)
		fdput_counted(file);
}

#endif
