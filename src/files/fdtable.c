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
 * the first.
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
	size_t bitmaps = 3 * (size_t)words(n) + words(words(n));

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
		.full = open + (size_t)3 * words(n),
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

/* Iterate over the numbers in use; under the lock, or by the only user. */
#define for_each_fd_in_use(files, k, range, fd)                        \
	for ((k) = 0; (k) <= FD_SEGMENTS; (k)++)                       \
		if (fd_range((files), (k), &(range)))                  \
			for ((fd) = range_next_open((files), &(range), \
						    (range).base);     \
			     (fd) < (range).base + (range).count;      \
			     (fd) = range_next_open((files), &(range), \
						    (fd) + 1))

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

void files_get(struct files_struct *files)
{
	kref_get(&files->users);
}

void files_put(struct files_struct *files)
{
	struct fd_range range;
	unsigned int k, fd;

	if (!kref_put_last(&files->users))
		return;
	for_each_fd_in_use(files, k, range, fd) close_fd(files, fd);
	files_free(files);
}

/* ---- Copy ---- */

/*
 * Collect what is installed in @from and not yet in @to.  Returns whether any
 * was found, so that another look is due; *@reserved: whether there is anything
 * to look for.  Under the lock of @from; @to is ours alone.
 */
static bool dup_fd_collect(struct files_struct *from, struct files_struct *to,
			   bool *reserved)
{
	struct fd_range range;
	struct berth_file *file;
	unsigned int k, fd;
	bool found = false;

	*reserved = false;

	for_each_fd_in_use(from, k, range, fd)
	{
		if (fd_is_open(to, fd))
			continue;
		/* ACQ(dup_fd_collect:A) pairs with REL(fd_install:A) */
		file = load_acquire(fd_slot(from, fd));
		if (!fd_is_open_slot(file)) {
			*reserved = true;
			continue;
		}
		fd_content_get(file);
		fd_mark_open(to, fd,
			     bit_is_set(fd_cloexec_word(from, fd),
					fd % BITS_PER_WORD));
		store_relaxed(fd_slot(to, fd), file);
		found = true;
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

struct files_struct *dup_fd(struct files_struct *from)
{
	struct files_struct *to = files_create();
	unsigned int k;
	bool reserved;

	if (!to)
		return NULL;
	fd_hold_all(from);
	while ((k = dup_fd_lacks(from, to)) != 0) {
		fd_drop_all(from);
		if (expand_files(to, fd_segment_base(k))) {
			files_put(to);
			return NULL;
		}
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
