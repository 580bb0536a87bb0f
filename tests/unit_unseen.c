/* SPDX-License-Identifier: MIT */
/*
 * What nobody else can have seen is given back at once, with no grace period
 * (F3): opens that fail take no memory that a drain would have to bring back.
 */
#include <errno.h>
#include <fcntl.h>

#include "fixture.h"
#include "harness.h"

static struct heap heap;

static int begin(void **state)
{
	struct berth_vfs_options options = on_heap(&heap);

	(void)state;
	create_with(&options);
	make_file("/file", "hello");
	check_equal(berth_mkdir(task, "/dir", 0755), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	finish();
	check_equal((long)heap.bytes, 0);
	return 0;
}

static void opens_that_find_no_number(void **state)
{
	size_t blocks;

	(void)state;
	berth_files_set_limit(berth_task_files(task), 1);
	check_equal(berth_open(task, "/file", O_RDONLY, 0), 0);
	berth_drain();
	blocks = heap.blocks;
	check_equal(berth_open(task, "/file", O_RDONLY, 0), -EMFILE);
	check_equal(berth_open(task, "/file", O_RDWR, 0), -EMFILE);
	check_equal(berth_open(task, "/new", O_CREAT | O_RDWR, 0644), -EMFILE);
	check_equal((long)heap.blocks, (long)blocks);
	check_equal(berth_close(task, 0), 0);
}

static void opens_that_are_refused(void **state)
{
	size_t blocks;

	(void)state;
	berth_drain();
	blocks = heap.blocks;
	check_equal(berth_open(task, "/missing", O_RDONLY, 0), -ENOENT);
	check_equal(berth_open(task, "/dir", O_WRONLY, 0), -EISDIR);
	check_equal(berth_open(task, "/file", O_CREAT | O_EXCL, 0), -EEXIST);
	check_equal((long)heap.blocks, (long)blocks);
}

/* A creation that fails: the inode and the entry were never shown. */
static void entries_that_exist(void **state)
{
	size_t blocks;

	(void)state;
	berth_drain();
	blocks = heap.blocks;
	check_equal(berth_mkdir(task, "/dir", 0755), -EEXIST);
	check_equal(berth_symlink(task, "text", "/file"), -EEXIST);
	check_equal(berth_link(task, "/file", "/dir"), -EEXIST);
	check_equal((long)heap.blocks, (long)blocks);
}

int main(int argc, char **argv)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	static const struct CMUnitTest cases[] = {
		CASE(opens_that_find_no_number),
		CASE(opens_that_are_refused),
		CASE(entries_that_exist),
	};

	return run_cases(argc, argv, cases);
}
