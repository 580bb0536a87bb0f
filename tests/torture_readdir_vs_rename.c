/* SPDX-License-Identifier: MIT */
/*
 * A directory is read while it is moved about, or removed and made anew, and
 * while entries come and go: those that stay are seen once, from whatever cookie
 * one resumes; ".." is one of the places where the directory was; and one that is
 * removed takes no new entry, though somebody works in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fixture.h"
#include "harness.h"

enum {
	STAYING = 40,
	MOST = STAYING + 300, /* entries at one time, and far more */
};

static uint64_t inode_of(struct berth_task *of, const char *path)
{
	struct berth_stat st;

	check_equal(berth_stat(of, path, &st), 0);
	return st.ino;
}

/* ---- One that is moved ---- */

static uint64_t parents[2];

static void move(struct worker *me)
{
	struct berth_task *mine = fork_task();

	for (; keep_going(); me->work++) {
		check_equal(berth_rename(mine, "/a/d", "/b/dir"), 0);
		check_equal(berth_rename(mine, "/b/dir", "/a/d"), 0);
	}
	berth_task_destroy(mine);
}

static void come_and_go(struct worker *me)
{
	struct berth_task *mine = fork_task();
	int dir = berth_open(mine, "/a/d", O_RDONLY, 0);
	char name[16], other[16];

	while (dir < 0)
		dir = berth_open(mine, "/a/d", O_RDONLY, 0);
	for (; keep_going(); me->work++) {
		snprintf(name, sizeof(name), "x%u", (unsigned)me->work % 50);
		snprintf(other, sizeof(other), "y%u", (unsigned)me->work % 50);
		check_equal(berth_mknodat(mine, dir, name, 0644, 0), 0);
		check_equal(berth_renameat2(mine, dir, name, dir, other, 0), 0);
		check_equal(berth_unlinkat(mine, dir, other, 0), 0);
	}
	berth_task_destroy(mine);
}

struct reading {
	struct berth_task *task;
	int dir;
	unsigned int seen[STAYING];
	int64_t place[STAYING]; /* the cookie of each; it keeps it */
	int64_t cookies[MOST];
	unsigned int count;
};

static void see(struct reading *reading, const struct berth_dirent *entry)
{
	unsigned int number;

	check(reading->count < MOST);
	reading->cookies[reading->count++] = entry->cookie;
	if (!strcmp(entry->name, ".."))
		check(entry->ino == parents[0] || entry->ino == parents[1]);
	if (sscanf(entry->name, "stay%u", &number) != 1)
		return;
	check(number < STAYING);
	reading->seen[number]++;
	reading->place[number] = entry->cookie;
}

/* From a cookie on, without the offset; with a buffer of any size. */
static void read_from(struct reading *reading, int64_t cookie, size_t size)
{
	uint64_t buf[64];
	const struct berth_dirent *entry;
	ssize_t got, at;

	while ((got = berth_getdents_from(reading->task, reading->dir, cookie,
					  buf, size)) > 0)
		for (at = 0; at < got; at += entry->reclen) {
			entry = (const void *)((const char *)buf + at);
			check(entry->cookie > cookie);
			cookie = entry->cookie;
			see(reading, entry);
		}
	check_equal(got, 0);
}

/*
 * All from the start; then again from one of the cookies, one that a removed
 * entry left as well: of those that stay, those seen after it come, and no other.
 */
static void read_and_resume(struct worker *me, struct reading *reading)
{
	unsigned int at, i;

	memset(reading->seen, 0, sizeof(reading->seen));
	reading->count = 0;
	read_from(reading, 0, 40 + 8 * random_below(&me->random, 50));
	for (i = 0; i < STAYING; i++)
		check_equal(reading->seen[i], 1);

	at = random_below(&me->random, reading->count);
	memset(reading->seen, 0, sizeof(reading->seen));
	read_from(reading, reading->cookies[at], 512);
	for (i = 0; i < STAYING; i++)
		check_equal(reading->seen[i],
			    reading->place[i] > reading->cookies[at]);
}

static void look_up(struct reading *reading)
{
	struct berth_stat st;
	char path[100];
	ssize_t len;

	check_equal(berth_fstatat(reading->task, reading->dir, "..", &st, 0),
		    0);
	check(st.ino == parents[0] || st.ino == parents[1]);
	check_equal(
		berth_fstatat(reading->task, reading->dir, "../mark", &st, 0),
		0);
	len = berth_getcwd(reading->task, path, sizeof(path));
	check(len > 0);
	check(!strcmp(path, "/a/d") || !strcmp(path, "/b/dir"));
}

static void read_on_and_on(struct worker *me)
{
	struct reading *reading = calloc(1, sizeof(*reading));

	check(reading);
	reading->task = fork_task();
	do {
		reading->dir = berth_open(reading->task, "/a/d", O_RDONLY, 0);
	} while (reading->dir < 0);
	check_equal(berth_fchdir(reading->task, reading->dir), 0);
	for (; keep_going(); me->work++) {
		read_and_resume(me, reading);
		look_up(reading);
	}
	berth_task_destroy(reading->task);
	free(reading);
}

static void a_directory_is_moved_while_read(void **state)
{
	char path[32];
	int i;

	(void)state;
	check_equal(berth_mkdir(task, "/a", 0755), 0);
	check_equal(berth_mkdir(task, "/b", 0755), 0);
	make_file("/a/mark", "");
	make_file("/b/mark", "");
	check_equal(berth_mkdir(task, "/a/d", 0755), 0);
	for (i = 0; i < STAYING; i++) {
		snprintf(path, sizeof(path), "/a/d/stay%d", i);
		make_file(path, "");
	}
	parents[0] = inode_of(task, "/a");
	parents[1] = inode_of(task, "/b");
	race(NULL, move, come_and_go, read_on_and_on, read_on_and_on);
}

/* ---- One that is removed, and made anew ---- */

static void make_and_remove(struct worker *me)
{
	struct berth_task *mine = fork_task();
	int err;

	for (; keep_going(); me->work++) {
		err = berth_mkdir(mine, "/p/d", 0755);
		check(!err || err == -EEXIST);
		err = berth_rmdir(mine, "/p/d");
		check(!err || err == -ENOENT || err == -ENOTEMPTY);
	}
	/* For one that has had no turn yet. */
	err = berth_mkdir(mine, "/p/d", 0755);
	check(!err || err == -EEXIST);
	berth_task_destroy(mine);
}

/* Two dots or nothing: the file that others make is gone with it. */
static void list(struct berth_task *mine, int dir)
{
	uint64_t buf[64];
	ssize_t got;

	check_equal(berth_lseek(mine, dir, 0, SEEK_SET), 0);
	got = berth_getdents(mine, dir, buf, sizeof(buf));
	check(got > 0 || got == -ENOENT);
}

/* Whether it is still there or not, "." and ".." work, or are said to be gone. */
static void look_around(struct berth_task *mine)
{
	static const char *const paths[] = { ".", "..", "../..", "../d" };
	struct berth_stat st;
	char path[100];
	size_t i;
	ssize_t len;
	int err;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		err = berth_stat(mine, paths[i], &st);
		check(!err || err == -ENOENT);
		check(err || S_ISDIR(st.mode));
	}
	len = berth_getcwd(mine, path, sizeof(path));
	check(len == -ENOENT || !strcmp(path, "/p/d"));
}

/*
 * Nothing can be made in one that is gone, so one in which an entry was found
 * was there at the stat before.
 */
static void make_an_entry(struct berth_task *mine, int dir)
{
	struct berth_stat st;
	int err;

	err = berth_mknodat(mine, dir, "f", 0644, 0);
	check(!err || err == -ENOENT || err == -EEXIST);
	if (err)
		return;
	check_equal(berth_fstat(mine, dir, &st), 0);
	err = berth_unlinkat(mine, dir, "f", 0);
	check(!err || err == -ENOENT);
	check(err || st.nlink == 2);
}

static void work_in_it(struct worker *me)
{
	struct berth_task *mine = fork_task();
	int dir;

	while (keep_going()) {
		dir = berth_open(mine, "/p/d", O_RDONLY | O_DIRECTORY, 0);
		if (dir < 0) {
			check_equal(dir, -ENOENT);
			continue;
		}
		check_equal(berth_fchdir(mine, dir), 0);
		list(mine, dir);
		look_around(mine);
		make_an_entry(mine, dir);
		check_equal(berth_chdir(mine, "/"), 0);
		check_equal(berth_close(mine, dir), 0);
		me->work++;
	}
	berth_task_destroy(mine);
}

static void a_directory_is_removed_while_used(void **state)
{
	struct berth_stat st;
	int err;

	(void)state;
	check_equal(berth_mkdir(task, "/p", 0755), 0);
	race(NULL, make_and_remove, work_in_it, work_in_it);
	err = berth_rmdir(task, "/p/d");
	check(!err || err == -ENOENT);
	check_equal(berth_stat(task, "/p", &st), 0);
	check_equal(st.nlink, 2);
	check_equal(berth_rmdir(task, "/p"), 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(a_directory_is_moved_while_read,
						create, destroy),
		cmocka_unit_test_setup_teardown(
			a_directory_is_removed_while_used, create, destroy),
	};

	return run_cases(argc, argv, cases);
}
