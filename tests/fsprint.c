/* SPDX-License-Identifier: MIT */
/* File operations as data: how they and what they gave are printed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fsops.h"

/* ---- Operations and outcomes ---- */

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
	{ BERTH_RENAME_WHITEOUT, "BERTH_RENAME_WHITEOUT" },
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
	 * b buffer, u ids, g groups, t times, n what a stat fills, x bits,
	 * v pieces, h how to open */
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
	[OP_READV] = { "preadv2", "fbsvlx" },
	[OP_WRITEV] = { "pwritev2", "fwvlx" },
	[OP_LSEEK] = { "lseek", "flW" },
	[OP_FTRUNCATE] = { "ftruncate", "fl" },
	[OP_TRUNCATE] = { "truncate", "ql" },
	[OP_FALLOCATE] = { "fallocate", "fxls" },
	[OP_FSYNC] = { "fsync", "fc" },
	[OP_SYNC_RANGE] = { "sync_file_range", "flsx" },
	[OP_STATFS] = { "statfs", "q" },
	[OP_FSTATFS] = { "fstatfs", "f" },
	[OP_OPEN2] = { "openat2", "pomh" },
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
	[OP_CHROOT] = { "chroot", "q" },
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
	case 'x':
		fprintf(out, "0x%x", op->flags);
		break;
	case 'v':
		fprintf(out, "%d pieces", op->cmd);
		break;
	case 'h':
		fprintf(out, "resolve 0x%llx", (unsigned long long)op->resolve);
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

/* Without a limit there is nothing to tell. */
static void print_statfs(FILE *out, const struct berth_statfs *fs)
{
	fprintf(out, "block size %u, names %u", fs->block_size, fs->name_max);
	if (fs->blocks)
		fprintf(out, ", blocks %llu, free %llu",
			(unsigned long long)fs->blocks,
			(unsigned long long)fs->blocks_free);
	if (fs->inodes)
		fprintf(out, ", inodes %llu, free %llu",
			(unsigned long long)fs->inodes,
			(unsigned long long)fs->inodes_free);
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
	case OP_STATFS:
	case OP_FSTATFS:
		print_statfs(out, &outcome->fs);
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
