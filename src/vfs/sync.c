/* SPDX-License-Identifier: MIT */
/*
 * fsync and its family.
 *
 * A write is seen by everybody when it returns, and there is no disk: what is
 * left to do is to tell bad arguments.
 */
#include <errno.h>
#include <fcntl.h>

#include "vfs/open.h"

#define SYNC_RANGE_KNOWN                                                      \
	((unsigned int)(SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | \
			SYNC_FILE_RANGE_WAIT_AFTER))

static int open_for_real(struct berth_task *task, int fd)
{
	struct file *file = vfs_borrow(task, fd, FMODE_OPEN);

	if (!file)
		return -EBADF;
	vfs_return(file);
	return 0;
}

int berth_fsync(struct berth_task *task, int fd)
{
	return open_for_real(task, fd);
}

int berth_fdatasync(struct berth_task *task, int fd)
{
	return open_for_real(task, fd);
}

int berth_syncfs(struct berth_task *task, int fd)
{
	return open_for_real(task, fd);
}

void berth_sync(struct berth_task *task)
{
	(void)task;
}

int berth_sync_file_range(struct berth_task *task, int fd, int64_t offset,
			  int64_t count, unsigned int flags)
{
	int ret = open_for_real(task, fd);

	if (ret)
		return ret;
	if ((flags & ~SYNC_RANGE_KNOWN) || offset < 0 || count < 0 ||
	    offset > INT64_MAX - count)
		return -EINVAL;
	return 0;
}
