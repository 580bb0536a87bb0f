/* SPDX-License-Identifier: MIT */
/*
 * Several numbers for one file.
 *
 * *F5*.  dup2 replaces what a number finds by one store; the file that was
 * there goes, once, to the caller whose store replaced it, for all stores into
 * slots that find a file are under the lock.
 */
#include <errno.h>
#include <fcntl.h>

#include "files/files.h"

int f_dupfd(struct files_struct *files, unsigned int fd, unsigned int min,
	    unsigned int flags)
{
	struct berth_file *file = fget(files, fd);
	int ret = -EINVAL;

	if (!file)
		return -EBADF;
	if (min < files_limit(files))
		ret = alloc_fd(files, min, flags);
	if (ret >= 0)
		fd_install(files, (unsigned int)ret, file);
	else
		fput(file);
	return ret;
}

/* Under the lock: @fd finds @file now; what it found before is the caller's. */
static struct berth_file *fd_give(struct files_struct *files, unsigned int fd,
				  struct berth_file *file, bool cloexec)
{
	struct fd_range range;

	if (!fd_is_open(files, fd)) {
		fd_mark_open(files, fd, cloexec);
	} else {
		fd_range(files, fd_segment_of(fd), &range);
		bit_assign(range.cloexec, fd - range.base, cloexec);
	}
	return fd_publish(files, fd, file);
}

/*
 * Under the lock: let @newfd find what @oldfd finds, if its segment is there.
 * *@replaced is for the caller to close, without the lock.
 */
static int dup_onto(struct files_struct *files, unsigned int oldfd,
		    unsigned int newfd, bool cloexec,
		    struct berth_file **replaced)
{
	struct berth_file **slot = fd_slot(files, oldfd);
	struct berth_file **target = fd_slot(files, newfd);
	struct berth_file *file = NULL;

	/* ACQ(dup_onto:A) pairs with REL(fd_install:A) */
	if (slot)
		file = load_acquire(slot);
	if (!fd_is_file(file))
		return -EBADF;
	if (!target)
		return -ENOMEM;
	if (load_relaxed(target) == FD_RESERVED)
		return -EBUSY;
	get_file(file);
	*replaced = fd_give(files, newfd, file, cloexec);
	files_check(files);
	return (int)newfd;
}

int ksys_dup3(struct files_struct *files, unsigned int oldfd,
	      unsigned int newfd, unsigned int flags)
{
	struct berth_file *replaced = NULL;
	int ret;

	if (flags & ~(unsigned int)O_CLOEXEC)
		return -EINVAL;
	if (oldfd == newfd)
		return -EINVAL;
	if (newfd >= files_limit(files))
		return -EBADF;
	/* When this fails, dup_onto() says so, unless @oldfd is worse. */
	expand_files(files, newfd);
	spin_lock(&files->lock);
	ret = dup_onto(files, oldfd, newfd, flags & O_CLOEXEC, &replaced);
	spin_unlock(&files->lock);
	if (replaced)
		filp_close(replaced, handle_of(files));
	return ret;
}

int ksys_dup2(struct files_struct *files, unsigned int oldfd,
	      unsigned int newfd)
{
	struct berth_file *file;

	if (oldfd != newfd)
		return ksys_dup3(files, oldfd, newfd, 0);
	file = fdget_rcu(files, oldfd);
	if (!file)
		return -EBADF;
	fdput_rcu(file);
	return (int)newfd;
}

/* ---- Other changes of what a number finds ---- */

/* Under the lock: @fd finds nothing any more; its reference is the caller's. */
static void fd_clear(struct files_struct *files, unsigned int fd)
{
	/* Relaxed: the caller's unlock releases it. */
	store_relaxed(fd_slot(files, fd), NULL);
	fd_mark_free(files, fd);
}

bool fd_exchange(struct files_struct *files, unsigned int fd,
		 struct berth_file *old, struct berth_file *file)
{
	struct berth_file **slot = fd_slot(files, fd);
	bool same;

	if (!slot)
		return false;
	spin_lock(&files->lock);
	/* Relaxed: a comparison. */
	same = load_relaxed(slot) == old;
	if (same && file)
		fd_publish(files, fd, file);
	else if (same)
		fd_clear(files, fd);
	files_check(files);
	spin_unlock(&files->lock);
	return same;
}

/* Under the lock: the number @from and its close-on-exec bit become @to. */
static int fd_move(struct files_struct *files, unsigned int from,
		   unsigned int to, struct berth_file **replaced)
{
	struct berth_file **slot = fd_slot(files, from);
	struct berth_file **target = fd_slot(files, to), *file = NULL;

	/* As ACQ(dup_onto:A). */
	if (slot)
		file = load_acquire(slot);
	if (!fd_is_file(file))
		return -EBADF;
	if (!target)
		return -ENOMEM;
	if (load_relaxed(target) == FD_RESERVED)
		return -EBUSY;
	*replaced =
		fd_give(files, to, file, get_close_on_exec(files, from) > 0);
	fd_clear(files, from);
	files_check(files);
	return (int)to;
}

int renumber_fd(struct files_struct *files, unsigned int from, unsigned int to)
{
	struct berth_file *replaced = NULL;
	int ret;

	if (from == to)
		return ksys_dup2(files, from, to);
	if (to >= files_limit(files))
		return -EBADF;
	/* When this fails, fd_move() says so, unless @from is worse. */
	expand_files(files, to);
	spin_lock(&files->lock);
	ret = fd_move(files, from, to, &replaced);
	spin_unlock(&files->lock);
	if (replaced)
		filp_close(replaced, handle_of(files));
	return ret;
}
