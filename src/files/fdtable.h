/* SPDX-License-Identifier: MIT */
/*
 * Our descriptor table: segments whose slots never move.
 *
 * *Structure*.  The first 64 slots and their bitmaps are embedded.  Segment k
 * (from 1) holds the numbers from 64 * 4^(k-1) up to 64 * 4^k; it is allocated
 * when the first of them is wanted, published by one pointer store, and stays
 * until the table dies.  So growth copies nothing, outgrows nothing, waits for
 * nobody and never misleads a lookup (F6), and a lookup is: which segment, is
 * it there, load the slot.
 *
 * Neighbouring numbers lie on different cache lines (fd_spread()): threads that
 * open and close their own descriptors do not disturb each other's lookups.
 *
 * *Slot states*.  NULL: free.  FD_RESERVED: given out by alloc_fd(), invisible.
 * Otherwise the file, and the slot owns a reference.
 *
 *	NULL -> FD_RESERVED		alloc_fd()		under the lock
 *	NULL -> file			receive_fd()		under the lock
 *	FD_RESERVED -> file		fd_install()		without it
 *	FD_RESERVED -> NULL		put_unused_fd()		under the lock
 *	file -> NULL			close_fd()		under the lock
 *	NULL or file -> file		dup			under the lock
 *
 * *The hot word*.  The word of the open bitmap that holds the lowest free
 * number is kept beside the lock, whichever segment it belongs to; every word
 * below it is full.  So the usual open and close write one line and their
 * slot.  While a word is hot its place in the bitmap is stale: fd_open_word()
 * knows.
 *
 * *Locking*.  files->lock guards bitmaps and hints, and every transition but
 * the install, which belongs to whoever reserved the number.
 *
 * *Ordering*
 *	REL(fd_install:A) pairs with RCU(fd_lookup:A), ACQ(dup_fd_collect:A),
 *		ACQ(close_fd:A), ACQ(dup_onto:A), ACQ(fd_publish:B), for an
 *		install does not take the lock that these hold
 *	REL(fd_publish:A) pairs with RCU(fd_lookup:A)
 *	REL(fd_take:A) pairs with RCU(fd_lookup:A)
 *	REL(expand_files:A) pairs with ACQ(fd_segment_slot:A), ACQ(fd_range:A)
 */
#ifndef FILES_FDTABLE_H
#define FILES_FDTABLE_H

#include "base/bitmap.h"
#include "base/lock.h"
#include "files/file.h"

#define FD_EMBEDDED 64u
#define FD_SEGMENTS 13u
/* Numbers are below 64 * 4^12; segment 13 is never allocated, so that any
 * int, a negative one included, finds a segment pointer and may test it. */
#define FD_MAX (1u << 30)

#define FD_RESERVED ((struct berth_file *)1)

/*
 * One segment beyond the embedded one: its slots, and behind them its bitmaps
 * (open, close-on-exec, words of the first without a zero).  There is no
 * header: it would share a line with the first slot, and everything else is
 * computed from the segment's index.
 */
struct fd_segment {
	struct berth_file *slot[1];
};

struct files_struct {
	/* Read-mostly: what lookups see. */
	struct fd_segment *segment[FD_SEGMENTS]; /* [k - 1] */
	unsigned int limit;
	struct berth_kref users;
	struct files_struct *next; /* in the list of tables, under its lock */

	/* Written at every open and close, under the lock. */
	struct spinlock lock cache_aligned;
	unsigned int hot_base; /* the hot word is about the 64 from here on */
	uint64_t hot;	       /* a bit for each of them in use */
	uint64_t open[1];      /* the embedded numbers' words */
	uint64_t cloexec[1];
	struct files_struct **pprev; /* in the list of tables, under its lock */
	unsigned int maximum;	     /* of the limit */

	struct berth_file *slot[FD_EMBEDDED] cache_aligned;
};

static_assert(sizeof(struct files_struct) <= 704, "the size to reach");
static_assert(offsetof(struct files_struct, lock) % CACHE_LINE == 0,
	      "what is written stands apart from what lookups read");
static_assert(offsetof(struct files_struct, slot) -
			      offsetof(struct files_struct, lock) ==
		      CACHE_LINE,
	      "all that an open writes beside its slot is one line");
static_assert(sizeof(((struct files_struct *)0)->open) == sizeof(uint64_t),
	      "the first bitmaps are one word each");

/* Which segment holds @fd, for @fd of at least 64: 1 to 13. */
hot_inline unsigned int fd_segment_index(unsigned int fd)
{
	unsigned int bits = 32u - (unsigned int)__builtin_clz(fd / FD_EMBEDDED);

	return (bits + 1) / 2;
}

/* The same for any number; 0 is the embedded segment. */
hot_inline unsigned int fd_segment_of(unsigned int fd)
{
	return fd < FD_EMBEDDED ? 0 : fd_segment_index(fd);
}

/* The first number of segment @k. */
hot_inline unsigned int fd_segment_base(unsigned int k)
{
	return FD_EMBEDDED << (2 * (k - 1));
}

/* Swap the halves of the low six bits: neighbours are eight slots apart. */
hot_inline unsigned int fd_spread(unsigned int i)
{
	return (i & ~63u) | (((i << 3) | ((i >> 3) & 7u)) & 63u);
}

hot_inline struct berth_file **fd_segment_slot(struct files_struct *files,
					       unsigned int fd)
{
	unsigned int k = fd_segment_index(fd);
	struct fd_segment *segment;

	/* ACQ(fd_segment_slot:A) pairs with REL(expand_files:A) */
	segment = load_acquire(&files->segment[k - 1]);
	if (unlikely(!segment))
		return NULL;
	return &segment->slot[fd_spread(fd - fd_segment_base(k))];
}

/* The slot of any number, or NULL when the table does not reach so far. */
hot_inline struct berth_file **fd_slot(struct files_struct *files,
				       unsigned int fd)
{
	if (likely(fd < FD_EMBEDDED))
		return &files->slot[fd_spread(fd)];
	return fd_segment_slot(files, fd);
}

hot_inline bool fd_is_file(const struct berth_file *file)
{
	return (uintptr_t)file > (uintptr_t)FD_RESERVED;
}

/* How many numbers segment @k holds. */
hot_inline unsigned int fd_segment_count(unsigned int k)
{
	return 3 * fd_segment_base(k);
}

/* In a read section: the file behind a number, or NULL. */
hot_inline struct berth_file *fd_lookup(struct files_struct *files,
					unsigned int fd)
{
	struct berth_file **slot = fd_slot(files, fd), *file;

	if (unlikely(!slot))
		return NULL;
	/* RCU(fd_lookup:A) pairs with REL(fd_install:A), REL(fd_publish:A),
	 * REL(fd_take:A) */
	file = rcu_dereference(*slot);
	return likely(fd_is_file(file)) ? file : NULL;
}

hot_inline struct berth_file *fdget_rcu(struct files_struct *files,
					unsigned int fd)
{
	struct berth_file *file;

	rcu_read_lock();
	file = fd_lookup(files, fd);
	if (unlikely(!file))
		rcu_read_unlock();
	return file;
}

hot_inline void fdput_rcu(struct berth_file *file)
{
	(void)file;
	rcu_read_unlock();
}

/*
 * A file that is past its last owner has left its slot, so look again: the
 * number may have been given another one in the same instant (F5).
 */
hot_inline struct berth_file *fget(struct files_struct *files, unsigned int fd)
{
	struct berth_file *file;

	rcu_read_lock();
	do {
		file = fd_lookup(files, fd);
	} while (file && unlikely(!kref_get_unless_zero(&file->refs)));
	rcu_read_unlock();
	return file;
}

void fd_install_refused(void);

hot_inline void fd_install(struct files_struct *files, unsigned int fd,
			   struct berth_file *file)
{
	struct berth_file **slot = fd_slot(files, fd);

	/* Relaxed: a reserved slot is ours alone. */
	if (unlikely(!slot || load_relaxed(slot) != FD_RESERVED)) {
		fd_install_refused();
		return;
	}
	/* REL(fd_install:A) pairs with RCU(fd_lookup:A),
	 * ACQ(dup_fd_collect:A), ACQ(close_fd:A), ACQ(dup_onto:A),
	 * ACQ(fd_publish:B) */
	store_release(slot, file);
}

/* ---- Inside: shared by fdtable.c, fd_alloc.c, dup.c, exec.c ---- */

/* One segment as its writers see it, the embedded one included. */
struct fd_range {
	unsigned int base;  /* its first number */
	unsigned int count; /* how many it holds */
	uint64_t *open;
	uint64_t *cloexec;
	uint64_t *full; /* NULL: one word, look at it */
};

/* The word of the open bitmap that holds the @i-th number of @range. */
static inline uint64_t *fd_open_word(struct files_struct *files,
				     const struct fd_range *range,
				     unsigned int i)
{
	unsigned int word = i / BITS_PER_WORD;

	/* Relaxed: under the lock, or a look that may be late. */
	if (range->base + word * BITS_PER_WORD ==
	    load_relaxed(&files->hot_base))
		return &files->hot;
	return &range->open[word];
}

/* Segment @k from 0; false when it is not there. */
bool fd_range(struct files_struct *files, unsigned int k,
	      struct fd_range *range);
/* Allocate the segment of @fd if it is missing.  0 or -ENOMEM. */
int expand_files(struct files_struct *files, unsigned int fd);

/* In debug builds: is the table what its invariants say?  Under the lock. */
#if BERTH_DEBUG_CHECKS
void files_check(struct files_struct *files);
#else
static inline void files_check(struct files_struct *files)
{
	(void)files;
}
#endif

/* All under the lock, for numbers whose segment is there. */
void fd_mark_open(struct files_struct *files, unsigned int fd, bool cloexec);
void fd_mark_free(struct files_struct *files, unsigned int fd);
bool fd_is_open(struct files_struct *files, unsigned int fd);
/* The lowest free number from @min on; its segment may be missing. */
unsigned int fd_next_free(struct files_struct *files, unsigned int min);
/* Let @fd find @file, which it now owns; the former file goes to the caller. */
struct berth_file *fd_publish(struct files_struct *files, unsigned int fd,
			      struct berth_file *file);

#endif
