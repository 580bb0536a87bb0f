/* SPDX-License-Identifier: MIT */
/* Working directories, and the path of a directory. */
#include <errno.h>

#include "vfs/namei.h"
#include "vfs/open.h"

/* The owned @dir becomes where the task works; the former one is put. */
static int task_dir_set(struct berth_task *task, struct inode *dir,
			const struct cred *cred)
{
	int ret = -ENOTDIR;

	if (dir->vfs != task->vfs)
		ret = -EXDEV;
	else if (inode_is_dir(dir))
		ret = inode_permission(dir, cred, MAY_EXEC);
	if (!ret) {
		/* REL(task_dir_set:A) pairs with RCU(task_dir_get:A) */
		dir = swap_acq_rel(&task->cwd, dir);
	}
	iput(dir);
	rcu_poll();
	return ret;
}

int berth_chdir(struct berth_task *task, const char *path)
{
	struct cred *cred = cred_get(task);
	struct inode *dir;
	int ret;

	ret = inode_get(task, cred, BERTH_AT_FDCWD, path, WALK_FOLLOW, false,
			&dir);
	if (!ret)
		ret = task_dir_set(task, dir, cred);
	cred_put(cred);
	return ret;
}

int berth_fchdir(struct berth_task *task, int fd)
{
	struct file *file = vfs_get(task, fd, 0);
	struct cred *cred;
	int ret;

	if (!file)
		return -EBADF;
	cred = cred_get(task);
	ihold(file->inode);
	ret = task_dir_set(task, file->inode, cred);
	cred_put(cred);
	fput(&file->base);
	rcu_poll();
	return ret;
}

/*
 * In a read section: write the path of @dir below @root to the end of @buf;
 * returns its length with the NUL byte, or -ENOENT.  Too long a path is told by
 * a length above @size.
 */
static ssize_t path_of_dir(struct inode *dir, struct inode *root, char *buf,
			   size_t size)
{
	struct dentry *self;
	size_t len = 1;

	if (size)
		buf[size - 1] = '\0';
	while (dir != root) {
		/* RCU(path_of_dir:A) pairs with REL(dir_set_self:A) */
		self = rcu_dereference(dir->dir.self);
		if (!self || load_relaxed(&dir->nlink) == 0)
			return -ENOENT;
		len += self->len + 1u;
		if (len <= size) {
			buf[size - len] = '/';
			memcpy(buf + size - len + 1, self->name, self->len);
		}
		/* As RCU(dir_step:A). */
		dir = rcu_dereference(dir->dir.parent);
	}
	if (len == 1 && ++len <= size)
		buf[size - len] = '/';
	return (ssize_t)len;
}

ssize_t berth_getcwd(struct berth_task *task, char *buf, size_t size)
{
	struct berth_vfs *vfs = task->vfs;
	struct inode *cwd, *root;
	uint32_t seq;
	ssize_t len;

	rcu_read_lock();
	/* As RCU(task_dir_get:A). */
	root = rcu_dereference(task->root);
	/* As RCU(task_dir_get:A). */
	cwd = rcu_dereference(task->cwd);
	do {
		seq = seq_read_begin(&vfs->rename_seq);
		len = path_of_dir(cwd, root, buf, size);
	} while (seq_read_retry(&vfs->rename_seq, seq));
	rcu_read_unlock();
	if (len < 0)
		return len;
	if ((size_t)len > size)
		return -ERANGE;
	memmove(buf, buf + size - (size_t)len, (size_t)len);
	return len;
}
