/* SPDX-License-Identifier: MIT */
/*
 * A mount, and the gate that its writers pass.
 *
 * The gate is one 64-bit word, so that every decision about it is one
 * compare-and-swap and no two of them can overlap:
 *
 *	bits 0-7	MNT_READONLY, MNT_FROZEN, MNT_WAITERS
 *	bits 8-31	operations in progress (W6)
 *	bits 32-63	long holds: files that are open for writing (W6)
 *
 * An operation enters when neither flag stands, and waits while MNT_FROZEN
 * does. Read-only is reached from both counts at zero only (W1 to W3); a freeze
 * drains the operations alone.  Correct and simple: all writers of a mount
 * share the word.  The per-CPU gate that replaces it keeps these names.
 *
 * No thread that holds an operation enters again: it would wait for a freezer
 * that waits for it.
 */
#ifndef MOUNT_MOUNT_H
#define MOUNT_MOUNT_H

#include "base/atomic.h"

struct vfsmount {
	uint64_t gate;
	struct vfsmount *next; /* in the list of mounts, under its lock */
	struct vfsmount **pprev;
};

void mnt_init(struct vfsmount *mnt, bool readonly);
/* Are both counts zero, as they are to be when a mount dies (W6)? */
bool mnt_is_idle(const struct vfsmount *mnt);
void mnt_finish(struct vfsmount *mnt);

/* Read-only at this instant?  For atime and access checks. */
bool mnt_is_readonly(const struct vfsmount *mnt);
/* 0; -EBUSY while there is a writer. */
int mnt_make_readonly(struct vfsmount *mnt);
void mnt_make_writable(struct vfsmount *mnt);

/* Begin a modification: 0 or -EROFS.  May wait; not inside a borrow. */
int mnt_want_write(struct vfsmount *mnt);
/* The same through a file that is open for writing: it need not be asked about
 * read-only, only wait for a thaw. */
void mnt_want_write_file(struct vfsmount *mnt);
/* The same where waiting is not allowed: false when it would have to. */
bool mnt_try_want_write(struct vfsmount *mnt);
void mnt_drop_write(struct vfsmount *mnt);

/* A file is opened for writing: 0 or -EROFS. */
int mnt_get_write_access(struct vfsmount *mnt);
void mnt_put_write_access(struct vfsmount *mnt);

#endif
