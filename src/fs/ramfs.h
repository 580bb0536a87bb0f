/* SPDX-License-Identifier: MIT */
/* The in-memory file system: entries are dentries, data is pages. */
#ifndef FS_RAMFS_H
#define FS_RAMFS_H

#include "vfs/inode.h"

extern const struct inode_operations ramfs_operations;

#endif
