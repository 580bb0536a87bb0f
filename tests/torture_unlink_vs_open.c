/* SPDX-License-Identifier: MIT */
/*
 * Files come and go in a file system that holds just as many as can be alive at
 * once.  Invariant V4: whoever has closed the last use of an unlinked file has
 * given its space back, so that no writer ever meets -ENOSPC.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "harness.h"

enum {
	THREADS = 4,
	NAMES = 3,
	PAGES = 4, /* of a file */
};

static void random_name(struct worker *me, char name[8])
{
	snprintf(name, 8, "/f%u", random_below(&me->random, NAMES));
}

/* Fill a new file with one byte, none of which is zero. */
static void write_file(struct worker *me, struct berth_task *mine, int fd)
{
	char data[PAGE];
	int i;

	memset(data, 1 + (int)random_below(&me->random, 255), sizeof(data));
	for (i = 0; i < PAGES; i++)
		check_equal(berth_pwrite(mine, fd, data, PAGE, i * PAGE), PAGE);
}

/* All that has been written to it is one byte. */
static void read_file(struct berth_task *mine, int fd)
{
	static const char zeros[PAGE];
	char first = 0, data[PAGE];
	ssize_t got;
	int i;

	for (i = 0; i < PAGES; i++) {
		got = berth_pread(mine, fd, data, PAGE, i * PAGE);
		check(got >= 0);
		if (!got || (!first && !memcmp(data, zeros, (size_t)got)))
			break;
		if (!first)
			first = data[0];
		check(data[0] == first);
		check_equal(got, PAGE);
		check(!memcmp(data, data + 1, PAGE - 1));
	}
}

static void create_or_read(struct worker *me, struct berth_task *mine)
{
	char name[8];
	int fd;

	random_name(me, name);
	fd = berth_open(mine, name, O_CREAT | O_EXCL | O_RDWR, 0644);
	if (fd == -EEXIST) {
		fd = berth_open(mine, name, O_RDONLY, 0);
		if (fd == -ENOENT)
			return;
		check(fd >= 0);
		read_file(mine, fd);
	} else {
		check_equal(fd, 0); /* -ENOSPC: an inode is not back */
		write_file(me, mine, fd);
		me->work++;
	}
	check_equal(berth_close(mine, fd), 0);
}

static void remove_one(struct worker *me, struct berth_task *mine)
{
	char name[8];
	int err;

	random_name(me, name);
	err = berth_unlink(mine, name);
	check(!err || err == -ENOENT);
}

static void replace_one(struct worker *me, struct berth_task *mine)
{
	char from[8], to[8];
	int err;

	random_name(me, from);
	random_name(me, to);
	err = berth_rename(mine, from, to);
	check(!err || err == -ENOENT);
}

static void come_and_go(struct worker *me)
{
	const bool *replacing = me->shared;
	struct berth_task *mine = fork_task();

	while (keep_going()) {
		create_or_read(me, mine);
		if (*replacing && random_once_in(&me->random, 4))
			replace_one(me, mine);
		else
			remove_one(me, mine);
	}
	berth_task_destroy(mine);
}

/* As many files as have names or are in the hands of some thread. */
static void run(bool replacing, unsigned int in_hand)
{
	unsigned int alive = NAMES + THREADS * in_hand, i;
	struct heap heap;
	struct berth_vfs_options options = on_heap(&heap);
	char name[8];

	options.size = PAGE * PAGES * alive;
	options.nr_inodes = 1 + alive;
	create_with(&options);
	race(&replacing, come_and_go, come_and_go, come_and_go, come_and_go);
	for (i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "/f%u", i);
		berth_unlink(task, name);
	}
	/* All of it is there again. */
	check_equal(berth_open(task, "/last", O_CREAT | O_RDWR, 0644), 0);
	check_equal(fill(0) / PAGES, alive);
	finish();
	check_equal((long)heap.bytes, 0);
}

static void space_comes_back(void **state)
{
	(void)state;
	run(false, 1);
}

/* A rename has two at a time in hand. */
static void space_of_replaced_files_comes_back(void **state)
{
	(void)state;
	run(true, 2);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(space_comes_back),
		cmocka_unit_test(space_of_replaced_files_comes_back),
	};

	return run_cases(argc, argv, cases);
}
