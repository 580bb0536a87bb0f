/* SPDX-License-Identifier: MIT */
/*
 * Any free number: allocations that have no word in common.
 *
 * *Structure*.  Each processor has a chunk of the table for itself: 64 numbers
 * whose slots, bits and lock are on lines that no other processor's allocations
 * write.  An allocation takes the chunk's lock, a free bit and the slot, and
 * reads, beside that, only what never changes in the steady state: the pointers
 * to segments, chunk and limit.
 *
 * *Where chunks come from*.  A full one is left, and another one claimed, under
 * the table's lock: one that was left with many numbers free by now, or else a
 * free word of the table, as far up as twice what the lowest numbers have
 * reached, so that the two ways of allocating rarely meet.  A word is taken out
 * of the table's bitmaps once and stays a chunk; so nobody has to be recalled,
 * and a pointer to a chunk is good for as long as the table.
 *
 * *The lowest number still is* (F4).  A search for it stops at each chunk, as if
 * that were free, and looks in there under the chunk's lock.  One that is full
 * it marks as passed before it goes on, under that lock; whoever frees a number
 * of such a chunk then takes the table's lock as well, and moves the hot word
 * down, so that the next search begins there.
 *
 * *What any number cannot do*.  When no word is left to claim, the allocation
 * takes the lowest number instead, which finds every free one: -EMFILE is given
 * only when there was none.
 *
 * *Ordering*
 *	REL(fd_any_create:A) pairs with ACQ(any_of:A)
 *	REL(fd_any_claim:A) pairs with ACQ(fd_take_any:A)
 */
#include <errno.h>

#include "base/report.h"
#include "base/sys.h"
#include "files/files.h"

/* Words that are left to the lowest numbers, at least. */
#define FD_ANY_FIRST_WORD 4u
/* A chunk that was left is worth going back to when so many are free. */
#define FD_ANY_ROOM 16
/* So many of them are looked at for each word of 64 numbers that is claimed. */
#define FD_ANY_LOOKS 8

struct fd_any {
	unsigned int mask; /* of a processor's number */
	/* All of them, by number, the last one, and where the next look for one
	 * with room begins; under files->lock, as is the next word to try. */
	struct fd_chunk *chunks, *last, *look;
	unsigned int word;
	struct fd_shard {
		struct fd_chunk *chunk; /* written under files->lock */
	} cache_aligned shard[];
};

/* ---- Birth and end ---- */

static struct fd_any *any_of(struct files_struct *files)
{
	/* ACQ(any_of:A) pairs with REL(fd_any_create:A) */
	return load_acquire(&files->any);
}

static struct bytes any_bytes(unsigned int mask)
{
	return bytes_lines(bytes_array(sizeof(struct fd_any), mask + 1,
				       sizeof(struct fd_shard)));
}

static struct bytes chunk_bytes(void)
{
	return bytes_of(sizeof(struct fd_chunk));
}

/* A power of two that no processor's number is beyond, so far as is known. */
static unsigned int shard_mask(void)
{
	unsigned int n = sys_cpus();

	return n <= 1 ? 0 : ~0u >> __builtin_clz(n - 1);
}

/* Two may race; the loser frees what nobody has seen. */
static noinline struct fd_any *fd_any_create(struct files_struct *files)
{
	unsigned int mask = shard_mask();
	struct fd_any *any = sys_zalloc_lines(any_bytes(mask)), *none = NULL;

	if (!any)
		return NULL;
	any->mask = mask;
	/* REL(fd_any_create:A) pairs with ACQ(any_of:A) */
	if (cas_release(&files->any, &none, any))
		return any;
	sys_free(any, any_bytes(mask));
	return any_of(files);
}

void fd_any_free(struct files_struct *files)
{
	struct fd_any *any = any_of(files);
	struct fd_chunk *chunk;

	if (!any)
		return;
	while ((chunk = any->chunks) != NULL) {
		any->chunks = chunk->next;
		sys_free(chunk, chunk_bytes());
	}
	sys_free(any, any_bytes(any->mask));
}

/* ---- All numbers at once ---- */

/* Under the table's lock. */
static struct fd_chunk *first_chunk(struct files_struct *files)
{
	struct fd_any *any = any_of(files);

	return any ? any->chunks : NULL;
}

void fd_hold_all(struct files_struct *files)
{
	struct fd_chunk *chunk;

	spin_lock(&files->lock);
	for (chunk = first_chunk(files); chunk; chunk = chunk->next)
		spin_lock(&chunk->lock);
}

void fd_drop_all(struct files_struct *files)
{
	struct fd_chunk *chunk;

	for (chunk = first_chunk(files); chunk; chunk = chunk->next)
		spin_unlock(&chunk->lock);
	spin_unlock(&files->lock);
}

/* ---- A chunk for a processor, under the table's lock ---- */

/* Has it been left, with room for @free numbers at least? */
static bool chunk_has_room(struct files_struct *files,
			   const struct fd_chunk *chunk, int free)
{
	/* Relaxed: a guess, which the allocation puts to the test. */
	return !chunk->claimed && chunk->base < files->limit &&
	       __builtin_popcountll(~load_relaxed(&chunk->open)) >= free;
}

/* Any at all, when there is nothing else. */
static struct fd_chunk *chunk_with_a_number(struct files_struct *files)
{
	struct fd_chunk *chunk;

	for (chunk = first_chunk(files); chunk; chunk = chunk->next)
		if (chunk_has_room(files, chunk, 1))
			return chunk;
	return NULL;
}

/* One that is worth going back to, among the next few: a claim takes as long in a
 * large table as in a small one. */
static struct fd_chunk *chunk_with_room(struct files_struct *files)
{
	struct fd_any *any = any_of(files);
	struct fd_chunk *chunk;
	int i;

	for (i = 0; i < FD_ANY_LOOKS; i++) {
		chunk = any->look ? any->look : any->chunks;
		if (!chunk)
			break;
		any->look = chunk->next;
		if (chunk_has_room(files, chunk, FD_ANY_ROOM))
			return chunk;
	}
	return NULL;
}

/* Could the word of @fd become a chunk? */
static bool word_is_free(struct files_struct *files, unsigned int fd)
{
	struct fd_range range;

	if (!fd_range(files, fd_segment_of(fd), &range))
		return true;
	return fd != files->hot_base && !fd_chunk_of(&range, fd - range.base) &&
	       !load_relaxed(&range.open[(fd - range.base) / BITS_PER_WORD]);
}

/* The first number of a free word from @from to before @end, or FD_NONE. */
static unsigned int free_word(struct files_struct *files, unsigned int from,
			      unsigned int end)
{
	unsigned int fd;

	for (fd = from; fd < end; fd += BITS_PER_WORD)
		if (word_is_free(files, fd))
			return fd;
	return FD_NONE;
}

/* The same, from well above the lowest numbers on, or from wherever there is
 * one. */
static unsigned int word_to_claim(struct files_struct *files)
{
	unsigned int from = FD_ANY_FIRST_WORD * BITS_PER_WORD, fd = FD_NONE;
	struct fd_any *any = any_of(files);

	if (from < 2 * files->hot_base)
		from = 2 * files->hot_base;
	/* On from the last one, for those before are taken. */
	if (from < any->word)
		from = any->word;
	if (from < files->limit)
		fd = free_word(files, from, files->limit);
	if (fd == FD_NONE)
		fd = free_word(files, FD_EMBEDDED, files->limit);
	if (fd != FD_NONE)
		any->word = fd;
	return fd;
}

/* Take the word of @fd out of the table's bitmaps.  Nothing in it is open. */
static void fd_chunk_publish(struct files_struct *files, struct fd_chunk *chunk,
			     unsigned int fd)
{
	struct fd_any *any = any_of(files);
	struct fd_chunk **link = &any->chunks;
	struct fd_range range;

	spin_init(&chunk->lock);
	chunk->base = fd;
	/* It is above the hot word, for below everything is full. */
	invariant(fd > files->hot_base);
	if (any->last && any->last->base < fd)
		link = &any->last->next;
	while (*link && (*link)->base < fd)
		link = &(*link)->next;
	chunk->next = *link;
	*link = chunk;
	if (!chunk->next)
		any->last = chunk;
	fd_range(files, fd_segment_of(fd), &range);
	/* REL(fd_chunk_publish:A) pairs with ACQ(fd_chunk_of:A) */
	store_release(&range.chunk[(fd - range.base) / BITS_PER_WORD], chunk);
}

/*
 * Find a chunk for a processor that is done with @old.  0: it has one, perhaps
 * another thread's doing; -ENOMEM; -EMFILE: there is none to be had.
 */
static int shard_claim(struct files_struct *files, struct fd_shard *shard,
		       struct fd_chunk *old, struct fd_chunk **spare)
{
	struct fd_chunk *chunk = chunk_with_room(files);
	unsigned int fd;

	if (load_relaxed(&shard->chunk) != old)
		return 0;
	if (!chunk) {
		fd = word_to_claim(files);
		if (fd != FD_NONE && fd_segment_missing(files, fd))
			return (int)fd;
		if (fd != FD_NONE) {
			chunk = *spare;
			*spare = NULL;
			fd_chunk_publish(files, chunk, fd);
		}
	}
	if (!chunk)
		chunk = chunk_with_a_number(files);
	if (!chunk)
		return -EMFILE;
	if (old)
		old->claimed = false;
	chunk->claimed = true;
	/* REL(fd_any_claim:A) pairs with ACQ(fd_take_any:A) */
	store_release(&shard->chunk, chunk);
	return 0;
}

/* A segment that is missing is made without the lock. */
static noinline int fd_any_claim(struct files_struct *files,
				 struct fd_shard *shard, struct fd_chunk *old)
{
	struct fd_chunk *spare = sys_zalloc_lines(chunk_bytes());
	int ret;

	if (!spare)
		return -ENOMEM;
	do {
		spin_lock(&files->lock);
		ret = shard_claim(files, shard, old, &spare);
		spin_unlock(&files->lock);
		if (ret > 0 && expand_files(files, (unsigned int)ret))
			ret = -ENOMEM;
	} while (ret > 0);
	if (spare)
		sys_free(spare, chunk_bytes());
	return ret;
}

/* ---- Allocation ---- */

/* A free number of the chunk finds @content; -1: there is none. */
static int chunk_take(struct files_struct *files, struct fd_chunk *chunk,
		      bool cloexec, struct berth_file *content)
{
	unsigned int fd;
	int ret = -1;

	spin_lock(&chunk->lock);
	fd = chunk_next_free(chunk, chunk->base);
	if (fd < load_relaxed(&files->limit)) {
		store_relaxed(&chunk->open, chunk->open | (chunk->open + 1));
		bit_assign(&chunk->cloexec, fd % BITS_PER_WORD, cloexec);
		fd_publish(files, fd, content);
		ret = (int)fd;
	}
	spin_unlock(&chunk->lock);
	return ret;
}

int fd_take_any(struct files_struct *files, bool cloexec,
		struct berth_file *content)
{
	struct fd_any *any = any_of(files);
	struct fd_chunk *chunk;
	struct fd_shard *shard;
	int fd;

	if (unlikely(!any))
		any = fd_any_create(files);
	while (any) {
		shard = &any->shard[sys_cpu() & any->mask];
		/* ACQ(fd_take_any:A) pairs with REL(fd_any_claim:A) */
		chunk = load_acquire(&shard->chunk);
		if (likely(chunk)) {
			fd = chunk_take(files, chunk, cloexec, content);
			if (likely(fd >= 0))
				return fd;
		}
		if (fd_any_claim(files, shard, chunk))
			break;
	}
	return fd_take(files, 0, cloexec, content);
}
