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

/* ---- Bits, under the lock ---- */

bool fd_is_open(struct files_struct *files, unsigned int fd)
{
	struct fd_range range;

	return fd_range(files, fd_segment_of(fd), &range) &&
	       (load_relaxed(fd_open_word(files, &range, fd - range.base)) &
		bit_mask(fd));
}

/* Write the hot word to its place in the bitmap, where a search finds it. */
static void hot_sync(struct files_struct *files)
{
	unsigned int base = files->hot_base, word;
	struct fd_range range;

	if (!fd_range(files, fd_segment_of(base), &range))
		return;
	word = (base - range.base) / BITS_PER_WORD;
	store_relaxed(&range.open[word], files->hot);
	if (range.full)
		bit_assign(range.full, word, !~files->hot);
}

/* Let the word of @fd be the hot one. */
static void hot_move(struct files_struct *files, unsigned int fd)
{
	struct fd_range range;

	hot_sync(files);
	if (!fd_range(files, fd_segment_of(fd), &range))
		return;
	store_relaxed(
		&files->hot,
		load_relaxed(&range.open[(fd - range.base) / BITS_PER_WORD]));
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
	bit_assign(range.cloexec, i, cloexec);
	if (range.full && !~load_relaxed(word))
		bit_set(range.full, i / BITS_PER_WORD);
}

void fd_mark_free(struct files_struct *files, unsigned int fd)
{
	struct fd_range range;
	unsigned int i;
	uint64_t *word;

	if (!fd_range(files, fd_segment_of(fd), &range))
		return;
	i = fd - range.base;
	word = fd_open_word(files, &range, i);
	store_relaxed(word, load_relaxed(word) & ~bit_mask(fd));
	if (range.full)
		bit_assign(range.full, i / BITS_PER_WORD, false);
	if (fd < files->hot_base)
		hot_move(files, fd);
}

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

unsigned int fd_next_free(struct files_struct *files, unsigned int min)
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

struct berth_file *fd_publish(struct files_struct *files, unsigned int fd,
			      struct berth_file *file)
{
	struct berth_file **slot = fd_slot(files, fd);
	struct berth_file *old;

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

	invariant(base % BITS_PER_WORD == 0);
	invariant(fd_range(files, fd_segment_of(base), &range));
	word_check(files, base, files->hot);
	if (base) {
		base -= BITS_PER_WORD;
		invariant(fd_range(files, fd_segment_of(base), &range));
		word_check(files, base, ~UINT64_C(0));
	}
}
#endif

/* ---- Reserve, unreserve, close ---- */

/* The word of close-on-exec bits of a number whose segment is there. */
static uint64_t *fd_cloexec_word(struct files_struct *files, unsigned int fd)
{
	struct fd_range range;
	uint64_t *words = files->cloexec;

	if (likely(fd < FD_EMBEDDED))
		return words;
	fd_range(files, fd_segment_index(fd), &range);
	words = range.cloexec;
	return words + (fd - range.base) / BITS_PER_WORD;
}

static bool segment_missing(struct files_struct *files, unsigned int fd)
{
	return fd >= FD_EMBEDDED &&
	       !load_relaxed(&files->segment[fd_segment_index(fd) - 1]);
}

/*
 * Take the lowest free number from @min on: its slot becomes @content.  A
 * missing segment is made without the lock, for that takes time.
 */
static noinline int fd_take_slow(struct files_struct *files, unsigned int min,
				 bool cloexec, struct berth_file *content)
{
	unsigned int fd;
	int ret;

	for (;;) {
		spin_lock(&files->lock);
		fd = min > files->hot_base ? min : files->hot_base;
		if (fd < FD_MAX)
			fd = fd_next_free(files, fd);
		ret = -EMFILE;
		if (fd >= load_relaxed(&files->limit))
			break;
		if (!segment_missing(files, fd)) {
			fd_mark_open(files, fd, cloexec);
			fd_publish(files, fd, content);
			if (min <= files->hot_base)
				hot_move(files, fd);
			ret = (int)fd;
			files_check(files);
			break;
		}
		spin_unlock(&files->lock);
		ret = expand_files(files, fd);
		if (ret)
			return ret;
	}
	spin_unlock(&files->lock);
	return ret;
}

/* The usual case, from the hot word, in as few instructions as it can be. */
static int fd_take(struct files_struct *files, unsigned int min, bool cloexec,
		   struct berth_file *content)
{
	uint64_t hot;
	unsigned int fd;

	spin_lock(&files->lock);
	hot = files->hot;
	fd = files->hot_base;
	if (unlikely(min > fd || !~hot)) {
		spin_unlock(&files->lock);
		return fd_take_slow(files, min, cloexec, content);
	}
	fd += (unsigned int)__builtin_ctzll(~hot);
	if (unlikely(fd >= load_relaxed(&files->limit))) {
		spin_unlock(&files->lock);
		return -EMFILE;
	}
	store_relaxed(&files->hot, hot | (hot + 1));
	bit_assign(fd_cloexec_word(files, fd), fd % BITS_PER_WORD, cloexec);
	/* REL(fd_take:A) pairs with RCU(fd_lookup:A) */
	store_release(fd_slot(files, fd), content);
	files_check(files);
	spin_unlock(&files->lock);
	return (int)fd;
}

int alloc_fd(struct files_struct *files, unsigned int min, unsigned int flags)
{
	return fd_take(files, min, flags & O_CLOEXEC, FD_RESERVED);
}

int receive_fd(struct files_struct *files, struct berth_file *file,
	       unsigned int flags)
{
	return fd_take(files, 0, flags & O_CLOEXEC, file);
}

bool files_has_room(struct files_struct *files)
{
	bool room;

	spin_lock(&files->lock);
	room = fd_next_free(files, files->hot_base) < files_limit(files);
	spin_unlock(&files->lock);
	return room;
}

void put_unused_fd(struct files_struct *files, unsigned int fd)
{
	struct berth_file **slot = fd_slot(files, fd);
	bool reserved;

	spin_lock(&files->lock);
	reserved = slot && load_relaxed(slot) == FD_RESERVED;
	if (reserved) {
		store_relaxed(slot, NULL);
		fd_mark_free(files, fd);
	}
	files_check(files);
	spin_unlock(&files->lock);
	if (!reserved)
		report("unreserve-not-reserved",
		       "the descriptor is not reserved, or was installed");
}

noinline void fd_install_refused(void)
{
	report("install-not-reserved",
	       "the descriptor is not reserved, or was installed before");
}

/*
 * F1: the slot is empty before the reference is dropped, and dropping it is a
 * read-modify-write, so that no processor still holds the old slot in flight
 * when close returns.
 */
int close_fd(struct files_struct *files, unsigned int fd)
{
	struct berth_file **slot = fd_slot(files, fd);
	struct berth_file *file;

	if (unlikely(!slot))
		return -EBADF;
	spin_lock(&files->lock);
	/* ACQ(close_fd:A) pairs with REL(fd_install:A) */
	file = load_acquire(slot);
	if (unlikely(!fd_is_file(file))) {
		spin_unlock(&files->lock);
		return -EBADF;
	}
	store_relaxed(slot, NULL);
	if (likely(fd - files->hot_base < BITS_PER_WORD))
		store_relaxed(&files->hot, files->hot & ~bit_mask(fd));
	else
		fd_mark_free(files, fd);
	files_check(files);
	spin_unlock(&files->lock);
	return filp_close(file, handle_of(files));
}

/* ---- Close-on-exec, count, limit ---- */

/*
 * Without the lock, so that it may be asked in a borrow and in a signal handler.
 * While a number changes hands the answer may be the next file's, as on Linux;
 * relaxed: it orders nothing.
 */
int get_close_on_exec(struct files_struct *files, unsigned int fd)
{
	struct berth_file **slot = fd_slot(files, fd);
	struct fd_range range;

	if (!slot || !fd_is_file(load_relaxed(slot)))
		return -EBADF;
	/* The range is there, for the slot is. */
	fd_range(files, fd_segment_of(fd), &range);
	return bit_is_set(range.cloexec, fd - range.base);
}

int set_close_on_exec(struct files_struct *files, unsigned int fd, bool set)
{
	struct fd_range range;
	int ret = -EBADF;

	if (fd >= FD_MAX)
		return -EBADF;
	spin_lock(&files->lock);
	if (fd_range(files, fd_segment_of(fd), &range) &&
	    fd_is_file(load_relaxed(fd_slot(files, fd)))) {
		bit_assign(range.cloexec, fd - range.base, set);
		ret = 0;
	}
	spin_unlock(&files->lock);
	return ret;
}

unsigned int files_count(struct files_struct *files)
{
	struct fd_range range;
	unsigned int k, i, count = 0;

	spin_lock(&files->lock);
	for (k = 0; k <= FD_SEGMENTS; k++) {
		if (!fd_range(files, k, &range))
			continue;
		for (i = 0; i < range.count / BITS_PER_WORD; i++)
			count += (unsigned int)__builtin_popcountll(
				load_relaxed(fd_open_word(files, &range,
							  i * BITS_PER_WORD)));
	}
	spin_unlock(&files->lock);
	return count;
}

int files_set_limit(struct files_struct *files, unsigned int limit)
{
	int ret = -EPERM;

	spin_lock(&files->lock);
	if (limit <= files->maximum) {
		store_relaxed(&files->limit, limit);
		ret = 0;
	}
	spin_unlock(&files->lock);
	return ret;
}

unsigned int files_limit(const struct files_struct *files)
{
	return load_relaxed(&files->limit);
}

/* The limit never exceeds the maximum, for both change under the lock. */
int files_set_maximum(struct files_struct *files, unsigned int maximum)
{
	int ret = -EPERM;

	spin_lock(&files->lock);
	if (maximum <= files->maximum) {
		store_relaxed(&files->maximum, maximum);
		if (files->limit > maximum)
			store_relaxed(&files->limit, maximum);
		ret = 0;
	}
	spin_unlock(&files->lock);
	return ret;
}

unsigned int files_maximum(const struct files_struct *files)
{
	return load_relaxed(&files->maximum);
}
