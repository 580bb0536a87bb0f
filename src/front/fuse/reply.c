/* SPDX-License-Identifier: MIT */
/*
 * Answers to the kernel, and how long it may believe them: for ever.
 *
 * *Names*.  Nothing changes but by this kernel's requests, and it looks names
 * up and changes them under the directory's lock, so it knows of every change
 * in the order in which they happened.
 *
 * *Attributes*.  The kernel knows, too, which of them each of its requests
 * changes, and asks again.  But it asks without a lock:
 *
 *	one client			another client
 *	GETATTR of a directory ->
 *	<- two links, on its way	MKDIR in it ->
 *					<- done; it has to be asked again
 *	two links arrive: now known
 *
 * and from then on, stat() would be wrong.  The kernel numbers the attributes
 * to tell such an answer and drop it, but counts only some of the changes:
 * writes, truncations and most changes of a link count.  reply_changed() has it
 * count the others, before it hears that they were made: an answer that is
 * older then never arrives, and a later one knows of the change.
 *
 * It does so since protocol 7.32 at the latest.  To an older kernel the answers
 * have no life at all: each stat() asks.
 */
#include "front/fuse/session.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Seconds.  Three years are for ever. */
#define FOR_EVER 1e8
#define A_DAY	 (24L * 60 * 60)

struct server *server_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

void reply_start(struct server *server, const struct fuse_conn_info *conn)
{
	if (conn->proto_major > 7 || conn->proto_minor >= 32)
		server->attr_timeout = FOR_EVER;
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

static bool later(const struct timespec *a, const struct timespec *b)
{
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec > b->tv_sec;
	return a->tv_nsec > b->tv_nsec;
}

void fill_entry(fuse_req_t req, struct fuse_entry_param *entry,
		struct berth_inode *inode, const struct berth_stat *st)
{
	memset(entry, 0, sizeof(*entry));
	entry->ino = (fuse_ino_t)(uintptr_t)inode;
	entry->generation = berth_inode_generation(inode);
	entry->attr_timeout = server_of(req)->attr_timeout;
	entry->entry_timeout = FOR_EVER;
	fill_stat(&entry->attr, st);
}

void reply_error(fuse_req_t req, int error)
{
	fuse_reply_err(req, -error);
}

void reply_changed(fuse_req_t req, fuse_ino_t ino)
{
	struct server *server = server_of(req);

	/* It knows the inode and does not wait: it holds it for the request.
	 * No pages are meant, which would be another matter. */
	if (server->attr_timeout > 0)
		fuse_lowlevel_notify_inval_inode(server->session, ino, -1, 0);
}

bool atime_is_due(fuse_req_t req, fuse_ino_t ino)
{
	struct berth_stat st;
	struct timespec now;

	if (berth_inode_stat(server_of(req)->host, inode_of(req, ino), &st))
		return true;
	if (!later(&st.atime, &st.mtime) || !later(&st.atime, &st.ctime))
		return true;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now.tv_sec - st.atime.tv_sec >= A_DAY;
}

static void reply_attr_for(fuse_req_t req, fuse_ino_t ino, double attr_timeout)
{
	struct berth_inode *inode = inode_of(req, ino);
	struct berth_stat st;
	struct stat attr;
	int error = berth_inode_stat(server_of(req)->host, inode, &st);

	if (error) {
		reply_error(req, error);
		return;
	}
	fill_stat(&attr, &st);
	fuse_reply_attr(req, &attr, attr_timeout);
}

void reply_attr(fuse_req_t req, fuse_ino_t ino)
{
	reply_attr_for(req, ino, server_of(req)->attr_timeout);
}

void reply_setattr(fuse_req_t req, fuse_ino_t ino)
{
	reply_attr_for(req, ino, 0);
}

void reply_missing(fuse_req_t req)
{
	struct fuse_entry_param entry = { .entry_timeout = FOR_EVER };

	fuse_reply_entry(req, &entry);
}

static void reply_entry_for(fuse_req_t req, struct berth_inode *inode,
			    const struct berth_stat *st, double attr_timeout)
{
	struct fuse_entry_param entry;

	fill_entry(req, &entry, inode, st);
	entry.attr_timeout = attr_timeout;
	if (fuse_reply_entry(req, &entry) != 0)
		berth_inode_forget(inode, 1);
}

void reply_entry(fuse_req_t req, int error, struct berth_inode *inode,
		 const struct berth_stat *st)
{
	if (error)
		reply_error(req, error);
	else
		reply_entry_for(req, inode, st, server_of(req)->attr_timeout);
}

void reply_link(fuse_req_t req, int error, struct berth_inode *inode,
		const struct berth_stat *st)
{
	if (error)
		reply_error(req, error);
	else
		reply_entry_for(req, inode, st, 0);
}
