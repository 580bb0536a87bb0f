/* SPDX-License-Identifier: MIT */
/*
 * Instances, tasks and credentials.
 *
 * A task's credentials and directories are pointers that readers follow under
 * RCU and that are replaced by one swap; each owns a reference to what it
 * points at, which goes back after the swap.
 */
#ifndef VFS_TASK_H
#define VFS_TASK_H

#include <errno.h>

#include "base/mem.h"
#include "files/files.h"
#include "mount/mount.h"
#include "vfs/inode.h"

struct berth_vfs {
	/* Read-mostly. */
	struct vfsmount mnt cache_aligned;
	struct inode *root cache_aligned;
	const struct inode_operations *regular; /* of the type's files */
	void (*clock)(struct timespec *now, void *arg);
	void (*report)(const char *invariant, const char *detail, void *arg);
	void *arg;			  /* for these two */
	uint64_t max_inodes;		  /* 0: no limit */
	struct berth_file_budget *budget; /* of open files; NULL: no limit */
	struct mem mem;

	/* Written by creation and removal. */
	uint64_t used_inodes cache_aligned; /* deferred frees included */
	uint64_t next_ino;
	uint64_t tasks;
	struct spinlock inodes_lock;
	struct mutex rename_lock;   /* directories change their parents */
	struct seqcount rename_seq; /* odd while one does */
	struct inode *inodes;	    /* all of them, under inodes_lock */

	struct page_store pages;
};

struct cred {
	struct berth_kref refs;
	uid_t uid;
	gid_t gid;
	unsigned int flags;
	unsigned int ngroups;
	struct berth_retired retired;
	gid_t groups[];
};

struct berth_task {
	struct files_struct *files;
	struct berth_vfs *vfs;
	struct inode *root; /* RCU, owned */
	struct inode *cwd;  /* RCU, owned */
	struct cred *cred;  /* RCU, owned */
	mode_t umask;
};

/* What a type of file system makes of an instance: see front/api. */
int vfs_create(const struct berth_vfs_options *options,
	       const struct inode_operations *regular, struct berth_vfs **vfs);

static inline int64_t vfs_now(const struct berth_vfs *vfs)
{
	struct timespec now;

	if (unlikely(vfs->clock))
		vfs->clock(&now, vfs->arg);
	else
		sys_clock(&now);
	return ns_of_time(now);
}

/* Credentials that the caller owns until cred_put(). */
struct cred *cred_get(struct berth_task *task);
void cred_put(struct cred *cred);

/* No permission is asked of him. */
static inline bool cred_overrides(const struct cred *cred)
{
	return cred->uid == 0 || (cred->flags & BERTH_CRED_OVERRIDE);
}

bool cred_in_group(const struct cred *cred, gid_t gid);

/* MAY_* as in R_OK, W_OK, X_OK. */
#define MAY_EXEC  1u
#define MAY_WRITE 2u
#define MAY_READ  4u

/* 0 or -EACCES.  Any context. */
int inode_permission(const struct inode *inode, const struct cred *cred,
		     unsigned int mask);
/* Owner, or privileged. */
bool inode_owner_or_capable(const struct inode *inode, const struct cred *cred);

static inline bool is_want_of_room(ssize_t ret)
{
	return ret == -ENOSPC || ret == -ENOMEM;
}

/* Others may take what is freed again and again; somebody has to give up. */
#define ROOM_TRIES 64u

/* Drain; was anything freed since *@seen, which is set anew? */
static inline bool drain_since(uint64_t *seen, unsigned int tries)
{
	uint64_t before = *seen;

	if (tries >= ROOM_TRIES || !rcu_drain())
		return false;
	*seen = rcu_progress();
	return *seen != before;
}

/*
 * Run @call again after a drain when it failed for want of room: what was freed
 * before is to be usable (V4).  Another thread may take that room and free some
 * more, so this goes on while anything is freed, by whomever.  @call holds
 * nothing when it fails.
 */
#define retry_after_drain(call)                           \
	({                                                \
		uint64_t seen_ = rcu_progress();          \
		unsigned int tries_ = 0;                  \
		__typeof__(call) ret_ = (call);           \
		while (unlikely(is_want_of_room(ret_)) && \
		       drain_since(&seen_, tries_++))     \
			ret_ = (call);                    \
		ret_;                                     \
	})

#endif
