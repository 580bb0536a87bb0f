/* SPDX-License-Identifier: MIT */
/* What is said of numbers and tables: close-on-exec, counts, limits. */
#include <errno.h>

#include "files/files.h"

/*
 * Without the lock, so that it may be asked in a borrow and in a signal handler.
 * While a number changes hands the answer may be the next file's, as on Linux;
 * relaxed: it orders nothing.
 */
int get_close_on_exec(struct files_struct *files, unsigned int fd)
{
	if (!fdget_rcu(files, fd))
		return -EBADF;
	rcu_read_unlock();
	return bit_is_set(fd_cloexec_word(files, fd), fd % BITS_PER_WORD);
}

int set_close_on_exec(struct files_struct *files, unsigned int fd, bool set)
{
	struct berth_file **slot = fd_slot(files, fd);
	struct fd_hold hold;
	int ret = -EBADF;

	if (!slot)
		return -EBADF;
	hold = fd_hold(files, fd);
	if (fd_is_open_slot(load_relaxed(slot))) {
		bit_assign(fd_cloexec_word(files, fd), fd % BITS_PER_WORD, set);
		ret = 0;
	}
	fd_drop(&hold);
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
