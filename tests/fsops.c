/* SPDX-License-Identifier: MIT */
/* File operations as data: berth's side and the kernel's. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "fsops.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

/* The bytes that a write writes. */
static const void *op_bytes(struct fs *fs, const struct op *op)
{
	if (op->data)
		return op->data;
	memset(fs->buffer, op->fill, op->size < FS_BUFFER ? op->size : 0);
	return fs->buffer;
}

/*
 * Cut @size bytes into @pieces alike, the rest into the last one; a few more
 * are there to be counted.
 */
static __thread struct iovec pieces[1030];

static const struct iovec *op_pieces(const struct op *op, const void *bytes)
{
	size_t n = sizeof(pieces) / sizeof(pieces[0]), i, at = 0, part;

	if (op->cmd > 0 && (size_t)op->cmd < n)
		n = (size_t)op->cmd;
	part = op->size / n;
	for (i = 0; i < n; i++) {
		pieces[i].iov_base = (char *)(uintptr_t)bytes + at;
		pieces[i].iov_len = i + 1 < n ? part : op->size - at;
		at += part;
	}
	return pieces;
}

/* ---- berth ---- */

static int64_t berth_vector(struct fs *fs, const struct op *op)
{
	if (op->kind == OP_READV)
		return berth_preadv2(fs->task, op->fd,
				     op_pieces(op, fs->buffer), op->cmd,
				     op->pos, op->flags);
	return berth_pwritev2(fs->task, op->fd, op_pieces(op, op_bytes(fs, op)),
			      op->cmd, op->pos, op->flags);
}

static int64_t berth_open_how(struct fs *fs, const struct op *op)
{
	struct berth_open_how how = { .flags = op->flags,
				      .mode = op->mode,
				      .resolve = op->resolve };

	return berth_openat2(fs->task, op->fd, op->path, &how, sizeof(how));
}

static int64_t berth_sync_one(struct fs *fs, const struct op *op)
{
	return op->cmd == 0   ? berth_fsync(fs->task, op->fd)
	       : op->cmd == 1 ? berth_fdatasync(fs->task, op->fd)
			      : berth_syncfs(fs->task, op->fd);
}

static int64_t berth_cred(struct fs *fs, const struct op *op)
{
	struct berth_cred cred = {
		.uid = op->uid,
		.gid = op->gid,
		.groups = op->groups,
		.ngroups = op->ngroups,
	};

	return berth_task_set_cred(fs->task, &cred);
}

static int64_t berth_execute(struct fs *fs, const struct op *op,
			     struct outcome *out)
{
	struct berth_task *task = fs->task;

	switch (op->kind) {
	case OP_OPEN:
		return berth_openat(task, op->fd, op->path, op->flags,
				    op->mode);
	case OP_CLOSE:
		return berth_close(task, op->fd);
	case OP_DUP:
		return berth_dup(task, op->fd);
	case OP_DUP2:
		return berth_dup2(task, op->fd, op->fd2);
	case OP_DUP3:
		return berth_dup3(task, op->fd, op->fd2, op->flags);
	case OP_FCNTL:
		return berth_fcntl(task, op->fd, op->cmd, (long)op->pos);
	case OP_READ:
		return berth_read(task, op->fd, fs->buffer, op->size);
	case OP_WRITE:
		return berth_write(task, op->fd, op_bytes(fs, op), op->size);
	case OP_PREAD:
		return berth_pread(task, op->fd, fs->buffer, op->size, op->pos);
	case OP_PWRITE:
		return berth_pwrite(task, op->fd, op_bytes(fs, op), op->size,
				    op->pos);
	case OP_READV:
	case OP_WRITEV:
		return berth_vector(fs, op);
	case OP_LSEEK:
		return berth_lseek(task, op->fd, op->pos, op->cmd);
	case OP_FTRUNCATE:
		return berth_ftruncate(task, op->fd, op->pos);
	case OP_TRUNCATE:
		return berth_truncate(task, op->path, op->pos);
	case OP_FALLOCATE:
		return berth_fallocate(task, op->fd, op->flags, op->pos,
				       (int64_t)op->size);
	case OP_FSYNC:
		return berth_sync_one(fs, op);
	case OP_SYNC_RANGE:
		return berth_sync_file_range(task, op->fd, op->pos,
					     (int64_t)op->size, op->flags);
	case OP_STATFS:
		return berth_statfs(task, op->path, &out->fs);
	case OP_FSTATFS:
		return berth_fstatfs(task, op->fd, &out->fs);
	case OP_OPEN2:
		return berth_open_how(fs, op);
	case OP_STAT:
		return berth_fstatat(task, op->fd, op->path, &out->st,
				     op->flags);
	case OP_FSTAT:
		return berth_fstat(task, op->fd, &out->st);
	case OP_ACCESS:
		return berth_faccessat(task, op->fd, op->path, op->cmd,
				       op->flags);
	case OP_CHMOD:
		return berth_fchmodat(task, op->fd, op->path, op->mode,
				      op->flags);
	case OP_FCHMOD:
		return berth_fchmod(task, op->fd, op->mode);
	case OP_CHOWN:
		return berth_fchownat(task, op->fd, op->path, op->uid, op->gid,
				      op->flags);
	case OP_FCHOWN:
		return berth_fchown(task, op->fd, op->uid, op->gid);
	case OP_UTIMENS:
		return berth_utimensat(task, op->fd, op->path, op->times,
				       op->flags);
	case OP_MKDIR:
		return berth_mkdirat(task, op->fd, op->path, op->mode);
	case OP_MKNOD:
		return berth_mknodat(task, op->fd, op->path, op->mode,
				     (uint64_t)op->pos);
	case OP_SYMLINK:
		return berth_symlinkat(task, op->path, op->fd2, op->path2);
	case OP_LINK:
		return berth_linkat(task, op->fd, op->path, op->fd2, op->path2,
				    op->flags);
	case OP_UNLINK:
		return berth_unlinkat(task, op->fd, op->path, op->flags);
	case OP_RENAME:
		return berth_renameat2(task, op->fd, op->path, op->fd2,
				       op->path2, op->flags);
	case OP_READLINK:
		return berth_readlinkat(task, op->fd, op->path, fs->buffer,
					op->size);
	case OP_GETDENTS:
		return berth_getdents(task, op->fd, fs->buffer, op->size);
	case OP_CHDIR:
		return berth_chdir(task, op->path);
	case OP_FCHDIR:
		return berth_fchdir(task, op->fd);
	case OP_CHROOT:
		return berth_chroot(task, op->path);
	case OP_GETCWD:
		return berth_getcwd(task, fs->buffer, op->size);
	case OP_UMASK:
		return berth_umask(task, op->mode);
	case OP_CRED:
		return berth_cred(fs, op);
	case OP_KINDS:
		break;
	}
	return -ENOSYS;
}

void fs_use_berth(struct fs *fs)
{
	fs->name = "berth";
	fs->execute = berth_execute;
}

int fs_on_berth(const struct fs_options *options,
		void (*work)(struct fs *fs, void *arg), void *arg,
		const char **why)
{
	struct berth_vfs_options how = {
		.struct_size = sizeof(how),
		.size = options->size,
		.nr_inodes = options->nr_inodes,
		.mode = 0777,
	};
	struct fs fs = { 0 };
	int err;

	if (why)
		*why = "no instance of berth";
	fs_use_berth(&fs);
	err = berth_vfs_create(&how, &fs.vfs);
	if (err)
		return err;
	err = berth_task_create(fs.vfs, NULL, &fs.task);
	if (!err) {
		fs.buffer = aligned_alloc(4096, FS_BUFFER);
		work(&fs, arg);
		free(fs.buffer);
		berth_task_destroy(fs.task);
	}
	if (berth_vfs_destroy(fs.vfs) && !err) {
		err = -EBUSY;
		if (why)
			*why = "berth_vfs_destroy() says that it is in use";
	}
	return err;
}

/* ---- The kernel ---- */

/* For each call a raw system call: the C library checks and emulates. */
static int64_t sys(int64_t ret)
{
	return ret < 0 ? -errno : ret;
}

static void convert_stat(const struct stat *from, const struct timespec *btime,
			 struct berth_stat *to)
{
	*to = (struct berth_stat){
		.ino = from->st_ino,
		.size = (uint64_t)from->st_size,
		.blocks = (uint64_t)from->st_blocks,
		.blksize = (uint32_t)from->st_blksize,
		.nlink = (uint32_t)from->st_nlink,
		.mode = from->st_mode,
		.uid = from->st_uid,
		.gid = from->st_gid,
		.rdev = from->st_rdev,
		.atime = from->st_atim,
		.mtime = from->st_mtim,
		.ctime = from->st_ctim,
		.btime = *btime,
	};
}

static int64_t kernel_stat(int fd, const char *path, int flags,
			   struct berth_stat *st)
{
	struct timespec btime = { 0 };
	struct statx stx;
	struct stat kst;

	if (fstatat(fd, path, &kst, flags))
		return -errno;
	if (!statx(fd, path, flags, STATX_BTIME, &stx) &&
	    (stx.stx_mask & STATX_BTIME)) {
		btime.tv_sec = stx.stx_btime.tv_sec;
		btime.tv_nsec = stx.stx_btime.tv_nsec;
	}
	convert_stat(&kst, &btime, st);
	return 0;
}

/* Set by fs_prepare() where only our own ids have a meaning: 0, to us. */
static bool single_id;

/*
 * Ids of this thread alone.  The saved id stays 0, and with it the way back.
 */
static int64_t kernel_cred(const struct op *op)
{
	if (single_id)
		return 0;
	if (syscall(SYS_setresuid, 0, 0, 0) ||
	    syscall(SYS_setgroups, (long)op->ngroups, op->groups) ||
	    syscall(SYS_setresgid, op->gid, op->gid, op->gid) ||
	    syscall(SYS_setresuid, op->uid, op->uid, 0))
		return -errno;
	return 0;
}

static int64_t kernel_access(const struct op *op)
{
	if (!op->flags)
		return sys(syscall(SYS_faccessat, op->fd, op->path, op->cmd));
	return sys(
		syscall(SYS_faccessat2, op->fd, op->path, op->cmd, op->flags));
}

static int64_t kernel_chmod(const struct op *op)
{
	if (!op->flags)
		return sys(syscall(SYS_fchmodat, op->fd, op->path, op->mode));
	return sys(
		syscall(SYS_fchmodat2, op->fd, op->path, op->mode, op->flags));
}

static int64_t kernel_vector(struct fs *fs, const struct op *op)
{
	bool reads = op->kind == OP_READV;
	const void *bytes = reads ? fs->buffer : op_bytes(fs, op);

	return sys(syscall(reads ? SYS_preadv2 : SYS_pwritev2, op->fd,
			   op_pieces(op, bytes), op->cmd, op->pos, 0L,
			   op->flags));
}

static int64_t kernel_open_how(const struct op *op)
{
	struct open_how how = { .flags = op->flags,
				.mode = op->mode,
				.resolve = op->resolve };

	return sys(syscall(SYS_openat2, op->fd, op->path, &how, sizeof(how)));
}

static int64_t kernel_sync_one(const struct op *op)
{
	return sys(syscall(op->cmd == 0	  ? SYS_fsync
			   : op->cmd == 1 ? SYS_fdatasync
					  : SYS_syncfs,
			   op->fd));
}

static int64_t kernel_statfs(const struct op *op, struct berth_statfs *to)
{
	struct statfs st;

	if (op->kind == OP_STATFS ? statfs(op->path, &st)
				  : fstatfs(op->fd, &st))
		return -errno;
	*to = (struct berth_statfs){
		.blocks = st.f_blocks,
		.blocks_free = st.f_bfree,
		.inodes = st.f_files,
		.inodes_free = st.f_ffree,
		.block_size = (uint32_t)st.f_bsize,
		.name_max = (uint32_t)st.f_namelen,
	};
	return 0;
}

static int64_t kernel_execute(struct fs *fs, const struct op *op,
			      struct outcome *out)
{
	switch (op->kind) {
	case OP_OPEN:
		return sys(syscall(SYS_openat, op->fd, op->path, op->flags,
				   op->mode));
	case OP_CLOSE:
		return sys(syscall(SYS_close, op->fd));
	case OP_DUP:
		return sys(syscall(SYS_dup, op->fd));
	case OP_DUP2:
		return sys(dup2(op->fd, op->fd2));
	case OP_DUP3:
		return sys(syscall(SYS_dup3, op->fd, op->fd2, op->flags));
	case OP_FCNTL:
		return sys(syscall(SYS_fcntl, op->fd, op->cmd, (long)op->pos));
	case OP_READ:
		return sys(syscall(SYS_read, op->fd, fs->buffer, op->size));
	case OP_WRITE:
		return sys(
			syscall(SYS_write, op->fd, op_bytes(fs, op), op->size));
	case OP_PREAD:
		return sys(pread(op->fd, fs->buffer, op->size, op->pos));
	case OP_PWRITE:
		return sys(pwrite(op->fd, op_bytes(fs, op), op->size, op->pos));
	case OP_READV:
	case OP_WRITEV:
		return kernel_vector(fs, op);
	case OP_LSEEK:
		return sys(lseek(op->fd, op->pos, op->cmd));
	case OP_FTRUNCATE:
		return sys(ftruncate(op->fd, op->pos));
	case OP_TRUNCATE:
		return sys(truncate(op->path, op->pos));
	case OP_FALLOCATE:
		return sys(syscall(SYS_fallocate, op->fd, op->flags, op->pos,
				   op->size));
	case OP_FSYNC:
		return kernel_sync_one(op);
	case OP_SYNC_RANGE:
		return sys(syscall(SYS_sync_file_range, op->fd, op->pos,
				   op->size, op->flags));
	case OP_STATFS:
	case OP_FSTATFS:
		return kernel_statfs(op, &out->fs);
	case OP_OPEN2:
		return kernel_open_how(op);
	case OP_STAT:
		return kernel_stat(op->fd, op->path, (int)op->flags, &out->st);
	case OP_FSTAT:
		return kernel_stat(op->fd, "", AT_EMPTY_PATH, &out->st);
	case OP_ACCESS:
		return kernel_access(op);
	case OP_CHMOD:
		return kernel_chmod(op);
	case OP_FCHMOD:
		return sys(syscall(SYS_fchmod, op->fd, op->mode));
	case OP_CHOWN:
		return sys(syscall(SYS_fchownat, op->fd, op->path, op->uid,
				   op->gid, op->flags));
	case OP_FCHOWN:
		return sys(syscall(SYS_fchown, op->fd, op->uid, op->gid));
	case OP_UTIMENS:
		return sys(syscall(SYS_utimensat, op->fd, op->path, op->times,
				   op->flags));
	case OP_MKDIR:
		return sys(syscall(SYS_mkdirat, op->fd, op->path, op->mode));
	case OP_MKNOD:
		return sys(syscall(SYS_mknodat, op->fd, op->path, op->mode,
				   op->pos));
	case OP_SYMLINK:
		return sys(
			syscall(SYS_symlinkat, op->path, op->fd2, op->path2));
	case OP_LINK:
		return sys(syscall(SYS_linkat, op->fd, op->path, op->fd2,
				   op->path2, op->flags));
	case OP_UNLINK:
		return sys(syscall(SYS_unlinkat, op->fd, op->path, op->flags));
	case OP_RENAME:
		return sys(syscall(SYS_renameat2, op->fd, op->path, op->fd2,
				   op->path2, op->flags));
	case OP_READLINK:
		return sys(syscall(SYS_readlinkat, op->fd, op->path, fs->buffer,
				   op->size));
	case OP_GETDENTS:
		return sys(
			syscall(SYS_getdents64, op->fd, fs->buffer, op->size));
	case OP_CHDIR:
		return sys(syscall(SYS_chdir, op->path));
	case OP_FCHDIR:
		return sys(syscall(SYS_fchdir, op->fd));
	case OP_CHROOT:
		return sys(syscall(SYS_chroot, op->path));
	case OP_GETCWD:
		return sys(syscall(SYS_getcwd, fs->buffer, op->size));
	case OP_UMASK:
		return sys(syscall(SYS_umask, op->mode));
	case OP_CRED:
		return kernel_cred(op);
	case OP_KINDS:
		break;
	}
	return -ENOSYS;
}

/* The kernel's side: what its thread is to do, and how that went. */
struct kernel_run {
	const struct fs_options *options;
	void (*work)(struct fs *fs, void *arg);
	void *arg;
	char dir[128];
	const char *why;
	int err;
};

/* Gives the calling thread a root, a umask and descriptors of its own. */
static int enter(struct kernel_run *run)
{
	const struct fs_options *options = run->options;
	bool limited = options->size || options->nr_inodes;
	char data[96];

	run->why = "a thread cannot have its own root (are you root?)";
	if (unshare(CLONE_FS | CLONE_FILES | (limited ? CLONE_NEWNS : 0)))
		return -errno;
	if (limited) {
		run->why = "a tmpfs of limited size cannot be mounted";
		snprintf(data, sizeof(data),
			 "mode=777,size=%llu,nr_inodes=%llu",
			 (unsigned long long)options->size,
			 (unsigned long long)options->nr_inodes);
		if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
		    mount("berth-test", run->dir, "tmpfs", 0, data))
			return -errno;
	}
	run->why = "chroot is not allowed (are you root?)";
	if (chroot(run->dir) || chdir("/"))
		return -errno;
	umask(022);
	run->why = "the descriptors do not go away";
	if (syscall(SYS_close_range, 0, ~0u, 0))
		return -errno;
	run->why = NULL;
	return 0;
}

static void *kernel_thread(void *arg)
{
	struct kernel_run *run = arg;
	struct fs fs = { .name = "kernel", .execute = kernel_execute };

	run->err = enter(run);
	if (run->err)
		return NULL;
	fs.buffer = aligned_alloc(4096, FS_BUFFER);
	run->work(&fs, run->arg);
	free(fs.buffer);
	return NULL;
}

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static bool is_tmpfs(const char *dir)
{
	struct statfs st;

	return dir && !statfs(dir, &st) && st.f_type == TMPFS_MAGIC;
}

/* An empty directory on a tmpfs; any will do when one is mounted there. */
static int make_dir(struct kernel_run *run)
{
	const struct fs_options *options = run->options;
	const char *parent = "/dev/shm";

	if (!is_tmpfs(parent))
		parent = getenv("TMPDIR");
	if (!is_tmpfs(parent)) {
		if (!options->size && !options->nr_inodes) {
			run->why = "neither /dev/shm nor TMPDIR is a tmpfs";
			return -ENODEV;
		}
		parent = "/tmp";
	}
	run->why = "the tmpfs does not let us write";
	snprintf(run->dir, sizeof(run->dir), "%s/berth-test-XXXXXX", parent);
	if (!mkdtemp(run->dir) || chmod(run->dir, 0777))
		return -errno;
	return 0;
}

int fs_on_kernel(const struct fs_options *options,
		 void (*work)(struct fs *fs, void *arg), void *arg,
		 const char **why)
{
	struct kernel_run run = {
		.options = options,
		.work = work,
		.arg = arg,
	};
	pthread_t thread;

	if (options->switches_ids && single_id) {
		run.why = "only root can act for others";
		run.err = -EPERM;
		goto out;
	}
	run.err = make_dir(&run);
	if (run.err)
		goto out;
	if (pthread_create(&thread, NULL, kernel_thread, &run)) {
		run.why = "no thread";
		run.err = -EAGAIN;
	} else {
		pthread_join(thread, NULL);
	}
	nftw(run.dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
out:
	if (why)
		*why = run.why;
	return run.err;
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd >= 0) {
		if (write(fd, text, strlen(text)) < 0)
			perror(path);
		close(fd);
	}
}

void fs_prepare(void)
{
	/* Descriptors end where berth's end by default. */
	struct rlimit limit;
	unsigned int uid = geteuid();
	unsigned int gid = getegid();
	char map[64];

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_max >= 1024) {
		limit.rlim_cur = 1024;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (!uid)
		return;
	single_id = true;
	if (unshare(CLONE_NEWUSER))
		return;
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	write_file("/proc/self/gid_map", map);
}

bool fs_kernel_at_least(unsigned int major, unsigned int minor)
{
	unsigned int is_major, is_minor;
	struct utsname name;

	if (uname(&name) ||
	    sscanf(name.release, "%u.%u", &is_major, &is_minor) != 2)
		return false;
	return is_major > major || (is_major == major && is_minor >= minor);
}

bool fs_protected_hardlinks(void)
{
	FILE *file = fopen("/proc/sys/fs/protected_hardlinks", "r");
	int value = 1;

	if (file) {
		if (fscanf(file, "%d", &value) != 1)
			value = 1;
		fclose(file);
	}
	return value != 0;
}

int64_t fs_do(struct fs *fs, const struct op *op, struct outcome *out)
{
	memset(out, 0, sizeof(*out));
	out->ret = fs->execute(fs, op, out);
	switch (op->kind) {
	case OP_READ:
	case OP_PREAD:
	case OP_READV:
	case OP_READLINK:
	case OP_GETCWD:
	case OP_GETDENTS:
		if (out->ret >= 0)
			out->data = fs->buffer;
		break;
	default:
		break;
	}
	return out->ret;
}

void fs_tick(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_REALTIME, &start);
	do {
		sched_yield();
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	} while (now.tv_sec < start.tv_sec ||
		 (now.tv_sec == start.tv_sec && now.tv_nsec <= start.tv_nsec));
}
