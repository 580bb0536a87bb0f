/* SPDX-License-Identifier: MIT */
/* File operations as data: berth's side, the kernel's side, and printing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <linux/magic.h>
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

/* ---- berth ---- */

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
	case OP_LSEEK:
		return berth_lseek(task, op->fd, op->pos, op->cmd);
	case OP_FTRUNCATE:
		return berth_ftruncate(task, op->fd, op->pos);
	case OP_TRUNCATE:
		return berth_truncate(task, op->path, op->pos);
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
	struct fs fs = { .name = "berth", .execute = berth_execute };
	int err;

	if (why)
		*why = "no instance of berth";
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

/*
 * Ids of this thread alone.  The saved id stays 0, and with it the way back.
 */
static int64_t kernel_cred(const struct op *op)
{
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
	case OP_LSEEK:
		return sys(lseek(op->fd, op->pos, op->cmd));
	case OP_FTRUNCATE:
		return sys(ftruncate(op->fd, op->pos));
	case OP_TRUNCATE:
		return sys(truncate(op->path, op->pos));
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
		if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
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

/* Set by fs_prepare() where only our own ids have a meaning. */
static bool single_id;

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
	run.why = "no thread";
	run.err = -pthread_create(&thread, NULL, kernel_thread, &run);
	if (!run.err)
		pthread_join(thread, NULL);
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

/* ---- Printing ---- */

struct word {
	unsigned int bits;
	const char *text;
};

static const struct word open_words[] = {
	/* Those of more than one bit first. */
	{ O_SYNC, "O_SYNC" },
	{ O_TMPFILE, "O_TMPFILE" },
	{ O_CREAT, "O_CREAT" },
	{ O_EXCL, "O_EXCL" },
	{ O_TRUNC, "O_TRUNC" },
	{ O_APPEND, "O_APPEND" },
	{ O_DIRECTORY, "O_DIRECTORY" },
	{ O_NOFOLLOW, "O_NOFOLLOW" },
	{ O_NOATIME, "O_NOATIME" },
	{ O_PATH, "O_PATH" },
	{ O_CLOEXEC, "O_CLOEXEC" },
	{ O_NONBLOCK, "O_NONBLOCK" },
	{ 0, NULL },
};

static const struct word at_words[] = {
	{ BERTH_AT_SYMLINK_NOFOLLOW, "BERTH_AT_SYMLINK_NOFOLLOW" },
	{ BERTH_AT_SYMLINK_FOLLOW, "BERTH_AT_SYMLINK_FOLLOW" },
	{ BERTH_AT_REMOVEDIR, "BERTH_AT_REMOVEDIR" },
	{ BERTH_AT_EMPTY_PATH, "BERTH_AT_EMPTY_PATH" },
	{ 0, NULL },
};

static const struct word rename_words[] = {
	{ BERTH_RENAME_NOREPLACE, "BERTH_RENAME_NOREPLACE" },
	{ BERTH_RENAME_EXCHANGE, "BERTH_RENAME_EXCHANGE" },
	{ 0, NULL },
};

static void print_words(FILE *out, unsigned int flags, const struct word *word,
			const char *separator)
{
	for (; word->text; word++) {
		if ((flags & word->bits) == word->bits) {
			fprintf(out, "%s%s", separator, word->text);
			flags &= ~word->bits;
			separator = " | ";
		}
	}
	if (flags || *separator == '\0')
		fprintf(out, "%s0x%x", separator, flags);
}

static void print_open_flags(FILE *out, unsigned int flags)
{
	static const char *const modes[] = { "O_RDONLY", "O_WRONLY", "O_RDWR",
					     "O_ACCMODE" };

	fputs(modes[flags & O_ACCMODE], out);
	flags &= ~(unsigned int)O_ACCMODE;
	if (flags)
		print_words(out, flags, open_words, " | ");
}

static void print_char(FILE *out, unsigned char c)
{
	if (c < ' ' || c > '~' || c == '"' || c == '\\')
		fprintf(out, "\\x%02x", c);
	else
		fputc(c, out);
}

void fs_print_data(FILE *out, const unsigned char *data, size_t size)
{
	size_t i, run;

	fputc('"', out);
	for (i = 0; i < size; i += run) {
		run = 1;
		while (i + run < size && data[i + run] == data[i])
			run++;
		print_char(out, data[i]);
		if (run > 4)
			fprintf(out, "*%zu ", run);
		else
			run = 1;
	}
	fputc('"', out);
}

static void print_fd(FILE *out, int fd)
{
	if (fd == BERTH_AT_FDCWD)
		fputs("BERTH_AT_FDCWD", out);
	else
		fprintf(out, "%d", fd);
}

static void print_at(FILE *out, int fd, const char *path)
{
	print_fd(out, fd);
	if (!path)
		fputs(", NULL", out);
	else if (strlen(path) > 80)
		fprintf(out, ", \"%.16s...\" /* of %zu */", path, strlen(path));
	else
		fprintf(out, ", \"%s\"", path);
}

static void print_written(FILE *out, const struct op *op)
{
	if (op->data)
		fs_print_data(out, op->data, op->size);
	else
		fprintf(out, "\"%c\"...", op->fill);
	fprintf(out, ", %zu", op->size);
}

static void print_time(FILE *out, const struct timespec *time)
{
	if (time->tv_nsec == BERTH_UTIME_NOW)
		fputs("{ 0, BERTH_UTIME_NOW }", out);
	else if (time->tv_nsec == BERTH_UTIME_OMIT)
		fputs("{ 0, BERTH_UTIME_OMIT }", out);
	else
		fprintf(out, "{ %lld, %ld }", (long long)time->tv_sec,
			time->tv_nsec);
}

/* For each kind its name, and what stands between its brackets. */
static const struct {
	const char *name;
	const char *form;
} shapes[OP_KINDS] = {
	/* clang-format off */
	/* f F descriptors, p P paths, o open flags, a at flags, r rename flags,
	 * m mode, c command, s size, l position, w data written,
	 * b buffer, u ids, g groups, t times, n what a stat fills */
	[OP_OPEN] = { "openat", "pom" },
	[OP_CLOSE] = { "close", "f" },
	[OP_DUP] = { "dup", "f" },
	[OP_DUP2] = { "dup2", "fF" },
	[OP_DUP3] = { "dup3", "fFo" },
	[OP_FCNTL] = { "fcntl", "fcl" },
	[OP_READ] = { "read", "fbs" },
	[OP_WRITE] = { "write", "fw" },
	[OP_PREAD] = { "pread", "fbsl" },
	[OP_PWRITE] = { "pwrite", "fwl" },
	[OP_LSEEK] = { "lseek", "flW" },
	[OP_FTRUNCATE] = { "ftruncate", "fl" },
	[OP_TRUNCATE] = { "truncate", "ql" },
	[OP_STAT] = { "fstatat", "pna" },
	[OP_FSTAT] = { "fstat", "fn" },
	[OP_ACCESS] = { "faccessat", "pca" },
	[OP_CHMOD] = { "fchmodat", "pma" },
	[OP_FCHMOD] = { "fchmod", "fm" },
	[OP_CHOWN] = { "fchownat", "pua" },
	[OP_FCHOWN] = { "fchown", "fu" },
	[OP_UTIMENS] = { "utimensat", "pta" },
	[OP_MKDIR] = { "mkdirat", "pm" },
	[OP_MKNOD] = { "mknodat", "pml" },
	[OP_SYMLINK] = { "symlinkat", "qP" },
	[OP_LINK] = { "linkat", "pPa" },
	[OP_UNLINK] = { "unlinkat", "pa" },
	[OP_RENAME] = { "renameat2", "pPr" },
	[OP_READLINK] = { "readlinkat", "pbs" },
	[OP_GETDENTS] = { "getdents", "fbs" },
	[OP_CHDIR] = { "chdir", "q" },
	[OP_FCHDIR] = { "fchdir", "f" },
	[OP_GETCWD] = { "getcwd", "bs" },
	[OP_UMASK] = { "umask", "m" },
	[OP_CRED] = { "set_cred", "ug" },
	/* clang-format on */
};

static void print_argument(FILE *out, const struct op *op, char what)
{
	static const char *const whences[] = { "SEEK_SET", "SEEK_CUR",
					       "SEEK_END", "SEEK_DATA",
					       "SEEK_HOLE" };
	unsigned int i;

	switch (what) {
	case 'f':
		print_fd(out, op->fd);
		break;
	case 'F':
		fprintf(out, "%d", op->fd2);
		break;
	case 'p':
		print_at(out, op->fd, op->path);
		break;
	case 'P':
		print_at(out, op->fd2, op->path2);
		break;
	case 'q':
		fprintf(out, "\"%.80s\"", op->path);
		break;
	case 'o':
		print_open_flags(out, op->flags);
		break;
	case 'a':
		print_words(out, op->flags, at_words, "");
		break;
	case 'r':
		print_words(out, op->flags, rename_words, "");
		break;
	case 'm':
		fprintf(out, "0%o", op->mode);
		break;
	case 'c':
		fprintf(out, "%d", op->cmd);
		break;
	case 'W':
		if (op->cmd >= 0 && op->cmd <= SEEK_HOLE)
			fputs(whences[op->cmd], out);
		else
			fprintf(out, "%d", op->cmd);
		break;
	case 's':
		fprintf(out, "%zu", op->size);
		break;
	case 'l':
		fprintf(out, "%lld", (long long)op->pos);
		break;
	case 'w':
		print_written(out, op);
		break;
	case 'b':
		fputs("buf", out);
		break;
	case 'n':
		fputs("&st", out);
		break;
	case 'u':
		fprintf(out, "%d, %d", (int)op->uid, (int)op->gid);
		break;
	case 'g':
		fputc('{', out);
		for (i = 0; i < op->ngroups; i++)
			fprintf(out, " %d", (int)op->groups[i]);
		fputs(" }", out);
		break;
	case 't':
		if (!op->times) {
			fputs("NULL", out);
			break;
		}
		print_time(out, &op->times[0]);
		fputs(", ", out);
		print_time(out, &op->times[1]);
		break;
	default:
		fputs("?", out);
	}
}

void fs_print_op(FILE *out, const struct op *op)
{
	const char *form = shapes[op->kind].form;

	fprintf(out, "berth_%s(task", shapes[op->kind].name);
	for (; *form; form++) {
		fputs(", ", out);
		print_argument(out, op, *form);
	}
	fputc(')', out);
}

static char type_letter(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return '-';
	case S_IFDIR:
		return 'd';
	case S_IFLNK:
		return 'l';
	case S_IFSOCK:
		return 's';
	case S_IFIFO:
		return 'p';
	case S_IFCHR:
		return 'c';
	case S_IFBLK:
		return 'b';
	default:
		return '?';
	}
}

/* A directory's size is nobody's business. */
static void print_stat(FILE *out, const struct berth_stat *st)
{
	fprintf(out, "%c%04o uid %u gid %u nlink %u", type_letter(st->mode),
		st->mode & 07777, st->uid, st->gid, st->nlink);
	if (!S_ISDIR(st->mode))
		fprintf(out, " size %llu", (unsigned long long)st->size);
	if (S_ISCHR(st->mode) || S_ISBLK(st->mode))
		fprintf(out, " rdev %llu", (unsigned long long)st->rdev);
	if (S_ISREG(st->mode))
		fprintf(out, " blocks %llu", (unsigned long long)st->blocks);
}

static void print_errno(FILE *out, int64_t ret)
{
	const char *name = strerrorname_np((int)-ret);

	if (name)
		fprintf(out, "-%s", name);
	else
		fprintf(out, "%lld", (long long)ret);
}

void fs_print_outcome(FILE *out, const struct op *op,
		      const struct outcome *outcome)
{
	if (outcome->ret < 0) {
		print_errno(out, outcome->ret);
		return;
	}
	switch (op->kind) {
	case OP_STAT:
	case OP_FSTAT:
		print_stat(out, &outcome->st);
		break;
	case OP_GETDENTS:
		/* How much fits is the order's business. */
		fputs(outcome->ret ? "entries" : "the end", out);
		break;
	case OP_FCNTL:
		/* O_LARGEFILE is set for all or for none. */
		fprintf(out, "0x%llx",
			(unsigned long long)(outcome->ret & ~0100000LL));
		break;
	default:
		fprintf(out, "%lld", (long long)outcome->ret);
		if (outcome->data && outcome->ret) {
			fputc(' ', out);
			fs_print_data(out, outcome->data, (size_t)outcome->ret);
		}
	}
}

/* ---- Directories and trees ---- */

/* A name of at most 255 bytes, "/", and the letter of its type. */
struct listed {
	char name[260];
};

struct listing {
	struct listed *names;
	size_t count;
};

/* Both sides lay out entries alike. */
static void list_add(struct listing *list, const unsigned char *data,
		     size_t bytes)
{
	const struct berth_dirent *entry;
	size_t at;

	for (at = 0; at < bytes; at += entry->reclen) {
		entry = (const void *)(data + at);
		list->names = realloc(list->names,
				      (list->count + 1) * sizeof(*list->names));
		snprintf(list->names[list->count].name,
			 sizeof(list->names[0].name), "%s/%c", entry->name,
			 type_letter((mode_t)entry->type << 12));
		list->count++;
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct listed *left = a, *right = b;

	return strcmp(left->name, right->name);
}

/* Return: 0, or the errno that ended it. */
static int64_t list(struct fs *fs, const char *path, struct listing *list)
{
	struct op open = {
		.kind = OP_OPEN,
		.fd = BERTH_AT_FDCWD,
		.path = path,
		.flags = O_RDONLY | O_DIRECTORY,
	};
	struct outcome out;
	struct op op = { .kind = OP_GETDENTS, .size = 4096 };
	int64_t err;

	memset(list, 0, sizeof(*list));
	op.fd = (int)fs_do(fs, &open, &out);
	if (op.fd < 0)
		return op.fd;
	do {
		err = fs_do(fs, &op, &out);
		if (err > 0)
			list_add(list, out.data, (size_t)err);
	} while (err > 0 && list->count < 100000);
	op.kind = OP_CLOSE;
	fs_do(fs, &op, &out);
	if (list->count)
		qsort(list->names, list->count, sizeof(*list->names),
		      compare_names);
	return err;
}

void fs_print_listing(FILE *out, struct fs *fs, const char *path)
{
	struct listing entries;
	int64_t err = list(fs, path, &entries);
	size_t i;

	fprintf(out, "\"%s\":", path);
	if (err < 0) {
		fputc(' ', out);
		print_errno(out, err);
	}
	for (i = 0; i < entries.count; i++)
		fprintf(out, " %s", entries.names[i].name);
	free(entries.names);
}

/* Only times that a test has set can be compared: those long ago. */
static void print_set_time(FILE *out, const char *name,
			   const struct timespec *time)
{
	if (time->tv_sec < 1000000)
		fprintf(out, " %s %lld.%09ld", name, (long long)time->tv_sec,
			time->tv_nsec);
}

static void print_content(FILE *out, struct fs *fs, const char *path)
{
	struct op op = {
		.kind = OP_OPEN,
		.fd = BERTH_AT_FDCWD,
		.path = path,
		.flags = O_RDONLY,
		.size = FS_BUFFER,
	};
	struct outcome outcome;

	op.fd = (int)fs_do(fs, &op, &outcome);
	if (op.fd < 0) {
		fputc(' ', out);
		print_errno(out, op.fd);
		return;
	}
	op.kind = OP_READ;
	fs_do(fs, &op, &outcome);
	fputc(' ', out);
	fs_print_outcome(out, &op, &outcome);
	op.kind = OP_CLOSE;
	fs_do(fs, &op, &outcome);
}

static void print_tree_below(FILE *out, struct fs *fs, const char *path,
			     unsigned int depth)
{
	struct op op = {
		.fd = BERTH_AT_FDCWD,
		.path = path,
		.flags = BERTH_AT_SYMLINK_NOFOLLOW,
		.size = 4096,
	};
	struct listing entries;
	struct outcome outcome;
	char child[4096];
	mode_t type;
	size_t i;

	op.kind = OP_STAT;
	fprintf(out, "%s ", path);
	fs_do(fs, &op, &outcome);
	fs_print_outcome(out, &op, &outcome);
	type = outcome.st.mode & S_IFMT;
	print_set_time(out, "atime", &outcome.st.atime);
	print_set_time(out, "mtime", &outcome.st.mtime);
	if (type == S_IFREG)
		print_content(out, fs, path);
	if (type == S_IFLNK) {
		op.kind = OP_READLINK;
		fs_do(fs, &op, &outcome);
		fputc(' ', out);
		fs_print_outcome(out, &op, &outcome);
	}
	fputc('\n', out);
	if (type != S_IFDIR || depth > 20)
		return;
	if (list(fs, path, &entries) < 0)
		fprintf(out, "%s cannot be read\n", path);
	for (i = 0; i < entries.count; i++) {
		char *name = entries.names[i].name;

		*strchr(name, '/') = '\0'; /* the type was shown */
		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		snprintf(child, sizeof(child), "%s%s%s", path,
			 path[1] ? "/" : "", name);
		print_tree_below(out, fs, child, depth + 1);
	}
	free(entries.names);
}

void fs_print_tree(FILE *out, struct fs *fs)
{
	print_tree_below(out, fs, "/", 0);
}
