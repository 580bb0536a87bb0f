/* SPDX-License-Identifier: MIT */
/*
 * Traces: a case of a conform_ test is a function that makes calls through a
 * struct trace.  It runs once on berth and once on the kernel's tmpfs; what
 * each call gave is written down, and the two records must be equal, line by
 * line.  is() says besides what is right, for those who read the case and for
 * machines where the kernel's side cannot be had.
 *
 *	static void truncated(struct trace *t)
 *	{
 *		int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
 *
 *		is(t, 5, t_write(t, fd, "hello"));
 *		is(t, 0, t_ftruncate(t, fd, 2));
 *		t_lstat(t, "f");
 *	}
 *
 * With BERTH_SHOW_TRACE in the environment the kernel's record is shown.
 */
#ifndef TESTS_TRACE_H
#define TESTS_TRACE_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fsops.h"
#include "harness.h"

struct trace {
	struct fs *fs;
	FILE *record;
	FILE *complaints;
	unsigned int muted;
	bool too_old; /* the rest of what the kernel does is not compared */
	struct outcome out; /* of the last call */
	struct {
		const char *path;
		struct berth_stat st;
	} marks[8];
	unsigned int nmarks;
};

/* As whom a case runs, and whether it changes that. */
#define AS_ROOT 0x1u
#define AS_USER 0x2u
#define AS_BOTH 0x3u
#define AS_MANY 0x5u /* it begins as root and calls t_cred() */

/* Ids that mean nobody in particular. */
#define USER  1000
#define OTHER 1001

struct trace_case {
	void (*run)(struct trace *t);
	unsigned int who;
	struct fs_options options;
};

/* An entry of the table of cases; the sides may be limited in size. */
#define TRACE(function, who) TRACE_LIMITED(function, who, 0, 0)
/* clang-format off */
#define TRACE_LIMITED(function, who, bytes, inodes)                  \
	{ #function, run_trace, NULL, NULL,                          \
	  &(struct trace_case){ function, who,                       \
				{ .size = (bytes), .nr_inodes = (inodes) } } }
/* clang-format on */

void run_trace(void **state);

/* run_cases() for traces. */
#define run_traces(argc, argv, cases) \
	(fs_prepare(), run_cases(argc, argv, cases))

/* ---- What is right ---- */

#define is(t, expected, call) \
	is_at(t, __FILE__, __LINE__, #call, expected, call)
void is_at(struct trace *t, const char *file, int line, const char *text,
	   int64_t expected, int64_t got);

/* The last call read just this string (it may hold NUL bytes). */
#define is_text(t, string) \
	is_data_at(t, __FILE__, __LINE__, string, sizeof(string) - 1)
void is_data_at(struct trace *t, const char *file, int line, const char *data,
		size_t size);

/* The last call read nothing but this byte, and something. */
#define is_all(t, byte) is_all_at(t, __FILE__, __LINE__, byte)
void is_all_at(struct trace *t, const char *file, int line, char byte);

/* Which side is it?  For what is meant to differ. */
static inline bool on_berth(const struct trace *t)
{
	return t->fs->vfs != NULL;
}

/* Between these nothing is compared: the sides are meant to differ. */
void mute(struct trace *t);
void unmute(struct trace *t);

/* From here on an older kernel has no say: it did it differently. */
void since_kernel(struct trace *t, unsigned int major, unsigned int minor);

/* ---- Calls ---- */

int64_t t_do(struct trace *t, const struct op *op);

/* A call, its fields given by name. */
#define t_call(t, ...) t_do(t, &(struct op){ __VA_ARGS__ })

int t_open(struct trace *t, const char *path, unsigned int flags, mode_t mode);
int64_t t_close(struct trace *t, int fd);
int t_dup(struct trace *t, int fd);
int64_t t_read(struct trace *t, int fd, size_t size);
int64_t t_pread(struct trace *t, int fd, size_t size, int64_t pos);
int64_t t_write(struct trace *t, int fd, const char *text);
int64_t t_pwrite(struct trace *t, int fd, const char *text, int64_t pos);
/* @size bytes @fill. */
int64_t t_fill(struct trace *t, int fd, char fill, size_t size);
int64_t t_lseek(struct trace *t, int fd, int64_t offset, int whence);
int64_t t_ftruncate(struct trace *t, int fd, int64_t length);
int64_t t_truncate(struct trace *t, const char *path, int64_t length);
int64_t t_fcntl(struct trace *t, int fd, int cmd, int64_t arg);
/* @size bytes in @pieces; @pos -1 is the file's offset. */
int64_t t_readv(struct trace *t, int fd, size_t size, int pieces, int64_t pos);
int64_t t_writev(struct trace *t, int fd, const char *text, int pieces,
		 int64_t pos);
int64_t t_fallocate(struct trace *t, int fd, unsigned int mode, int64_t offset,
		    int64_t length);
int64_t t_stat(struct trace *t, const char *path);
int64_t t_lstat(struct trace *t, const char *path);
int64_t t_fstat(struct trace *t, int fd);
int64_t t_access(struct trace *t, const char *path, int mode);
int64_t t_chmod(struct trace *t, const char *path, mode_t mode);
int64_t t_chown(struct trace *t, const char *path, uid_t uid, gid_t gid);
int64_t t_utimens(struct trace *t, const char *path, struct timespec atime,
		  struct timespec mtime);
int64_t t_mkdir(struct trace *t, const char *path, mode_t mode);
int64_t t_mknod(struct trace *t, const char *path, mode_t mode);
int64_t t_symlink(struct trace *t, const char *target, const char *path);
int64_t t_link(struct trace *t, const char *oldpath, const char *newpath);
int64_t t_unlink(struct trace *t, const char *path);
int64_t t_rmdir(struct trace *t, const char *path);
int64_t t_rename(struct trace *t, const char *oldpath, const char *newpath);
int64_t t_rename2(struct trace *t, const char *oldpath, const char *newpath,
		  unsigned int flags);
int64_t t_readlink(struct trace *t, const char *path);
int64_t t_chdir(struct trace *t, const char *path);
int64_t t_umask(struct trace *t, mode_t mask);
/* Act for @uid with the group of the same number. */
int64_t t_cred(struct trace *t, uid_t uid);
/* The same with one more group. */
int64_t t_cred_group(struct trace *t, uid_t uid, gid_t group);

/* ---- Calls put together ---- */

/* A file of this content, closed again. */
void t_file(struct trace *t, const char *path, mode_t mode, const char *text);
/* Open, read all that fits, close.  Return: bytes or -errno. */
int64_t t_cat(struct trace *t, const char *path);
/* Record the sorted entries of a directory. */
void t_list(struct trace *t, const char *path);
/* Record the whole tree. */
void t_tree(struct trace *t);
/* Do two names mean one inode? */
bool t_same_file(struct trace *t, const char *a, const char *b);

/* ---- Which times move ---- */

#define ATIME 0x1
#define MTIME 0x2
#define CTIME 0x4

/* Remember the times of a file (a link itself); then let the clock go on. */
void t_mark(struct trace *t, const char *path);
/* Those that moved since t_mark(), or were moved to the same as before. */
int t_moved(struct trace *t, const char *path);

#endif
