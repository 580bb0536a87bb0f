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
static size_t in_page(uint64_t pos, uint64_t count)
{
	size_t rest = PAGE_SIZE - pos % PAGE_SIZE;

	return count < rest ? (size_t)count : rest;
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

/* One fresh page, in hand. */
static int ramfs_get_page(struct inode *inode, uint64_t index,
			  struct page_list *pages)
{
	char *data;
	int ret;

	/* The page first: what the tree needs for it is paid for by it. */
	ret = page_alloc(store_of(inode), &data);
	if (ret)
		return ret;
	ret = page_prepare(store_of(inode), &inode->pages, index);
	if (ret) {
		page_unprepare(&inode->pages, index);
		page_free(store_of(inode), data);
		return ret;
	}
	page_list_add(pages, data);
	return 0;
}

static int64_t ramfs_make_room(struct inode *inode, uint64_t pos,
			       uint64_t count, struct page_list *pages)
{
	uint64_t done = 0, index;
	size_t n;
	int ret;

	page_list_init(pages);
	for (; done < count; done += n) {
		n = in_page(pos + done, count - done);
		index = (pos + done) >> PAGE_SHIFT;
		if (page_find(&inode->pages, index))
			continue;
		ret = ramfs_get_page(inode, index, pages);
		pages->error = ret;
		if (ret)
			return done ? (int64_t)done : ret;
	}
	return (int64_t)done;
}

static void ramfs_add_blocks(struct inode *inode, int64_t pages)
{
	if (!pages)
		return;
	attr_begin(inode);
	seq_store(&inode->blocks, inode->blocks + (uint64_t)pages);
	attr_end(inode);
}

/* Complete a page in hand, then show it. */
static void ramfs_write_fresh(struct inode *inode, char *data, uint64_t pos,
			      struct iov_iter *from, size_t n)
{
	if (n < PAGE_SIZE)
		page_zero(data);
	iov_copy_to_shared(from, data + pos % PAGE_SIZE, n);
	page_insert(&inode->pages, pos >> PAGE_SHIFT, data);
}

static void ramfs_write(struct inode *inode, uint64_t pos,
			struct iov_iter *from, size_t count,
			struct page_list *pages)
{
	uint64_t fresh = pages->count;
	char *data;
	size_t n;

	for (; count; count -= n, pos += n) {
		n = in_page(pos, count);
		data = page_find(&inode->pages, pos >> PAGE_SHIFT);
		if (!data) {
			ramfs_write_fresh(inode, page_list_take(pages), pos,
					  from, n);
			continue;
		}
		iov_copy_to_shared(from, data + pos % PAGE_SIZE, n);
		if (unlikely(inode->keeps_room))
			page_set_unwritten(data, false);
	}
	ramfs_add_blocks(inode, (int64_t)fresh);
}

static void ramfs_keep_room(struct inode *inode, uint64_t pos, uint64_t count,
			    struct page_list *pages)
{
	uint64_t fresh = pages->count, index = pos >> PAGE_SHIFT;
	uint64_t end = (pos + count + PAGE_SIZE - 1) >> PAGE_SHIFT;
	char *data;

	for (; pages->count && index < end; index++) {
		if (page_find(&inode->pages, index))
			continue;
		data = page_list_take(pages);
		page_zero(data);
		page_set_unwritten(data, true);
		page_insert(&inode->pages, index, data);
	}
	inode->keeps_room = true;
	ramfs_add_blocks(inode, (int64_t)fresh);
}

/* The pages in hand are for the holes of the range, from its start on. */
static void ramfs_give_room(struct inode *inode, uint64_t pos, uint64_t count,
			    struct page_list *pages)
{
	uint64_t index = pos >> PAGE_SHIFT, last = (pos + count) >> PAGE_SHIFT;
	char *data;

	for (; pages->count && index <= last; index++) {
		if (page_find(&inode->pages, index))
			continue;
		page_unprepare(&inode->pages, index);
		data = page_list_take(pages);
		page_free(store_of(inode), data);
	}
}

/* Zero @n bytes that lie in one page. */
static void ramfs_zero(struct inode *inode, uint64_t pos, size_t n)
{
	char *data = n ? page_find(&inode->pages, pos >> PAGE_SHIFT) : NULL;

	if (data)
		zero_shared(data + pos % PAGE_SIZE, n);
}

static void ramfs_remove(struct inode *inode, uint64_t first, uint64_t last)
{
	uint64_t cut;

	cut = page_remove(store_of(inode), &inode->pages, first, last);
	ramfs_add_blocks(inode, -(int64_t)cut);
}

static void ramfs_truncate(struct inode *inode, uint64_t size)
{
	uint64_t tail = size % PAGE_SIZE;

	if (tail)
		ramfs_zero(inode, size, PAGE_SIZE - tail);
	ramfs_remove(inode, (size >> PAGE_SHIFT) + (tail != 0), UINT64_MAX);
}

static void ramfs_punch(struct inode *inode, uint64_t pos, uint64_t count)
{
	uint64_t end = pos + count, head = 0, tail;

	if (pos % PAGE_SIZE)
		head = in_page(pos, count);
	ramfs_zero(inode, pos, head);
	pos += head;
	tail = (end - pos) % PAGE_SIZE;
	ramfs_zero(inode, end - tail, tail);
	end -= tail;
	if (pos < end)
		ramfs_remove(inode, pos >> PAGE_SHIFT, (end >> PAGE_SHIFT) - 1);
}

static bool ramfs_has_data(struct inode *inode, uint64_t index)
{
	char *data = page_find(&inode->pages, index);

	return data && !page_is_unwritten(data);
}

/* The first page with data from @index on, or a place beyond all sizes. */
static uint64_t ramfs_next_data(struct inode *inode, uint64_t index)
{
	for (;; index++) {
		index = page_next(&inode->pages, index);
		if (index == UINT64_MAX || ramfs_has_data(inode, index))
			break;
	}
	return index < INT64_MAX >> PAGE_SHIFT ? index << PAGE_SHIFT
					       : INT64_MAX;
}

static uint64_t ramfs_next_hole(struct inode *inode, uint64_t index)
{
	while (index << PAGE_SHIFT < inode->size &&
	       ramfs_has_data(inode, index))
		index++;
	return index << PAGE_SHIFT;
}

static int64_t ramfs_seek(struct inode *inode, uint64_t pos, bool data)
{
	uint64_t index = pos >> PAGE_SHIFT, found;

	found = data ? ramfs_next_data(inode, index)
		     : ramfs_next_hole(inode, index);
	if (found < pos)
		found = pos;
	if (found < inode->size)
		return (int64_t)found;
	return data ? -ENXIO : (int64_t)inode->size;
}

static void ramfs_evict(struct inode *inode)
{
	page_tree_free(store_of(inode), &inode->pages);
}

const struct inode_operations ramfs_operations = {
	.read = ramfs_read,
	.make_room = ramfs_make_room,
	.write = ramfs_write,
	.keep_room = ramfs_keep_room,
	.give_room = ramfs_give_room,
	.truncate = ramfs_truncate,
	.punch = ramfs_punch,
	.seek = ramfs_seek,
	.evict = ramfs_evict,
};
