/* SPDX-License-Identifier: MIT */
/*
 * Opening files.
 *
 * An open without O_CREAT runs in one read section from the first component to
 * the reference on the inode.  The number is reserved first, as Linux does: a
 * full table gives EMFILE before a file is created.
 */
#include <errno.h>
#include <fcntl.h>

#include "vfs/attr.h"
#include "vfs/dirops.h"
#include "vfs/open.h"

/* Linux shows this one in F_GETFL of every 64-bit program. */
#define O_LARGEFILE_SHOWN 0100000u

/* What is said of the number, not of the file. */
#define NUMBER_FLAGS ((unsigned int)O_CLOEXEC | BERTH_ANYFD)

#define OPEN_FLAGS                                                            \
	(NUMBER_FLAGS |                                                       \
	 (unsigned int)(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC |   \
			O_APPEND | O_NONBLOCK | O_DSYNC | O_SYNC | O_DIRECT | \
			O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_PATH |       \
			O_ASYNC))
#define OPEN_PATH_FLAGS \
	(NUMBER_FLAGS | (unsigned int)(O_DIRECTORY | O_NOFOLLOW | O_PATH))
#define TMPFILE_FLAG ((unsigned int)(O_TMPFILE & ~O_DIRECTORY))

/* What is to be opened, and how. */
struct opening {
	int dirfd;
	const char *path;
	unsigned int flags;
	mode_t mode;
	unsigned int walk; /* WALK_*, beyond what the flags say */
};

/* ---- Flags ---- */

/* What open makes of its flags: 0 or -EINVAL. */
static int open_flags(unsigned int *flags)
{
	*flags &= OPEN_FLAGS | TMPFILE_FLAG;
	if (*flags & O_PATH) {
		*flags &= OPEN_PATH_FLAGS;
		return 0;
	}
	if ((*flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY))
		return -EINVAL;
	if ((*flags & TMPFILE_FLAG) &&
	    (!(*flags & O_DIRECTORY) || !(*flags & O_ACCMODE)))
		return -EINVAL;
	return 0;
}

static unsigned int fmode_of(unsigned int flags)
{
	if (flags & O_PATH)
		return 0;
	switch (flags & O_ACCMODE) {
	case O_RDONLY:
		return FMODE_OPEN | FMODE_READ;
	case O_WRONLY:
		return FMODE_OPEN | FMODE_WRITE;
	case O_RDWR:
		return FMODE_OPEN | FMODE_READ | FMODE_WRITE;
	default: /* 3: for ioctl alone, on Linux */
		return FMODE_OPEN;
	}
}

/* The permission that an open asks for. */
static unsigned int may_of(unsigned int flags)
{
	static const unsigned int may[] = { MAY_READ, MAY_WRITE,
					    MAY_READ | MAY_WRITE,
					    MAY_READ | MAY_WRITE };
	unsigned int mask = may[flags & O_ACCMODE];

	if (flags & O_PATH)
		return 0;
	return flags & O_TRUNC ? mask | MAY_WRITE : mask;
}

/* ---- Open ---- */

/*
 * May an inode that exists be opened?  Also for a file made by this very open,
 * with @mask 0: its permissions are not asked.
 */
static int may_open(const struct inode *inode, const struct cred *cred,
		    unsigned int flags, unsigned int mask)
{
	mode_t mode = inode_mode(inode);

	if (flags & O_PATH)
		return (flags & O_DIRECTORY) && !S_ISDIR(mode) ? -ENOTDIR : 0;
	if (S_ISDIR(mode)) {
		if (mask & MAY_WRITE)
			return -EISDIR;
	} else {
		if (flags & O_DIRECTORY)
			return -ENOTDIR;
		if (S_ISLNK(mode))
			return -ELOOP;
	}
	if ((mask & MAY_WRITE) && mnt_is_readonly(&inode->vfs->mnt) &&
	    S_ISREG(mode))
		return -EROFS;
	if (inode_permission(inode, cred, mask))
		return -EACCES;
	if ((flags & O_NOATIME) && !inode_owner_or_capable(inode, cred))
		return -EPERM;
	if (S_ISDIR(mode))
		return flags & O_DIRECT ? -EINVAL : 0;
	return S_ISREG(mode) ? 0 : -ENXIO;
}

static unsigned int walk_of(const struct opening *how)
{
	return how->flags & O_NOFOLLOW ? how->walk : how->walk | WALK_FOLLOW;
}

/* Walk to what exists and own it. */
static int open_existing(struct file *file, struct berth_task *task,
			 const struct opening *how)
{
	struct nameidata nd;
	unsigned int tries = 0;
	int ret;

	rcu_read_lock();
	do {
		/* As RCU(cred_get:A). */
		nd.cred = rcu_dereference(task->cred);
		ret = path_walk(&nd, task, how->dirfd, how->path, walk_of(how));
		if (!ret)
			ret = may_open(nd.inode, nd.cred, how->flags,
				       may_of(how->flags));
	} while (unlikely(lookup_pause(ret, &tries) ||
			  (!ret && !igrab(nd.inode))));
	rcu_read_unlock();
	if (!ret)
		file->inode = nd.inode;
	return ret;
}

/* The name is missing: make it, unless somebody else has meanwhile. */
static int create_missing(struct file *file, struct parent *parent,
			  struct berth_task *task, const struct cred *cred,
			  mode_t mode)
{
	struct new_entry entry = { .mode = S_IFREG | (mode & 07777),
				   .umask = umask_of(task) };

	return do_create(parent, cred, &entry, &file->inode);
}

/* A name that an open with O_CREAT has found: may it be opened? */
static int may_open_found(const struct inode *inode, const struct cred *cred,
			  unsigned int flags)
{
	if (flags & O_EXCL)
		return -EEXIST;
	if (inode_is_dir(inode))
		return -EISDIR;
	return may_open(inode, cred, flags, may_of(flags));
}

/*
 * One look at the path: open what it leads to, or create it.  -EAGAIN when the
 * name came into being between the look and the creation.
 */
static int open_or_create_once(struct file *file, struct berth_task *task,
			       const struct cred *cred,
			       const struct opening *how, bool *created)
{
	unsigned int walk = WALK_CREATE | how->walk;
	struct nameidata nd;
	struct parent parent;
	unsigned int tries = 0;
	int ret;

	if (!(how->flags & (O_NOFOLLOW | O_EXCL)))
		walk |= WALK_FOLLOW;
	nd.cred = cred;
	rcu_read_lock();
	do {
		ret = path_walk(&nd, task, how->dirfd, how->path, walk);
	} while (lookup_pause(ret, &tries));
	if (!ret && nd.missing)
		ret = parent_of_walk(&parent, &nd);
	else if (!ret)
		ret = may_open_found(nd.inode, cred, how->flags);
	if (!ret && !nd.missing && !igrab(nd.inode))
		ret = -EAGAIN;
	rcu_read_unlock();
	*created = !ret && nd.missing;
	if (ret)
		return ret;
	if (!nd.missing) {
		file->inode = nd.inode;
		return 0;
	}
	ret = create_missing(file, &parent, task, cred, how->mode);
	parent_put(&parent);
	return ret == -EEXIST && !(how->flags & O_EXCL) ? -EAGAIN : ret;
}

static int open_or_create(struct file *file, struct berth_task *task,
			  const struct opening *how, bool *created)
{
	struct cred *cred = cred_get(task);
	int ret;

	do {
		ret = retry_after_drain(
			open_or_create_once(file, task, cred, how, created));
	} while (ret == -EAGAIN);
	cred_put(cred);
	return ret;
}

/* A file without a name, in the file system of a directory. */
static int open_tmpfile(struct file *file, struct berth_task *task,
			const struct opening *how)
{
	struct new_entry entry = { .mode = S_IFREG | (how->mode & 07777),
				   .umask = umask_of(task) };
	struct cred *cred = cred_get(task);
	struct inode *dir;
	int ret;

	ret = inode_get(task, cred, how->dirfd, how->path, walk_of(how), false,
			&dir);
	if (ret)
		goto out_put_cred;
	ret = -ENOTDIR;
	if (inode_is_dir(dir))
		ret = retry_after_drain(do_tmpfile(dir, cred, &entry,
						   !(how->flags & O_EXCL),
						   &file->inode));
	iput(dir);
out_put_cred:
	cred_put(cred);
	return ret;
}

static void open_truncate(struct inode *inode, struct berth_task *task)
{
	struct cred *cred = cred_get(task);

	mnt_want_write_file(&inode->vfs->mnt);
	mutex_lock(&inode->lock);
	inode_kill_setid(inode, cred);
	inode_truncate(inode, 0);
	mutex_unlock(&inode->lock);
	mnt_drop_write(&inode->vfs->mnt);
	cred_put(cred);
}

/*
 * The inode is owned and allowed: count the writer, truncate, describe.  On
 * failure the file's inode is the caller's to put.
 */
static int open_finish(struct file *file, struct berth_task *task,
		       unsigned int flags, bool created)
{
	struct inode *inode = file->inode;
	struct vfsmount *mnt = &inode->vfs->mnt;
	bool truncate =
		(flags & O_TRUNC) && !created && S_ISREG(inode_mode(inode));
	unsigned int fmode = fmode_of(flags);
	int ret = 0;

	if ((fmode & FMODE_WRITE) || truncate)
		ret = mnt_get_write_access(mnt);
	if (ret)
		return ret;
	if (truncate)
		open_truncate(inode, task);
	if (truncate && !(fmode & FMODE_WRITE))
		mnt_put_write_access(mnt);
	flags &= ~(NUMBER_FLAGS |
		   (unsigned int)(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC));
	if (!(flags & O_PATH))
		flags |= O_LARGEFILE_SHOWN;
	/* It clears the space that the next three stand in. */
	berth_file_init(&file->base, &vfs_file_operations, flags,
			flags & O_PATH ? BERTH_FILE_PATH : 0);
	file->base.budget = inode->vfs->budget;
	file->inode = inode;
	file->fmode = fmode;
	store_relaxed(&file->pos, (uint64_t)0);
	file->mem = mem_is_plain(&inode->vfs->mem) ? NULL : &inode->vfs->mem;
	return 0;
}

/* Reserve a number and a file's memory. */
static int open_reserve(struct berth_task *task, unsigned int flags,
			struct file **file)
{
	int fd = alloc_fd(task->files, 0, flags & NUMBER_FLAGS), ret;

	if (fd < 0)
		return fd;
	ret = file_alloc(task->vfs, file);
	if (likely(!ret))
		return fd;
	put_unused_fd(task->files, (unsigned int)fd);
	return ret;
}

/* The file's inode is owned, or @ret an error: make the file ready to be shown,
 * or take it back. */
static int open_ready(struct berth_task *task, struct file *file,
		      unsigned int flags, bool created, int ret)
{
	if (!ret) {
		ret = open_finish(file, task, flags, created);
		if (ret)
			iput(file->inode);
	}
	if (ret)
		file_discard(file, task->vfs);
	return ret;
}

/* The same for a reserved number, which finds the file or is given back. */
static int open_conclude(struct berth_task *task, struct file *file, int fd,
			 unsigned int flags, bool created, int ret)
{
	ret = open_ready(task, file, flags, created, ret);
	if (ret) {
		put_unused_fd(task->files, (unsigned int)fd);
		return ret;
	}
	fd_install(task->files, (unsigned int)fd, &file->base);
	return fd;
}

/*
 * An open that changes nothing but the table: find the file first, and take the
 * number and show the file in one step.  That a full table is told before
 * anything else can then be made up for afterwards.
 */
static int open_plain(struct berth_task *task, const struct opening *how)
{
	struct file *file;
	int ret = file_alloc(task->vfs, &file);

	if (unlikely(ret == -ENFILE))
		return files_has_room(task->files) ? ret : -EMFILE;
	if (unlikely(ret))
		return ret;
	ret = open_existing(file, task, how);
	ret = open_ready(task, file, how->flags, false, ret);
	if (unlikely(ret))
		return files_has_room(task->files) ? ret : -EMFILE;
	ret = receive_fd(task->files, &file->base, how->flags & NUMBER_FLAGS);
	if (unlikely(ret < 0))
		file_free_unseen(&file->base);
	return ret;
}

/* One that may change the tree: the number comes first. */
static int open_changing(struct berth_task *task, const struct opening *how)
{
	bool created = false;
	struct file *file;
	int fd, ret;

	fd = retry_after_drain(open_reserve(task, how->flags, &file));
	if (unlikely(fd < 0))
		return fd;
	if (how->flags & TMPFILE_FLAG) {
		ret = open_tmpfile(file, task, how);
		created = true;
	} else if (how->flags & O_CREAT) {
		ret = open_or_create(file, task, how, &created);
	} else {
		ret = open_existing(file, task, how);
	}
	return open_conclude(task, file, fd, how->flags, created, ret);
}

static int do_open(struct berth_task *task, struct opening *how)
{
	int ret = open_flags(&how->flags);

	if (!ret)
		ret = path_check(how->path);
	if (unlikely(ret))
		return ret;
	if (likely(!(how->flags & (O_CREAT | O_TRUNC | TMPFILE_FLAG))))
		ret = retry_after_drain(open_plain(task, how));
	else
		ret = open_changing(task, how);
	rcu_poll();
	return ret;
}

int berth_openat(struct berth_task *task, int dirfd, const char *path,
		 unsigned int flags, mode_t mode)
{
	struct opening how = {
		.dirfd = dirfd, .path = path, .flags = flags, .mode = mode
	};

	return do_open(task, &how);
}

/* ---- The strict open ---- */

#define HOW_SIZE_FIRST 24u   /* of the first version */
#define HOW_SIZE_MAX   4096u /* nobody's structure is larger */

/* A caller of a later version may ask for nothing that is not known here. */
static int how_check_size(const struct berth_open_how *how, size_t size)
{
	const unsigned char *rest = (const unsigned char *)how;
	size_t i;

	if (size < HOW_SIZE_FIRST)
		return -EINVAL;
	if (size > HOW_SIZE_MAX)
		return -E2BIG;
	for (i = sizeof(*how); i < size; i++)
		if (rest[i])
			return -E2BIG;
	return 0;
}

#define RESOLVE_KNOWN                                          \
	(BERTH_RESOLVE_NO_XDEV | BERTH_RESOLVE_NO_MAGICLINKS | \
	 BERTH_RESOLVE_NO_SYMLINKS | BERTH_RESOLVE_BENEATH |   \
	 BERTH_RESOLVE_IN_ROOT | BERTH_RESOLVE_CACHED)

static int how_check(const struct berth_open_how *how)
{
	const uint64_t makes = O_CREAT | TMPFILE_FLAG;
	const uint64_t scopes = BERTH_RESOLVE_BENEATH | BERTH_RESOLVE_IN_ROOT;

	if (how->flags &
	    ~(uint64_t)(OPEN_FLAGS | TMPFILE_FLAG | O_LARGEFILE_SHOWN))
		return -EINVAL;
	if ((how->resolve & ~(uint64_t)RESOLVE_KNOWN) ||
	    (how->resolve & scopes) == scopes)
		return -EINVAL;
	if (how->mode & (how->flags & makes ? ~UINT64_C(07777) : UINT64_MAX))
		return -EINVAL;
	if ((how->flags & O_PATH) && (how->flags & ~(uint64_t)OPEN_PATH_FLAGS))
		return -EINVAL;
	/* Linux can not promise to make a file without waiting. */
	if ((how->resolve & BERTH_RESOLVE_CACHED) &&
	    (how->flags & (makes | O_TRUNC)))
		return -EAGAIN;
	return 0;
}

static unsigned int walk_of_resolve(uint64_t resolve)
{
	unsigned int walk = 0;

	if (resolve & BERTH_RESOLVE_NO_SYMLINKS)
		walk |= WALK_NO_LINKS;
	if (resolve & BERTH_RESOLVE_BENEATH)
		walk |= WALK_BENEATH;
	if (resolve & BERTH_RESOLVE_IN_ROOT)
		walk |= WALK_IN_ROOT;
	return walk;
}

int berth_openat2(struct berth_task *task, int dirfd, const char *path,
		  const struct berth_open_how *how, size_t size)
{
	struct opening opening = { .dirfd = dirfd, .path = path };
	int ret;

	if (!how)
		return -EFAULT;
	ret = how_check_size(how, size);
	if (!ret)
		ret = how_check(how);
	if (ret)
		return ret;
	opening.flags = (unsigned int)how->flags;
	opening.mode = (mode_t)how->mode;
	opening.walk = walk_of_resolve(how->resolve);
	return do_open(task, &opening);
}

int berth_open(struct berth_task *task, const char *path, unsigned int flags,
	       mode_t mode)
{
	return berth_openat(task, BERTH_AT_FDCWD, path, flags, mode);
}

int berth_inode_open(struct berth_task *task, struct berth_inode *handle,
		     unsigned int flags)
{
	struct inode *inode = inode_of_handle(handle);
	struct cred *cred;
	struct file *file;
	int fd, ret;

	flags &= ~(O_CREAT | O_EXCL | TMPFILE_FLAG);
	ret = open_flags(&flags);
	if (!ret && inode->vfs != task->vfs)
		ret = -EXDEV;
	if (ret)
		return ret;
	fd = retry_after_drain(open_reserve(task, flags, &file));
	if (fd < 0)
		return fd;
	cred = cred_get(task);
	ret = may_open(inode, cred, flags, may_of(flags));
	cred_put(cred);
	if (!ret) {
		ihold(inode);
		file->inode = inode;
	}
	ret = open_conclude(task, file, fd, flags, false, ret);
	rcu_poll();
	return ret;
}

/* Own what a name means now: 0, -ENOENT or why it may not be opened. */
static int open_by_name(struct file *file, const struct cred *cred,
			struct parent *parent, unsigned int flags)
{
	struct inode *found = NULL;
	unsigned int tries = 0;
	int ret;

	ret = inode_permission(parent->dir, cred, MAY_EXEC);
	if (ret)
		return ret;
	rcu_read_lock();
	do {
		ret = d_lookup(parent->dir, &parent->last, &found);
		if (!ret)
			ret = may_open_found(found, cred, flags);
	} while (lookup_pause(ret, &tries) || (!ret && !igrab(found)));
	rcu_read_unlock();
	file->inode = found;
	return ret;
}

/* As open_or_create(), but from a directory and a name. */
static int create_by_name(struct file *file, struct berth_task *task,
			  struct cred *cred, struct parent *parent,
			  unsigned int flags, mode_t mode, bool *created)
{
	int ret;

	do {
		ret = open_by_name(file, cred, parent, flags);
		*created = ret == -ENOENT;
		if (!*created)
			return ret;
		ret = retry_after_drain(
			create_missing(file, parent, task, cred, mode));
	} while (ret == -EEXIST && !(flags & O_EXCL));
	return ret;
}

int berth_inode_create(struct berth_task *task, struct berth_inode *dir,
		       const char *name, unsigned int flags, mode_t mode,
		       struct berth_inode **inode, struct berth_stat *st)
{
	struct parent parent;
	struct cred *cred;
	struct file *file;
	struct inode *made;
	bool created;
	int fd, ret;

	flags |= O_CREAT;
	ret = open_flags(&flags);
	if (!ret && inode_of_handle(dir)->vfs != task->vfs)
		ret = -EXDEV;
	if (ret)
		return ret;
	ret = parent_of_name(&parent, inode_of_handle(dir), name);
	if (ret)
		return ret;
	fd = retry_after_drain(open_reserve(task, flags, &file));
	if (fd < 0)
		goto out_put_parent;
	cred = cred_get(task);
	ret = create_by_name(file, task, cred, &parent, flags, mode, &created);
	cred_put(cred);
	made = file->inode;
	if (!ret)
		ihold(made);
	fd = open_conclude(task, file, fd, flags, !ret && created, ret);
	if (fd >= 0)
		inode_give(made, inode, st);
	else if (!ret)
		iput(made);
out_put_parent:
	parent_put(&parent);
	rcu_poll();
	return fd;
}
