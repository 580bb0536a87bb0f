/* SPDX-License-Identifier: MIT */
/* The space of a file: its size set, room kept for it, holes made in it. */
#include <errno.h>

#include "vfs/attr.h"
#include "vfs/namei.h"
#include "vfs/open.h"

/* ---- Truncate ---- */

void inode_truncate(struct inode *inode, uint64_t size)
{
	uint64_t old = inode->size;

	attr_begin(inode);
	inode_set_size(inode, size);
	attr_end(inode);
	inode_touch(inode, inode_now(inode), true);
	/* There may be room beyond the end, also of a size that stays. */
	if (size <= old)
		inode->ops->truncate(inode, size);
}

/* Inside the gate.  By path, the size that is there already leaves the times of
 * a file without pages, which has none to give back. */
static void truncate_locked(struct inode *inode, const struct cred *cred,
			    uint64_t size, bool always)
{
	mutex_lock(&inode->lock);
	inode_kill_setid(inode, cred);
	if (always || inode->size != size || inode->blocks)
		inode_truncate(inode, size);
	mutex_unlock(&inode->lock);
}

int berth_ftruncate(struct berth_task *task, int fd, int64_t length)
{
	struct file *file;
	struct cred *cred;
	int ret = -EINVAL;

	if (length < 0)
		return -EINVAL;
	file = vfs_get(task, fd, FMODE_OPEN);
	if (!file)
		return -EBADF;
	if (!(file->fmode & FMODE_WRITE) || !S_ISREG(inode_mode(file->inode)))
		goto out_put_file;
	cred = cred_get(task);
	mnt_want_write_file(&file->inode->vfs->mnt);
	truncate_locked(file->inode, cred, (uint64_t)length, true);
	mnt_drop_write(&file->inode->vfs->mnt);
	cred_put(cred);
	ret = 0;
out_put_file:
	fput(&file->base);
	rcu_poll();
	return ret;
}

static int truncate_inode(struct inode *inode, const struct cred *cred,
			  uint64_t size)
{
	int ret;

	if (inode_is_dir(inode))
		return -EISDIR;
	if (!S_ISREG(inode_mode(inode)))
		return -EINVAL;
	ret = mnt_want_write(&inode->vfs->mnt);
	if (ret)
		return ret;
	ret = inode_permission(inode, cred, MAY_WRITE);
	if (!ret)
		truncate_locked(inode, cred, size, false);
	mnt_drop_write(&inode->vfs->mnt);
	return ret;
}

int berth_truncate(struct berth_task *task, const char *path, int64_t length)
{
	struct inode *inode;
	struct cred *cred;
	int ret;

	if (length < 0)
		return -EINVAL;
	cred = cred_get(task);
	ret = inode_get(task, cred, BERTH_AT_FDCWD, path, WALK_FOLLOW, false,
			&inode);
	if (!ret) {
		ret = truncate_inode(inode, cred, (uint64_t)length);
		iput(inode);
	}
	cred_put(cred);
	rcu_poll();
	return ret;
}

/* ---- Allocate and deallocate ---- */

/* What this type of file system does. */
#define FALLOC_HERE (BERTH_FALLOC_KEEP_SIZE | BERTH_FALLOC_PUNCH_HOLE)

/* Does this combination mean anything, to any type of file system? */
static bool fallocate_mode_is_valid(unsigned int mode)
{
	switch (mode & ~BERTH_FALLOC_KEEP_SIZE) {
	case 0:
	case BERTH_FALLOC_ZERO_RANGE:
	case BERTH_FALLOC_UNSHARE_RANGE:
		return true;
	case BERTH_FALLOC_PUNCH_HOLE:
		return mode & BERTH_FALLOC_KEEP_SIZE;
	case BERTH_FALLOC_COLLAPSE_RANGE:
	case BERTH_FALLOC_INSERT_RANGE:
		return !(mode & BERTH_FALLOC_KEEP_SIZE);
	default:
		return false;
	}
}

static int fallocate_check(const struct file *file, unsigned int mode,
			   int64_t offset, int64_t length)
{
	if (offset < 0 || length <= 0)
		return -EINVAL;
	if (!fallocate_mode_is_valid(mode))
		return -EOPNOTSUPP;
	if (!(file->fmode & FMODE_WRITE))
		return -EBADF;
	if (offset > INT64_MAX - length)
		return -EFBIG;
	return mode & ~FALLOC_HERE ? -EOPNOTSUPP : 0;
}

/* Under the lock: room for all of it, or nothing has changed. */
static int allocate(struct inode *inode, uint64_t offset, uint64_t length,
		    bool keep_size)
{
	struct page_list pages;
	int64_t room;

	if (!page_store_holds(&inode->vfs->pages, length / PAGE_SIZE))
		return -ENOSPC;
	room = inode->ops->make_room(inode, offset, length, &pages);
	if (room < (int64_t)length) {
		inode->ops->give_room(inode, offset, length, &pages);
		return pages.error;
	}
	inode->ops->keep_room(inode, offset, length, &pages);
	if (!keep_size)
		inode_extend(inode, offset + length);
	return 0;
}

static int fallocate_once(struct inode *inode, const struct cred *cred,
			  unsigned int mode, uint64_t offset, uint64_t length)
{
	int ret = 0;

	mnt_want_write_file(&inode->vfs->mnt);
	mutex_lock(&inode->lock);
	if (mode & BERTH_FALLOC_PUNCH_HOLE)
		inode->ops->punch(inode, offset, length);
	else
		ret = allocate(inode, offset, length,
			       mode & BERTH_FALLOC_KEEP_SIZE);
	if (!ret) {
		inode_kill_setid(inode, cred);
		inode_touch(inode, inode_now(inode), true);
	}
	mutex_unlock(&inode->lock);
	mnt_drop_write(&inode->vfs->mnt);
	return ret;
}

int berth_fallocate(struct berth_task *task, int fd, unsigned int mode,
		    int64_t offset, int64_t length)
{
	struct file *file = vfs_get(task, fd, FMODE_OPEN);
	struct cred *cred;
	int ret;

	if (!file)
		return -EBADF;
	ret = fallocate_check(file, mode, offset, length);
	if (ret)
		goto out_put_file;
	cred = cred_get(task);
	ret = retry_after_drain(fallocate_once(
		file->inode, cred, mode, (uint64_t)offset, (uint64_t)length));
	cred_put(cred);
out_put_file:
	fput(&file->base);
	rcu_poll();
	return ret;
}
