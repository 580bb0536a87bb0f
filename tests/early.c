/* SPDX-License-Identifier: MIT */
/*
 * A library that calls berth before main() and after it: its constructor opens,
 * its destructor looks whether all is still there, and ends it.
 */
#include <fcntl.h>
#include <stdlib.h>

#include <berth/berth.h>

static struct berth_vfs *vfs;
static struct berth_task *task;
static int fd;

int early_fd(struct berth_task **of);

static void need(int condition)
{
	if (!condition)
		abort();
}

__attribute__((constructor)) static void begin(void)
{
	need(!berth_vfs_create(NULL, &vfs));
	need(!berth_task_create(vfs, NULL, &task));
	fd = berth_open(task, "/early", O_CREAT | O_RDWR, 0644);
	need(fd == 0);
	need(berth_write(task, fd, "early", 5) == 5);
}

int early_fd(struct berth_task **of)
{
	*of = task;
	return fd;
}

__attribute__((destructor)) static void end(void)
{
	char buf[5];

	need(berth_pread(task, fd, buf, 5, 0) == 5);
	need(!berth_close(task, fd));
	berth_drain();
	berth_task_destroy(task);
	need(!berth_vfs_destroy(vfs));
}
