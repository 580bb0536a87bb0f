/* SPDX-License-Identifier: MIT */
/*
 * Unlinked open files and link counts, as on the kernel's tmpfs.  The first
 * word of a case is its row of the list of pitfalls.
 */
#include "trace.h"

/* The link count of a name, -errno if it cannot be told. */
static int64_t links(struct trace *t, const char *path)
{
	int64_t err = t_lstat(t, path);

	return err ? err : (int64_t)t->out.st.nlink;
}

static int64_t links_of_open(struct trace *t, int fd)
{
	int64_t err = t_fstat(t, fd);

	return err ? err : (int64_t)t->out.st.nlink;
}

static void I1_the_file_lives_on_alone(struct trace *t)
{
	int fd, other;

	t_file(t, "f", 0644, "hello");
	fd = t_open(t, "f", O_RDWR, 0);
	is(t, 0, t_unlink(t, "f"));
	is(t, -ENOENT, t_stat(t, "f"));
	other = t_open(t, "f", O_CREAT | O_EXCL | O_RDWR, 0600);
	is(t, 6, t_write(t, other, "other!"));
	t_read(t, fd, 99);
	is_text(t, "hello");
	is(t, 1, t_write(t, fd, "!"));
	t_pread(t, fd, 99, 0);
	is_text(t, "hello!");
	is(t, 0, links_of_open(t, fd));
	t_cat(t, "f");
	is_text(t, "other!");
}

static void I2_long_writes_to_an_unlinked_file(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	is(t, 0, t_unlink(t, "f"));
	is(t, 100000, t_fill(t, fd, 'x', 100000));
	is(t, 100000, t_pread(t, fd, FS_BUFFER, 0));
	is_all(t, 'x');
	is(t, 0, t_ftruncate(t, fd, 5000));
	is(t, 0, t_fstat(t, fd));
	is(t, 5000, t_lseek(t, fd, 0, SEEK_END));
}

static void I4_what_an_unlinked_file_still_does(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	int twin = t_dup(t, fd);

	t_unlink(t, "f");
	is(t, 0, t_call(t, .kind = OP_FCHMOD, .fd = fd, .mode = 0600));
	is(t, 0,
	   t_call(t, .kind = OP_FCHOWN, .fd = fd, .uid = (uid_t)-1,
		  .gid = (gid_t)-1));
	is(t, 0, t_call(t, .kind = OP_UTIMENS, .fd = fd));
	t_call(t, .kind = OP_LINK, .fd = fd, .path = "", .fd2 = AT_FDCWD,
	       .path2 = "again", .flags = BERTH_AT_EMPTY_PATH);
	is(t, 0, t_close(t, fd));
	is(t, 5, t_write(t, twin, "hello"));
	is(t, 0, t_fstat(t, twin));
	is(t, 0, t_close(t, twin));
	t_list(t, ".");
}

static void I5_a_large_file_is_read_after_unlink(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_fill(t, fd, 'x', 1000000);
	t_unlink(t, "f");
	t_file(t, "g", 0644, "other");
	is(t, 1000000, t_pread(t, fd, FS_BUFFER, 0));
	is_all(t, 'x');
}

static void I8_in_a_removed_directory(struct trace *t)
{
	t_mkdir(t, "d", 0755);
	t_mkdir(t, "d/sub", 0755);
	is(t, 0, t_chdir(t, "d/sub"));
	is(t, 0, t_rmdir(t, "../sub"));
	is(t, 0, t_lstat(t, "."));
	is(t, 0, (int64_t)t->out.st.nlink);
	is(t, 0, t_stat(t, ".."));
	is(t, 0, t_stat(t, "../../d"));
	is(t, -ENOENT, t_open(t, "f", O_CREAT | O_RDWR, 0644));
	is(t, -ENOENT, t_open(t, "f", O_RDWR, 0644));
	is(t, -ENOENT, t_mkdir(t, "f", 0755));
	is(t, -ENOENT, t_mknod(t, "f", S_IFREG | 0644));
	is(t, -ENOENT, t_symlink(t, "x", "f"));
	is(t, -ENOENT, t_stat(t, "f"));
	is(t, -ENOENT, t_unlink(t, "f"));
	is(t, -ENOENT, t_rmdir(t, "f"));
	t_file(t, "/g", 0644, "hello");
	is(t, -ENOENT, t_link(t, "/g", "f"));
	is(t, -ENOENT, t_rename(t, "/g", "f"));
	t_rename2(t, "/g", "f", BERTH_RENAME_NOREPLACE);
	t_rename2(t, "/g", "f", BERTH_RENAME_EXCHANGE);
	is(t, -ENOENT, t_call(t, .kind = OP_GETCWD, .size = 4096));
	t_rmdir(t, ".");
	t_rmdir(t, "..");
	is(t, 0, t_chdir(t, "."));
	is(t, 0, t_open(t, ".", O_RDONLY, 0));
	is(t, -ENOENT, t_call(t, .kind = OP_GETDENTS, .fd = 0, .size = 4096));
	is(t, 0, t_chdir(t, ".."));
	is(t, 3, t_call(t, .kind = OP_GETCWD, .size = 4096));
	t_list(t, ".");
}

static void I10_names_of_open_files_go(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_mkdir(t, "d", 0755);
	t_open(t, "d", O_RDONLY, 0);
	is(t, 0, t_unlink(t, "f"));
	is(t, 0, t_rmdir(t, "d"));
	is(t, -ENOENT, t_unlink(t, "f"));
	is(t, -ENOENT, t_rmdir(t, "d"));
	is(t, 0, t_close(t, fd));
}

static void I11_the_number_follows_the_file(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_mkdir(t, "d", 0755);
	t_write(t, fd, "hello");
	is(t, 0, t_rename(t, "f", "d/g"));
	is(t, 1, t_write(t, fd, "!"));
	t_cat(t, "d/g");
	is_text(t, "hello!");
	is(t, 1, links_of_open(t, fd));
}

static void I13_link_count_of_a_parent(struct trace *t)
{
	t_mkdir(t, "d", 0755);
	t_mkdir(t, "d/a", 0755);
	t_mkdir(t, "d/b", 0755);
	t_file(t, "d/f", 0644, "");
	t_symlink(t, "a", "d/link");
	is(t, 4, links(t, "d"));
	is(t, 0, t_rmdir(t, "d/a"));
	is(t, 3, links(t, "d"));
	is(t, 0, t_unlink(t, "d/f"));
	is(t, 3, links(t, "d"));
	is(t, -ENOTEMPTY, t_rmdir(t, "d"));
	is(t, -ENOTDIR, t_rmdir(t, "d/link"));
	is(t, 3, links(t, "d"));
}

static void I14_link_count_of_directories(struct trace *t)
{
	int fd;

	is(t, 2, links(t, "/"));
	t_mkdir(t, "d", 0755);
	is(t, 3, links(t, "/"));
	is(t, 2, links(t, "d"));
	fd = t_open(t, "d", O_RDONLY, 0);
	is(t, 0, t_rmdir(t, "d"));
	is(t, 0, links_of_open(t, fd));
	is(t, 2, links(t, "/"));

	/* Renaming carries a count from parent to parent. */
	t_mkdir(t, "a", 0755);
	t_mkdir(t, "b", 0755);
	t_mkdir(t, "a/x", 0755);
	is(t, 0, t_rename(t, "a/x", "b/y"));
	is(t, 2, links(t, "a"));
	is(t, 3, links(t, "b"));
	/* A replaced directory is gone. */
	t_mkdir(t, "a/z", 0755);
	fd = t_open(t, "a/z", O_RDONLY, 0);
	is(t, 0, t_rename(t, "b/y", "a/z"));
	is(t, 3, links(t, "a"));
	is(t, 2, links(t, "b"));
	is(t, 0, links_of_open(t, fd));
	/* An exchange of a file and a directory. */
	t_file(t, "b/f", 0644, "");
	is(t, 0, t_rename2(t, "a/z", "b/f", BERTH_RENAME_EXCHANGE));
	is(t, 2, links(t, "a"));
	is(t, 3, links(t, "b"));
	t_tree(t);
}

static void I16_a_replaced_file(struct trace *t)
{
	int fd;

	t_file(t, "a", 0644, "new");
	t_file(t, "b", 0644, "old");
	t_link(t, "b", "c");
	fd = t_open(t, "b", O_RDONLY, 0);
	is(t, 2, links(t, "c"));
	is(t, 0, t_rename(t, "a", "b"));
	is(t, 1, links(t, "c"));
	is(t, 1, links_of_open(t, fd));
	is(t, 0, t_unlink(t, "c"));
	is(t, 0, links_of_open(t, fd));
	t_read(t, fd, 9);
	is_text(t, "old");
	t_cat(t, "b");
	is_text(t, "new");
}

static void I17_hard_links(struct trace *t)
{
	t_file(t, "a", 0644, "hello");
	is(t, 0, t_link(t, "a", "b"));
	is(t, true, t_same_file(t, "a", "b"));
	is(t, 2, links(t, "a"));
	is(t, 2, links(t, "b"));
	is(t, -EEXIST, t_link(t, "a", "b"));
	is(t, -EEXIST, t_link(t, "a", "a"));
	is(t, -ENOENT, t_link(t, "missing", "c"));
	is(t, -ENOENT, t_link(t, "a", "missing/c"));
	t_mkdir(t, "d", 0755);
	is(t, -EPERM, t_link(t, "d", "e"));
	is(t, -EEXIST, t_link(t, "a", "d"));
	is(t, -EEXIST, t_link(t, "a", "."));
	is(t, -EEXIST, t_link(t, "a", "/"));
	t_link(t, "a", "c/");
	t_link(t, "d", "c/");
	t_link(t, "a/", "c");
	t_link(t, ".", "c");
	t_link(t, "", "c");
	t_link(t, "a", "");
	is(t, 0, t_chmod(t, "a", 0600));
	is(t, 0, t_lstat(t, "b"));
	is(t, S_IFREG | 0600, t->out.st.mode);
	is(t, 0, t_unlink(t, "a"));
	t_cat(t, "b");
	is_text(t, "hello");
	is(t, 1, links(t, "b"));
}

static void I17_hard_links_of_symbolic_links(struct trace *t)
{
	t_file(t, "f", 0644, "hello");
	t_symlink(t, "f", "s");
	t_symlink(t, "missing", "dangling");
	is(t, 0, t_link(t, "s", "s2"));
	is(t, true, t_same_file(t, "s", "s2"));
	is(t, 2, links(t, "s2"));
	is(t, 0,
	   t_call(t, .kind = OP_LINK, .fd = AT_FDCWD, .path = "s",
		  .fd2 = AT_FDCWD, .path2 = "f2",
		  .flags = BERTH_AT_SYMLINK_FOLLOW));
	is(t, true, t_same_file(t, "f", "f2"));
	is(t, 0, t_link(t, "dangling", "dangling2"));
	is(t, -ENOENT,
	   t_call(t, .kind = OP_LINK, .fd = AT_FDCWD, .path = "dangling",
		  .fd2 = AT_FDCWD, .path2 = "x",
		  .flags = BERTH_AT_SYMLINK_FOLLOW));
	t_tree(t);
}

static void I17_times_of_hard_links(struct trace *t)
{
	t_file(t, "a", 0644, "hello");
	t_mark(t, "a");
	t_mark(t, ".");
	is(t, 0, t_link(t, "a", "b"));
	is(t, CTIME, t_moved(t, "a"));
	is(t, MTIME | CTIME, t_moved(t, "."));
	t_mark(t, "a");
	t_mark(t, ".");
	is(t, 0, t_unlink(t, "b"));
	is(t, CTIME, t_moved(t, "a"));
	is(t, MTIME | CTIME, t_moved(t, "."));
}

static void I19_unlinked_names_are_not_listed(struct trace *t)
{
	int dir = t_open(t, ".", O_RDONLY, 0);

	t_file(t, "a", 0644, "");
	t_file(t, "b", 0644, "");
	t_mkdir(t, "c", 0755);
	t_open(t, "a", O_RDONLY, 0);
	t_list(t, ".");
	t_unlink(t, "a");
	t_rmdir(t, "c");
	t_list(t, ".");
	t_call(t, .kind = OP_GETDENTS, .fd = dir, .size = 4096);
}

static void the_wrong_call_for_it(struct trace *t)
{
	t_file(t, "f", 0644, "");
	t_mkdir(t, "d", 0755);
	t_file(t, "d/g", 0644, "");
	t_symlink(t, "d", "link");
	t_mkdir(t, "e", 0755);
	is(t, -EISDIR, t_unlink(t, "d"));
	is(t, -EISDIR, t_unlink(t, "d/"));
	is(t, -EISDIR, t_unlink(t, "."));
	is(t, -EISDIR, t_unlink(t, ".."));
	is(t, -EISDIR, t_unlink(t, "/"));
	is(t, -ENOTDIR, t_unlink(t, "f/"));
	is(t, -ENOTDIR, t_unlink(t, "f/x"));
	is(t, -ENOENT, t_unlink(t, ""));
	is(t, -ENOENT, t_unlink(t, "missing"));
	t_unlink(t, "missing/");
	is(t, -ENOTDIR, t_unlink(t, "link/"));
	is(t, -ENOTDIR, t_rmdir(t, "f"));
	is(t, -ENOTDIR, t_rmdir(t, "link"));
	t_rmdir(t, "link/");
	is(t, -ENOTEMPTY, t_rmdir(t, "d"));
	is(t, -EINVAL, t_rmdir(t, "e/."));
	is(t, -ENOTEMPTY, t_rmdir(t, "e/.."));
	is(t, -EBUSY, t_rmdir(t, "/"));
	is(t, 0, t_rmdir(t, "e/"));
	is(t, 0, t_unlink(t, "link"));
	t_tree(t);
}

static const struct CMUnitTest cases[] = {
	TRACE(I1_the_file_lives_on_alone, AS_BOTH),
	TRACE(I2_long_writes_to_an_unlinked_file, AS_BOTH),
	TRACE(I4_what_an_unlinked_file_still_does, AS_BOTH),
	TRACE(I5_a_large_file_is_read_after_unlink, AS_ROOT),
	TRACE(I8_in_a_removed_directory, AS_BOTH),
	TRACE(I10_names_of_open_files_go, AS_BOTH),
	TRACE(I11_the_number_follows_the_file, AS_BOTH),
	TRACE(I13_link_count_of_a_parent, AS_BOTH),
	TRACE(I14_link_count_of_directories, AS_BOTH),
	TRACE(I16_a_replaced_file, AS_BOTH),
	TRACE(I17_hard_links, AS_BOTH),
	TRACE(I17_hard_links_of_symbolic_links, AS_ROOT),
	TRACE(I17_times_of_hard_links, AS_BOTH),
	TRACE(I19_unlinked_names_are_not_listed, AS_BOTH),
	TRACE(the_wrong_call_for_it, AS_BOTH),
};

int main(int argc, char **argv)
{
	return run_traces(argc, argv, cases);
}
