/* SPDX-License-Identifier: MIT */
/* The domain "files": descriptors of tasks, and the read path, by the VFS. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <berth/vfs.h>

#include "../harness.h"
#include "pairs.h"

#define SIZE 64 /* of each file */

struct files {
	struct berth_vfs *vfs;
	struct berth_task *task[2];
};

/* ---- The state ---- */

static time_t seconds;

static void tell_time(struct timespec *now, void *arg)
{
	(void)arg;
	*now = (struct timespec){ .tv_sec = seconds };
}

static struct berth_vfs *vfs_create(void)
{
	const struct berth_vfs_options options = {
		.struct_size = sizeof(options),
		.clock = tell_time,
	};
	struct berth_vfs *vfs;

	check_equal(berth_vfs_create(&options, &vfs), 0);
	return vfs;
}

static void make(struct berth_task *task, const char *path)
{
	int i, fd = berth_open(task, path, O_CREAT | O_RDWR, 0644);
	char data[SIZE];

	for (i = 0; i < SIZE; i++)
		data[i] = (char)('0' + i);
	check_equal(berth_write(task, fd, data, SIZE), SIZE);
	check_equal(berth_close(task, fd), 0);
}

static void open_as(struct berth_task *task, const char *path, int fd)
{
	check_equal(berth_open(task, path, O_RDONLY, 0), fd);
}

/* A read after the last write, so that its access time need not move. */
static void read_later(struct berth_task *task, int fd)
{
	char byte;

	check_equal(berth_pread(task, fd, &byte, 1, 0), 1);
}

static void fill(struct berth_task *task)
{
	seconds = 1000;
	make(task, "/f");
	make(task, "/g");
	make(task, "/h");
	open_as(task, "/f", 0);
	open_as(task, "/f", 1);
	check_equal(berth_lseek(task, 1, 0, SEEK_END), SIZE);
	check_equal(berth_dup(task, 0), 2);
	open_as(task, "/g", 3);
	open_as(task, "/h", 4);
	seconds = 2000;
	read_later(task, 0);
	read_later(task, 3);
	seconds = 3000;
}

static void *create(void)
{
	struct files *state = calloc(1, sizeof(*state));

	check(state);
	state->vfs = vfs_create();
	check_equal(berth_task_create(state->vfs, NULL, &state->task[0]), 0);
	fill(state->task[0]);
	check_equal(berth_task_fork(state->task[0], 0, &state->task[1]), 0);
	return state;
}

static void destroy(void *arg, struct call *calls)
{
	struct files *state = arg;
	int i;

	for (i = 0; i < 2; i++) {
		berth_task_destroy(state->task[i]);
		berth_task_destroy(calls[i].made);
	}
	check_equal(berth_vfs_destroy(state->vfs), 0);
	free(state);
}

/* A number from wherever the thread gets its own from. */
static void use_any(struct berth_task *task)
{
	struct berth_files *table = berth_task_files(task);
	int fd = berth_files_reserve(table, 0, BERTH_ANYFD);

	check(fd >= 0);
	berth_files_unreserve(table, fd);
}

static void prepare(void *arg, unsigned int cpu)
{
	struct files *state = arg;

	(void)cpu;
	use_any(state->task[0]);
	use_any(state->task[1]);
}

#define WARM_FILES 100

/* The thread that drains keeps the memory of the files. */
static void warm(void)
{
	struct berth_vfs *vfs = vfs_create();
	struct berth_task *task;
	int fd;

	check_equal(berth_task_create(vfs, NULL, &task), 0);
	make(task, "/f");
	for (fd = 0; fd < WARM_FILES; fd++)
		open_as(task, "/f", fd);
	read_later(task, 0);
	berth_task_destroy(task);
	check_equal(berth_vfs_destroy(vfs), 0);
}

/* ---- What can be seen of it ---- */

#define NUMBERS_SEEN 32

/* Open files in the order in which they were met. */
struct seen {
	const struct berth_file *file[4 * NUMBERS_SEEN];
	unsigned int count;
};

static unsigned int seen_as(struct seen *seen, const struct berth_file *file)
{
	unsigned int i;

	for (i = 0; i < seen->count; i++)
		if (seen->file[i] == file)
			return i;
	seen->file[seen->count++] = file;
	return i;
}

static void describe_stat(const struct berth_stat *st, FILE *to)
{
	fprintf(to, "%llu:%llu:%o:%u:%lld:%lld:%lld",
		(unsigned long long)st->ino, (unsigned long long)st->size,
		st->mode, st->nlink, (long long)st->atime.tv_sec,
		(long long)st->mtime.tv_sec, (long long)st->ctime.tv_sec);
}

static void describe_number(struct berth_task *task, int fd, struct seen *seen,
			    FILE *to)
{
	struct berth_file *file = berth_files_get(berth_task_files(task), fd);
	struct berth_stat st;

	if (!file)
		return;
	fprintf(to, "%u/%d/%d/%lld/", seen_as(seen, file),
		berth_fcntl(task, fd, F_GETFD, 0),
		berth_fcntl(task, fd, F_GETFL, 0),
		(long long)berth_lseek(task, fd, 0, SEEK_CUR));
	check_equal(berth_fstat(task, fd, &st), 0);
	describe_stat(&st, to);
	berth_file_put(file);
}

/* A task, or a fork of it. */
static void describe_task(struct berth_task *task, const struct call *calls,
			  unsigned int side, struct seen *seen, FILE *to)
{
	int fd, i;

	for (i = 0; i < 2; i++) {
		if (calls[i].side != side || calls[i].any < 0)
			continue;
		fprintf(to, " any%d=", i);
		describe_number(task, calls[i].any, seen, to);
	}
	for (fd = 0; fd < NUMBERS_SEEN; fd++) {
		if (call_gave(calls, side, fd))
			continue;
		fprintf(to, " %d=", fd);
		describe_number(task, fd, seen, to);
	}
	fprintf(to, " count %u\n", berth_files_count(berth_task_files(task)));
}

static void describe(void *arg, const struct call *calls, FILE *to)
{
	struct files *state = arg;
	struct seen seen = { .count = 0 };
	unsigned int i;

	for (i = 0; i < 2; i++)
		describe_task(state->task[i], calls, i, &seen, to);
	for (i = 0; i < 2; i++)
		if (calls[i].made)
			describe_task(calls[i].made, calls, calls[i].side,
				      &seen, to);
}

/* ---- Operations ---- */

static struct berth_task *task_of(const struct call *call)
{
	const struct files *state = call->state;

	return state->task[call->side];
}

static int arg(const struct call *call, int i)
{
	return call->operation->arg[i];
}

static void run_read(struct call *call)
{
	char bytes[5] = "";
	ssize_t n = berth_read(task_of(call), arg(call, 0), bytes, 4);

	result_print(call, "%zd %s", n, bytes);
}

static void run_pread(struct call *call)
{
	char bytes[5] = "";
	ssize_t n = berth_pread(task_of(call), arg(call, 0), bytes, 4, 8);

	result_print(call, "%zd %s", n, bytes);
}

static void seek(struct call *call, int whence)
{
	result_print(call, "%lld",
		     (long long)berth_lseek(task_of(call), arg(call, 0),
					    arg(call, 1), whence));
}

static void run_seek_set(struct call *call)
{
	seek(call, SEEK_SET);
}

static void run_seek_cur(struct call *call)
{
	seek(call, SEEK_CUR);
}

static void run_seek_end(struct call *call)
{
	seek(call, SEEK_END);
}

static void run_fstat(struct call *call)
{
	struct berth_stat st;
	int ret = berth_fstat(task_of(call), arg(call, 0), &st);
	FILE *to;

	result_print(call, "%d", ret);
	if (ret)
		return;
	to = fmemopen(call->result, RESULT_MAX, "w");
	check(to);
	describe_stat(&st, to);
	fclose(to);
}

/* arg[1]: the command; a third word goes with some of them. */
static void run_fcntl(struct call *call)
{
	int command = arg(call, 1);
	long word = 0;

	if (command == F_DUPFD)
		word = 8;
	else if (command == F_SETFD)
		word = FD_CLOEXEC;
	else if (command == F_SETFL)
		word = O_APPEND;
	result_print(call, "%d",
		     berth_fcntl(task_of(call), arg(call, 0), command, word));
}

static void run_close(struct call *call)
{
	result_print(call, "%d", berth_close(task_of(call), arg(call, 0)));
}

static void run_dup(struct call *call)
{
	result_print(call, "%d", berth_dup(task_of(call), arg(call, 0)));
}

static void run_dup2(struct call *call)
{
	result_print(call, "%d",
		     berth_dup2(task_of(call), arg(call, 0), arg(call, 1)));
}

static void run_dup3(struct call *call)
{
	result_print(call, "%d",
		     berth_dup3(task_of(call), arg(call, 0), arg(call, 1),
				O_CLOEXEC));
}

static int open_with(const struct call *call, unsigned int flags)
{
	const char path[] = { '/', (char)arg(call, 0), '\0' };

	return berth_open(task_of(call), path, O_RDONLY | flags, 0);
}

static void run_open(struct call *call)
{
	result_print(call, "%d", open_with(call, 0));
}

static void run_open_any(struct call *call)
{
	result_any(call, open_with(call, BERTH_ANYFD));
}

static void run_fork(struct call *call)
{
	struct berth_task *child = NULL;

	result_print(call, "%d", berth_task_fork(task_of(call), 0, &child));
	call->made = child;
}

/* ---- The list, as docs/SCALING.md has it ---- */

/* The numbers, their open files, and where those are. */
static const struct {
	int fd;
	unsigned int file;
	int offset;
} numbers[] = {
	{ 0, 1, 0 }, { 1, 2, SIZE }, { 2, 1, 0 }, { 3, 3, 0 }, { 5, 0, 0 },
};

static const int targets[] = { 1, 5 };

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))
#define TARGETS (sizeof(targets) / sizeof(targets[0]))

/* One with each number. */
static void add_each(struct operations *all, void (*run)(struct call *call),
		     enum family family, const char *name, int second)
{
	struct operation *one;
	size_t i;

	for (i = 0; i < NUMBERS; i++) {
		one = add(all, run, family, "%s %d", name, numbers[i].fd);
		one->arg[0] = numbers[i].fd;
		one->arg[1] = second;
		one->file = numbers[i].file;
	}
}

/* Where an operation leaves the offset of the @i-th number. */
static int offset_after(void (*run)(struct call *call), int word, size_t i)
{
	int offset = numbers[i].offset;

	if (run == run_read)
		return offset < SIZE ? offset + 4 : offset;
	if (run == run_seek_set)
		return word;
	if (run == run_seek_cur)
		return offset + word;
	return SIZE;
}

/* The same for one that may move the offset. */
static void add_moves(struct operations *all, void (*run)(struct call *call),
		      const char *name, int word)
{
	size_t i, first = all->count;

	add_each(all, run, FAMILY_READ, name, word);
	for (i = 0; i < NUMBERS; i++) {
		all->list[first + i].asks = ASPECT_OFFSET;
		if (offset_after(run, word, i) != numbers[i].offset)
			all->list[first + i].changes = ASPECT_OFFSET;
	}
}

static void add_reads(struct operations *all)
{
	add_moves(all, run_read, "read", 0);
	add_each(all, run_pread, FAMILY_READ, "pread", 0);
	add_moves(all, run_seek_set, "seek to 0,", 0);
	add_moves(all, run_seek_set, "seek to 8,", 8);
	add_moves(all, run_seek_cur, "seek by 0,", 0);
	add_moves(all, run_seek_cur, "seek by 4,", 4);
	add_moves(all, run_seek_end, "seek to the end,", 0);
	add_each(all, run_fstat, FAMILY_READ, "fstat", 0);
	add_each(all, run_fcntl, FAMILY_READ, "getfl", F_GETFL);
	add_each(all, run_fcntl, FAMILY_READ, "getfd", F_GETFD);
}

/* With the file that has not been read since it was written. */
static void add_first_reads(struct operations *all)
{
	add(all, run_read, FAMILY_OTHER, "first read")->arg[0] = 4;
	add(all, run_pread, FAMILY_OTHER, "first pread")->arg[0] = 4;
	add(all, run_fstat, FAMILY_READ, "fstat 4")->arg[0] = 4;
}

static void add_onto(struct operations *all, void (*run)(struct call *call),
		     const char *name)
{
	struct operation *one;
	size_t i;

	for (i = 0; i < NUMBERS * TARGETS; i++) {
		one = add(all, run, FAMILY_OTHER, "%s %d onto %d", name,
			  numbers[i / TARGETS].fd, targets[i % TARGETS]);
		one->arg[0] = numbers[i / TARGETS].fd;
		one->arg[1] = targets[i % TARGETS];
	}
}

static void add_changes(struct operations *all)
{
	add_each(all, run_fcntl, FAMILY_OTHER, "set cloexec of", F_SETFD);
	add_each(all, run_fcntl, FAMILY_OTHER, "set append of", F_SETFL);
	add_each(all, run_close, FAMILY_OTHER, "close", 0);
	add_each(all, run_dup, FAMILY_OTHER, "dup", 0);
	add_each(all, run_fcntl, FAMILY_OTHER, "dupfd", F_DUPFD);
	add_onto(all, run_dup2, "dup2");
	add_onto(all, run_dup3, "dup3");
	add(all, run_fork, FAMILY_OTHER, "fork");
}

static void add_opens(struct operations *all)
{
	struct operation *one;
	int name;

	for (name = 'f'; name <= 'g'; name++) {
		one = add(all, run_open, FAMILY_OTHER, "open %c", name);
		one->arg[0] = name;
		one = add(all, run_open_any, FAMILY_ANY, "open any %c", name);
		one->arg[0] = name;
		/* One more who owns what the name stands for. */
		one->file = (unsigned int)name;
		one->asks = one->changes = ASPECT_OWNERS;
	}
}

const struct domain *files_domain(void)
{
	static struct operations all;
	static struct domain domain = {
		.name = "files",
		.sides = "task",
		.create = create,
		.prepare = prepare,
		.describe = describe,
		.destroy = destroy,
		.warm = warm,
	};

	add_reads(&all);
	add_first_reads(&all);
	add_changes(&all);
	add_opens(&all);
	domain.operations = all.list;
	domain.count = all.count;
	return &domain;
}
