/* SPDX-License-Identifier: MIT */
/*
 * open-loop over the VFS: berth's, or that of a design in lineage/, with which
 * this file is compiled once more.
 */
#include <unistd.h>

#include <berth/vfs.h>

#include "design.h"
#include "open_loop.h"

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

const struct bench_contender DESIGN(open_loop) = {
	.name = DESIGN_NAME,
	.does = DESIGN_DOES,
	.setup = berth_setup,
	.begin = berth_begin,
	.loop = berth_loop,
	.teardown = berth_teardown,
	.always = DESIGN_IS_OURS,
};
