/* SPDX-License-Identifier: MIT */
/*
 * Modifications of directories, on an owned parent and a name.
 *
 * All stand inside the mount's gate and hold the directory's lock; all allocate
 * before they change anything, so that no error leaves one half done (V5).
 */
#ifndef VFS_DIROPS_H
#define VFS_DIROPS_H

#include "vfs/namei.h"

/* A directory's lock that is taken while its parent's is held, and perhaps that
 * of another parent. */
#define VICTIM_DEPTH 2

/* A new entry: type and permission bits, before the umask, which is a mask of
 * the bits that it may not have. */
struct new_entry {
	mode_t mode;
	mode_t umask;
	uint64_t rdev;
	const char *target;
};

/*
 * Make a new inode under a name.  The caller is inside the gate and holds the
 * directory's lock, and has checked that the name is free and may be made.
 * @inode, if not NULL, gets the inode, owned.
 */
int make_entry(struct parent *parent, const struct cred *cred,
	       const struct new_entry *entry, struct inode **inode);

/* May entries be made in a directory?  Under its lock. */
int may_create(const struct inode *dir, const struct cred *cred);

/* A directory that was removed: nothing is made in it any more. */
bool dir_is_dead(const struct inode *dir);
/* May @victim's entry be removed, or replaced?  Under the directory's lock. */
int may_delete(const struct inode *dir, const struct inode *victim,
	       const struct cred *cred, bool isdir);
/*
 * One link less; a directory loses all.  Returns whether it was the last, whose
 * place under nr_inodes goes with the inode.  Under both locks.
 */
bool drop_link(struct inode *dir, struct inode *victim, int64_t now);

/* The whole operation, gate and lock included. */
int do_create(struct parent *parent, const struct cred *cred,
	      const struct new_entry *entry, struct inode **inode);
/* A regular file without a name, owned. */
int do_tmpfile(struct inode *dir, const struct cred *cred,
	       const struct new_entry *entry, bool linkable,
	       struct inode **inode);
/* What stands for "there is nothing" in a layer of a union of file systems: its
 * one link and reference are the tree's.  Under the directory's lock. */
int whiteout_create(struct inode *dir, const struct cred *cred,
		    struct inode **inode);
int do_unlink(struct parent *parent, const struct cred *cred, bool rmdir);
int do_link(struct inode *inode, struct parent *parent,
	    const struct cred *cred);
int do_rename(struct parent *from, struct parent *to, const struct cred *cred,
	      unsigned int flags);

bool rename_flags_are_valid(unsigned int flags);

/* The task's umask. */
mode_t umask_of(const struct berth_task *task);
/* The type of a node to make: 0, -EPERM or -EINVAL. */
int check_node(mode_t *mode);

#endif
