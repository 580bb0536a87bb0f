/* SPDX-License-Identifier: MIT */
/* Faults of the file system that were found from outside, each a case. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "harness.h"

/* A write that failed for want of space left tree nodes behind, uncounted. */
static void failing_sparse_writes_take_no_memory(void **state)
{
	struct heap heap;
	struct berth_vfs_options options = on_heap(&heap);
	size_t before;
	int fd, i;

	(void)state;
	options.size = PAGE;
	create_with(&options);
	fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
	assert_int_equal(berth_pwrite(task, fd, "x", 1, 0), 1);
	before = atomic_load(&heap.bytes);
	for (i = 1; i < 1000; i++)
		assert_int_equal(
			berth_pwrite(task, fd, "x", 1, (int64_t)i << 36),
			-ENOSPC);
	assert_int_equal(atomic_load(&heap.bytes), before);
	berth_close(task, fd);
	finish();
}

static const char *reported;

static void note(const char *invariant, const char *detail, void *arg)
{
	(void)detail;
	(void)arg;
	reported = invariant;
}

static void forgetting_too_often_is_reported(void **state)
{
	struct berth_inode *root;

	(void)state;
	assert_int_equal(berth_inode_root(vfs, &root), 0);
	reported = NULL;
	berth_set_report_handler(note, NULL);
	berth_inode_forget(root, UINT64_C(1) << 40);
	berth_set_report_handler(NULL, NULL);
	assert_string_equal(reported, "inode-forgotten-too-often");
}

/* ---- An instance destroyed by a callback, under its own files ---- */

static struct berth_vfs *victim;
static int destroyed;

static void destroying_free(struct berth_file *file)
{
	destroyed = berth_vfs_destroy(victim);
	free(file);
}

static const struct berth_file_operations destroying = {
	.free = destroying_free,
};

static void destroy_in_a_callback_is_refused(void **state)
{
	struct berth_file *file = calloc(1, sizeof(*file));

	(void)state;
	assert_int_equal(berth_vfs_create(NULL, &victim), 0);
	berth_file_init(file, &destroying, O_RDWR, 0);
	destroyed = 1;
	berth_file_put(file);
	berth_drain();
	assert_int_equal(destroyed, -EBUSY);
	assert_int_equal(berth_vfs_destroy(victim), 0);
}

/* A directory of another instance led to memory of one freed by the other. */
static void directories_of_other_instances_are_refused(void **state)
{
	struct berth_files *files = berth_task_files(task);
	struct berth_inode *root;
	struct berth_vfs *other;
	struct berth_task *guest;
	int fd, given;

	(void)state;
	assert_int_equal(berth_vfs_create(NULL, &other), 0);
	assert_int_equal(berth_task_create(other, NULL, &guest), 0);
	fd = berth_open(guest, "/", O_RDONLY | O_DIRECTORY, 0);
	given = berth_files_reserve(files, 0, 0);
	berth_files_install(files, given,
			    berth_files_get(berth_task_files(guest), fd));
	assert_int_equal(berth_openat(task, given, "f", O_CREAT | O_RDWR, 0644),
			 -EXDEV);
	assert_int_equal(berth_fchdir(task, given), -EXDEV);
	assert_int_equal(berth_inode_root(other, &root), 0);
	assert_int_equal(berth_inode_open(task, root, O_RDONLY), -EXDEV);
	berth_inode_forget(root, 1);
	berth_close(task, given);
	berth_task_destroy(guest);
	assert_int_equal(berth_vfs_destroy(other), 0);
}

/* ---- A writer that a reader of the same offset kept out ---- */

static int shared_fd;

static void read_through_it(struct worker *me)
{
	char byte;

	while (keep_going()) {
		check(berth_read(task, shared_fd, &byte, 1) >= 0);
		me->work++;
	}
}

/* However often the reader moves the offset, each write ends. */
static void write_through_it(struct worker *me)
{
	static char block[64 * 4096];

	while (keep_going()) {
		check_equal(berth_write(task, shared_fd, block, sizeof(block)),
			    sizeof(block));
		berth_lseek(task, shared_fd, 0, SEEK_SET);
		me->work++;
	}
}

static void readers_do_not_keep_writers_out(void **state)
{
	(void)state;
	shared_fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
	assert_int_equal(berth_ftruncate(task, shared_fd, INT64_C(1) << 40), 0);
	race(NULL, read_through_it, write_through_it);
	berth_close(task, shared_fd);
}

/* A root of mode 0 was taken for one without a mode. */
static void mode_zero_is_a_mode(void **state)
{
	struct berth_vfs_options options = default_options();
	struct berth_stat st;

	(void)state;
	options.flags = BERTH_VFS_MODE | BERTH_VFS_RDONLY;
	create_with(&options);
	assert_int_equal(berth_stat(task, "/", &st), 0);
	assert_int_equal(st.mode & 07777, 0);
	finish();
}

/* O_PATH drops the other flags before they are judged. */
static void path_only_comes_before_tmpfile(void **state)
{
	int tmpfile_alone = O_TMPFILE & ~O_DIRECTORY;
	int fd;

	(void)state;
	make_file("/f", "text");
	fd = berth_open(task, "/f", (unsigned int)(O_PATH | tmpfile_alone), 0);
	assert_true(fd >= 0);
	assert_int_equal(berth_fcntl(task, fd, 12345, 0), -EBADF);
	berth_close(task, fd);
}

/* A device that may not be made was told before the path. */
static void path_comes_before_the_right_to_make_a_device(void **state)
{
	struct berth_cred cred = { .uid = 1000, .gid = 1000 };

	(void)state;
	berth_chmod(task, "/", 0777);
	make_file("/f", "text");
	assert_int_equal(berth_task_set_cred(task, &cred), 0);
	assert_int_equal(
		berth_mknodat(task, BERTH_AT_FDCWD, "/f", S_IFBLK | 0644, 7),
		-EEXIST);
	assert_int_equal(
		berth_mknodat(task, BERTH_AT_FDCWD, "/no/f", S_IFBLK | 0644, 7),
		-ENOENT);
	assert_int_equal(
		berth_mknodat(task, BERTH_AT_FDCWD, "/g", S_IFBLK | 0644, 7),
		-EPERM);
}

/* Memory that ended was called room that ended, which may come back by unlinking
 * files. */
static void fallocate_tells_memory_from_room(void **state)
{
	struct berth_vfs_options options = default_options();
	int fd;

	(void)state;
	options.memory_max = 1 << 20;
	create_with(&options);
	fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
	assert_int_equal(berth_fallocate(task, fd, 0, 0, 500 * PAGE), -ENOMEM);
	finish();
	options.memory_max = 0;
	options.size = 100 * PAGE;
	create_with(&options);
	fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
	assert_int_equal(berth_pwrite(task, fd, "x", 1, 600 * PAGE), 1);
	assert_int_equal(berth_fallocate(task, fd, 0, 0, 100 * PAGE), -ENOSPC);
	finish();
}

#define vfs_test(name) cmocka_unit_test_setup_teardown(name, create, destroy)

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(failing_sparse_writes_take_no_memory),
		vfs_test(forgetting_too_often_is_reported),
		vfs_test(destroy_in_a_callback_is_refused),
		vfs_test(directories_of_other_instances_are_refused),
		vfs_test(readers_do_not_keep_writers_out),
		cmocka_unit_test(mode_zero_is_a_mode),
		vfs_test(path_only_comes_before_tmpfile),
		vfs_test(path_comes_before_the_right_to_make_a_device),
		cmocka_unit_test(fallocate_tells_memory_from_room),
	};

	return run_cases(argc, argv, cases);
}
