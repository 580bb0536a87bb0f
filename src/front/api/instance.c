/* SPDX-License-Identifier: MIT */
/* The edge of the library that joins the VFS with a type of file system. */
#include "fs/ramfs.h"
#include "vfs/task.h"

int berth_vfs_create(const struct berth_vfs_options *options,
		     struct berth_vfs **vfs)
{
	return vfs_create(options, &ramfs_operations, vfs);
}
