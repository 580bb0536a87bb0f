/* SPDX-License-Identifier: MIT */
/*
 * A directory is read while entries come and go beside: those that stay are
 * seen once in each reading, those that come and go at most once; and one that
 * comes when all were read is not taken for one that does not fit.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "harness.h"

enum {
	STAYING = 60,
	LIVING = 20, /* of those that come and go, a thread */
	RECENT = 1 << 16,
};

/* How often one reading saw each. */
struct seen {
	unsigned int staying[STAYING];
	/* By thread, number modulo RECENT: the last such number, plus one. */
	unsigned int passing[2][RECENT];
	unsigned int dots;
};

/* "stay7", or "pass1-1234" of thread 1. */
static void see(struct seen *seen, const char *name)
{
	unsigned int thread, number, *last;

	if (name[0] == '.') {
		seen->dots++;
	} else if (sscanf(name, "stay%u", &number) == 1) {
		check(number < STAYING);
		seen->staying[number]++;
	} else {
		check_equal(sscanf(name, "pass%u-%u", &thread, &number), 2);
		check(thread < 2);
		/* A reader that was stalled may see one that came much later. */
		last = &seen->passing[thread][number % RECENT];
		check(*last != number + 1);
		*last = number + 1;
	}
}

static void read_once(struct worker *me, struct berth_task *mine, int fd,
		      struct seen *seen)
{
	uint64_t buf[64];
	size_t size = 40 + 8 * random_below(&me->random, 59);
	const struct berth_dirent *entry;
	ssize_t got, at;
	int i;

	memset(seen, 0, sizeof(*seen));
	check_equal(berth_lseek(mine, fd, 0, SEEK_SET), 0);
	while ((got = berth_getdents(mine, fd, buf, size)) > 0)
		for (at = 0; at < got; at += entry->reclen) {
			entry = (const void *)((const char *)buf + at);
			see(seen, entry->name);
		}
	check_equal(got, 0);
	check_equal(seen->dots, 2);
	for (i = 0; i < STAYING; i++)
		check_equal(seen->staying[i], 1);
}

static void read_again_and_again(struct worker *me)
{
	struct berth_task *mine = fork_task();
	struct seen *seen = malloc(sizeof(*seen));
	int fd = berth_open(mine, "/d", O_RDONLY, 0);

	while (keep_going()) {
		read_once(me, mine, fd, seen);
		me->work++;
	}
	free(seen);
	berth_task_destroy(mine);
}

/* Make one, remove the one made LIVING rounds ago.  Now and then another way. */
static void come_and_go(struct worker *me)
{
	struct berth_task *mine = fork_task();
	char path[40];

	while (keep_going()) {
		unsigned int number = (unsigned int)me->work++;

		snprintf(path, sizeof(path), "/d/pass%u-%u", me->index, number);
		if (number % 3)
			check_equal(berth_mknodat(mine, BERTH_AT_FDCWD, path,
						  0644, 0),
				    0);
		else
			check_equal(berth_link(mine, "/file", path), 0);
		if (number < LIVING)
			continue;
		snprintf(path, sizeof(path), "/d/pass%u-%u", me->index,
			 number - LIVING);
		if (number % 2)
			check_equal(berth_unlink(mine, path), 0);
		else
			check_equal(berth_rename(mine, path, "/away"), 0);
	}
	berth_task_destroy(mine);
}

static void those_that_stay_are_seen_once(void **state)
{
	char path[40];
	int i;

	(void)state;
	check_equal(berth_mkdir(task, "/d", 0755), 0);
	make_file("/file", "hello");
	for (i = 0; i < STAYING; i++) {
		snprintf(path, sizeof(path), "/d/stay%d", i);
		make_file(path, "");
		/* Not all side by side. */
		snprintf(path, sizeof(path), "/d/gone%d", i);
		make_file(path, "");
		check_equal(berth_unlink(task, path), 0);
	}
	race(NULL, come_and_go, come_and_go, read_again_and_again,
	     read_again_and_again);
}

/* At the end there is nothing, or the one that has just come: no error. */
static void read_at_the_end(struct worker *me)
{
	struct berth_task *mine = fork_task();
	uint64_t buf[64];
	int fd = berth_open(mine, "/d", O_RDONLY, 0);
	ssize_t got;

	while (keep_going()) {
		got = berth_getdents_from(mine, fd, 2, buf, sizeof(buf));
		check(got >= 0);
		me->work++;
	}
	berth_task_destroy(mine);
}

static void make_and_remove(struct worker *me)
{
	struct berth_task *mine = fork_task();

	while (keep_going()) {
		check_equal(berth_mkdir(mine, "/d/passing", 0755), 0);
		check_equal(berth_rmdir(mine, "/d/passing"), 0);
		me->work++;
	}
	berth_task_destroy(mine);
}

static void the_end_is_no_error(void **state)
{
	(void)state;
	check_equal(berth_mkdir(task, "/d", 0755), 0);
	race(NULL, make_and_remove, read_at_the_end, read_at_the_end);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(those_that_stay_are_seen_once,
						create, destroy),
		cmocka_unit_test_setup_teardown(the_end_is_no_error, create,
						destroy),
	};

	return run_cases(argc, argv, cases);
}
