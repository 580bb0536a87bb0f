/* SPDX-License-Identifier: MIT */
/*
 * fget: from a number to the file and back.
 *
 * A unit is one lookup and its end: a borrow and its return, or an owned get
 * and its put; of one descriptor by all threads (same), or of one for each
 * thread (own).  Every lookup is checked to have found the right file.
 *
 * Contenders, and what they do as a unit:
 *
 * berth		what the variant says, on a descriptor table alone
 * kernel		fcntl(fd, F_GETFD): it has no lookup without a call
 *			around it, and this is the least of them
 * empty-rcu		an RCU read section (userspace-rcu, flavour bp, inline)
 *			with nothing in it: what a borrow can not go below
 * spinlock-array	a lookup in a spinlocked array, with a shared count
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <berth/files.h>

#include "spinlock_array.h"

/* The build defines _LGPL_SOURCE, and so the read section is inline. */
#include <urcu-bp.h>

/* Units between two looks at the clock's flag. */
#define BATCH 256

/* The descriptor of the workload that thread number @index uses. */
static int fd_of(const struct bench_run *run, unsigned int index)
{
	return (int)(bench_fds_before(run) +
		     (run->workload->shared ? 0 : index));
}

/* How many descriptors are open in all. */
static unsigned int fds_of(const struct bench_run *run)
{
	return bench_fds_before(run) +
	       (run->workload->shared ? 1 : run->nr_threads);
}

/* Do @statement until the time is over. */
#define LOOP(thread, statement)                           \
	do {                                              \
		uint64_t units = 0;                       \
                                                          \
		do {                                      \
			for (int i = 0; i < BATCH; i++) { \
				statement;                \
			}                                 \
			units += BATCH;                   \
		} while (!bench_stopped());               \
		(thread)->units = units;                  \
	} while (0)

static void wrong_file(int fd, const void *got)
{
	if (!got)
		bench_fail("descriptor %d was not found", fd);
	bench_fail("descriptor %d found another's file", fd);
}

/* ---- berth ---- */

static unsigned int nr_freed;

static void free_file(struct berth_file *file)
{
	fetch_add_relaxed(&nr_freed, 1u);
	free(file);
}

static const struct berth_file_operations file_ops = { .free = free_file };

static struct berth_file *install_new(struct berth_files *files, int fd)
{
	struct berth_file *file = bench_alloc(sizeof(*file));
	int got;

	berth_file_init(file, &file_ops, O_RDWR, 0);
	got = berth_files_reserve(files, 0, 0);
	if (got < 0)
		bench_fail("berth_files_reserve: %s", strerror(-got));
	if (got != fd)
		bench_fail("berth_files_reserve gave %d, where %d is free", got,
			   fd);
	berth_files_install(files, fd, file);
	return file;
}

static void berth_setup(struct bench_run *run)
{
	unsigned int nr_fds = fds_of(run);
	struct berth_file **objects = bench_alloc(nr_fds * sizeof(void *));
	struct berth_files *files;
	int error = berth_files_create(&files);

	if (error)
		bench_fail("berth_files_create: %s", strerror(-error));
	for (unsigned int fd = 0; fd < nr_fds; fd++)
		objects[fd] = install_new(files, (int)fd);
	for (unsigned int i = 0; i < run->nr_threads; i++) {
		struct bench_thread *thread = &run->threads[i];

		thread->table = files;
		thread->fd = fd_of(run, i);
		thread->object = objects[thread->fd];
	}
	free(objects);
}

static void berth_teardown(struct bench_run *run)
{
	unsigned int nr_fds = fds_of(run);

	berth_files_put_table(run->threads[0].table);
	berth_drain();
	if (load_relaxed(&nr_freed) != nr_fds)
		bench_fail("%u of %u files were freed", nr_freed, nr_fds);
}

static void berth_borrow_loop(struct bench_thread *thread)
{
	const struct berth_file *object = thread->object;
	struct berth_files *files = thread->table;
	int fd = thread->fd;

	LOOP(thread, {
		struct berth_file *file = berth_files_borrow(files, fd);

		if (unlikely(file != object))
			wrong_file(fd, file);
		berth_files_return(file);
	});
}

static void berth_ref_loop(struct bench_thread *thread)
{
	const struct berth_file *object = thread->object;
	struct berth_files *files = thread->table;
	int fd = thread->fd;

	LOOP(thread, {
		struct berth_file *file = berth_files_get(files, fd);

		if (unlikely(file != object))
			wrong_file(fd, file);
		berth_file_put(file);
	});
}

/* ---- kernel ---- */

static void kernel_setup(struct bench_run *run)
{
	for (int fd = BENCH_STDIO_FDS; fd < (int)fds_of(run); fd++) {
		int got = open("/dev/null", O_RDWR);

		if (got != fd)
			bench_fail("/dev/null: %s",
				   got < 0 ? strerror(errno) : "wrong number");
	}
	for (unsigned int i = 0; i < run->nr_threads; i++)
		run->threads[i].fd = fd_of(run, i);
}

static void kernel_loop(struct bench_thread *thread)
{
	int fd = thread->fd;

	LOOP(thread, {
		if (unlikely(fcntl(fd, F_GETFD) != 0))
			wrong_file(fd, NULL);
	});
}

/* ---- empty-rcu ---- */

static void empty_rcu_loop(struct bench_thread *thread)
{
	LOOP(thread, {
		urcu_bp_read_lock();
		urcu_bp_read_unlock();
	});
}

/* ---- spinlock-array ---- */

static void array_setup(struct bench_run *run)
{
	unsigned int nr_fds = fds_of(run);
	struct array_file **files = bench_alloc(nr_fds * sizeof(void *));
	struct array_table *table = bench_alloc(sizeof(*table));

	for (unsigned int fd = 0; fd < nr_fds; fd++) {
		files[fd] = bench_alloc(sizeof(*files[fd]));
		files[fd]->refs = 1;
	}
	array_init(table, files, nr_fds);
	for (unsigned int i = 0; i < run->nr_threads; i++) {
		struct bench_thread *thread = &run->threads[i];

		thread->table = table;
		thread->fd = fd_of(run, i);
		thread->object = files[thread->fd];
	}
}

static void array_loop(struct bench_thread *thread)
{
	const struct array_file *object = thread->object;
	struct array_table *table = thread->table;
	int fd = thread->fd;

	LOOP(thread, {
		struct array_file *file = array_get(table, fd);

		if (unlikely(file != object))
			wrong_file(fd, file);
		array_put(file);
	});
}

static void array_teardown(struct bench_run *run)
{
	struct array_table *table = run->threads[0].table;

	for (unsigned int fd = 0; fd < table->size; fd++) {
		if (table->files[fd]->refs != 1)
			bench_fail("descriptor %u has a count of %u, not 1", fd,
				   table->files[fd]->refs);
		free(table->files[fd]);
	}
	free(table->files);
	free(table);
}

/* ---- What there is ---- */

#define BERTH(loop_)                                                    \
	{                                                               \
		.name = "berth", .setup = berth_setup, .loop = (loop_), \
		.always = true, .teardown = berth_teardown,             \
	}
#define KERNEL                                                            \
	{                                                                 \
		.name = "kernel",                                         \
		.does = "fcntl(fd, F_GETFD), the call with least around " \
			"its lookup",                                     \
		.setup = kernel_setup, .loop = kernel_loop,               \
	}
#define EMPTY_RCU                                                              \
	{                                                                      \
		.name = "empty-rcu", .loop = empty_rcu_loop,                   \
		.does = "an RCU read section (bp, inline) with nothing in it", \
		.always = true,                                                \
	}
#define SPINLOCK_ARRAY                                                  \
	{                                                               \
		.name = "spinlock-array",                               \
		.does = "a lookup in a spinlocked array, with a count", \
		.setup = array_setup, .loop = array_loop,               \
		.teardown = array_teardown, .always = true,             \
	}

static const struct bench_contender borrow_contenders[] = {
	BERTH(berth_borrow_loop), KERNEL,	    EMPTY_RCU,
	SPINLOCK_ARRAY,		  { .name = NULL },
};

static const struct bench_contender ref_contenders[] = {
	BERTH(berth_ref_loop),
	KERNEL,
	SPINLOCK_ARRAY,
	{ .name = NULL },
};

const struct bench_workload fget_workloads[] = {
	{
		.name = "fget:borrow-same",
		.unit = "borrow and return; all threads one descriptor",
		.shared = true,
		.contenders = borrow_contenders,
	},
	{
		.name = "fget:borrow-own",
		.unit = "borrow and return; each thread a descriptor of its "
			"own",
		.contenders = borrow_contenders,
	},
	{
		.name = "fget:ref-same",
		.unit = "owned get and put; all threads one descriptor",
		.shared = true,
		.contenders = ref_contenders,
	},
	{
		.name = "fget:ref-own",
		.unit = "owned get and put; each thread a descriptor of its "
			"own",
		.contenders = ref_contenders,
	},
	{ .name = NULL },
};
