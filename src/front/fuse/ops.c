/* SPDX-License-Identifier: MIT */
/*
 * The requests of the kernel, but for those of files and directories that are
 * open.
 *
 * The mount has default_permissions: the kernel has checked permissions, the
 * sticky bit and name lengths before it asks, and holds the directory's lock
 * while it does.  So the host's task does everything but what creates: that
 * is done by a task with the caller's ids.
 *
 * What is not here the kernel does itself as soon as it has been told ENOSYS:
 * flush, fsync and fsyncdir succeed (a close cannot fail, and there is no
 * disk; mapped pages were written back before), access is answered from the
 * mode, extended attributes are not supported, and locks are the kernel's
 * own.
 */
#include "front/fuse/session.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>

#include "front/fuse/background.h"

/*
 * Wanted, where the kernel can:
 * - O_TRUNC as a part of open, which it is: as a request of its own it could
 *   not be told from a truncate() that changes nothing, and no times;
 * - lookups and readdirs of one directory at once (which libfuse 3.14.0 takes
 *   note of, but does not hand on);
 * - symbolic links remembered, which never change: a path that leads through
 *   one costs no request, but then does not move the link's access time.
 *
 * Not wanted:
 * - the write-back cache: a write would succeed before there is space for it,
 *   and before the file system can be asked whether it is read-only, and would
 *   have its times from the kernel;
 * - dropping cached pages when a file's time has changed: only this kernel
 *   changes it;
 * - clearing the set-user-id bit: the kernel knows what its caller may do, and
 *   clears the bit by a request;
 * - the kernel's umask left to us: it applies it as well.
 */
static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	struct server *server = userdata;
	const unsigned int wanted =
		FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_PARALLEL_DIROPS |
		FUSE_CAP_ASYNC_READ | FUSE_CAP_READDIRPLUS |
		FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_CACHE_SYMLINKS;
	const unsigned int unwanted =
		FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_AUTO_INVAL_DATA |
		FUSE_CAP_HANDLE_KILLPRIV | FUSE_CAP_DONT_MASK;

	conn->want |= conn->capable & wanted;
	conn->want &= ~unwanted;
	reply_start(server, conn);
	background_ready(server->ready);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct berth_inode *inode;
	struct berth_stat st;
	int error;

	error = berth_inode_lookup(server_of(req)->host, inode_of(req, parent),
				   name, &inode, &st);
	if (error == -ENOENT)
		reply_missing(req);
	else
		reply_entry(req, error, inode, &st);
}

static void forget(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup)
{
	/* The root is held until the end, and was never handed out. */
	if (ino != FUSE_ROOT_ID)
		berth_inode_forget(inode_of(req, ino), nlookup);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup)
{
	forget(req, ino, nlookup);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count,
			    struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++)
		forget(req, forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino,
		       struct fuse_file_info *fi)
{
	(void)fi;
	reply_attr(req, ino);
}

static unsigned int wanted_attributes(int to_set, struct berth_stat *st)
{
	unsigned int which = 0;

	if (to_set & FUSE_SET_ATTR_MODE)
		which |= BERTH_SET_MODE;
	if (to_set & FUSE_SET_ATTR_UID)
		which |= BERTH_SET_UID;
	if (to_set & FUSE_SET_ATTR_GID)
		which |= BERTH_SET_GID;
	if (to_set & FUSE_SET_ATTR_SIZE)
		which |= BERTH_SET_SIZE;
	if (to_set & FUSE_SET_ATTR_ATIME)
		which |= BERTH_SET_ATIME;
	if (to_set & FUSE_SET_ATTR_ATIME_NOW)
		st->atime.tv_nsec = BERTH_UTIME_NOW;
	if (to_set & FUSE_SET_ATTR_MTIME)
		which |= BERTH_SET_MTIME;
	if (to_set & FUSE_SET_ATTR_MTIME_NOW)
		st->mtime.tv_nsec = BERTH_UTIME_NOW;
	return which;
}

/* To set the size that the file has moves its times if it is done through an
 * open file, as ftruncate() does, and nothing at all if by truncate(). */
static unsigned int mind_same_size(fuse_req_t req, fuse_ino_t ino, bool by_file,
				   struct berth_stat *st, unsigned int which)
{
	struct berth_stat old;

	if (!(which & BERTH_SET_SIZE) ||
	    berth_inode_stat(server_of(req)->host, inode_of(req, ino), &old) ||
	    old.size != st->size)
		return which;
	/* With pages there may be some beyond the end, which go. */
	if (!by_file && !old.blocks)
		return which & ~BERTH_SET_SIZE;
	if (!(which & BERTH_SET_MTIME))
		st->mtime.tv_nsec = BERTH_UTIME_NOW;
	return which | BERTH_SET_MTIME;
}

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr,
		       int to_set, struct fuse_file_info *fi)
{
	struct berth_stat st = {
		.size = (uint64_t)attr->st_size,
		.mode = attr->st_mode,
		.uid = attr->st_uid,
		.gid = attr->st_gid,
		.atime = attr->st_atim,
		.mtime = attr->st_mtim,
	};
	unsigned int wanted = wanted_attributes(to_set, &st), which;
	int error = 0;

	which = mind_same_size(req, ino, fi != NULL, &st, wanted);
	if (which || !wanted)
		error = berth_inode_setattr(server_of(req)->host,
					    inode_of(req, ino), &st, which);
	if (error)
		reply_error(req, error);
	else
		reply_setattr(req, ino);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	bool moves_atime = atime_is_due(req, ino);
	char target[PATH_MAX];
	ssize_t length;

	length = berth_inode_readlink(server_of(req)->host, inode_of(req, ino),
				      target, sizeof(target) - 1);
	if (length < 0) {
		reply_error(req, (int)length);
		return;
	}
	if (moves_atime)
		reply_changed(req, ino);
	target[length] = '\0';
	fuse_reply_readlink(req, target);
}

/* The directory has changed by its new entry. */
static void reply_new(fuse_req_t req, fuse_ino_t parent, int error,
		      struct berth_inode *inode, const struct berth_stat *st)
{
	if (!error)
		reply_changed(req, parent);
	reply_entry(req, error, inode, st);
}

static void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name,
		     mode_t mode, dev_t rdev)
{
	struct berth_task *task = worker_task(req);
	struct berth_inode *inode = NULL;
	struct berth_stat st;
	int error = -ENOMEM;

	if (task)
		error = with_space(
			req, berth_inode_mknod(task, inode_of(req, parent),
					       name, mode, rdev, &inode, &st));
	reply_new(req, parent, error, inode, &st);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name,
		     mode_t mode)
{
	struct berth_task *task = worker_task(req);
	struct berth_inode *inode = NULL;
	struct berth_stat st;
	int error = -ENOMEM;

	if (task)
		error = with_space(
			req, berth_inode_mkdir(task, inode_of(req, parent),
					       name, mode, &inode, &st));
	reply_new(req, parent, error, inode, &st);
}

static void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent,
		       const char *name)
{
	struct berth_task *task = worker_task(req);
	struct berth_inode *inode = NULL;
	struct berth_stat st;
	int error = -ENOMEM;

	if (task)
		error = with_space(req,
				   berth_inode_symlink(task, target,
						       inode_of(req, parent),
						       name, &inode, &st));
	reply_new(req, parent, error, inode, &st);
}

static void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t newparent,
		    const char *newname)
{
	struct berth_inode *inode = inode_of(req, ino);
	struct berth_stat st;
	int error;

	error = with_space(req, berth_inode_link(server_of(req)->host, inode,
						 inode_of(req, newparent),
						 newname, &st));
	if (!error)
		reply_changed(req, newparent);
	reply_link(req, error, inode, &st);
}

/* What a request names, held; or NULL. */
static struct berth_inode *find(fuse_req_t req, fuse_ino_t parent,
				const char *name)
{
	struct berth_inode *inode;

	if (berth_inode_lookup(server_of(req)->host, inode_of(req, parent),
			       name, &inode, NULL))
		return NULL;
	return inode;
}

/* It has changed, unless @error, and is let go. */
static void changed(fuse_req_t req, int error, struct berth_inode *inode)
{
	if (!inode)
		return;
	if (!error)
		reply_changed(req, (fuse_ino_t)(uintptr_t)inode);
	berth_inode_forget(inode, 1);
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	int error;

	error = berth_inode_unlink(server_of(req)->host, inode_of(req, parent),
				   name);
	if (!error)
		reply_changed(req, parent);
	reply_error(req, error);
}

static void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct berth_inode *removed = find(req, parent, name);
	int error;

	error = berth_inode_rmdir(server_of(req)->host, inode_of(req, parent),
				  name);
	if (!error)
		reply_changed(req, parent);
	changed(req, error, removed);
	reply_error(req, error);
}

static void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name,
		      fuse_ino_t newparent, const char *newname,
		      unsigned int flags)
{
	struct berth_inode *moved = find(req, parent, name);
	struct berth_inode *other = find(req, newparent, newname);
	struct berth_task *task = server_of(req)->host;
	int error = -ENOMEM;

	/* What a whiteout leaves is the caller's. */
	if (flags & BERTH_RENAME_WHITEOUT)
		task = worker_task(req);
	if (task)
		error = with_space(
			req, berth_inode_rename(task, inode_of(req, parent),
						name, inode_of(req, newparent),
						newname, flags));
	if (!error) {
		reply_changed(req, parent);
		reply_changed(req, newparent);
	}
	changed(req, error, moved);
	changed(req, error, other);
	reply_error(req, error);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct berth_statfs st;
	struct statvfs answer;

	(void)ino;
	berth_vfs_statfs(server_of(req)->vfs, &st);
	/* Zeros for what has no limit, as the kernel's tmpfs has it. */
	answer = (struct statvfs){
		.f_bsize = st.block_size,
		.f_frsize = st.block_size,
		.f_blocks = st.blocks,
		.f_bfree = st.blocks_free,
		.f_bavail = st.blocks_free,
		.f_files = st.inodes,
		.f_ffree = st.inodes_free,
		.f_favail = st.inodes_free,
		.f_namemax = st.name_max,
	};
	fuse_reply_statfs(req, &answer);
}

const struct fuse_lowlevel_ops server_ops = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.readlink = op_readlink,
	.mknod = op_mknod,
	.mkdir = op_mkdir,
	.unlink = op_unlink,
	.rmdir = op_rmdir,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
	.open = op_open,
	.create = op_create,
	.read = op_read,
	.write = op_write,
	.release = op_release,
	.lseek = op_lseek,
	.fallocate = op_fallocate,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.releasedir = op_release,
	.statfs = op_statfs,
};
