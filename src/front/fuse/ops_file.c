/* SPDX-License-Identifier: MIT */
/*
 * Requests for open files.
 *
 * A file handle is a descriptor of the one berth table; each request looks it
 * up, as a system call does.  The kernel releases a handle once the last
 * request that uses it has been answered.
 *
 * Reads and writes name their place: the offset of an open file, O_APPEND and
 * the other flags that can change later are the kernel's.  A descriptor that
 * were open for appending would put at the end what the kernel means for the
 * middle, such as a page of a mapping that it writes back through any handle
 * it finds.
 */
#include "front/fuse/session.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/*
 * The kernel leaves it to an open that truncates to take the set-id bits away,
 * unless the caller may keep them; it does so itself for all other requests.
 */
static void drop_setid(fuse_req_t req, fuse_ino_t ino)
{
	struct berth_inode *inode = inode_of(req, ino);
	struct berth_task *host = server_of(req)->host;
	struct berth_stat st;
	mode_t drop = S_ISUID;

	if (fuse_req_ctx(req)->uid == 0 || berth_inode_stat(host, inode, &st))
		return;
	if (st.mode & S_IXGRP)
		drop |= S_ISGID;
	if (!(st.mode & drop))
		return;
	st.mode &= ~drop;
	if (berth_inode_setattr(host, inode, &st, BERTH_SET_MODE) == 0)
		reply_changed(req, ino);
}

/*
 * The kernel goes on using the pages that it has: they are right, as nobody else
 * changes the file.  It must not drop them here, for one that was written and is
 * on its way to us might be dropped, asked for anew, and come back as it was
 * before.  But reading them tells us nothing, so that the access time would
 * stay: whoever opens the file to read it, is taken to have read.
 */
static void open_as_read(fuse_req_t req, fuse_ino_t ino, int fd, int flags)
{
	if ((flags & O_ACCMODE) == O_WRONLY || (flags & O_NOATIME) ||
	    !atime_is_due(req, ino))
		return;
	berth_pread(server_of(req)->host, fd, NULL, 0, 0);
	reply_changed(req, ino);
}

void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct server *server = server_of(req);
	int fd, flags;

	flags = (fi->flags & (O_ACCMODE | O_TRUNC | O_NOATIME)) |
		server->open_flags;
	if (flags & O_TRUNC)
		drop_setid(req, ino);
	fd = berth_inode_open(server->host, inode_of(req, ino),
			      (unsigned int)flags);
	if (fd < 0) {
		reply_error(req, fd);
		return;
	}
	fi->fh = (uint64_t)fd;
	fi->keep_cache = 1;
	open_as_read(req, ino, fd, flags);
	if (fuse_reply_open(req, fi) != 0)
		berth_close(server->host, fd);
}

void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
	       struct fuse_file_info *fi)
{
	struct berth_task *task = worker_task(req);
	struct server *server = server_of(req);
	struct fuse_entry_param entry;
	struct berth_inode *inode;
	struct berth_stat st;
	int fd, flags;

	if (!task) {
		reply_error(req, -ENOMEM);
		return;
	}
	flags = (fi->flags & (O_ACCMODE | O_EXCL | O_TRUNC | O_NOATIME)) |
		server->open_flags;
	fd = with_space(req,
			berth_inode_create(task, inode_of(req, parent), name,
					   (unsigned int)flags | O_CREAT, mode,
					   &inode, &st));
	if (fd < 0) {
		reply_error(req, fd);
		return;
	}
	reply_changed(req, parent);
	fi->fh = (uint64_t)fd;
	fill_entry(req, &entry, inode, &st);
	if (fuse_reply_create(req, &entry, fi) != 0) {
		berth_close(server->host, fd);
		berth_inode_forget(inode, 1);
	}
}

void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t pos,
	     struct fuse_file_info *fi)
{
	char *buffer = worker_buffer(req, size);
	bool moves_atime = atime_is_due(req, ino);
	ssize_t bytes = -ENOMEM;

	if (buffer)
		bytes = berth_pread(server_of(req)->host, (int)fi->fh, buffer,
				    size, pos);
	if (bytes < 0) {
		reply_error(req, (int)bytes);
		return;
	}
	if (moves_atime)
		reply_changed(req, ino);
	fuse_reply_buf(req, buffer, (size_t)bytes);
}

void op_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size,
	      off_t pos, struct fuse_file_info *fi)
{
	unsigned int tries = 0;
	size_t done = 0;
	ssize_t bytes;

	(void)ino;
	do {
		bytes = berth_pwrite(server_of(req)->host, (int)fi->fh,
				     data + done, size - done,
				     pos + (off_t)done);
		if (bytes > 0)
			done += (size_t)bytes;
	} while (done < size &&
		 (bytes > 0 ||
		  (bytes == -ENOSPC && worker_waits_for_space(req, &tries))));
	/* Of a page of a mapping the kernel does not look how much was written. */
	if (bytes < 0 && (!done || fi->writepage))
		reply_error(req, (int)bytes);
	else
		fuse_reply_write(req, done);
}

void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t pos, int whence,
	      struct fuse_file_info *fi)
{
	int64_t found;

	(void)ino;
	found = berth_lseek(server_of(req)->host, (int)fi->fh, pos, whence);
	if (found < 0)
		reply_error(req, (int)found);
	else
		fuse_reply_lseek(req, found);
}

void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset,
		  off_t length, struct fuse_file_info *fi)
{
	int error;

	error = with_space(req,
			   berth_fallocate(server_of(req)->host, (int)fi->fh,
					   (unsigned int)mode, offset, length));
	if (!error)
		reply_changed(req, ino);
	reply_error(req, error);
}

/* Of a directory, too. */
void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	/* Pages of a mapping that were written back have moved the times. (This
	 * could not be said while they were: the kernel may be waiting for
	 * them to let the inode go, and would have us wait for that.) */
	if ((fi->flags & O_ACCMODE) != O_RDONLY)
		reply_changed(req, ino);
	berth_close(server_of(req)->host, (int)fi->fh);
	reply_error(req, 0);
}
