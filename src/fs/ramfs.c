/* SPDX-License-Identifier: MIT */
/*
 * The in-memory file system.
 *
 * The tree of dentries that the VFS keeps is all there is of directories and
 * names; what is left to do here is the data of regular files, in pages.
 *
 * *No byte that was never written* (V2).  The bytes of a page at or beyond the
 * file's size are zero: fresh pages are zeroed but for what is written to them,
 * and a truncation zeroes the tail of the last page after it has set the size.
 */
#include <errno.h>

#include "fs/ramfs.h"
#include "vfs/task.h"

static struct page_store *store_of(const struct inode *inode)
{
	return &inode->vfs->pages;
}

/* How much of @count bytes from @pos lies in one page. */
static size_t in_page(uint64_t pos, size_t count)
{
	size_t rest = PAGE_SIZE - pos % PAGE_SIZE;

	return count < rest ? count : rest;
}

static void ramfs_read(struct inode *inode, void *buf, size_t count,
		       uint64_t pos)
{
	char *to = buf, *data;
	size_t n;

	for (; count; count -= n, pos += n, to += n) {
		n = in_page(pos, count);
		data = page_find(&inode->pages, pos >> PAGE_SHIFT);
		if (likely(data))
			copy_from_shared(to, data + pos % PAGE_SIZE, n);
		else
			memset(to, 0, n);
	}
}

/* One fresh page for @n bytes of it, in hand. */
static int ramfs_get_page(struct inode *inode, uint64_t index, size_t n,
			  struct page_list *pages)
{
	bool zeroed;
	char *data;
	int ret;

	/* The page first: what the tree needs for it is paid for by it. */
	ret = page_alloc(store_of(inode), &data, &zeroed);
	if (ret)
		return ret;
	ret = page_prepare(store_of(inode), &inode->pages, index);
	if (ret) {
		page_free(store_of(inode), data);
		return ret;
	}
	if (!zeroed && n < PAGE_SIZE)
		memset(data, 0, PAGE_SIZE);
	page_list_add(pages, data);
	return 0;
}

static ssize_t ramfs_write_begin(struct inode *inode, uint64_t pos,
				 size_t count, struct page_list *pages)
{
	size_t done = 0, n;
	uint64_t index;
	int ret;

	page_list_init(pages);
	for (; done < count; done += n) {
		n = in_page(pos + done, count - done);
		index = (pos + done) >> PAGE_SHIFT;
		if (page_find(&inode->pages, index))
			continue;
		ret = ramfs_get_page(inode, index, n, pages);
		if (ret)
			return done ? (ssize_t)done : ret;
	}
	return (ssize_t)done;
}

static void ramfs_write_end(struct inode *inode, uint64_t pos, const void *buf,
			    size_t count, struct page_list *pages)
{
	const char *from = buf;
	uint64_t fresh = pages->count;
	char *data;
	size_t n;

	for (; count; count -= n, pos += n, from += n) {
		n = in_page(pos, count);
		data = page_find(&inode->pages, pos >> PAGE_SHIFT);
		if (data) {
			copy_to_shared(data + pos % PAGE_SIZE, from, n);
			continue;
		}
		data = page_list_take(pages);
		memcpy(data + pos % PAGE_SIZE, from, n);
		page_insert(&inode->pages, pos >> PAGE_SHIFT, data);
	}
	if (!fresh)
		return;
	attr_begin(inode);
	seq_store(&inode->blocks, inode->blocks + fresh);
	attr_end(inode);
}

static void ramfs_write_abort(struct inode *inode, struct page_list *pages)
{
	char *data;

	while ((data = page_list_take(pages)) != NULL)
		page_free(store_of(inode), data);
}

static void ramfs_truncate(struct inode *inode, uint64_t size)
{
	uint64_t tail = size % PAGE_SIZE, cut;
	char *data;

	data = tail ? page_find(&inode->pages, size >> PAGE_SHIFT) : NULL;
	if (data)
		zero_shared(data + tail, PAGE_SIZE - tail);
	cut = page_truncate(store_of(inode), &inode->pages,
			    (size >> PAGE_SHIFT) + (tail != 0));
	if (!cut)
		return;
	attr_begin(inode);
	seq_store(&inode->blocks, inode->blocks - cut);
	attr_end(inode);
}

static int64_t ramfs_seek(struct inode *inode, uint64_t pos, uint64_t size,
			  bool data)
{
	uint64_t index = pos >> PAGE_SHIFT, found;

	if (data) {
		index = page_next(&inode->pages, index);
		if (index >= (uint64_t)INT64_MAX >> PAGE_SHIFT)
			return -ENXIO;
	} else {
		while (index << PAGE_SHIFT < size &&
		       page_find(&inode->pages, index))
			index++;
	}
	found = index << PAGE_SHIFT;
	if (found < pos)
		found = pos;
	if (found < size)
		return (int64_t)found;
	return data ? -ENXIO : (int64_t)size;
}

static void ramfs_evict(struct inode *inode)
{
	page_tree_free(store_of(inode), &inode->pages);
}

const struct inode_operations ramfs_operations = {
	.read = ramfs_read,
	.write_begin = ramfs_write_begin,
	.write_end = ramfs_write_end,
	.write_abort = ramfs_write_abort,
	.truncate = ramfs_truncate,
	.seek = ramfs_seek,
	.evict = ramfs_evict,
};
