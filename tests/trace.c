/* SPDX-License-Identifier: MIT */
/* Traces: the calls of a case, its two runs, and the comparison. */
#include <stdlib.h>

#include "trace.h"

/* ---- What is right ---- */

static void complain(struct trace *t, const char *file, int line)
{
	const char *base = strrchr(file, '/');

	fprintf(t->complaints,
		"%s:%d on the side of %s: ", base ? base + 1 : file, line,
		t->fs->name);
}

static const char *errno_name(int64_t ret, char buf[32])
{
	const char *name = ret < 0 ? strerrorname_np((int)-ret) : NULL;

	if (name)
		snprintf(buf, 32, "-%s", name);
	else
		snprintf(buf, 32, "%lld", (long long)ret);
	return buf;
}

/* The kernel may be too old to have the call; then it has no say. */
static bool has_no_say(const struct trace *t, int64_t ret)
{
	return !on_berth(t) && (t->too_old || ret == -ENOSYS);
}

void is_at(struct trace *t, const char *file, int line, const char *text,
	   int64_t expected, int64_t got)
{
	char is_name[32], right_name[32];

	if (got == expected || has_no_say(t, got))
		return;
	complain(t, file, line);
	fprintf(t->complaints, "%s is %s, but %s is right\n", text,
		errno_name(got, is_name), errno_name(expected, right_name));
}

void is_data_at(struct trace *t, const char *file, int line, const char *data,
		size_t size)
{
	if (has_no_say(t, t->out.ret) ||
	    (t->out.ret == (int64_t)size && !memcmp(t->out.data, data, size)))
		return;
	complain(t, file, line);
	if (t->out.data)
		fs_print_data(t->complaints, t->out.data, (size_t)t->out.ret);
	else
		fprintf(t->complaints, "%lld", (long long)t->out.ret);
	fputs(" was read, but right is ", t->complaints);
	fs_print_data(t->complaints, (const unsigned char *)data, size);
	fputc('\n', t->complaints);
}

void is_all_at(struct trace *t, const char *file, int line, char byte)
{
	int64_t i = 0;

	if (t->out.data)
		while (i < t->out.ret && t->out.data[i] == (unsigned char)byte)
			i++;
	if (has_no_say(t, t->out.ret) || (i && i == t->out.ret))
		return;
	complain(t, file, line);
	fprintf(t->complaints, "byte %lld of %lld is wrong\n", (long long)i,
		(long long)t->out.ret);
}

/* Where the record of an older kernel ends. */
#define TOO_OLD "The kernel is too old for the rest."

void since_kernel(struct trace *t, unsigned int major, unsigned int minor)
{
	if (on_berth(t) || fs_kernel_at_least(major, minor))
		return;
	t->too_old = true;
	fputs(TOO_OLD "\n", t->record);
}

void mute(struct trace *t)
{
	t->muted++;
}

void unmute(struct trace *t)
{
	t->muted--;
}

/* ---- Calls ---- */

int64_t t_do(struct trace *t, const struct op *op)
{
	fs_do(t->fs, op, &t->out);
	if (!t->muted) {
		fs_print_op(t->record, op);
		fputs(" = ", t->record);
		if (has_no_say(t, t->out.ret))
			fputc('?', t->record);
		else
			fs_print_outcome(t->record, op, &t->out);
		fputc('\n', t->record);
	}
	return t->out.ret;
}

int t_open(struct trace *t, const char *path, unsigned int flags, mode_t mode)
{
	return (int)t_call(t, .kind = OP_OPEN, .fd = AT_FDCWD, .path = path,
			   .flags = flags, .mode = mode);
}

int64_t t_close(struct trace *t, int fd)
{
	return t_call(t, .kind = OP_CLOSE, .fd = fd);
}

int t_dup(struct trace *t, int fd)
{
	return (int)t_call(t, .kind = OP_DUP, .fd = fd);
}

int64_t t_read(struct trace *t, int fd, size_t size)
{
	return t_call(t, .kind = OP_READ, .fd = fd, .size = size);
}

int64_t t_pread(struct trace *t, int fd, size_t size, int64_t pos)
{
	return t_call(t, .kind = OP_PREAD, .fd = fd, .size = size, .pos = pos);
}

int64_t t_write(struct trace *t, int fd, const char *text)
{
	return t_call(t, .kind = OP_WRITE, .fd = fd, .data = text,
		      .size = strlen(text));
}

int64_t t_pwrite(struct trace *t, int fd, const char *text, int64_t pos)
{
	return t_call(t, .kind = OP_PWRITE, .fd = fd, .data = text,
		      .size = strlen(text), .pos = pos);
}

int64_t t_fill(struct trace *t, int fd, char fill, size_t size)
{
	return t_call(t, .kind = OP_WRITE, .fd = fd,
		      .fill = (unsigned char)fill, .size = size);
}

int64_t t_lseek(struct trace *t, int fd, int64_t offset, int whence)
{
	return t_call(t, .kind = OP_LSEEK, .fd = fd, .pos = offset,
		      .cmd = whence);
}

int64_t t_ftruncate(struct trace *t, int fd, int64_t length)
{
	return t_call(t, .kind = OP_FTRUNCATE, .fd = fd, .pos = length);
}

int64_t t_truncate(struct trace *t, const char *path, int64_t length)
{
	return t_call(t, .kind = OP_TRUNCATE, .fd = AT_FDCWD, .path = path,
		      .pos = length);
}

int64_t t_fcntl(struct trace *t, int fd, int cmd, int64_t arg)
{
	return t_call(t, .kind = OP_FCNTL, .fd = fd, .cmd = cmd, .pos = arg);
}

int64_t t_readv(struct trace *t, int fd, size_t size, int pieces, int64_t pos)
{
	return t_call(t, .kind = OP_READV, .fd = fd, .size = size,
		      .cmd = pieces, .pos = pos);
}

int64_t t_writev(struct trace *t, int fd, const char *text, int pieces,
		 int64_t pos)
{
	return t_call(t, .kind = OP_WRITEV, .fd = fd, .data = text,
		      .size = strlen(text), .cmd = pieces, .pos = pos);
}

int64_t t_fallocate(struct trace *t, int fd, unsigned int mode, int64_t offset,
		    int64_t length)
{
	return t_call(t, .kind = OP_FALLOCATE, .fd = fd, .flags = mode,
		      .pos = offset, .size = (size_t)length);
}

int64_t t_stat(struct trace *t, const char *path)
{
	return t_call(t, .kind = OP_STAT, .fd = AT_FDCWD, .path = path);
}

int64_t t_lstat(struct trace *t, const char *path)
{
	return t_call(t, .kind = OP_STAT, .fd = AT_FDCWD, .path = path,
		      .flags = BERTH_AT_SYMLINK_NOFOLLOW);
}

int64_t t_fstat(struct trace *t, int fd)
{
	return t_call(t, .kind = OP_FSTAT, .fd = fd);
}

int64_t t_access(struct trace *t, const char *path, int mode)
{
	return t_call(t, .kind = OP_ACCESS, .fd = AT_FDCWD, .path = path,
		      .cmd = mode);
}

int64_t t_chmod(struct trace *t, const char *path, mode_t mode)
{
	return t_call(t, .kind = OP_CHMOD, .fd = AT_FDCWD, .path = path,
		      .mode = mode);
}

int64_t t_chown(struct trace *t, const char *path, uid_t uid, gid_t gid)
{
	return t_call(t, .kind = OP_CHOWN, .fd = AT_FDCWD, .path = path,
		      .uid = uid, .gid = gid);
}

int64_t t_utimens(struct trace *t, const char *path, struct timespec atime,
		  struct timespec mtime)
{
	const struct timespec times[2] = { atime, mtime };

	return t_call(t, .kind = OP_UTIMENS, .fd = AT_FDCWD, .path = path,
		      .times = times);
}

int64_t t_mkdir(struct trace *t, const char *path, mode_t mode)
{
	return t_call(t, .kind = OP_MKDIR, .fd = AT_FDCWD, .path = path,
		      .mode = mode);
}

int64_t t_mknod(struct trace *t, const char *path, mode_t mode)
{
	return t_call(t, .kind = OP_MKNOD, .fd = AT_FDCWD, .path = path,
		      .mode = mode);
}

int64_t t_symlink(struct trace *t, const char *target, const char *path)
{
	return t_call(t, .kind = OP_SYMLINK, .fd2 = AT_FDCWD, .path = target,
		      .path2 = path);
}

int64_t t_link(struct trace *t, const char *oldpath, const char *newpath)
{
	return t_call(t, .kind = OP_LINK, .fd = AT_FDCWD, .fd2 = AT_FDCWD,
		      .path = oldpath, .path2 = newpath);
}

int64_t t_unlink(struct trace *t, const char *path)
{
	return t_call(t, .kind = OP_UNLINK, .fd = AT_FDCWD, .path = path);
}

int64_t t_rmdir(struct trace *t, const char *path)
{
	return t_call(t, .kind = OP_UNLINK, .fd = AT_FDCWD, .path = path,
		      .flags = BERTH_AT_REMOVEDIR);
}

int64_t t_rename2(struct trace *t, const char *oldpath, const char *newpath,
		  unsigned int flags)
{
	return t_call(t, .kind = OP_RENAME, .fd = AT_FDCWD, .fd2 = AT_FDCWD,
		      .path = oldpath, .path2 = newpath, .flags = flags);
}

int64_t t_rename(struct trace *t, const char *oldpath, const char *newpath)
{
	return t_rename2(t, oldpath, newpath, 0);
}

int64_t t_readlink(struct trace *t, const char *path)
{
	return t_call(t, .kind = OP_READLINK, .fd = AT_FDCWD, .path = path,
		      .size = 4096);
}

int64_t t_chdir(struct trace *t, const char *path)
{
	return t_call(t, .kind = OP_CHDIR, .path = path);
}

int64_t t_umask(struct trace *t, mode_t mask)
{
	return t_call(t, .kind = OP_UMASK, .mode = mask);
}

int64_t t_cred(struct trace *t, uid_t uid)
{
	return t_call(t, .kind = OP_CRED, .uid = uid, .gid = uid);
}

int64_t t_cred_group(struct trace *t, uid_t uid, gid_t group)
{
	return t_call(t, .kind = OP_CRED, .uid = uid, .gid = uid,
		      .groups = { group }, .ngroups = 1);
}

/* ---- Calls put together ---- */

void t_file(struct trace *t, const char *path, mode_t mode, const char *text)
{
	int fd = t_open(t, path, O_CREAT | O_EXCL | O_WRONLY, mode);

	if (*text)
		t_write(t, fd, text);
	t_close(t, fd);
}

int64_t t_cat(struct trace *t, const char *path)
{
	int fd = t_open(t, path, O_RDONLY, 0);
	struct outcome out;

	if (fd < 0)
		return fd;
	t_read(t, fd, FS_BUFFER);
	out = t->out;
	t_close(t, fd);
	t->out = out;
	return out.ret;
}

void t_list(struct trace *t, const char *path)
{
	fs_print_listing(t->record, t->fs, path);
	fputc('\n', t->record);
}

void t_tree(struct trace *t)
{
	fs_print_tree(t->record, t->fs);
}

bool t_same_file(struct trace *t, const char *a, const char *b)
{
	uint64_t ino;
	bool same;

	if (t_lstat(t, a))
		return false;
	ino = t->out.st.ino;
	same = !t_lstat(t, b) && t->out.st.ino == ino;
	fprintf(t->record, "\"%s\" and \"%s\" are %s\n", a, b,
		same ? "one file" : "different");
	return same;
}

/* ---- Which times move ---- */

static unsigned int find_mark(const struct trace *t, const char *path)
{
	unsigned int i;

	for (i = 0; i < t->nmarks; i++)
		if (!strcmp(t->marks[i].path, path))
			break;
	return i;
}

void t_mark(struct trace *t, const char *path)
{
	unsigned int i = find_mark(t, path);

	mute(t);
	t_lstat(t, path);
	unmute(t);
	if (i == sizeof(t->marks) / sizeof(t->marks[0]))
		abort();
	if (i == t->nmarks)
		t->nmarks++;
	t->marks[i].path = path;
	t->marks[i].st = t->out.st;
	fs_tick();
}

static bool differ(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec || a->tv_nsec != b->tv_nsec;
}

int t_moved(struct trace *t, const char *path)
{
	const struct berth_stat *before, *after = &t->out.st;
	unsigned int i = find_mark(t, path);
	int moved = 0;

	if (i == t->nmarks)
		abort();
	before = &t->marks[i].st;
	mute(t);
	t_lstat(t, path);
	unmute(t);
	if (differ(&before->atime, &after->atime))
		moved |= ATIME;
	if (differ(&before->mtime, &after->mtime))
		moved |= MTIME;
	if (differ(&before->ctime, &after->ctime))
		moved |= CTIME;
	if (!t->muted)
		fprintf(t->record, "of \"%s\" moved:%s%s%s\n", path,
			moved & ATIME ? " atime" : "",
			moved & MTIME ? " mtime" : "",
			moved & CTIME ? " ctime" : "");
	return moved;
}

/* ---- Two runs and their comparison ---- */

/* One run on one side. */
struct run {
	const struct trace_case *what;
	bool as_user;
	char *record, *complaints;
	size_t record_size, complaints_size;
};

static void run_on_side(struct fs *fs, void *arg)
{
	struct run *run = arg;
	struct trace t = { .fs = fs };

	t.record = open_memstream(&run->record, &run->record_size);
	t.complaints = open_memstream(&run->complaints, &run->complaints_size);
	if (run->as_user)
		t_cred(&t, USER);
	run->what->run(&t);
	fclose(t.record);
	fclose(t.complaints);
}

/* The line that begins at @text, without its end. */
static int line_length(const char *text)
{
	return (int)strcspn(text, "\n");
}

/* Does berth's line agree with the kernel's, which may end in "= ?"? */
static bool lines_agree(const char *berth, const char *kernel)
{
	int b = line_length(berth), k = line_length(kernel);

	if (k >= 3 && !memcmp(kernel + k - 3, "= ?", 3))
		return b >= k - 1 && !memcmp(berth, kernel, (size_t)k - 1);
	return b == k && !memcmp(berth, kernel, (size_t)b);
}

/* How many of the lines before a difference are shown. */
#define SHOWN_LINES 15

/* Returns whether the records agree; shows where they part. */
static bool records_agree(const char *berth, const char *kernel)
{
	const char *start = berth, *end;
	int lines;

	while (*berth && *kernel && lines_agree(berth, kernel)) {
		berth += line_length(berth);
		kernel += line_length(kernel);
		berth += *berth == '\n';
		kernel += *kernel == '\n';
	}
	if ((!*berth && !*kernel) || !strncmp(kernel, TOO_OLD, strlen(TOO_OLD)))
		return true;
	end = berth;
	for (lines = 0; start < berth && lines < SHOWN_LINES; lines++)
		do
			berth--;
		while (start < berth && berth[-1] != '\n');
	fprintf(stderr, "The sides part after\n%.*s", (int)(end - berth),
		berth);
	fprintf(stderr, "berth:  %.*s\nkernel: %.*s\n", line_length(end), end,
		line_length(kernel), kernel);
	return false;
}

/* Valgrind answers some calls in the kernel's place, and otherwise. */
static int run_on_kernel(const struct fs_options *options, struct run *run,
			 const char **why)
{
	if (!under_valgrind())
		return fs_on_kernel(options, run_on_side, run, why);
	*why = "this is valgrind";
	return -1;
}

static bool run_as(const struct trace_case *what, bool as_user)
{
	struct fs_options options = what->options;
	struct run berth = { .what = what, .as_user = as_user };
	struct run kernel = berth;
	const char *why = "";
	bool good = true;
	int err;

	options.switches_ids = as_user || what->who == AS_MANY;
	if (fs_on_berth(&options, run_on_side, &berth, &why)) {
		fprintf(stderr, "%s\n", why);
		good = false;
	}
	err = run_on_kernel(&options, &kernel, &why);
	if (err)
		fprintf(stderr, "not compared with the kernel: %s\n", why);
	if (getenv("BERTH_SHOW_TRACE") && !err)
		fprintf(stderr, "%s", kernel.record);
	if (berth.complaints_size || kernel.complaints_size) {
		fprintf(stderr, "%s%s",
			berth.complaints ? berth.complaints : "",
			kernel.complaints ? kernel.complaints : "");
		good = false;
	}
	if (good && !err && !records_agree(berth.record, kernel.record))
		good = false;
	if (!good)
		fprintf(stderr, "This was as uid %d.\n", as_user ? USER : 0);
	free(berth.record);
	free(berth.complaints);
	free(kernel.record);
	free(kernel.complaints);
	return good;
}

void run_trace(void **state)
{
	const struct trace_case *what = *state;
	bool good = true;

	if (what->who & AS_ROOT)
		good &= run_as(what, false);
	if (what->who & AS_USER)
		good &= run_as(what, true);
	if (!good)
		fail();
}
