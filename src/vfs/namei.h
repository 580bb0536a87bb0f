/* SPDX-License-Identifier: MIT */
/*
 * Path walks.
 *
 * A walk runs in one read section, takes no lock and no reference, and follows
 * symbolic links by keeping what is left of each path on a small stack.  Who
 * wants to modify what it found owns the directory, leaves the read section,
 * locks it and looks again.
 */
#ifndef VFS_NAMEI_H
#define VFS_NAMEI_H

#include "vfs/dentry.h"
#include "vfs/task.h"

#define PATH_MAX_BYTES 4096u
#define LINKS_MAX      40u

enum last_type {
	LAST_NORM,
	LAST_DOT,
	LAST_DOTDOT,
	LAST_ROOT, /* the path was "/" */
};

#define WALK_FOLLOW 0x1u /* a link in last place, too */
#define WALK_PARENT 0x2u /* stop before the last component */
#define WALK_CREATE 0x4u /* the last component may be missing */
/* Those of openat2(), see there. */
#define WALK_BENEATH  0x8u
#define WALK_IN_ROOT  0x10u
#define WALK_NO_LINKS 0x20u
#define WALK_SCOPED   (WALK_BENEATH | WALK_IN_ROOT)

struct nameidata {
	const struct cred *cred;
	struct inode *root;
	struct inode *inode; /* where the walk is, or has ended */
	struct qstr last;
	enum last_type last_type;
	bool missing;  /* with WALK_CREATE: @inode is the parent of @last */
	bool want_dir; /* a trailing slash */
	bool went_up;  /* by ".." */
	unsigned int flags;
	unsigned int links;
	unsigned int depth;
	const char *rest[LINKS_MAX];
};

/* In a read section: one step from @dir, "." and ".." included; as
 * d_lookup(). */
int dir_step(struct inode *dir, enum last_type type, const struct qstr *name,
	     struct inode **inode);

/*
 * In a read section, after a lookup: does it have to be made again?  Then the
 * section was left, and what was found in it is worth nothing any more.
 */
static inline bool lookup_pause(int ret, unsigned int *tries)
{
	if (likely(ret != LOOKUP_AGAIN))
		return false;
	rcu_read_unlock();
	sys_yield((*tries)++);
	rcu_read_lock();
	return true;
}

/* -EFAULT, -ENOENT (empty) or -ENAMETOOLONG, before anything is looked up. */
int path_check(const char *path);

/*
 * In a read section: walk @path, which path_check() has passed, from @dirfd.
 * The result is in nd->inode, valid in that section.  LOOKUP_AGAIN as
 * d_lookup().
 */
int path_walk(struct nameidata *nd, struct berth_task *task, int dirfd,
	      const char *path, unsigned int flags);

/* The directory and the name that a modification is about. */
struct parent {
	struct inode *dir; /* owned */
	struct qstr last;
	enum last_type last_type;
	bool want_dir;
	char name[NAME_MAX_BYTES + 1];
};

/* Walk to the parent of @path and own it.  Checks the path, too. */
int parent_get(struct parent *parent, struct berth_task *task,
	       const struct cred *cred, int dirfd, const char *path);
void parent_put(struct parent *parent);
/* Own the walk's directory and copy its last name; -ENOENT if it is dying. */
int parent_of_walk(struct parent *parent, const struct nameidata *nd);
/* One component given by a caller: 0, -EINVAL or -ENAMETOOLONG. */
int parent_of_name(struct parent *parent, struct inode *dir, const char *name);
/* The same, "." and ".." allowed. */
int parent_of_dots(struct parent *parent, struct inode *dir, const char *name);

/* In a read section: the inode of an open file or of the working directory. */
int inode_of_fd(struct berth_task *task, int fd, struct inode **inode);

/*
 * Own what a path leads to.  @flags: WALK_FOLLOW.  With @empty an empty (or
 * NULL) path is the file of @dirfd itself.
 */
int inode_get(struct berth_task *task, const struct cred *cred, int dirfd,
	      const char *path, unsigned int flags, bool empty,
	      struct inode **inode);

#endif
