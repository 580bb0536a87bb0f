/* SPDX-License-Identifier: MIT */
/*
 * Invariant V3: a rename is atomic for lookups.  A name that is moved is in the
 * old place or in the new one, a name that is replaced is always there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fixture.h"
#include "harness.h"

/* ---- A name moved between two directories, and back ---- */

/*
 * Modulo 4: 0, it is at the first place; 1, on its way to the second; 2, there;
 * 3, on its way back.
 */
struct way {
	const char *places[2];
	atomic_uint step;
};

static void move_to_and_fro(struct worker *me)
{
	struct way *way = me->shared;
	struct berth_task *mine = fork_task();
	unsigned int from = 0;

	while (keep_going() || from) {
		atomic_fetch_add(&way->step, 1);
		check_equal(berth_rename(mine, way->places[from],
					 way->places[!from]),
			    0);
		atomic_fetch_add(&way->step, 1);
		from = !from;
		me->work++;
	}
	berth_task_destroy(mine);
}

/*
 * When no step ended meanwhile, there was one rename at most.  Then who looks
 * first where it comes from and next where it goes to must find it.
 */
static void look_in_order(struct worker *me)
{
	struct way *way = me->shared;
	struct berth_task *mine = fork_task();
	struct berth_stat st;

	while (keep_going()) {
		unsigned int step = atomic_load(&way->step);
		unsigned int first = step % 4 / 2;
		int here = berth_stat(mine, way->places[first], &st);
		int there = berth_stat(mine, way->places[!first], &st);

		check(!here || here == -ENOENT);
		check(!there || there == -ENOENT);
		if (atomic_load(&way->step) != step)
			continue;
		check(!here || !there);
		/* At rest it is at one place. */
		check(step % 2 || (!here && there));
		me->work++;
	}
	berth_task_destroy(mine);
}

/* Two directories, and in each so many names that their chains are long. */
static void two_directories(void)
{
	char path[16];
	int i;

	check_equal(berth_mkdir(task, "/a", 0755), 0);
	check_equal(berth_mkdir(task, "/b", 0755), 0);
	for (i = 0; i < 50; i++) {
		snprintf(path, sizeof(path), "/%c/x%d", i % 2 ? 'a' : 'b', i);
		make_file(path, "");
	}
}

static void a_file_is_moved(void **state)
{
	struct way way = { .places = { "/a/f", "/b/g" } };

	(void)state;
	two_directories();
	make_file("/a/f", "hello");
	race(&way, move_to_and_fro, look_in_order, look_in_order);
}

static void a_directory_on_the_way_is_moved(void **state)
{
	struct way way = { .places = { "/a/d", "/b/d" } };

	(void)state;
	two_directories();
	check_equal(berth_mkdir(task, "/a/d", 0755), 0);
	make_file("/a/d/f", "hello");
	race(&way, move_to_and_fro, look_in_order, look_in_order);
}

static void a_file_is_renamed_in_place(void **state)
{
	struct way way = { .places = { "/a/f", "/a/another-name" } };

	(void)state;
	two_directories();
	make_file("/a/f", "hello");
	race(&way, move_to_and_fro, look_in_order, look_in_order);
}

/* ---- A name that is replaced ---- */

static void replace(struct worker *me)
{
	struct berth_task *mine = fork_task();
	char fresh[32], text[32];
	int fd;

	while (keep_going()) {
		snprintf(fresh, sizeof(fresh), "/%c/fresh%u",
			 me->work % 2 ? 'a' : 'b', me->index);
		memset(text, 'a' + (int)(me->work % 26), sizeof(text));
		fd = berth_open(mine, fresh, O_CREAT | O_EXCL | O_WRONLY, 0644);
		check(fd >= 0);
		check_equal(berth_write(mine, fd, text, sizeof(text)),
			    sizeof(text));
		check_equal(berth_close(mine, fd), 0);
		check_equal(berth_rename(mine, fresh, "/a/target"), 0);
		me->work++;
	}
	berth_task_destroy(mine);
}

static void open_the_target(struct worker *me)
{
	struct berth_task *mine = fork_task();
	struct berth_stat st;
	char text[33];
	int fd;

	while (keep_going()) {
		fd = berth_open(mine, "/a/target", O_RDONLY, 0);
		check(fd >= 0);
		check_equal(berth_read(mine, fd, text, sizeof(text)), 32);
		check(!memcmp(text, text + 1, 31));
		check_equal(berth_fstat(mine, fd, &st), 0);
		check(st.nlink <= 1);
		check_equal(berth_close(mine, fd), 0);
		check_equal(berth_stat(mine, "/a/target", &st), 0);
		check_equal((long)st.size, 32);
		me->work++;
	}
	berth_task_destroy(mine);
}

static void a_target_is_never_missing(void **state)
{
	(void)state;
	two_directories();
	make_file("/a/target", "01234567890123456789012345678901");
	check_equal(berth_truncate(task, "/a/target", 0), 0);
	check_equal(berth_truncate(task, "/a/target", 32), 0);
	race(NULL, replace, replace, open_the_target, open_the_target);
}

/* ---- Two names that are exchanged ---- */

static void exchange(struct worker *me)
{
	struct berth_task *mine = fork_task();

	while (keep_going()) {
		check_equal(berth_renameat2(mine, BERTH_AT_FDCWD, "/a/one",
					    BERTH_AT_FDCWD, "/b/two",
					    BERTH_RENAME_EXCHANGE),
			    0);
		me->work++;
	}
	berth_task_destroy(mine);
}

static void find_both(struct worker *me)
{
	struct berth_task *mine = fork_task();
	struct berth_stat st;

	while (keep_going()) {
		check_equal(berth_stat(mine, "/a/one", &st), 0);
		check_equal(berth_stat(mine, "/b/two", &st), 0);
		check_equal(st.nlink, S_ISDIR(st.mode) ? 2 : 1);
		me->work++;
	}
	berth_task_destroy(mine);
}

static void exchanged_names_are_never_missing(void **state)
{
	struct berth_stat st;

	(void)state;
	two_directories();
	make_file("/a/one", "hello");
	check_equal(berth_mkdir(task, "/b/two", 0755), 0);
	race(NULL, exchange, exchange, find_both);
	check_equal(berth_stat(task, "/a", &st), 0);
	check_equal(berth_stat(task, "/a/one", &st), 0);
	check_equal(st.nlink, S_ISDIR(st.mode) ? 2 : 1);
}

/* ---- One target for several ---- */

static void check_survivor(void *shared)
{
	struct berth_stat st;
	char path[16];
	unsigned int i;

	(void)shared;
	check_equal(berth_stat(task, "/a/target", &st), 0);
	check_equal(st.nlink, 1);
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/b/mine%u", i);
		check_equal(berth_stat(task, path, &st), -ENOENT);
	}
	check_equal(berth_unlink(task, "/a/target"), 0);
}

static void rename_mine(struct worker *me)
{
	struct berth_task *mine = fork_task();
	char path[16];

	snprintf(path, sizeof(path), "/b/mine%u", me->index);
	do {
		check_equal(berth_mknodat(mine, BERTH_AT_FDCWD, path, 0644, 0),
			    0);
		check_equal(berth_rename(mine, path, "/a/target"), 0);
		me->work++;
	} while (next_round(me, check_survivor));
	berth_task_destroy(mine);
}

static void several_for_one_target(void **state)
{
	(void)state;
	two_directories();
	race(NULL, rename_mine, rename_mine, rename_mine);
}

int main(int argc, char **argv)
{
#define CASE(function) \
	cmocka_unit_test_setup_teardown(function, create, destroy)
	static const struct CMUnitTest cases[] = {
		CASE(a_file_is_moved),
		CASE(a_directory_on_the_way_is_moved),
		CASE(a_file_is_renamed_in_place),
		CASE(a_target_is_never_missing),
		CASE(exchanged_names_are_never_missing),
		CASE(several_for_one_target),
	};

	return run_cases(argc, argv, cases);
}
