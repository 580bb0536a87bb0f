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
	struct berth_file *content;
	int ret;

	do {
		content = fget_content(files, fd);
		if (!content)
			return -EBADF;
		ret = -EINVAL;
		if (min < files_limit(files))
			ret = fd_take_copy(files, fd, min, flags & O_CLOEXEC,
					   content);
		if (ret < 0)
			fd_content_put(content);
	} while (ret == -ESTALE);
	return ret;
}

/*
 * Under the hold of both: let @newfd find what @oldfd finds, if its segment is
 * there.  *@replaced is for the caller to close, without the hold.
 */
static int dup_onto(struct files_struct *files, unsigned int oldfd,
		    unsigned int newfd, bool cloexec,
		    struct berth_file **replaced)
{
	struct berth_file **slot = fd_slot(files, oldfd);
	struct berth_file **target = fd_slot(files, newfd);
	struct berth_file *content = NULL;

	/* ACQ(dup_onto:A) pairs with REL(fd_install:A) */
	if (slot)
		content = load_acquire(slot);
	if (!fd_is_open_slot(content))
		return -EBADF;
	if (!target)
		return -ENOMEM;
	if (load_relaxed(target) == FD_RESERVED)
		return -EBUSY;
	fd_content_get(content);
	fd_mark_open(files, newfd, cloexec);
	*replaced = fd_publish(files, newfd, content);
	return (int)newfd;
}

int ksys_dup3(struct files_struct *files, unsigned int oldfd,
	      unsigned int newfd, unsigned int flags)
{
	struct berth_file *replaced = NULL;
	struct fd_hold hold;
	int ret;

	if (flags & ~(unsigned int)O_CLOEXEC)
		return -EINVAL;
	if (oldfd == newfd)
		return -EINVAL;
	if (newfd >= files_limit(files))
		return -EBADF;
	/* When this fails, dup_onto() says so, unless @oldfd is worse. */
	expand_files(files, newfd);
	hold = fd_hold_two(files, oldfd, newfd);
	ret = dup_onto(files, oldfd, newfd, flags & O_CLOEXEC, &replaced);
	files_check(files);
	fd_drop(&hold);
	if (replaced)
		fd_content_close(files, newfd, replaced);
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

/* ---- Exchange ---- */

/* Under the hold of @fd, which finds @old and is to find @file from now on. */
static void fd_give(struct files_struct *files, unsigned int fd,
		    struct berth_file *file)
{
	if (file) {
		fd_publish(files, fd, file);
		return;
	}
	fd_own(files, fd);
	/* Relaxed: see close_fd(). */
	store_relaxed(fd_slot(files, fd), NULL);
	fd_mark_free(files, fd);
}

bool fd_exchange(struct files_struct *files, unsigned int fd,
		 struct berth_file *old, struct berth_file *file)
{
	struct berth_file **slot = fd_slot(files, fd), *content;
	struct fd_hold hold;
	bool same;

	if (!slot)
		return false;
	hold = fd_hold_to_free(files, fd);
	/* As ACQ(dup_onto:A). */
	content = load_acquire(slot);
	same = fd_is_open_slot(content) && fd_file_of(content) == old;
	if (same)
		fd_give(files, fd, file);
	fd_drop(&hold);
	if (!same)
		return false;
	fd_limited_put(content);
	return true;
}
