/* SPDX-License-Identifier: MIT */
/*
 * Descriptor tables: their birth, growth, copy and end.
 *
 * *Copy as of one instant* (F7).  The copier holds the source's lock, so that
 * the only change that can happen beside it is an install: FD_RESERVED to file,
 * once for each number.  It collects all files that it sees, then looks again
 * at the numbers that were reserved; when none of them has become a file since,
 * all of them were still reserved at the instant between the two looks, at
 * which all those collected were already installed: that is the instant of the
 * copy.  When some have, they join the copy and the rest is looked at again.
 *
 *	ACQ(dup_fd_collect:A) pairs with REL(fd_install:A)
 *
 * is what makes the second look find every install that came before one seen by
 * the first.  What the copy found it owns, or shares: see fd_lease.c.
 */
#include <errno.h>

#include "base/fork.h"
#include "base/report.h"
#include "base/sys.h"
#include "files/files.h"

#define FILES_DEFAULT_LIMIT 1024u

/* Every table, for the fork of the host process. */
static struct files_struct *tables;
static struct mutex tables_lock;

/* ---- Segments ---- */

static unsigned int words(unsigned int bits)
{
	return (bits + BITS_PER_WORD - 1) / BITS_PER_WORD;
}

/* The one place that knows how large segment @k is: born and freed by it. */
static struct bytes segment_bytes(unsigned int k)
{
	unsigned int n = fd_segment_count(k);
	size_t bitmaps = 4 * (size_t)words(n) + words(words(n));

	return bytes_lines(bytes_array(bitmaps * sizeof(uint64_t), n,
				       sizeof(struct berth_file *)));
}

/* A larger one takes memory only when and where it is used. */
#define SEGMENT_MAPPED ((size_t)64 * 1024)

static void segment_free(struct fd_segment *segment, unsigned int k)
{
	struct bytes bytes = segment_bytes(k);

	if (bytes.n < SEGMENT_MAPPED)
		sys_free(segment, bytes);
	else
		sys_unmap(segment, bytes);
}

static struct fd_segment *segment_create(unsigned int k)
{
	struct bytes bytes = segment_bytes(k);

	if (bytes.n < SEGMENT_MAPPED)
		return sys_zalloc_lines(bytes);
	return sys_map(bytes, SYS_PAGE);
}

bool fd_range(struct files_struct *files, unsigned int k,
	      struct fd_range *range)
{
	struct fd_segment *segment;
	unsigned int n;
	uint64_t *open;

	if (k == 0) {
		*range = (struct fd_range){ .count = FD_EMBEDDED,
					    .open = files->open,
					    .cloexec = files->cloexec };
		return true;
	}
	if (k > FD_SEGMENTS)
		return false;
	/* ACQ(fd_range:A) pairs with REL(expand_files:A) */
	segment = load_acquire(&files->segment[k - 1]);
	if (!segment)
		return false;
	n = fd_segment_count(k);
	open = (uint64_t *)(void *)(segment->slot + n);
	*range = (struct fd_range){
		.base = fd_segment_base(k),
		.count = n,
		.open = open,
		.cloexec = open + words(n),
		.lease = (struct fd_lease **)(void *)(open +
						      (size_t)3 * words(n)),
		.full = open + (size_t)4 * words(n),
		.chunk = (struct fd_chunk **)(void *)(open +
						      (size_t)2 * words(n)),
	};
	return true;
}

/*
 * Two growers may race: the first to swap the pointer in wins, the other frees
 * what it made itself, which nobody has seen.
 */
int expand_files(struct files_struct *files, unsigned int fd)
{
	unsigned int k = fd_segment_of(fd);
	struct fd_segment *segment, *none = NULL;

	if (k == 0 || load_relaxed(&files->segment[k - 1]))
		return 0;
	segment = segment_create(k);
	if (!segment)
		return -ENOMEM;
	/* REL(expand_files:A) pairs with ACQ(fd_segment_slot:A),
	 * ACQ(fd_range:A) */
	if (!cas_release(&files->segment[k - 1], &none, segment))
		segment_free(segment, k);
	return 0;
}

/* ---- Birth and end ---- */

static void tables_add(struct files_struct *files)
{
	mutex_lock(&tables_lock);
	files->next = tables;
	files->pprev = &tables;
	if (tables)
		tables->pprev = &files->next;
	tables = files;
	mutex_unlock(&tables_lock);
}

static void tables_remove(struct files_struct *files)
{
	mutex_lock(&tables_lock);
	*files->pprev = files->next;
	if (files->next)
		files->next->pprev = files->pprev;
	mutex_unlock(&tables_lock);
}

static struct bytes files_bytes(void)
{
	return bytes_of(sizeof(struct files_struct));
}

struct files_struct *files_create(void)
{
	struct files_struct *files;

	if (!fork_is_ready())
		return NULL;
	files = sys_zalloc_lines(files_bytes());
	if (!files)
		return NULL;
	spin_init(&files->lock);
	files->limit = FILES_DEFAULT_LIMIT;
	files->maximum = FD_MAX;
	kref_init(&files->users);
	tables_add(files);
	return files;
}

static void files_free(struct files_struct *files)
{
	unsigned int k;

	tables_remove(files);
	fd_any_free(files);
	for (k = 1; k <= FD_SEGMENTS; k++)
		if (files->segment[k - 1])
			segment_free(files->segment[k - 1], k);
	sys_free(files, files_bytes());
}

/* The first number in use at or after @fd in @range; its end when none. */
static unsigned int range_next_open(struct files_struct *files,
				    const struct fd_range *range,
				    unsigned int fd)
{
	unsigned int i = fd - range->base;
	uint64_t ones;

	for (; i < range->count; i = (i / BITS_PER_WORD + 1) * BITS_PER_WORD) {
		ones = load_relaxed(fd_open_word(files, range, i));
		ones &= ~UINT64_C(0) << (i % BITS_PER_WORD);
		if (!ones)
			continue;
		return range->base + i / BITS_PER_WORD * BITS_PER_WORD +
		       (unsigned int)__builtin_ctzll(ones);
	}
	return range->base + range->count;
}

/* The first number from @from on in @range that finds a file, or FD_NONE. */
static unsigned int range_first_file(struct files_struct *files,
				     const struct fd_range *range,
				     unsigned int from)
{
	unsigned int end = range->base + range->count;
	unsigned int fd = from > range->base ? from : range->base;

	for (; (fd = range_next_open(files, range, fd)) < end; fd++)
		/* Relaxed: the caller looks it up again. */
		if (fd_is_open_slot(load_relaxed(fd_slot(files, fd))))
			return fd;
	return FD_NONE;
}

unsigned int fd_next_open(struct files_struct *files, unsigned int from)
{
	unsigned int k, found = FD_NONE;
	struct fd_range range;

	spin_lock(&files->lock);
	for (k = fd_segment_of(from); found == FD_NONE && k < FD_SEGMENTS; k++)
		if (fd_range(files, k, &range))
			found = range_first_file(files, &range, from);
	spin_unlock(&files->lock);
	return found;
}

unsigned int files_size(struct files_struct *files)
{
	unsigned int k = FD_SEGMENTS;

	/* Relaxed: a look that may be late, as any is. */
	while (k && !load_relaxed(&files->segment[k - 1]))
		k--;
	return k ? fd_segment_base(k) + fd_segment_count(k) : FD_EMBEDDED;
}

/* A sole user's count can not grow behind his back: nobody else has the table
 * to be counted in.  (files_next() may, for a moment.) */
bool files_is_shared(const struct files_struct *files)
{
	return kref_read(&files->users) > 1;
}

void files_get(struct files_struct *files)
{
	kref_get(&files->users);
}

/* What the slots of a word find will be used soon. */
static void prefetch_word(struct berth_file **slots, uint64_t open)
{
	for (; open; open &= open - 1)
		prefetch_to_write(fd_detour_to(load_relaxed(&slots[fd_spread(
			(unsigned int)__builtin_ctzll(open))])));
}

/* By the only user: close the 64 numbers from the @i-th of a range on, the lowest
 * first.  What a flush may do to the table meanwhile is seen. */
static bool files_close_word(struct files_struct *files,
			     const struct fd_range *range, unsigned int i)
{
	struct berth_file **slots = fd_slot(files, range->base + i), *content;
	uint64_t *open = fd_open_word(files, range, i);
	unsigned int bit;

	if (!*open)
		return false;
	prefetch_word(slots, *open);
	fd_lease_end(files, range->base + i, open);
	for (; *open; open = fd_open_word(files, range, i)) {
		bit = (unsigned int)__builtin_ctzll(*open);
		/* As ACQ(close_fd:A). */
		content = load_acquire(&slots[fd_spread(bit)]);
		store_relaxed(&slots[fd_spread(bit)], NULL);
		store_relaxed(open, *open & (*open - 1));
		if (fd_is_open_slot(content))
			fd_content_close(files, range->base + i + bit, content);
	}
	return true;
}

void files_put(struct files_struct *files)
{
	struct fd_range range;
	unsigned int k, i;
	bool found;

	if (!kref_put_last(&files->users))
		return;
	/* A flush may open what has been passed already. */
	do {
		found = false;
		for (k = 0; k <= FD_SEGMENTS; k++) {
			if (!fd_range(files, k, &range))
				continue;
			for (i = 0; i < range.count; i += BITS_PER_WORD)
				found |= files_close_word(files, &range, i);
		}
	} while (found);
	files_free(files);
}

/* One whose last user has gone is about to leave the list. */
struct files_struct *files_next(struct files_struct *files)
{
	struct files_struct *next;

	mutex_lock(&tables_lock);
	next = files ? files->next : tables;
	while (next && !kref_get_unless_zero(&next->users))
		next = next->next;
	mutex_unlock(&tables_lock);
	if (files)
		files_put(files);
	return next;
}

/* Relaxed: one word, whose meaning is the user's. */
void files_set_owner(struct files_struct *files, void *owner)
{
	store_relaxed(&files->owner, owner);
}

void *files_owner(const struct files_struct *files)
{
	return load_relaxed(&files->owner);
}

/* ---- Copy ---- */

/*
 * Let the slots of @to hold what those of @from do, if it is a file, for the
 * numbers @open of a word.  Returns them; *@reserved: is any of the rest?
 */
static uint64_t dup_fd_slots(struct berth_file **from, struct berth_file **to,
			     uint64_t open, bool *reserved)
{
	struct berth_file *content;
	uint64_t copied = 0;
	unsigned int i;

	for (; open; open &= open - 1) {
		i = (unsigned int)__builtin_ctzll(open);
		/* ACQ(dup_fd_collect:A) pairs with REL(fd_install:A) */
		content = load_acquire(&from[fd_spread(i)]);
		if (!fd_is_open_slot(content)) {
			*reserved = true;
			continue;
		}
		store_relaxed(&to[fd_spread(i)], content);
		copied |= bit_mask(i);
	}
	return copied;
}

/* The numbers @copied of a word own what they find in a copy. */
static void dup_fd_own(struct berth_file **slots, uint64_t copied)
{
	prefetch_word(slots, copied);
	for (; copied; copied &= copied - 1)
		fd_content_get(slots[fd_spread(
			(unsigned int)__builtin_ctzll(copied))]);
}

/* The same for the word of the @i-th number of a range, where @to lacks it. */
static bool dup_fd_word(struct files_struct *from, struct files_struct *to,
			const struct fd_range *range, struct fd_range *copy,
			unsigned int i, bool *reserved)
{
	unsigned int fd = range->base + i, word = i / BITS_PER_WORD;
	uint64_t *open = fd_open_word(to, copy, i), copied;

	copied = load_relaxed(fd_open_word(from, range, i)) & ~*open;
	if (!copied)
		return false;
	copied = dup_fd_slots(fd_slot(from, fd), fd_slot(to, fd), copied,
			      reserved);
	dup_fd_own(fd_slot(to, fd), copied & ~fd_share(from, to, fd, copied));
	*open |= copied;
	copy->cloexec[word] |= *fd_cloexec_word(from, fd) & copied;
	if (copy->full && !~*open)
		bit_set(copy->full, word);
	return copied != 0;
}

/*
 * Collect what is installed in @from and not yet in @to, a word at a time.
 * Returns whether any was found, so that another look is due; *@reserved:
 * whether there is anything to look for.  Under the locks of @from; @to is ours
 * alone.
 */
static bool dup_fd_collect(struct files_struct *from, struct files_struct *to,
			   bool *reserved)
{
	struct fd_range range, copy;
	unsigned int k, i;
	bool found = false;

	*reserved = false;
	for (k = 0; k <= FD_SEGMENTS; k++) {
		if (!fd_range(from, k, &range) || !fd_range(to, k, &copy))
			continue;
		for (i = 0; i < range.count; i += BITS_PER_WORD)
			found |= dup_fd_word(from, to, &range, &copy, i,
					     reserved);
	}
	return found;
}

/* Does @to have every segment of @from?  The first that it lacks, or 0. */
static unsigned int dup_fd_lacks(struct files_struct *from,
				 struct files_struct *to)
{
	unsigned int k;

	for (k = 1; k <= FD_SEGMENTS; k++)
		if (load_relaxed(&from->segment[k - 1]) && !to->segment[k - 1])
			return k;
	return 0;
}

/* Is most of segment @k in use?  A copy of it gets all its pages at once then,
 * which takes a third of the time. */
static bool segment_is_busy(struct files_struct *files, unsigned int k)
{
	unsigned int i, used = 0;
	struct fd_range range;

	if (segment_bytes(k).n < SEGMENT_MAPPED || !fd_range(files, k, &range))
		return false;
	for (i = 0; i < range.count; i += BITS_PER_WORD)
		used += load_relaxed(fd_open_word(files, &range, i)) != 0;
	return used > range.count / BITS_PER_WORD / 2;
}

struct files_struct *dup_fd(struct files_struct *from)
{
	struct files_struct *to = files_create();
	bool reserved, busy;
	unsigned int k;

	if (!to)
		return NULL;
	fd_hold_all(from);
	while ((k = dup_fd_lacks(from, to)) != 0) {
		busy = segment_is_busy(from, k);
		fd_drop_all(from);
		if (expand_files(to, fd_segment_base(k))) {
			files_put(to);
			return NULL;
		}
		if (busy)
			sys_populate(to->segment[k - 1], segment_bytes(k));
		fd_hold_all(from);
	}
	/* When nothing is reserved the first look is the last. */
	while (dup_fd_collect(from, to, &reserved) && reserved)
		;
	to->limit = load_relaxed(&from->limit);
	to->maximum = load_relaxed(&from->maximum);
	to->close_waits = from->close_waits;
	fd_drop_all(from);
	return to;
}

/* ---- Fork of the host process ---- */

/* No table is being changed at the instant of the fork. */
static void files_quiesce(void)
{
	struct files_struct *files;

	mutex_lock(&tables_lock);
	for (files = tables; files; files = files->next)
		fd_hold_all(files);
}

static void files_resume(bool in_child)
{
	struct files_struct *files;

	(void)in_child;
	for (files = tables; files; files = files->next)
		fd_drop_all(files);
	mutex_unlock(&tables_lock);
}

static const struct fork_handler files_fork = {
	.quiesce = files_quiesce,
	.resume = files_resume,
};

__attribute__((constructor)) static void files_setup(void)
{
	fork_register(FORK_FILES, &files_fork);
}
