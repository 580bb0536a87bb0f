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
	struct fd_range range;

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
	if (!fd_is_open(files, newfd)) {
		fd_mark_open(files, newfd, cloexec);
	} else {
		fd_range(files, fd_segment_of(newfd), &range);
		bit_assign(range.cloexec, newfd - range.base, cloexec);
	}
	*replaced = fd_publish(files, newfd, file);
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

/* ---- Exported ---- */

int berth_files_dup(struct berth_files *files, int fd)
{
	int ret = f_dupfd(table_of(files), (unsigned int)fd, 0, 0);

	rcu_poll();
	/* Here no number was asked for that could be wrong. */
	return ret == -EINVAL ? -EMFILE : ret;
}

int berth_files_dupfd(struct berth_files *files, int fd, int min,
		      unsigned int flags)
{
	int ret;

	if (flags & ~(unsigned int)O_CLOEXEC)
		return -EINVAL;
	ret = f_dupfd(table_of(files), (unsigned int)fd, (unsigned int)min,
		      flags);
	rcu_poll();
	return ret;
}

int berth_files_dup2(struct berth_files *files, int oldfd, int newfd)
{
	int ret = ksys_dup2(table_of(files), (unsigned int)oldfd,
			    (unsigned int)newfd);

	rcu_poll();
	return ret;
}

int berth_files_dup3(struct berth_files *files, int oldfd, int newfd,
		     unsigned int flags)
{
	int ret = ksys_dup3(table_of(files), (unsigned int)oldfd,
			    (unsigned int)newfd, flags);

	rcu_poll();
	return ret;
}
