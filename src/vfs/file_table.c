/* SPDX-License-Identifier: MIT */
/*
 * Open files: their memory and their end.
 *
 * *Memory*.  A thread keeps the files that it freed, up to MAGAZINE_MAX, and
 * takes from there: an open and close loop does not pass through the allocator.
 * Instances with an allocator or a cap of their own do without.
 */
#include <errno.h>

#include "base/thread.h"
#include "files/budget.h"
#include "vfs/open.h"

/* ---- Memory ---- */

#define MAGAZINE_MAX (2 * RCU_BATCH)

/* The calling thread's free files, linked by their first word. */
static __thread struct {
	struct file *free;
	unsigned int count;
	bool at_exit;
} magazine;

static struct bytes file_bytes(void)
{
	return bytes_of(sizeof(struct file));
}

static struct file **magazine_link(struct file *file)
{
	return (struct file **)(void *)&file->inode;
}

static void magazine_empty(void)
{
	struct file *file;

	while ((file = magazine.free) != NULL) {
		magazine.free = *magazine_link(file);
		sys_free(file, file_bytes());
	}
	magazine.count = 0;
	magazine.at_exit = false;
}

static struct file *file_memory(struct berth_vfs *vfs)
{
	struct file *file = magazine.free;

	if (!mem_is_plain(&vfs->mem))
		return mem_zalloc_lines(&vfs->mem, file_bytes());
	if (!file)
		return sys_zalloc_lines(file_bytes());
	magazine.free = *magazine_link(file);
	magazine.count--;
	return file;
}

int file_alloc(struct berth_vfs *vfs, struct file **file)
{
	int ret = vfs->budget ? budget_take(vfs->budget) : 0;

	if (unlikely(ret))
		return ret;
	*file = file_memory(vfs);
	if (likely(*file))
		return 0;
	if (vfs->budget)
		budget_give(vfs->budget);
	return -ENOMEM;
}

/* Under AddressSanitizer memory goes back at once, so that it can watch it. */
static bool magazine_add(struct file *file)
{
	if (WITH_ASAN || magazine.count >= MAGAZINE_MAX)
		return false;
	if (unlikely(!magazine.at_exit)) {
		if (!thread_at_exit(magazine_empty))
			return false;
		magazine.at_exit = true;
	}
	*magazine_link(file) = magazine.free;
	magazine.free = file;
	magazine.count++;
	return true;
}

/*
 * What a file's instance was is told by its memory: the instance itself may be
 * gone when the last file is freed.  Only one with an allocator or a cap waits
 * for its files, in berth_vfs_destroy().
 */
static void file_dealloc(struct file *file)
{
	struct mem *mem = file->mem;

	if (mem)
		mem_free(mem, file, file_bytes());
	else if (!magazine_add(file))
		sys_free(file, file_bytes());
}

void file_discard(struct file *file, struct berth_vfs *vfs)
{
	file->mem = mem_is_plain(&vfs->mem) ? NULL : &vfs->mem;
	file_dealloc(file);
	if (vfs->budget)
		budget_give(vfs->budget);
}

/* ---- The end of a file ---- */

static void vfs_file_release(struct berth_file *base)
{
	struct file *file = container_of(base, struct file, base);
	struct inode *inode = file->inode;

	if (file->fmode & FMODE_WRITE)
		mnt_put_write_access(&inode->vfs->mnt);
	iput(inode);
}

static void vfs_file_free(struct berth_file *base)
{
	file_dealloc(container_of(base, struct file, base));
}

const struct berth_file_operations vfs_file_operations = {
	.release = vfs_file_release,
	.free = vfs_file_free,
};
