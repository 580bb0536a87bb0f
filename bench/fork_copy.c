/* SPDX-License-Identifier: MIT */
/*
 * fork-copy: a table of 16,384 descriptors is copied, as a fork does it.
 *
 * A unit is one copy (copy), or one copy and its end (copy-end); of as many open
 * files, or of a few files that have all the numbers (dups).  All threads copy
 * one table, and what surrounds a unit is not measured.  A run's figure is that
 * of its median unit: on a busy machine a thread is preempted in some of them, in
 * a system call less often than elsewhere.
 *
 * Contenders, and what they do as a unit:
 *
 * berth	berth_files_fork(); and berth_files_put_table() of the copy
 * kernel	unshare(CLONE_FILES) in a process that shares table and memory
 *		with this one; and its exit, which closes the copy.  From the
 *		time of that is taken what the exit takes without a copy.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <berth/files.h>

#define NUMBERS 16384
#define FEW	4

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- Times of units ---- */

#define TIMES 8192

struct times {
	unsigned int n;
	double seconds[TIMES];
};

/* Beyond so many they are as those before. */
static void add_time(struct times *times, double seconds)
{
	if (times->n < TIMES)
		times->seconds[times->n++] = seconds;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(struct times *times)
{
	qsort(times->seconds, times->n, sizeof(double), compare);
	return times->seconds[times->n / 2];
}

/* ---- berth ---- */

/* As large as an open file is, theirs and ours; next to each other, as theirs. */
struct object {
	struct berth_file file;
	char rest[128];
};

static struct object *objects;
static unsigned int nr_freed;

static void free_file(struct berth_file *file)
{
	(void)file;
	fetch_add_relaxed(&nr_freed, 1u);
}

static const struct berth_file_operations file_ops = { .free = free_file };

static void good(const char *call, int got, int expected)
{
	if (got != expected)
		bench_fail("%s: %s", call,
			   got < 0 ? strerror(-got) : "wrong number");
}

static void install_new(struct berth_files *files, int fd)
{
	struct berth_file *file = &objects[fd].file;

	berth_file_init(file, &file_ops, O_RDWR, 0);
	good("berth_files_reserve", berth_files_reserve(files, 0, 0), fd);
	berth_files_install(files, fd, file);
}

static void berth_open_all(struct bench_run *run, int nr_files)
{
	struct berth_files *files;
	int fd;

	objects = bench_alloc((size_t)nr_files * sizeof(*objects));
	good("berth_files_create", berth_files_create(&files), 0);
	good("berth_files_set_limit", berth_files_set_limit(files, NUMBERS), 0);
	for (fd = 0; fd < nr_files; fd++)
		install_new(files, fd);
	for (; fd < NUMBERS; fd++)
		good("berth_files_dup", berth_files_dup(files, fd % nr_files),
		     fd);
	for (unsigned int i = 0; i < run->nr_threads; i++)
		run->threads[i].table = files;
	run->state = (void *)(intptr_t)nr_files;
}

static void berth_setup(struct bench_run *run)
{
	berth_open_all(run, NUMBERS);
}

static void berth_setup_dups(struct bench_run *run)
{
	berth_open_all(run, FEW);
}

static void berth_teardown(struct bench_run *run)
{
	unsigned int nr_files = (unsigned int)(intptr_t)run->state;

	berth_files_put_table(run->threads[0].table);
	berth_drain();
	free(objects);
	if (load_relaxed(&nr_freed) != nr_files)
		bench_fail("%u of %u files were freed", nr_freed, nr_files);
}

static void berth_loop(struct bench_thread *thread, bool with_end)
{
	struct times *times = bench_alloc(sizeof(*times));
	struct berth_files *copy;
	uint64_t units = 0;
	double began;

	do {
		began = now();
		good("berth_files_fork", berth_files_fork(thread->table, &copy),
		     0);
		if (!with_end)
			add_time(times, now() - began);
		if (berth_files_count(copy) != NUMBERS)
			bench_fail("the copy is not whole");
		berth_files_put_table(copy);
		if (with_end)
			add_time(times, now() - began);
		units++;
	} while (!bench_stopped());
	thread->spent = (double)units * median(times);
	thread->units = units;
	free(times);
}

static void berth_copy_loop(struct bench_thread *thread)
{
	berth_loop(thread, false);
}

static void berth_copy_end_loop(struct bench_thread *thread)
{
	berth_loop(thread, true);
}

/* ---- kernel ---- */

/* A process for one unit.  It runs on a stack of its own while we wait. */
struct sharer {
	char stack[64 * 1024] __attribute__((aligned(16)));
	bool copies;
	int error;
	double began;
	double copied;
};

static int share(void *arg)
{
	struct sharer *sharer = arg;

	sharer->began = now();
	if (sharer->copies && unshare(CLONE_FILES))
		sharer->error = errno;
	sharer->copied = now();
	_exit(0);
}

/* Returns when its exit is over. */
static double let_share(struct sharer *sharer, bool copies)
{
	pid_t child;

	sharer->copies = copies;
	child = clone(share, sharer->stack + sizeof(sharer->stack),
		      CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, sharer);
	if (child < 0)
		bench_fail("clone: %s", strerror(errno));
	if (waitpid(child, NULL, 0) != child)
		bench_fail("waitpid: %s", strerror(errno));
	if (sharer->error)
		bench_fail("unshare: %s", strerror(sharer->error));
	return now();
}

static void raise_limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= NUMBERS)
		return;
	limit.rlim_cur = NUMBERS;
	if (limit.rlim_max < NUMBERS)
		limit.rlim_max = NUMBERS;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		bench_fail("%d descriptors: %s; raise the limit (ulimit -n)",
			   NUMBERS, strerror(errno));
}

static void kernel_open_all(int nr_files)
{
	int fd, got;

	raise_limit();
	for (fd = BENCH_STDIO_FDS; fd < NUMBERS; fd++) {
		got = fd < nr_files ? open("/dev/null", O_RDWR)
				    : dup(fd % nr_files);
		if (got != fd)
			bench_fail("descriptor %d: %s", fd,
				   got < 0 ? strerror(errno) : "wrong number");
	}
}

static void kernel_setup(struct bench_run *run)
{
	(void)run;
	kernel_open_all(NUMBERS);
}

static void kernel_setup_dups(struct bench_run *run)
{
	(void)run;
	kernel_open_all(FEW);
}

static void kernel_begin(struct bench_thread *thread)
{
	thread->object = bench_alloc(sizeof(struct sharer));
}

static void kernel_copy_loop(struct bench_thread *thread)
{
	struct times *times = bench_alloc(sizeof(*times));
	struct sharer *sharer = thread->object;
	uint64_t units = 0;

	do {
		let_share(sharer, true);
		add_time(times, sharer->copied - sharer->began);
		units++;
	} while (!bench_stopped());
	thread->spent = (double)units * median(times);
	thread->units = units;
	free(times);
}

static void kernel_copy_end_loop(struct bench_thread *thread)
{
	struct times *with = bench_alloc(sizeof(*with));
	struct times *without = bench_alloc(sizeof(*without));
	struct sharer *sharer = thread->object;
	uint64_t units = 0;
	double ended;

	do {
		ended = let_share(sharer, true);
		add_time(with, ended - sharer->began);
		ended = let_share(sharer, false);
		add_time(without, ended - sharer->began);
		units++;
	} while (!bench_stopped());
	thread->spent = (double)units * (median(with) - median(without));
	thread->units = units;
	free(with);
	free(without);
}

/* ---- What there is ---- */

#define CONTENDERS(name_, setup_, loop_)                       \
	static const struct bench_contender *const name_[] = { \
		&(const struct bench_contender){               \
			.name = "berth",                       \
			.setup = berth_##setup_,               \
			.loop = berth_##loop_,                 \
			.teardown = berth_teardown,            \
			.always = true,                        \
		},                                             \
		&(const struct bench_contender){               \
			.name = "kernel",                      \
			.does = "unshare(CLONE_FILES)",        \
			.setup = kernel_##setup_,              \
			.begin = kernel_begin,                 \
			.loop = kernel_##loop_,                \
		},                                             \
		NULL,                                          \
	}

CONTENDERS(copy_contenders, setup, copy_loop);
CONTENDERS(copy_end_contenders, setup, copy_end_loop);
CONTENDERS(dups_contenders, setup_dups, copy_loop);
CONTENDERS(dups_end_contenders, setup_dups, copy_end_loop);

const struct bench_workload fork_copy_workloads[] = {
	{
		.name = "fork-copy:copy",
		.unit = "copy of a table with 16,384 files",
		.shared = true,
		.contenders = copy_contenders,
	},
	{
		.name = "fork-copy:copy-end",
		.unit = "copy of a table with 16,384 files, and the copy's end",
		.shared = true,
		.contenders = copy_end_contenders,
	},
	{
		.name = "fork-copy:dups",
		.unit = "copy of a table with 16,384 numbers of 4 files",
		.shared = true,
		.contenders = dups_contenders,
	},
	{
		.name = "fork-copy:dups-end",
		.unit = "copy of a table with 16,384 numbers of 4 files, and "
			"the copy's end",
		.shared = true,
		.contenders = dups_end_contenders,
	},
	{ .name = NULL },
};
