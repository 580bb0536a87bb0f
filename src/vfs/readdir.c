/* SPDX-License-Identifier: MIT */
/*
 * Reading directories, without a lock.
 *
 * The offset of an entry is its slot and three; what lies in a slot while the
 * reader passes is what it tells.  Offsets 0 and 1 are "." and "..".  A cookie
 * is the offset after its entry, so 0 starts again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "vfs/dentry.h"
#include "vfs/open.h"

#define FIRST_SLOT 2u

struct dir_reader {
	char *buf;
	size_t size;
	size_t filled;
	bool full; /* an entry did not fit */
};

static unsigned char type_of_mode(mode_t mode)
{
	return (unsigned char)((mode & S_IFMT) >> 12); /* DT_* */
}

/* False when the entry does not fit; then nothing comes after it. */
static bool emit(struct dir_reader *reader, const char *name, size_t len,
		 const struct inode *inode, uint64_t offset)
{
	size_t reclen = offsetof(struct berth_dirent, name) + len + 1;
	struct berth_dirent *entry;

	reclen = (reclen + 7) & ~(size_t)7;
	if (reader->size - reader->filled < reclen) {
		reader->full = true;
		return false;
	}
	entry = (struct berth_dirent *)(void *)(reader->buf + reader->filled);
	entry->ino = inode->ino;
	entry->cookie = (int64_t)offset + 1;
	entry->reclen = (uint16_t)reclen;
	entry->type = type_of_mode(inode_mode(inode));
	memcpy(entry->name, name, len);
	memset(entry->name + len, 0,
	       reclen - offsetof(struct berth_dirent, name) - len);
	reader->filled += reclen;
	return true;
}

/* In a read section: fill from @pos on; returns where it ended. */
static uint64_t dir_read(struct inode *dir, struct dir_reader *reader,
			 uint64_t pos)
{
	struct dir_slots *slots;
	struct dentry *dentry;
	struct inode *parent;
	unsigned int used;

	if (pos == 0 && emit(reader, ".", 1, dir, pos))
		pos = 1;
	if (pos == 1) {
		/* As RCU(dir_parent:A). */
		parent = rcu_dereference(dir->dir.parent);
		if (emit(reader, "..", 2, parent ? parent : dir, pos))
			pos = FIRST_SLOT;
	}
	/* ACQ(dir_read:A) pairs with REL(slots_resize:A) */
	slots = rcu_dereference(dir->dir.slots);
	if (pos < FIRST_SLOT || !slots)
		return pos;
	used = load_relaxed(&slots->used);
	for (; pos - FIRST_SLOT < used; pos++) {
		/* ACQ(dir_read:B) pairs with REL(slot_set:A) */
		dentry = load_acquire(&slots->slot[pos - FIRST_SLOT]);
		if (dentry && !emit(reader, dentry->name, dentry->len,
				    dentry->inode, pos))
			break;
	}
	return pos;
}

/*
 * Read from @pos; *@end is where to go on.  An entry that fits nowhere is
 * -EINVAL, the end is 0.
 */
static ssize_t dir_fill(struct inode *dir, uint64_t pos, void *buf, size_t size,
			uint64_t *end)
{
	struct dir_reader reader = { .buf = buf, .size = size };

	if (!inode_is_dir(dir))
		return -ENOTDIR;
	/* Relaxed: removed before the call, or at some instant during it. */
	if (load_relaxed(&dir->nlink) == 0)
		return -ENOENT;
	*end = dir_read(dir, &reader, pos);
	if (reader.filled)
		return (ssize_t)reader.filled;
	/* Of the same pass: an entry may have come since. */
	return reader.full ? -EINVAL : 0;
}

ssize_t berth_getdents(struct berth_task *task, int fd, void *buf, size_t size)
{
	struct file *file = vfs_borrow(task, fd, FMODE_READ);
	uint64_t pos, end = 0;
	ssize_t ret;

	if (!file)
		return -EBADF;
	/* Relaxed: the offset orders nothing but itself. */
	pos = load_relaxed(&file->pos);
	do {
		ret = dir_fill(file->inode, pos, buf, size, &end);
	} while (ret > 0 && !cas_relaxed(&file->pos, &pos, end));
	if (ret >= 0 && !(load_relaxed(&file->base.flags) & O_NOATIME))
		touch_atime(file->inode);
	vfs_return(file);
	return ret;
}

ssize_t berth_getdents_from(struct berth_task *task, int fd, int64_t cookie,
			    void *buf, size_t size)
{
	struct file *file;
	uint64_t end;
	ssize_t ret;

	if (cookie < 0)
		return -EINVAL;
	file = vfs_borrow(task, fd, FMODE_READ);
	if (!file)
		return -EBADF;
	ret = dir_fill(file->inode, (uint64_t)cookie, buf, size, &end);
	if (ret >= 0 && !(load_relaxed(&file->base.flags) & O_NOATIME))
		touch_atime(file->inode);
	vfs_return(file);
	return ret;
}
