/* SPDX-License-Identifier: MIT */
/* The calls by inode, which have no counterpart in a kernel. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "harness.h"

/* ---- By inode ---- */

static struct berth_inode *root;

static int create_with_root(void **state)
{
	create(state);
	check_equal(berth_inode_root(vfs, &root), 0);
	return 0;
}

static int destroy_with_root(void **state)
{
	berth_inode_forget(root, 1);
	return destroy(state);
}

static void lookups_are_counted(void **state)
{
	struct berth_inode *inode, *again;
	struct berth_stat st;

	(void)state;
	make_file("/f", "hello");
	assert_int_equal(berth_inode_lookup(task, root, "f", &inode, &st), 0);
	assert_int_equal(st.size, 5);
	assert_int_equal(st.ino, berth_inode_ino(inode));
	assert_int_equal(berth_inode_lookup(task, root, "f", &again, NULL), 0);
	assert_ptr_equal(inode, again);
	assert_int_equal(berth_unlink(task, "/f"), 0);
	assert_int_equal(berth_inode_stat(task, inode, &st), 0);
	assert_int_equal(st.nlink, 0);
	berth_inode_forget(inode, 1);
	assert_int_equal(berth_inode_stat(task, inode, &st), 0);
	assert_int_equal(berth_inode_open(task, inode, O_RDWR), 0);
	assert_true(file_holds(task, 0, "hello"));
	berth_inode_forget(inode, 1);
	assert_true(file_holds(task, 0, "hello"));
	assert_int_equal(berth_inode_lookup(task, root, "f", &inode, &st),
			 -ENOENT);
}

static void several_lookups_forgotten_at_once(void **state)
{
	struct berth_inode *inode;
	int i;

	(void)state;
	make_file("/f", "hello");
	for (i = 0; i < 1000; i++)
		assert_int_equal(
			berth_inode_lookup(task, root, "f", &inode, NULL), 0);
	berth_inode_forget(inode, 0);
	berth_inode_forget(inode, 999);
	assert_int_equal(berth_vfs_destroy(vfs), -EBUSY);
	berth_inode_forget(inode, 1);
}

static void names_by_inode(void **state)
{
	char name[300];
	struct berth_inode *inode = NULL, *file;
	struct berth_stat st;

	(void)state;
	static const char *const bad[] = { "", ".", "..", "a/b", "/", "a/" };
	size_t i;

	make_file("/f", "");
	berth_inode_lookup(task, root, "f", &file, &st);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(berth_inode_mkdir(task, root, bad[i], 0755,
						   &inode, &st),
				 -EINVAL);
		assert_int_equal(berth_inode_mknod(task, root, bad[i], 0644, 0,
						   &inode, &st),
				 -EINVAL);
		assert_int_equal(berth_inode_symlink(task, "x", root, bad[i],
						     &inode, &st),
				 -EINVAL);
		assert_int_equal(berth_inode_create(task, root, bad[i], O_RDWR,
						    0644, &inode, &st),
				 -EINVAL);
		assert_int_equal(
			berth_inode_link(task, file, root, bad[i], &st),
			-EINVAL);
		assert_int_equal(berth_inode_unlink(task, root, bad[i]),
				 -EINVAL);
		assert_int_equal(berth_inode_rmdir(task, root, bad[i]),
				 -EINVAL);
		assert_int_equal(
			berth_inode_rename(task, root, bad[i], root, "g", 0),
			-EINVAL);
		assert_int_equal(
			berth_inode_rename(task, root, "f", root, bad[i], 0),
			-EINVAL);
	}
	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	assert_int_equal(berth_inode_mkdir(task, root, name, 0755, &inode, &st),
			 -ENAMETOOLONG);
	assert_int_equal(berth_inode_lookup(task, root, name, &inode, &st),
			 -ENAMETOOLONG);
	name[255] = '\0';
	assert_int_equal(berth_inode_mkdir(task, root, name, 0755, &inode, &st),
			 0);
	berth_inode_forget(inode, 1);
	/* Below what is no directory. */
	assert_int_equal(berth_inode_lookup(task, file, "x", &inode, &st),
			 -ENOTDIR);
	assert_int_equal(berth_inode_mkdir(task, file, "x", 0755, &inode, &st),
			 -ENOTDIR);
	assert_int_equal(berth_inode_unlink(task, file, "x"), -ENOTDIR);
	berth_inode_forget(file, 1);
}

static void dot_and_dot_dot_by_inode(void **state)
{
	struct berth_inode *d, *e, *inode;

	(void)state;
	berth_mkdir(task, "/d", 0755);
	berth_mkdir(task, "/d/e", 0755);
	assert_int_equal(berth_inode_lookup(task, root, "d", &d, NULL), 0);
	assert_int_equal(berth_inode_lookup(task, d, "e", &e, NULL), 0);
	assert_int_equal(berth_inode_lookup(task, e, "..", &inode, NULL), 0);
	assert_ptr_equal(inode, d);
	berth_inode_forget(inode, 1);
	assert_int_equal(berth_inode_lookup(task, e, ".", &inode, NULL), 0);
	assert_ptr_equal(inode, e);
	berth_inode_forget(inode, 1);
	assert_int_equal(berth_inode_lookup(task, root, "..", &inode, NULL), 0);
	assert_ptr_equal(inode, root);
	berth_inode_forget(inode, 1);
	berth_inode_forget(d, 1);
	berth_inode_forget(e, 1);
}

static void making_and_removing_by_inode(void **state)
{
	struct berth_inode *d, *f, *s, *n, *none;
	struct berth_stat st;
	char buf[16];
	int fd;

	(void)state;
	assert_int_equal(berth_inode_mkdir(task, root, "d", 0777, &d, &st), 0);
	assert_int_equal(st.mode, S_IFDIR | 0755);
	fd = berth_inode_create(task, d, "f", O_RDWR | O_EXCL, 0666, &f, &st);
	assert_int_equal(fd, 0);
	assert_int_equal(st.mode, S_IFREG | 0644);
	assert_int_equal(berth_write(task, fd, "hello", 5), 5);
	assert_int_equal(berth_inode_create(task, d, "f", O_RDWR | O_EXCL, 0666,
					    &none, &st),
			 -EEXIST);
	fd = berth_inode_create(task, d, "f", O_RDONLY, 0600, &n, &st);
	assert_int_equal(fd, 1);
	assert_ptr_equal(n, f);
	assert_int_equal(st.size, 5);
	berth_inode_forget(n, 1);
	assert_int_equal(
		berth_inode_mknod(task, d, "n", S_IFSOCK | 0666, 0, &n, &st),
		0);
	assert_int_equal(st.mode, S_IFSOCK | 0644);
	assert_int_equal(berth_inode_open(task, n, O_RDONLY), -ENXIO);
	assert_int_equal(berth_inode_symlink(task, "d/f", root, "s", &s, &st),
			 0);
	assert_int_equal(st.mode, S_IFLNK | 0777);
	assert_int_equal(berth_inode_readlink(task, s, buf, sizeof(buf)), 3);
	assert_memory_equal(buf, "d/f", 3);
	assert_int_equal(berth_inode_readlink(task, f, buf, sizeof(buf)),
			 -EINVAL);
	assert_int_equal(berth_inode_open(task, s, O_RDONLY), -ELOOP);
	assert_int_equal(berth_inode_open(task, d, O_RDWR), -EISDIR);
	assert_int_equal(berth_inode_link(task, f, root, "g", &st), 0);
	assert_int_equal(st.nlink, 2);
	assert_int_equal(berth_inode_link(task, d, root, "h", &st), -EPERM);
	assert_int_equal(berth_inode_link(task, f, root, "s", &st), -EEXIST);

	assert_int_equal(berth_inode_rename(task, d, "f", root, "g", 0), 0);
	assert_int_equal(berth_inode_rename(task, d, "n", root, "n", 0), 0);
	assert_int_equal(berth_inode_rename(task, root, "d", d, "x", 0),
			 -EINVAL);
	assert_int_equal(berth_inode_unlink(task, root, "d"), -EISDIR);
	assert_int_equal(berth_inode_rmdir(task, root, "s"), -ENOTDIR);
	assert_int_equal(berth_inode_rmdir(task, root, "d"), -ENOTEMPTY);
	assert_int_equal(berth_inode_unlink(task, d, "f"), 0);
	assert_int_equal(berth_inode_unlink(task, d, "f"), -ENOENT);
	assert_int_equal(berth_inode_rmdir(task, root, "d"), 0);
	/* A removed directory that is held. */
	assert_int_equal(berth_inode_mkdir(task, d, "x", 0777, &none, &st),
			 -ENOENT);
	assert_int_equal(berth_inode_lookup(task, d, "x", &none, &st), -ENOENT);
	berth_inode_forget(n, 1);
	berth_inode_forget(d, 1);
	berth_inode_forget(f, 2); /* the new link gave it out, too */
	berth_inode_forget(s, 1);
}

static void attributes_by_inode(void **state)
{
	const struct berth_cred user = { .uid = 1000, .gid = 1000 };
	struct berth_stat st, wanted = {
		.mode = 0640,
		.uid = 7,
		.gid = 8,
		.size = 3,
		.atime = { 11, 12 },
		.mtime = { 13, 14 },
	};
	struct berth_inode *f;

	(void)state;
	make_file("/f", "hello");
	berth_inode_lookup(task, root, "f", &f, NULL);
	assert_int_equal(
		berth_inode_setattr(task, f, &wanted,
				    BERTH_SET_MODE | BERTH_SET_UID |
					    BERTH_SET_GID | BERTH_SET_SIZE |
					    BERTH_SET_ATIME | BERTH_SET_MTIME),
		0);
	assert_int_equal(berth_inode_stat(task, f, &st), 0);
	assert_int_equal(st.mode, S_IFREG | 0640);
	assert_int_equal(st.uid, 7);
	assert_int_equal(st.gid, 8);
	assert_int_equal(st.size, 3);
	assert_memory_equal(&st.atime, &wanted.atime, sizeof(st.atime));
	assert_memory_equal(&st.mtime, &wanted.mtime, sizeof(st.mtime));
	/* One at a time. */
	wanted.mode = 0600;
	assert_int_equal(berth_inode_setattr(task, f, &wanted, BERTH_SET_MODE),
			 0);
	wanted.mtime.tv_nsec = BERTH_UTIME_NOW;
	assert_int_equal(berth_inode_setattr(task, f, &wanted, BERTH_SET_MTIME),
			 0);
	assert_int_equal(berth_inode_setattr(task, f, &wanted, 0), 0);
	assert_int_equal(berth_inode_stat(task, f, &st), 0);
	assert_int_equal(st.mode, S_IFREG | 0600);
	assert_true(st.mtime.tv_sec > 1000000);
	assert_int_equal(st.atime.tv_sec, 11);

	/* All or none: the size may be set, the owner not. */
	berth_chown(task, "/f", 1000, 1000);
	assert_int_equal(berth_task_set_cred(task, &user), 0);
	wanted.size = 1;
	wanted.uid = 0;
	assert_int_equal(berth_inode_setattr(task, f, &wanted,
					     BERTH_SET_SIZE | BERTH_SET_UID),
			 -EPERM);
	assert_int_equal(berth_inode_stat(task, f, &st), 0);
	assert_int_equal(st.size, 3);
	assert_int_equal(
		berth_inode_setattr(task, root, &wanted, BERTH_SET_MODE),
		-EPERM);
	assert_int_equal(berth_inode_setattr(task, f, &wanted, ~0u), -EINVAL);
	wanted.size = UINT64_MAX;
	assert_int_equal(berth_inode_setattr(task, f, &wanted, BERTH_SET_SIZE),
			 -EINVAL);
	berth_inode_forget(f, 1);
}

static void sizes_of_directories_by_inode(void **state)
{
	struct berth_stat st = { .size = 0 };

	(void)state;
	assert_int_equal(berth_inode_setattr(task, root, &st, BERTH_SET_SIZE),
			 -EISDIR);
}

static void permissions_by_inode(void **state)
{
	struct berth_cred user = { .uid = 1000, .gid = 1000 };
	struct berth_inode *d, *f, *n = NULL;
	struct berth_stat st;

	(void)state;
	berth_mkdir(task, "/d", 0700);
	make_file("/d/f", "hello");
	berth_inode_lookup(task, root, "d", &d, NULL);
	berth_inode_lookup(task, d, "f", &f, NULL);
	berth_task_set_cred(task, &user);
	assert_int_equal(berth_inode_lookup(task, d, "f", &n, NULL), -EACCES);
	assert_int_equal(berth_inode_access(task, d, X_OK), -EACCES);
	assert_int_equal(berth_inode_access(task, f, F_OK), 0);
	assert_int_equal(berth_inode_access(task, f, R_OK), 0);
	assert_int_equal(berth_inode_access(task, f, W_OK), -EACCES);
	assert_int_equal(berth_inode_mkdir(task, root, "x", 0755, &n, &st),
			 -EACCES);
	assert_int_equal(berth_inode_unlink(task, d, "f"), -EACCES);
	assert_int_equal(berth_inode_open(task, f, O_WRONLY), -EACCES);
	assert_int_equal(berth_inode_open(task, f, O_RDONLY | O_TRUNC),
			 -EACCES);
	assert_int_equal(berth_inode_open(task, f, O_RDONLY), 0);
	/* The host has checked. */
	user.flags = BERTH_CRED_OVERRIDE;
	berth_task_set_cred(task, &user);
	assert_int_equal(berth_inode_access(task, d, R_OK | W_OK | X_OK), 0);
	assert_int_equal(berth_inode_open(task, f, O_RDWR), 1);
	assert_int_equal(berth_inode_mkdir(task, root, "x", 0755, &n, &st), 0);
	assert_int_equal(st.uid, 1000);
	berth_inode_forget(n, 1);
	berth_inode_forget(d, 1);
	berth_inode_forget(f, 1);
}

static void generations_differ(void **state)
{
	uint64_t inos[64], generations[64];
	int i, j;

	(void)state;
	for (i = 0; i < 64; i++) {
		struct berth_inode *inode;
		struct berth_stat st;

		assert_int_equal(berth_inode_mknod(task, root, "f", 0644, 0,
						   &inode, &st),
				 0);
		inos[i] = berth_inode_ino(inode);
		generations[i] = berth_inode_generation(inode);
		assert_int_equal(st.ino, inos[i]);
		berth_unlink(task, "/f");
		berth_inode_forget(inode, 1);
	}
	for (i = 0; i < 64; i++)
		for (j = 0; j < i; j++)
			assert_false(inos[i] == inos[j] &&
				     generations[i] == generations[j]);
}

static void a_held_inode_keeps_its_space(void **state)
{
	struct berth_vfs_options options = default_options();
	struct berth_inode *top, *inode;
	struct berth_stat st;
	int fd, other;

	(void)state;
	options.size = 8 * PAGE;
	create_with(&options);
	fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
	assert_int_equal(fill(fd), 8);
	berth_inode_root(vfs, &top);
	assert_int_equal(berth_inode_lookup(task, top, "f", &inode, &st), 0);
	berth_unlink(task, "/f");
	berth_close(task, fd);
	other = berth_open(task, "/g", O_CREAT | O_RDWR, 0644);
	assert_int_equal(fill(other), 0);
	assert_int_equal(berth_inode_stat(task, inode, &st), 0);
	assert_int_equal(st.size, 8 * PAGE);
	assert_int_equal(st.nlink, 0);
	berth_inode_forget(inode, 1);
	assert_int_equal(fill(other), 8);
	berth_inode_forget(top, 1);
	finish();
}

static void arguments_by_inode(void **state)
{
	struct berth_stat st = { .size = 1 };
	struct berth_inode *link, *made;

	(void)state;
	assert_int_equal(
		berth_inode_symlink(task, "target", root, "l", &link, &st), 0);
	st.size = 1;
	assert_int_equal(berth_inode_setattr(task, link, &st, BERTH_SET_SIZE),
			 -EINVAL);
	assert_int_equal(berth_inode_access(task, root, 8), -EINVAL);
	assert_int_equal(berth_inode_rename(task, root, "l", root, "m", 0x80),
			 -EINVAL);
	assert_int_equal(berth_inode_mkdir(task, root, NULL, 0755, &made, &st),
			 -EFAULT);
	assert_int_equal(berth_inode_create(task, root, "f", 3 | O_DIRECTORY,
					    0644, &made, &st),
			 -EINVAL);
	berth_inode_forget(link, 1);
}

static void nothing_is_made_in_a_removed_directory(void **state)
{
	struct berth_inode *dir, *made;
	struct berth_stat st;

	(void)state;
	assert_int_equal(berth_inode_mkdir(task, root, "d", 0755, &dir, &st),
			 0);
	assert_int_equal(berth_rmdir(task, "/d"), 0);
	assert_int_equal(berth_inode_mkdir(task, dir, "e", 0755, &made, &st),
			 -ENOENT);
	assert_int_equal(
		berth_inode_create(task, dir, "f", O_RDWR, 0644, &made, &st),
		-ENOENT);
	berth_inode_forget(dir, 1);
}

static void instances_do_not_mix_by_inode(void **state)
{
	struct berth_inode *other_root, *file, *made;
	struct berth_vfs *other;
	struct berth_stat st;

	(void)state;
	assert_int_equal(berth_vfs_create(NULL, &other), 0);
	assert_int_equal(berth_inode_root(other, &other_root), 0);
	assert_int_equal(
		berth_inode_mknod(task, root, "f", 0644, 0, &file, &st), 0);
	assert_int_equal(berth_inode_open(task, other_root, O_RDONLY), -EXDEV);
	assert_int_equal(berth_inode_create(task, other_root, "f", O_RDWR, 0644,
					    &made, &st),
			 -EXDEV);
	assert_int_equal(berth_inode_link(task, file, other_root, "g", &st),
			 -EXDEV);
	assert_int_equal(
		berth_inode_rename(task, root, "f", other_root, "g", 0),
		-EXDEV);
	berth_inode_forget(file, 1);
	berth_inode_forget(other_root, 1);
	assert_int_equal(berth_vfs_destroy(other), 0);
}

static void no_number_left_by_inode(void **state)
{
	struct berth_inode *made;
	struct berth_stat st;

	(void)state;
	assert_int_equal(berth_files_set_limit(berth_task_files(task), 0), 0);
	assert_int_equal(berth_inode_open(task, root, O_RDONLY), -EMFILE);
	assert_int_equal(
		berth_inode_create(task, root, "f", O_RDWR, 0644, &made, &st),
		-EMFILE);
	assert_int_equal(berth_access(task, "/f", F_OK), -ENOENT);
}

static void a_directory_that_is_not_searched(void **state)
{
	const struct berth_cred user = { .uid = 7, .gid = 7 };
	struct berth_inode *dir, *made;
	struct berth_stat st;

	(void)state;
	assert_int_equal(berth_inode_mkdir(task, root, "d", 0600, &dir, &st),
			 0);
	assert_int_equal(berth_task_set_cred(task, &user), 0);
	assert_int_equal(
		berth_inode_create(task, dir, "f", O_RDWR, 0644, &made, &st),
		-EACCES);
	berth_inode_forget(dir, 1);
}

static const struct CMUnitTest cases[] = {
#define BY_INODE(function)                                          \
	cmocka_unit_test_setup_teardown(function, create_with_root, \
					destroy_with_root)
	cmocka_unit_test(a_held_inode_keeps_its_space),
	BY_INODE(lookups_are_counted),
	BY_INODE(several_lookups_forgotten_at_once),
	BY_INODE(names_by_inode),
	BY_INODE(dot_and_dot_dot_by_inode),
	BY_INODE(making_and_removing_by_inode),
	BY_INODE(attributes_by_inode),
	BY_INODE(sizes_of_directories_by_inode),
	BY_INODE(permissions_by_inode),
	BY_INODE(generations_differ),
	BY_INODE(arguments_by_inode),
	BY_INODE(nothing_is_made_in_a_removed_directory),
	BY_INODE(instances_do_not_mix_by_inode),
	BY_INODE(no_number_left_by_inode),
	BY_INODE(a_directory_that_is_not_searched),
};

int main(int argc, char **argv)
{
	return run_cases(argc, argv, cases);
}
