/* SPDX-License-Identifier: MIT */
/* The texts of symbolic links.  They never change, so reading takes nothing. */
#include <errno.h>

#include "vfs/namei.h"
#include "vfs/open.h"

/* In a read section, or owned. */
static ssize_t read_target(struct inode *inode, char *buf, size_t size)
{
	size_t length;

	if (!size || !S_ISLNK(inode_mode(inode)))
		return -EINVAL;
	length = inode_size(inode);
	if (length > size)
		length = size;
	memcpy(buf, inode->target, length);
	touch_atime(inode);
	return (ssize_t)length;
}

ssize_t berth_inode_readlink(struct berth_task *task,
			     struct berth_inode *handle, char *buf, size_t size)
{
	(void)task;
	return read_target(inode_of_handle(handle), buf, size);
}

/* In a read section.  An empty path is the link that @fd is a place of. */
static int find_link(struct nameidata *nd, struct berth_task *task, int fd,
		     const char *path)
{
	int ret;

	if (*path)
		return path_walk(nd, task, fd, path, 0);
	ret = inode_of_fd(task, fd, &nd->inode);
	if (!ret && !S_ISLNK(inode_mode(nd->inode)))
		ret = -ENOENT;
	return ret;
}

ssize_t berth_readlinkat(struct berth_task *task, int dirfd, const char *path,
			 char *buf, size_t size)
{
	struct nameidata nd;
	unsigned int tries = 0;
	int found;
	ssize_t ret;

	if (!size)
		return -EINVAL;
	ret = path_check(path);
	if (ret && !(path && !*path))
		return ret;
	rcu_read_lock();
	do {
		/* As RCU(cred_get:A). */
		nd.cred = rcu_dereference(task->cred);
		found = find_link(&nd, task, dirfd, path);
	} while (lookup_pause(found, &tries));
	ret = found ? found : read_target(nd.inode, buf, size);
	rcu_read_unlock();
	return ret;
}

ssize_t berth_readlink(struct berth_task *task, const char *path, char *buf,
		       size_t size)
{
	return berth_readlinkat(task, BERTH_AT_FDCWD, path, buf, size);
}
