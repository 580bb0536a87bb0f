/* SPDX-License-Identifier: MIT */
/*
 * Numbers: the lowest free one, its reservation, its close.
 *
 * *F4*.  All bits are read and set under files->lock, so the number that
 * alloc_fd() takes is the lowest free one at the instant of the taking.
 *
 * next_fd is a hint that errs in one direction only: no number below it is
 * free.
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
	       bit_is_set(range.open, fd - range.base);
}

static void range_mark_open(const struct fd_range *range, unsigned int i,
			    bool cloexec)
{
	bit_set(range->open, i);
	bit_assign(range->cloexec, i, cloexec);
	if (range->full && !~load_relaxed(&range->open[i / BITS_PER_WORD]))
		bit_set(range->full, i / BITS_PER_WORD);
}

void fd_mark_open(struct files_struct *files, unsigned int fd, bool cloexec)
{
	struct fd_range range;

	if (!fd_range(files, fd_segment_of(fd), &range))
		return;
	range_mark_open(&range, fd - range.base, cloexec);
	store_relaxed(&files->count, files->count + 1);
}

void fd_mark_free(struct files_struct *files, unsigned int fd)
{
	struct fd_range range;

	if (!fd_range(files, fd_segment_of(fd), &range))
		return;
	bit_clear(range.open, fd - range.base);
	if (range.full)
		bit_assign(range.full, (fd - range.base) / BITS_PER_WORD,
			   false);
	if (fd < files->next_fd)
		files->next_fd = fd;
	store_relaxed(&files->count, files->count - 1);
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
	struct berth_file *old = load_relaxed(slot);

	/* REL(fd_publish:A) pairs with RCU(fd_lookup:A) */
	store_release(slot, file);
	return old;
}

/* ---- Reserve, unreserve, close ---- */

static bool segment_missing(struct files_struct *files, unsigned int fd)
{
	return fd >= FD_EMBEDDED &&
	       !load_relaxed(&files->segment[fd_segment_index(fd) - 1]);
}

int alloc_fd(struct files_struct *files, unsigned int min, unsigned int flags)
{
	unsigned int fd;
	int ret;

	spin_lock(&files->lock);
	for (;;) {
		fd = min > files->next_fd ? min : files->next_fd;
		if (fd < FD_MAX)
			fd = fd_next_free(files, fd);
		ret = -EMFILE;
		if (unlikely(fd >= load_relaxed(&files->limit)))
			break;
		if (likely(!segment_missing(files, fd))) {
			fd_mark_open(files, fd, flags & O_CLOEXEC);
			store_relaxed(fd_slot(files, fd), FD_RESERVED);
			if (min <= files->next_fd)
				files->next_fd = fd + 1;
			ret = (int)fd;
			break;
		}
		/* Growing takes time: not under the lock. */
		spin_unlock(&files->lock);
		ret = expand_files(files, fd);
		if (ret)
			return ret;
		spin_lock(&files->lock);
	}
	spin_unlock(&files->lock);
	return ret;
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
	file = load_relaxed(slot);
	if (unlikely(!fd_is_file(file))) {
		spin_unlock(&files->lock);
		return -EBADF;
	}
	store_relaxed(slot, NULL);
	fd_mark_free(files, fd);
	spin_unlock(&files->lock);
	return filp_close(file, handle_of(files));
}

/* ---- Close-on-exec, count, limit ---- */

int get_close_on_exec(struct files_struct *files, unsigned int fd)
{
	struct fd_range range;
	int ret = -EBADF;

	if (fd >= FD_MAX)
		return -EBADF;
	spin_lock(&files->lock);
	if (fd_range(files, fd_segment_of(fd), &range) &&
	    fd_is_file(load_relaxed(fd_slot(files, fd))))
		ret = bit_is_set(range.cloexec, fd - range.base);
	spin_unlock(&files->lock);
	return ret;
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
	return load_relaxed(&files->count);
}

int files_set_limit(struct files_struct *files, unsigned int limit)
{
	if (limit > FD_MAX)
		return -EPERM;
	store_relaxed(&files->limit, limit);
	return 0;
}

unsigned int files_limit(const struct files_struct *files)
{
	return load_relaxed(&files->limit);
}

/* ---- Exported ---- */

int berth_files_reserve(struct berth_files *files, int min, unsigned int flags)
{
	if (min < 0 || (flags & ~(unsigned int)O_CLOEXEC))
		return -EINVAL;
	return alloc_fd(table_of(files), (unsigned int)min, flags);
}

void berth_files_unreserve(struct berth_files *files, int fd)
{
	put_unused_fd(table_of(files), (unsigned int)fd);
}

void berth_files_install(struct berth_files *files, int fd,
			 struct berth_file *file)
{
	fd_install(table_of(files), (unsigned int)fd, file);
}

struct berth_file *berth_files_get(struct berth_files *files, int fd)
{
	return fget(table_of(files), (unsigned int)fd);
}

struct berth_file *berth_files_borrow(struct berth_files *files, int fd)
{
	return fdget_rcu(table_of(files), (unsigned int)fd);
}

void berth_files_return(struct berth_file *file)
{
	fdput_rcu(file);
}

int berth_files_close(struct berth_files *files, int fd)
{
	int ret = close_fd(table_of(files), (unsigned int)fd);

	rcu_poll();
	return ret;
}

int berth_files_getfd(struct berth_files *files, int fd)
{
	int ret = get_close_on_exec(table_of(files), (unsigned int)fd);

	return ret > 0 ? FD_CLOEXEC : ret;
}

int berth_files_setfd(struct berth_files *files, int fd, int fdflags)
{
	return set_close_on_exec(table_of(files), (unsigned int)fd,
				 fdflags & FD_CLOEXEC);
}

unsigned int berth_files_count(struct berth_files *files)
{
	return files_count(table_of(files));
}

int berth_files_set_limit(struct berth_files *files, unsigned int limit)
{
	return files_set_limit(table_of(files), limit);
}

unsigned int berth_files_limit(const struct berth_files *files)
{
	return files_limit(table_of(files));
}
