/* SPDX-License-Identifier: MIT */
/*
 * Rename, as on the kernel's tmpfs.  The first word of a case is its row of the
 * list of pitfalls.
 */
#include "trace.h"

static void J1_into_its_own_subtree(struct trace *t)
{
	t_mkdir(t, "d", 0755);
	t_mkdir(t, "d/a", 0755);
	t_mkdir(t, "d/a/b", 0755);
	t_file(t, "d/a/f", 0644, "hello");
	is(t, -EINVAL, t_rename(t, "d", "d/x"));
	is(t, -EINVAL, t_rename(t, "d", "d/a"));
	is(t, -EINVAL, t_rename(t, "d", "d/a/b/x"));
	is(t, -EINVAL, t_rename(t, "d", "d/a/f"));
	is(t, -EINVAL, t_rename(t, "d/", "d/x/"));
	is(t, -EINVAL, t_rename(t, "d/a/../a", "d/a/b/x"));
	is(t, -EINVAL, t_rename2(t, "d", "d/a", BERTH_RENAME_EXCHANGE));
	is(t, -EINVAL, t_rename2(t, "d/a", "d", BERTH_RENAME_EXCHANGE));
	is(t, -EINVAL, t_rename2(t, "d", "d/x", BERTH_RENAME_NOREPLACE));
	t_rename2(t, "d", "d/a", BERTH_RENAME_NOREPLACE);
	t_symlink(t, "d/a", "link");
	is(t, -EINVAL, t_rename(t, "d", "link/x"));
	is(t, 0, t_rename(t, "d", "d"));
	is(t, 0, t_rename(t, "d", "d/"));
	is(t, 0, t_rename2(t, "d", "d", BERTH_RENAME_EXCHANGE));
	t_tree(t);
}

static void J2_two_names_of_one_file(struct trace *t)
{
	t_file(t, "a", 0644, "hello");
	t_link(t, "a", "b");
	t_mark(t, "a");
	t_mark(t, ".");
	is(t, 0, t_rename(t, "a", "b"));
	is(t, 0, t_rename(t, "a", "a"));
	is(t, 0, t_moved(t, "a"));
	is(t, 0, t_moved(t, "."));
	is(t, true, t_same_file(t, "a", "b"));
	is(t, -EEXIST, t_rename2(t, "a", "b", BERTH_RENAME_NOREPLACE));
	t_rename2(t, "a", "b", BERTH_RENAME_EXCHANGE);
	t_moved(t, "a");
	t_moved(t, ".");
	t_tree(t);
}

static void J4_file_onto_directory(struct trace *t)
{
	t_file(t, "f", 0644, "hello");
	t_mkdir(t, "empty", 0755);
	t_mkdir(t, "full", 0755);
	t_file(t, "full/g", 0644, "");
	t_symlink(t, "empty", "link");
	is(t, -EISDIR, t_rename(t, "f", "empty"));
	is(t, -EISDIR, t_rename(t, "f", "full"));
	is(t, -EISDIR, t_rename(t, "link", "empty"));
	is(t, -ENOTDIR, t_rename(t, "empty", "f"));
	is(t, -ENOTDIR, t_rename(t, "full", "link"));
	is(t, -ENOTEMPTY, t_rename(t, "empty", "full"));
	is(t, -EEXIST, t_rename2(t, "f", "empty", BERTH_RENAME_NOREPLACE));
	is(t, -EEXIST, t_rename2(t, "empty", "f", BERTH_RENAME_NOREPLACE));
	t_tree(t);
	is(t, 0, t_rename(t, "full", "empty"));
	/* A link is replaced itself, and so is what it is renamed to. */
	is(t, 0, t_rename(t, "f", "link"));
	t_tree(t);
}

static void J4_exchange_of_different_types(struct trace *t)
{
	t_file(t, "f", 0644, "hello");
	t_mkdir(t, "d", 0755);
	t_file(t, "d/g", 0644, "in d");
	t_mkdir(t, "e", 0755);
	t_symlink(t, "f", "link");
	t_mark(t, "f");
	t_mark(t, "d");
	t_mark(t, "d/g");
	is(t, 0, t_rename2(t, "f", "d", BERTH_RENAME_EXCHANGE));
	is(t, 0, t_rename2(t, "d", "f", BERTH_RENAME_EXCHANGE));
	is(t, CTIME, t_moved(t, "f"));
	is(t, CTIME, t_moved(t, "d"));
	is(t, 0, t_moved(t, "d/g"));
	is(t, 0, t_rename2(t, "f", "d", BERTH_RENAME_EXCHANGE));
	t_cat(t, "d");
	is_text(t, "hello");
	t_cat(t, "f/g");
	is_text(t, "in d");
	is(t, 0, t_rename2(t, "d", "f", BERTH_RENAME_EXCHANGE));
	is(t, 0, t_rename2(t, "d/g", "e", BERTH_RENAME_EXCHANGE));
	is(t, 0, t_rename2(t, "link", "d/g", BERTH_RENAME_EXCHANGE));
	is(t, -ENOENT, t_rename2(t, "f", "missing", BERTH_RENAME_EXCHANGE));
	is(t, -ENOENT, t_rename2(t, "missing", "f", BERTH_RENAME_EXCHANGE));
	t_tree(t);
}

static void J5_children_go_with_the_directory(struct trace *t)
{
	int fd;

	t_mkdir(t, "old", 0755);
	t_mkdir(t, "old/sub", 0755);
	t_file(t, "old/sub/f", 0644, "hello");
	fd = t_open(t, "old/sub/f", O_RDONLY, 0);
	is(t, 0, t_stat(t, "old/sub/f"));
	is(t, 0, t_rename(t, "old", "new"));
	is(t, -ENOENT, t_stat(t, "old/sub/f"));
	is(t, -ENOENT, t_stat(t, "old"));
	is(t, 0, t_stat(t, "new/sub/f"));
	t_mkdir(t, "old", 0700);
	is(t, -ENOENT, t_stat(t, "old/sub"));
	t_mkdir(t, "old/sub", 0700);
	t_file(t, "old/sub/f", 0600, "other");
	t_cat(t, "new/sub/f");
	is_text(t, "hello");
	t_cat(t, "old/sub/f");
	is_text(t, "other");
	t_read(t, fd, 9);
	is_text(t, "hello");
}

static void J7_across_directories(struct trace *t)
{
	int from, to;

	t_mkdir(t, "a", 0755);
	t_mkdir(t, "b", 0755);
	t_mkdir(t, "b/c", 0755);
	t_file(t, "a/f", 0644, "hello");
	is(t, 0, t_rename(t, "a/f", "b/c/g"));
	is(t, 0, t_rename(t, "b/c/g", "/h"));
	is(t, 0, t_rename(t, "/h", "b/../a/i"));
	is(t, 0, t_rename(t, "b/c", "a/c"));
	is(t, 0, t_chdir(t, "a/c"));
	is(t, 3 + 2, t_call(t, .kind = OP_GETCWD, .size = 99));
	is(t, 0, t_stat(t, "../i"));
	from = t_open(t, "/a", O_RDONLY, 0);
	to = t_open(t, "/b", O_PATH, 0);
	is(t, 0,
	   t_call(t, .kind = OP_RENAME, .fd = from, .path = "i", .fd2 = to,
		  .path2 = "j"));
	is(t, -EBADF,
	   t_call(t, .kind = OP_RENAME, .fd = 77, .path = "i", .fd2 = to,
		  .path2 = "j"));
	t_tree(t);
}

static void J8_missing_names(struct trace *t)
{
	t_file(t, "f", 0644, "");
	t_mkdir(t, "d", 0755);
	is(t, -ENOENT, t_rename(t, "missing", "x"));
	is(t, -ENOENT, t_rename(t, "missing", "f"));
	is(t, -ENOENT, t_rename(t, "missing", "d"));
	is(t, -ENOENT, t_rename(t, "missing", "missing"));
	is(t, -ENOENT, t_rename(t, "missing/x", "f"));
	is(t, -ENOENT, t_rename(t, "f", "missing/x"));
	is(t, -ENOENT, t_rename(t, "", "x"));
	is(t, -ENOENT, t_rename(t, "f", ""));
	is(t, -ENOTDIR, t_rename(t, "f/x", "y"));
	is(t, -ENOTDIR, t_rename(t, "d", "f/x"));
	is(t, -ENOENT, t_rename2(t, "missing", "f", BERTH_RENAME_NOREPLACE));
	t_rename(t, "missing/", "x");
	t_rename(t, "missing", "x/");
	t_rename(t, "missing", "/");
	t_rename(t, "missing", ".");
	t_tree(t);
}

static void J10_every_name_is_still_found(struct trace *t)
{
	char from[8], to[8];
	int i;

	t_mkdir(t, "d", 0755);
	for (i = 0; i < 40; i++) {
		snprintf(from, sizeof(from), "d/%d", i);
		t_file(t, from, 0644, "");
	}
	for (i = 0; i < 40; i += 3) {
		snprintf(from, sizeof(from), "d/%d", i);
		snprintf(to, sizeof(to), "d/%c%d", i % 2 ? '!' : '~', i);
		is(t, 0, t_rename(t, from, to));
		is(t, 0, t_stat(t, to));
		is(t, -ENOENT, t_stat(t, from));
	}
	t_list(t, "d");
}

static void J11_writes_by_a_number_from_before(struct trace *t)
{
	int fd = t_open(t, "a", O_CREAT | O_RDWR, 0644);
	int replaced;

	t_file(t, "b", 0644, "old");
	replaced = t_open(t, "b", O_RDWR, 0);
	t_write(t, fd, "one ");
	is(t, 0, t_rename(t, "a", "b"));
	is(t, 4, t_write(t, fd, "two "));
	is(t, 5, t_write(t, replaced, "nobod"));
	t_cat(t, "b");
	is_text(t, "one two ");
	t_pread(t, replaced, 9, 0);
	is_text(t, "nobod");
}

static void J13_attributes_stay(struct trace *t)
{
	t_file(t, "f", 0640, "hello");
	t_chmod(t, "f", 04751);
	t_mark(t, "f");
	t_rename(t, "f", "g");
	is(t, 0, t_rename(t, "g", "f"));
	is(t, CTIME, t_moved(t, "f"));
	t_lstat(t, "f");
	is(t, S_IFREG | 04751, t->out.st.mode);
}

static void J14_target_is_an_ancestor(struct trace *t)
{
	t_mkdir(t, "a", 0755);
	t_mkdir(t, "a/b", 0755);
	t_mkdir(t, "a/b/c", 0755);
	t_file(t, "a/b/f", 0644, "");
	is(t, -ENOTEMPTY, t_rename(t, "a/b/c", "a"));
	is(t, -ENOTEMPTY, t_rename(t, "a/b/c", "a/b"));
	is(t, -ENOTEMPTY, t_rename(t, "a/b/f", "a"));
	is(t, -ENOTEMPTY, t_rename(t, "a/b/f", "a/b"));
	is(t, -EEXIST, t_rename2(t, "a/b/f", "a", BERTH_RENAME_NOREPLACE));
	is(t, -EINVAL, t_rename2(t, "a/b/f", "a", BERTH_RENAME_EXCHANGE));
	is(t, -ENOENT, t_rename(t, "a/b/missing", "a"));
	t_tree(t);
}

static void J16_slash_behind_a_file(struct trace *t)
{
	t_file(t, "f", 0644, "");
	t_symlink(t, "f", "link");
	is(t, -ENOTDIR, t_rename(t, "f/", "g"));
	is(t, -ENOTDIR, t_rename(t, "f/", "g/"));
	t_rename(t, "link/", "g");
	t_rename(t, "f", "link/");
	is(t, -EEXIST, t_rename2(t, "f/", "link", BERTH_RENAME_NOREPLACE));
	t_rename2(t, "f/", "link", BERTH_RENAME_EXCHANGE);
	t_rename2(t, "f", "link/", BERTH_RENAME_EXCHANGE);
	t_tree(t);
}

static void J17_slash_behind_the_new_name(struct trace *t)
{
	t_file(t, "f", 0644, "");
	t_mkdir(t, "d", 0755);
	t_symlink(t, "d", "todir");
	t_symlink(t, "nowhere", "dangling");
	is(t, 0, t_rename(t, "d", "new/"));
	is(t, 0, t_rename(t, "new/", "d/"));
	is(t, 0, t_rename(t, "d///", "new///"));
	is(t, -ENOTDIR, t_rename(t, "f", "new2/"));
	t_rename(t, "f", "new/");
	t_rename(t, "f", "f/");
	t_rename(t, "new", "todir/");
	t_rename(t, "new", "dangling/");
	t_rename(t, "todir/", "x");
	t_tree(t);
}

static void J19_sticky_directories(struct trace *t)
{
	t_mkdir(t, "s", 0755);
	t_chmod(t, "s", 01777);
	t_mkdir(t, "plain", 0755);
	t_chmod(t, "plain", 0777);
	t_file(t, "s/roots", 0644, "root's");
	t_cred(t, OTHER);
	t_file(t, "s/others", 0644, "other's");
	t_mkdir(t, "s/otherdir", 0755);
	t_cred(t, USER);
	t_file(t, "s/mine", 0644, "mine");
	t_file(t, "plain/mine", 0644, "mine");
	/* The source's end. */
	is(t, -EPERM, t_rename(t, "s/roots", "s/x"));
	is(t, -EPERM, t_rename(t, "s/others", "plain/x"));
	is(t, -EPERM, t_unlink(t, "s/others"));
	is(t, -EPERM, t_rmdir(t, "s/otherdir"));
	/* The replaced entry's. */
	is(t, -EPERM, t_rename(t, "s/mine", "s/others"));
	is(t, -EPERM, t_rename(t, "plain/mine", "s/roots"));
	is(t, -EPERM,
	   t_rename2(t, "s/mine", "s/others", BERTH_RENAME_EXCHANGE));
	is(t, -EPERM,
	   t_rename2(t, "s/others", "plain/mine", BERTH_RENAME_EXCHANGE));
	is(t, 0, t_rename(t, "plain/mine", "s/mine"));
	is(t, 0, t_rename(t, "s/mine", "plain/back"));
	t_tree(t);
	/* The directory's owner may, and so may root. */
	t_cred(t, 0);
	t_chown(t, "s", USER, 0);
	t_cred(t, USER);
	is(t, 0, t_rename(t, "s/others", "s/roots"));
	t_cred(t, 0);
	is(t, 0, t_unlink(t, "s/roots"));
	t_tree(t);
}

static void J20_the_working_directory_is_renamed(struct trace *t)
{
	t_mkdir(t, "a", 0755);
	t_mkdir(t, "a/b", 0755);
	t_chdir(t, "a/b");
	is(t, 0, t_rename(t, "/a", "/longer"));
	is(t, 10, t_call(t, .kind = OP_GETCWD, .size = 99));
	is(t, -ERANGE, t_call(t, .kind = OP_GETCWD, .size = 9));
	is(t, 10, t_call(t, .kind = OP_GETCWD, .size = 10));
	is(t, 0, t_rename(t, "/longer/b", "/c"));
	is(t, 3, t_call(t, .kind = OP_GETCWD, .size = 99));
	t_list(t, "..");
}

static void J22_one_target_many_sources(struct trace *t)
{
	char name[8];
	int i;

	t_file(t, "target", 0644, "first");
	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		t_file(t, name, 0644, name);
		is(t, 0, t_rename(t, name, "target"));
	}
	t_cat(t, "target");
	is_text(t, "s9");
	t_tree(t);
}

static void J23_permissions_of_both_directories(struct trace *t)
{
	t_mkdir(t, "ro", 0755);
	t_file(t, "ro/f", 0666, "");
	t_mkdir(t, "ro/d", 0777);
	t_mkdir(t, "rw", 0755);
	t_chmod(t, "rw", 0777);
	t_cred(t, USER);
	t_file(t, "rw/g", 0644, "");
	t_mkdir(t, "rw/mine", 0755);
	is(t, -EACCES, t_rename(t, "ro/f", "rw/f"));
	is(t, -EACCES, t_rename(t, "rw/g", "ro/g"));
	is(t, -EACCES, t_rename(t, "rw/g", "ro/f"));
	is(t, -EACCES, t_rename(t, "ro/d", "rw/d"));
	is(t, -EACCES, t_link(t, "rw/g", "ro/g"));
	is(t, -ENOENT, t_rename(t, "ro/missing", "rw/x"));
	is(t, -EACCES, t_rename2(t, "ro/f", "rw/g", BERTH_RENAME_EXCHANGE));
	is(t, 0, t_rename(t, "ro/f", "ro/f"));
	/* Whose ".." changes must be writable itself. */
	t_mkdir(t, "rw/other", 0755);
	t_chmod(t, "rw/mine", 0555);
	is(t, -EACCES, t_rename(t, "rw/mine", "rw/other/x"));
	is(t, 0, t_rename(t, "rw/mine", "rw/yours"));
	t_tree(t);
}

static void J23_into_a_removed_directory(struct trace *t)
{
	int fd;

	t_mkdir(t, "ro", 0755);
	t_file(t, "ro/f", 0666, "");
	t_mkdir(t, "gone", 0755);
	fd = t_open(t, "gone", O_RDONLY, 0);
	t_rmdir(t, "gone");
	t_cred(t, USER);
	/* That it is gone comes before whether we may. */
	is(t, -ENOENT,
	   t_call(t, .kind = OP_RENAME, .fd = AT_FDCWD, .path = "ro/f",
		  .fd2 = fd, .path2 = "x"));
	is(t, -ENOENT,
	   t_call(t, .kind = OP_LINK, .fd = AT_FDCWD, .path = "ro/f", .fd2 = fd,
		  .path2 = "x"));
	is(t, -ENOENT, t_call(t, .kind = OP_MKDIR, .fd = fd, .path = "x"));
	is(t, -ENOENT, t_call(t, .kind = OP_UNLINK, .fd = fd, .path = "x"));
	is(t, -ENOENT,
	   t_call(t, .kind = OP_RENAME, .fd = fd, .path = "x", .fd2 = AT_FDCWD,
		  .path2 = "ro/f"));
}

static void J25_odd_operands(struct trace *t)
{
	t_file(t, "f", 0644, "");
	t_mkdir(t, "d", 0755);
	is(t, -EBUSY, t_rename(t, ".", "x"));
	is(t, -EBUSY, t_rename(t, "d", "."));
	is(t, -EBUSY, t_rename(t, "d/.", "x"));
	is(t, -EBUSY, t_rename(t, "d/..", "x"));
	is(t, -EBUSY, t_rename(t, "..", "x"));
	is(t, -EBUSY, t_rename(t, "/", "x"));
	is(t, -EBUSY, t_rename(t, "d", "/"));
	is(t, -EBUSY, t_rename(t, "/", "/"));
	is(t, -EBUSY, t_rename(t, "f", "d/."));
	t_rename2(t, "f", ".", BERTH_RENAME_NOREPLACE);
	t_rename2(t, ".", "f", BERTH_RENAME_EXCHANGE);
	t_rename2(t, "f", "d/..", BERTH_RENAME_EXCHANGE);
	t_tree(t);
}

static void J28_times(struct trace *t)
{
	t_mkdir(t, "a", 0755);
	t_mkdir(t, "b", 0755);
	t_mkdir(t, "a/d", 0755);
	t_file(t, "a/f", 0644, "");
	t_mark(t, "a");
	t_mark(t, "b");
	t_mark(t, "a/f");
	t_mark(t, "a/d");
	t_mark(t, "/");
	is(t, 0, t_rename(t, "a/f", "b/f"));
	is(t, 0, t_rename(t, "a/d", "b/d"));
	is(t, MTIME | CTIME, t_moved(t, "a"));
	is(t, MTIME | CTIME, t_moved(t, "b"));
	is(t, 0, t_moved(t, "/"));
	t_rename(t, "b/f", "a/f");
	t_rename(t, "b/d", "a/d");
	is(t, CTIME, t_moved(t, "a/f"));
	is(t, CTIME, t_moved(t, "a/d"));
	/* Failing, it moves nothing. */
	t_mark(t, "a/f");
	t_mark(t, "a");
	t_mark(t, "b");
	is(t, -EISDIR, t_rename(t, "a/f", "a/d"));
	is(t, -EEXIST, t_rename2(t, "a/f", "b", BERTH_RENAME_NOREPLACE));
	is(t, 0, t_moved(t, "a/f"));
	is(t, 0, t_moved(t, "a"));
	is(t, 0, t_moved(t, "b"));
}

static void no_replace(struct trace *t)
{
	t_file(t, "a", 0644, "a");
	t_file(t, "b", 0644, "b");
	t_symlink(t, "missing", "dangling");
	is(t, -EEXIST, t_rename2(t, "a", "b", BERTH_RENAME_NOREPLACE));
	is(t, -EEXIST, t_rename2(t, "a", "a", BERTH_RENAME_NOREPLACE));
	is(t, -EEXIST, t_rename2(t, "a", "dangling", BERTH_RENAME_NOREPLACE));
	is(t, 0, t_rename2(t, "a", "c", BERTH_RENAME_NOREPLACE));
	t_rename2(t, "b", "c/", BERTH_RENAME_NOREPLACE);
	t_rename2(t, "b", "d/", BERTH_RENAME_NOREPLACE);
	t_tree(t);
}

static int64_t leaving_white(struct trace *t, const char *from, const char *to,
			     unsigned int flags)
{
	return t_rename2(t, from, to, BERTH_RENAME_WHITEOUT | flags);
}

static void whiteout(struct trace *t)
{
	t_mkdir(t, "d", 0755);
	t_file(t, "f", 0644, "f");
	t_file(t, "g", 0644, "g");
	is(t, 0, leaving_white(t, "f", "new", 0));
	is(t, 0, t_stat(t, "f"));
	is(t, 0, leaving_white(t, "new", "d/new", 0));
	is(t, 0, leaving_white(t, "d/new", "g", 0));
	is(t, 0, leaving_white(t, "d", "e", 0));
	t_tree(t);
	/* Over itself, and over a name that must not be there. */
	t_link(t, "g", "h");
	is(t, 0, leaving_white(t, "g", "h", 0));
	is(t, -EEXIST, leaving_white(t, "g", "f", BERTH_RENAME_NOREPLACE));
	is(t, 0, leaving_white(t, "g", "i", BERTH_RENAME_NOREPLACE));
	is(t, -EINVAL, leaving_white(t, "h", "i", BERTH_RENAME_EXCHANGE));
	is(t, -EINVAL, t_rename2(t, "h", "i", 8));
	is(t, 0, t_unlink(t, "f"));
	t_tree(t);
}

static void whiteout_takes_a_place(struct trace *t)
{
	t_file(t, "f", 0644, "f");
	t_file(t, "g", 0644, "g");
	is(t, -ENOSPC, leaving_white(t, "f", "h", 0));
	t_tree(t);
	t_unlink(t, "g");
	is(t, 0, leaving_white(t, "f", "h", 0));
	t_tree(t);
}

static void whiteout_of_anybody(struct trace *t)
{
	t_mkdir(t, "d", 0777);
	t_chown(t, "d", 0, OTHER);
	t_chmod(t, "d", 02777);
	t_cred(t, USER);
	t_file(t, "d/f", 0644, "f");
	is(t, 0, leaving_white(t, "d/f", "d/g", 0));
	t_tree(t);
}

static const struct CMUnitTest cases[] = {
	TRACE(J1_into_its_own_subtree, AS_BOTH),
	TRACE(J2_two_names_of_one_file, AS_BOTH),
	TRACE(J4_file_onto_directory, AS_BOTH),
	TRACE(J4_exchange_of_different_types, AS_BOTH),
	TRACE(J5_children_go_with_the_directory, AS_BOTH),
	TRACE(J7_across_directories, AS_BOTH),
	TRACE(J8_missing_names, AS_BOTH),
	TRACE(J10_every_name_is_still_found, AS_ROOT),
	TRACE(J11_writes_by_a_number_from_before, AS_BOTH),
	TRACE(J13_attributes_stay, AS_BOTH),
	TRACE(J14_target_is_an_ancestor, AS_BOTH),
	TRACE(J16_slash_behind_a_file, AS_BOTH),
	TRACE(J17_slash_behind_the_new_name, AS_BOTH),
	TRACE(J19_sticky_directories, AS_MANY),
	TRACE(J20_the_working_directory_is_renamed, AS_BOTH),
	TRACE(J22_one_target_many_sources, AS_ROOT),
	TRACE(J23_permissions_of_both_directories, AS_MANY),
	TRACE(J23_into_a_removed_directory, AS_MANY),
	TRACE(J25_odd_operands, AS_BOTH),
	TRACE(J28_times, AS_BOTH),
	TRACE(no_replace, AS_BOTH),
	TRACE(whiteout, AS_BOTH),
	TRACE_LIMITED(whiteout_takes_a_place, AS_ROOT, 1 << 20, 3),
	TRACE(whiteout_of_anybody, AS_MANY),
};

int main(int argc, char **argv)
{
	return run_traces(argc, argv, cases);
}
