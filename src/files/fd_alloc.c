/* SPDX-License-Identifier: MIT */
/*
 * Numbers: the lowest free one, its reservation, its close.
 *
 * *F4*.  All bits are read and set under files->lock, so the number that
 * alloc_fd() takes is the lowest free one at the instant of the taking.
 *
 * The lowest free number is the first zero of the hot word, or beyond it: every
 * word below is full.  A close below moves the hot word down; an open that
 * finds it full moves it up.
 */
#include <errno.h>
#include <fcntl.h>

#include "base/report.h"
#include "files/files.h"

/* ---- Chunks and locks ---- */

struct fd_chunk *fd_chunk(struct files_struct *files, unsigned int fd)
{
	struct fd_range range;

	if (fd < FD_EMBEDDED || !fd_range(files, fd_segment_of(fd), &range))
		return NULL;
	return fd_chunk_of(&range, fd - range.base);
}

/* A chunk that comes into being does so under the lock; then both are held. */
static struct fd_hold hold_table(struct files_struct *files, unsigned int fd)
{
	struct fd_hold hold = { .table = &files->lock };

	spin_lock(&files->lock);
	hold.chunk[0] = fd_chunk(files, fd);
	if (hold.chunk[0])
		spin_lock(&hold.chunk[0]->lock);
	return hold;
}

struct fd_hold fd_hold(struct files_struct *files, unsigned int fd)
{
	struct fd_hold hold = { .chunk[0] = fd_chunk(files, fd) };

	if (!hold.chunk[0])
		return hold_table(files, fd);
	spin_lock(&hold.chunk[0]->lock);
	return hold;
}

struct fd_hold fd_hold_to_free(struct files_struct *files, unsigned int fd)
{
	struct fd_hold hold = fd_hold(files, fd);

	if (hold.table || !hold.chunk[0] || !hold.chunk[0]->passed)
		return hold;
	spin_unlock(&hold.chunk[0]->lock);
	return hold_table(files, fd);
}

struct fd_hold fd_hold_two(struct files_struct *files, unsigned int a,
			   unsigned int b)
{
	struct fd_hold hold = hold_table(files, a < b ? a : b);

	hold.chunk[1] = fd_chunk(files, a < b ? b : a);
	if (hold.chunk[1] == hold.chunk[0])
		hold.chunk[1] = NULL;
	if (hold.chunk[1])
		spin_lock(&hold.chunk[1]->lock);
	return hold;
}

void fd_drop(const struct fd_hold *hold)
{
	if (hold->chunk[1])
		spin_unlock(&hold->chunk[1]->lock);
	if (hold->chunk[0])
		spin_unlock(&hold->chunk[0]->lock);
	if (hold->table)
		spin_unlock(hold->table);
}

/* ---- Bits, under the hold ---- */

/* The word of close-on-exec bits of a number whose segment is there. */
uint64_t *fd_cloexec_word(struct files_struct *files, unsigned int fd)
{
	struct fd_range range;
	struct fd_chunk *chunk;
	uint64_t *words = files->cloexec;

	if (likely(fd < FD_EMBEDDED))
		return words;
	fd_range(files, fd_segment_index(fd), &range);
	words = range.cloexec;
	chunk = fd_chunk_of(&range, fd - range.base);
	if (chunk)
		return &chunk->cloexec;
	return words + (fd - range.base) / BITS_PER_WORD;
}

bool fd_segment_missing(struct files_struct *files, unsigned int fd)
{
	return fd >= FD_EMBEDDED &&
	       !load_relaxed(&files->segment[fd_segment_index(fd) - 1]);
}

/* Write the hot word to its place in the bitmap, where a search finds it; that
 * of a chunk has none. */
static void hot_sync(struct files_struct *files)
{
	unsigned int base = files->hot_base, word;
	struct fd_range range;

	if (!fd_range(files, fd_segment_of(base), &range) ||
	    fd_chunk_of(&range, base - range.base))
		return;
	word = (base - range.base) / BITS_PER_WORD;
	store_relaxed(&range.open[word], files->hot);
	if (range.full)
		bit_assign(range.full, word, !~files->hot);
}

/* Let the word of @fd be the hot one.  A chunk's looks full: its numbers are not
 * to be had without its lock. */
static void hot_move(struct files_struct *files, unsigned int fd)
{
	struct fd_range range;
	uint64_t word = ~UINT64_C(0);

	hot_sync(files);
	if (!fd_range(files, fd_segment_of(fd), &range))
		return;
	if (!fd_chunk_of(&range, fd - range.base))
		word = load_relaxed(
			&range.open[(fd - range.base) / BITS_PER_WORD]);
	store_relaxed(&files->hot, word);
	store_relaxed(&files->hot_base, fd / BITS_PER_WORD * BITS_PER_WORD);
}

void fd_mark_open(struct files_struct *files, unsigned int fd, bool cloexec)
{
	struct fd_range range;
	unsigned int i;
	uint64_t *word;

	if (!fd_range(files, fd_segment_of(fd), &range))
		return;
	i = fd - range.base;
	word = fd_open_word(files, &range, i);
	store_relaxed(word, load_relaxed(word) | bit_mask(fd));
	bit_assign(fd_cloexec_word(files, fd), fd % BITS_PER_WORD, cloexec);
	if (range.full && !~load_relaxed(word) && !fd_chunk_of(&range, i))
		bit_set(range.full, i / BITS_PER_WORD);
}

/* A chunk that was passed is found again from now on. */
static void chunk_mark_free(struct files_struct *files, struct fd_chunk *chunk,
			    unsigned int fd)
{
	store_relaxed(&chunk->open, chunk->open & ~bit_mask(fd));
	if (!chunk->passed)
		return;
	chunk->passed = false;
	if (fd < files->hot_base)
		hot_move(files, fd);
}

void fd_mark_free(struct files_struct *files, unsigned int fd)
{
	struct fd_range range;
	struct fd_chunk *chunk;
	unsigned int i;
	uint64_t *word;

	if (!fd_range(files, fd_segment_of(fd), &range))
		return;
	i = fd - range.base;
	chunk = fd_chunk_of(&range, i);
	if (chunk) {
		chunk_mark_free(files, chunk, fd);
		return;
	}
	word = fd_open_word(files, &range, i);
	store_relaxed(word, load_relaxed(word) & ~bit_mask(fd));
	if (range.full)
		bit_assign(range.full, i / BITS_PER_WORD, false);
	if (fd < files->hot_base)
		hot_move(files, fd);
}

/* ---- The lowest free number, under the table's lock ---- */

/* The first zero from @i on; whole words without one are passed by @full. */
static unsigned int range_next_free(const struct fd_range *range,
				    unsigned int i)
{
	unsigned int word = i / BITS_PER_WORD, end, found;

	end = (word + 1) * BITS_PER_WORD;
	found = bit_next_zero(range->open, end, i);
	if (found < end || !range->full)
		return found;
	word = bit_next_zero(range->full, range->count / BITS_PER_WORD,
			     word + 1);
	if (word >= range->count / BITS_PER_WORD)
		return range->count;
	return bit_next_zero(range->open, range->count, word * BITS_PER_WORD);
}

/* The lowest number from @min on that is free, as far as the table's own words
 * tell: those of chunks are zero.  Its segment may be missing. */
static unsigned int fd_next_free(struct files_struct *files, unsigned int min)
{
	unsigned int k, found;
	struct fd_range range;

	hot_sync(files);
	for (k = fd_segment_of(min); k < FD_SEGMENTS; k++) {
		if (!fd_range(files, k, &range))
			return min; /* all of it is free */
		found = range_next_free(&range, min - range.base);
		if (found < range.count)
			return range.base + found;
		min = range.base + range.count;
	}
	return FD_MAX;
}

/*
 * The lowest free number from @min on; *@held: the chunk that it is in, locked.
 * @passing: the hot word will move to what is found, and past chunks that are
 * full now.  @mine: a chunk that is locked already, or NULL.
 */
static unsigned int fd_find_free(struct files_struct *files, unsigned int min,
				 bool passing, struct fd_chunk *mine,
				 struct fd_chunk **held)
{
	struct fd_chunk *chunk;
	unsigned int fd, found;

	*held = NULL;
	while (min < FD_MAX) {
		fd = fd_next_free(files, min);
		if (fd >= FD_MAX || fd_segment_missing(files, fd))
			return fd;
		chunk = fd_chunk(files, fd);
		if (!chunk)
			return fd;
		if (chunk != mine)
			spin_lock(&chunk->lock);
		found = chunk_next_free(chunk, fd);
		if (found != FD_NONE) {
			*held = chunk != mine ? chunk : NULL;
			return found;
		}
		if (passing)
			chunk->passed = true;
		if (chunk != mine)
			spin_unlock(&chunk->lock);
		min = chunk->base + BITS_PER_WORD;
	}
	return FD_MAX;
}

struct berth_file *fd_publish(struct files_struct *files, unsigned int fd,
			      struct berth_file *file)
{
	struct berth_file **slot = fd_slot(files, fd);
	struct berth_file *old;

	fd_own(files, fd);
	/* ACQ(fd_publish:B) pairs with REL(fd_install:A) */
	old = load_acquire(slot);
	/* REL(fd_publish:A) pairs with RCU(fd_lookup:A) */
	store_release(slot, file);
	return old;
}

/* ---- Invariants ---- */

#if BERTH_DEBUG_CHECKS
/* A bit is set exactly while its slot is not empty; words below the hot one are
 * full.  Looks at the hot word and the one below. */
static void word_check(struct files_struct *files, unsigned int base,
		       uint64_t word)
{
	unsigned int i;

	for (i = 0; i < BITS_PER_WORD; i++)
		invariant(!(word & bit_mask(i)) ==
			  !load_relaxed(fd_slot(files, base + i)));
}

void files_check(struct files_struct *files)
{
	unsigned int base = files->hot_base;
	struct fd_range range;

	/* A table whose last user has gone is in between: files_put(). */
	if (kref_read(&files->users) == 0)
		return;
	invariant(base % BITS_PER_WORD == 0);
	invariant(fd_range(files, fd_segment_of(base), &range));
	if (!fd_chunk(files, base))
		word_check(files, base, files->hot);
	if (!base || fd_chunk(files, base - BITS_PER_WORD))
		return;
	base -= BITS_PER_WORD;
	invariant(fd_range(files, fd_segment_of(base), &range));
	word_check(files, base, ~UINT64_C(0));
}
#endif

/* ---- Reserve, unreserve, close ---- */

/*
 * A duplicate is taken at an instant at which its source still finds the same:
 * otherwise dup(0) beside close(0) could return 0.  Without a source, always.
 */
hot_inline bool still_finds(struct files_struct *files, unsigned int source,
			    const struct berth_file *content)
{
	/* Relaxed: a comparison. */
	return source == FD_NONE ||
	       likely(load_relaxed(fd_slot(files, source)) == content);
}

/* Under the table's lock: so that the source stays as it is, its chunk's, too. */
static struct fd_chunk *source_hold(struct files_struct *files,
				    unsigned int source)
{
	struct fd_chunk *chunk = NULL;

	if (source != FD_NONE)
		chunk = fd_chunk(files, source);
	if (chunk)
		spin_lock(&chunk->lock);
	return chunk;
}

/*
 * Take the lowest free number from @min on: its slot becomes @content.  -ESTALE:
 * @source, if there is one, does not hold the same any more.  A missing segment is made without the lock, for that takes time.
 */
static noinline int fd_take_slow(struct files_struct *files, unsigned int min,
				 bool cloexec, struct berth_file *content,
				 unsigned int source)
{
	struct fd_chunk *held, *mine;
	unsigned int fd;
	bool lowest;
	int ret;

	for (;;) {
		spin_lock(&files->lock);
		mine = source_hold(files, source);
		lowest = min <= files->hot_base;
		fd = fd_find_free(files, lowest ? files->hot_base : min, lowest,
				  mine, &held);
		ret = -ESTALE;
		if (!still_finds(files, source, content))
			break;
		ret = -EMFILE;
		if (fd >= load_relaxed(&files->limit))
			break;
		if (!fd_segment_missing(files, fd)) {
			fd_mark_open(files, fd, cloexec);
			fd_publish(files, fd, content);
			if (lowest)
				hot_move(files, fd);
			ret = (int)fd;
			break;
		}
		if (mine)
			spin_unlock(&mine->lock);
		spin_unlock(&files->lock);
		ret = expand_files(files, fd);
		if (ret)
			return ret;
	}
	if (held)
		spin_unlock(&held->lock);
	if (mine)
		spin_unlock(&mine->lock);
	files_check(files);
	spin_unlock(&files->lock);
	return ret;
}

/* The usual case, from the hot word, in as few instructions as it can be. */
hot_inline int fd_take_from(struct files_struct *files, unsigned int min,
			    bool cloexec, struct berth_file *content,
			    unsigned int source)
{
	uint64_t hot;
	unsigned int fd;
	bool stale;

	spin_lock(&files->lock);
	hot = files->hot;
	fd = files->hot_base;
	if (unlikely(min > fd || !~hot ||
		     (source != FD_NONE && fd_chunk(files, source)))) {
		spin_unlock(&files->lock);
		return fd_take_slow(files, min, cloexec, content, source);
	}
	fd += (unsigned int)__builtin_ctzll(~hot);
	stale = !still_finds(files, source, content);
	if (unlikely(stale || fd >= load_relaxed(&files->limit))) {
		spin_unlock(&files->lock);
		return stale ? -ESTALE : -EMFILE;
	}
	store_relaxed(&files->hot, hot | (hot + 1));
	bit_assign(fd_cloexec_word(files, fd), fd % BITS_PER_WORD, cloexec);
	/* REL(fd_take:A) pairs with RCU(fd_lookup:A) */
	store_release(fd_slot(files, fd), content);
	files_check(files);
	spin_unlock(&files->lock);
	return (int)fd;
}

int fd_take(struct files_struct *files, unsigned int min, bool cloexec,
	    struct berth_file *content)
{
	return fd_take_from(files, min, cloexec, content, FD_NONE);
}

int fd_take_copy(struct files_struct *files, unsigned int fd, unsigned int min,
		 bool cloexec, struct berth_file *content)
{
	return fd_take_from(files, min, cloexec, content, fd);
}

int alloc_fd(struct files_struct *files, unsigned int min, unsigned int flags)
{
	if (unlikely(flags & BERTH_ANYFD) && min == 0)
		return fd_take_any(files, flags & O_CLOEXEC, FD_RESERVED);
	return fd_take(files, min, flags & O_CLOEXEC, FD_RESERVED);
}

int receive_fd(struct files_struct *files, struct berth_file *file,
	       unsigned int flags)
{
	if (unlikely(flags & BERTH_ANYFD))
		return fd_take_any(files, flags & O_CLOEXEC, file);
	return fd_take(files, 0, flags & O_CLOEXEC, file);
}

bool files_has_room(struct files_struct *files)
{
	struct fd_chunk *held;
	unsigned int fd;

	spin_lock(&files->lock);
	fd = fd_find_free(files, files->hot_base, true, NULL, &held);
	if (held)
		spin_unlock(&held->lock);
	spin_unlock(&files->lock);
	return fd < files_limit(files);
}

void put_unused_fd(struct files_struct *files, unsigned int fd)
{
	struct berth_file **slot = fd_slot(files, fd);
	struct fd_hold hold;
	bool reserved = false;

	if (slot) {
		hold = fd_hold_to_free(files, fd);
		reserved = load_relaxed(slot) == FD_RESERVED;
		if (reserved) {
			store_relaxed(slot, NULL);
			fd_mark_free(files, fd);
		}
		fd_drop(&hold);
	}
	if (!reserved)
		report("unreserve-not-reserved",
		       "the descriptor is not reserved, or was installed");
}

noinline void fd_install_refused(void)
{
	report("install-not-reserved",
	       "the descriptor is not reserved, or was installed before");
}

/* Under the hold of @fd, to free: its slot finds nothing any more. */
static void fd_clear(struct files_struct *files, struct berth_file **slot,
		     unsigned int fd, const struct fd_hold *hold)
{
	fd_own(files, fd);
	/* Relaxed: see close_fd(). */
	store_relaxed(slot, NULL);
	if (likely(!hold->chunk[0] && fd - files->hot_base < BITS_PER_WORD))
		store_relaxed(&files->hot, files->hot & ~bit_mask(fd));
	else
		fd_mark_free(files, fd);
	if (hold->table)
		files_check(files);
}

/*
 * F1: the slot is empty before the reference is dropped, and dropping it is a
 * read-modify-write, so that no processor still holds the old slot in flight
 * when close returns.
 */
int close_fd(struct files_struct *files, unsigned int fd)
{
	struct berth_file **slot = fd_slot(files, fd);
	struct berth_file *content;
	struct fd_hold hold;

	if (unlikely(!slot))
		return -EBADF;
	hold = fd_hold_to_free(files, fd);
	/* ACQ(close_fd:A) pairs with REL(fd_install:A) */
	content = load_acquire(slot);
	if (likely(fd_is_open_slot(content)))
		fd_clear(files, slot, fd, &hold);
	fd_drop(&hold);
	if (unlikely(!fd_is_open_slot(content)))
		return -EBADF;
	return fd_content_close(files, fd, content);
}
