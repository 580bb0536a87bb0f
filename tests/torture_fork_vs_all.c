/* SPDX-License-Identifier: MIT */
/*
 * The host process forks, from any of its threads, while the others do all there
 * is to do: instances and tables are made and ended, threads start and end,
 * files are written, renamed and removed, deferred frees run callbacks of the
 * user's.  Each child finds every file whole, can do all of that itself, fork
 * again and start threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "harness.h"
#include "probe.h"

enum {
	TOO_LONG = 30, /* seconds after which a child hangs */
	FILES = 5,     /* names in the tree */
	WORDS = 300,   /* a file holds so many, all the same */
	PROBES = 5,    /* numbers of the table */
};

/* ---- What the threads do, and then the child ---- */

/*
 * A file is written whole under a name that nobody else looks at, then given a
 * name of all: so a file that is found there is whole.
 */
static void replace_file(struct berth_task *mine, struct random *random,
			 unsigned int index)
{
	uint32_t words[WORDS];
	char fresh[24], name[24];
	int fd, i;

	words[0] = (uint32_t)random_next(random);
	for (i = 1; i < WORDS; i++)
		words[i] = words[0];
	snprintf(fresh, sizeof(fresh), "/fresh%u", index);
	snprintf(name, sizeof(name), "/d/%u", random_below(random, FILES));
	fd = berth_open(mine, fresh, O_CREAT | O_WRONLY | O_TRUNC, 0644);
	check(fd >= 0);
	check_equal(berth_write(mine, fd, words, sizeof(words)), sizeof(words));
	check_equal(berth_close(mine, fd), 0);
	check_equal(berth_rename(mine, fresh, name), 0);
}

static void read_file(struct berth_task *mine, const char *path)
{
	uint32_t words[WORDS + 1];
	int fd = berth_open(mine, path, O_RDONLY, 0), i;

	if (fd < 0) {
		check_equal(fd, -ENOENT);
		return;
	}
	check_equal(berth_read(mine, fd, words, sizeof(words)),
		    WORDS * sizeof(words[0]));
	for (i = 1; i < WORDS; i++)
		check_equal(words[i], words[0]);
	check_equal(berth_close(mine, fd), 0);
}

static void change_tree(struct berth_task *mine, struct random *random,
			unsigned int index)
{
	char path[24];

	replace_file(mine, random, index);
	snprintf(path, sizeof(path), "/d/%u", random_below(random, FILES));
	read_file(mine, path);
	if (random_once_in(random, 4))
		berth_unlink(mine, path);
	snprintf(path, sizeof(path), "/dir%u", index);
	check_equal(berth_mkdir(mine, path, 0755), 0);
	check_equal(berth_rmdir(mine, path), 0);
}

/* Callbacks of the user's: an allocator, a clock, flush, release and free. */
static struct heap heap;

static void tell_time(struct timespec *time, void *arg)
{
	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, time);
}

static void own_instance(void)
{
	struct berth_vfs_options options = default_options();
	struct berth_task *inside;
	struct berth_vfs *own;
	int fd;

	options.clock = tell_time;
	check_equal(berth_vfs_create(&options, &own), 0);
	check_equal(berth_task_create(own, NULL, &inside), 0);
	fd = berth_open(inside, "/f", O_CREAT | O_RDWR, 0644);
	check_equal(berth_write(inside, fd, "hello", 5), 5);
	check(file_holds(inside, fd, "hello"));
	berth_task_destroy(inside);
	check_equal(berth_vfs_destroy(own), 0);
}

static void own_table(struct random *random)
{
	struct berth_files *copy;
	int fd;

	check_equal(berth_files_fork(table, &copy), 0);
	for (fd = 0; fd < PROBES; fd++)
		check(probe_id_at(copy, fd));
	check(berth_files_dup2(copy, 0, 1000) == 1000);
	berth_files_put_table(copy);
	fd = (int)random_below(random, PROBES);
	check_equal(berth_files_dup2(table, (fd + 1) % PROBES, fd), fd);
	fd = probe_open(table, NULL);
	check(fd >= 0);
	berth_files_close(table, fd);
}

static void *short_life(void *arg)
{
	struct random random = random_of((uintptr_t)arg, 1);

	own_table(&random);
	if (random_once_in(&random, 4))
		berth_drain();
	return NULL;
}

static void start_thread(struct random *random)
{
	pthread_t thread;

	check(!pthread_create(&thread, NULL, short_life,
			      (void *)(uintptr_t)random_next(random)));
	check(!pthread_join(thread, NULL));
}

/* ---- The child ---- */

static __thread struct random child_random;

static void walk_tree(void)
{
	char path[24];
	int i;

	for (i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "/d/%d", i);
		read_file(task, path);
	}
	for (i = 0; i < PROBES; i++)
		check(probe_id_at(table, i));
}

static void fork_once_more(void)
{
	int status;
	pid_t pid = fork();

	check(pid >= 0);
	if (!pid) {
		walk_tree();
		change_tree(task, &child_random, 91);
		berth_drain();
		_exit(0);
	}
	check_equal(waitpid(pid, &status, 0), pid);
	check_equal(status, 0);
}

static void be_the_child(void)
{
	int i;

	alarm(TOO_LONG);
	walk_tree();
	for (i = 0; i < 10; i++)
		change_tree(task, &child_random, 90);
	own_instance();
	own_table(&child_random);
	start_thread(&child_random);
	fork_once_more();
	start_thread(&child_random);
	berth_drain();
	walk_tree();
}

static void fork_one(struct worker *me)
{
	int status;
	pid_t pid;

	child_random = random_of(random_next(&me->random), 2);
	pid = fork();
	check(pid >= 0);
	if (!pid) {
		be_the_child();
		_exit(0);
	}
	check_equal(waitpid(pid, &status, 0), pid);
	check_equal(status, 0);
}

/* The ways that run no handlers of ours: the child must not call berth. */
static void spawn_one(void)
{
	char *const arguments[] = { (char *)"true", NULL };
	int status;
	pid_t pid;

	check(!posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ));
	check_equal(waitpid(pid, &status, 0), pid);
	check_equal(status, 0);
}

static void vfork_one(void)
{
	int status;
	/* NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): tested */
	pid_t pid = vfork();

	if (!pid) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	check(pid > 0);
	check_equal(waitpid(pid, &status, 0), pid);
	check_equal(status, 0);
}

/* ---- The threads ---- */

static void do_all(struct worker *me)
{
	struct berth_task *mine = fork_task();

	for (; keep_going(); me->work++) {
		change_tree(mine, &me->random, me->index);
		own_table(&me->random);
		if (random_once_in(&me->random, 8))
			own_instance();
		if (random_once_in(&me->random, 8))
			start_thread(&me->random);
		if (random_once_in(&me->random, 32))
			berth_drain();
	}
	berth_task_destroy(mine);
}

/* Each forks, at a moment at which the others may be anywhere. */
static void do_all_and_fork(struct worker *me)
{
	struct berth_task *mine = fork_task();

	for (; keep_going(); me->work++) {
		change_tree(mine, &me->random, me->index);
		own_table(&me->random);
		fork_one(me);
		if (random_once_in(&me->random, 8))
			spawn_one();
		if (random_once_in(&me->random, 8))
			vfork_one();
	}
	berth_task_destroy(mine);
}

static void children_can_do_all(void **state)
{
	struct berth_vfs_options options = on_heap(&heap);
	int i;

	(void)state;
	if (forks_mislead_tools())
		skip(); /* see harness.h */
	options.clock = tell_time;
	create_with(&options);
	check_equal(berth_mkdir(task, "/d", 0755), 0);
	check_equal(berth_files_create(&table), 0);
	for (i = 0; i < PROBES; i++)
		check_equal(probe_open(table, NULL), i);
	race(NULL, do_all, do_all, do_all_and_fork, do_all_and_fork);
	walk_tree();
	finish();
	check_equal((long)heap.bytes, 0);
	berth_files_put_table(table);
	check_no_probe_left();
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(children_can_do_all),
	};

	return run_cases(argc, argv, cases);
}
