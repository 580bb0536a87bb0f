/* SPDX-License-Identifier: MIT */
/*
 * Entries made, removed and linked.
 *
 * *Locking*.  See inode.h for the chain.
 *
 * *Order of errors*, as Linux's: what the name says (EEXIST, ENOENT), the mount
 * (EROFS), permission (EACCES, EPERM), the kinds of both sides (EISDIR,
 * ENOTDIR), what is in them (ENOTEMPTY), room (ENOSPC, ENOMEM).
 */
#include <errno.h>

#include "vfs/dirops.h"

/* ---- Permission ---- */

bool dir_is_dead(const struct inode *dir)
{
	return dir->nlink == 0;
}

int may_create(const struct inode *dir, const struct cred *cred)
{
	if (dir_is_dead(dir))
		return -ENOENT;
	return inode_permission(dir, cred, MAY_WRITE | MAY_EXEC);
}

/* In a sticky directory only owners remove. */
static bool is_sticky_for(const struct inode *dir, const struct inode *victim,
			  const struct cred *cred)
{
	if (!(dir->mode & S_ISVTX) || cred_overrides(cred))
		return false;
	return load_relaxed(&victim->uid) != cred->uid && dir->uid != cred->uid;
}

int may_delete(const struct inode *dir, const struct inode *victim,
	       const struct cred *cred, bool isdir)
{
	int ret = inode_permission(dir, cred, MAY_WRITE | MAY_EXEC);

	if (ret)
		return ret;
	if (is_sticky_for(dir, victim, cred))
		return -EPERM;
	if (isdir && !inode_is_dir(victim))
		return -ENOTDIR;
	if (!isdir && inode_is_dir(victim))
		return -EISDIR;
	return dir_is_dead(dir) ? -ENOENT : 0;
}

mode_t umask_of(const struct berth_task *task)
{
	/* Relaxed: one word. */
	return load_relaxed(&task->umask);
}

int check_node(mode_t *mode)
{
	switch (*mode & S_IFMT) {
	case 0:
		*mode |= S_IFREG;
		return 0;
	case S_IFREG:
	case S_IFIFO:
	case S_IFSOCK:
	case S_IFCHR:
	case S_IFBLK:
		return 0;
	case S_IFDIR:
		return -EPERM;
	default:
		return -EINVAL;
	}
}

/* Devices are for the privileged, but for the one that is a whiteout. */
static int may_mknod(const struct cred *cred, const struct new_entry *entry)
{
	bool device =
		S_ISBLK(entry->mode) || (S_ISCHR(entry->mode) && entry->rdev);

	return device && !cred_overrides(cred) ? -EPERM : 0;
}

/* ---- Create ---- */

/* Owner, group and mode of what @cred makes in @dir. */
static struct inode_init init_of(const struct inode *dir,
				 const struct cred *cred,
				 const struct new_entry *entry)
{
	struct inode_init init = { .mode = entry->mode,
				   .uid = cred->uid,
				   .gid = cred->gid,
				   .rdev = entry->rdev,
				   .target = entry->target };

	/* Whether the group may execute is asked before the umask. */
	if (!(dir->mode & S_ISGID)) {
		init.mode &= ~entry->umask;
		return init;
	}
	init.gid = dir->gid;
	if (S_ISDIR(init.mode))
		init.mode |= S_ISGID;
	else if ((init.mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
		 !cred_overrides(cred) && !cred_in_group(cred, dir->gid))
		init.mode &= ~(mode_t)S_ISGID;
	init.mode &= ~entry->umask;
	return init;
}

/* The tree takes over a reference of the inode's. */
static void dir_attach(struct inode *dir, struct dentry *dentry, int64_t now)
{
	struct inode *inode = dentry->inode;

	if (S_ISDIR(inode->mode)) {
		ihold(dir);
		/* REL(dir_set_parent:A) pairs with RCU(dir_parent:A) */
		rcu_assign_pointer(inode->dir.parent, dir);
		/* REL(dir_set_self:A) pairs with RCU(path_of_dir:A) */
		rcu_assign_pointer(inode->dir.self, dentry);
		inode_add_link(dir, 1, now);
	}
	inode_add_link(inode, 1, now);
	d_add(dir, dentry);
	dir_check(dir);
	inode_touch(dir, now, true);
}

int make_entry(struct parent *parent, const struct cred *cred,
	       const struct new_entry *entry, struct inode **result)
{
	struct inode_init init = init_of(parent->dir, cred, entry);
	struct berth_vfs *vfs = parent->dir->vfs;
	struct inode *inode;
	struct dentry *dentry;
	int ret;

	ret = inode_create(vfs, &init, &inode);
	if (ret)
		return ret;
	ret = -ENOMEM;
	dentry = d_alloc(inode, &parent->last);
	if (!dentry)
		goto out_free_inode;
	if (d_prepare(parent->dir))
		goto out_free_dentry;
	if (result) {
		ihold(inode);
		*result = inode;
	}
	dir_attach(parent->dir, dentry, inode->ctime);
	return 0;

out_free_dentry:
	d_free(dentry);
out_free_inode:
	inode_free(inode);
	return ret;
}

/*
 * May a name be made?  @readonly: what the gate said, which counts for less
 * than that the name exists.
 */
static int check_new_name(const struct parent *parent, bool isdir, int readonly,
			  const struct cred *cred)
{
	if (dir_is_dead(parent->dir))
		return -ENOENT;
	if (d_find(parent->dir, &parent->last))
		return -EEXIST;
	if (parent->want_dir && !isdir)
		return -ENOENT;
	return readonly ? readonly : may_create(parent->dir, cred);
}

int do_create(struct parent *parent, const struct cred *cred,
	      const struct new_entry *entry, struct inode **inode)
{
	struct vfsmount *mnt = &parent->dir->vfs->mnt;
	int ret, readonly;

	if (parent->last_type != LAST_NORM)
		return -EEXIST;
	readonly = mnt_want_write(mnt);
	mutex_lock(&parent->dir->lock);
	ret = check_new_name(parent, S_ISDIR(entry->mode), readonly, cred);
	if (!ret)
		ret = may_mknod(cred, entry);
	if (!ret)
		ret = make_entry(parent, cred, entry, inode);
	mutex_unlock(&parent->dir->lock);
	if (!readonly)
		mnt_drop_write(mnt);
	return ret;
}

int do_tmpfile(struct inode *dir, const struct cred *cred,
	       const struct new_entry *entry, bool linkable,
	       struct inode **inode)
{
	struct vfsmount *mnt = &dir->vfs->mnt;
	struct inode_init init;
	int ret = mnt_want_write(mnt);

	if (ret)
		return ret;
	mutex_lock(&dir->lock);
	ret = inode_permission(dir, cred, MAY_WRITE | MAY_EXEC);
	if (!ret) {
		init = init_of(dir, cred, entry);
		ret = inode_create(dir->vfs, &init, inode);
	}
	mutex_unlock(&dir->lock);
	if (!ret)
		(*inode)->linkable = linkable;
	mnt_drop_write(mnt);
	return ret;
}

int whiteout_create(struct inode *dir, const struct cred *cred,
		    struct inode **inode)
{
	struct new_entry entry = { .mode = S_IFCHR };
	struct inode_init init = init_of(dir, cred, &entry);
	int ret = inode_create(dir->vfs, &init, inode);

	if (!ret)
		(*inode)->nlink = 1; /* which the caller makes true */
	return ret;
}

/* ---- Link ---- */

static int check_link(const struct inode *inode)
{
	if (S_ISDIR(inode->mode))
		return -EPERM;
	if (inode->nlink == 0 && !inode->linkable)
		return -ENOENT;
	return inode->nlink == UINT32_MAX ? -EMLINK : 0;
}

/* A further link takes a place under nr_inodes; the first one has its
 * inode's. */
static bool link_charge(struct inode *inode)
{
	return inode->nlink == 0 || inode_charge(inode->vfs);
}

static void link_uncharge(struct inode *inode)
{
	if (inode->nlink)
		inode_uncharge(inode->vfs);
}

static int link_locked(struct inode *inode, struct parent *parent)
{
	struct dentry *dentry;
	int ret;

	ret = check_link(inode);
	if (ret)
		return ret;
	if (!link_charge(inode))
		return -ENOSPC;
	dentry = d_alloc(inode, &parent->last);
	if (!dentry)
		goto out_uncharge;
	if (d_prepare(parent->dir))
		goto out_free_dentry;
	if (inode->nlink == 0)
		ihold(inode); /* the tree's reference */
	inode->linkable = false;
	dir_attach(parent->dir, dentry, inode_now(inode));
	return 0;

out_free_dentry:
	d_free(dentry);
out_uncharge:
	link_uncharge(inode);
	return -ENOMEM;
}

int do_link(struct inode *inode, struct parent *parent, const struct cred *cred)
{
	struct vfsmount *mnt = &parent->dir->vfs->mnt;
	int ret, readonly;

	if (inode->vfs != parent->dir->vfs)
		return -EXDEV;
	if (parent->last_type != LAST_NORM)
		return -EEXIST;
	readonly = mnt_want_write(mnt);
	mutex_lock(&parent->dir->lock);
	ret = check_new_name(parent, false, readonly, cred);
	if (!ret && inode_is_dir(inode))
		ret = -EPERM;
	if (!ret) {
		mutex_lock(&inode->lock);
		ret = link_locked(inode, parent);
		mutex_unlock(&inode->lock);
	}
	mutex_unlock(&parent->dir->lock);
	if (!readonly)
		mnt_drop_write(mnt);
	return ret;
}

/* ---- Unlink and rmdir ---- */

static int last_type_error(const struct parent *parent, bool rmdir)
{
	if (!rmdir)
		return -EISDIR;
	switch (parent->last_type) {
	case LAST_DOT:
		return -EINVAL;
	case LAST_DOTDOT:
		return -ENOTEMPTY;
	default:
		return -EBUSY;
	}
}

bool drop_link(struct inode *dir, struct inode *victim, int64_t now)
{
	int links = -1;

	if (S_ISDIR(victim->mode)) {
		links = -(int)victim->nlink;
		inode_add_link(dir, -1, now);
	}
	inode_add_link(victim, links, now);
	if (victim->nlink)
		inode_uncharge(victim->vfs);
	return victim->nlink == 0;
}

/* Under both locks.  The tree's reference of a victim without links comes back
 * for the caller to put. */
static struct inode *remove_entry(struct inode *dir, struct dentry *dentry)
{
	struct inode *victim = dentry->inode;
	int64_t now = inode_now(dir);

	d_remove(dir, dentry);
	dir_check(dir);
	inode_touch(dir, now, true);
	return drop_link(dir, victim, now) ? victim : NULL;
}

static int unlink_locked(struct parent *parent, const struct cred *cred,
			 bool rmdir, struct inode **orphan)
{
	struct inode *dir = parent->dir, *victim;
	struct dentry *dentry = d_find(dir, &parent->last);
	int ret;

	if (!dentry)
		return -ENOENT;
	victim = dentry->inode;
	if (parent->want_dir && !rmdir)
		return inode_is_dir(victim) ? -EISDIR : -ENOTDIR;
	ret = may_delete(dir, victim, cred, rmdir);
	if (ret)
		return ret;
	mutex_lock_nested(&victim->lock, VICTIM_DEPTH);
	if (rmdir && victim->dir.entries)
		ret = -ENOTEMPTY;
	else
		*orphan = remove_entry(dir, dentry);
	mutex_unlock(&victim->lock);
	return ret;
}

int do_unlink(struct parent *parent, const struct cred *cred, bool rmdir)
{
	struct vfsmount *mnt = &parent->dir->vfs->mnt;
	struct inode *orphan = NULL;
	int ret;

	if (parent->last_type != LAST_NORM)
		return last_type_error(parent, rmdir);
	ret = mnt_want_write(mnt);
	if (ret)
		return ret;
	mutex_lock(&parent->dir->lock);
	ret = unlink_locked(parent, cred, rmdir, &orphan);
	mutex_unlock(&parent->dir->lock);
	mnt_drop_write(mnt);
	if (orphan)
		iput(orphan);
	return ret;
}

/* ---- Exported, by path ---- */

static int create_at(struct berth_task *task, int dirfd, const char *path,
		     const struct new_entry *entry)
{
	struct cred *cred = cred_get(task);
	struct parent parent;
	int ret;

	ret = parent_get(&parent, task, cred, dirfd, path);
	if (ret)
		goto out_put_cred;
	ret = retry_after_drain(do_create(&parent, cred, entry, NULL));
	parent_put(&parent);
out_put_cred:
	cred_put(cred);
	rcu_poll();
	return ret;
}

int berth_mkdirat(struct berth_task *task, int dirfd, const char *path,
		  mode_t mode)
{
	struct new_entry entry = { .mode = S_IFDIR | (mode & 01777),
				   .umask = umask_of(task) };

	return create_at(task, dirfd, path, &entry);
}

int berth_mkdir(struct berth_task *task, const char *path, mode_t mode)
{
	return berth_mkdirat(task, BERTH_AT_FDCWD, path, mode);
}

int berth_mknodat(struct berth_task *task, int dirfd, const char *path,
		  mode_t mode, uint64_t rdev)
{
	int ret = check_node(&mode);
	struct new_entry entry = {
		.mode = mode & (S_IFMT | 07777),
		.umask = umask_of(task),
		.rdev = S_ISCHR(mode) || S_ISBLK(mode) ? rdev : 0,
	};

	return ret ? ret : create_at(task, dirfd, path, &entry);
}

int berth_mknod(struct berth_task *task, const char *path, mode_t mode,
		uint64_t rdev)
{
	return berth_mknodat(task, BERTH_AT_FDCWD, path, mode, rdev);
}

int berth_symlinkat(struct berth_task *task, const char *target, int dirfd,
		    const char *path)
{
	struct new_entry entry = { .mode = S_IFLNK | 0777, .target = target };
	int ret = path_check(target);

	return ret ? ret : create_at(task, dirfd, path, &entry);
}

int berth_symlink(struct berth_task *task, const char *target, const char *path)
{
	return berth_symlinkat(task, target, BERTH_AT_FDCWD, path);
}

int berth_unlinkat(struct berth_task *task, int dirfd, const char *path,
		   unsigned int flags)
{
	struct cred *cred;
	struct parent parent;
	int ret;

	if (flags & ~BERTH_AT_REMOVEDIR)
		return -EINVAL;
	cred = cred_get(task);
	ret = parent_get(&parent, task, cred, dirfd, path);
	if (ret)
		goto out_put_cred;
	ret = do_unlink(&parent, cred, flags & BERTH_AT_REMOVEDIR);
	parent_put(&parent);
out_put_cred:
	cred_put(cred);
	rcu_poll();
	return ret;
}

int berth_unlink(struct berth_task *task, const char *path)
{
	return berth_unlinkat(task, BERTH_AT_FDCWD, path, 0);
}

int berth_rmdir(struct berth_task *task, const char *path)
{
	return berth_unlinkat(task, BERTH_AT_FDCWD, path, BERTH_AT_REMOVEDIR);
}

int berth_linkat(struct berth_task *task, int olddirfd, const char *oldpath,
		 int newdirfd, const char *newpath, unsigned int flags)
{
	struct parent parent;
	struct inode *inode;
	struct cred *cred;
	int ret;

	if (flags & ~(BERTH_AT_SYMLINK_FOLLOW | BERTH_AT_EMPTY_PATH))
		return -EINVAL;
	cred = cred_get(task);
	ret = inode_get(task, cred, olddirfd, oldpath,
			flags & BERTH_AT_SYMLINK_FOLLOW ? WALK_FOLLOW : 0,
			flags & BERTH_AT_EMPTY_PATH, &inode);
	if (ret)
		goto out_put_cred;
	ret = parent_get(&parent, task, cred, newdirfd, newpath);
	if (ret)
		goto out_put_inode;
	ret = retry_after_drain(do_link(inode, &parent, cred));
	parent_put(&parent);
out_put_inode:
	iput(inode);
out_put_cred:
	cred_put(cred);
	rcu_poll();
	return ret;
}

int berth_link(struct berth_task *task, const char *oldpath,
	       const char *newpath)
{
	return berth_linkat(task, BERTH_AT_FDCWD, oldpath, BERTH_AT_FDCWD,
			    newpath, 0);
}
