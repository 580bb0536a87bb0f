/* SPDX-License-Identifier: MIT */
/*
 * Inodes: what a file is, apart from its names.
 *
 * *Lifetime*.  References are owned by the tree (one, while there is a link),
 * by open files, tasks' directories, children's parent pointers and by-inode
 * users. The last iput() evicts: the inode is retired, and after a grace period
 * inode_free() gives back its pages, its place under nr_inodes and its memory.
 * Until then a reader that found it under RCU may go on using it.
 *
 * *Locking*, from the outside in:
 *
 *	mnt_want_write() -> vfs->rename_lock -> a directory's lock (ancestors
 *	first, else by address) -> lock of a file or victim (by address)
 *	-> vfs->inodes_lock, store->lock
 *
 * inode->lock	serialises modification of data, attributes and entries.
 * attr_seq	lets stat take attributes as of one instant without a lock; it
 *		is written under inode->lock.
 *
 * Times are nanoseconds since 1970 in one word, so that each is read and
 * written whole; atime alone is written without the lock.
 */
#ifndef VFS_INODE_H
#define VFS_INODE_H

#include <sys/stat.h>

#include <berth/vfs.h>

#include "base/kref.h"
#include "base/lock.h"
#include "base/rcu.h"
#include "vfs/iov.h"
#include "vfs/page.h"

struct inode;
struct dentry;
struct dir_hash;
struct dir_slots;
struct cred;

/* What a type of file system does for its inodes. */
struct inode_operations {
	/* In a read section: bytes from @pos, which lies below the size. */
	void (*read)(struct inode *inode, void *buf, size_t count,
		     uint64_t pos);
	/* Under the lock: get all the room that @count bytes from @pos need, so
	 * that what follows can not fail.  For how many there is room (at least
	 * one), or -ENOSPC or -ENOMEM; @pages->error tells why there is no more.
	 * One of the next three follows. */
	int64_t (*make_room)(struct inode *inode, uint64_t pos, uint64_t count,
			     struct page_list *pages);
	void (*write)(struct inode *inode, uint64_t pos, struct iov_iter *from,
		      size_t count, struct page_list *pages);
	/* Keep the room, which reads as zeros, for later. */
	void (*keep_room)(struct inode *inode, uint64_t pos, uint64_t count,
			  struct page_list *pages);
	void (*give_room)(struct inode *inode, uint64_t pos, uint64_t count,
			  struct page_list *pages);
	/* Under the lock: drop the data beyond @size, the size is set. */
	void (*truncate)(struct inode *inode, uint64_t size);
	/* Under the lock: what lies in this range reads as zeros from now on,
	 * and whole pages of it go. */
	void (*punch)(struct inode *inode, uint64_t pos, uint64_t count);
	/* Under the lock: the next data (or hole) at or after @pos, below the
	 * size; or -ENXIO. */
	int64_t (*seek)(struct inode *inode, uint64_t pos, bool data);
	/* Nobody sees the inode any more: free the data. */
	void (*evict)(struct inode *inode);
};

/* A directory's entries: see dentry.h. */
struct dir {
	struct dir_hash *hash;	 /* RCU: for lookups */
	struct dir_slots *slots; /* RCU: for readdir */
	struct inode *parent;	 /* RCU; owned; NULL for the root */
	struct dentry *self;	 /* RCU: its entry in the parent */
	struct seqcount seq;	 /* odd while entries move */
	unsigned int entries;
	unsigned int lowest; /* no slot below it is free */
};

struct inode {
	/* Read-mostly: identity, permissions, where the data is. */
	const struct inode_operations *ops;
	struct berth_vfs *vfs;
	uint64_t ino;
	mode_t mode; /* under lock and attr_seq, as the next four */
	uid_t uid;
	gid_t gid;
	unsigned int nlink;
	uint64_t size;
	union {
		struct page_tree pages; /* regular file */
		struct dir dir;
		char *target; /* symbolic link: immutable */
	};

	/* Written when attributes change. */
	int64_t atime cache_aligned;
	int64_t mtime; /* under lock and attr_seq, as the next two */
	int64_t ctime;
	uint64_t blocks; /* pages held */
	int64_t btime;	 /* immutable */
	uint64_t generation;
	uint64_t rdev;
	struct seqcount attr_seq;
	struct mutex lock;
	bool linkable;	 /* under lock: made without a name, may get one */
	bool keeps_room; /* under lock: some page may be unwritten */

	/* Written by those who come and go. */
	struct berth_kref refs cache_aligned;
	uint64_t nlookup;   /* given out by inode calls; owns one if not 0 */
	struct inode *next; /* in vfs->inodes, under its lock */
	struct inode **pprev;
	struct berth_retired retired;
};

/* What a new inode is to be. */
struct inode_init {
	mode_t mode; /* type and permissions, complete */
	uid_t uid;
	gid_t gid;
	uint64_t rdev;
	const char *target;
};

/* A new inode with one reference and no link: 0, -ENOSPC or -ENOMEM. */
int inode_create(struct berth_vfs *vfs, const struct inode_init *init,
		 struct inode **inode);
/* Nobody sees the inode any more, or ever has. */
void inode_free(struct inode *inode);

/* One more place under nr_inodes, for an inode or a further link of one. */
bool inode_charge(struct berth_vfs *vfs);
void inode_uncharge(struct berth_vfs *vfs);

static inline void ihold(struct inode *inode)
{
	kref_get(&inode->refs);
}

/* In a read section: own an inode found without; false: it is dying. */
static inline bool igrab(struct inode *inode)
{
	return kref_get_unless_zero(&inode->refs);
}

void inode_evict(struct inode *inode);

static inline void iput(struct inode *inode)
{
	if (kref_put_last(&inode->refs))
		inode_evict(inode);
}

static inline mode_t inode_mode(const struct inode *inode)
{
	/* Relaxed: one word, as of some instant. */
	return load_relaxed(&inode->mode);
}

static inline bool inode_is_dir(const struct inode *inode)
{
	return S_ISDIR(inode_mode(inode));
}

static inline uint64_t inode_size(const struct inode *inode)
{
	/* ACQ(inode_size:A) pairs with REL(inode_set_size:A): the bytes below
	 * the size are there. */
	return load_acquire(&inode->size);
}

/* Under the lock, in a section of attr_seq. */
static inline void inode_set_size(struct inode *inode, uint64_t size)
{
	/* REL(inode_set_size:A) pairs with ACQ(inode_size:A) */
	store_release(&inode->size, size);
}

/* Under the lock: change attributes between these two. */
static inline void attr_begin(struct inode *inode)
{
	seq_write_begin(&inode->attr_seq);
}

static inline void attr_end(struct inode *inode)
{
	seq_write_end(&inode->attr_seq);
}

/* Under the lock: there are bytes up to @end now. */
static inline void inode_extend(struct inode *inode, uint64_t end)
{
	if (end <= inode->size)
		return;
	attr_begin(inode);
	inode_set_size(inode, end);
	attr_end(inode);
}

int64_t inode_now(const struct inode *inode);
/* Under the lock: something about the inode changed; with @data its data. */
void inode_touch(struct inode *inode, int64_t now, bool data);
/* Under the lock: one link more or less; the tree's reference is the caller's
 * affair. */
void inode_add_link(struct inode *inode, int links, int64_t now);

/* No file is larger. */
#define FILE_SIZE_MAX ((uint64_t)INT64_MAX)

/* Attributes as of one instant.  Not in a read section: may wait. */
void inode_stat(struct inode *inode, struct berth_stat *st);
/* The same where waiting is not allowed: false when it would have to. */
bool inode_try_stat(struct inode *inode, struct berth_stat *st);

/* A file was read: move its atime by relatime's rule, if it may be written. */
void touch_atime(struct inode *inode);

struct timespec time_of_ns(int64_t ns);
int64_t ns_of_time(struct timespec time);

#endif
