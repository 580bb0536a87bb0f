/* SPDX-License-Identifier: MIT */
/* Path walks: lock-free, in one read section. */
#include <errno.h>

#include "vfs/namei.h"
#include "vfs/open.h"

int path_check(const char *path)
{
	if (!path)
		return -EFAULT;
	if (!*path)
		return -ENOENT;
	if (strnlen(path, PATH_MAX_BYTES) >= PATH_MAX_BYTES)
		return -ENAMETOOLONG;
	return 0;
}

/* A relative path starts there. */
static int walk_start_at(struct nameidata *nd, struct berth_task *task,
			 int dirfd)
{
	struct file *file;

	if (dirfd == BERTH_AT_FDCWD) {
		/* As RCU(task_dir_get:A). */
		nd->inode = rcu_dereference(task->cwd);
		return 0;
	}
	file = vfs_borrow(task, dirfd, 0);
	if (!file)
		return -EBADF;
	nd->inode = file->inode;
	vfs_return(file);
	if (nd->inode->vfs != task->vfs)
		return -EXDEV;
	return inode_is_dir(nd->inode) ? 0 : -ENOTDIR;
}

/* An absolute path, or link, goes on from the root. */
static int walk_jump_root(struct nameidata *nd)
{
	if (unlikely(nd->flags & WALK_BENEATH))
		return -EXDEV;
	nd->inode = nd->root;
	return 0;
}

/* Where a walk starts.  The root is found again by ".." and "/". */
static int walk_start(struct nameidata *nd, struct berth_task *task, int dirfd,
		      const char *path)
{
	int ret;

	/* As RCU(task_dir_get:A). */
	nd->root = rcu_dereference(task->root);
	if (*path == '/' && likely(!(nd->flags & WALK_IN_ROOT)))
		return walk_jump_root(nd);
	ret = walk_start_at(nd, task, dirfd);
	if (!ret && unlikely(nd->flags & WALK_SCOPED))
		nd->root = nd->inode;
	return ret;
}

static inline int may_walk(const struct nameidata *nd)
{
	if (unlikely(!inode_is_dir(nd->inode)))
		return -ENOTDIR;
	return inode_permission(nd->inode, nd->cred, MAY_EXEC);
}

static enum last_type type_of(const struct qstr *last)
{
	if (likely(last->name[0] != '.' || last->len > 2))
		return LAST_NORM;
	if (last->len == 1)
		return LAST_DOT;
	return last->name[1] == '.' ? LAST_DOTDOT : LAST_NORM;
}

static struct inode *dir_parent(struct inode *dir)
{
	/* RCU(dir_parent:A) pairs with REL(dir_set_parent:A) */
	struct inode *parent = rcu_dereference(dir->dir.parent);

	return parent ? parent : dir;
}

int dir_step(struct inode *dir, enum last_type type, const struct qstr *name,
	     struct inode **inode)
{
	if (likely(type == LAST_NORM))
		return d_lookup(dir, name, inode);
	*inode = type == LAST_DOT ? dir : dir_parent(dir);
	return 0;
}

/* There is no way up from the root, nor out of where one has to stay. */
static int walk_up(struct nameidata *nd, struct inode **parent)
{
	nd->went_up = true;
	*parent = nd->inode;
	if (nd->inode == nd->root)
		return nd->flags & WALK_BENEATH ? -EXDEV : 0;
	*parent = dir_parent(nd->inode);
	return 0;
}

/* What the last component means. */
static int walk_last(struct nameidata *nd, struct inode **child)
{
	if (unlikely(nd->last_type == LAST_DOTDOT))
		return walk_up(nd, child);
	return dir_step(nd->inode, nd->last_type, &nd->last, child);
}

/* Cut the next component off; returns what follows it. */
static const char *walk_component(struct nameidata *nd, const char *name)
{
	qstr_init(&nd->last, name);
	nd->last_type = type_of(&nd->last);
	name += nd->last.len;
	if (*name == '/') {
		while (*name == '/')
			name++;
		if (!*name && !nd->depth)
			nd->want_dir = true;
	}
	return name;
}

/* Go on with the text of a link, and later with @rest. */
static int walk_follow(struct nameidata *nd, struct inode *link,
		       const char *rest, const char **name)
{
	if (++nd->links > LINKS_MAX || (nd->flags & WALK_NO_LINKS))
		return -ELOOP;
	touch_atime(link);
	if (*rest)
		nd->rest[nd->depth++] = rest;
	*name = link->target;
	return **name == '/' ? walk_jump_root(nd) : 0;
}

static int walk_end(const struct nameidata *nd)
{
	return nd->want_dir && !inode_is_dir(nd->inode) ? -ENOTDIR : 0;
}

static int walk(struct nameidata *nd, const char *name)
{
	unsigned int flags = nd->flags;
	struct inode *child;
	const char *rest;
	bool final;
	int ret;

	for (;;) {
		while (*name == '/')
			name++;
		if (!*name && !nd->depth) {
			nd->last_type = LAST_ROOT;
			return walk_end(nd);
		}
		if (!*name) {
			name = nd->rest[--nd->depth];
			continue;
		}
		ret = may_walk(nd);
		if (unlikely(ret))
			return ret;
		rest = walk_component(nd, name);
		if (unlikely(nd->last.len > NAME_MAX_BYTES))
			return -ENAMETOOLONG;
		final = !*rest && !nd->depth;
		if (final && (flags & WALK_PARENT))
			return 0;
		if (unlikely(final && (flags & WALK_CREATE) && nd->want_dir &&
			     nd->last_type == LAST_NORM))
			return -EISDIR;
		ret = walk_last(nd, &child);
		if (unlikely(ret)) {
			nd->missing = ret == -ENOENT && final &&
				      (flags & WALK_CREATE);
			return nd->missing ? 0 : ret;
		}
		if (unlikely(S_ISLNK(inode_mode(child))) &&
		    (!final || (flags & WALK_FOLLOW) || nd->want_dir)) {
			ret = walk_follow(nd, child, rest, &name);
			if (ret)
				return ret;
			continue;
		}
		nd->inode = child;
		if (final)
			return walk_end(nd);
		name = rest;
	}
}

/*
 * A walk that has to stay below its start compares with it at every "..".  That
 * keeps it there unless a rename carries off a directory that it is in.
 */
static noinline int walk_scoped(struct nameidata *nd, struct berth_vfs *vfs,
				const char *path)
{
	uint32_t seq;
	int ret;

	if (!seq_read_try_begin(&vfs->rename_seq, &seq))
		return LOOKUP_AGAIN;
	ret = walk(nd, path);
	if (nd->went_up && seq_read_retry(&vfs->rename_seq, seq))
		return -EAGAIN;
	return ret;
}

int path_walk(struct nameidata *nd, struct berth_task *task, int dirfd,
	      const char *path, unsigned int flags)
{
	int ret;

	nd->missing = false;
	nd->want_dir = false;
	nd->went_up = false;
	nd->flags = flags;
	nd->links = 0;
	nd->depth = 0;
	ret = walk_start(nd, task, dirfd, path);
	if (ret)
		return ret;
	if (unlikely(flags & WALK_SCOPED))
		return walk_scoped(nd, task->vfs, path);
	return walk(nd, path);
}

/* ---- Owning what was found ---- */

int parent_of_walk(struct parent *parent, const struct nameidata *nd)
{
	if (!igrab(nd->inode))
		return -ENOENT;
	parent->dir = nd->inode;
	parent->last_type = nd->last_type;
	parent->want_dir = nd->want_dir;
	if (nd->last_type == LAST_ROOT)
		return 0;
	parent->last = nd->last;
	memcpy(parent->name, nd->last.name, nd->last.len);
	parent->name[nd->last.len] = '\0';
	parent->last.name = parent->name;
	return 0;
}

void parent_put(struct parent *parent)
{
	iput(parent->dir);
}

int parent_of_dots(struct parent *parent, struct inode *dir, const char *name)
{
	if (!name)
		return -EFAULT;
	qstr_init(&parent->last, name);
	parent->last_type = type_of(&parent->last);
	if (!parent->last.len || name[parent->last.len])
		return -EINVAL;
	if (parent->last.len > NAME_MAX_BYTES)
		return -ENAMETOOLONG;
	parent->want_dir = false;
	parent->dir = dir;
	if (!inode_is_dir(dir))
		return -ENOTDIR;
	ihold(dir);
	return 0;
}

int parent_of_name(struct parent *parent, struct inode *dir, const char *name)
{
	int ret = parent_of_dots(parent, dir, name);

	if (!ret && parent->last_type != LAST_NORM) {
		parent_put(parent);
		ret = -EINVAL;
	}
	return ret;
}

int parent_get(struct parent *parent, struct berth_task *task,
	       const struct cred *cred, int dirfd, const char *path)
{
	struct nameidata nd;
	unsigned int tries = 0;
	int ret = path_check(path);

	if (ret)
		return ret;
	nd.cred = cred;
	rcu_read_lock();
	do {
		ret = path_walk(&nd, task, dirfd, path, WALK_PARENT);
	} while (lookup_pause(ret, &tries));
	if (!ret)
		ret = parent_of_walk(parent, &nd);
	rcu_read_unlock();
	return ret;
}

int inode_of_fd(struct berth_task *task, int fd, struct inode **inode)
{
	struct file *file;

	if (fd == BERTH_AT_FDCWD) {
		/* As RCU(task_dir_get:A). */
		*inode = rcu_dereference(task->cwd);
		return 0;
	}
	file = vfs_borrow(task, fd, 0);
	if (!file)
		return -EBADF;
	*inode = file->inode;
	vfs_return(file);
	return 0;
}

/*
 * An inode that dies between the walk and the grab lost its last name in
 * between; the walk tells what became of the path since.
 */
int inode_get(struct berth_task *task, const struct cred *cred, int dirfd,
	      const char *path, unsigned int flags, bool empty,
	      struct inode **inode)
{
	struct nameidata nd;
	unsigned int tries = 0;
	int ret;

	empty = empty && (!path || !*path);
	ret = empty ? 0 : path_check(path);
	if (ret)
		return ret;
	nd.cred = cred;
	rcu_read_lock();
	do {
		if (empty)
			ret = inode_of_fd(task, dirfd, &nd.inode);
		else
			ret = path_walk(&nd, task, dirfd, path, flags);
	} while (lookup_pause(ret, &tries) || (!ret && !igrab(nd.inode)));
	rcu_read_unlock();
	if (!ret)
		*inode = nd.inode;
	return ret;
}
