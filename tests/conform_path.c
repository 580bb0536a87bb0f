/* SPDX-License-Identifier: MIT */
/*
 * Paths, symbolic links, trailing slashes and "..", as on the kernel's tmpfs.
 * The first word of a case is its row of the list of pitfalls.
 */
#include <stdlib.h>

#include "trace.h"

static int64_t stat_at(struct trace *t, int fd, const char *path,
		       unsigned int flags)
{
	return t_call(t, .kind = OP_STAT, .fd = fd, .path = path,
		      .flags = flags);
}

static void L1_link_to_dot(struct trace *t)
{
	t_symlink(t, ".", "dot");
	t_file(t, "f", 0644, "hello");
	is(t, 0, t_stat(t, "dot"));
	is(t, 0, t_stat(t, "dot/dot/dot/f"));
	is(t, true, t_same_file(t, "dot/f", "f"));
	is(t, true, t_same_file(t, "dot/", "."));
	t_list(t, "dot");
}

/* A chain of @count links in the directory, the last to @target. */
static void chain(struct trace *t, const char *prefix, int count,
		  const char *target)
{
	char from[16], to[16];
	int i;

	mute(t);
	snprintf(to, sizeof(to), "%s", target);
	for (i = 1; i <= count; i++) {
		snprintf(from, sizeof(from), "%s%d", prefix, i);
		t_symlink(t, to, from);
		memcpy(to, from, sizeof(to));
	}
	unmute(t);
}

static void L1_forty_links_and_no_more(struct trace *t)
{
	char path[256] = "";
	int i;

	t_file(t, "f", 0644, "hello");
	t_mkdir(t, "d", 0755);
	t_symlink(t, ".", "d/dot");
	t_file(t, "d/f", 0644, "");
	chain(t, "l", 42, "f");
	chain(t, "m", 41, "missing");
	is(t, 0, t_stat(t, "l40"));
	is(t, -ELOOP, t_stat(t, "l41"));
	is(t, 0, t_lstat(t, "l41"));
	is(t, -ELOOP, t_lstat(t, "l41/"));
	is(t, 0, t_open(t, "l40", O_RDONLY, 0));
	is(t, -ELOOP, t_open(t, "l41", O_RDONLY, 0));
	is(t, -ENOENT, t_open(t, "m40", O_RDONLY, 0));
	is(t, -ELOOP, t_open(t, "m41", O_CREAT | O_RDWR, 0644));
	is(t, 1, t_open(t, "m40", O_CREAT | O_RDWR, 0644));
	/* It is all that are followed in one call that count. */
	for (i = 0; i < 40; i++)
		strcat(path, i ? "/dot" : "d/dot");
	is(t, 0, t_stat(t, path));
	strcat(path, "/f");
	is(t, 0, t_stat(t, path));
	memmove(path + 4, path, strlen(path) + 1);
	memcpy(path, "dot/", 4);
	t_symlink(t, ".", "dot");
	is(t, -ELOOP, t_stat(t, path));
}

static void L2_slash_behind_a_file(struct trace *t)
{
	t_file(t, "f", 0644, "");
	t_symlink(t, "f", "link");
	is(t, -ENOTDIR, t_open(t, "f/", O_RDONLY, 0));
	is(t, -ENOTDIR, t_open(t, "link/", O_RDONLY, 0));
	is(t, -ENOTDIR, t_stat(t, "f/"));
	is(t, -ENOTDIR, t_lstat(t, "f/"));
	is(t, -ENOTDIR, t_lstat(t, "link/"));
	is(t, -ENOTDIR, t_unlink(t, "f/"));
	is(t, -ENOTDIR, t_stat(t, "f/."));
	is(t, -ENOTDIR, t_stat(t, "f/.."));
	is(t, -ENOTDIR, t_stat(t, "f//"));
	is(t, -ENOTDIR, t_access(t, "f/", F_OK));
	is(t, -ENOTDIR, t_chmod(t, "f/", 0600));
	is(t, -ENOTDIR, t_chown(t, "f/", -1u, -1u));
	is(t, -ENOTDIR, t_truncate(t, "f/", 0));
	is(t, -ENOTDIR, t_chdir(t, "f/"));
	is(t, -ENOTDIR, t_chdir(t, "f"));
	is(t, -ENOTDIR, t_readlink(t, "link/"));
	is(t, -ENOTDIR, t_link(t, "f/", "g"));
	t_open(t, "f/", O_RDWR | O_CREAT, 0644);
	t_open(t, "f/", O_RDWR | O_CREAT | O_EXCL, 0644);
	t_rmdir(t, "f/");
	t_mkdir(t, "f/", 0755);
	t_mkdir(t, "link/", 0755);
	t_symlink(t, "x", "f/");
	t_mknod(t, "f/", S_IFREG | 0644);
	t_tree(t);
}

static void L2_slash_behind_a_new_name(struct trace *t)
{
	t_symlink(t, "target", "dangling");
	is(t, -EISDIR, t_open(t, "new/", O_RDWR | O_CREAT, 0644));
	is(t, -EISDIR, t_open(t, "new/", O_RDWR | O_CREAT | O_EXCL, 0644));
	is(t, -ENOENT, t_open(t, "new/", O_RDWR, 0644));
	is(t, -ENOENT, t_mknod(t, "new/", S_IFREG | 0644));
	is(t, -ENOENT, t_symlink(t, "x", "new/"));
	is(t, 0, t_mkdir(t, "new/", 0755));
	is(t, 0, t_mkdir(t, "new/sub///", 0755));
	is(t, -EEXIST, t_mkdir(t, "new/", 0755));
	t_mkdir(t, "dangling", 0755);
	t_mkdir(t, "dangling/", 0755);
	t_mknod(t, "dangling", S_IFREG | 0644);
	t_mknod(t, "dangling/", S_IFREG | 0644);
	t_open(t, "dangling/", O_RDWR | O_CREAT, 0644);
	t_tree(t);
}

static void L4_dot_dot_behind_a_link(struct trace *t)
{
	t_mkdir(t, "a", 0755);
	t_mkdir(t, "a/b", 0755);
	t_file(t, "a/f", 0644, "in a");
	t_file(t, "f", 0644, "in /");
	t_symlink(t, "a/b", "link");
	t_cat(t, "link/../f");
	is_text(t, "in a");
	is(t, true, t_same_file(t, "link/..", "a"));
	is(t, 0, t_mkdir(t, "link/../c", 0755));
	is(t, 0, t_chdir(t, "link"));
	is(t, 5, t_call(t, .kind = OP_GETCWD, .size = 99));
	t_cat(t, "../f");
	is_text(t, "in a");
	t_tree(t);
}

static void L5_dot_dot_of_the_root(struct trace *t)
{
	t_file(t, "f", 0644, "hello");
	is(t, true, t_same_file(t, "/..", "/"));
	is(t, true, t_same_file(t, "/../../f", "f"));
	is(t, true, t_same_file(t, "..", "/"));
	is(t, 0, t_chdir(t, ".."));
	is(t, 2, t_call(t, .kind = OP_GETCWD, .size = 99));
	t_symlink(t, "../../../f", "link");
	t_cat(t, "link");
	is_text(t, "hello");
}

static void L7_the_empty_path(struct trace *t)
{
	t_file(t, "f", 0644, "");
	is(t, -ENOENT, t_open(t, "", O_RDONLY, 0));
	is(t, -ENOENT, t_open(t, "", O_RDWR | O_CREAT, 0644));
	is(t, -ENOENT, t_stat(t, ""));
	is(t, -ENOENT, t_lstat(t, ""));
	is(t, -ENOENT, t_access(t, "", F_OK));
	is(t, -ENOENT, t_chmod(t, "", 0600));
	is(t, -ENOENT, t_chown(t, "", 0, 0));
	is(t, -ENOENT, t_truncate(t, "", 0));
	is(t, -ENOENT, t_chdir(t, ""));
	is(t, -ENOENT, t_mkdir(t, "", 0755));
	is(t, -ENOENT, t_mknod(t, "", S_IFREG | 0644));
	is(t, -ENOENT, t_unlink(t, ""));
	is(t, -ENOENT, t_rmdir(t, ""));
	is(t, -ENOENT, t_link(t, "", "x"));
	is(t, -ENOENT, t_link(t, "f", ""));
	is(t, -ENOENT, t_symlink(t, "x", ""));
	is(t, -ENOENT, t_symlink(t, "", "x"));
	is(t, -ENOENT, t_rename(t, "", "x"));
	is(t, -ENOENT, t_rename(t, "f", ""));
	is(t, -ENOENT, t_readlink(t, ""));
	is(t, -ENOENT,
	   t_call(t, .kind = OP_UTIMENS, .fd = AT_FDCWD, .path = ""));
}

static void L8_the_text_of_a_link(struct trace *t)
{
	t_symlink(t, "../a//b/./c/", "link");
	is(t, 12, t_readlink(t, "link"));
	is_text(t, "../a//b/./c/");
	is(t, 5,
	   t_call(t, .kind = OP_READLINK, .fd = AT_FDCWD, .path = "link",
		  .size = 5));
	is_text(t, "../a/");
	is(t, 12,
	   t_call(t, .kind = OP_READLINK, .fd = AT_FDCWD, .path = "link",
		  .size = 12));
	is(t, -EINVAL,
	   t_call(t, .kind = OP_READLINK, .fd = AT_FDCWD, .path = "link",
		  .size = 0));
	is(t, -EINVAL,
	   t_call(t, .kind = OP_READLINK, .fd = AT_FDCWD, .path = "missing",
		  .size = 0));
	t_lstat(t, "link");
	is(t, 12, (int64_t)t->out.st.size);
	is(t, S_IFLNK | 0777, t->out.st.mode);
}

static void L8_long_texts(struct trace *t)
{
	char *text = malloc(5000);

	memset(text, 'x', 4999);
	text[4999] = '\0';
	is(t, -ENAMETOOLONG, t_symlink(t, text, "link"));
	text[4096] = '\0';
	is(t, -ENAMETOOLONG, t_symlink(t, text, "link"));
	text[4095] = '\0';
	is(t, 0, t_symlink(t, text, "link"));
	is(t, 4095, t_readlink(t, "link"));
	is(t, -ENAMETOOLONG, t_stat(t, "link"));
	text[200] = '\0';
	is(t, 0, t_symlink(t, text, "link2"));
	is(t, -ENOENT, t_stat(t, "link2"));
	t_file(t, text, 0644, "hello");
	t_cat(t, "link2");
	is_text(t, "hello");
	t_tree(t);
	free(text);
}

static void L10_below_a_file(struct trace *t)
{
	t_file(t, "f", 0644, "");
	is(t, -ENOTDIR, t_mkdir(t, "f/d", 0755));
	is(t, -ENOTDIR, t_mkdir(t, "f/d/e", 0755));
	is(t, -ENOTDIR, t_stat(t, "f/d"));
	is(t, -ENOTDIR, t_open(t, "f/d", O_CREAT | O_RDWR, 0644));
	is(t, -ENOTDIR, t_unlink(t, "f/d"));
	is(t, -ENOTDIR, t_rmdir(t, "f/d"));
	is(t, -ENOTDIR, t_symlink(t, "x", "f/d"));
	is(t, -ENOTDIR, t_link(t, "f", "f/d"));
	is(t, -ENOTDIR, t_readlink(t, "f/d"));
	is(t, -ENOENT, t_mkdir(t, "missing/d", 0755));
	t_open(t, "f", O_RDONLY, 0);
	is(t, -ENOTDIR, stat_at(t, 0, "x", 0));
	is(t, -ENOTDIR, stat_at(t, 0, "..", 0));
	is(t, 0, stat_at(t, 0, "/", 0));
	is(t, -EBADF, stat_at(t, 55, "x", 0));
	is(t, 0, stat_at(t, 55, "/f", 0));
	t_list(t, ".");
}

static void L11_existing_names_without_permission(struct trace *t)
{
	t_mkdir(t, "d", 0755);
	t_mkdir(t, "d/e", 0755);
	t_file(t, "d/f", 0644, "");
	t_cred(t, USER);
	is(t, -EEXIST, t_mkdir(t, "d/e", 0755));
	is(t, -EEXIST, t_mkdir(t, "d/f", 0755));
	is(t, -EACCES, t_mkdir(t, "d/new", 0755));
	is(t, -EEXIST, t_symlink(t, "x", "d/f"));
	is(t, -EACCES, t_symlink(t, "x", "d/new"));
	is(t, -EEXIST, t_mknod(t, "d/f", S_IFREG | 0644));
	is(t, -EEXIST, t_mkdir(t, "/", 0755));
	is(t, -EEXIST, t_mkdir(t, ".", 0755));
	is(t, -EEXIST, t_mkdir(t, "d/..", 0755));
	is(t, -ENOENT, t_unlink(t, "d/missing"));
	is(t, -EACCES, t_unlink(t, "d/f"));
	t_rmdir(t, "d/f");
	t_unlink(t, "d/e");
	is(t, -EACCES, t_rmdir(t, "d/e"));
	t_rmdir(t, "d");
}

static void L13_loops(struct trace *t)
{
	t_symlink(t, "self", "self");
	t_symlink(t, "b", "a");
	t_symlink(t, "a", "b");
	t_symlink(t, "/up/up", "up");
	is(t, -ELOOP, t_stat(t, "self"));
	is(t, -ELOOP, t_open(t, "a", O_RDONLY, 0));
	is(t, -ELOOP, t_open(t, "a", O_RDWR | O_CREAT, 0644));
	is(t, -ELOOP, t_stat(t, "a/x"));
	is(t, -ELOOP, t_stat(t, "up"));
	is(t, -ELOOP, t_chmod(t, "self", 0600));
	is(t, -ELOOP, t_truncate(t, "self", 0));
	is(t, -ELOOP, t_chdir(t, "b"));
	is(t, -ELOOP, t_mkdir(t, "self/x", 0755));
	is(t, 0, t_lstat(t, "self"));
	is(t, 4, t_readlink(t, "self"));
	is(t, -EEXIST, t_mkdir(t, "self", 0755));
	is(t, 0, t_rename(t, "self", "self2"));
	is(t, -ENOENT, t_stat(t, "self2"));
	is(t, 0, t_unlink(t, "a"));
	t_list(t, ".");
}

static void L14_where_a_relative_link_starts(struct trace *t)
{
	t_mkdir(t, "d", 0755);
	t_mkdir(t, "d/e", 0755);
	t_file(t, "f", 0644, "in /");
	t_file(t, "d/f", 0644, "in d");
	t_symlink(t, "f", "d/link");
	t_symlink(t, "../f", "d/up");
	t_symlink(t, "../link", "d/e/far");
	t_symlink(t, "/d/f", "d/e/absolute");
	t_cat(t, "d/link");
	is_text(t, "in d");
	t_cat(t, "d/up");
	is_text(t, "in /");
	t_cat(t, "d/e/far");
	is_text(t, "in d");
	t_chdir(t, "d/e");
	t_cat(t, "../link");
	is_text(t, "in d");
	t_cat(t, "far");
	is_text(t, "in d");
	t_cat(t, "absolute");
	is_text(t, "in d");
	/* A moved link starts from where it is. */
	is(t, 0, t_rename(t, "/d/link", "/link"));
	t_cat(t, "/link");
	is_text(t, "in /");
}

static void L16_errors_of_readlink(struct trace *t)
{
	t_file(t, "f", 0644, "");
	t_mkdir(t, "d", 0755);
	t_symlink(t, "d", "link");
	is(t, -EINVAL, t_readlink(t, "f"));
	is(t, -EINVAL, t_readlink(t, "d"));
	is(t, -EINVAL, t_readlink(t, "/"));
	is(t, -EINVAL, t_readlink(t, "link/"));
	is(t, -ENOENT, t_readlink(t, "missing"));
	is(t, -ENOTDIR, t_readlink(t, "f/x"));
	t_open(t, "f", O_RDONLY, 0);
	t_call(t, .kind = OP_READLINK, .fd = 0, .path = "", .size = 9);
}

static void L19_no_follow_of_stat(struct trace *t)
{
	t_file(t, "f", 0640, "hello");
	t_mkdir(t, "d", 0750);
	t_symlink(t, "f", "tofile");
	t_symlink(t, "d", "todir");
	t_symlink(t, "missing", "dangling");
	is(t, 0, t_lstat(t, "tofile"));
	is(t, S_IFLNK | 0777, t->out.st.mode);
	is(t, 0, t_stat(t, "tofile"));
	is(t, S_IFREG | 0640, t->out.st.mode);
	is(t, 0, t_lstat(t, "todir/"));
	is(t, S_IFDIR | 0750, t->out.st.mode);
	is(t, 0, t_lstat(t, "dangling"));
	is(t, -ENOENT, t_stat(t, "dangling"));
	is(t, -ENOENT, t_lstat(t, "dangling/"));
	/* The other calls that may stop at a link. */
	t_call(t, .kind = OP_CHMOD, .fd = AT_FDCWD, .path = "tofile", .mode = 0,
	       .flags = BERTH_AT_SYMLINK_NOFOLLOW);
	t_call(t, .kind = OP_CHMOD, .fd = AT_FDCWD, .path = "f", .mode = 0600,
	       .flags = BERTH_AT_SYMLINK_NOFOLLOW);
	is(t, 0,
	   t_call(t, .kind = OP_CHOWN, .fd = AT_FDCWD, .path = "dangling",
		  .uid = -1u, .gid = -1u, .flags = BERTH_AT_SYMLINK_NOFOLLOW));
	is(t, 0,
	   t_call(t, .kind = OP_UTIMENS, .fd = AT_FDCWD, .path = "dangling",
		  .times = (struct timespec[]){ { 1, 2 }, { 3, 4 } },
		  .flags = BERTH_AT_SYMLINK_NOFOLLOW));
	is(t, 0,
	   t_call(t, .kind = OP_ACCESS, .fd = AT_FDCWD, .path = "dangling",
		  .cmd = F_OK, .flags = BERTH_AT_SYMLINK_NOFOLLOW));
	is(t, 0, t_chmod(t, "tofile", 0644));
	t_tree(t);
}

static void L22_open_through_links(struct trace *t)
{
	int fd;

	t_mkdir(t, "d", 0755);
	t_file(t, "d/f", 0644, "hello");
	t_symlink(t, "d", "a");
	t_symlink(t, "a/f", "b");
	t_symlink(t, "/b", "c");
	fd = t_open(t, "c", O_RDWR, 0);
	t_read(t, fd, 9);
	is_text(t, "hello");
	is(t, 0, t_truncate(t, "c", 2));
	is(t, 0, t_chmod(t, "c", 0600));
	t_tree(t);
}

static void L23_dot_as_the_last_component(struct trace *t)
{
	t_mkdir(t, "d", 0755);
	t_mkdir(t, "d/e", 0755);
	is(t, -EINVAL, t_rmdir(t, "d/e/."));
	is(t, -EINVAL, t_rmdir(t, "."));
	is(t, -EINVAL, t_rmdir(t, "d/e/./"));
	is(t, -ENOTEMPTY, t_rmdir(t, "d/e/.."));
	is(t, -ENOTEMPTY, t_rmdir(t, ".."));
	is(t, -ENOTEMPTY, t_rmdir(t, "d/e/../"));
	is(t, -EBUSY, t_rmdir(t, "/"));
	is(t, -EBUSY, t_rmdir(t, "///"));
	is(t, -ENOENT, t_rmdir(t, "d/missing/."));
	is(t, -EEXIST, t_mkdir(t, "d/.", 0755));
	is(t, -EEXIST, t_mkdir(t, "d/..", 0755));
	is(t, -ENOENT, t_mkdir(t, "new/.", 0755));
	is(t, 0, t_stat(t, "d/e/."));
	is(t, 0, t_stat(t, "./d/./e/./"));
	is(t, 0, t_rmdir(t, "d/./e//"));
	t_tree(t);
}

static void L28_the_empty_path_of_a_number(struct trace *t)
{
	struct timespec times[2] = { { 5, 6 }, { 7, 8 } };
	int fd;

	t_file(t, "f", 0644, "hello");
	fd = t_open(t, "f", O_PATH, 0);
	is(t, 0,
	   t_call(t, .kind = OP_CHMOD, .fd = fd, .path = "", .mode = 0600,
		  .flags = BERTH_AT_EMPTY_PATH));
	is(t, 0,
	   t_call(t, .kind = OP_CHOWN, .fd = fd, .path = "", .uid = 7, .gid = 8,
		  .flags = BERTH_AT_EMPTY_PATH));
	is(t, 0,
	   t_call(t, .kind = OP_UTIMENS, .fd = fd, .path = "", .times = times,
		  .flags = BERTH_AT_EMPTY_PATH));
	is(t, 0,
	   t_call(t, .kind = OP_ACCESS, .fd = fd, .path = "", .cmd = R_OK,
		  .flags = BERTH_AT_EMPTY_PATH));
	is(t, 0,
	   t_call(t, .kind = OP_LINK, .fd = fd, .path = "", .fd2 = AT_FDCWD,
		  .path2 = "g", .flags = BERTH_AT_EMPTY_PATH));
	is(t, -ENOENT,
	   t_call(t, .kind = OP_CHMOD, .fd = fd, .path = "", .mode = 0));
	is(t, -ENOENT,
	   t_call(t, .kind = OP_LINK, .fd = fd, .path = "", .fd2 = AT_FDCWD,
		  .path2 = "h"));
	is(t, -EBADF,
	   t_call(t, .kind = OP_CHOWN, .fd = 44, .path = "", .uid = 7, .gid = 8,
		  .flags = BERTH_AT_EMPTY_PATH));
	t_tree(t);
}

static void L29_stat_of_the_empty_path(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "hello");
	t_symlink(t, "f", "link");
	fd = t_open(t, "f", O_RDONLY, 0);
	is(t, 0, stat_at(t, fd, "", BERTH_AT_EMPTY_PATH));
	is(t, S_IFREG | 0644, t->out.st.mode);
	is(t, -ENOENT, stat_at(t, fd, "", 0));
	is(t, -EBADF, stat_at(t, 44, "", BERTH_AT_EMPTY_PATH));
	is(t, 0, stat_at(t, AT_FDCWD, "", BERTH_AT_EMPTY_PATH));
	is(t, S_IFDIR | 0777, t->out.st.mode);
	fd = t_open(t, "link", O_PATH | O_NOFOLLOW, 0);
	is(t, 0, stat_at(t, fd, "", BERTH_AT_EMPTY_PATH));
	is(t, S_IFLNK | 0777, t->out.st.mode);
	/* A path that is not empty is used as ever. */
	is(t, 0, stat_at(t, AT_FDCWD, "f", BERTH_AT_EMPTY_PATH));
	is(t, -ENOTDIR, stat_at(t, 0, "f", BERTH_AT_EMPTY_PATH));
}

static void L29_stat_where_search_is_not_allowed(struct trace *t)
{
	t_mkdir(t, "d", 0700);
	t_chdir(t, "d");
	t_cred(t, USER);
	is(t, -EACCES, stat_at(t, AT_FDCWD, ".", 0));
	is(t, 0, stat_at(t, AT_FDCWD, "", BERTH_AT_EMPTY_PATH));
	is(t, -EACCES, stat_at(t, AT_FDCWD, "x", BERTH_AT_EMPTY_PATH));
}

static void L31_nothing_stale(struct trace *t)
{
	/* Names looked up in vain, then made; found, then gone. */
	is(t, -ENOENT, t_stat(t, "a"));
	t_file(t, "a", 0644, "1");
	is(t, 0, t_stat(t, "a"));
	is(t, 0, t_unlink(t, "a"));
	is(t, -ENOENT, t_stat(t, "a"));
	is(t, -ENOENT, t_stat(t, "b/f"));
	t_mkdir(t, "b", 0755);
	t_file(t, "b/f", 0644, "2");
	is(t, 0, t_stat(t, "b/f"));
	is(t, 0, t_rename(t, "b", "c"));
	is(t, -ENOENT, t_stat(t, "b/f"));
	t_cat(t, "c/f");
	is_text(t, "2");
	t_symlink(t, "c", "b");
	t_cat(t, "b/f");
	is_text(t, "2");
	is(t, 0, t_unlink(t, "b"));
	t_file(t, "b", 0644, "3");
	is(t, -ENOTDIR, t_stat(t, "b/f"));
}

static void L32_search_permission(struct trace *t)
{
	int fd;

	t_umask(t, 0);
	t_mkdir(t, "d", 0755);
	t_mkdir(t, "d/closed", 0755);
	t_mkdir(t, "d/closed/in", 0777);
	t_file(t, "d/closed/in/f", 0666, "hello");
	t_symlink(t, "closed/in/f", "d/link");
	t_symlink(t, "closed/in", "d/dirlink");
	t_open(t, "d/closed/in", O_RDONLY, 0);
	t_chmod(t, "d/closed", 0666);
	t_cred(t, USER);
	is(t, -EACCES, t_stat(t, "d/closed/in"));
	is(t, 0, t_stat(t, "d/closed"));
	is(t, -EACCES, t_stat(t, "d/closed/."));
	is(t, -EACCES, t_stat(t, "d/closed/.."));
	is(t, 0, t_stat(t, "d/closed/"));
	is(t, -EACCES, t_stat(t, "d/closed/missing"));
	is(t, -EACCES, t_open(t, "d/link", O_RDONLY, 0));
	is(t, 0, t_lstat(t, "d/link"));
	is(t, -EACCES, t_stat(t, "d/dirlink/f"));
	is(t, -EACCES, t_lstat(t, "d/dirlink/"));
	is(t, -EACCES, t_chdir(t, "d/closed"));
	is(t, -EACCES, t_unlink(t, "d/closed/in/f"));
	is(t, 1, t_open(t, "d/closed", O_RDONLY, 0));
	is(t, -EACCES, t_call(t, .kind = OP_FCHDIR, .fd = 1));
	is(t, -EACCES, stat_at(t, 1, "in", 0));
	t_list(t, "d/closed");
	/* Who is inside already needs no way there. */
	is(t, 0, stat_at(t, 0, "f", 0));
	fd = (int)t_call(t, .kind = OP_OPEN, .fd = 0, .path = "f",
			 .flags = O_RDWR);
	is(t, 2, fd);
	is(t, 0, t_call(t, .kind = OP_FCHDIR, .fd = 0));
	is(t, 0, t_stat(t, "f"));
	is(t, 0, t_stat(t, ".."));
	is(t, -EACCES, t_stat(t, "../in"));
	is(t, -EACCES, t_stat(t, "../.."));
}

static void long_names_and_paths(struct trace *t)
{
	char *path = malloc(6000);
	int i;

	memset(path, 'n', 300);
	path[256] = '\0';
	is(t, -ENAMETOOLONG, t_mkdir(t, path, 0755));
	is(t, -ENAMETOOLONG, t_stat(t, path));
	is(t, -ENAMETOOLONG, t_unlink(t, path));
	is(t, -ENAMETOOLONG, t_rename(t, path, "x"));
	is(t, -ENAMETOOLONG, t_open(t, path, O_RDWR | O_CREAT, 0644));
	path[255] = '\0';
	is(t, 0, t_mkdir(t, path, 0755));
	is(t, 0, t_rmdir(t, path));
	path[256] = '/';
	path[257] = 'x';
	path[258] = '\0';
	path[255] = 'n';
	is(t, -ENAMETOOLONG, t_stat(t, path));

	/* The longest path has 4095 bytes. */
	for (i = 0; i < 5000; i += 2)
		memcpy(path + i, "./", 2);
	path[4094] = '\0';
	is(t, 0, t_stat(t, path));
	memcpy(path + 4094, "/", 2);
	is(t, 0, t_stat(t, path));
	memcpy(path + 4094, "/.", 3);
	is(t, -ENAMETOOLONG, t_stat(t, path));
	is(t, -ENAMETOOLONG, t_open(t, path, O_RDONLY, 0));
	is(t, -ENAMETOOLONG, t_chdir(t, path));
	free(path);
}

static void deep_directories(struct trace *t)
{
	char name[8];
	int i;

	for (i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "d%d", i % 10);
		mute(t);
		is(t, 0, t_mkdir(t, name, 0755));
		is(t, 0, t_chdir(t, name));
		unmute(t);
	}
	t_call(t, .kind = OP_GETCWD, .size = 4096);
	is(t, -EINVAL, t_rename(t, "/d0", "x"));
	is(t, -EINVAL, t_rename(t, "/d0/d1/d2", "/d0/d1/d2/d3/d4/x"));
	is(t, 0, t_stat(t, "../../../../d6/d7"));
	is(t, 0, t_rename(t, "/d0/d1", "/e"));
	is(t, true, t_call(t, .kind = OP_GETCWD, .size = 4096) > 800);
	for (i = 299; i > 1; i--) {
		snprintf(name, sizeof(name), "../d%d", i % 10);
		mute(t);
		is(t, 0, t_rmdir(t, name));
		is(t, 0, t_chdir(t, ".."));
		unmute(t);
	}
	t_tree(t);
}

static const struct CMUnitTest cases[] = {
	TRACE(L1_link_to_dot, AS_BOTH),
	TRACE(L1_forty_links_and_no_more, AS_ROOT),
	TRACE(L2_slash_behind_a_file, AS_BOTH),
	TRACE(L2_slash_behind_a_new_name, AS_BOTH),
	TRACE(L4_dot_dot_behind_a_link, AS_BOTH),
	TRACE(L5_dot_dot_of_the_root, AS_BOTH),
	TRACE(L7_the_empty_path, AS_BOTH),
	TRACE(L8_the_text_of_a_link, AS_BOTH),
	TRACE(L8_long_texts, AS_ROOT),
	TRACE(L10_below_a_file, AS_BOTH),
	TRACE(L11_existing_names_without_permission, AS_MANY),
	TRACE(L13_loops, AS_BOTH),
	TRACE(L14_where_a_relative_link_starts, AS_BOTH),
	TRACE(L16_errors_of_readlink, AS_BOTH),
	TRACE(L19_no_follow_of_stat, AS_BOTH),
	TRACE(L22_open_through_links, AS_BOTH),
	TRACE(L23_dot_as_the_last_component, AS_BOTH),
	TRACE(L28_the_empty_path_of_a_number, AS_MANY),
	TRACE(L29_stat_of_the_empty_path, AS_BOTH),
	TRACE(L29_stat_where_search_is_not_allowed, AS_MANY),
	TRACE(L31_nothing_stale, AS_BOTH),
	TRACE(L32_search_permission, AS_MANY),
	TRACE(long_names_and_paths, AS_ROOT),
	TRACE(deep_directories, AS_BOTH),
};

int main(int argc, char **argv)
{
	return run_traces(argc, argv, cases);
}
