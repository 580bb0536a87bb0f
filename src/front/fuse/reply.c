/* SPDX-License-Identifier: MIT */
/*
 * Answers to the kernel, and how long it may believe them.
 *
 * Names: for ever.  Nothing changes but by this kernel's requests, and it
 * looks names up and changes them under the directory's lock.
 *
 * Attributes: not at all.  The kernel knows which of them each of its requests
 * changes and asks again; but an answer to GETATTR that is on its way while
 * another request changes the inode (a file is created in the directory, the
 * file is read or renamed) arrives after the kernel has noted the change, and
 * hides it.  Only writes and truncations are numbered so that the older
 * answer is told and dropped.  A time to live would be the time for which
 * stat() may then be wrong.
 */
#include "front/fuse/session.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Seconds.  Three years are for ever. */
#define NAME_TIMEOUT 1e8
#define ATTR_TIMEOUT 0.0

struct server *server_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

struct berth_inode *inode_of(fuse_req_t req, fuse_ino_t ino)
{
	if (ino == FUSE_ROOT_ID)
		return server_of(req)->root;
	return (struct berth_inode *)(uintptr_t)ino;
}

static void fill_stat(struct stat *to, const struct berth_stat *from)
{
	*to = (struct stat){
		.st_ino = from->ino,
		.st_mode = from->mode,
		.st_nlink = from->nlink,
		.st_uid = from->uid,
		.st_gid = from->gid,
		.st_rdev = from->rdev,
		.st_size = (off_t)from->size,
		.st_blksize = from->blksize,
		.st_blocks = (blkcnt_t)from->blocks,
		.st_atim = from->atime,
		.st_mtim = from->mtime,
		.st_ctim = from->ctime,
	};
}

void fill_entry(struct fuse_entry_param *entry, struct berth_inode *inode,
		const struct berth_stat *st)
{
	memset(entry, 0, sizeof(*entry));
	entry->ino = (fuse_ino_t)(uintptr_t)inode;
	entry->generation = berth_inode_generation(inode);
	entry->attr_timeout = ATTR_TIMEOUT;
	entry->entry_timeout = NAME_TIMEOUT;
	fill_stat(&entry->attr, st);
}

void reply_error(fuse_req_t req, int error)
{
	fuse_reply_err(req, -error);
}

void reply_attr(fuse_req_t req, struct berth_inode *inode)
{
	struct berth_stat st;
	struct stat attr;
	int error = berth_inode_stat(server_of(req)->host, inode, &st);

	if (error) {
		reply_error(req, error);
		return;
	}
	fill_stat(&attr, &st);
	fuse_reply_attr(req, &attr, ATTR_TIMEOUT);
}

void reply_missing(fuse_req_t req)
{
	struct fuse_entry_param entry = { .entry_timeout = NAME_TIMEOUT };

	fuse_reply_entry(req, &entry);
}

void reply_entry(fuse_req_t req, int error, struct berth_inode *inode,
		 const struct berth_stat *st)
{
	struct fuse_entry_param entry;

	if (error) {
		reply_error(req, error);
		return;
	}
	fill_entry(&entry, inode, st);
	if (fuse_reply_entry(req, &entry) != 0)
		berth_inode_forget(inode, 1);
}
