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

/* A node for each level of the highest page that there was. */
#define MOST_LEFT ((size_t)6000)

/* What found the places of pages goes with them, also when none came. */
static void no_memory_for_holes(void **state)
{
	const unsigned int punch =
		BERTH_FALLOC_PUNCH_HOLE | BERTH_FALLOC_KEEP_SIZE;
	struct heap heap;
	struct berth_vfs_options options = on_heap(&heap);
	size_t at_first;
	int64_t i;

	(void)state;
	options.size = 16 * (uint64_t)PAGE;
	create_with(&options);
	assert_int_equal(berth_open(task, "/f", O_CREAT | O_RDWR, 0644), 0);
	assert_int_equal(berth_pwrite(task, 0, "x", 1, 0), 1);
	berth_drain();
	at_first = heap.bytes;
	for (i = 1; i < 20000; i++) {
		assert_int_equal(berth_pwrite(task, 0, "x", 1, i * 64 * PAGE),
				 1);
		assert_int_equal(
			berth_fallocate(task, 0, punch, i * 64 * PAGE, PAGE),
			0);
		assert_int_equal(
			berth_fallocate(task, 0, BERTH_FALLOC_KEEP_SIZE,
					(i + 20000) * 64 * PAGE, 16 * PAGE),
			-ENOSPC);
	}
	berth_drain();
	/* The way to the highest page there ever was may stay. */
	assert_true(heap.bytes < at_first + MOST_LEFT);
	assert_int_equal(berth_ftruncate(task, 0, 0), 0);
	finish();
	assert_int_equal(heap.bytes, 0);
}

/* What fails later is in unit_faults. */
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
	cmocka_unit_test(no_memory_for_holes),
	cmocka_unit_test(failing_allocations_at_creation),
};

int main(int argc, char **argv)
{
	if (under_helgrind())
		return 77; /* one thread: it sees nothing, and takes minutes */
	return run_cases(argc, argv, cases);
}
