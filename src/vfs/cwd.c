/* SPDX-License-Identifier: MIT */
/* Working and root directories, and the path of a directory. */
#include <errno.h>

#include "vfs/namei.h"
#include "vfs/open.h"

/* May the task work in @dir? */
static int may_chdir(const struct berth_task *task, const struct inode *dir,
		     const struct cred *cred)
{
	if (dir->vfs != task->vfs)
		return -EXDEV;
	if (!inode_is_dir(dir))
		return -ENOTDIR;
	return inode_permission(dir, cred, MAY_EXEC);
}

/* The owned @dir gets into one of the task's places, and what was there is put;
 * unless @ret is an error. */
static int task_dir_set(struct inode **place, struct inode *dir, int ret)
{
	if (!ret) {
		/* REL(task_dir_set:A) pairs with RCU(task_dir_get:A) */
		dir = swap_acq_rel(place, dir);
	}
	iput(dir);
	rcu_poll();
	return ret;
}

/* Change one of the task's places to what @path leads to. */
static int task_dir_change(struct berth_task *task, struct inode **place,
			   const char *path, bool privileged)
{
	struct cred *cred = cred_get(task);
	struct inode *dir;
	int ret;

	ret = inode_get(task, cred, BERTH_AT_FDCWD, path, WALK_FOLLOW, false,
			&dir);
	if (ret)
		goto out_put_cred;
	ret = may_chdir(task, dir, cred);
	if (!ret && privileged && !cred_overrides(cred))
		ret = -EPERM;
	ret = task_dir_set(place, dir, ret);
out_put_cred:
	cred_put(cred);
	return ret;
}

int berth_chdir(struct berth_task *task, const char *path)
{
	return task_dir_change(task, &task->cwd, path, false);
}

int berth_chroot(struct berth_task *task, const char *path)
{
	return task_dir_change(task, &task->root, path, true);
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
	ret = task_dir_set(&task->cwd, file->inode,
			   may_chdir(task, file->inode, cred));
	cred_put(cred);
	fput(&file->base);
	rcu_poll();
	return ret;
}

/* A path that grows from its end; what does not fit is counted only. */
struct path_buffer {
	char *buf;
	size_t size;
	size_t len;
};

static void path_prepend(struct path_buffer *path, const char *text, size_t n)
{
	path->len += n;
	if (path->len <= path->size)
		memcpy(path->buf + path->size - path->len, text, n);
}

/*
 * In a read section: the path of @dir below @root, with its NUL byte.  Above a
 * root that is not met there is the instance's own, where the path ends.
 */
static int path_of_dir(struct inode *dir, struct inode *root,
		       struct path_buffer *path)
{
	static const char unreachable[] = "(unreachable)";
	struct dentry *self;

	path->len = 0;
	path_prepend(path, "", 1);
	while (dir != root && dir != dir->vfs->root) {
		/* RCU(path_of_dir:A) pairs with REL(dir_set_self:A) */
		self = rcu_dereference(dir->dir.self);
		if (!self || load_relaxed(&dir->nlink) == 0)
			return -ENOENT;
		path_prepend(path, self->name, self->len);
		path_prepend(path, "/", 1);
		/* As RCU(dir_parent:A). */
		dir = rcu_dereference(dir->dir.parent);
	}
	if (path->len == 1)
		path_prepend(path, "/", 1);
	if (dir != root)
		path_prepend(path, unreachable, sizeof(unreachable) - 1);
	return 0;
}

/* In a read section; LOOKUP_AGAIN as d_lookup(). */
static int path_of_cwd(struct berth_task *task, struct path_buffer *path)
{
	/* As RCU(task_dir_get:A). */
	struct inode *root = rcu_dereference(task->root);
	/* As RCU(task_dir_get:A). */
	struct inode *cwd = rcu_dereference(task->cwd);
	struct seqcount *renames = &task->vfs->rename_seq;
	uint32_t seq;
	int ret;

	do {
		if (!seq_read_try_begin(renames, &seq))
			return LOOKUP_AGAIN;
		ret = path_of_dir(cwd, root, path);
	} while (seq_read_retry(renames, seq));
	return ret;
}

ssize_t berth_getcwd(struct berth_task *task, char *buf, size_t size)
{
	struct path_buffer path = { .buf = buf, .size = size };
	unsigned int tries = 0;
	int ret;

	rcu_read_lock();
	do {
		ret = path_of_cwd(task, &path);
	} while (lookup_pause(ret, &tries));
	rcu_read_unlock();
	if (ret)
		return ret;
	if (path.len > size)
		return -ERANGE;
	memmove(buf, buf + size - path.len, path.len);
	return (ssize_t)path.len;
}
