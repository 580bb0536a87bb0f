/* SPDX-License-Identifier: MIT */
/* The life of an inode, its attributes and times. */
#include <errno.h>

#include "base/report.h"
#include "vfs/dentry.h"
#include "vfs/task.h"

#define NS_PER_SEC 1000000000

/* relatime moves an access time that is this old. */
#define RELATIME_NS (INT64_C(24) * 3600 * NS_PER_SEC)

/* ---- Times ---- */

struct timespec time_of_ns(int64_t ns)
{
	int64_t rest = ns % NS_PER_SEC;

	if (rest < 0)
		rest += NS_PER_SEC;
	return (struct timespec){ .tv_sec = (ns - rest) / NS_PER_SEC,
				  .tv_nsec = rest };
}

/* Clamped to what 64 bits hold, 1677 to 2262. */
int64_t ns_of_time(struct timespec time)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)time.tv_sec, NS_PER_SEC, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)time.tv_nsec, &ns))
		return time.tv_sec < 0 ? INT64_MIN + NS_PER_SEC : INT64_MAX;
	return ns < INT64_MIN + NS_PER_SEC ? INT64_MIN + NS_PER_SEC : ns;
}

int64_t inode_now(const struct inode *inode)
{
	return vfs_now(inode->vfs);
}

void inode_touch(struct inode *inode, int64_t now, bool data)
{
	attr_begin(inode);
	seq_store(&inode->ctime, now);
	if (data)
		seq_store(&inode->mtime, now);
	attr_end(inode);
}

void inode_add_link(struct inode *inode, int links, int64_t now)
{
	attr_begin(inode);
	seq_store(&inode->nlink, inode->nlink + (unsigned int)links);
	seq_store(&inode->ctime, now);
	attr_end(inode);
}

/*
 * The rule's day is coarse, and looking at the clock costs a fifth of a short
 * read: a thread asks it at every 64th read only.
 */
static bool atime_day_is_over(const struct inode *inode, int64_t atime)
{
	static __thread unsigned int reads;

	return unlikely((++reads & 63) == 0) &&
	       inode_now(inode) - atime >= RELATIME_NS;
}

static noinline void touch_atime_now(struct inode *inode)
{
	struct vfsmount *mnt = &inode->vfs->mnt;

	if (!mnt_try_want_write(mnt))
		return;
	/* Relaxed: one word, which nothing else depends on. */
	store_relaxed(&inode->atime, inode_now(inode));
	mnt_drop_write(mnt);
}

void touch_atime(struct inode *inode)
{
	int64_t atime = load_relaxed(&inode->atime);

	if (unlikely(atime <= load_relaxed(&inode->mtime) ||
		     atime <= load_relaxed(&inode->ctime) ||
		     atime_day_is_over(inode, atime)))
		touch_atime_now(inode);
}

/* ---- Attributes ---- */

bool inode_try_stat(struct inode *inode, struct berth_stat *st)
{
	uint64_t blocks;
	uint32_t seq;

	*st = (struct berth_stat){ .ino = inode->ino,
				   .blksize = PAGE_SIZE,
				   .rdev = inode->rdev,
				   .btime = time_of_ns(inode->btime) };
	do {
		if (unlikely(!seq_read_try_begin(&inode->attr_seq, &seq)))
			return false;
		st->mode = seq_load(&inode->mode);
		st->uid = seq_load(&inode->uid);
		st->gid = seq_load(&inode->gid);
		st->nlink = seq_load(&inode->nlink);
		st->size = seq_load(&inode->size);
		blocks = seq_load(&inode->blocks);
		st->mtime = time_of_ns(seq_load(&inode->mtime));
		st->ctime = time_of_ns(seq_load(&inode->ctime));
	} while (seq_read_retry(&inode->attr_seq, seq));
	st->blocks = blocks * (PAGE_SIZE / 512);
	/* Relaxed: written apart from the others, see touch_atime(). */
	st->atime = time_of_ns(load_relaxed(&inode->atime));
	return true;
}

void inode_stat(struct inode *inode, struct berth_stat *st)
{
	while (!inode_try_stat(inode, st))
		seq_read_wait(&inode->attr_seq);
}

/* ---- Life ---- */

bool inode_charge(struct berth_vfs *vfs)
{
	uint64_t used = load_relaxed(&vfs->used_inodes);

	/* Relaxed: the counter decides about itself only. */
	do {
		if (vfs->max_inodes && used >= vfs->max_inodes)
			return false;
	} while (!cas_relaxed(&vfs->used_inodes, &used, used + 1));
	return true;
}

void inode_uncharge(struct berth_vfs *vfs)
{
	fetch_sub_relaxed(&vfs->used_inodes, 1);
}

static void inode_link(struct inode *inode)
{
	struct berth_vfs *vfs = inode->vfs;

	spin_lock(&vfs->inodes_lock);
	inode->next = vfs->inodes;
	inode->pprev = &vfs->inodes;
	if (inode->next)
		inode->next->pprev = &inode->next;
	vfs->inodes = inode;
	spin_unlock(&vfs->inodes_lock);
}

static void inode_unlink_list(struct inode *inode)
{
	struct berth_vfs *vfs = inode->vfs;

	spin_lock(&vfs->inodes_lock);
	*inode->pprev = inode->next;
	if (inode->next)
		inode->next->pprev = inode->pprev;
	spin_unlock(&vfs->inodes_lock);
}

static struct bytes inode_bytes(void)
{
	return bytes_of(sizeof(struct inode));
}

/* ---- The text of a symbolic link ---- */

/* A longer text takes a page of the instance's, as on tmpfs. */
#define SHORT_TARGET 127u

static struct bytes target_bytes(uint64_t length)
{
	return bytes_of(length + 1);
}

static void target_free(struct inode *inode)
{
	mem_free(&inode->vfs->mem, inode->target, target_bytes(inode->size));
	if (inode->blocks)
		page_uncharge(&inode->vfs->pages);
}

static int target_create(struct berth_vfs *vfs, struct inode *inode,
			 const char *target)
{
	size_t length = strlen(target);
	int ret;

	if (length > SHORT_TARGET) {
		ret = page_charge(&vfs->pages);
		if (ret)
			return ret;
		inode->blocks = 1;
	}
	inode->target = mem_alloc(&vfs->mem, target_bytes(length));
	if (!inode->target) {
		if (inode->blocks)
			page_uncharge(&vfs->pages);
		return -ENOMEM;
	}
	memcpy(inode->target, target, length + 1);
	inode->size = length;
	return 0;
}

/* Identity and attributes of a fresh, zeroed inode. */
static void inode_fill(struct inode *inode, struct berth_vfs *vfs,
		       const struct inode_init *init)
{
	int64_t now = vfs_now(vfs);

	inode->vfs = vfs;
	inode->ops = vfs->regular;
	inode->ino = fetch_add_relaxed(&vfs->next_ino, 1);
	inode->generation = inode->ino;
	inode->mode = init->mode;
	inode->uid = init->uid;
	inode->gid = init->gid;
	inode->rdev = init->rdev;
	inode->nlink = S_ISDIR(init->mode) ? 1 : 0;
	inode->atime = inode->mtime = inode->ctime = inode->btime = now;
	kref_init(&inode->refs);
	mutex_init(&inode->lock);
	if (S_ISDIR(init->mode)) /* another class: see the chain in inode.h */
		mutex_init(&inode->lock);
}

int inode_create(struct berth_vfs *vfs, const struct inode_init *init,
		 struct inode **result)
{
	struct inode *inode;
	int ret = -ENOMEM;

	if (!inode_charge(vfs))
		return -ENOSPC;
	inode = mem_zalloc_lines(&vfs->mem, inode_bytes());
	if (!inode)
		goto out_uncharge;
	if (init->target) {
		ret = target_create(vfs, inode, init->target);
		if (ret)
			goto out_free;
	}
	inode_fill(inode, vfs, init);
	inode_link(inode);
	*result = inode;
	return 0;

out_free:
	mem_free(&vfs->mem, inode, inode_bytes());
out_uncharge:
	inode_uncharge(vfs);
	return ret;
}

/* After a grace period, or when nobody else ever saw it. */
void inode_free(struct inode *inode)
{
	struct berth_vfs *vfs = inode->vfs;

	inode_unlink_list(inode);
	if (S_ISREG(inode->mode))
		inode->ops->evict(inode);
	else if (S_ISDIR(inode->mode))
		d_free_all(inode);
	else if (S_ISLNK(inode->mode))
		target_free(inode);
	mem_free(&vfs->mem, inode, inode_bytes());
	inode_uncharge(vfs);
}

static void inode_free_retired(struct berth_retired *retired)
{
	inode_free(container_of(retired, struct inode, retired));
}

/*
 * A directory owns its parent: the chain of removed ancestors is undone here,
 * one after the other, not by recursion.  A reader that still follows ->parent
 * is safe: the parent is retired after the child, so it is freed no earlier.
 */
void inode_evict(struct inode *inode)
{
	struct inode *parent;

	do {
		parent = S_ISDIR(inode->mode) ? load_relaxed(&inode->dir.parent)
					      : NULL;
		rcu_retire(&inode->retired, inode_free_retired);
		inode = parent;
	} while (inode && kref_put_last(&inode->refs));
}
