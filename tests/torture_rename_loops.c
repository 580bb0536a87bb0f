/* SPDX-License-Identifier: MIT */
/*
 * Directories are moved into each other by several threads at once.  The tree
 * stays a tree: no directory ends up below itself, none is lost, link counts
 * and ".." are right.
 *
 * Each thread knows the directories by their descriptors, wherever they are.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fixture.h"
#include "harness.h"

enum {
	DIRECTORIES = 8,
	ROOT = DIRECTORIES, /* its descriptor; those before are 0, 1, ... */
};

static void make_directories(void)
{
	char path[32];
	int i;

	for (i = 0; i < DIRECTORIES; i++) {
		snprintf(path, sizeof(path), "/%d", i);
		check_equal(berth_mkdir(task, path, 0755), 0);
		check_equal(berth_open(task, path, O_RDONLY | O_DIRECTORY, 0),
			    i);
		snprintf(path, sizeof(path), "/%d/file", i);
		make_file(path, "hello");
	}
	check_equal(berth_open(task, "/", O_RDONLY | O_DIRECTORY, 0), ROOT);
}

/*
 * What the threads share.  A name belongs to one directory at a time; which one
 * it was last seen to be is a hint.  An exchange leaves names where they are
 * and puts the directories behind them elsewhere.
 */
struct shared {
	uint64_t root;
	atomic_int parent_of[DIRECTORIES];
};

static void move_one(struct worker *me, struct berth_task *mine)
{
	struct shared *shared = me->shared;
	unsigned int one = random_below(&me->random, DIRECTORIES);
	int from = atomic_load(&shared->parent_of[one]);
	int to = (int)random_below(&me->random, DIRECTORIES + 1);
	char name[16];
	int err;

	snprintf(name, sizeof(name), "%u", one);
	err = berth_renameat2(mine, from, name, to, name, 0);
	/* Below itself; onto its ancestor; moved meanwhile. */
	check(!err || err == -EINVAL || err == -ENOTEMPTY || err == -ENOENT);
	if (err)
		return;
	atomic_store(&shared->parent_of[one], to);
	me->work++;
}

static void exchange_two(struct worker *me, struct berth_task *mine)
{
	struct shared *shared = me->shared;
	unsigned int one = random_below(&me->random, DIRECTORIES);
	unsigned int two = random_below(&me->random, DIRECTORIES);
	char name[16], other[16];
	int err;

	snprintf(name, sizeof(name), "%u", one);
	snprintf(other, sizeof(other), "%u", two);
	err = berth_renameat2(mine, atomic_load(&shared->parent_of[one]), name,
			      atomic_load(&shared->parent_of[two]), other,
			      BERTH_RENAME_EXCHANGE);
	check(!err || err == -EINVAL || err == -ENOENT);
	me->work += !err;
}

/* Many more steps than the tree is deep: it may grow below a walk, for what a
 * step has reached may be moved down before the next. */
#define UP_16  "../../../../../../../../../../../../../../../../"
#define FAR_UP UP_16 UP_16 UP_16 UP_16 UP_16 UP_16 UP_16 UP_16

/* A directory is never lost from where its descriptor stands. */
static void look_around(struct worker *me, struct berth_task *mine)
{
	const struct shared *shared = me->shared;
	int fd = (int)random_below(&me->random, DIRECTORIES);
	struct berth_stat st;
	char path[200];
	ssize_t length;

	check_equal(berth_fstatat(mine, fd, "file", &st, 0), 0);
	check_equal(berth_fstatat(mine, fd, "..", &st, 0), 0);
	check(S_ISDIR(st.mode) && st.nlink >= 2);
	check_equal(berth_fstatat(mine, fd, FAR_UP, &st, 0), 0);
	check_equal((long)st.ino, (long)shared->root);
	check_equal(berth_fchdir(mine, fd), 0);
	length = berth_getcwd(mine, path, sizeof(path));
	check(length > 2 && path[0] == '/' && !path[length - 1]);
}

static void move_about(struct worker *me)
{
	struct berth_task *mine = fork_task();

	while (keep_going()) {
		move_one(me, mine);
		if (random_once_in(&me->random, 4))
			exchange_two(me, mine);
		if (random_once_in(&me->random, 4))
			look_around(me, mine);
	}
	berth_task_destroy(mine);
}

/* ---- The tree in the end ---- */

static unsigned int subdirectories_of(int fd, char names[][8])
{
	uint64_t buf[300];
	const struct berth_dirent *entry;
	unsigned int count = 0;
	ssize_t got, at;

	got = berth_getdents_from(task, fd, 0, buf, sizeof(buf));
	check(got > 0);
	for (at = 0; at < got; at += entry->reclen) {
		entry = (const void *)((const char *)buf + at);
		if (entry->type == DT_DIR && entry->name[0] != '.')
			snprintf(names[count++], 8, "%.7s", entry->name);
	}
	return count;
}

/* How many directories there are below that of @fd, which has inode @ino. */
static unsigned int check_below(int fd, uint64_t ino, unsigned int depth)
{
	char names[DIRECTORIES][8];
	unsigned int count = subdirectories_of(fd, names), below = count, i;
	struct berth_stat st;

	check(depth <= DIRECTORIES);
	check_equal(berth_fstat(task, fd, &st), 0);
	check_equal((long)st.ino, (long)ino);
	check_equal(st.nlink, 2 + count);
	for (i = 0; i < count; i++) {
		int sub = berth_openat(task, fd, names[i],
				       O_RDONLY | O_DIRECTORY, 0);

		check(sub >= 0);
		check_equal(berth_fstatat(task, sub, "..", &st, 0), 0);
		check_equal((long)st.ino, (long)ino);
		check_equal(berth_fstatat(task, sub, "file", &st, 0), 0);
		check_equal(berth_fstat(task, sub, &st), 0);
		below += check_below(sub, st.ino, depth + 1);
		check_equal(berth_close(task, sub), 0);
	}
	return below;
}

static void directories_are_moved_about(void **state)
{
	struct heap heap;
	struct berth_vfs_options options = on_heap(&heap);
	struct berth_stat st;
	struct shared shared;
	int i;

	(void)state;
	create_with(&options);
	make_directories();
	check_equal(berth_stat(task, "/", &st), 0);
	shared.root = st.ino;
	for (i = 0; i < DIRECTORIES; i++)
		atomic_init(&shared.parent_of[i], ROOT);
	race(&shared, move_about, move_about, move_about);
	check_equal(check_below(ROOT, st.ino, 0), DIRECTORIES);
	finish();
	check_equal((long)heap.bytes, 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(directories_are_moved_about),
	};

	return run_cases(argc, argv, cases);
}
