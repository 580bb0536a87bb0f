/* SPDX-License-Identifier: MIT */
/* Attributes set: one operation for chmod, chown, utimens and truncate. */
#ifndef VFS_ATTR_H
#define VFS_ATTR_H

#include "vfs/task.h"

#define ATTR_MODE      0x1u
#define ATTR_UID       0x2u
#define ATTR_GID       0x4u
#define ATTR_SIZE      0x8u
#define ATTR_ATIME     0x10u
#define ATTR_MTIME     0x20u
#define ATTR_ATIME_SET 0x40u /* to ->atime, not to now */
#define ATTR_MTIME_SET 0x80u
#define ATTR_TOUCH     0x100u /* times = now by who may only write */
#define ATTR_CHOWN     0x400u /* asked for, whatever is left to set */
#define ATTR_INVALID   0x200u /* a time is none: for after the lookup */

struct iattr {
	unsigned int valid;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	uint64_t size;
	int64_t atime;
	int64_t mtime;
};

/*
 * Check all, then set all: 0, -EINVAL, -EROFS, -EPERM or -EACCES.  Enters the
 * gate and takes the inode's lock.
 */
int notify_change(struct inode *inode, const struct cred *cred,
		  struct iattr *attr);

/* Under the lock: data changed by one without privilege, drop set-id bits. */
void inode_kill_setid(struct inode *inode, const struct cred *cred);

/* May @cred do @mode (R_OK, W_OK, X_OK)?  0, -EACCES or -EROFS. */
int access_check(const struct inode *inode, const struct cred *cred, int mode);

/* Times as utimensat takes them; NULL is now for both. */
void attr_of_times(const struct timespec times[2], struct iattr *attr);

#endif
