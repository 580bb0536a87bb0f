/* SPDX-License-Identifier: MIT */
/*
 * Faults of every kind by chance: in one thread, each step beside an instance
 * without faults; and in several threads of one instance, where calls are asked
 * for errors that Linux could give, and the tree, in the end, for sense.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <berth/berth.h>

#include "harness.h"
#include "twins.h"

enum {
	NUMBERS = 16, /* of descriptors that steps are tried on */
};

/* A step of the life, half of them on some other descriptor. */
static struct step random_step(struct random *random)
{
	struct step step = life[random_below(random, life_length)];

	if (random_once_in(random, 6))
		step = (struct step){ .op = { .kind = OP_CLOSE } };
	if (step.op.fd != BERTH_AT_FDCWD && random_once_in(random, 2))
		step.op.fd = (int)random_below(random, NUMBERS);
	return step;
}

/* ---- One thread, beside an instance without faults ---- */

static void steps_in_any_order(uint64_t seed, bool on_own_heap)
{
	struct random random = random_of(seed, 0);
	struct aim aim = { .kind = AIM_RANDOM };
	struct twins twins;
	struct step step;
	unsigned int i;

	twins_create(&twins, on_own_heap);
	for (i = 0; i < 300; i++) {
		step = random_step(&random);
		aim.nth = 1 + random_below(&random, 12);
		aim.seed = random_next(&random);
		twins_step(&twins, &step, &aim);
	}
	twins_destroy(&twins);
}

static void in_one_thread(void **state)
{
	double end = now() + test_seconds();
	struct random seeds = random_of(test_seed(), 0);
	struct sys_use before, after;
	uint64_t seed = test_seed();

	(void)state;
	steps_in_any_order(seed, false);
	before = sys_in_use();
	do {
		repeat_with_seed(seed);
		steps_in_any_order(seed, false);
		seed = random_next(&seeds);
	} while (now() < end);
	after = sys_in_use();
	assert_int_equal(after.mapped, before.mapped);
}

/* ---- Several threads ---- */

/* Ends the test, with the step and what it gave, unless Linux could say so. */
static void check_linux_could_say(const struct step *step, int64_t ret)
{
	static const int errors[] = { ENOENT, EEXIST, ENOTDIR,	 EISDIR,
				      EINVAL, EACCES, EPERM,	 EMFILE,
				      EBADF,  ENOSPC, ENOMEM,	 ELOOP,
				      EBUSY,  ENXIO,  ENOTEMPTY, EAGAIN,
				      EXDEV,  EFBIG };
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (ret == -errors[i])
			return;
	if (ret >= 0)
		return;
	if (step->call)
		fputs(step->name, stderr);
	else
		fs_print_op(stderr, &step->op);
	fprintf(stderr, " gave %" PRId64 "\n", ret);
	check(!"an error that Linux could give");
}

/* The thread's table is its own: what is open stays open till it closes it. */
static bool asks_only_whether_open(const struct op *op)
{
	return op->kind == OP_CLOSE || op->kind == OP_FSTAT ||
	       (op->kind == OP_FCNTL && op->cmd == F_SETFD);
}

static void do_step(struct twin *twin, const struct step *step)
{
	struct berth_files *files = berth_task_files(twin->fs.task);
	struct outcome out;
	bool was_open;

	if (step->call) {
		check_linux_could_say(step, step->call(twin));
		return;
	}
	was_open = berth_files_getfd(files, step->op.fd) >= 0;
	check_linux_could_say(step, fs_do(&twin->fs, &step->op, &out));
	if (!asks_only_whether_open(&step->op))
		return;
	/* A file of no file system has no attributes. */
	if (step->op.kind != OP_FSTAT)
		check_equal(out.ret, was_open ? 0 : -EBADF);
	if (step->op.kind == OP_CLOSE)
		check_equal(berth_files_getfd(files, step->op.fd), -EBADF);
}

/* Faults may be under way already. */
static struct berth_task *fork_task_at_last(void)
{
	struct berth_task *child;
	int ret;

	while ((ret = berth_task_fork(task, 0, &child)) != 0)
		check_equal(ret, -ENOMEM);
	return child;
}

static void steps_of_a_thread(struct worker *me)
{
	struct twin twin = { .fs.vfs = vfs, .fs.task = fork_task_at_last() };
	struct step step;

	twin.fs.buffer = aligned_alloc(4096, FS_BUFFER);
	check(twin.fs.buffer);
	fs_use_berth(&twin.fs);
	for (; keep_going(); me->work++) {
		step = random_step(&me->random);
		do_step(&twin, &step);
	}
	berth_task_destroy(twin.child);
	berth_files_put_table(twin.copy);
	berth_task_destroy(twin.fs.task);
	free(twin.fs.buffer);
}

/* What is in the tree, by walking through it. */
struct census {
	uint64_t names;
	uint64_t blocks; /* of pages; a file of several names has a part each */
	uint64_t subdirs;
};

static struct census census_of(const char *path);

static void count_entry(struct census *all, const char *path)
{
	struct census below = { 0 };
	struct berth_stat st;

	check_equal(berth_lstat(task, path, &st), 0);
	all->names++;
	if (S_ISDIR(st.mode)) {
		below = census_of(path);
		all->subdirs++;
		check_equal(st.nlink, 2 + (long)below.subdirs);
	} else {
		/* In 720720ths, which up to 16 links divide. */
		check(st.nlink >= 1 && st.nlink <= 16);
		below.blocks = st.blocks / 8 * 720720 / st.nlink;
	}
	all->names += below.names;
	all->blocks += below.blocks;
}

static struct census census_of(const char *path)
{
	int fd = berth_open(task, path, O_RDONLY | O_DIRECTORY, 0);
	_Alignas(8) char buf[4096];
	struct census all = { 0 };
	struct berth_dirent *entry;
	char child[4096];
	ssize_t n, at;

	check(fd >= 0);
	while ((n = berth_getdents(task, fd, buf, sizeof(buf))) > 0)
		for (at = 0; at < n; at += entry->reclen) {
			entry = (struct berth_dirent *)(void *)(buf + at);
			snprintf(child, sizeof(child), "%s/%s", path,
				 entry->name);
			if (strcmp(entry->name, ".") != 0 &&
			    strcmp(entry->name, "..") != 0)
				count_entry(&all, child);
		}
	check_equal(n, 0);
	check_equal(berth_close(task, fd), 0);
	return all;
}

/* Everything that is charged has a name, and nothing else. */
static void check_the_tree(void)
{
	struct census all = census_of("/");
	struct berth_statfs st;

	berth_vfs_statfs(vfs, &st);
	check_equal((long)(st.inodes - st.inodes_free), (long)all.names + 1);
	check_equal((long)(st.blocks - st.blocks_free),
		    (long)(all.blocks / 720720));
}

static void *race_with_faults(void *one_in)
{
	struct berth_vfs_options options = default_options();

	options.size = 1500 * (uint64_t)PAGE;
	options.nr_inodes = 80;
	create_with(&options);
	if (one_in)
		sys_fail_random(test_seed(), *(unsigned int *)one_in);
	race(NULL, steps_of_a_thread, steps_of_a_thread, steps_of_a_thread);
	sys_fail_none();
	berth_vfs_forget_all(vfs);
	check_the_tree();
	finish();
	return NULL;
}

/* On a thread that ends, for a thread keeps the files that it has freed. */
static struct sys_use use_after_race(unsigned int *one_in)
{
	pthread_t thread;

	check(!pthread_create(&thread, NULL, race_with_faults, one_in));
	pthread_join(thread, NULL);
	return sys_in_use();
}

static void in_several_threads(void **state)
{
	struct sys_use before, after;
	unsigned int one_in = 20;

	(void)state;
	/* The first threads leave structures to the next ones. */
	before = use_after_race(NULL);
	after = use_after_race(&one_in);
	check(sys_failures() > 0);
	assert_int_equal(after.blocks, before.blocks);
	assert_int_equal(after.bytes, before.bytes);
	assert_int_equal(after.mapped, before.mapped);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(in_one_thread),
		cmocka_unit_test(in_several_threads),
	};

	sys_count_use();
	return run_cases(argc, argv, cases);
}
