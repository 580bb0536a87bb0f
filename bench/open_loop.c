/* SPDX-License-Identifier: MIT */
/*
 * open-loop: the thread benchmark of 2005.
 *
 * Each thread creates a file of 1 KiB, then does units: open it read-only,
 * read 1 byte at 0, 10, 20, 30 and 40, with a seek before each but the first,
 * close it.  In the variant shared-file all threads open one file.
 *
 * All contenders are the same source, compiled over several sets of calls: the
 * kernel's here, berth's and those of its ancestors in open_loop_berth.c.  All
 * find the file by its name in the working directory, act for the same user,
 * and have as many descriptors open besides; every result is checked, and
 * every byte that was read.
 */
#include "open_loop.h"

#include <errno.h>
#include <unistd.h>

#include "design.h"

/* ---- kernel ---- */

static int kernel_open(void *task, const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	(void)task;
	/* cppcheck-suppress resourceLeak ; it is the caller's */
	return unlikely(fd < 0) ? -errno : fd;
}

static int kernel_close(void *task, int fd)
{
	(void)task;
	return unlikely(close(fd)) ? -errno : 0;
}

static ssize_t kernel_read(void *task, int fd, void *buf, size_t count)
{
	ssize_t got = read(fd, buf, count);

	(void)task;
	return unlikely(got < 0) ? -errno : got;
}

static ssize_t kernel_write(void *task, int fd, const void *buf, size_t count)
{
	ssize_t got = write(fd, buf, count);

	(void)task;
	return unlikely(got < 0) ? -errno : got;
}

static int64_t kernel_lseek(void *task, int fd, int64_t offset)
{
	off_t got = lseek(fd, offset, SEEK_SET);

	(void)task;
	return unlikely(got < 0) ? -errno : got;
}

static const struct calls kernel_os = {
	.open = kernel_open,
	.close = kernel_close,
	.read = kernel_read,
	.write = kernel_write,
	.lseek = kernel_lseek,
};

static void kernel_setup(struct bench_run *run)
{
	bench_tmpfs_enter();
	set_up(&kernel_os, run, NULL, BENCH_STDIO_FDS);
}

static void kernel_begin(struct bench_thread *thread)
{
	begin(&kernel_os, thread);
}

static void kernel_loop(struct bench_thread *thread)
{
	open_loop(&kernel_os, thread);
}

static void kernel_teardown(struct bench_run *run)
{
	unlink("further");
	for (unsigned int i = 0; i < run->nr_threads; i++)
		unlink(run->threads[i].path);
}

/* ---- What there is ---- */

static const struct bench_contender kernel = {
	.name = "kernel",
	.does = "the same by system calls on a tmpfs",
	.needs_tmpfs = true,
	.setup = kernel_setup,
	.begin = kernel_begin,
	.loop = kernel_loop,
	.teardown = kernel_teardown,
};

static const struct bench_contender *const contenders[] = {
	&ours_open_loop,
	&kernel,
	LINEAGE(open_loop),
	NULL,
};

const struct bench_workload open_loop_workloads[] = {
	{
		.name = "open-loop",
		.unit = "open, 5 reads of 1 byte, 4 seeks, close; "
			"each thread a file of its own",
		.contenders = contenders,
	},
	{
		.name = "open-loop:shared-file",
		.unit = "open, 5 reads of 1 byte, 4 seeks, close; "
			"all threads one file",
		.shared = true,
		.contenders = contenders,
	},
	{ .name = NULL },
};
