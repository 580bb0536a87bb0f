/* SPDX-License-Identifier: MIT */
/*
 * open-loop over any system's calls, which are known where it is compiled: no
 * call goes through a pointer.
 */
#ifndef BENCH_OPEN_LOOP_H
#define BENCH_OPEN_LOOP_H

#include "bench.h"

#include <fcntl.h>
#include <string.h>
#include <sys/types.h>

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
static inline unsigned char content(unsigned int file, unsigned int pos)
{
	return (unsigned char)(1 + file * 31 + pos * 7);
}

static inline unsigned int file_of(const struct bench_thread *thread)
{
	return thread->run->workload->shared ? 0 : thread->index;
}

/* A call said what it should not; @got may be a negative errno. */
static inline void wrong(const char *call, int64_t got)
{
	if (got < 0)
		bench_fail("%s: %s", call, strerror((int)-got));
	bench_fail("%s gave %lld", call, (long long)got);
}

static inline void wrong_byte(int64_t pos, unsigned char got,
			      unsigned char want)
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

static inline void create_file(const struct calls *os, void *task,
			       const char *path, unsigned int file)
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
static inline void open_further(const struct calls *os, void *task, int from,
				int to)
{
	create_file(os, task, "further", 0);
	for (int i = from; i < to; i++) {
		int fd = os->open(task, "further", O_RDONLY);

		if (fd != i)
			wrong("opening a further file", fd);
	}
}

static inline void name_file(struct bench_thread *thread)
{
	char *path = bench_alloc(NAME_SIZE);

	snprintf(path, NAME_SIZE, "file%u", file_of(thread));
	thread->path = path;
}

static inline void set_up(const struct calls *os, struct bench_run *run,
			  void *task, unsigned int open_already)
{
	open_further(os, task, (int)open_already, (int)bench_fds_before(run));
	for (unsigned int i = 0; i < run->nr_threads; i++) {
		run->threads[i].table = task;
		name_file(&run->threads[i]);
	}
	if (run->workload->shared)
		create_file(os, task, run->threads[0].path, 0);
}

static inline void begin(const struct calls *os, struct bench_thread *thread)
{
	if (!thread->run->workload->shared)
		create_file(os, thread->table, thread->path, thread->index);
}

#endif
