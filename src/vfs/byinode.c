/* SPDX-License-Identifier: MIT */
/*
 * Operations by inode, for servers that keep handles of their own.
 *
 * A handle is an inode.  inode->nlookup counts how often it was given out, in
 * 64 bits, since a client can go on looking up for ever; while it is not zero
 * it owns one reference.  A server whose client has gone can drop them all.
 */
#include <errno.h>
#include <unistd.h>

#include "base/report.h"
#include "vfs/attr.h"
#include "vfs/dirops.h"
#include "vfs/open.h"

/* The first one's reference stays for all; a further one is put. */
void inode_give(struct inode *inode, struct berth_inode **handle,
		struct berth_stat *st)
{
	if (st)
		inode_stat(inode, st);
	*handle = (struct berth_inode *)inode;
	/* Relaxed: who brings the count from or to zero owns the reference that
	 * stands for it. */
	if (fetch_add_relaxed(&inode->nlookup, 1) != 0)
		iput(inode);
}

int berth_inode_root(struct berth_vfs *vfs, struct berth_inode **handle)
{
	ihold(vfs->root);
	inode_give(vfs->root, handle, NULL);
	return 0;
}

void berth_inode_forget(struct berth_inode *handle, uint64_t nlookup)
{
	struct inode *inode = inode_of_handle(handle);
	uint64_t held = load_relaxed(&inode->nlookup), left;

	/* Relaxed: see inode_give(). */
	do {
		left = nlookup < held ? held - nlookup : 0;
	} while (!cas_relaxed(&inode->nlookup, &held, left));
	if (nlookup > held)
		report("inode-forgotten-too-often",
		       "more was given back than had been given out");
	if (held && !left)
		iput(inode);
	rcu_poll();
}

/* No other call is in progress, so nothing is freed, and the list stays as it
 * is, until the drain. */
void berth_vfs_forget_all(struct berth_vfs *vfs)
{
	struct inode *inode;

	rcu_drain();
	for (inode = vfs->inodes; inode; inode = inode->next)
		if (swap_relaxed(&inode->nlookup, (uint64_t)0))
			iput(inode);
	rcu_drain();
}

uint64_t berth_inode_ino(const struct berth_inode *handle)
{
	return inode_of_handle(handle)->ino;
}

uint64_t berth_inode_generation(const struct berth_inode *handle)
{
	return inode_of_handle(handle)->generation;
}

static int lookup_name(struct berth_task *task, const struct parent *parent,
		       struct inode **inode)
{
	unsigned int tries = 0;
	int ret;

	rcu_read_lock();
	do {
		/* As RCU(cred_get:A). */
		ret = inode_permission(parent->dir, rcu_dereference(task->cred),
				       MAY_EXEC);
		if (!ret)
			ret = dir_step(parent->dir, parent->last_type,
				       &parent->last, inode);
	} while (lookup_pause(ret, &tries) || (!ret && !igrab(*inode)));
	rcu_read_unlock();
	return ret;
}

int berth_inode_lookup(struct berth_task *task, struct berth_inode *dir,
		       const char *name, struct berth_inode **handle,
		       struct berth_stat *st)
{
	struct inode *inode = NULL;
	struct parent parent;
	int ret;

	ret = parent_of_dots(&parent, inode_of_handle(dir), name);
	if (ret)
		return ret;
	ret = lookup_name(task, &parent, &inode);
	if (!ret)
		inode_give(inode, handle, st);
	parent_put(&parent);
	return ret;
}

int berth_inode_stat(struct berth_task *task, struct berth_inode *handle,
		     struct berth_stat *st)
{
	(void)task;
	inode_stat(inode_of_handle(handle), st);
	return 0;
}

/* Their bits are the same; times are set to now by UTIME_NOW. */
static_assert(BERTH_SET_MODE == ATTR_MODE && BERTH_SET_UID == ATTR_UID &&
		      BERTH_SET_GID == ATTR_GID &&
		      BERTH_SET_SIZE == ATTR_SIZE &&
		      BERTH_SET_ATIME == ATTR_ATIME &&
		      BERTH_SET_MTIME == ATTR_MTIME,
	      "BERTH_SET_* are ATTR_*");

#define BERTH_SET_ALL                                                      \
	(BERTH_SET_MODE | BERTH_SET_UID | BERTH_SET_GID | BERTH_SET_SIZE | \
	 BERTH_SET_ATIME | BERTH_SET_MTIME)

static void attr_of_stat(const struct berth_stat *st, unsigned int which,
			 struct iattr *attr)
{
	struct timespec times[2] = { { .tv_nsec = BERTH_UTIME_OMIT },
				     { .tv_nsec = BERTH_UTIME_OMIT } };

	if (which & BERTH_SET_ATIME)
		times[0] = st->atime;
	if (which & BERTH_SET_MTIME)
		times[1] = st->mtime;
	attr_of_times(times, attr);
	attr->valid |= which & ~(BERTH_SET_ATIME | BERTH_SET_MTIME);
	if (which & (BERTH_SET_UID | BERTH_SET_GID))
		attr->valid |= ATTR_CHOWN;
	attr->mode = st->mode;
	attr->uid = st->uid;
	attr->gid = st->gid;
	attr->size = st->size;
}

int berth_inode_setattr(struct berth_task *task, struct berth_inode *handle,
			const struct berth_stat *st, unsigned int which)
{
	struct cred *cred;
	struct iattr attr;
	int ret;

	if ((which & ~BERTH_SET_ALL) ||
	    ((which & BERTH_SET_SIZE) && st->size > INT64_MAX))
		return -EINVAL;
	attr_of_stat(st, which, &attr);
	cred = cred_get(task);
	ret = notify_change(inode_of_handle(handle), cred, &attr);
	cred_put(cred);
	rcu_poll();
	return ret;
}

/* A new entry, given out. */
static int create_entry(struct berth_task *task, struct berth_inode *dir,
			const char *name, const struct new_entry *entry,
			struct berth_inode **handle, struct berth_stat *st)
{
	struct cred *cred = cred_get(task);
	struct parent parent;
	struct inode *inode;
	int ret;

	ret = parent_of_name(&parent, inode_of_handle(dir), name);
	if (ret)
		goto out_put_cred;
	ret = retry_after_drain(do_create(&parent, cred, entry, &inode));
	if (!ret)
		inode_give(inode, handle, st);
	parent_put(&parent);
out_put_cred:
	cred_put(cred);
	rcu_poll();
	return ret;
}

int berth_inode_mknod(struct berth_task *task, struct berth_inode *dir,
		      const char *name, mode_t mode, uint64_t rdev,
		      struct berth_inode **handle, struct berth_stat *st)
{
	int ret = check_node(&mode);
	struct new_entry entry = {
		.mode = mode & (S_IFMT | 07777),
		.umask = umask_of(task),
		.rdev = S_ISCHR(mode) || S_ISBLK(mode) ? rdev : 0,
	};

	return ret ? ret : create_entry(task, dir, name, &entry, handle, st);
}

int berth_inode_mkdir(struct berth_task *task, struct berth_inode *dir,
		      const char *name, mode_t mode,
		      struct berth_inode **handle, struct berth_stat *st)
{
	struct new_entry entry = { .mode = S_IFDIR | (mode & 01777),
				   .umask = umask_of(task) };

	return create_entry(task, dir, name, &entry, handle, st);
}

int berth_inode_symlink(struct berth_task *task, const char *target,
			struct berth_inode *dir, const char *name,
			struct berth_inode **handle, struct berth_stat *st)
{
	struct new_entry entry = { .mode = S_IFLNK | 0777, .target = target };
	int ret = path_check(target);

	return ret ? ret : create_entry(task, dir, name, &entry, handle, st);
}

int berth_inode_link(struct berth_task *task, struct berth_inode *handle,
		     struct berth_inode *newdir, const char *newname,
		     struct berth_stat *st)
{
	struct inode *inode = inode_of_handle(handle);
	struct berth_inode *again;
	struct parent parent;
	struct cred *cred;
	int ret;

	ret = parent_of_name(&parent, inode_of_handle(newdir), newname);
	if (ret)
		return ret;
	cred = cred_get(task);
	ret = retry_after_drain(do_link(inode, &parent, cred));
	cred_put(cred);
	parent_put(&parent);
	if (!ret) {
		ihold(inode);
		inode_give(inode, &again, st);
	}
	rcu_poll();
	return ret;
}

static int remove_name(struct berth_task *task, struct berth_inode *dir,
		       const char *name, bool rmdir)
{
	struct parent parent;
	struct cred *cred;
	int ret;

	ret = parent_of_name(&parent, inode_of_handle(dir), name);
	if (ret)
		return ret;
	cred = cred_get(task);
	ret = do_unlink(&parent, cred, rmdir);
	cred_put(cred);
	parent_put(&parent);
	rcu_poll();
	return ret;
}

int berth_inode_unlink(struct berth_task *task, struct berth_inode *dir,
		       const char *name)
{
	return remove_name(task, dir, name, false);
}

int berth_inode_rmdir(struct berth_task *task, struct berth_inode *dir,
		      const char *name)
{
	return remove_name(task, dir, name, true);
}

int berth_inode_rename(struct berth_task *task, struct berth_inode *olddir,
		       const char *oldname, struct berth_inode *newdir,
		       const char *newname, unsigned int flags)
{
	struct parent from, to;
	struct cred *cred;
	int ret;

	if (!rename_flags_are_valid(flags))
		return -EINVAL;
	ret = parent_of_name(&from, inode_of_handle(olddir), oldname);
	if (ret)
		return ret;
	ret = parent_of_name(&to, inode_of_handle(newdir), newname);
	if (ret)
		goto out_put_from;
	cred = cred_get(task);
	ret = retry_after_drain(do_rename(&from, &to, cred, flags));
	cred_put(cred);
	parent_put(&to);
out_put_from:
	parent_put(&from);
	rcu_poll();
	return ret;
}

/* ---- Access ---- */

int berth_inode_access(struct berth_task *task, struct berth_inode *handle,
		       int mode)
{
	struct cred *cred;
	int ret;

	if (mode & ~(R_OK | W_OK | X_OK))
		return -EINVAL;
	cred = cred_get(task);
	ret = access_check(inode_of_handle(handle), cred, mode);
	cred_put(cred);
	return ret;
}
