/* SPDX-License-Identifier: MIT */
/*
 * Instances and tasks: how they are made and ended, their limits, the clock,
 * directories read from a cookie.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "harness.h"
#include "probe.h"

/* ---- Options of an instance ---- */

static void an_instance_by_default(void **state)
{
	struct berth_stat st;

	(void)state;
	assert_int_equal(berth_stat(task, "/", &st), 0);
	assert_int_equal(st.mode, S_IFDIR | 0755);
	assert_int_equal(st.uid, 0);
	assert_int_equal(st.gid, 0);
	assert_int_equal(st.nlink, 2);
	assert_int_equal(berth_umask(task, 0), 022);
	assert_int_equal(berth_open(task, "/", O_RDONLY, 0), 0);
}

static void the_root_directory_as_wanted(void **state)
{
	struct berth_vfs_options options = default_options();
	struct berth_stat st;

	(void)state;
	options.mode = 01770;
	options.uid = 5;
	options.gid = 6;
	create_with(&options);
	assert_int_equal(berth_stat(task, "/", &st), 0);
	assert_int_equal(st.mode, S_IFDIR | 01770);
	assert_int_equal(st.uid, 5);
	assert_int_equal(st.gid, 6);
	finish();
}

static void *alloc_nothing(size_t bytes, size_t align, void *arg)
{
	(void)bytes;
	(void)align;
	(void)arg;
	return NULL;
}

static void options_out_of_range(void **state)
{
	struct berth_vfs_options options = default_options();
	struct berth_vfs *none = NULL;

	(void)state;
	options.flags = ~BERTH_VFS_RDONLY;
	assert_int_equal(berth_vfs_create(&options, &none), -EINVAL);
	options = default_options();
	options.struct_size = 0;
	assert_int_equal(berth_vfs_create(&options, &none), -EINVAL);
	options = default_options();
	options.mode = 010000;
	assert_int_equal(berth_vfs_create(&options, &none), -EINVAL);
	options = default_options();
	options.alloc = alloc_nothing;
	assert_int_equal(berth_vfs_create(&options, &none), -EINVAL);
	options = default_options();
	options.memory_max = 1;
	assert_int_equal(berth_vfs_create(&options, &none), -ENOMEM);
	options = default_options();
	options.size = 1;
	assert_int_equal(berth_vfs_create(&options, &none), 0);
	assert_int_equal(berth_vfs_destroy(none), 0);
	assert_int_equal(berth_vfs_destroy(NULL), 0);
}

static void a_read_only_instance(void **state)
{
	struct berth_vfs_options options = default_options();
	struct berth_inode *root, *inode;
	struct berth_stat st = { .mode = 0700 };
	char buf[256];
	int fd, i;

	(void)state;
	options.flags = BERTH_VFS_RDONLY;
	create_with(&options);
	assert_int_equal(berth_open(task, "/f", O_CREAT | O_RDWR, 0644),
			 -EROFS);
	assert_int_equal(berth_mkdir(task, "/d", 0755), -EROFS);
	assert_int_equal(berth_symlink(task, "x", "/s"), -EROFS);
	assert_int_equal(berth_mknodat(task, BERTH_AT_FDCWD, "/n", 0644, 0),
			 -EROFS);
	assert_int_equal(berth_open(task, "/", O_TMPFILE | O_RDWR, 0644),
			 -EROFS);
	assert_int_equal(berth_unlink(task, "/f"), -EROFS);
	assert_int_equal(berth_rename(task, "/f", "/g"), -EROFS);
	/* Its times stay, however often it is read. */
	fd = berth_open(task, "/", O_RDONLY, 0);
	assert_int_equal(fd, 0);
	for (i = 0; i < 200; i++) {
		check(berth_getdents(task, fd, buf, sizeof(buf)) >= 0);
		check_equal(berth_lseek(task, fd, 0, SEEK_SET), 0);
	}
	assert_int_equal(berth_close(task, fd), 0);
	assert_int_equal(berth_chmod(task, "/", 0700), -EROFS);
	assert_int_equal(berth_chown(task, "/", 1, 1), -EROFS);
	assert_int_equal(berth_utimensat(task, BERTH_AT_FDCWD, "/", NULL, 0),
			 -EROFS);
	assert_int_equal(berth_faccessat(task, BERTH_AT_FDCWD, "/", W_OK, 0),
			 -EROFS);
	assert_int_equal(berth_faccessat(task, BERTH_AT_FDCWD, "/", R_OK, 0),
			 0);
	berth_inode_root(vfs, &root);
	assert_int_equal(berth_inode_mkdir(task, root, "d", 0755, &inode, &st),
			 -EROFS);
	assert_int_equal(
		berth_inode_create(task, root, "f", O_RDWR, 0644, &inode, &st),
		-EROFS);
	assert_int_equal(berth_inode_setattr(task, root, &st, BERTH_SET_MODE),
			 -EROFS);
	assert_int_equal(berth_inode_access(task, root, W_OK), -EROFS);
	berth_inode_forget(root, 1);
	assert_int_equal(berth_open(task, "/", O_RDONLY, 0), 0);
	finish();
}

static void two_instances_have_nothing_in_common(void **state)
{
	struct berth_vfs *other;
	struct berth_task *others;
	struct berth_stat st;

	(void)state;
	assert_int_equal(berth_vfs_create(NULL, &other), 0);
	assert_int_equal(berth_task_create(other, NULL, &others), 0);
	make_file("/f", "here");
	assert_int_equal(berth_stat(others, "/f", &st), -ENOENT);
	assert_int_equal(berth_open(others, "/f", O_CREAT | O_RDWR, 0600), 0);
	assert_int_equal(berth_stat(task, "/f", &st), 0);
	assert_int_equal(st.size, 4);
	berth_task_destroy(others);
	assert_int_equal(berth_vfs_destroy(other), 0);
}

/* ---- Limits ---- */

static void space_is_back_at_the_last_close(void **state)
{
	struct berth_vfs_options options = default_options();
	int fd, twin, other;

	(void)state;
	options.size = 32 * PAGE - 100; /* rounded up */
	create_with(&options);
	fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
	twin = berth_dup(task, fd);
	assert_int_equal(fill(fd), 32);
	other = berth_open(task, "/g", O_CREAT | O_RDWR, 0644);
	assert_int_equal(fill(other), 0);
	assert_int_equal(berth_unlink(task, "/f"), 0);
	assert_int_equal(fill(other), 0);
	assert_int_equal(berth_close(task, fd), 0);
	assert_int_equal(fill(other), 0);
	assert_int_equal(berth_close(task, twin), 0);
	assert_int_equal(fill(other), 32);
	finish();
}

static void inodes_are_back_at_the_last_close(void **state)
{
	struct berth_vfs_options options = default_options();
	int fd, round;

	(void)state;
	options.nr_inodes = 3;
	create_with(&options);
	assert_int_equal(berth_mkdir(task, "/d", 0755), 0);
	for (round = 0; round < 100; round++) {
		fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
		assert_true(fd >= 0);
		assert_int_equal(berth_mkdir(task, "/e", 0755), -ENOSPC);
		assert_int_equal(berth_unlink(task, "/f"), 0);
		assert_int_equal(berth_mkdir(task, "/e", 0755), -ENOSPC);
		assert_int_equal(berth_close(task, fd), 0);
		assert_int_equal(berth_mkdir(task, "/e", 0755), 0);
		assert_int_equal(berth_rmdir(task, "/e"), 0);
	}
	finish();
}

static void how_full_it_is(void **state)
{
	struct berth_vfs_options options = default_options();
	struct berth_statfs st;
	int fd;

	(void)state;
	options.size = 16 * PAGE;
	options.nr_inodes = 10;
	create_with(&options);
	berth_vfs_statfs(vfs, &st);
	assert_int_equal(st.block_size, PAGE);
	assert_int_equal(st.name_max, 255);
	assert_int_equal(st.blocks, 16);
	assert_int_equal(st.blocks_free, 16);
	assert_int_equal(st.inodes, 10);
	assert_int_equal(st.inodes_free, 9);
	fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
	berth_pwrite(task, fd, "x", 1, 100 * PAGE);
	berth_pwrite(task, fd, "x", 1, 0);
	berth_mkdir(task, "/d", 0755);
	berth_link(task, "/f", "/g");
	berth_vfs_statfs(vfs, &st);
	assert_int_equal(st.blocks_free, 14);
	assert_int_equal(st.inodes_free, 6);
	berth_unlink(task, "/f");
	berth_unlink(task, "/g");
	berth_rmdir(task, "/d");
	berth_close(task, fd);
	berth_vfs_statfs(vfs, &st);
	assert_int_equal(st.blocks_free, 16);
	assert_int_equal(st.inodes_free, 9);
	finish();
}

static void how_full_it_is_without_limits(void **state)
{
	struct berth_statfs st;

	(void)state;
	berth_vfs_statfs(vfs, &st);
	assert_int_equal(st.blocks, 0);
	assert_int_equal(st.inodes, 0);
}

/* ---- The clock ---- */

static struct timespec clock_time;

static void tell_time(struct timespec *time, void *arg)
{
	check(arg == &clock_time);
	*time = clock_time;
}

static void times_come_from_the_clock(void **state)
{
	struct berth_vfs_options options = default_options();
	struct berth_stat st;
	int fd, i;

	(void)state;
	options.clock = tell_time;
	options.arg = &clock_time;
	clock_time = (struct timespec){ 1000, 1 };
	create_with(&options);
	clock_time.tv_sec = 2000;
	fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
	clock_time.tv_sec = 3000;
	berth_write(task, fd, "x", 1);
	clock_time.tv_sec = 4000;
	berth_chmod(task, "/f", 0600);
	clock_time.tv_sec = 5000;
	berth_pread(task, fd, &st, 1, 0);
	assert_int_equal(berth_fstat(task, fd, &st), 0);
	assert_int_equal(st.btime.tv_sec, 2000);
	assert_int_equal(st.mtime.tv_sec, 3000);
	assert_int_equal(st.ctime.tv_sec, 4000);
	assert_int_equal(st.atime.tv_sec, 5000);
	assert_int_equal(st.atime.tv_nsec, 1);
	assert_int_equal(berth_stat(task, "/", &st), 0);
	assert_int_equal(st.mtime.tv_sec, 2000);
	assert_int_equal(st.btime.tv_sec, 1000);
	/* After a day an access is recorded again. */
	clock_time.tv_sec = 5000 + 86400 - 10;
	berth_pread(task, fd, &st, 1, 0);
	berth_fstat(task, fd, &st);
	assert_int_equal(st.atime.tv_sec, 5000);
	/* It need not be the first one: the day is not looked at each time. */
	clock_time.tv_sec = 5000 + 86400 + 10;
	for (i = 0; i < 100; i++)
		berth_pread(task, fd, &st, 1, 0);
	berth_fstat(task, fd, &st);
	assert_int_equal(st.atime.tv_sec, 5000 + 86400 + 10);
	finish();
}

/* ---- Tasks ---- */

static void a_forked_task(void **state)
{
	struct berth_task *child;
	struct berth_stat st;
	char buf[8];
	int fd;

	(void)state;
	berth_mkdir(task, "/d", 0777);
	make_file("/d/f", "0123456789");
	berth_chdir(task, "/d");
	berth_umask(task, 077);
	fd = berth_open(task, "f", O_RDWR, 0);
	assert_int_equal(berth_task_fork(task, 0, &child), 0);

	/* One offset, but each its own numbers. */
	assert_int_equal(berth_read(child, fd, buf, 4), 4);
	assert_int_equal(berth_lseek(task, fd, 0, SEEK_CUR), 4);
	assert_int_equal(berth_close(child, fd), 0);
	assert_int_equal(berth_read(child, fd, buf, 1), -EBADF);
	assert_int_equal(berth_read(task, fd, buf, 1), 1);

	/* Directory and umask are copies. */
	assert_int_equal(berth_stat(child, "f", &st), 0);
	assert_int_equal(berth_chdir(child, "/"), 0);
	assert_int_equal(berth_stat(task, "f", &st), 0);
	assert_int_equal(berth_umask(child, 0), 077);
	assert_int_equal(berth_umask(task, 022), 077);
	berth_task_destroy(child);
	assert_int_equal(berth_read(task, fd, buf, 1), 1);
}

static void a_task_that_shares_the_table(void **state)
{
	struct berth_task *child, *none = NULL;
	int fd;

	(void)state;
	make_file("/f", "hello");
	assert_int_equal(berth_task_fork(task, 0x80, &none), -EINVAL);
	assert_int_equal(berth_task_fork(task, BERTH_TASK_SHARE_FILES, &child),
			 0);
	assert_ptr_equal(berth_task_files(task), berth_task_files(child));
	fd = berth_open(child, "/f", O_RDWR, 0);
	assert_true(file_holds(task, fd, "hello"));
	assert_int_equal(berth_close(task, fd), 0);
	assert_int_equal(berth_close(child, fd), -EBADF);
	fd = berth_open(child, "/f", O_RDWR, 0);
	berth_task_destroy(child);
	assert_true(file_holds(task, fd, "hello"));
	/* The first task may go first, too. */
	assert_int_equal(berth_task_fork(task, BERTH_TASK_SHARE_FILES, &child),
			 0);
	berth_task_destroy(task);
	task = child;
	assert_true(file_holds(task, fd, "hello"));
	berth_task_destroy(NULL);
}

static void credentials_of_a_task(void **state)
{
	const gid_t groups[] = { 7, 8, 9 };
	struct berth_cred cred = {
		.uid = 1000,
		.gid = 1000,
		.groups = groups,
		.ngroups = 3,
	};
	struct berth_task *child, *none = NULL;
	int fd;

	(void)state;
	make_file("/f", "hello");
	berth_chown(task, "/f", 0, 9);
	berth_chmod(task, "/f", 0640);
	fd = berth_open(task, "/f", O_RDWR, 0);
	assert_int_equal(berth_task_set_cred(task, &cred), 0);
	assert_int_equal(berth_open(task, "/f", O_WRONLY, 0), -EACCES);
	assert_true(berth_open(task, "/f", O_RDONLY, 0) > 0);
	assert_int_equal(berth_write(task, fd, "H", 1), 1);
	/* A child's are a copy. */
	assert_int_equal(berth_task_fork(task, 0, &child), 0);
	cred.ngroups = 2;
	assert_int_equal(berth_task_set_cred(child, &cred), 0);
	assert_int_equal(berth_open(child, "/f", O_RDONLY, 0), -EACCES);
	assert_true(berth_open(task, "/f", O_RDONLY, 0) > 0);
	/* A host that has checked itself asks for no checks. */
	cred.flags = BERTH_CRED_OVERRIDE;
	assert_int_equal(berth_task_set_cred(child, &cred), 0);
	assert_true(berth_open(child, "/f", O_RDWR, 0) > 0);
	assert_int_equal(berth_mkdir(child, "/d", 0755), 0);
	berth_task_destroy(child);
	/* What is out of range changes nothing. */
	cred.flags = 0x80;
	assert_int_equal(berth_task_set_cred(task, &cred), -EINVAL);
	assert_int_equal(berth_task_create(vfs, &cred, &none), -EINVAL);
	cred.flags = 0;
	cred.ngroups = 65537;
	assert_int_equal(berth_task_set_cred(task, &cred), -EINVAL);
	assert_true(berth_open(task, "/f", O_RDONLY, 0) > 0);
}

static void many_groups(void **state)
{
	gid_t *groups = malloc(65536 * sizeof(*groups));
	struct berth_cred cred = { .uid = 1, .gid = 1, .groups = groups };
	unsigned int i;

	(void)state;
	for (i = 0; i < 65536; i++)
		groups[i] = 65536 * 3 - i * 3;
	cred.ngroups = 65536;
	make_file("/f", "hello");
	berth_chown(task, "/f", 0, 3 * 333);
	berth_chmod(task, "/f", 0040);
	assert_int_equal(berth_task_set_cred(task, &cred), 0);
	free(groups); /* they were copied */
	assert_int_equal(berth_open(task, "/f", O_RDONLY, 0), 0);
	assert_int_equal(berth_open(task, "/f", O_WRONLY, 0), -EACCES);
}

static void the_table_of_a_task(void **state)
{
	struct berth_files *files = berth_task_files(task);
	struct berth_file *file;
	int fd;

	(void)state;
	fd = berth_open(task, "/f", O_CREAT | O_RDWR | O_APPEND, 0644);
	file = berth_files_borrow(files, fd);
	assert_non_null(file);
	assert_int_equal(file->flags & (O_ACCMODE | O_APPEND),
			 O_RDWR | O_APPEND);
	berth_files_return(file);
	assert_int_equal(berth_files_count(files), 1);
	assert_int_equal(berth_files_set_limit(files, 1), 0);
	assert_int_equal(berth_open(task, "/f", O_RDONLY, 0), -EMFILE);
	assert_int_equal(berth_files_close(files, fd), 0);
	assert_int_equal(berth_open(task, "/f", O_RDONLY, 0), 0);
}

/* ---- The end of an instance ---- */

static void a_busy_instance_stays(void **state)
{
	struct berth_inode *inode;
	struct berth_file *file;
	struct berth_files *files;
	int fd;

	(void)state;
	create_with(NULL);
	make_file("/f", "hello");
	assert_int_equal(berth_vfs_destroy(vfs), -EBUSY);
	fd = berth_open(task, "/f", O_RDONLY, 0);
	assert_true(file_holds(task, fd, "hello"));

	/* A table, a file and an inode that outlive the task. */
	files = berth_files_get_table(berth_task_files(task));
	berth_task_destroy(task);
	assert_int_equal(berth_vfs_destroy(vfs), -EBUSY);
	file = berth_files_get(files, fd);
	berth_files_put_table(files);
	assert_int_equal(berth_vfs_destroy(vfs), -EBUSY);
	berth_inode_root(vfs, &inode);
	berth_file_put(file);
	assert_int_equal(berth_vfs_destroy(vfs), -EBUSY);
	berth_inode_forget(inode, 1);

	/* It is still whole. */
	assert_int_equal(berth_task_create(vfs, NULL, &task), 0);
	fd = berth_open(task, "/f", O_RDONLY, 0);
	assert_true(file_holds(task, fd, "hello"));
	finish();
}

/* ---- Directories from a cookie ---- */

static void entries_from_a_cookie(void **state)
{
	uint64_t buf[100], more[100];
	const struct berth_dirent *first = (const void *)buf;
	const struct berth_dirent *second = (const void *)more;
	ssize_t got;
	int fd, seen;
	int64_t cookie = 0;

	(void)state;
	for (seen = 0; seen < 20; seen++) {
		char path[16];

		snprintf(path, sizeof(path), "/f%d", seen);
		make_file(path, "");
	}
	fd = berth_open(task, "/", O_RDONLY, 0);
	/* One by one, and the offset does not move. */
	for (seen = 0;; seen++) {
		got = berth_getdents_from(task, fd, cookie, buf, 32);
		if (!got)
			break;
		assert_int_equal(got, first->reclen);
		cookie = first->cookie;
		assert_int_equal(berth_lseek(task, fd, 0, SEEK_CUR), 0);
	}
	assert_int_equal(seen, 22);
	/* It is the order of the other call. */
	assert_true(berth_getdents(task, fd, buf, 64) > 0);
	assert_true(berth_getdents_from(task, fd, 0, more, 64) > 0);
	assert_string_equal(first->name, second->name);
	assert_int_equal(first->cookie, second->cookie);
	assert_int_equal(berth_getdents_from(task, fd, 0, buf, 8), -EINVAL);
	assert_int_equal(berth_getdents_from(task, 9, 0, buf, 64), -EBADF);
	assert_int_equal(berth_getdents_from(task, fd, INT64_MAX, buf, 64), 0);
	got = berth_getdents_from(task, fd, -1, buf, 64);
	assert_true(got >= 0 || got == -EINVAL);
	fd = berth_open(task, "/f1", O_RDONLY, 0);
	assert_int_equal(berth_getdents_from(task, fd, 0, buf, 64), -ENOTDIR);
}

/* ---- Forms and arguments ---- */

static void the_short_forms(void **state)
{
	const struct timespec times[2] = { { 1, 2 }, { 3, 4 } };
	struct iovec iov = { .iov_len = 2 };
	char buf[8] = "ab";
	struct berth_stat st;
	int fd;

	(void)state;
	fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
	iov.iov_base = buf;
	assert_int_equal(berth_writev(task, fd, &iov, 1), 2);
	assert_int_equal(berth_lseek(task, fd, 0, SEEK_SET), 0);
	buf[0] = buf[1] = '\0';
	assert_int_equal(berth_readv(task, fd, &iov, 1), 2);
	assert_string_equal(buf, "ab");
	assert_int_equal(berth_futimens(task, fd, times), 0);
	assert_int_equal(berth_access(task, "/f", R_OK), 0);
	assert_int_equal(berth_symlink(task, "f", "/l"), 0);
	assert_int_equal(berth_lchown(task, "/l", 5, 6), 0);
	assert_int_equal(berth_readlink(task, "/l", buf, sizeof(buf)), 1);
	assert_int_equal(berth_mknod(task, "/p", S_IFIFO | 0600, 0), 0);
	berth_sync(task);
	assert_int_equal(berth_lstat(task, "/l", &st), 0);
	assert_int_equal(st.uid, 5);
	assert_int_equal(berth_stat(task, "/l", &st), 0);
	assert_int_equal(st.uid, 0);
	assert_int_equal(st.mtime.tv_sec, 3);
	assert_int_equal(berth_stat(task, "/p", &st), 0);
	assert_int_equal(st.mode, S_IFIFO | 0600);
}

static void vectors_out_of_range(void **state)
{
	struct iovec iov = { .iov_len = (size_t)SSIZE_MAX + 1 };
	int fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);

	(void)state;
	assert_int_equal(berth_readv(task, fd, NULL, 1), -EFAULT);
	assert_int_equal(berth_writev(task, fd, &iov, 1), -EINVAL);
	assert_int_equal(berth_preadv(task, fd, &iov, 1, -1), -EINVAL);
	assert_int_equal(berth_preadv2(task, fd, &iov, 1, -2, 0), -EINVAL);
	assert_int_equal(berth_pwritev2(task, fd, &iov, 1, -2, 0), -EINVAL);
}

static void times_beyond_all_ends(void **state)
{
	struct timespec times[2] = { { INT64_MAX, 0 }, { INT64_MIN, 0 } };
	struct berth_stat st;

	(void)state;
	make_file("/f", "");
	assert_int_equal(berth_utimensat(task, BERTH_AT_FDCWD, "/f", times, 0),
			 0);
	assert_int_equal(berth_stat(task, "/f", &st), 0);
	assert_int_equal(st.atime.tv_sec, INT64_MAX / 1000000000);
	assert_int_equal(st.mtime.tv_sec, INT64_MIN / 1000000000);
}

static void a_write_up_to_the_last_byte(void **state)
{
	const int64_t last = INT64_MAX - 1;
	int fd = berth_open(task, "/f", O_CREAT | O_RDWR | O_APPEND, 0644);
	struct berth_stat st;

	(void)state;
	assert_int_equal(berth_pwrite(task, fd, "abcde", 5, last), -EINVAL);
	assert_int_equal(berth_ftruncate(task, fd, last), 0);
	assert_int_equal(berth_write(task, fd, "abcde", 5), 1);
	assert_int_equal(berth_lseek(task, fd, 0, SEEK_SET), 0);
	assert_int_equal(berth_write(task, fd, "abcde", 5), -EFBIG);
	assert_int_equal(berth_fstat(task, fd, &st), 0);
	assert_int_equal(st.size, INT64_MAX);
}

static void a_cut_behind_the_only_page(void **state)
{
	int fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);

	(void)state;
	assert_int_equal(berth_write(task, fd, "hello", 5), 5);
	assert_int_equal(berth_ftruncate(task, fd, 3 * PAGE), 0);
	assert_int_equal(berth_ftruncate(task, fd, 2 * PAGE), 0);
	assert_int_equal(berth_ftruncate(task, fd, 5), 0);
	assert_true(file_holds(task, fd, "hello"));
}

/* More open files than memory is kept for. */
static void many_open_files(void **state)
{
	int fd;

	(void)state;
	make_file("/f", "");
	berth_files_set_limit(berth_task_files(task), 10000);
	for (fd = 0; fd < 10000; fd++)
		check_equal(berth_open(task, "/f", O_RDONLY, 0), fd);
	for (fd = 0; fd < 10000; fd++)
		check_equal(berth_close(task, fd), 0);
	berth_drain();
	assert_int_equal(berth_open(task, "/f", O_RDONLY, 0), 0);
}

static void what_only_files_have(void **state)
{
	char path[5000];
	int fd;

	(void)state;
	fd = berth_open(task, "/", O_RDONLY | O_DIRECTORY, 0);
	assert_int_equal(berth_lseek(task, fd, 0, SEEK_DATA), -EINVAL);
	assert_int_equal(berth_lseek(task, fd, 0, SEEK_HOLE), -EINVAL);
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(berth_readlink(task, path, path, 1), -ENAMETOOLONG);
}

/* A table may hold objects of its user's own beside files. */
static void a_users_own_object(void **state)
{
	char buf[4];
	int fd;

	(void)state;
	fd = probe_open(berth_task_files(task), NULL);
	assert_true(fd >= 0);
	assert_int_equal(berth_read(task, fd, buf, 4), -EBADF);
	assert_int_equal(berth_fchdir(task, fd), -EBADF);
	assert_int_equal(berth_close(task, fd), 0);
}

static void a_maximum_of_open_files(void **state)
{
	struct berth_vfs_options options = default_options();
	int i, fd;

	(void)state;
	options.nr_files = 5;
	create_with(&options);
	make_file("/f", "hello");
	for (i = 0; i < 5; i++)
		assert_int_equal(berth_open(task, "/f", O_RDONLY, 0), i);
	assert_int_equal(berth_open(task, "/f", O_RDONLY, 0), -ENFILE);
	assert_int_equal(berth_open(task, "/g", O_CREAT | O_RDWR, 0644),
			 -ENFILE);
	assert_int_equal(berth_open(task, "/none", O_RDONLY, 0), -ENFILE);
	/* A duplicate is no further file; a full table is told first. */
	assert_int_equal(berth_dup(task, 0), 5);
	assert_int_equal(berth_close(task, 0), 0);
	berth_files_set_limit(berth_task_files(task), 6);
	assert_int_equal(berth_dup(task, 5), 0);
	assert_int_equal(berth_open(task, "/f", O_RDONLY, 0), -EMFILE);
	for (fd = 0; fd < 6; fd++)
		assert_int_equal(berth_close(task, fd), 0);
	/* What failed, on the way or before, has given its place back. */
	for (i = 0; i < 20; i++)
		assert_int_equal(berth_open(task, "/none", O_RDONLY, 0),
				 -ENOENT);
	for (i = 0; i < 5; i++)
		assert_int_equal(berth_open(task, "/h", O_CREAT | O_RDWR, 0644),
				 i);
	finish();
}

static void a_table_of_its_own(void **state)
{
	struct berth_task *child;

	(void)state;
	make_file("/f", "hello");
	assert_int_equal(berth_open(task, "/f", O_RDONLY, 0), 0);
	assert_int_equal(berth_open(task, "/f", O_RDONLY, 0), 1);
	assert_int_equal(berth_task_fork(task, BERTH_TASK_SHARE_FILES, &child),
			 0);
	assert_int_equal(berth_close_range(child, 1, 0, 0), -EINVAL);
	assert_int_equal(
		berth_close_range(child, 1, ~0u, BERTH_CLOSE_RANGE_CLOEXEC), 0);
	assert_int_equal(berth_fcntl(task, 1, F_GETFD, 0), FD_CLOEXEC);
	assert_int_equal(
		berth_close_range(child, 1, ~0u, BERTH_CLOSE_RANGE_UNSHARE), 0);
	assert_ptr_not_equal(berth_task_files(task), berth_task_files(child));
	assert_int_equal(berth_close(child, 1), -EBADF);
	assert_true(file_holds(task, 1, "hello"));
	berth_task_destroy(child);

	assert_int_equal(berth_task_fork(task, BERTH_TASK_SHARE_FILES, &child),
			 0);
	assert_int_equal(berth_task_unshare_files(child), 0);
	assert_int_equal(berth_close(child, 1), 0);
	assert_int_equal(berth_close(task, 1), 0);
	berth_task_destroy(child);
}

/* It is said of the number, so the file does not show it. */
static void any_descriptor(void **state)
{
	const struct berth_open_how how = { .flags = O_PATH | BERTH_ANYFD };
	int made, found, place;

	(void)state;
	made = berth_open(task, "/f", O_CREAT | O_WRONLY | BERTH_ANYFD, 0644);
	found = berth_open(task, "/f", O_CLOEXEC | BERTH_ANYFD, 0);
	place = berth_openat2(task, BERTH_AT_FDCWD, "/f", &how, sizeof(how));
	assert_true(made > 64 && found > 64 && place > 64);
	assert_int_equal(berth_fcntl(task, made, F_GETFD, 0), 0);
	assert_int_equal(berth_fcntl(task, found, F_GETFD, 0), FD_CLOEXEC);
	assert_int_equal(berth_fcntl(task, found, F_GETFL, 0) & ~0100000,
			 O_RDONLY);
	assert_int_equal(berth_fcntl(task, place, F_GETFL, 0), O_PATH);
	assert_int_equal(berth_open(task, "/f", O_RDONLY, 0), 0);
}

static const struct CMUnitTest cases[] = {
#define PLAIN(function) \
	cmocka_unit_test_setup_teardown(function, create, destroy)
	PLAIN(an_instance_by_default),
	cmocka_unit_test(the_root_directory_as_wanted),
	cmocka_unit_test(options_out_of_range),
	cmocka_unit_test(a_read_only_instance),
	PLAIN(two_instances_have_nothing_in_common),
	cmocka_unit_test(space_is_back_at_the_last_close),
	cmocka_unit_test(inodes_are_back_at_the_last_close),
	cmocka_unit_test(how_full_it_is),
	PLAIN(how_full_it_is_without_limits),
	cmocka_unit_test(times_come_from_the_clock),
	PLAIN(a_forked_task),
	PLAIN(a_task_that_shares_the_table),
	PLAIN(credentials_of_a_task),
	PLAIN(many_groups),
	PLAIN(the_table_of_a_task),
	cmocka_unit_test(a_busy_instance_stays),
	PLAIN(entries_from_a_cookie),
	PLAIN(the_short_forms),
	PLAIN(vectors_out_of_range),
	PLAIN(times_beyond_all_ends),
	PLAIN(a_write_up_to_the_last_byte),
	PLAIN(a_cut_behind_the_only_page),
	PLAIN(many_open_files),
	PLAIN(what_only_files_have),
	PLAIN(a_users_own_object),
	PLAIN(any_descriptor),
	cmocka_unit_test(a_maximum_of_open_files),
	PLAIN(a_table_of_its_own),
};

int main(int argc, char **argv)
{
	return run_cases(argc, argv, cases);
}
