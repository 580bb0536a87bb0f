/* SPDX-License-Identifier: MIT */
/*
 * Directory entries: a name in a directory, bound to an inode.
 *
 * A dentry never changes: a rename makes a new one.  So a reader who holds a
 * pointer to one under RCU has its name and inode, and no lookup can see a name
 * half written.
 *
 * *Structure*.  A directory finds its entries by name in a hash table, and in
 * order in an array of slots.  An entry keeps its slot while it lives; the
 * slot's number is its cookie for readdir, so every entry that stays is seen
 * once, whatever comes and goes beside it.  A rename inside a directory keeps
 * the slot of the name that stays: the target's if there was one, else the
 * source's.
 *
 * *Lookup*.  The reader walks a hash chain.  If it finds the name, it was there
 * at some instant during the walk.  If it does not, and dir->seq has changed,
 * an entry may have been moved past it (rehash, rename): it looks again.  A
 * rename holds the seq of both directories odd from before its first change to
 * after its last, and a lookup begins when it is even: so
 * nobody who saw the new name sees the old one afterwards (V3).
 *
 * *Locking*.  Modifications hold the directory's inode->lock.
 */
#ifndef VFS_DENTRY_H
#define VFS_DENTRY_H

#include "vfs/inode.h"

#define NAME_MAX_BYTES 255u

/* A component of a path. */
struct qstr {
	const char *name;
	unsigned int len;
	uint32_t hash;
};

struct dentry {
	struct dentry *next; /* RCU: in its hash chain */
	struct inode *inode;
	uint32_t hash;
	unsigned int slot;
	struct berth_vfs *vfs;
	struct berth_retired retired;
	unsigned char len;
	char name[];
};

struct dir_hash {
	unsigned int mask;
	struct berth_vfs *vfs;
	struct berth_retired retired;
	struct dentry *chain[];
};

struct dir_slots {
	unsigned int count; /* slots there are; writers add with a new array */
	unsigned int used;  /* slots from here on were never used */
	struct berth_vfs *vfs;
	struct berth_retired retired;
	struct dentry *slot[];
};

/* Fill in a component's length and hash; it ends at '/' or NUL. */
void qstr_init(struct qstr *qstr, const char *name);

/*
 * In a read section: the inode of a name.  0, -ENOENT, or LOOKUP_AGAIN: entries
 * are on the move, and who moves them does not get on.  He is waited for outside
 * the read section, by lookup_pause(); then one looks again.
 */
int d_lookup(struct inode *dir, const struct qstr *name, struct inode **inode);

#define LOOKUP_AGAIN (-ERESTART) /* never leaves the library */

/* ---- Modifications, under the directory's lock ---- */

/* The entry of a name, or NULL. */
struct dentry *d_find(struct inode *dir, const struct qstr *name);
/* An entry that is not in a directory yet, or NULL. */
struct dentry *d_alloc(struct inode *inode, const struct qstr *name);
/* An entry from d_alloc() that nobody has seen. */
void d_free(struct dentry *dentry);
/* Make room for one more entry, so that d_add() can not fail.  0 or -ENOMEM. */
int d_prepare(struct inode *dir);
void d_add(struct inode *dir, struct dentry *dentry);
void d_remove(struct inode *dir, struct dentry *dentry);

/*
 * Move an entry, between d_move_begin() and d_move_end() on its directories:
 * put @dentry in the place of @old (in the same slot), or out.
 */
void d_move_begin(struct inode *dir1, struct inode *dir2);
void d_move_end(struct inode *dir1, struct inode *dir2);
void d_replace(struct inode *dir, struct dentry *old, struct dentry *dentry);

/* In debug builds: do hash, slots and count agree?  Under the lock. */
#if BERTH_DEBUG_CHECKS
void dir_check(struct inode *dir);
#else
static inline void dir_check(struct inode *dir)
{
	(void)dir;
}
#endif

/* Nobody sees the directory any more: free entries, hash and slots. */
void d_free_all(struct inode *dir);

#endif
