/* SPDX-License-Identifier: MIT */
/*
 * A walk that must stay below a directory stays there, while directories that
 * it passes are carried out of it and back.
 *
 * The walk goes down through one that is carried and up again by "..": whoever
 * is carried off in between finds another parent on the way up.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "fixture.h"
#include "harness.h"

static const char path[] = "x/y/../y/../y/../y/../../secret";

static void carry(struct worker *me)
{
	while (keep_going()) {
		check_equal(berth_rename(task, "/jail/x", "/x"), 0);
		check_equal(berth_rename(task, "/x", "/jail/x"), 0);
		me->work++;
	}
}

static void walk(struct worker *me, uint64_t resolve)
{
	const struct berth_open_how how = { .flags = O_RDONLY,
					    .resolve = resolve };
	struct berth_task *mine = fork_task();
	int jail = berth_open(mine, "/jail", O_PATH, 0), fd;

	while (keep_going()) {
		fd = berth_openat2(mine, jail, path, &how, sizeof(how));
		if (fd < 0) {
			check(fd == -ENOENT || fd == -EAGAIN || fd == -EXDEV);
			continue;
		}
		check(file_holds(mine, fd, "mine"));
		check_equal(berth_close(mine, fd), 0);
		me->work++;
	}
	berth_task_destroy(mine);
}

static void walk_beneath(struct worker *me)
{
	walk(me, BERTH_RESOLVE_BENEATH);
}

static void walk_in_root(struct worker *me)
{
	walk(me, BERTH_RESOLVE_IN_ROOT);
}

static void stays_below(void **state)
{
	(void)state;
	check_equal(berth_mkdir(task, "/jail", 0755), 0);
	check_equal(berth_mkdir(task, "/jail/x", 0755), 0);
	check_equal(berth_mkdir(task, "/jail/x/y", 0755), 0);
	make_file("/secret", "theirs");
	make_file("/jail/secret", "mine");
	race(NULL, carry, walk_beneath, walk_in_root);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(stays_below, create, destroy),
	};

	return run_cases(argc, argv, cases);
}
