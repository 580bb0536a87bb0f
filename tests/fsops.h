/* SPDX-License-Identifier: MIT */
/*
 * File operations as data, and two sides that execute them: a fresh instance of
 * berth, and an empty directory of the kernel's tmpfs.
 *
 * The kernel's side runs in a thread that has its root, working directory,
 * umask, descriptors and credentials to itself.  So absolute paths, "..",
 * numbers of descriptors and errors are the same on both sides, and a test may
 * compare them as they are.
 */
#ifndef TESTS_FSOPS_H
#define TESTS_FSOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <berth/vfs.h>

enum op_kind {
	OP_OPEN,
	OP_CLOSE,
	OP_DUP,
	OP_DUP2,
	OP_DUP3,
	OP_FCNTL,
	OP_READ,
	OP_WRITE,
	OP_PREAD,
	OP_PWRITE,
	OP_READV, /* at the file's offset, if pos is -1 */
	OP_WRITEV,
	OP_LSEEK,
	OP_FTRUNCATE,
	OP_TRUNCATE,
	OP_FALLOCATE,
	OP_FSYNC,
	OP_SYNC_RANGE,
	OP_STATFS,
	OP_FSTATFS,
	OP_OPEN2,
	OP_STAT,
	OP_FSTAT,
	OP_ACCESS,
	OP_CHMOD,
	OP_FCHMOD,
	OP_CHOWN,
	OP_FCHOWN,
	OP_UTIMENS,
	OP_MKDIR,
	OP_MKNOD,
	OP_SYMLINK,
	OP_LINK,
	OP_UNLINK,
	OP_RENAME,
	OP_READLINK,
	OP_GETDENTS,
	OP_CHDIR,
	OP_FCHDIR,
	OP_CHROOT,
	OP_GETCWD,
	OP_UMASK,
	OP_CRED,
	OP_KINDS
};

/* Where @ngroups has no say. */
#define FS_MAX_GROUPS 4

/* One operation.  Each kind reads the fields that its system call has. */
struct op {
	enum op_kind kind;
	int fd;		   /* a descriptor, or where @path starts */
	int fd2;	   /* the second descriptor, or where @path2 starts */
	const char *path;  /* NULL is the empty pointer, for OP_UTIMENS */
	const char *path2; /* the new name; of OP_SYMLINK, the link */
	unsigned int flags;
	mode_t mode;
	int cmd;     /* of OP_FCNTL; whence; pieces of OP_READV, OP_WRITEV */
	int64_t pos; /* offset, length, device, the argument of OP_FCNTL */
	size_t size;
	uint64_t resolve; /* of OP_OPEN2 */
	const void *data; /* what OP_WRITE writes; NULL is @size times @fill */
	unsigned char fill;
	uid_t uid;
	gid_t gid;
	gid_t groups[FS_MAX_GROUPS];
	unsigned int ngroups;
	const struct timespec *times; /* two, or NULL */
};

/* No operation reads or writes more at once. */
#define FS_BUFFER (1u << 20)

/* What an operation gave. */
struct outcome {
	int64_t ret;		   /* as berth returns it */
	struct berth_stat st;	   /* of OP_STAT, OP_FSTAT */
	struct berth_statfs fs;	   /* of OP_STATFS, OP_FSTATFS */
	const unsigned char *data; /* @ret bytes that were read, or NULL */
};

/* One side of a comparison, in the middle of its work. */
struct fs {
	const char *name; /* "berth" or "kernel" */
	int64_t (*execute)(struct fs *fs, const struct op *op,
			   struct outcome *out);
	struct berth_vfs *vfs;	 /* of berth's side */
	struct berth_task *task; /* of berth's side */
	void *buffer;		 /* FS_BUFFER bytes, aligned */
};

/* How both sides are to be; all zero is without limits. */
struct fs_options {
	uint64_t size;	    /* bytes of data, whole pages */
	uint64_t nr_inodes; /* the root included */
	bool switches_ids;  /* OP_CRED will ask for ids other than 0 */
};

/*
 * Call once, first thing in main(): an ordinary user gets a name space in which
 * he is root, if the system lets him.
 */
void fs_prepare(void);

/*
 * fs_on_berth(), fs_on_kernel() - run @work on an empty file system.
 *
 * The root directory has mode 0777, the umask is 022, ids are 0, no descriptor
 * is open.
 *
 * Return: 0; a negative errno when this side cannot be had, and then @why (if
 * not NULL) says why.
 */
int fs_on_berth(const struct fs_options *options,
		void (*work)(struct fs *fs, void *arg), void *arg,
		const char **why);
int fs_on_kernel(const struct fs_options *options,
		 void (*work)(struct fs *fs, void *arg), void *arg,
		 const char **why);

/* Let the instance and task in @fs, made by the caller, be its side. */
void fs_use_berth(struct fs *fs);

/* Execute an operation.  Return: what the call returns, or -errno. */
int64_t fs_do(struct fs *fs, const struct op *op, struct outcome *out);

/* Is the running kernel, whose answers we compare with, at least that? */
bool fs_kernel_at_least(unsigned int major, unsigned int minor);

/* Do ordinary users' hard links to files of others fail (a sysctl)? */
bool fs_protected_hardlinks(void);

/* Print an operation as the C call that it is. */
void fs_print_op(FILE *out, const struct op *op);

/* Print what it gave, as far as both sides must agree. */
void fs_print_outcome(FILE *out, const struct op *op,
		      const struct outcome *outcome);

/* Print bytes, long runs shortened. */
void fs_print_data(FILE *out, const unsigned char *data, size_t size);

/* The sorted entries of a directory, one a word: name and type. */
void fs_print_listing(FILE *out, struct fs *fs, const char *path);

/* The whole tree, one line an entry, with contents. */
void fs_print_tree(FILE *out, struct fs *fs);

/* Wait until the coarse clock has moved on, so that a later time differs. */
void fs_tick(void);

#endif
