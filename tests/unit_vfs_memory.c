/* SPDX-License-Identifier: MIT */
/* Memory of an instance: given back, limited, and failing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fixture.h"
#include "harness.h"

/* Some of everything, open files that have no name among it. */
static void populate(void)
{
	char path[64];
	int i, fd;

	for (i = 0; i < 50; i++) {
		snprintf(path, sizeof(path), "/d%d", i);
		check_equal(berth_mkdir(task, path, 0755), 0);
		snprintf(path, sizeof(path), "/d%d/f", i);
		make_file(path, "hello");
		snprintf(path, sizeof(path), "/d%d/link", i);
		check_equal(berth_symlink(task, "../d1/f", path), 0);
	}
	check_equal(berth_link(task, "/d1/f", "/d2/f2"), 0);
	check_equal(berth_rename(task, "/d3", "/d4/d3"), 0);
	fd = berth_open(task, "/big", O_CREAT | O_RDWR, 0644);
	check_equal(berth_pwrite(task, fd, "x", 1, INT64_C(1) << 32), 1);
	check_equal(fill(fd) > 0, true);
}

static void all_memory_is_given_back(void **state)
{
	struct heap heap;
	struct berth_vfs_options options = on_heap(&heap);
	int fd;

	(void)state;
	options.size = 300 * PAGE;
	create_with(&options);
	populate();
	fd = berth_open(task, "/d1/f", O_RDWR, 0);
	check_equal(berth_unlink(task, "/d1/f"), 0);
	check_equal(berth_unlink(task, "/d2/f2"), 0);
	check_equal(berth_ftruncate(task, fd, 100000), 0);
	assert_true(heap.bytes > 0);
	finish();
	assert_int_equal(heap.blocks, 0);
	assert_int_equal(heap.bytes, 0);
}

static void memory_of_what_is_removed(void **state)
{
	struct heap heap;
	struct berth_vfs_options options = on_heap(&heap);
	size_t before = 0;
	int round, fd;

	(void)state;
	create_with(&options);
	for (round = 0; round < 4; round++) {
		fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
		check_equal(berth_pwrite(task, fd, "x", 1, 9 * PAGE), 1);
		check_equal(berth_mkdir(task, "/d", 0755), 0);
		check_equal(berth_symlink(task, "x", "/s"), 0);
		check_equal(berth_unlink(task, "/f"), 0);
		check_equal(berth_unlink(task, "/s"), 0);
		check_equal(berth_rmdir(task, "/d"), 0);
		check_equal(berth_close(task, fd), 0);
		berth_drain();
		if (round == 1)
			before = heap.bytes;
	}
	assert_int_equal(heap.bytes, before);
	finish();
}

static void no_more_memory_than_allowed(void **state)
{
	struct heap heap;
	struct berth_vfs_options options = on_heap(&heap);
	static const char page[PAGE] = { 'x' };
	struct berth_stat st;
	int fd, round, first = 0;
	ssize_t ret;

	(void)state;
	options.memory_max = 4 << 20;
	create_with(&options);
	for (round = 0; round < 3; round++) {
		int pages = 0;

		fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
		while ((ret = berth_write(task, fd, page, PAGE)) == PAGE)
			pages++;
		assert_int_equal(ret, -ENOMEM);
		assert_true(pages > 500);
		assert_true(heap.most_bytes <= options.memory_max);
		if (!round)
			first = pages;
		/* As much each time: nothing has been lost. */
		assert_true(pages >= first);
		assert_int_equal(berth_unlink(task, "/f"), 0);
		assert_int_equal(berth_close(task, fd), 0);
	}
	/* Names take some, too. */
	for (round = 0;; round++) {
		char path[32];

		snprintf(path, sizeof(path), "/d%d", round);
		ret = berth_mkdir(task, path, 0755);
		if (ret)
			break;
	}
	assert_int_equal(ret, -ENOMEM);
	assert_int_equal(berth_stat(task, "/", &st), 0);
	assert_int_equal(st.nlink, 2 + round);
	assert_true(heap.most_bytes <= options.memory_max);
	finish();
	assert_int_equal(heap.bytes, 0);
}

/* ---- Failing allocations ---- */

/* What the operations below start from. */
static void prepare_tree(void)
{
	check_equal(berth_mkdir(task, "/d", 0755), 0);
	check_equal(berth_mkdir(task, "/d/sub", 0755), 0);
	check_equal(berth_mkdir(task, "/empty", 0755), 0);
	make_file("/d/f", "hello");
	make_file("/g", "world");
	check_equal(berth_symlink(task, "d/f", "/s"), 0);
	check_equal(berth_open(task, "/d/f", O_RDWR, 0), 0);
	/* A tall tree of pages, with room for nodes between. */
	check_equal(berth_pwrite(task, 0, "x", 1, 5000 * PAGE), 1);
}

static int op_create(void)
{
	int fd = berth_open(task, "/d/new", O_CREAT | O_RDWR, 0644);

	return fd < 0 ? fd : 0;
}

static int op_create_long_name(void)
{
	char path[200] = "/d/";

	memset(path + 3, 'n', 150);
	return berth_mkdir(task, path, 0755);
}

static int op_mkdir(void)
{
	return berth_mkdir(task, "/d/new", 0755);
}

static int op_symlink(void)
{
	char target[1000];

	memset(target, 't', sizeof(target));
	target[999] = '\0';
	return berth_symlink(task, target, "/d/new");
}

static int op_link(void)
{
	return berth_link(task, "/g", "/d/new");
}

/* The first entry of a directory makes its tables. */
static int op_create_first(void)
{
	return berth_mkdir(task, "/empty/new", 0755);
}

static int op_link_first(void)
{
	return berth_link(task, "/g", "/empty/new");
}

static int op_rename_first(void)
{
	return berth_rename(task, "/g", "/empty/new");
}

static int op_whiteout(void)
{
	return berth_renameat2(task, BERTH_AT_FDCWD, "/g", BERTH_AT_FDCWD,
			       "/empty/new", BERTH_RENAME_WHITEOUT);
}

static int op_unlink(void)
{
	return berth_unlink(task, "/g");
}

static int op_rename(void)
{
	return berth_rename(task, "/g", "/d/new");
}

static int op_replace(void)
{
	return berth_rename(task, "/g", "/d/f");
}

static int op_move_directory(void)
{
	return berth_rename(task, "/d/sub", "/new");
}

static int op_exchange(void)
{
	return berth_renameat2(task, BERTH_AT_FDCWD, "/g", BERTH_AT_FDCWD, "/d",
			       BERTH_RENAME_EXCHANGE);
}

/* The bytes go into a page that is to be had first. */
static int op_write(void)
{
	ssize_t ret = berth_pwrite(task, 0, "x", 1, 1000 * PAGE);

	return ret < 0 ? (int)ret : 0;
}

static int op_write_far(void)
{
	ssize_t ret = berth_pwrite(task, 0, "x", 1, 3000000 * PAGE);

	return ret < 0 ? (int)ret : 0;
}

static int op_grow(void)
{
	return berth_truncate(task, "/d/f", INT64_C(1) << 40);
}

static int op_cut(void)
{
	return berth_truncate(task, "/d/f", 2);
}

static int op_truncating_open(void)
{
	int fd = berth_open(task, "/d/f", O_WRONLY | O_TRUNC, 0);

	return fd < 0 ? fd : 0;
}

static int op_open_through_link(void)
{
	int fd = berth_open(task, "/s", O_RDWR, 0);

	return fd < 0 ? fd : 0;
}

static int op_chmod(void)
{
	return berth_chmod(task, "/d/f", 0600);
}

static int op_inode(void)
{
	struct berth_inode *root, *inode;
	struct berth_stat st;
	int err;

	berth_inode_root(vfs, &root);
	err = berth_inode_mknod(task, root, "new", 0644, 0, &inode, &st);
	if (!err)
		berth_inode_forget(inode, 1);
	berth_inode_forget(root, 1);
	return err;
}

/* A short text of all that can be seen of the tree, by plain calls. */
static void describe(char *text, size_t size)
{
	static const char *const names[] = { "/",      "/d",	    "/d/sub",
					     "/d/f",   "/g",	    "/s",
					     "/d/new", "/new",	    "/g/f",
					     "/empty", "/empty/new" };
	struct berth_statfs full;
	struct berth_stat st;
	size_t i, at;

	berth_vfs_statfs(vfs, &full);
	at = (size_t)snprintf(text, size, "%u open, %llu inodes, %llu pages\n",
			      berth_files_count(berth_task_files(task)),
			      (unsigned long long)full.inodes_free,
			      (unsigned long long)full.blocks_free);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int err = berth_lstat(task, names[i], &st);

		at += (size_t)snprintf(
			text + at, size - at, "%s %d %llu %o %u %llu %ld\n",
			names[i], err, err ? 0ull : (unsigned long long)st.ino,
			err ? 0 : st.mode, err ? 0 : st.nlink,
			err || S_ISDIR(st.mode) ? 0ull
						: (unsigned long long)st.size,
			err ? 0 : st.mtime.tv_nsec);
	}
}

/* Let one allocation after the other fail: all or nothing happens. */
static void fails_whole(int (*operation)(void), const char *name)
{
	char before[2000], after[2000];
	struct heap heap;
	struct berth_vfs_options options = on_heap(&heap);
	long n;
	int err;

	options.size = 2000 * PAGE;
	options.nr_inodes = 100;
	for (n = 0; n < 1000; n++) {
		create_with(&options);
		prepare_tree();
		describe(before, sizeof(before));
		atomic_store(&heap.calls_left, n);
		err = operation();
		atomic_store(&heap.calls_left, -1);
		if (err) {
			check_equal(err, -ENOMEM);
			describe(after, sizeof(after));
			if (strcmp(before, after) != 0)
				print_error("%s, allocation %ld fails:\n%s"
					    "became\n%s",
					    name, n, before, after);
			check(!strcmp(before, after));
			check_equal(operation(), 0);
		}
		finish();
		check_equal((long)heap.bytes, 0);
		if (!err)
			break;
	}
	check(n < 1000);
}

static void failing_allocations_change_nothing(void **state)
{
	(void)state;
#define FAILS_WHOLE(operation) fails_whole(operation, #operation)
	FAILS_WHOLE(op_create);
	FAILS_WHOLE(op_create_long_name);
	FAILS_WHOLE(op_mkdir);
	FAILS_WHOLE(op_symlink);
	FAILS_WHOLE(op_link);
	FAILS_WHOLE(op_create_first);
	FAILS_WHOLE(op_link_first);
	FAILS_WHOLE(op_rename_first);
	FAILS_WHOLE(op_whiteout);
	FAILS_WHOLE(op_unlink);
	FAILS_WHOLE(op_rename);
	FAILS_WHOLE(op_replace);
	FAILS_WHOLE(op_move_directory);
	FAILS_WHOLE(op_exchange);
	FAILS_WHOLE(op_write);
	FAILS_WHOLE(op_write_far);
	FAILS_WHOLE(op_grow);
	FAILS_WHOLE(op_cut);
	FAILS_WHOLE(op_truncating_open);
	FAILS_WHOLE(op_open_through_link);
	FAILS_WHOLE(op_chmod);
	FAILS_WHOLE(op_inode);
}

static void failing_allocations_at_creation(void **state)
{
	struct heap heap;
	struct berth_vfs_options options = on_heap(&heap);
	long n;
	int err = -1;

	(void)state;
	for (n = 0; n < 100 && err; n++) {
		atomic_store(&heap.calls_left, n);
		err = berth_vfs_create(&options, &vfs);
		if (err) {
			check_equal(err, -ENOMEM);
			continue;
		}
		err = berth_task_create(vfs, NULL, &task);
		if (!err)
			berth_task_destroy(task);
		else
			check_equal(err, -ENOMEM);
		atomic_store(&heap.calls_left, -1);
		check_equal(berth_vfs_destroy(vfs), 0);
		check_equal((long)heap.bytes, 0);
	}
	assert_int_equal(err, 0);
	assert_true(n > 1);
}

static const struct CMUnitTest cases[] = {
	cmocka_unit_test(all_memory_is_given_back),
	cmocka_unit_test(memory_of_what_is_removed),
	cmocka_unit_test(no_more_memory_than_allowed),
	cmocka_unit_test(failing_allocations_change_nothing),
	cmocka_unit_test(failing_allocations_at_creation),
};

int main(int argc, char **argv)
{
	return run_cases(argc, argv, cases);
}
