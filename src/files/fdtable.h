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
 * Otherwise the file, and the slot owns a reference, or shares one with those of
 * copies of the table (fd_lease.c).
 *
 *	NULL -> FD_RESERVED		alloc_fd()		under the lock
 *	NULL -> file			receive_fd()		under the lock
 *	FD_RESERVED -> file		fd_install()		without it
 *	FD_RESERVED -> NULL		put_unused_fd()		under the lock
 *	file -> NULL			close_fd()		under the lock
 *	NULL or file -> file		dup			under the lock
 *	two numbers -> a move -> file and NULL
 *					renumber_fd()		under the lock
 *
 * *Detours*.  A file with rights (rights.h) stands in its slot as a pointer with
 * the top bit set, to a structure that has file and rights; a number that is
 * being moved, as one with two bits set, to a structure that says what each of
 * the two numbers finds before and after the move.  The pointer of a file is
 * above FD_RESERVED as a signed number, so that a lookup tells it from all the
 * rest by one comparison.
 *
 * *The hot word*.  The word of the open bitmap that holds the lowest free
 * number is kept beside the lock, whichever segment it belongs to; every word
 * below it is full.  So the usual open and close write one line and their
 * slot.  While a word is hot its place in the bitmap is stale: fd_open_word()
 * knows.
 *
 * *Chunks*.  Numbers that were asked for without caring which come from words
 * that have been taken out of the table, one for each processor at a time: such
 * a word (struct fd_chunk) has a line of its own, with its lock and its bits,
 * and stays what it is until the table dies.  See fd_any.c.
 *
 * *Locking*.  files->lock guards bitmaps and hints, and every transition but
 * the install, which belongs to whoever reserved the number.  For the numbers
 * of a chunk it is the chunk's lock that does; who needs both takes files->lock
 * first, and chunks in the order of their numbers.
 *
 * *Ordering*
 *	REL(fd_install:A) pairs with RCU(fd_lookup:A), ACQ(dup_fd_collect:A),
 *		ACQ(close_fd:A), ACQ(dup_onto:A), ACQ(fd_publish:B), for an
 *		install does not take the lock that these hold
 *	REL(fd_publish:A) pairs with RCU(fd_lookup:A)
 *	REL(fd_take:A) pairs with RCU(fd_lookup:A)
 *	REL(expand_files:A) pairs with ACQ(fd_segment_slot:A), ACQ(fd_range:A)
 *	REL(fd_chunk_publish:A) pairs with ACQ(fd_chunk_of:A)
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
 * (open, close-on-exec, words of the first without a zero) and pointers for
 * each word to the chunk that it has become and to its lease.  There is no
 * header: it would share a line with the first slot, and everything else is
 * computed from the segment's index.
 */
struct fd_segment {
	struct berth_file *slot[1];
};

struct files_struct {
	/* Read-mostly: what lookups see. */
	struct fd_segment *segment[FD_SEGMENTS]; /* [k - 1] */
	struct fd_any *any; /* once any number was asked for */
	unsigned int limit;
	bool close_waits;	/* see wait.c; never changes */
	unsigned int nr_leases; /* see fd_lease.c; under the lock */

	/* Written at every open and close, under the lock. */
	struct spinlock lock cache_aligned;
	unsigned int hot_base; /* the hot word is about the 64 from here on */
	uint64_t hot;	       /* a bit for each of them in use */
	uint64_t open[1];      /* the embedded numbers' words */
	uint64_t cloexec[1];
	struct files_struct *next, **pprev; /* of the list of tables */
	unsigned int maximum;		    /* of the limit */
	struct berth_kref users;
	void *owner; /* as the user has it */

	struct berth_file *slot[FD_EMBEDDED] cache_aligned;
};

/* In a valgrind build locks know their classes, which makes them larger. */
#if !WITH_VALGRIND
static_assert(sizeof(struct files_struct) <= 704, "the size to reach");
static_assert(offsetof(struct files_struct, lock) % CACHE_LINE == 0,
	      "what is written stands apart from what lookups read");
static_assert(offsetof(struct files_struct, slot) -
			      offsetof(struct files_struct, lock) ==
		      CACHE_LINE,
	      "all that an open writes beside its slot is one line");
#endif
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
	return (intptr_t)file > (intptr_t)FD_RESERVED;
}

/* A file, or a detour to one: what a number finds, and owns a reference to. */
hot_inline bool fd_is_open_slot(const struct berth_file *content)
{
	return (uintptr_t)content > (uintptr_t)FD_RESERVED;
}

/* ---- Detours ---- */

#define FD_DETOUR (UINT64_C(1) << 63)
#define FD_MOVING (UINT64_C(1) << 62)

/* A file and what may be done with it by this number; never changes.  As many
 * slots as have it own it, and each a reference to the file as well. */
struct fd_limited {
	struct berth_file *file;
	struct berth_rights rights;
	struct berth_kref refs;
	struct berth_retired retired;
};

/* Two numbers of which one takes the place of the other. */
struct fd_move {
	struct berth_file **from, **to; /* the slots */
	struct berth_file *moved;	/* what @from found */
	struct berth_file *replaced;	/* what @to found */
	uint32_t done;
	struct berth_retired retired;
};

static_assert(sizeof(void *) == 8, "a pointer's top bits are free");

hot_inline void *fd_detour_to(const struct berth_file *content)
{
	return (void *)((uintptr_t)content & ~(FD_DETOUR | FD_MOVING));
}

static inline struct fd_limited *fd_limited_of(const struct berth_file *content)
{
	return (intptr_t)content < 0 ? fd_detour_to(content) : NULL;
}

/* The file of what fd_is_open_slot() and is not on the move. */
static inline struct berth_file *fd_file_of(struct berth_file *content)
{
	struct fd_limited *limited = fd_limited_of(content);

	return limited ? limited->file : content;
}

/* In a read section: the file of a slot that does not hold a plain one. */
struct berth_file *fd_lookup_slow(struct berth_file **slot,
				  struct berth_file *content);

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
	 * REL(fd_take:A), REL(fd_move:A) */
	file = rcu_dereference(*slot);
	if (likely(fd_is_file(file)))
		return file;
	return fd_lookup_slow(slot, file);
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
	uint64_t *full;		 /* NULL: one word, look at it */
	struct fd_chunk **chunk; /* a word; NULL: one word, which is none */
	struct fd_lease **lease; /* the same; see fd_lease.c */
};

/* A word of 64 numbers that has left the table's bitmaps for good. */
struct fd_chunk {
	struct spinlock lock;
	unsigned int base;
	uint64_t open;
	uint64_t cloexec;
	/* Found full by a search for the lowest number, which went on above:
	 * who frees a number here tells it so, under files->lock. */
	bool passed;
	bool claimed;	       /* by a processor; under files->lock */
	struct fd_chunk *next; /* of higher numbers; under files->lock */
} cache_aligned;

/* The chunk that holds the @i-th number of @range, or NULL. */
static inline struct fd_chunk *fd_chunk_of(const struct fd_range *range,
					   unsigned int i)
{
	if (!range->chunk)
		return NULL;
	/* ACQ(fd_chunk_of:A) pairs with REL(fd_chunk_publish:A) */
	return load_acquire(&range->chunk[i / BITS_PER_WORD]);
}

/* The lowest free number of a chunk from @fd on, or FD_NONE; under its lock. */
static inline unsigned int chunk_next_free(const struct fd_chunk *chunk,
					   unsigned int fd)
{
	uint64_t free = ~chunk->open & (~UINT64_C(0) << (fd % BITS_PER_WORD));

	return free ? chunk->base + (unsigned int)__builtin_ctzll(free)
		    : FD_NONE;
}

/* The word of the open bitmap that holds the @i-th number of @range. */
static inline uint64_t *fd_open_word(struct files_struct *files,
				     const struct fd_range *range,
				     unsigned int i)
{
	struct fd_chunk *chunk = fd_chunk_of(range, i);
	unsigned int word = i / BITS_PER_WORD;

	if (chunk)
		return &chunk->open;
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

/* ---- Locks ---- */

/* What is held for one number, or for two: the table's lock, chunks' locks. */
struct fd_hold {
	struct spinlock *table;
	struct fd_chunk *chunk[2];
};

/* For the number of a slot that is there. */
struct fd_hold fd_hold(struct files_struct *files, unsigned int fd);
/* The same for who may give it back, which a search for the lowest number has
 * to learn of. */
struct fd_hold fd_hold_to_free(struct files_struct *files, unsigned int fd);
/* Two numbers, to change them as of one instant; slots may be missing. */
struct fd_hold fd_hold_two(struct files_struct *files, unsigned int a,
			   unsigned int b);
void fd_drop(const struct fd_hold *hold);
/* All numbers. */
void fd_hold_all(struct files_struct *files);
void fd_drop_all(struct files_struct *files);

/* In debug builds: is the table what its invariants say?  Under the lock. */
#if BERTH_DEBUG_CHECKS
void files_check(struct files_struct *files);
#else
static inline void files_check(struct files_struct *files)
{
	(void)files;
}
#endif

/* The chunk that @fd is in, or NULL. */
struct fd_chunk *fd_chunk(struct files_struct *files, unsigned int fd);

/* All under the hold of the number, whose segment is there. */
void fd_mark_open(struct files_struct *files, unsigned int fd, bool cloexec);
void fd_mark_free(struct files_struct *files, unsigned int fd);
/* The word with the close-on-exec bit of a number. */
uint64_t *fd_cloexec_word(struct files_struct *files, unsigned int fd);
bool fd_segment_missing(struct files_struct *files, unsigned int fd);
/* Let @fd find @file, which it now owns; the former file goes to the caller. */
struct berth_file *fd_publish(struct files_struct *files, unsigned int fd,
			      struct berth_file *file);

/* ---- Any number: fd_any.c ---- */

/* As alloc_fd(), receive_fd(): any free number finds @content. */
int fd_take_any(struct files_struct *files, bool cloexec,
		struct berth_file *content);
/* The lowest one; it is what remains when there is no better way. */
int fd_take(struct files_struct *files, unsigned int min, bool cloexec,
	    struct berth_file *content);
/* The same for what @fd finds; -ESTALE: it does not find it any more. */
int fd_take_copy(struct files_struct *files, unsigned int fd, unsigned int min,
		 bool cloexec, struct berth_file *content);
void fd_any_free(struct files_struct *files);

/* ---- References in common: fd_lease.c ---- */

void fd_own_slow(struct files_struct *files, unsigned int fd);

/* Under the hold of @fd, which is about to lose what it finds: that is its own
 * from now on. */
static inline void fd_own(struct files_struct *files, unsigned int fd)
{
	if (unlikely(load_relaxed(&files->nr_leases)))
		fd_own_slow(files, fd);
}

/* Under the hold of all: the word of @fd finds @copied in both.  Returns those
 * of the numbers for which @to needs no reference of its own. */
uint64_t fd_share(struct files_struct *from, struct files_struct *to,
		  unsigned int fd, uint64_t copied);
/* By the only user: close the numbers of the word of @fd, if all are leased;
 * otherwise none is any more. */
void fd_lease_end(struct files_struct *files, unsigned int fd, uint64_t *open);

/* ---- What a slot owns, rights included: detour.c ---- */

/* One more reference to all of it; @content is owned, or under the hold. */
void fd_content_get(struct berth_file *content);
void fd_content_put(struct berth_file *content);
/* The same for what it owns beside its file. */
void fd_limited_put(struct berth_file *content);
/* In a read section: as fd_lookup(). */
struct berth_file *fd_content(struct files_struct *files, unsigned int fd);
/* As fget(). */
struct berth_file *fget_content(struct files_struct *files, unsigned int fd);

/* ---- The end of a number's use: wait.c ---- */

/* @fd finds @file no more: where that is wanted, wait until nobody is inside. */
int fd_left(struct files_struct *files, unsigned int fd,
	    struct berth_file *file);
/* The same for a number that was closed: flush, wait. */
int fd_content_leave(struct files_struct *files, unsigned int fd,
		     struct berth_file *content);
/* And drop its references. */
int fd_content_close(struct files_struct *files, unsigned int fd,
		     struct berth_file *content);

#endif
