/* SPDX-License-Identifier: MIT */
/*
 * Permissions, umask, sticky and set-id bits, as on the kernel's tmpfs.  The
 * first word of a case is its row of the list of pitfalls.
 */
#include "trace.h"

#define GROUP 2000

/* The permission bits of a name, -errno if they cannot be told. */
static int64_t mode_of(struct trace *t, const char *path)
{
	int64_t err = t_lstat(t, path);

	return err ? err : t->out.st.mode & 07777;
}

static void M1_default_umask(struct trace *t)
{
	is(t, 022, t_umask(t, 022));
	t_file(t, "f", 0666, "");
	t_mkdir(t, "d", 0777);
	is(t, 0644, mode_of(t, "f"));
	is(t, 0755, mode_of(t, "d"));
}

static void M2_umask_is_applied(struct trace *t)
{
	is(t, 022, t_umask(t, 0127));
	is(t, 0127, t_umask(t, 07777));
	is(t, 0777, t_umask(t, 027));
	t_file(t, "f", 07777, "");
	t_mkdir(t, "d", 07777);
	t_mknod(t, "n", S_IFREG | 07777);
	t_mknod(t, "s", S_IFSOCK | 0777);
	t_mknod(t, "plain", 0777);
	t_symlink(t, "f", "link");
	is(t, 07750, mode_of(t, "f"));
	t_lstat(t, "d");
	is(t, 07750, mode_of(t, "n"));
	is(t, 0777, mode_of(t, "link"));
	/* Not to chmod, and not to what exists. */
	is(t, 0, t_chmod(t, "f", 0777));
	is(t, 0777, mode_of(t, "f"));
	is(t, 0, t_open(t, "f", O_CREAT | O_RDWR, 0600));
	is(t, 0777, mode_of(t, "f"));
	t_tree(t);
}

static void M4_write_and_search_of_directories(struct trace *t)
{
	static const mode_t modes[] = { 0755, 0776, 0775, 0777, 0773, 0774 };
	size_t i;

	t_umask(t, 0);
	t_mkdir(t, "d", 0777);
	t_file(t, "d/f", 0666, "");
	t_file(t, "outside", 0666, "");
	t_chown(t, "outside", USER, USER);
	t_mkdir(t, "d/sub", 0777);
	t_mkdir(t, "w", 0777);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		t_cred(t, 0);
		t_chmod(t, "d", modes[i]);
		t_cred(t, USER);
		t_mkdir(t, "d/new", 0755);
		t_rmdir(t, "d/new");
		t_file(t, "d/new", 0644, "");
		t_link(t, "outside", "d/hard");
		t_unlink(t, "d/hard");
		t_symlink(t, "x", "d/soft");
		t_readlink(t, "d/soft");
		t_unlink(t, "d/soft");
		t_rename(t, "d/f", "w/f");
		t_rename(t, "w/f", "d/f");
		t_rename(t, "d/f", "d/g");
		t_rename(t, "d/g", "d/f");
		t_unlink(t, "d/new");
		t_stat(t, "d/f");
		t_list(t, "d");
		t_access(t, "d", R_OK);
		t_access(t, "d", W_OK);
		t_access(t, "d", X_OK);
		t_access(t, "d", R_OK | W_OK | X_OK);
	}
	is(t, -EACCES, t_mkdir(t, "d/new", 0755));
	t_cred(t, 0);
	t_tree(t);
}

static void M4_which_class_counts(struct trace *t)
{
	static const mode_t modes[] = { 0077, 0707, 0770, 0400, 0040, 0004,
					0100, 0010, 0001, 0200, 0020, 0002 };
	static const uid_t users[] = { USER, OTHER, 1002, 0 };
	size_t i, j;

	t_umask(t, 0);
	t_file(t, "f", 0, "");
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		t_cred(t, 0);
		t_chown(t, "f", USER, OTHER);
		t_chmod(t, "f", modes[i]);
		for (j = 0; j < sizeof(users) / sizeof(users[0]); j++) {
			t_cred(t, users[j]);
			t_access(t, "f", R_OK);
			t_access(t, "f", W_OK);
			t_access(t, "f", X_OK);
			t_close(t, t_open(t, "f", O_RDONLY, 0));
			t_close(t, t_open(t, "f", O_WRONLY, 0));
		}
		/* A further group counts like the first one. */
		t_cred_group(t, 1002, OTHER);
		t_access(t, "f", R_OK);
		t_access(t, "f", W_OK);
		t_close(t, t_open(t, "f", O_RDWR, 0));
	}
}

static void M4_root_and_execution(struct trace *t)
{
	t_file(t, "f", 0, "");
	t_mkdir(t, "d", 0);
	t_file(t, "d/g", 0, "");
	is(t, 0, t_access(t, "f", R_OK | W_OK));
	is(t, -EACCES, t_access(t, "f", X_OK));
	is(t, -EACCES, t_access(t, "f", R_OK | X_OK));
	is(t, 0, t_access(t, "d", R_OK | W_OK | X_OK));
	is(t, 0, t_access(t, "d/g", F_OK));
	t_chmod(t, "f", 0001);
	is(t, 0, t_access(t, "f", X_OK));
	is(t, -ENOENT, t_access(t, "missing", F_OK));
	is(t, -EINVAL, t_access(t, "f", 8));
	is(t, -EINVAL, t_access(t, "missing", -1));
}

static void M5_set_id_bits_are_kept(struct trace *t)
{
	t_file(t, "f", 0755, "hello");
	is(t, 0, t_chmod(t, "f", 06755));
	is(t, 06755, mode_of(t, "f"));
	is(t, 0, t_rename(t, "f", "g"));
	is(t, 0, t_link(t, "g", "h"));
	is(t, 06755, mode_of(t, "g"));
	t_mkdir(t, "d", 0755);
	is(t, 0, t_chmod(t, "d", 07755));
	is(t, 07755, mode_of(t, "d"));
	t_cat(t, "g");
	is(t, 06755, mode_of(t, "g"));
}

/* A file of USER with set-id bits. */
static void set_id_file(struct trace *t, const char *path, mode_t mode)
{
	t_cred(t, 0);
	t_unlink(t, path);
	t_file(t, path, 0644, "hello");
	t_chown(t, path, USER, USER);
	t_chmod(t, path, mode);
}

static void M7_changes_clear_set_id_bits(struct trace *t)
{
	static const mode_t modes[] = { 06777, 06766, 02767, 04777, 06666 };
	static const uid_t users[] = { USER, OTHER, 0 };
	size_t i, j;

	t_umask(t, 0);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		for (j = 0; j < sizeof(users) / sizeof(users[0]); j++) {
			int fd;

			set_id_file(t, "f", modes[i]);
			t_cred(t, users[j]);
			t_truncate(t, "f", 3);
			mode_of(t, "f");

			set_id_file(t, "f", modes[i]);
			t_cred(t, users[j]);
			fd = t_open(t, "f", O_WRONLY, 0);
			t_write(t, fd, "");
			mode_of(t, "f");
			t_write(t, fd, "x");
			mode_of(t, "f");
			t_close(t, fd);

			set_id_file(t, "f", modes[i]);
			t_cred(t, users[j]);
			t_close(t, t_open(t, "f", O_WRONLY | O_TRUNC, 0));
			mode_of(t, "f");
		}
	set_id_file(t, "f", 06777);
	t_cred(t, USER);
	is(t, 0, t_truncate(t, "f", 1));
	is(t, 0777, mode_of(t, "f"));
	set_id_file(t, "f", 06777);
	is(t, 0, t_truncate(t, "f", 1));
	is(t, 06777, mode_of(t, "f"));
}

static void M7_truncation_to_the_same_size(struct trace *t)
{
	set_id_file(t, "f", 06777);
	t_cred(t, USER);
	is(t, 0, t_truncate(t, "f", 5));
	is(t, 0777, mode_of(t, "f"));
	/* Nor does an empty file keep them. */
	t_truncate(t, "f", 0);
	t_chmod(t, "f", 06777);
	is(t, 0, t_truncate(t, "f", 0));
	is(t, 0777, mode_of(t, "f"));
}

static void M7_chmod_by_one_outside_the_group(struct trace *t)
{
	t_file(t, "f", 0755, "");
	t_chown(t, "f", USER, GROUP);
	t_mkdir(t, "d", 0755);
	t_chown(t, "d", USER, GROUP);
	t_cred(t, USER);
	is(t, 0, t_chmod(t, "f", 06755));
	is(t, 04755, mode_of(t, "f"));
	t_chmod(t, "d", 02755);
	mode_of(t, "d");
	t_cred_group(t, USER, GROUP);
	is(t, 0, t_chmod(t, "f", 06755));
	is(t, 06755, mode_of(t, "f"));
}

static void M8_set_group_id_directories(struct trace *t)
{
	t_umask(t, 0);
	t_mkdir(t, "d", 0777);
	t_chown(t, "d", 0, GROUP);
	t_chmod(t, "d", 02777);
	t_cred(t, USER);
	t_file(t, "d/f", 0644, "");
	t_mkdir(t, "d/sub", 0755);
	t_symlink(t, "f", "d/link");
	t_mknod(t, "d/n", S_IFREG | 0644);
	t_lstat(t, "d/f");
	is(t, GROUP, t->out.st.gid);
	t_lstat(t, "d/sub");
	is(t, GROUP, t->out.st.gid);
	is(t, 02755, mode_of(t, "d/sub"));
	t_lstat(t, "d/link");
	is(t, GROUP, t->out.st.gid);
	t_mkdir(t, "d/sub/sub", 0700);
	is(t, 02700, mode_of(t, "d/sub/sub"));
	/* A new file may not be set-group-id for a group we are not in. */
	t_file(t, "d/sgid", 02755, "");
	t_file(t, "d/sgid-noexec", 02745, "");
	t_mknod(t, "d/sgid-node", S_IFREG | 06777);
	t_cred_group(t, USER, GROUP);
	t_file(t, "d/sgid-member", 02755, "");
	t_cred(t, 0);
	t_file(t, "d/sgid-root", 02755, "");
	/* Elsewhere the group is the creator's. */
	t_cred(t, USER);
	t_file(t, "g", 0644, "");
	t_lstat(t, "g");
	is(t, USER, t->out.st.gid);
	/* A rename changes nothing. */
	is(t, 0, t_rename(t, "g", "d/g"));
	t_lstat(t, "d/g");
	is(t, USER, t->out.st.gid);
	t_cred(t, 0);
	t_tree(t);
}

static void M8_set_group_id_and_umask(struct trace *t)
{
	since_kernel(t, 6, 0); /* before, the umask came first */
	t_mkdir(t, "d", 0755);
	t_chown(t, "d", 0, GROUP);
	t_chmod(t, "d", 02777);
	t_cred(t, USER);
	/* Whether the group may execute is asked before the umask. */
	t_umask(t, 077);
	t_file(t, "d/f", 02775, "");
	is(t, 0700, mode_of(t, "d/f"));
	t_mknod(t, "d/n", S_IFREG | 06775);
	is(t, 04700, mode_of(t, "d/n"));
	t_file(t, "d/g", 02765, "");
	mode_of(t, "d/g");
	t_mkdir(t, "d/sub", 0775);
	is(t, 02700, mode_of(t, "d/sub"));
}

static void M8_chown_clears_set_id_bits(struct trace *t)
{
	static const mode_t modes[] = { 06777, 06767, 02755, 04755, 07777 };
	size_t i;

	t_umask(t, 0);
	t_mkdir(t, "d", 0777);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		set_id_file(t, "f", modes[i]);
		t_chown(t, "f", OTHER, -1u);
		mode_of(t, "f");
		set_id_file(t, "f", modes[i]);
		t_chown(t, "f", -1u, OTHER);
		mode_of(t, "f");
		set_id_file(t, "f", modes[i]);
		t_chown(t, "f", -1u, -1u);
		mode_of(t, "f");
		set_id_file(t, "f", modes[i]);
		t_chown(t, "f", USER, USER);
		mode_of(t, "f");
		set_id_file(t, "f", modes[i]);
		t_cred_group(t, USER, GROUP);
		t_chown(t, "f", -1u, GROUP);
		mode_of(t, "f");
		t_cred(t, 0);
		t_chmod(t, "d", modes[i]);
		t_chown(t, "d", OTHER, OTHER);
		mode_of(t, "d");
	}
	set_id_file(t, "f", 06777);
	is(t, 0, t_chown(t, "f", OTHER, OTHER));
	is(t, 0777, mode_of(t, "f"));
}

static void M8_who_may_chown(struct trace *t)
{
	t_file(t, "mine", 0644, "");
	t_chown(t, "mine", USER, USER);
	t_file(t, "other", 0644, "");
	t_chown(t, "other", OTHER, OTHER);
	t_cred_group(t, USER, GROUP);
	is(t, -EPERM, t_chown(t, "mine", OTHER, -1u));
	is(t, -EPERM, t_chown(t, "mine", 0, -1u));
	is(t, 0, t_chown(t, "mine", USER, -1u));
	is(t, 0, t_chown(t, "mine", -1u, GROUP));
	is(t, 0, t_chown(t, "mine", USER, USER));
	is(t, -EPERM, t_chown(t, "mine", -1u, OTHER));
	is(t, -EPERM, t_chown(t, "other", -1u, USER));
	is(t, -EPERM, t_chown(t, "other", USER, -1u));
	t_chown(t, "other", -1u, -1u);
	t_chown(t, "other", -1u, OTHER);
	is(t, -EPERM, t_chmod(t, "other", 0666));
	is(t, -ENOENT, t_chown(t, "missing", -1u, -1u));
	t_cred(t, 0);
	is(t, 0, t_chown(t, "other", USER, 7));
	t_tree(t);
}

static void M10_chmod_takes_permission_bits_only(struct trace *t)
{
	t_file(t, "f", 0644, "");
	t_mkdir(t, "d", 0755);
	is(t, 0, t_chmod(t, "f", S_IFDIR | 0600));
	is(t, 0, t_lstat(t, "f"));
	is(t, S_IFREG | 0600, t->out.st.mode);
	is(t, 0, t_chmod(t, "d", ~0u));
	is(t, 0, t_lstat(t, "d"));
	is(t, S_IFDIR | 07777, t->out.st.mode);
	is(t, 0, t_chmod(t, "d", 0200000));
	is(t, 0, t_lstat(t, "d"));
	is(t, S_IFDIR, t->out.st.mode);
}

static void M11_chmod_keeps_the_type(struct trace *t)
{
	int fd;

	t_mknod(t, "s", S_IFSOCK | 0600);
	t_mknod(t, "p", S_IFIFO | 0600);
	is(t, 0, t_chmod(t, "s", 0644));
	is(t, 0, t_chmod(t, "p", 0644));
	t_file(t, "f", 0644, "");
	t_symlink(t, "f", "link");
	is(t, 0, t_chmod(t, "link", 0));
	is(t, 0777, mode_of(t, "link"));
	is(t, 0, mode_of(t, "f"));
	is(t, 0, t_chmod(t, "f", 0644));
	fd = t_open(t, "f", O_RDONLY, 0);
	is(t, 0, t_call(t, .kind = OP_FCHMOD, .fd = fd, .mode = 0456));
	is(t, 0456, mode_of(t, "f"));
	is(t, -EBADF, t_call(t, .kind = OP_FCHMOD, .fd = 33, .mode = 0456));
	t_tree(t);
}

static void M13_sticky_directories(struct trace *t)
{
	t_umask(t, 0);
	t_mkdir(t, "s", 0777);
	t_chmod(t, "s", 01777);
	t_cred(t, OTHER);
	t_file(t, "s/f", 0666, "");
	t_mkdir(t, "s/d", 0777);
	t_cred(t, USER);
	is(t, -EPERM, t_unlink(t, "s/f"));
	is(t, -EPERM, t_rmdir(t, "s/d"));
	is(t, -EPERM, t_rename(t, "s/f", "s/g"));
	is(t, -EPERM, t_unlink(t, "s/d"));
	is(t, -EPERM, t_rmdir(t, "s/f"));
	t_file(t, "s/mine", 0600, "");
	is(t, 0, t_unlink(t, "s/mine"));
	/* What is in it can be written as its own bits say. */
	is(t, 0, t_truncate(t, "s/f", 3));
	is(t, 0, t_mkdir(t, "s/d/sub", 0755));
	t_cred(t, OTHER);
	is(t, -ENOTEMPTY, t_rmdir(t, "s/d"));
	is(t, 0, t_unlink(t, "s/f"));
	t_cred(t, 0);
	is(t, 0, t_rmdir(t, "s/d/sub"));
	is(t, 0, t_rmdir(t, "s/d"));
	/* The directory's owner may. */
	t_file(t, "s/roots", 0600, "");
	t_chown(t, "s", USER, 0);
	t_cred(t, USER);
	is(t, 0, t_unlink(t, "s/roots"));
}

static void rights_are_those_of_the_open(struct trace *t)
{
	int fd;

	t_file(t, "f", 0666, "hello");
	t_cred(t, USER);
	fd = t_open(t, "f", O_RDONLY, 0);
	t_cred(t, 0);
	t_chmod(t, "f", 0);
	t_cred(t, USER);
	is(t, 5, t_read(t, fd, 9));
	is(t, -EACCES, t_open(t, "f", O_RDONLY, 0));
	is(t, 0, t_fstat(t, fd));
	is(t, -EPERM, t_call(t, .kind = OP_FCHMOD, .fd = fd, .mode = 0666));
}

static void nodes_of_an_ordinary_user(struct trace *t)
{
	is(t, 0, t_mknod(t, "plain", 0644));
	is(t, 0, t_mknod(t, "file", S_IFREG | 0644));
	is(t, 0, t_mknod(t, "fifo", S_IFIFO | 0644));
	is(t, 0, t_mknod(t, "socket", S_IFSOCK | 0644));
	is(t, -EPERM,
	   t_call(t, .kind = OP_MKNOD, .fd = AT_FDCWD, .path = "char",
		  .mode = S_IFCHR | 0644, .pos = 0x103));
	is(t, -EPERM,
	   t_call(t, .kind = OP_MKNOD, .fd = AT_FDCWD, .path = "block",
		  .mode = S_IFBLK | 0644, .pos = 0x103));
	is(t, -EPERM, t_mknod(t, "block", S_IFBLK | 0644));
	is(t, 0, t_mknod(t, "whiteout", S_IFCHR | 0644));
	is(t, -EPERM, t_mknod(t, "dir", S_IFDIR | 0755));
	is(t, -EINVAL, t_mknod(t, "link", S_IFLNK | 0755));
	is(t, -EINVAL, t_mknod(t, "odd", 0030000 | 0755));
	t_mknod(t, "plain", S_IFCHR | 0644);
	t_mknod(t, "plain", S_IFDIR | 0644);
	is(t, -EEXIST, t_mknod(t, "plain", S_IFREG | 0644));
	t_tree(t);
}

static const struct CMUnitTest cases[] = {
	TRACE(M1_default_umask, AS_BOTH),
	TRACE(M2_umask_is_applied, AS_BOTH),
	TRACE(M4_write_and_search_of_directories, AS_MANY),
	TRACE(M4_which_class_counts, AS_MANY),
	TRACE(M4_root_and_execution, AS_ROOT),
	TRACE(M5_set_id_bits_are_kept, AS_BOTH),
	TRACE(M7_changes_clear_set_id_bits, AS_MANY),
	TRACE(M7_truncation_to_the_same_size, AS_MANY),
	TRACE(M7_chmod_by_one_outside_the_group, AS_MANY),
	TRACE(M8_set_group_id_directories, AS_MANY),
	TRACE(M8_set_group_id_and_umask, AS_MANY),
	TRACE(M8_chown_clears_set_id_bits, AS_MANY),
	TRACE(M8_who_may_chown, AS_MANY),
	TRACE(M10_chmod_takes_permission_bits_only, AS_BOTH),
	TRACE(M11_chmod_keeps_the_type, AS_BOTH),
	TRACE(M13_sticky_directories, AS_MANY),
	TRACE(rights_are_those_of_the_open, AS_MANY),
	TRACE(nodes_of_an_ordinary_user, AS_USER),
};

int main(int argc, char **argv)
{
	return run_traces(argc, argv, cases);
}
