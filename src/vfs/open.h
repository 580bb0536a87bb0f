/* SPDX-License-Identifier: MIT */
/* Open files of the VFS: a struct berth_file with an inode and an offset. */
#ifndef VFS_OPEN_H
#define VFS_OPEN_H

#include "files/files.h"
#include "vfs/task.h"

#define FMODE_READ  0x1u
#define FMODE_WRITE 0x2u /* holds the mount's write access */
#define FMODE_OPEN  0x4u /* not only a place (O_PATH) */

/*
 * What those who use a file read stands in the space that struct berth_file
 * keeps for berth, so that it is all on one line; the offset, which every read
 * and write through the file moves, is on the next, so that they do not disturb
 * whoever asks for a place of his own (pread) or for attributes.
 *
 * The offset is one word without a lock: a read claims its bytes by a
 * compare-and-swap, a write by one under the inode's lock, a seek stores.
 */
struct file {
	union {
		struct berth_file base;
		struct {
			char head[offsetof(struct berth_file, type)];
			unsigned int fmode;
			char middle[offsetof(struct berth_file, reserved) -
				    offsetof(struct berth_file, retired)];
			struct inode *inode; /* owned */
			struct mem *mem;     /* NULL: the system's */
		};
	};
	uint64_t pos cache_aligned;
};

static_assert(sizeof(struct file) == (size_t)2 * CACHE_LINE,
	      "one line to read, one for the offset");
static_assert(offsetof(struct file, inode) ==
			      offsetof(struct berth_file, reserved) &&
		      offsetof(struct file, fmode) ==
			      offsetof(struct berth_file, type) &&
		      offsetof(struct file, mem) + sizeof(struct mem *) <=
			      sizeof(struct berth_file),
	      "the VFS has nothing else of struct berth_file");

extern const struct berth_file_operations vfs_file_operations;

/* Memory for a file that nobody sees and that has no inode yet, and its place
 * among those that may be open: 0, -ENFILE or -ENOMEM. */
int file_alloc(struct berth_vfs *vfs, struct file **file);
void file_discard(struct file *file, struct berth_vfs *vfs);

/* NULL when the object is a user's own, or of another instance. */
static inline struct file *file_of(struct berth_file *base)
{
	if (unlikely(base->ops != &vfs_file_operations))
		return NULL;
	return container_of(base, struct file, base);
}

/* A borrow of the VFS is a read section, whatever the table's is. */
hot_inline struct berth_file *file_borrow(struct berth_task *task, int fd)
{
	struct berth_file *base = fdget_rcu(task->files, (unsigned int)fd);

	if (!FDGET_IS_A_SECTION && base)
		rcu_read_lock();
	return base;
}

hot_inline void file_return(struct berth_file *base)
{
	if (!FDGET_IS_A_SECTION)
		rcu_read_unlock();
	fdput_rcu(base);
}

/* Borrow or own a VFS file that is open for one of @fmode (0: any, also a
 * place): NULL is -EBADF. */
hot_inline struct file *vfs_borrow(struct berth_task *task, int fd,
				   unsigned int fmode)
{
	struct berth_file *base = file_borrow(task, fd);
	struct file *file;

	if (unlikely(!base))
		return NULL;
	file = file_of(base);
	if (likely(file && (!fmode || (file->fmode & fmode))))
		return file;
	file_return(base);
	return NULL;
}

static inline void vfs_return(struct file *file)
{
	file_return(&file->base);
}

static inline struct file *vfs_get(struct berth_task *task, int fd,
				   unsigned int fmode)
{
	struct berth_file *base = fget(task->files, (unsigned int)fd);
	struct file *file;

	if (!base)
		return NULL;
	file = file_of(base);
	if (file && (!fmode || (file->fmode & fmode)))
		return file;
	fput(base);
	return NULL;
}

/* ---- Handles of inodes, for the calls by inode ---- */

static inline struct inode *inode_of_handle(const struct berth_inode *handle)
{
	return (struct inode *)handle;
}

/* Hand an owned inode out, with its attributes if @st is not NULL. */
void inode_give(struct inode *inode, struct berth_inode **handle,
		struct berth_stat *st);

/* Under the lock and inside the gate, for a regular file. */
void inode_truncate(struct inode *inode, uint64_t size);

#endif
