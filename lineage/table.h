/* SPDX-License-Identifier: MIT */
/*
 * What the descriptor tables of 2004 and 2005 have in common.
 *
 * *Structure*.  An array of pointers and two bitmaps (open, close-on-exec) that
 * grow together: the next power of two, the old contents copied.  The first ones
 * are embedded.  @next_fd is the lowest number that may be free; the search goes
 * through the open bitmap from there.
 *
 * *Slot states*.  Bit clear, slot NULL: free.  Bit set, slot NULL: reserved.
 * Otherwise the file, and the slot owns a reference.
 *
 * *Locking*.  The table's lock guards every change, the install included, so a
 * copy is as of one instant without further ado.  What kind of lock it is, who
 * else takes it, where the fields lie, and what becomes of arrays that the table
 * has outgrown, is what the designs differ in: each has a header of its own.
 *
 * *Borrows*.  No design here has berth's borrow: a lookup owns a reference (but
 * see replaced.h).  A borrow is no read section, so whoever needs one, as the
 * VFS does for pages, makes it (FDGET_IS_A_SECTION in files.h).
 */
#ifndef LINEAGE_TABLE_H
#define LINEAGE_TABLE_H

#include "base/bitmap.h"
#include "base/lock.h"
#include "files/file.h"

struct files_struct;

#define FDGET_IS_A_SECTION 0

#define FD_EMBEDDED 64u
#define FD_MAX	    (1u << 30)

/* How many numbers the embedded bitmaps are for; the designs choose. */
#define FDSET_2004 1024u /* of 128 bytes */
#define FDSET_2005 64u	 /* of one word */

/* A power of two, of which the first that is allocated fills a page. */
#define FD_GROWN 512u

/* What grows. */
struct fdtable {
	unsigned int max_fds;	/* slots */
	unsigned int max_fdset; /* bits */
	struct berth_file **fd; /* [max_fds] */
	uint64_t *open;		/* [max_fdset] */
	uint64_t *cloexec;	/* behind the first, in the same piece */
	struct berth_retired retired;
#ifdef FDTABLE_HAS_NEXT_FD
	unsigned int next_fd;
#endif
};

/* What is rarely looked at, and is not history's. */
struct files_rest {
	unsigned int limit;
	unsigned int maximum;		    /* of the limit */
	struct files_struct *next, **pprev; /* of the list of tables */
	void *owner;			    /* as the user has it */
};

/*
 * A design's header gives, besides the hot paths of files.h:
 *
 * struct files_struct		with users, lock, fdtab, open_init,
 *				cloexec_init, fd_array and rest
 * FDSET_EMBEDDED		how many bits of a bitmap are embedded
 * files_next_fd(files)		the field
 * table_lock_init(), table_lock(), table_unlock()
 *				for those who change the table
 * table_lock_renew()		in the child of a fork, instead of the unlock
 * table_lock_shared(), table_unlock_shared()
 *				for those who look at it under a lock
 * files_fdtable(files)		what is in force, under the lock
 * files_replace(files, new)	under the lock: @new is in force; what the table
 *				has outgrown goes to the caller, who gives it to
 *				files_outgrown(), without the lock
 * fdtab_in_force(files)	at the table's birth, and
 * files_free_last(files)	at its end
 */

/* Frees arrays that nobody can see; embedded ones stay. */
void fdtable_free_arrays(struct fdtable *fdt);
/* The same with the piece that @fdt is. */
void fdtable_free(struct fdtable *fdt);
/* The same after a grace period. */
void fdtable_retire(struct fdtable *fdt);

/* The copy in place: what a table that is no pointer has outgrown stays in the
 * piece that the new one came in. */
static inline void fdtable_exchange(struct fdtable *a, struct fdtable *b)
{
	struct fdtable was = *a;

	*a = *b;
	*b = was;
}

void fd_install(struct files_struct *files, unsigned int fd,
		struct berth_file *file);

/* A borrow that is counted ends. */
void fdput_last(struct berth_file *file);

hot_inline void fdput_counted(struct berth_file *file)
{
	if (unlikely(kref_put_last(&file->refs)))
		fdput_last(file);
}

#endif
