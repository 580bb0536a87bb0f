/* SPDX-License-Identifier: MIT */
/*
 * fget on a descriptor table: berth's, or that of a design in lineage/, with
 * which this file is compiled once more.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <berth/files.h>

#include "design.h"
#include "fget.h"

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

#define CONTENDER(loop_)                                         \
	{                                                        \
		.name = DESIGN_NAME, .does = DESIGN_DOES,        \
		.setup = berth_setup, .loop = (loop_),           \
		.teardown = berth_teardown,                      \
		.always = DESIGN_IS_OURS || DESIGN_IS_YARDSTICK, \
	}

const struct bench_contender DESIGN(fget_borrow) = CONTENDER(berth_borrow_loop);
const struct bench_contender DESIGN(fget_ref) = CONTENDER(berth_ref_loop);
