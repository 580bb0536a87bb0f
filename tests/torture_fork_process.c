/* SPDX-License-Identifier: MIT */
/*
 * The host process forks at any moment while its threads work.  The child has a
 * whole tree, can work with it, and can free all of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "harness.h"

enum {
	WORKERS = 3,
	/* Seconds after which a child hangs; it takes some milliseconds. */
	TOO_LONG = 30,
};

static struct berth_task *tasks[WORKERS];
static struct heap heap;

/* Each thread works on some names of its own and on some of all. */
static void name_one(struct worker *me, char path[16])
{
	if (random_once_in(&me->random, 2))
		snprintf(path, 16, "/d/all%u", random_below(&me->random, 3));
	else
		snprintf(path, 16, "/d/%u-%u", me->index,
			 random_below(&me->random, 3));
}

static void work(struct worker *me)
{
	struct berth_task *mine = tasks[me->index];
	char path[16], other[16], data[5000] = "some data";
	int fd;

	while (keep_going()) {
		name_one(me, path);
		name_one(me, other);
		fd = berth_open(mine, path, O_CREAT | O_RDWR, 0644);
		check(fd >= 0);
		check_equal(berth_write(mine, fd, data, sizeof(data)),
			    sizeof(data));
		berth_rename(mine, path, other);
		berth_unlink(mine, path);
		berth_truncate(mine, other, 10);
		check_equal(berth_close(mine, fd), 0);
		me->work++;
	}
}

/* ---- What the child does ---- */

/* Every name that is listed is there, with what was written to it. */
static void read_tree(void)
{
	uint64_t buf[500];
	const struct berth_dirent *entry;
	char data[5000];
	ssize_t got, at;
	int dir, fd;

	dir = berth_open(task, "/d", O_RDONLY | O_DIRECTORY, 0);
	check(dir >= 0);
	got = berth_getdents(task, dir, buf, sizeof(buf));
	check(got > 0);
	for (at = 0; at < got; at += entry->reclen) {
		entry = (const void *)((const char *)buf + at);
		if (entry->name[0] == '.')
			continue;
		fd = berth_openat(task, dir, entry->name, O_RDWR, 0);
		check(fd >= 0);
		if (berth_read(task, fd, data, sizeof(data)) >= 9)
			check(!memcmp(data, "some data", 9));
		check_equal(berth_close(task, fd), 0);
		check_equal(berth_unlinkat(task, dir, entry->name, 0), 0);
	}
	check_equal(berth_close(task, dir), 0);
}

static void change_tree(void)
{
	char path[16];
	int i, fd;

	for (i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "/d/child%d", i);
		make_file(path, "some data of the child");
		check_equal(berth_rename(task, path, "/d/same"), 0);
	}
	fd = berth_open(task, "/d/same", O_RDWR, 0);
	check_equal(berth_unlink(task, "/d/same"), 0);
	check(file_holds(task, fd, "some data of the child"));
	check_equal(berth_close(task, fd), 0);
}

/* What is removed is given back: deferred frees are carried out. */
static void memory_comes_back(void)
{
	size_t before;

	change_tree();
	berth_drain();
	before = atomic_load(&heap.bytes);
	change_tree();
	berth_drain();
	check_equal((long)atomic_load(&heap.bytes), (long)before);
}

/*
 * No other thread is left, so their tasks are ours to end.  What a thread was
 * holding in the midst of a call it holds for ever: the instance may have to
 * stay, and some bytes may not come back.
 */
static void end_all(void)
{
	int i, err;

	check_equal(berth_rmdir(task, "/d"), 0);
	for (i = 0; i < WORKERS; i++)
		berth_task_destroy(tasks[i]);
	berth_task_destroy(task);
	err = berth_vfs_destroy(vfs);
	check(!err || err == -EBUSY);
}

static void be_the_child(void)
{
	alarm(TOO_LONG);
	read_tree();
	memory_comes_back();
	end_all();
}

static void fork_again_and_again(struct worker *me)
{
	fork_until_over(me, be_the_child);
}

static void the_child_has_a_whole_tree(void **state)
{
	struct berth_vfs_options options = on_heap(&heap);
	int i;

	(void)state;
	if (forks_mislead_tools())
		skip(); /* see harness.h */
	create_with(&options);
	check_equal(berth_mkdir(task, "/d", 0755), 0);
	for (i = 0; i < WORKERS; i++)
		tasks[i] = fork_task();
	race(NULL, work, work, work, fork_again_and_again);
	for (i = 0; i < WORKERS; i++)
		berth_task_destroy(tasks[i]);
	finish();
	check_equal((long)heap.bytes, 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(the_child_has_a_whole_tree),
	};

	return run_cases(argc, argv, cases);
}
