/* SPDX-License-Identifier: MIT */
/* What is done to a descriptor that is open: close, dup, fcntl. */
#include <errno.h>
#include <fcntl.h>

#include "vfs/open.h"

/* Since Linux 6.10; the C library may not know it yet. */
#ifndef F_DUPFD_QUERY
#define F_DUPFD_QUERY 1027
#endif

int berth_close(struct berth_task *task, int fd)
{
	int ret = close_fd(task->files, (unsigned int)fd);

	rcu_poll();
	return ret;
}

int berth_dup(struct berth_task *task, int fd)
{
	return berth_files_dup(handle_of(task->files), fd);
}

int berth_dup2(struct berth_task *task, int oldfd, int newfd)
{
	return berth_files_dup2(handle_of(task->files), oldfd, newfd);
}

int berth_dup3(struct berth_task *task, int oldfd, int newfd,
	       unsigned int flags)
{
	return berth_files_dup3(handle_of(task->files), oldfd, newfd, flags);
}

/* Where the table becomes another one the task must be the caller's alone. */
int berth_close_range(struct berth_task *task, unsigned int first,
		      unsigned int last, unsigned int flags)
{
	struct berth_files *files = handle_of(task->files);
	int ret = berth_files_close_range(&files, first, last, flags);

	if (table_of(files) != task->files)
		task->files = table_of(files);
	return ret;
}

int berth_task_unshare_files(struct berth_task *task)
{
	struct berth_files *files = handle_of(task->files);
	int ret = berth_files_unshare(&files);

	if (table_of(files) != task->files)
		task->files = table_of(files);
	return ret;
}

static int setfl_check(struct berth_task *task, const struct file *file,
		       unsigned int old, unsigned int flags)
{
	if (!(file->fmode & FMODE_OPEN))
		return -EBADF;
	if (!(flags & ~old & O_NOATIME))
		return 0;
	/* As RCU(cred_get:A). */
	return inode_owner_or_capable(file->inode, rcu_dereference(task->cred))
		       ? 0
		       : -EPERM;
}

static int setfl(struct berth_task *task, int fd, unsigned int flags)
{
	struct file *file = vfs_borrow(task, fd, 0);
	unsigned int old, mask;
	int ret;

	if (!file)
		return -EBADF;
	mask = file_setfl_mask(&file->base);
	/* Relaxed: one word, which orders nothing. */
	old = load_relaxed(&file->base.flags);
	do {
		ret = setfl_check(task, file, old, flags);
	} while (!ret && !cas_relaxed(&file->base.flags, &old,
				      (old & ~mask) | (flags & mask)));
	vfs_return(file);
	return ret;
}

/* A place is not even asked. */
static int fcntl_unknown(struct berth_task *task, int fd)
{
	struct file *file = vfs_borrow(task, fd, FMODE_OPEN);

	if (!file)
		return -EBADF;
	vfs_return(file);
	return -EINVAL;
}

int berth_fcntl(struct berth_task *task, int fd, int cmd, long arg)
{
	struct berth_files *files = handle_of(task->files);

	switch (cmd) {
	case F_DUPFD:
		return berth_files_dupfd(files, fd, (int)arg, 0);
	case F_DUPFD_CLOEXEC:
		return berth_files_dupfd(files, fd, (int)arg, O_CLOEXEC);
	case F_DUPFD_QUERY:
		return berth_files_same(files, fd, (int)arg);
	case F_GETFD:
		return berth_files_getfd(files, fd);
	case F_SETFD:
		return berth_files_setfd(files, fd, (int)arg);
	case F_GETFL:
		return berth_files_getfl(files, fd);
	case F_SETFL:
		return setfl(task, fd, (unsigned int)arg);
	default:
		return fcntl_unknown(task, fd);
	}
}
