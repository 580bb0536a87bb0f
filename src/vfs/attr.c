/* SPDX-License-Identifier: MIT */
/* Attributes: asked for and set, by path, descriptor and inode. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "vfs/attr.h"
#include "vfs/namei.h"
#include "vfs/open.h"

#define AT_LOOKUP_FLAGS (BERTH_AT_SYMLINK_NOFOLLOW | BERTH_AT_EMPTY_PATH)

static unsigned int walk_of(unsigned int flags)
{
	return flags & BERTH_AT_SYMLINK_NOFOLLOW ? 0 : WALK_FOLLOW;
}

/* ---- Ask ---- */

int berth_fstatat(struct berth_task *task, int dirfd, const char *path,
		  struct berth_stat *st, unsigned int flags)
{
	unsigned int tries = 0;
	struct nameidata nd;
	bool empty;
	int ret;

	if (flags & ~(AT_LOOKUP_FLAGS | BERTH_AT_NO_AUTOMOUNT))
		return -EINVAL;
	empty = (flags & BERTH_AT_EMPTY_PATH) && (!path || !*path);
	ret = empty ? 0 : path_check(path);
	if (ret)
		return ret;
	rcu_read_lock();
	do {
		/* As RCU(cred_get:A). */
		nd.cred = rcu_dereference(task->cred);
		if (empty)
			ret = inode_of_fd(task, dirfd, &nd.inode);
		else
			ret = path_walk(&nd, task, dirfd, path, walk_of(flags));
		if (!ret && unlikely(!inode_try_stat(nd.inode, st)))
			ret = LOOKUP_AGAIN;
	} while (lookup_pause(ret, &tries));
	rcu_read_unlock();
	return ret;
}

int berth_stat(struct berth_task *task, const char *path, struct berth_stat *st)
{
	return berth_fstatat(task, BERTH_AT_FDCWD, path, st, 0);
}

int berth_lstat(struct berth_task *task, const char *path,
		struct berth_stat *st)
{
	return berth_fstatat(task, BERTH_AT_FDCWD, path, st,
			     BERTH_AT_SYMLINK_NOFOLLOW);
}

/* The file is owned while one waits. */
static noinline int fstat_waiting(struct berth_task *task, int fd,
				  struct berth_stat *st)
{
	struct file *file = vfs_get(task, fd, 0);

	if (!file)
		return -EBADF;
	inode_stat(file->inode, st);
	fput(&file->base);
	rcu_poll();
	return 0;
}

int berth_fstat(struct berth_task *task, int fd, struct berth_stat *st)
{
	struct file *file = vfs_borrow(task, fd, 0);
	bool done;

	if (unlikely(!file))
		return -EBADF;
	done = inode_try_stat(file->inode, st);
	vfs_return(file);
	return likely(done) ? 0 : fstat_waiting(task, fd, st);
}

int access_check(const struct inode *inode, const struct cred *cred, int mode)
{
	mode_t type = inode_mode(inode) & S_IFMT;

	/* Devices, fifos and sockets are written to, not their file system. */
	if ((mode & W_OK) && mnt_is_readonly(&inode->vfs->mnt) &&
	    (type == S_IFREG || type == S_IFDIR || type == S_IFLNK))
		return -EROFS;
	return inode_permission(inode, cred, (unsigned int)mode);
}

int berth_faccessat(struct berth_task *task, int dirfd, const char *path,
		    int mode, unsigned int flags)
{
	struct inode *inode;
	struct cred *cred;
	int ret;

	if ((flags & ~(AT_LOOKUP_FLAGS | BERTH_AT_EACCESS)) ||
	    (mode & ~(R_OK | W_OK | X_OK)))
		return -EINVAL;
	cred = cred_get(task);
	ret = inode_get(task, cred, dirfd, path, walk_of(flags),
			flags & BERTH_AT_EMPTY_PATH, &inode);
	if (!ret) {
		ret = access_check(inode, cred, mode);
		iput(inode);
	}
	cred_put(cred);
	rcu_poll();
	return ret;
}

int berth_access(struct berth_task *task, const char *path, int mode)
{
	return berth_faccessat(task, BERTH_AT_FDCWD, path, mode, 0);
}

/* ---- Set ---- */

void inode_kill_setid(struct inode *inode, const struct cred *cred)
{
	mode_t mode = inode->mode, kill = S_ISUID;

	if (cred_overrides(cred))
		return;
	if ((mode & S_IXGRP) || !cred_in_group(cred, inode->gid))
		kill |= S_ISGID;
	if (!(mode & kill))
		return;
	attr_begin(inode);
	seq_store(&inode->mode, mode & ~kill);
	attr_end(inode);
}

/* A chown takes the set-id bits off, of everybody's files. */
static mode_t chown_mode(const struct inode *inode, const struct cred *cred)
{
	mode_t mode = inode->mode;

	if (S_ISDIR(mode))
		return mode;
	mode &= ~(mode_t)S_ISUID;
	if ((mode & S_IXGRP) ||
	    (!cred_overrides(cred) && !cred_in_group(cred, inode->gid)))
		mode &= ~(mode_t)S_ISGID;
	return mode;
}

static int check_chown(const struct inode *inode, const struct cred *cred,
		       const struct iattr *attr)
{
	if (cred_overrides(cred))
		return 0;
	/* Who loses set-id bits by it must be the owner. */
	if ((attr->valid & ATTR_CHOWN) && inode->uid != cred->uid &&
	    chown_mode(inode, cred) != inode->mode)
		return -EPERM;
	if ((attr->valid & ATTR_UID) &&
	    (inode->uid != cred->uid || attr->uid != inode->uid))
		return -EPERM;
	if ((attr->valid & ATTR_GID) &&
	    (inode->uid != cred->uid ||
	     (attr->gid != inode->gid && !cred_in_group(cred, attr->gid))))
		return -EPERM;
	return 0;
}

static int check_times(const struct inode *inode, const struct cred *cred,
		       const struct iattr *attr)
{
	if (!(attr->valid & (ATTR_ATIME | ATTR_MTIME)))
		return 0;
	if (inode_owner_or_capable(inode, cred))
		return 0;
	if (!(attr->valid & ATTR_TOUCH))
		return -EPERM;
	return inode_permission(inode, cred, MAY_WRITE);
}

static int check_size(const struct inode *inode, const struct cred *cred,
		      const struct iattr *attr)
{
	if (!(attr->valid & ATTR_SIZE))
		return 0;
	if (S_ISDIR(inode->mode))
		return -EISDIR;
	if (!S_ISREG(inode->mode))
		return -EINVAL;
	return inode_permission(inode, cred, MAY_WRITE);
}

/* Under the lock: may all of it be set? */
static int setattr_prepare(const struct inode *inode, const struct cred *cred,
			   const struct iattr *attr)
{
	int ret = check_chown(inode, cred, attr);

	if (!ret && (attr->valid & ATTR_MODE) &&
	    !inode_owner_or_capable(inode, cred))
		ret = -EPERM;
	if (!ret)
		ret = check_times(inode, cred, attr);
	if (!ret)
		ret = check_size(inode, cred, attr);
	return ret;
}

static mode_t setattr_mode(const struct inode *inode, const struct cred *cred,
			   const struct iattr *attr)
{
	gid_t gid = attr->valid & ATTR_GID ? attr->gid : inode->gid;
	mode_t mode = inode->mode;

	if (attr->valid & ATTR_CHOWN)
		mode = chown_mode(inode, cred);
	if (!(attr->valid & ATTR_MODE))
		return mode;
	mode = (mode & S_IFMT) | (attr->mode & 07777);
	if (!cred_overrides(cred) && !cred_in_group(cred, gid))
		mode &= ~(mode_t)S_ISGID;
	return mode;
}

/* Under the lock: can not fail. */
static void setattr_commit(struct inode *inode, const struct cred *cred,
			   const struct iattr *attr)
{
	mode_t mode = setattr_mode(inode, cred, attr);
	int64_t now = inode_now(inode);

	if (attr->valid & ATTR_SIZE) {
		inode_kill_setid(inode, cred);
		inode_truncate(inode, attr->size);
	}
	attr_begin(inode);
	if (attr->valid & (ATTR_MODE | ATTR_CHOWN))
		seq_store(&inode->mode, mode);
	if (attr->valid & ATTR_UID)
		seq_store(&inode->uid, attr->uid);
	if (attr->valid & ATTR_GID)
		seq_store(&inode->gid, attr->gid);
	/* Relaxed: see touch_atime(). */
	if (attr->valid & ATTR_ATIME)
		store_relaxed(&inode->atime,
			      attr->valid & ATTR_ATIME_SET ? attr->atime : now);
	if (attr->valid & ATTR_MTIME)
		seq_store(&inode->mtime,
			  attr->valid & ATTR_MTIME_SET ? attr->mtime : now);
	seq_store(&inode->ctime, now);
	attr_end(inode);
}

int notify_change(struct inode *inode, const struct cred *cred,
		  struct iattr *attr)
{
	struct vfsmount *mnt = &inode->vfs->mnt;
	int ret;

	if (attr->valid & ATTR_INVALID)
		return -EINVAL;
	ret = mnt_want_write(mnt);
	if (ret)
		return ret;
	mutex_lock(&inode->lock);
	ret = setattr_prepare(inode, cred, attr);
	if (!ret)
		setattr_commit(inode, cred, attr);
	mutex_unlock(&inode->lock);
	mnt_drop_write(mnt);
	return ret;
}

/* Own what the path says and change it. */
static int change_at(struct berth_task *task, int dirfd, const char *path,
		     unsigned int flags, struct iattr *attr)
{
	struct cred *cred = cred_get(task);
	struct inode *inode;
	int ret;

	ret = inode_get(task, cred, dirfd, path, walk_of(flags),
			flags & BERTH_AT_EMPTY_PATH, &inode);
	if (ret)
		goto out_put_cred;
	if ((attr->valid & ATTR_MODE) && S_ISLNK(inode_mode(inode)))
		ret = -EOPNOTSUPP;
	else
		ret = notify_change(inode, cred, attr);
	iput(inode);
out_put_cred:
	cred_put(cred);
	rcu_poll();
	return ret;
}

/* The same by a descriptor that is open, not only a place. */
static int change_fd(struct berth_task *task, int fd, struct iattr *attr)
{
	struct file *file = vfs_get(task, fd, FMODE_OPEN);
	struct cred *cred;
	int ret;

	if (!file)
		return -EBADF;
	cred = cred_get(task);
	ret = notify_change(file->inode, cred, attr);
	cred_put(cred);
	fput(&file->base);
	rcu_poll();
	return ret;
}

int berth_fchmodat(struct berth_task *task, int dirfd, const char *path,
		   mode_t mode, unsigned int flags)
{
	struct iattr attr = { .valid = ATTR_MODE, .mode = mode };

	if (flags & ~AT_LOOKUP_FLAGS)
		return -EINVAL;
	return change_at(task, dirfd, path, flags, &attr);
}

int berth_chmod(struct berth_task *task, const char *path, mode_t mode)
{
	return berth_fchmodat(task, BERTH_AT_FDCWD, path, mode, 0);
}

int berth_fchmod(struct berth_task *task, int fd, mode_t mode)
{
	struct iattr attr = { .valid = ATTR_MODE, .mode = mode };

	return change_fd(task, fd, &attr);
}

static struct iattr attr_of_owner(uid_t uid, gid_t gid)
{
	struct iattr attr = { .valid = ATTR_CHOWN, .uid = uid, .gid = gid };

	if (uid != (uid_t)-1)
		attr.valid |= ATTR_UID;
	if (gid != (gid_t)-1)
		attr.valid |= ATTR_GID;
	return attr;
}

int berth_fchownat(struct berth_task *task, int dirfd, const char *path,
		   uid_t uid, gid_t gid, unsigned int flags)
{
	struct iattr attr = attr_of_owner(uid, gid);

	if (flags & ~AT_LOOKUP_FLAGS)
		return -EINVAL;
	return change_at(task, dirfd, path, flags, &attr);
}

int berth_chown(struct berth_task *task, const char *path, uid_t uid, gid_t gid)
{
	return berth_fchownat(task, BERTH_AT_FDCWD, path, uid, gid, 0);
}

int berth_lchown(struct berth_task *task, const char *path, uid_t uid,
		 gid_t gid)
{
	return berth_fchownat(task, BERTH_AT_FDCWD, path, uid, gid,
			      BERTH_AT_SYMLINK_NOFOLLOW);
}

int berth_fchown(struct berth_task *task, int fd, uid_t uid, gid_t gid)
{
	struct iattr attr = attr_of_owner(uid, gid);

	return change_fd(task, fd, &attr);
}

/* ---- Times ---- */

static bool time_is_special(const struct timespec *time)
{
	return time->tv_nsec == BERTH_UTIME_NOW ||
	       time->tv_nsec == BERTH_UTIME_OMIT;
}

static bool time_is_valid(const struct timespec *time)
{
	return time_is_special(time) ||
	       (time->tv_nsec >= 0 && time->tv_nsec < 1000000000);
}

void attr_of_times(const struct timespec times[2], struct iattr *attr)
{
	*attr = (struct iattr){ .valid = ATTR_ATIME | ATTR_MTIME | ATTR_TOUCH };
	if (!times)
		return;
	if (!time_is_valid(&times[0]) || !time_is_valid(&times[1]))
		attr->valid |= ATTR_INVALID;
	if (times[0].tv_nsec != BERTH_UTIME_NOW ||
	    times[1].tv_nsec != BERTH_UTIME_NOW)
		attr->valid &= ~ATTR_TOUCH;
	if (times[0].tv_nsec == BERTH_UTIME_OMIT)
		attr->valid &= ~ATTR_ATIME;
	else if (!time_is_special(&times[0]))
		attr->valid |= ATTR_ATIME_SET;
	if (times[1].tv_nsec == BERTH_UTIME_OMIT)
		attr->valid &= ~ATTR_MTIME;
	else if (!time_is_special(&times[1]))
		attr->valid |= ATTR_MTIME_SET;
	attr->atime = ns_of_time(times[0]);
	attr->mtime = ns_of_time(times[1]);
}

int berth_utimensat(struct berth_task *task, int dirfd, const char *path,
		    const struct timespec times[2], unsigned int flags)
{
	struct iattr attr;

	attr_of_times(times, &attr);
	/* Nothing to set: nothing is looked at, as on Linux. */
	if (!(attr.valid & (ATTR_ATIME | ATTR_MTIME)))
		return 0;
	if (flags & ~AT_LOOKUP_FLAGS)
		return -EINVAL;
	if (!path && dirfd != BERTH_AT_FDCWD)
		return flags ? -EINVAL : change_fd(task, dirfd, &attr);
	return change_at(task, dirfd, path, flags, &attr);
}

int berth_futimens(struct berth_task *task, int fd,
		   const struct timespec times[2])
{
	return berth_utimensat(task, fd, NULL, times, 0);
}
