/* SPDX-License-Identifier: MIT */
/*
 * Rename: of the operations on directories the one that takes several.
 *
 * *Locking*.  See inode.h for the chain.  A rename holds the instance's
 * rename_lock, under which no directory gets another parent: so "is an ancestor
 * of" has an answer that stays true while it holds its directories' locks.
 */
#include <errno.h>

#include "vfs/dirops.h"

/* ---- Locks ---- */

/* Under rename_lock: is @dir @of, or an ancestor of it? */
static bool is_ancestor(const struct inode *dir, const struct inode *of)
{
	while (of && of != dir)
		of = load_relaxed(&of->dir.parent);
	return of != NULL;
}

/* Directories before files, then by address: see inode.h. */
static bool lock_order(const struct inode *a, const struct inode *b)
{
	bool dir_a = inode_is_dir(a), dir_b = inode_is_dir(b);

	return dir_a != dir_b ? dir_a : (uintptr_t)a < (uintptr_t)b;
}

/* Either may be NULL, and both the same. */
static void lock_two(struct inode *a, struct inode *b, bool a_first,
		     unsigned int depth)
{
	if (!a_first) {
		lock_two(b, a, true, depth);
		return;
	}
	if (a)
		mutex_lock_nested(&a->lock, depth);
	if (b && b != a)
		mutex_lock_nested(&b->lock, depth + 1);
}

static void unlock_two(struct inode *a, struct inode *b)
{
	if (b && b != a)
		mutex_unlock(&b->lock);
	if (a)
		mutex_unlock(&a->lock);
}

/* ---- The operation ---- */

/* What a rename is about, once its directories are locked. */
struct renaming {
	struct inode *olddir;
	struct inode *newdir;
	struct dentry *old;    /* the entry that moves */
	struct dentry *target; /* what is in its place, or NULL */
	struct dentry *fresh;  /* the entry in the new place */
	struct dentry *back;   /* the entry in the old place, or NULL */
	struct inode *white;   /* what that shows, unless it is an exchange */
	bool exchange;
	bool whiteout;
};

static int find_both(struct renaming *r, const struct parent *from,
		     const struct parent *to, unsigned int flags)
{
	bool old_is_dir, target_is_dir;

	r->old = d_find(from->dir, &from->last);
	if (!r->old)
		return -ENOENT;
	if (dir_is_dead(to->dir))
		return -ENOENT;
	r->target = d_find(to->dir, &to->last);
	if ((flags & BERTH_RENAME_NOREPLACE) && r->target)
		return -EEXIST;
	if (r->exchange && !r->target)
		return -ENOENT;
	old_is_dir = inode_is_dir(r->old->inode);
	target_is_dir = r->target && inode_is_dir(r->target->inode);
	if (r->exchange && to->want_dir && !target_is_dir)
		return -ENOTDIR;
	if (!old_is_dir && (from->want_dir || (!r->exchange && to->want_dir)))
		return -ENOTDIR;
	if (old_is_dir && is_ancestor(r->old->inode, to->dir))
		return -EINVAL;
	if (target_is_dir && is_ancestor(r->target->inode, from->dir))
		return r->exchange ? -EINVAL : -ENOTEMPTY;
	return 0;
}

/* A directory that gets another parent has its ".." changed. */
static int may_move(const struct renaming *r, const struct inode *inode,
		    const struct cred *cred)
{
	if (r->olddir == r->newdir || !inode_is_dir(inode))
		return 0;
	return inode_permission(inode, cred, MAY_WRITE);
}

static int may_rename(const struct renaming *r, const struct cred *cred)
{
	struct inode *inode = r->old->inode;
	bool isdir = inode_is_dir(inode);
	int ret;

	ret = may_delete(r->olddir, inode, cred, isdir);
	if (ret)
		return ret;
	if (!r->target) {
		ret = may_create(r->newdir, cred);
	} else {
		if (r->exchange)
			isdir = inode_is_dir(r->target->inode);
		ret = may_delete(r->newdir, r->target->inode, cred, isdir);
	}
	if (!ret)
		ret = may_move(r, inode, cred);
	if (!ret && r->exchange && r->target)
		ret = may_move(r, r->target->inode, cred);
	return ret;
}

/* All that a rename needs, before it changes anything. */
static int rename_prepare(struct renaming *r, const struct parent *from,
			  const struct parent *to, const struct cred *cred)
{
	struct inode *other = NULL;
	int ret;

	if (r->whiteout) {
		ret = whiteout_create(r->olddir, cred, &r->white);
		if (ret)
			return ret;
		other = r->white;
	} else if (r->exchange && r->target) {
		other = r->target->inode;
	}
	r->fresh = d_alloc(r->old->inode, &to->last);
	r->back = other ? d_alloc(other, &from->last) : NULL;
	if (r->fresh && (r->back || !other) &&
	    (r->target || !d_prepare(r->newdir)))
		return 0;
	d_free(r->fresh);
	d_free(r->back);
	if (r->white)
		inode_free(r->white);
	return -ENOMEM;
}

/*
 * A moved directory's way up.  The former parent's reference is returned to be
 * put when the locks are gone.
 */
static struct inode *move_parent(struct inode *inode, struct inode *from,
				 struct inode *to, struct dentry *self,
				 int64_t now)
{
	if (!S_ISDIR(inode->mode))
		return NULL;
	/* As REL(dir_set_self:A). */
	rcu_assign_pointer(inode->dir.self, self);
	if (from == to)
		return NULL;
	ihold(to);
	/* As REL(dir_set_parent:A). */
	rcu_assign_pointer(inode->dir.parent, to);
	inode_add_link(from, -1, now);
	inode_add_link(to, 1, now);
	return from;
}

/* References that a rename leaves for its caller to put, without locks. */
struct leftover {
	struct inode *orphan;
	struct inode *parent[2];
};

static void rename_entries(const struct renaming *r)
{
	struct inode *olddir = r->olddir, *newdir = r->newdir;

	if (r->target) {
		d_replace(newdir, r->target, r->fresh);
	} else if (olddir != newdir || r->back) {
		d_add(newdir, r->fresh);
	} else {
		d_replace(olddir, r->old, r->fresh);
		return;
	}
	if (r->back)
		d_replace(olddir, r->old, r->back);
	else
		d_remove(olddir, r->old);
}

/* Under all locks: can not fail. */
static void rename_commit(const struct renaming *r, struct leftover *left)
{
	struct inode *olddir = r->olddir, *newdir = r->newdir;
	struct inode *inode = r->old->inode;
	struct inode *other = r->target ? r->target->inode : NULL;
	struct berth_vfs *vfs = olddir->vfs;
	int64_t now = inode_now(inode);

	seq_write_begin(&vfs->rename_seq);
	d_move_begin(olddir, newdir);
	rename_entries(r);
	left->parent[0] = move_parent(inode, olddir, newdir, r->fresh, now);
	if (r->exchange && other)
		left->parent[1] =
			move_parent(other, newdir, olddir, r->back, now);
	d_move_end(olddir, newdir);
	dir_check(olddir);
	dir_check(newdir);
	seq_write_end(&vfs->rename_seq);
	if (other && !r->exchange && drop_link(newdir, other, now))
		left->orphan = other;
	if (other && r->exchange)
		inode_touch(other, now, false);
	inode_touch(inode, now, false);
	inode_touch(olddir, now, true);
	if (newdir != olddir)
		inode_touch(newdir, now, true);
}

static int rename_locked(struct renaming *r, const struct parent *from,
			 const struct parent *to, const struct cred *cred,
			 struct leftover *left)
{
	struct inode *inode = r->old->inode;
	struct inode *other = r->target ? r->target->inode : NULL;
	int ret;

	/* Two names of one file: nothing to do. */
	if (inode == other)
		return 0;
	ret = may_rename(r, cred);
	if (ret)
		return ret;
	lock_two(inode, other, !other || lock_order(inode, other),
		 VICTIM_DEPTH);
	ret = -ENOTEMPTY;
	if (other && !r->exchange && inode_is_dir(other) && other->dir.entries)
		goto out_unlock;
	ret = rename_prepare(r, from, to, cred);
	if (!ret)
		rename_commit(r, left);
out_unlock:
	unlock_two(inode, other);
	return ret;
}

bool rename_flags_are_valid(unsigned int flags)
{
	if (flags & BERTH_RENAME_EXCHANGE)
		return flags == BERTH_RENAME_EXCHANGE;
	return !(flags & ~(BERTH_RENAME_NOREPLACE | BERTH_RENAME_WHITEOUT));
}

static int check_rename(const struct parent *from, const struct parent *to,
			unsigned int flags)
{
	if (from->dir->vfs != to->dir->vfs)
		return -EXDEV;
	if (from->last_type != LAST_NORM)
		return -EBUSY;
	if (to->last_type != LAST_NORM)
		return flags & BERTH_RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	return 0;
}

static void leftover_put(const struct leftover *left)
{
	if (left->orphan)
		iput(left->orphan);
	if (left->parent[0])
		iput(left->parent[0]);
	if (left->parent[1])
		iput(left->parent[1]);
}

int do_rename(struct parent *from, struct parent *to, const struct cred *cred,
	      unsigned int flags)
{
	struct berth_vfs *vfs = from->dir->vfs;
	struct renaming r = { .olddir = from->dir,
			      .newdir = to->dir,
			      .exchange = flags & BERTH_RENAME_EXCHANGE,
			      .whiteout = flags & BERTH_RENAME_WHITEOUT };
	struct leftover left = { 0 };
	int ret;

	ret = check_rename(from, to, flags);
	if (ret)
		return ret;
	ret = mnt_want_write(&vfs->mnt);
	if (ret)
		return ret;
	mutex_lock(&vfs->rename_lock);
	lock_two(r.olddir, r.newdir,
		 is_ancestor(r.olddir, r.newdir) ||
			 (!is_ancestor(r.newdir, r.olddir) &&
			  lock_order(r.olddir, r.newdir)),
		 0);
	ret = find_both(&r, from, to, flags);
	if (!ret)
		ret = rename_locked(&r, from, to, cred, &left);
	unlock_two(r.olddir, r.newdir);
	mutex_unlock(&vfs->rename_lock);
	mnt_drop_write(&vfs->mnt);
	leftover_put(&left);
	return ret;
}

/* ---- Exported, by path ---- */

int berth_renameat2(struct berth_task *task, int olddirfd, const char *oldpath,
		    int newdirfd, const char *newpath, unsigned int flags)
{
	struct parent from, to;
	struct cred *cred;
	int ret;

	if (!rename_flags_are_valid(flags))
		return -EINVAL;
	cred = cred_get(task);
	ret = parent_get(&from, task, cred, olddirfd, oldpath);
	if (ret)
		goto out_put_cred;
	ret = parent_get(&to, task, cred, newdirfd, newpath);
	if (ret)
		goto out_put_from;
	ret = retry_after_drain(do_rename(&from, &to, cred, flags));
	parent_put(&to);
out_put_from:
	parent_put(&from);
out_put_cred:
	cred_put(cred);
	rcu_poll();
	return ret;
}

int berth_rename(struct berth_task *task, const char *oldpath,
		 const char *newpath)
{
	return berth_renameat2(task, BERTH_AT_FDCWD, oldpath, BERTH_AT_FDCWD,
			       newpath, 0);
}
