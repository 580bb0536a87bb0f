/* SPDX-License-Identifier: MIT */
/*
 * Flags of open, as on the kernel's tmpfs.  The first word of a case is its row
 * of the list of pitfalls.
 */
#include "trace.h"

static void G1_truncation_needs_write_permission(struct trace *t)
{
	t_file(t, "f", 0444, "hello");
	t_file(t, "none", 0, "hello");
	t_cred(t, USER);
	is(t, -EACCES, t_open(t, "f", O_RDONLY | O_TRUNC, 0));
	is(t, -EACCES, t_open(t, "f", O_WRONLY, 0));
	is(t, -EACCES, t_open(t, "none", O_RDONLY | O_TRUNC, 0));
	is(t, -EACCES, t_truncate(t, "f", 0));
	is(t, 0, t_stat(t, "f"));
	is(t, 5, (int64_t)t->out.st.size);
}

static void G1_truncation_by_a_read_only_open(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "hello");
	fd = t_open(t, "f", O_RDONLY | O_TRUNC, 0);
	is(t, 0, fd);
	is(t, 0, t_fstat(t, fd));
	is(t, 0, (int64_t)t->out.st.size);
	is(t, -EBADF, t_write(t, fd, "x"));
}

static void G2_truncation_by_open(struct trace *t)
{
	int fd, before;

	t_file(t, "f", 0644, "hello");
	before = t_open(t, "f", O_RDONLY, 0);
	fd = t_open(t, "f", O_WRONLY | O_TRUNC, 0);
	is(t, 0, t_fstat(t, fd));
	is(t, 0, (int64_t)t->out.st.size);
	is(t, 0, t_read(t, before, 10));
	is(t, 2, t_write(t, fd, "ab"));
	is(t, 2, t_read(t, before, 10));

	/* With O_CREAT alike; of a path descriptor not. */
	is(t, 3, t_open(t, "f", O_CREAT | O_TRUNC | O_RDWR, 0600) + 1);
	t_stat(t, "f");
	t_write(t, fd, "more");
	t_open(t, "f", O_PATH | O_TRUNC | O_WRONLY, 0);
	t_stat(t, "f");
}

static void G4_exclusive_creation(struct trace *t)
{
	t_file(t, "f", 0644, "hello");
	t_mkdir(t, "d", 0755);
	t_symlink(t, "f", "link");
	t_symlink(t, "missing", "dangling");
	t_symlink(t, "loop", "loop");
	is(t, -EEXIST, t_open(t, "f", O_CREAT | O_EXCL | O_RDWR, 0644));
	is(t, -EEXIST, t_open(t, "d", O_CREAT | O_EXCL | O_RDWR, 0644));
	is(t, -EEXIST, t_open(t, "link", O_CREAT | O_EXCL | O_RDWR, 0644));
	is(t, -EEXIST, t_open(t, "dangling", O_CREAT | O_EXCL | O_RDWR, 0644));
	is(t, -EEXIST, t_open(t, "loop", O_CREAT | O_EXCL | O_RDWR, 0644));
	is(t, -ENOENT, t_stat(t, "missing"));
	t_open(t, ".", O_CREAT | O_EXCL | O_RDWR, 0644);
	t_open(t, "/", O_CREAT | O_EXCL | O_RDWR, 0644);
	t_open(t, "d/..", O_CREAT | O_EXCL | O_RDWR, 0644);
	t_open(t, "missing/f", O_CREAT | O_EXCL | O_RDWR, 0644);
	t_open(t, "f/x", O_CREAT | O_EXCL | O_RDWR, 0644);
	/* Without O_CREAT it says nothing. */
	is(t, 0, t_open(t, "f", O_EXCL | O_RDONLY, 0));
	is(t, 1, t_open(t, "link", O_EXCL | O_RDONLY, 0));
	is(t, 2, t_open(t, "new", O_CREAT | O_EXCL | O_RDWR, 0640));
	t_tree(t);
}

static void G5_failing_creation_changes_nothing(struct trace *t)
{
	t_file(t, "f", 0644, "hello");
	t_mark(t, "f");
	t_mark(t, ".");
	is(t, -EEXIST,
	   t_open(t, "f", O_CREAT | O_EXCL | O_TRUNC | O_RDWR, 0600));
	is(t, 0, t_moved(t, "f"));
	is(t, 0, t_moved(t, "."));
	t_cat(t, "f");
	is_text(t, "hello");
}

static void G7_creation_through_a_dangling_link(struct trace *t)
{
	t_mkdir(t, "d", 0755);
	t_symlink(t, "d/target", "link");
	t_symlink(t, "link", "link2");
	t_symlink(t, "/d/other", "d/absolute");
	t_symlink(t, "loop2", "loop1");
	t_symlink(t, "loop1", "loop2");
	t_symlink(t, "nowhere/f", "lost");
	t_symlink(t, "d/slash/", "slash");
	t_symlink(t, "d", "todir");
	is(t, -ENOENT, t_open(t, "link", O_RDWR, 0));
	is(t, -ELOOP, t_open(t, "link", O_CREAT | O_NOFOLLOW | O_RDWR, 0644));
	is(t, 0, t_open(t, "link2", O_CREAT | O_RDWR, 0644));
	is(t, 0, t_stat(t, "d/target"));
	is(t, 1, t_open(t, "d/absolute", O_CREAT | O_RDWR, 0600));
	is(t, -ELOOP, t_open(t, "loop1", O_CREAT | O_RDWR, 0644));
	is(t, -ENOENT, t_open(t, "lost", O_CREAT | O_RDWR, 0644));
	is(t, -EISDIR, t_open(t, "slash", O_CREAT | O_RDWR, 0644));
	is(t, -EISDIR, t_open(t, "todir", O_CREAT | O_RDWR, 0644));
	t_open(t, "todir/", O_CREAT | O_RDWR, 0644);
	t_tree(t);
}

static void G8_creation_with_mode_0(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0);

	is(t, 0, fd);
	is(t, 5, t_write(t, fd, "hello"));
	is(t, 5, t_pread(t, fd, 9, 0));
	is(t, 0, t_fstat(t, fd));
	is(t, S_IFREG, t->out.st.mode);
	/* Root may, others not. */
	t_open(t, "f", O_RDONLY, 0);
	t_open(t, "f", O_CREAT | O_WRONLY, 0777);
	t_access(t, "f", R_OK);
	t_stat(t, "f");
}

static void G8_creation_of_a_read_only_file(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR | O_TRUNC, 0444);

	is(t, 5, t_write(t, fd, "hello"));
	is(t, 0, t_ftruncate(t, fd, 2));
	t_open(t, "f", O_CREAT | O_RDWR, 0444);
	t_open(t, "f", O_RDONLY, 0444);
}

static void G10_directory_flag(struct trace *t)
{
	t_file(t, "f", 0644, "hello");
	t_mkdir(t, "d", 0755);
	t_symlink(t, "f", "tofile");
	t_symlink(t, "d", "todir");
	is(t, 0, t_open(t, "d", O_RDONLY | O_DIRECTORY, 0));
	is(t, 1, t_open(t, "d", O_RDONLY, 0));
	is(t, 2, t_open(t, "todir", O_RDONLY | O_DIRECTORY, 0));
	is(t, -ENOTDIR, t_open(t, "f", O_RDONLY | O_DIRECTORY, 0));
	is(t, -ENOTDIR, t_open(t, "tofile", O_RDONLY | O_DIRECTORY, 0));
	is(t, -ENOTDIR,
	   t_open(t, "todir", O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0));
	is(t, -EISDIR, t_open(t, "d", O_WRONLY, 0));
	is(t, -EISDIR, t_open(t, "d", O_RDWR, 0));
	is(t, -EISDIR, t_open(t, "d", O_RDONLY | O_TRUNC, 0));
	is(t, -EISDIR, t_open(t, "d", O_RDONLY | O_CREAT, 0755));
	is(t, -EISDIR, t_open(t, "/", O_RDONLY | O_CREAT, 0755));
	is(t, -ENOENT, t_open(t, "missing", O_RDONLY | O_DIRECTORY, 0));
	since_kernel(t, 6, 4); /* before, it made a file */
	is(t, -EINVAL,
	   t_open(t, "new", O_CREAT | O_DIRECTORY | O_RDONLY, 0755));
	is(t, -EINVAL, t_open(t, "d", O_CREAT | O_DIRECTORY | O_RDONLY, 0755));
	t_list(t, ".");
}

static void nameless_file(struct trace *t)
{
	t_mkdir(t, "d", 0777);
	is(t, 0, t_open(t, "d", O_TMPFILE | O_RDWR, 0666));
	is(t, 0, t_fstat(t, 0));
	is(t, 0, t->out.st.nlink);
	is(t, S_IFREG | 0644, t->out.st.mode);
	is(t, 5, t_write(t, 0, "hello"));
	is(t, 5, t_pread(t, 0, 9, 0));
	t_list(t, "d");
	t_fcntl(t, 0, F_GETFL, 0);
	/* A directory, and open for writing. */
	is(t, -EINVAL, t_open(t, "d", O_TMPFILE | O_RDONLY, 0600));
	is(t, -EINVAL, t_open(t, "d", (O_TMPFILE & ~O_DIRECTORY) | O_RDWR, 0));
	is(t, -EINVAL, t_open(t, "d", O_TMPFILE | O_CREAT | O_RDWR, 0600));
	t_file(t, "f", 0644, "");
	is(t, -ENOTDIR, t_open(t, "f", O_TMPFILE | O_RDWR, 0600));
	is(t, -ENOENT, t_open(t, "missing", O_TMPFILE | O_RDWR, 0600));
	t_symlink(t, "d", "l");
	is(t, -ENOTDIR, t_open(t, "l", O_TMPFILE | O_WRONLY | O_NOFOLLOW, 0));
	is(t, 1, t_open(t, "l", O_TMPFILE | O_WRONLY, 0));
	t_fstat(t, 1);
	is(t, 2,
	   t_open(t, "d/", O_TMPFILE | O_WRONLY | O_APPEND | O_CLOEXEC, 02775));
	t_fstat(t, 2);
	is(t, 0, t_close(t, 0));
	t_tree(t);
}

static int64_t give_name(struct trace *t, int fd, const char *path)
{
	return t_call(t, .kind = OP_LINK, .fd = fd, .path = "", .fd2 = AT_FDCWD,
		      .path2 = path, .flags = BERTH_AT_EMPTY_PATH);
}

static void nameless_file_gets_a_name(struct trace *t)
{
	t_open(t, ".", O_TMPFILE | O_RDWR, 0644);
	t_write(t, 0, "hello");
	is(t, 0, give_name(t, 0, "f"));
	is(t, 0, t_fstat(t, 0));
	is(t, 1, t->out.st.nlink);
	is(t, 0, give_name(t, 0, "g"));
	is(t, -EEXIST, give_name(t, 0, "g"));
	is(t, 5, t_cat(t, "f"));
	t_unlink(t, "f");
	t_unlink(t, "g");
	/* Once it had a name, it is like any other. */
	is(t, -ENOENT, give_name(t, 0, "h"));
	/* One that was opened with O_EXCL never gets any. */
	is(t, 1, t_open(t, ".", O_TMPFILE | O_RDWR | O_EXCL, 0644));
	is(t, -ENOENT, give_name(t, 1, "h"));
	t_tree(t);
}

static void nameless_files_and_permission(struct trace *t)
{
	t_mkdir(t, "d", 0755);
	t_mkdir(t, "set", 0777);
	t_chown(t, "set", 0, OTHER);
	t_chmod(t, "set", 02777);
	t_cred(t, USER);
	is(t, -EACCES, t_open(t, "d", O_TMPFILE | O_RDWR, 0600));
	is(t, 0, t_open(t, "set", O_TMPFILE | O_RDWR, 02777));
	t_fstat(t, 0);
	is(t, 1, t_open(t, "set", O_TMPFILE | O_RDWR | O_NOATIME, 0));
	t_fstat(t, 1);
}

static void nameless_files_take_room(struct trace *t)
{
	t_open(t, ".", O_TMPFILE | O_RDWR, 0600);
	t_open(t, ".", O_TMPFILE | O_RDWR, 0600);
	is(t, -ENOSPC, t_open(t, ".", O_TMPFILE | O_RDWR, 0600));
	/* The first name takes no further place, the second one does. */
	is(t, 0, give_name(t, 0, "f"));
	is(t, -ENOSPC, give_name(t, 0, "g"));
	is(t, 0, t_close(t, 1));
	is(t, 0, give_name(t, 0, "g"));
	is(t, -ENOSPC, t_open(t, ".", O_TMPFILE | O_RDWR, 0600));
	t_call(t, .kind = OP_STATFS, .path = "/");
}

static void G13_mode_without_creation(struct trace *t)
{
	t_file(t, "f", 0644, "hello");
	is(t, 0, t_open(t, "f", O_RDONLY, ~0u));
	is(t, 1, t_open(t, "f", O_CREAT | O_RDWR, 07777));
	t_stat(t, "f");
	is(t, 2, t_open(t, "new", O_CREAT | O_RDWR, 0107777));
	is(t, 0, t_fstat(t, 2));
	is(t, S_IFREG | 07755, t->out.st.mode);
}

static void G16_checks_on_existing_files(struct trace *t)
{
	t_umask(t, 0);
	t_file(t, "r", 0444, "hello");
	t_file(t, "w", 0222, "hello");
	t_file(t, "x", 0111, "hello");
	t_cred(t, USER);
	is(t, 0, t_open(t, "r", O_RDONLY, 0));
	is(t, 1, t_open(t, "r", O_RDONLY | O_APPEND, 0));
	is(t, -EACCES, t_open(t, "r", O_RDONLY | O_TRUNC, 0));
	is(t, -EACCES, t_open(t, "r", O_WRONLY, 0));
	is(t, -EACCES, t_open(t, "r", O_WRONLY | O_APPEND, 0));
	is(t, -EACCES, t_open(t, "r", O_RDWR, 0));
	is(t, -EACCES, t_open(t, "r", O_CREAT | O_WRONLY, 0666));
	is(t, -EACCES, t_open(t, "w", O_RDONLY, 0));
	is(t, 2, t_open(t, "w", O_WRONLY, 0));
	is(t, -EACCES, t_open(t, "w", O_RDWR, 0));
	is(t, -EACCES, t_open(t, "x", O_RDONLY, 0));
	is(t, 3, t_open(t, "x", O_PATH, 0));
	t_open(t, "w", O_ACCMODE, 0);
	t_open(t, "r", O_ACCMODE, 0);
	is(t, -EPERM, t_open(t, "r", O_RDONLY | O_NOATIME, 0));
	t_tree(t);
}

static void G16_creation_needs_a_writable_directory(struct trace *t)
{
	t_umask(t, 0);
	t_mkdir(t, "d", 0755);
	t_file(t, "d/f", 0666, "hello");
	t_mkdir(t, "nosearch", 0666);
	t_cred(t, USER);
	is(t, -EACCES, t_open(t, "d/new", O_CREAT | O_RDWR, 0666));
	is(t, -EACCES, t_open(t, "d/new", O_CREAT | O_EXCL | O_RDWR, 0666));
	is(t, 0, t_open(t, "d/f", O_CREAT | O_RDWR, 0666));
	is(t, -EEXIST, t_open(t, "d/f", O_CREAT | O_EXCL | O_RDWR, 0666));
	is(t, -EACCES, t_open(t, "nosearch/new", O_CREAT | O_RDWR, 0666));
	is(t, -ENOENT, t_open(t, "d/new", O_RDWR, 0666));
}

static void G17_unknown_bits_of_flags(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "hello");
	t_mkdir(t, "d", 0755);
	fd = t_open(t, "f", O_RDWR, 0);
	t_mark(t, "f");
	is(t, -EINVAL,
	   t_call(t, .kind = OP_CHMOD, .fd = AT_FDCWD, .path = "f",
		  .mode = 0600, .flags = 0x8));
	is(t, -EINVAL,
	   t_call(t, .kind = OP_CHOWN, .fd = AT_FDCWD, .path = "f", .uid = 0,
		  .gid = 0, .flags = 0x8));
	is(t, -EINVAL,
	   t_call(t, .kind = OP_ACCESS, .fd = AT_FDCWD, .path = "f",
		  .cmd = R_OK, .flags = 0x8));
	is(t, -EINVAL,
	   t_call(t, .kind = OP_ACCESS, .fd = AT_FDCWD, .path = "f", .cmd = 8));
	is(t, -EINVAL,
	   t_call(t, .kind = OP_STAT, .fd = AT_FDCWD, .path = "f",
		  .flags = 0x8));
	is(t, -EINVAL,
	   t_call(t, .kind = OP_UNLINK, .fd = AT_FDCWD, .path = "f",
		  .flags = 0x8));
	is(t, -EINVAL,
	   t_call(t, .kind = OP_UNLINK, .fd = AT_FDCWD, .path = "f",
		  .flags = 0x100));
	is(t, -EINVAL,
	   t_call(t, .kind = OP_LINK, .fd = AT_FDCWD, .path = "f",
		  .fd2 = AT_FDCWD, .path2 = "g",
		  .flags = BERTH_AT_SYMLINK_NOFOLLOW));
	is(t, -EINVAL,
	   t_call(t, .kind = OP_UTIMENS, .fd = AT_FDCWD, .path = "f",
		  .flags = 0x8));
	is(t, -EINVAL, t_rename2(t, "f", "g", 0x80));
	is(t, -EINVAL,
	   t_rename2(t, "f", "d",
		     BERTH_RENAME_NOREPLACE | BERTH_RENAME_EXCHANGE));
	is(t, -EINVAL,
	   t_call(t, .kind = OP_DUP3, .fd = fd, .fd2 = 7, .flags = O_CREAT));
	/* Unknown bits of an open mean nothing. */
	is(t, 1, t_open(t, "f", O_RDONLY | 0x10000000u, 0));
	is(t, 0, t_moved(t, "f"));
	t_tree(t);
}

static void no_follow_flag(struct trace *t)
{
	t_file(t, "f", 0644, "hello");
	t_mkdir(t, "d", 0755);
	t_file(t, "d/g", 0644, "hello");
	t_symlink(t, "f", "tofile");
	t_symlink(t, "d", "todir");
	is(t, 0, t_open(t, "f", O_RDONLY | O_NOFOLLOW, 0));
	is(t, -ELOOP, t_open(t, "tofile", O_RDONLY | O_NOFOLLOW, 0));
	is(t, -ELOOP, t_open(t, "todir", O_RDONLY | O_NOFOLLOW, 0));
	t_open(t, "todir/", O_RDONLY | O_NOFOLLOW, 0);
	t_open(t, "tofile/", O_RDONLY | O_NOFOLLOW, 0);
	/* Of the last component only. */
	is(t, 2, t_open(t, "todir/g", O_RDONLY | O_NOFOLLOW, 0));
	/* A link itself can be held. */
	is(t, 3, t_open(t, "tofile", O_PATH | O_NOFOLLOW, 0));
	is(t, 0, t_fstat(t, 3));
	is(t, S_IFLNK | 0777, t->out.st.mode);
	is(t, 1,
	   t_call(t, .kind = OP_READLINK, .fd = 3, .path = "", .size = 99));
	t_open(t, "todir", O_PATH | O_NOFOLLOW | O_DIRECTORY, 0);
	t_open(t, "todir", O_PATH | O_DIRECTORY, 0);
}

static void what_cannot_be_opened(struct trace *t)
{
	t_mknod(t, "socket", S_IFSOCK | 0666);
	is(t, -ENXIO, t_open(t, "socket", O_RDONLY, 0));
	is(t, -ENXIO, t_open(t, "socket", O_RDWR | O_CREAT, 0666));
	is(t, -ENXIO, t_open(t, "socket", O_RDWR | O_TRUNC, 0666));
	is(t, -EEXIST, t_open(t, "socket", O_RDWR | O_CREAT | O_EXCL, 0666));
	is(t, -ENOTDIR, t_open(t, "socket", O_RDONLY | O_DIRECTORY, 0));
	is(t, 0, t_open(t, "socket", O_PATH, 0));
	is(t, 0, t_fstat(t, 0));
	is(t, -EINVAL, t_open(t, ".", O_RDONLY | O_DIRECT, 0));
	is(t, 1, t_open(t, ".", O_PATH | O_DIRECT, 0));
}

static void no_number_left(struct trace *t)
{
	t_file(t, "f", 0644, "");
	mute(t);
	while (t_open(t, "f", O_RDONLY, 0) >= 0)
		;
	unmute(t);
	is(t, -EMFILE, t_open(t, "f", O_RDONLY, 0));
	is(t, -EMFILE, t_open(t, "missing", O_RDONLY, 0));
	is(t, -EMFILE, t_open(t, "new", O_RDWR | O_CREAT, 0644));
	t_open(t, "new", O_CREAT | O_DIRECTORY, 0644);
	t_open(t, "", O_RDONLY, 0);
	is(t, -EMFILE, t_dup(t, 0));
	is(t, -ENOENT, t_stat(t, "new"));
	is(t, 0, t_close(t, 1000));
	is(t, 0, t_close(t, 17));
	is(t, 17, t_open(t, "new", O_RDWR | O_CREAT, 0644));
	is(t, 1000, t_dup(t, 0));
	is(t, -EMFILE, t_open(t, "new", O_RDWR | O_CREAT, 0644));
	/* A failing open gives its number back. */
	is(t, 0, t_close(t, 17));
	is(t, -ENOENT, t_open(t, "missing", O_RDONLY, 0));
	is(t, 17, t_dup(t, 0));
}

/* No file of tmpfs takes to O_ASYNC, or gives it up if it was opened so. */
static void setfl_async(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	int async = t_open(t, "f", O_RDWR | O_ASYNC, 0);
	unsigned int bit;

	for (bit = 0; bit < 31; bit++) {
		t_fcntl(t, fd, F_SETFL, INT64_C(1) << bit);
		t_fcntl(t, fd, F_GETFL, 0);
		t_fcntl(t, async, F_SETFL, INT64_C(1) << bit);
		t_fcntl(t, async, F_GETFL, 0);
	}
}

/* F_DUPFD_QUERY, by its number: the C library may not know it yet. */
static void same_file_query(struct trace *t)
{
	int a = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	int b = t_open(t, "f", O_RDWR, 0);
	int place = t_open(t, "f", O_PATH, 0);
	int copy = t_dup(t, a), place_copy = t_dup(t, place);

	since_kernel(t, 6, 13);
	is(t, 1, t_fcntl(t, a, 1027, copy));
	is(t, 1, t_fcntl(t, a, 1027, a));
	is(t, 0, t_fcntl(t, a, 1027, b));
	is(t, 0, t_fcntl(t, a, 1027, place));
	is(t, 1, t_fcntl(t, place, 1027, place_copy));
	is(t, -EBADF, t_fcntl(t, a, 1027, 99));
	is(t, -EBADF, t_fcntl(t, 99, 1027, a));
	is(t, -EBADF, t_fcntl(t, a, 1027, -1));
}

static const struct CMUnitTest cases[] = {
	TRACE(G1_truncation_needs_write_permission, AS_MANY),
	TRACE(G1_truncation_by_a_read_only_open, AS_BOTH),
	TRACE(G2_truncation_by_open, AS_BOTH),
	TRACE(G4_exclusive_creation, AS_BOTH),
	TRACE(G5_failing_creation_changes_nothing, AS_BOTH),
	TRACE(G7_creation_through_a_dangling_link, AS_BOTH),
	TRACE(G8_creation_with_mode_0, AS_BOTH),
	TRACE(G8_creation_of_a_read_only_file, AS_BOTH),
	TRACE(G10_directory_flag, AS_BOTH),
	TRACE(nameless_file, AS_BOTH),
	TRACE(nameless_file_gets_a_name, AS_ROOT),
	TRACE(nameless_files_and_permission, AS_MANY),
	TRACE_LIMITED(nameless_files_take_room, AS_ROOT, 1 << 20, 3),
	TRACE(G13_mode_without_creation, AS_BOTH),
	TRACE(G16_checks_on_existing_files, AS_MANY),
	TRACE(G16_creation_needs_a_writable_directory, AS_MANY),
	TRACE(G17_unknown_bits_of_flags, AS_BOTH),
	TRACE(no_follow_flag, AS_BOTH),
	TRACE(what_cannot_be_opened, AS_BOTH),
	TRACE(no_number_left, AS_ROOT),
	TRACE(setfl_async, AS_ROOT),
	TRACE(same_file_query, AS_BOTH),
};

int main(int argc, char **argv)
{
	return run_traces(argc, argv, cases);
}
