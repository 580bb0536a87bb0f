/* SPDX-License-Identifier: MIT */
/*
 * An in-memory file system, used as a library.
 *
 * An instance (struct berth_vfs) holds a tree; a task (struct berth_task) is
 * what a process is to a kernel: a descriptor table, a root and a working
 * directory, a umask and credentials.  Every call names its task; threads may
 * share one.
 *
 *	struct berth_vfs *vfs;
 *	struct berth_task *task;
 *	int fd;
 *
 *	berth_vfs_create(NULL, &vfs);
 *	berth_task_create(vfs, NULL, &task);
 *	fd = berth_open(task, "/hello", O_CREAT | O_RDWR, 0644);
 *	berth_write(task, fd, "hello\n", 6);
 *	berth_close(task, fd);
 *	berth_task_destroy(task);
 *	berth_vfs_destroy(vfs);
 *
 * Calls return 0 or a positive value, or a negative errno: the one that Linux
 * gives on tmpfs, checked in Linux's order.  Paths are bytes up to 4095 long,
 * names up to 255.  A file's offset and flags belong to the open file and are
 * shared by its duplicates, close-on-exec to the number.
 *
 * Context, where a call does not say otherwise: any thread, not inside a
 * borrow (see <berth/files.h>), not a signal handler.  On a thread that has
 * called berth before a handler may berth_read() and berth_pread() up to 256
 * KiB a call, berth_lseek() with SEEK_SET, SEEK_CUR and SEEK_END, and ask
 * berth_fcntl() for F_GETFL and F_GETFD.
 *
 * Errors that every path call may give, and that are not repeated below:
 * -ENOENT (a component is missing, or the path is empty), -ENOTDIR (a
 * component that should be a directory is none, or a name that is not a
 * directory carries a trailing slash), -EACCES (no search permission),
 * -ELOOP (more than 40 symbolic links), -ENAMETOOLONG, -EBADF (a relative path
 * with a bad dirfd), -ENOMEM.  Those of every modification: -EROFS, -ENOSPC,
 * -EPERM (sticky directory, or owner needed).
 */
#ifndef BERTH_VFS_H
#define BERTH_VFS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include <berth/files.h>

#ifdef __cplusplus
extern "C" {
#endif

struct berth_vfs;
struct berth_task;
struct berth_inode;

/* Use the task's working directory where a call wants a dirfd. */
#define BERTH_AT_FDCWD (-100)

/* Flags of the *at calls. */
#define BERTH_AT_SYMLINK_NOFOLLOW 0x100u
#define BERTH_AT_REMOVEDIR	  0x200u
#define BERTH_AT_EACCESS	  0x200u
#define BERTH_AT_SYMLINK_FOLLOW	  0x400u
#define BERTH_AT_NO_AUTOMOUNT	  0x800u
#define BERTH_AT_EMPTY_PATH	  0x1000u

/* Flags of berth_renameat2(). */
#define BERTH_RENAME_NOREPLACE 0x1u
#define BERTH_RENAME_EXCHANGE  0x2u
#define BERTH_RENAME_WHITEOUT  0x4u

/* Flags of berth_preadv2() and berth_pwritev2(). */
#define BERTH_RWF_HIPRI	   0x1u
#define BERTH_RWF_DSYNC	   0x2u
#define BERTH_RWF_SYNC	   0x4u
#define BERTH_RWF_APPEND   0x10u
#define BERTH_RWF_NOAPPEND 0x20u

/* Modes of berth_fallocate().  The last four are not supported here. */
#define BERTH_FALLOC_KEEP_SIZE	    0x1u
#define BERTH_FALLOC_PUNCH_HOLE	    0x2u
#define BERTH_FALLOC_COLLAPSE_RANGE 0x8u
#define BERTH_FALLOC_ZERO_RANGE	    0x10u
#define BERTH_FALLOC_INSERT_RANGE   0x20u
#define BERTH_FALLOC_UNSHARE_RANGE  0x40u

/* How berth_openat2() is to walk. */
#define BERTH_RESOLVE_NO_XDEV	    0x1u
#define BERTH_RESOLVE_NO_MAGICLINKS 0x2u
#define BERTH_RESOLVE_NO_SYMLINKS   0x4u
#define BERTH_RESOLVE_BENEATH	    0x8u
#define BERTH_RESOLVE_IN_ROOT	    0x10u
#define BERTH_RESOLVE_CACHED	    0x20u

/* Nanoseconds with a meaning of their own in berth_utimensat(). */
#define BERTH_UTIME_NOW	 ((1L << 30) - 1L)
#define BERTH_UTIME_OMIT ((1L << 30) - 2L)

/* ---- Instances ---- */

/* The instance refuses every modification with -EROFS. */
#define BERTH_VFS_RDONLY 0x1u
/* @mode is meant although it is 0. */
#define BERTH_VFS_MODE 0x2u

/**
 * struct berth_vfs_options - how an instance is to be.
 * @struct_size: sizeof(struct berth_vfs_options) of the caller.
 * @size: bytes of file data it may hold, rounded up to whole pages of 4096
 *	bytes; 0 is no limit.
 * @nr_inodes: files, directories and links it may hold, the root included;
 *	0 is no limit.
 * @memory_max: bytes of memory that its files, names and data may take,
 *	deferred frees included, open files too, but not tasks and descriptor
 *	tables; 0 is no limit.  Beyond it calls give -ENOMEM.
 * @nr_files: files that all its tasks together may have open; 0 is no limit.
 *	Beyond it an open gives -ENFILE.
 * @mode: permission bits of the root directory; 0 is 0755, unless
 *	BERTH_VFS_MODE is set.
 * @uid: owner of the root directory.
 * @gid: group of the root directory.
 * @flags: BERTH_VFS_RDONLY, BERTH_VFS_MODE.
 * @clock: gives the time of day; NULL is the system's coarse real-time clock.
 *	It may be called from any thread, at any moment, and must not call
 *	berth.
 * @alloc: gives @bytes of memory, aligned to @align (a power of two), or
 *	NULL; without one the system's is used.  File data is asked for in
 *	pieces of 262144 bytes.  Called from any thread.
 * @dealloc: takes back what @alloc gave, with its size.
 * @report: told of a broken invariant of this instance, as
 *	berth_set_report_handler() says; NULL is the handler of the process.
 * @arg: passed to these functions as it is.
 */
struct berth_vfs_options {
	size_t struct_size;
	uint64_t size;
	uint64_t nr_inodes;
	uint64_t nr_files;
	uint64_t memory_max;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	unsigned int flags;
	void (*clock)(struct timespec *now, void *arg);
	void *(*alloc)(size_t bytes, size_t align, void *arg);
	void (*dealloc)(void *memory, size_t bytes, void *arg);
	void (*report)(const char *invariant, const char *detail, void *arg);
	void *arg;
};

/* What berth_statfs() tells, in pages of 4096 bytes and in inodes. */
struct berth_statfs {
	uint64_t blocks;
	uint64_t blocks_free;
	uint64_t inodes;
	uint64_t inodes_free;
	uint32_t block_size;
	uint32_t name_max;
};

/**
 * berth_vfs_create() - a new instance with an empty root directory.
 * @options: how it is to be; NULL for the defaults.
 * @vfs: where the instance goes.
 *
 * Return: 0; -EINVAL for an option out of range; -ENOMEM.
 */
int berth_vfs_create(const struct berth_vfs_options *options,
		     struct berth_vfs **vfs);

/**
 * berth_vfs_destroy() - free an instance and everything in it.
 * @vfs: the instance; NULL is accepted.
 *
 * Waits for deferred frees.
 *
 * Return: 0; -EBUSY when it still has a task, an open file or an inode held
 * by its user, or when called inside a borrow or a callback of berth's; then
 * nothing has changed.
 */
int berth_vfs_destroy(struct berth_vfs *vfs);

/**
 * berth_vfs_statfs() - how full an instance is.
 * @vfs: the instance.
 * @st: where the numbers go.  A total of 0 means that there is no limit.
 */
void berth_vfs_statfs(struct berth_vfs *vfs, struct berth_statfs *st);

/**
 * berth_statfs() - the same for the file system that a path leads to.
 * @task: the task.
 * @path: any file in it; links are followed.
 * @st: where the numbers go.
 *
 * Return: 0 or a path error.
 */
int berth_statfs(struct berth_task *task, const char *path,
		 struct berth_statfs *st);

/* The same for the one of an open file.  Return: 0; -EBADF. */
int berth_fstatfs(struct berth_task *task, int fd, struct berth_statfs *st);

/* ---- Tasks ---- */

/* No permission is checked: for a host that has checked it already. */
#define BERTH_CRED_OVERRIDE 0x1u

/**
 * struct berth_cred - who a task acts for.
 * @uid: user id; 0 may do everything.
 * @gid: group id.
 * @groups: supplementary group ids, @ngroups of them.
 * @ngroups: at most 65536.
 * @flags: 0 or BERTH_CRED_OVERRIDE.
 */
struct berth_cred {
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	unsigned int ngroups;
	unsigned int flags;
};

/**
 * berth_task_create() - a first task of an instance.
 * @vfs: the instance.
 * @cred: copied; NULL is uid 0 and gid 0.
 * @task: where the task goes.
 *
 * It has an empty descriptor table, works in the root directory and has a
 * umask of 022.
 *
 * Return: 0; -EINVAL when @cred is out of range; -ENOMEM.
 */
int berth_task_create(struct berth_vfs *vfs, const struct berth_cred *cred,
		      struct berth_task **task);

/* The new task of berth_task_fork() uses its parent's descriptor table. */
#define BERTH_TASK_SHARE_FILES 0x1u

/**
 * berth_task_fork() - a task like another one.
 * @parent: the task; others may use it meanwhile.
 * @flags: 0 (the descriptors are copied, as berth_files_fork() says) or
 *	BERTH_TASK_SHARE_FILES.
 * @child: where the new task goes.
 *
 * Return: 0; -EINVAL for other flags; -ENOMEM.
 */
int berth_task_fork(struct berth_task *parent, unsigned int flags,
		    struct berth_task **child);

/**
 * berth_task_destroy() - end a task; its last user of a table closes it.
 * @task: a task that no other thread is using; NULL is accepted.
 */
void berth_task_destroy(struct berth_task *task);

/**
 * berth_task_files() - a task's descriptor table, for <berth/files.h>.
 * @task: the task.
 *
 * Return: the table; it lives as long as the task.
 */
struct berth_files *berth_task_files(struct berth_task *task);

/**
 * berth_task_set_cred() - act for somebody else from now on.
 * @task: the task.
 * @cred: copied.
 *
 * Calls in progress finish with the former credentials.
 *
 * Return: 0; -EINVAL when @cred is out of range; -ENOMEM.
 */
int berth_task_set_cred(struct berth_task *task, const struct berth_cred *cred);

/**
 * berth_umask() - set the bits that new files do not get.
 * @task: the task.
 * @mask: permission bits; others are ignored.
 *
 * Return: the former mask.
 */
mode_t berth_umask(struct berth_task *task, mode_t mask);

/**
 * berth_chdir() - change the working directory.
 * @task: the task.
 * @path: a directory with search permission.
 *
 * Return: 0 or a path error.
 */
int berth_chdir(struct berth_task *task, const char *path);

/**
 * berth_fchdir() - change the working directory to an open one.
 * @task: the task.
 * @fd: a directory's descriptor.
 *
 * Return: 0; -EBADF; -ENOTDIR; -EACCES.
 */
int berth_fchdir(struct berth_task *task, int fd);

/**
 * berth_chroot() - change the root directory.
 * @task: the task, of uid 0 or with BERTH_CRED_OVERRIDE.
 * @path: a directory with search permission.
 *
 * Absolute paths, those of links too, begin there from now on, and there is no
 * way up from it; the working directory and open directories stay what they
 * are.
 *
 * Return: 0; -EPERM; path errors.
 */
int berth_chroot(struct berth_task *task, const char *path);

/**
 * berth_getcwd() - the path of the working directory.
 * @task: the task.
 * @buf: where it goes, with its NUL byte.
 * @size: bytes of @buf.
 *
 * A directory that cannot be reached from the task's root is told by a path
 * that begins with "(unreachable)".
 *
 * Return: the length with the NUL byte; -ERANGE when @buf is too small;
 * -ENOENT when the directory was removed.
 */
ssize_t berth_getcwd(struct berth_task *task, char *buf, size_t size);

/* ---- Open files ---- */

/**
 * berth_openat() - open a file, create it if wanted.
 * @task: the task.
 * @dirfd: where a relative path starts; a descriptor or BERTH_AT_FDCWD.
 * @path: the file.
 * @flags: O_RDONLY, O_WRONLY or O_RDWR, with O_CREAT, O_EXCL, O_TRUNC,
 *	O_APPEND, O_CLOEXEC, O_DIRECTORY, O_NOFOLLOW, O_NOATIME, O_PATH,
 *	O_TMPFILE; O_NONBLOCK, O_NOCTTY, O_SYNC, O_DSYNC, O_DIRECT, O_ASYNC
 *	and unknown bits are accepted and change nothing, as in Linux's open.
 *	BERTH_ANYFD: any free descriptor will do.
 * @mode: permission bits of a new file; read only with O_CREAT or O_TMPFILE.
 *
 * With O_TMPFILE @path is a directory, and the new file has no name.  Unless
 * O_EXCL is there, too, berth_linkat() with BERTH_AT_EMPTY_PATH can give it
 * one.
 *
 * Return: the lowest free descriptor, or any; -EMFILE before anything else is looked
 * at; -EEXIST; -EISDIR (a directory for writing, or with O_CREAT); -ENOTDIR;
 * -ELOOP (O_NOFOLLOW and a symbolic link); -EACCES; -ENFILE (right after
 * -EMFILE: the instance has nr_files open); -EINVAL (O_CREAT with
 * O_DIRECTORY, O_TMPFILE without writing); -ENXIO (a device, fifo or socket);
 * path and modification errors.
 */
int berth_openat(struct berth_task *task, int dirfd, const char *path,
		 unsigned int flags, mode_t mode);

/* berth_open() - berth_openat() from the working directory. */
int berth_open(struct berth_task *task, const char *path, unsigned int flags,
	       mode_t mode);

/**
 * struct berth_open_how - what berth_openat2() is to do.
 * @flags: as of berth_openat(), unknown bits excluded.
 * @mode: permission bits; 0 unless O_CREAT or O_TMPFILE is in @flags.
 * @resolve: BERTH_RESOLVE_*.
 */
struct berth_open_how {
	uint64_t flags;
	uint64_t mode;
	uint64_t resolve;
};

/**
 * berth_openat2() - open a file, strictly, without leaving a directory.
 * @task: the task.
 * @dirfd: where the path starts; a descriptor or BERTH_AT_FDCWD.
 * @path: the file.
 * @how: flags, mode and way.
 * @size: sizeof(struct berth_open_how) of the caller.
 *
 * BERTH_RESOLVE_BENEATH: neither "..", nor an absolute path or link may lead
 * out of the start (-EXDEV).  BERTH_RESOLVE_IN_ROOT: the start is the root of
 * this walk.  BERTH_RESOLVE_NO_SYMLINKS: no link anywhere (-ELOOP).  The others
 * change nothing here: there are no magic links, one mount, and all is cached.
 *
 * Return: as berth_openat(); -EINVAL (unknown flags, a mode without need,
 * BENEATH with IN_ROOT, a @size that is too small); -E2BIG (a larger @size,
 * with something in it); -EXDEV; -ELOOP; -EAGAIN (a rename came between, and
 * it cannot be told whether ".." has led out: try again).
 */
int berth_openat2(struct berth_task *task, int dirfd, const char *path,
		  const struct berth_open_how *how, size_t size);

/**
 * berth_close() - close a descriptor.
 * @task: the task.
 * @fd: any int.
 *
 * Return: 0; -EBADF.  The number is free in every case.
 */
int berth_close(struct berth_task *task, int fd);

/* As berth_files_dup(), berth_files_dup2() and berth_files_dup3(). */
int berth_dup(struct berth_task *task, int fd);
int berth_dup2(struct berth_task *task, int oldfd, int newfd);
int berth_dup3(struct berth_task *task, int oldfd, int newfd,
	       unsigned int flags);

/**
 * berth_close_range() - close a range of numbers, or mark it.
 * @task: the task.
 * @first: the first number.
 * @last: the last one; beyond the table is no error.
 * @flags: BERTH_CLOSE_RANGE_UNSHARE, BERTH_CLOSE_RANGE_CLOEXEC, or 0.
 *
 * With BERTH_CLOSE_RANGE_UNSHARE a task that shares its table goes on with a copy
 * of its own: then no other thread may be using the task meanwhile.
 *
 * Return: 0; -EINVAL (@first above @last, other flags); -ENOMEM.
 */
int berth_close_range(struct berth_task *task, unsigned int first,
		      unsigned int last, unsigned int flags);

/**
 * berth_task_unshare_files() - a table of its own for a task that shares one.
 * @task: the task, which no other thread may be using meanwhile.
 *
 * Return: 0, or -ENOMEM.
 */
int berth_task_unshare_files(struct berth_task *task);

/**
 * berth_fcntl() - F_DUPFD, F_DUPFD_CLOEXEC, F_DUPFD_QUERY, F_GETFD, F_SETFD,
 *	F_GETFL, F_SETFL.
 * @task: the task.
 * @fd: any int.
 * @cmd: one of these.
 * @arg: the least number, the other number, FD_* or O_* flags.  F_SETFL changes O_APPEND,
 *	O_NONBLOCK, O_DIRECT and O_NOATIME (-EPERM unless the file is the
 *	caller's) and ignores the rest.
 *
 * Return: as Linux; -EBADF; -EINVAL for another @cmd.
 */
int berth_fcntl(struct berth_task *task, int fd, int cmd, long arg);

/**
 * berth_read() - read at the file's offset and move it.
 * @task: the task.
 * @fd: any int.
 * @buf: where the bytes go.
 * @count: how many at most; more than 0x7ffff000 is taken as that.
 *
 * Two readers of one offset never get the same bytes.
 *
 * Return: bytes read, 0 at the end; -EBADF (not open for reading); -EISDIR.
 */
ssize_t berth_read(struct berth_task *task, int fd, void *buf, size_t count);

/**
 * berth_write() - write at the file's offset and move it.
 * @task: the task.
 * @fd: any int.
 * @buf: the bytes.
 * @count: how many; more than 0x7ffff000 is taken as that.
 *
 * With O_APPEND the bytes go to the end, whole.
 *
 * Return: bytes written, fewer when space ended; -EBADF; -ENOSPC; -EFBIG;
 * -ENOMEM.
 */
ssize_t berth_write(struct berth_task *task, int fd, const void *buf,
		    size_t count);

/**
 * berth_pread() - read at an offset of the caller's.
 * @task: the task.
 * @fd: any int.
 * @buf: where the bytes go.
 * @count: how many at most.
 * @pos: offset in bytes.
 *
 * Return: as berth_read(); -EINVAL when @pos is negative.
 */
ssize_t berth_pread(struct berth_task *task, int fd, void *buf, size_t count,
		    int64_t pos);

/**
 * berth_pwrite() - write at an offset of the caller's.
 * @task: the task.
 * @fd: any int.
 * @buf: the bytes.
 * @count: how many.
 * @pos: offset in bytes; with O_APPEND the bytes go to the end all the same,
 *	as on Linux.
 *
 * Return: as berth_write(); -EINVAL when @pos is negative.
 */
ssize_t berth_pwrite(struct berth_task *task, int fd, const void *buf,
		     size_t count, int64_t pos);

/**
 * berth_readv() - berth_read() into several buffers.
 * @task: the task.
 * @fd: any int.
 * @iov: the buffers, filled one after the other.
 * @iovcnt: how many, up to 1024.
 *
 * Return: as berth_read(), for all of them at once; -EINVAL (@iovcnt, or a
 * length that is none); -EFAULT (no @iov).
 */
ssize_t berth_readv(struct berth_task *task, int fd, const struct iovec *iov,
		    int iovcnt);

/* berth_write() from several buffers; appends are whole.
 * Return: as berth_write() and berth_readv(). */
ssize_t berth_writev(struct berth_task *task, int fd, const struct iovec *iov,
		     int iovcnt);

/* The same at an offset of the caller's, as berth_pread(), berth_pwrite(). */
ssize_t berth_preadv(struct berth_task *task, int fd, const struct iovec *iov,
		     int iovcnt, int64_t pos);
ssize_t berth_pwritev(struct berth_task *task, int fd, const struct iovec *iov,
		      int iovcnt, int64_t pos);

/**
 * berth_preadv2(), berth_pwritev2() - the same with flags.
 * @task: the task.
 * @fd: any int.
 * @iov: the buffers.
 * @iovcnt: how many, up to 1024.
 * @pos: offset in bytes; -1 is the file's own, and moves it.
 * @flags: BERTH_RWF_APPEND writes at the end; BERTH_RWF_NOAPPEND at @pos,
 *	whatever O_APPEND says; HIPRI, DSYNC and SYNC change nothing.
 *
 * Return: as berth_preadv(), berth_pwritev(); -EOPNOTSUPP for other flags;
 * -EINVAL for APPEND with NOAPPEND.
 */
ssize_t berth_preadv2(struct berth_task *task, int fd, const struct iovec *iov,
		      int iovcnt, int64_t pos, unsigned int flags);
ssize_t berth_pwritev2(struct berth_task *task, int fd, const struct iovec *iov,
		       int iovcnt, int64_t pos, unsigned int flags);

/**
 * berth_lseek() - move a file's offset.
 * @task: the task.
 * @fd: any int.
 * @offset: bytes; for a directory a cookie of berth_getdents().
 * @whence: SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA or SEEK_HOLE.
 *
 * Return: the new offset; -EBADF; -EINVAL; -ENXIO (SEEK_DATA, SEEK_HOLE
 * beyond the end).
 */
int64_t berth_lseek(struct berth_task *task, int fd, int64_t offset,
		    int whence);

/**
 * berth_ftruncate() - set the size of an open file.
 * @task: the task.
 * @fd: any int.
 * @length: bytes; what is new reads as zero.
 *
 * Return: 0; -EBADF; -EINVAL (negative, not open for writing, or not a regular
 * file).
 */
int berth_ftruncate(struct berth_task *task, int fd, int64_t length);

/**
 * berth_truncate() - set the size of a file by path.
 * @task: the task.
 * @path: the file.
 * @length: bytes.
 *
 * Return: 0; -EINVAL; -EISDIR; -EACCES; path errors.
 */
int berth_truncate(struct berth_task *task, const char *path, int64_t length);

/**
 * berth_fallocate() - keep room for a file, or give some back.
 * @task: the task.
 * @fd: a file that is open for writing.
 * @mode: 0: room for the range, and the size grows to its end;
 *	BERTH_FALLOC_KEEP_SIZE: without the latter;
 *	BERTH_FALLOC_PUNCH_HOLE with KEEP_SIZE: the range reads as zeros, and
 *	its whole pages are given back.
 * @offset: start of the range in bytes.
 * @length: its length in bytes.
 *
 * A write into room that was kept is not refused for want of space.
 *
 * Return: 0; -EBADF; -EINVAL (a negative @offset, or a @length below 1);
 * -EOPNOTSUPP (other modes); -EFBIG; -ENOSPC, also for more than the machine
 * has memory; -ENOMEM.  On an error nothing has changed.
 */
int berth_fallocate(struct berth_task *task, int fd, unsigned int mode,
		    int64_t offset, int64_t length);

/*
 * What was written is there when the write returns, and there is no disk: these
 * look at their arguments only.
 *
 * Return: 0; -EBADF; -EINVAL (berth_sync_file_range(): a range or flag that is
 * none).
 */
int berth_fsync(struct berth_task *task, int fd);
int berth_fdatasync(struct berth_task *task, int fd);
int berth_syncfs(struct berth_task *task, int fd);
void berth_sync(struct berth_task *task);
int berth_sync_file_range(struct berth_task *task, int fd, int64_t offset,
			  int64_t count, unsigned int flags);

/* ---- Attributes ---- */

/* What berth_fstatat() tells.  Blocks are of 512 bytes. */
struct berth_stat {
	uint64_t ino;
	uint64_t size;
	uint64_t blocks;
	uint32_t blksize;
	uint32_t nlink;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	uint64_t rdev;
	struct timespec atime;
	struct timespec mtime;
	struct timespec ctime;
	struct timespec btime;
};

/**
 * berth_fstatat() - attributes of a file.
 * @task: the task.
 * @dirfd: where a relative path starts.
 * @path: the file.
 * @st: where they go.
 * @flags: BERTH_AT_SYMLINK_NOFOLLOW, BERTH_AT_EMPTY_PATH,
 *	BERTH_AT_NO_AUTOMOUNT (which changes nothing).
 *
 * Return: 0; -EINVAL for another flag; path errors.
 */
int berth_fstatat(struct berth_task *task, int dirfd, const char *path,
		  struct berth_stat *st, unsigned int flags);
int berth_stat(struct berth_task *task, const char *path,
	       struct berth_stat *st);
int berth_lstat(struct berth_task *task, const char *path,
		struct berth_stat *st);
int berth_fstat(struct berth_task *task, int fd, struct berth_stat *st);

/**
 * berth_faccessat() - may the task do that?
 * @task: the task.
 * @dirfd: where a relative path starts.
 * @path: the file.
 * @mode: F_OK, or of R_OK, W_OK and X_OK.
 * @flags: BERTH_AT_SYMLINK_NOFOLLOW, BERTH_AT_EMPTY_PATH, BERTH_AT_EACCESS
 *	(which changes nothing: a task has one set of ids).
 *
 * Return: 0; -EACCES; -EROFS; -EINVAL; path errors.
 */
int berth_faccessat(struct berth_task *task, int dirfd, const char *path,
		    int mode, unsigned int flags);
int berth_access(struct berth_task *task, const char *path, int mode);

/**
 * berth_fchmodat() - set the permission bits of a file.
 * @task: the task.
 * @dirfd: where a relative path starts.
 * @path: the file; links are followed.
 * @mode: the 12 permission bits; others are ignored.
 * @flags: BERTH_AT_SYMLINK_NOFOLLOW (-EOPNOTSUPP for a symbolic link),
 *	BERTH_AT_EMPTY_PATH.
 *
 * Return: 0; -EPERM unless owner; -EINVAL for another flag; path errors.
 */
int berth_fchmodat(struct berth_task *task, int dirfd, const char *path,
		   mode_t mode, unsigned int flags);
int berth_chmod(struct berth_task *task, const char *path, mode_t mode);
int berth_fchmod(struct berth_task *task, int fd, mode_t mode);

/**
 * berth_fchownat() - set the owner and group of a file.
 * @task: the task.
 * @dirfd: where a relative path starts.
 * @path: the file.
 * @uid: the owner, (uid_t)-1 to leave it.
 * @gid: the group, (gid_t)-1 to leave it.
 * @flags: BERTH_AT_SYMLINK_NOFOLLOW, BERTH_AT_EMPTY_PATH.
 *
 * Return: 0; -EPERM; -EINVAL for another flag; path errors.
 */
int berth_fchownat(struct berth_task *task, int dirfd, const char *path,
		   uid_t uid, gid_t gid, unsigned int flags);
int berth_chown(struct berth_task *task, const char *path, uid_t uid,
		gid_t gid);
int berth_lchown(struct berth_task *task, const char *path, uid_t uid,
		 gid_t gid);
int berth_fchown(struct berth_task *task, int fd, uid_t uid, gid_t gid);

/**
 * berth_utimensat() - set the times of a file.
 * @task: the task.
 * @dirfd: where a relative path starts.
 * @path: the file; NULL is the file of @dirfd itself.
 * @times: access and modification time, NULL for now; tv_nsec may be
 *	BERTH_UTIME_NOW or BERTH_UTIME_OMIT.  Kept from 1677 to 2262, to the
 *	nanosecond; others are clamped.
 * @flags: BERTH_AT_SYMLINK_NOFOLLOW, BERTH_AT_EMPTY_PATH.
 *
 * Return: 0; -EPERM; -EACCES; -EINVAL; path errors.
 */
int berth_utimensat(struct berth_task *task, int dirfd, const char *path,
		    const struct timespec times[2], unsigned int flags);
int berth_futimens(struct berth_task *task, int fd,
		   const struct timespec times[2]);

/* ---- Directories ---- */

/* One entry of berth_getdents(); entries lie behind each other, @reclen
 * bytes each, aligned to 8. */
struct berth_dirent {
	uint64_t ino;
	int64_t cookie; /* resumes after this entry */
	uint16_t reclen;
	uint8_t type; /* DT_* */
	char name[];  /* NUL-terminated */
};

/**
 * berth_getdents() - read a directory from its offset on, and move it.
 * @task: the task.
 * @fd: a directory's descriptor.
 * @buf: where the entries go, aligned to 8.
 * @size: bytes of @buf.
 *
 * Every entry that stays while a directory is read is seen once, whatever
 * comes and goes beside it.  Offset 0 is the start.
 *
 * Return: bytes filled, 0 at the end; -EBADF; -ENOTDIR; -EINVAL when not one
 * entry fits; -ENOENT when the directory was removed.
 */
ssize_t berth_getdents(struct berth_task *task, int fd, void *buf, size_t size);

/**
 * berth_getdents_from() - the same from a cookie, without the offset.
 * @task: the task.
 * @fd: a directory's descriptor.
 * @cookie: 0, or the cookie of the entry to resume after.
 * @buf: where the entries go, aligned to 8.
 * @size: bytes of @buf.
 *
 * Return: as berth_getdents().
 */
ssize_t berth_getdents_from(struct berth_task *task, int fd, int64_t cookie,
			    void *buf, size_t size);

/* Return: 0; -EEXIST; path and modification errors. */
int berth_mkdirat(struct berth_task *task, int dirfd, const char *path,
		  mode_t mode);
int berth_mkdir(struct berth_task *task, const char *path, mode_t mode);

/**
 * berth_mknodat() - a regular file, fifo, socket or device node.
 * @task: the task.
 * @dirfd: where a relative path starts.
 * @path: the new name.
 * @mode: S_IF* and permission bits; no type is a regular file.
 * @rdev: device number of a device.
 *
 * Nodes other than regular files can be named and looked at, not opened.
 *
 * Return: 0; -EEXIST; -EPERM (a directory, or a device without privilege);
 * -EINVAL; path and modification errors.
 */
int berth_mknodat(struct berth_task *task, int dirfd, const char *path,
		  mode_t mode, uint64_t rdev);
int berth_mknod(struct berth_task *task, const char *path, mode_t mode,
		uint64_t rdev);

/**
 * berth_unlinkat() - remove a name.
 * @task: the task.
 * @dirfd: where a relative path starts.
 * @path: the name.
 * @flags: 0, or BERTH_AT_REMOVEDIR for an empty directory.
 *
 * Return: 0; -EISDIR (no BERTH_AT_REMOVEDIR); -ENOTDIR (with it); -ENOTEMPTY;
 * -EBUSY (the root); -EINVAL (a last component of "."); path and modification
 * errors.
 */
int berth_unlinkat(struct berth_task *task, int dirfd, const char *path,
		   unsigned int flags);
int berth_unlink(struct berth_task *task, const char *path);
int berth_rmdir(struct berth_task *task, const char *path);

/**
 * berth_linkat() - a further name for a file.
 * @task: the task.
 * @olddirfd: where a relative @oldpath starts.
 * @oldpath: the file.
 * @newdirfd: where a relative @newpath starts.
 * @newpath: the new name.
 * @flags: BERTH_AT_SYMLINK_FOLLOW, BERTH_AT_EMPTY_PATH.
 *
 * Return: 0; -EEXIST; -EPERM (a directory); -EMLINK; -EINVAL; path and
 * modification errors.
 */
int berth_linkat(struct berth_task *task, int olddirfd, const char *oldpath,
		 int newdirfd, const char *newpath, unsigned int flags);
int berth_link(struct berth_task *task, const char *oldpath,
	       const char *newpath);

/* Return: 0; -EEXIST; path and modification errors. */
int berth_symlinkat(struct berth_task *task, const char *target, int dirfd,
		    const char *path);
int berth_symlink(struct berth_task *task, const char *target,
		  const char *path);

/**
 * berth_readlinkat() - the text of a symbolic link.
 * @task: the task.
 * @dirfd: where a relative path starts.
 * @path: the link.
 * @buf: where the text goes, without a NUL byte.
 * @size: bytes of @buf; a longer text is cut.
 *
 * Return: bytes filled; -EINVAL (not a link, or @size is 0); path errors.
 */
ssize_t berth_readlinkat(struct berth_task *task, int dirfd, const char *path,
			 char *buf, size_t size);
ssize_t berth_readlink(struct berth_task *task, const char *path, char *buf,
		       size_t size);

/**
 * berth_renameat2() - move a name, in one instant.
 * @task: the task.
 * @olddirfd: where a relative @oldpath starts.
 * @oldpath: the name.
 * @newdirfd: where a relative @newpath starts.
 * @newpath: where it goes; what was there is replaced.
 * @flags: BERTH_RENAME_EXCHANGE; or BERTH_RENAME_NOREPLACE and
 *	BERTH_RENAME_WHITEOUT, which leaves a character device 0:0 in the old
 *	place.
 *
 * Return: 0; -EEXIST (with NOREPLACE); -EINVAL (into its own subtree, or
 * other flags); -EISDIR; -ENOTDIR; -ENOTEMPTY; -EBUSY; path and modification
 * errors.
 */
int berth_renameat2(struct berth_task *task, int olddirfd, const char *oldpath,
		    int newdirfd, const char *newpath, unsigned int flags);
int berth_rename(struct berth_task *task, const char *oldpath,
		 const char *newpath);

/* ---- Operations by inode, for FUSE servers and network file servers ---- */

/*
 * An inode that a call gave out is held, once for each time it was given out,
 * until berth_inode_forget().  Names are single components, not empty, "."
 * or "..", without a slash: -EINVAL otherwise (-ENAMETOOLONG over 255 bytes).
 * Permissions are those of the task; BERTH_CRED_OVERRIDE skips them.
 */

/**
 * berth_vfs_forget_all() - drop everything that was held and not forgotten.
 * @vfs: the instance; no other call on it is in progress.
 *
 * For a server whose client has gone without saying what it still knew.
 */
void berth_vfs_forget_all(struct berth_vfs *vfs);

/* The root directory, held.  Return: 0. */
int berth_inode_root(struct berth_vfs *vfs, struct berth_inode **inode);

/**
 * berth_inode_forget() - give back what was held.
 * @inode: the inode.
 * @nlookup: how many times.
 */
void berth_inode_forget(struct berth_inode *inode, uint64_t nlookup);

/* The inode's number; unique in its instance while it lives. */
uint64_t berth_inode_ino(const struct berth_inode *inode);

/* Its generation: two inodes that had the same number differ in it. */
uint64_t berth_inode_generation(const struct berth_inode *inode);

/**
 * berth_inode_lookup() - the inode of a name, held, with its attributes.
 * @task: the task.
 * @dir: a held directory.
 * @name: the name; ".." is the parent, "." the directory itself.
 * @inode: where the inode goes.
 * @st: where the attributes go, or NULL.
 *
 * Return: 0; -ENOENT; -ENOTDIR; -EACCES; -ENAMETOOLONG.
 */
int berth_inode_lookup(struct berth_task *task, struct berth_inode *dir,
		       const char *name, struct berth_inode **inode,
		       struct berth_stat *st);

/* Attributes of a held inode.  Return: 0. */
int berth_inode_stat(struct berth_task *task, struct berth_inode *inode,
		     struct berth_stat *st);

/* What berth_inode_setattr() is to set. */
#define BERTH_SET_MODE	0x1u
#define BERTH_SET_UID	0x2u
#define BERTH_SET_GID	0x4u
#define BERTH_SET_SIZE	0x8u
#define BERTH_SET_ATIME 0x10u
#define BERTH_SET_MTIME 0x20u

/**
 * berth_inode_setattr() - set attributes of a held inode, all or none.
 * @task: the task.
 * @inode: the inode.
 * @st: the new values: mode, uid, gid, size, atime and mtime (tv_nsec may be
 *	BERTH_UTIME_NOW).
 * @which: BERTH_SET_* of those to set.  A size, also the one that is there,
 *	moves mtime and ctime, as ftruncate does.
 *
 * Return: 0; -EPERM; -EACCES; -EINVAL; -EISDIR; modification errors.
 */
int berth_inode_setattr(struct berth_task *task, struct berth_inode *inode,
			const struct berth_stat *st, unsigned int which);

/* A descriptor for a held inode.  @flags as berth_openat(), without O_CREAT.
 * Return: as berth_openat(). */
int berth_inode_open(struct berth_task *task, struct berth_inode *inode,
		     unsigned int flags);

/* Create (or, without O_EXCL, open) a regular file and open it.  The inode is
 * held.  Return: as berth_openat(). */
int berth_inode_create(struct berth_task *task, struct berth_inode *dir,
		       const char *name, unsigned int flags, mode_t mode,
		       struct berth_inode **inode, struct berth_stat *st);

/* New entries.  The inode is held (by a link: once more), its attributes go to
 * @st.  The task's umask applies.  Return: as the path calls. */
int berth_inode_mknod(struct berth_task *task, struct berth_inode *dir,
		      const char *name, mode_t mode, uint64_t rdev,
		      struct berth_inode **inode, struct berth_stat *st);
int berth_inode_mkdir(struct berth_task *task, struct berth_inode *dir,
		      const char *name, mode_t mode, struct berth_inode **inode,
		      struct berth_stat *st);
int berth_inode_symlink(struct berth_task *task, const char *target,
			struct berth_inode *dir, const char *name,
			struct berth_inode **inode, struct berth_stat *st);
int berth_inode_link(struct berth_task *task, struct berth_inode *inode,
		     struct berth_inode *newdir, const char *newname,
		     struct berth_stat *st);

/* As berth_readlinkat(), berth_unlinkat() and berth_renameat2(). */
ssize_t berth_inode_readlink(struct berth_task *task, struct berth_inode *inode,
			     char *buf, size_t size);
int berth_inode_unlink(struct berth_task *task, struct berth_inode *dir,
		       const char *name);
int berth_inode_rmdir(struct berth_task *task, struct berth_inode *dir,
		      const char *name);
int berth_inode_rename(struct berth_task *task, struct berth_inode *olddir,
		       const char *oldname, struct berth_inode *newdir,
		       const char *newname, unsigned int flags);

/* May the task do @mode (R_OK, W_OK, X_OK, F_OK) with it?  Return: 0; -EACCES;
 * -EROFS. */
int berth_inode_access(struct berth_task *task, struct berth_inode *inode,
		       int mode);

#ifdef __cplusplus
}
#endif

#endif
