/* SPDX-License-Identifier: MIT */
/*
 * 2004: the same with a reader-writer lock.
 *
 * *Lookup*.  Take the lock shared, index the array, count the file, leave the
 * lock.  Whoever changes the table (reserve, install, close, dup2, growth, the
 * close-on-exec bit) takes it exclusive.
 *
 * It wins nothing: what costs is that the lock's line moves, not that somebody
 * waits; and readers leave by a read-modify-write, where a spinlock's holder
 * leaves by a plain store.
 *
 * *Lifetime* and *layout* are those of spinlock.h.
 *
 * *Ordering*
 *	REL(rw_read_unlock:A) pairs with ACQ(rw_write_take:A)
 *	REL(rw_write_unlock:A) pairs with ACQ(rw_read_take:A),
 *		ACQ(rw_write_take:A)
 */
#ifndef LINEAGE_RWLOCK_H
#define LINEAGE_RWLOCK_H

#include "lineage/table.h"

#define FDSET_EMBEDDED FDSET_2004

/* Its last owner is the last who can see a file. */
#define FILES_FREED_AT_ONCE 1

/* ---- The lock ---- */

/* One writer and no readers, or readers; also those who are about to find out
 * that there is a writer. */
struct rwlock {
	uint32_t state;
	LOCK_CLASS;
};

#define RW_WRITER UINT32_C(0x80000000)

void rw_read_lock_slow(struct rwlock *lock);
void rw_write_lock_slow(struct rwlock *lock);

/* One more reader; false when there is a writer, and then it must be undone. */
static inline bool rw_read_take(struct rwlock *lock)
{
	/* ACQ(rw_read_take:A) pairs with REL(rw_write_unlock:A) */
	return !(fetch_add_acquire(&lock->state, 1u) & RW_WRITER);
}

static inline void rw_read_lock(struct rwlock *lock)
{
	if (unlikely(!rw_read_take(lock)))
		rw_read_lock_slow(lock);
}

static inline void rw_read_unlock(struct rwlock *lock)
{
	/* REL(rw_read_unlock:A) pairs with ACQ(rw_write_take:A) */
	fetch_sub_release(&lock->state, 1u);
}

static inline bool rw_write_take(struct rwlock *lock)
{
	uint32_t free = 0;

	/* ACQ(rw_write_take:A) pairs with REL(rw_read_unlock:A),
	 * REL(rw_write_unlock:A) */
	return cas_acquire(&lock->state, &free, RW_WRITER);
}

static inline void rw_write_lock(struct rwlock *lock)
{
	if (unlikely(!rw_write_take(lock)))
		rw_write_lock_slow(lock);
	lock_taken(lock, 0);
}

/* Not a store: readers may be about to find out. */
static inline void rw_write_unlock(struct rwlock *lock)
{
	lock_dropped(lock);
	/* REL(rw_write_unlock:A) pairs with ACQ(rw_read_take:A),
	 * ACQ(rw_write_take:A) */
	fetch_sub_release(&lock->state, RW_WRITER);
}

/* In the child of a fork: whoever else had to do with it is not there. */
static inline void rw_renew(struct rwlock *lock)
{
	store_relaxed(&lock->state, 0u);
}

/* ---- The table ---- */

struct files_struct {
	struct berth_kref users;
	struct rwlock lock;
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
#endif

#define table_lock_init(files)	   lock_init(&(files)->lock)
#define table_lock(files)	   rw_write_lock(&(files)->lock)
#define table_unlock(files)	   rw_write_unlock(&(files)->lock)
#define table_lock_renew(files)	   rw_renew(&(files)->lock)
#define table_lock_shared(files)   rw_read_lock(&(files)->lock)
#define table_unlock_shared(files) rw_read_unlock(&(files)->lock)

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

	rw_read_lock(&files->lock);
	/* Relaxed: under the lock. */
	if (likely(fd < files->fdtab.max_fds))
		file = load_relaxed(&files->fdtab.fd[fd]);
	if (likely(file))
		get_file(file);
	rw_read_unlock(&files->lock);
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
