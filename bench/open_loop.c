/* SPDX-License-Identifier: MIT */
/*
 * open-loop: the thread benchmark of 2005.
 *
 * Each thread creates a file of 1 KiB, then does units: open it read-only,
 * read 1 byte at 0, 10, 20, 30 and 40, with a seek before each but the first,
 * close it.  In the variant shared-file all threads open one file.
 *
 * Both contenders are the same source, compiled over two sets of calls.  Both
 * find the file by its name in the working directory, act for the same user,
 * and have as many descriptors open besides; every result is checked, and
 * every byte that was read.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <berth/vfs.h>

#define FILE_SIZE 1024
#define READS	  5
#define DISTANCE  10 /* from one read to the next, in bytes */
#define NAME_SIZE 16

/* A system under test.  Calls return >= 0, or a negative errno. */
struct calls {
	int (*open)(void *task, const char *path, int flags);
	int (*close)(void *task, int fd);
	ssize_t (*read)(void *task, int fd, void *buf, size_t count);
	ssize_t (*write)(void *task, int fd, const void *buf, size_t count);
	int64_t (*lseek)(void *task, int fd, int64_t offset);
};

/* ---- The loop, over any calls ---- */

/* What a file holds differs from file to file, and from place to place. */
static unsigned char content(unsigned int file, unsigned int pos)
{
	return (unsigned char)(1 + file * 31 + pos * 7);
}

static unsigned int file_of(const struct bench_thread *thread)
{
	return thread->run->workload->shared ? 0 : thread->index;
}

/* A call said what it should not; @got may be a negative errno. */
static void wrong(const char *call, int64_t got)
{
	if (got < 0)
		bench_fail("%s: %s", call, strerror((int)-got));
	bench_fail("%s gave %lld", call, (long long)got);
}

static void wrong_byte(int64_t pos, unsigned char got, unsigned char want)
{
	bench_fail("read gave the byte 0x%02x at %d, where 0x%02x is", got,
		   (int)pos, want);
}

hot_inline void unit(const struct calls *os, void *task, const char *path,
		     const unsigned char *want)
{
	int fd = os->open(task, path, O_RDONLY);
	unsigned char byte;
	int64_t got;

	if (unlikely(fd < 0))
		wrong("open", fd);
	for (unsigned int i = 0; i < READS; i++) {
		int64_t pos = (int64_t)i * DISTANCE;

		if (i > 0) {
			got = os->lseek(task, fd, pos);
			if (unlikely(got != pos))
				wrong("lseek", got);
		}
		got = os->read(task, fd, &byte, 1);
		if (unlikely(got != 1))
			wrong("read", got);
		if (unlikely(byte != want[i]))
			wrong_byte(pos, byte, want[i]);
	}
	got = os->close(task, fd);
	if (unlikely(got != 0))
		wrong("close", got);
}

hot_inline void open_loop(const struct calls *os, struct bench_thread *thread)
{
	const char *path = thread->path;
	void *task = thread->table;
	unsigned char want[READS];
	uint64_t units = 0;

	for (unsigned int i = 0; i < READS; i++)
		want[i] = content(file_of(thread), i * DISTANCE);
	do {
		unit(os, task, path, want);
		units++;
	} while (!bench_stopped());
	thread->units = units;
}

/* ---- Before it, over any calls ---- */

static void create_file(const struct calls *os, void *task, const char *path,
			unsigned int file)
{
	unsigned char data[FILE_SIZE];
	int64_t got;
	int fd;

	for (unsigned int i = 0; i < FILE_SIZE; i++)
		data[i] = content(file, i);
	fd = os->open(task, path, O_CREAT | O_EXCL | O_WRONLY);
	if (fd < 0)
		wrong("creating a file: open", fd);
	got = os->write(task, fd, data, FILE_SIZE);
	if (got != FILE_SIZE)
		wrong("creating a file: write", got);
	got = os->close(task, fd);
	if (got != 0)
		wrong("creating a file: close", got);
}

/* Open so many files that the workload's descriptors come after them. */
static void open_further(const struct calls *os, void *task, int from, int to)
{
	create_file(os, task, "further", 0);
	for (int i = from; i < to; i++) {
		int fd = os->open(task, "further", O_RDONLY);

		if (fd != i)
			wrong("opening a further file", fd);
	}
}

static void name_file(struct bench_thread *thread)
{
	char *path = bench_alloc(NAME_SIZE);

	snprintf(path, NAME_SIZE, "file%u", file_of(thread));
	thread->path = path;
}

static void set_up(const struct calls *os, struct bench_run *run, void *task,
		   unsigned int open_already)
{
	open_further(os, task, (int)open_already, (int)bench_fds_before(run));
	for (unsigned int i = 0; i < run->nr_threads; i++) {
		run->threads[i].table = task;
		name_file(&run->threads[i]);
	}
	if (run->workload->shared)
		create_file(os, task, run->threads[0].path, 0);
}

static void begin(const struct calls *os, struct bench_thread *thread)
{
	if (!thread->run->workload->shared)
		create_file(os, thread->table, thread->path, thread->index);
}

/* ---- berth ---- */

static int berth_os_open(void *task, const char *path, int flags)
{
	return berth_open(task, path, (unsigned int)flags, 0600);
}

static int berth_os_close(void *task, int fd)
{
	return berth_close(task, fd);
}

static ssize_t berth_os_read(void *task, int fd, void *buf, size_t count)
{
	return berth_read(task, fd, buf, count);
}

static ssize_t berth_os_write(void *task, int fd, const void *buf, size_t count)
{
	return berth_write(task, fd, buf, count);
}

static int64_t berth_os_lseek(void *task, int fd, int64_t offset)
{
	return berth_lseek(task, fd, offset, SEEK_SET);
}

static const struct calls berth_os = {
	.open = berth_os_open,
	.close = berth_os_close,
	.read = berth_os_read,
	.write = berth_os_write,
	.lseek = berth_os_lseek,
};

static void berth_setup(struct bench_run *run)
{
	struct berth_vfs_options options = {
		.struct_size = sizeof(options),
		.uid = geteuid(),
		.gid = getegid(),
	};
	struct berth_cred cred = { .uid = options.uid, .gid = options.gid };
	struct berth_task *task;
	struct berth_vfs *vfs;
	int error;

	error = berth_vfs_create(&options, &vfs);
	if (error)
		wrong("berth_vfs_create", error);
	error = berth_task_create(vfs, &cred, &task);
	if (error)
		wrong("berth_task_create", error);
	error = berth_mkdir(task, "/bench", 0700);
	if (error)
		wrong("berth_mkdir", error);
	error = berth_chdir(task, "/bench");
	if (error)
		wrong("berth_chdir", error);
	run->state = vfs;
	set_up(&berth_os, run, task, 0);
}

static void berth_begin(struct bench_thread *thread)
{
	begin(&berth_os, thread);
}

static void berth_loop(struct bench_thread *thread)
{
	open_loop(&berth_os, thread);
}

static void berth_teardown(struct bench_run *run)
{
	int error;

	berth_task_destroy(run->threads[0].table);
	error = berth_vfs_destroy(run->state);
	if (error)
		wrong("berth_vfs_destroy", error);
}

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

static const struct bench_contender contenders[] = {
	{
		.name = "berth",
		.setup = berth_setup,
		.begin = berth_begin,
		.loop = berth_loop,
		.teardown = berth_teardown,
		.always = true,
	},
	{
		.name = "kernel",
		.does = "the same by system calls on a tmpfs",
		.needs_tmpfs = true,
		.setup = kernel_setup,
		.begin = kernel_begin,
		.loop = kernel_loop,
		.teardown = kernel_teardown,
	},
	{ .name = NULL },
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
