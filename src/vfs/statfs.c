/* SPDX-License-Identifier: MIT */
/* How full a file system is. */
#include <errno.h>

#include "vfs/namei.h"
#include "vfs/open.h"

static uint64_t free_of(uint64_t max, uint64_t used)
{
	return used < max ? max - used : 0;
}

void berth_vfs_statfs(struct berth_vfs *vfs, struct berth_statfs *st)
{
	uint64_t pages, inodes;

	/* What is freed counts as free, though a reader may still see it. */
	rcu_drain();
	pages = load_relaxed(&vfs->pages.used);
	inodes = load_relaxed(&vfs->used_inodes);
	*st = (struct berth_statfs){
		.blocks = vfs->pages.max,
		.blocks_free = free_of(vfs->pages.max, pages),
		.inodes = vfs->max_inodes,
		.inodes_free = free_of(vfs->max_inodes, inodes),
		.block_size = PAGE_SIZE,
		.name_max = NAME_MAX_BYTES,
	};
}

int berth_statfs(struct berth_task *task, const char *path,
		 struct berth_statfs *st)
{
	struct cred *cred = cred_get(task);
	struct inode *inode;
	int ret;

	ret = inode_get(task, cred, BERTH_AT_FDCWD, path, WALK_FOLLOW, false,
			&inode);
	if (!ret) {
		berth_vfs_statfs(inode->vfs, st);
		iput(inode);
	}
	cred_put(cred);
	rcu_poll();
	return ret;
}

int berth_fstatfs(struct berth_task *task, int fd, struct berth_statfs *st)
{
	struct file *file = vfs_get(task, fd, 0);

	if (!file)
		return -EBADF;
	berth_vfs_statfs(file->inode->vfs, st);
	fput(&file->base);
	rcu_poll();
	return 0;
}
