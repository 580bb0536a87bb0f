/* SPDX-License-Identifier: MIT */
#include <berth/vfs.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	struct berth_vfs_options options = {
		.struct_size = sizeof(options),
		.size = 65536, /* bytes of file data, then -ENOSPC */
	};
	static char block[100 * 1024];
	struct berth_vfs *vfs;
	struct berth_task *task;
	struct berth_stat st;
	int fd;

	if (berth_vfs_create(&options, &vfs) < 0 ||
	    berth_task_create(vfs, NULL, &task) < 0)
		return 1;

	berth_mkdir(task, "/log", 0755);
	fd = berth_open(task, "/log/new", O_CREAT | O_RDWR | O_APPEND, 0644);
	berth_write(task, fd, "one\n", 4);
	berth_write(task, fd, "two\n", 4);
	berth_rename(task, "/log/new", "/log/today");
	printf("read: %zd\n", berth_pread(task, fd, block, sizeof(block), 0));
	printf("%s", block);
	printf("written: %zd\n", berth_write(task, fd, block, sizeof(block)));
	printf("missing: %s\n", strerror(-berth_stat(task, "/log/new", &st)));
	berth_stat(task, "/log/today", &st);
	printf("size %llu, mode %o\n", (unsigned long long)st.size, st.mode);

	berth_close(task, fd);
	berth_task_destroy(task);
	return -berth_vfs_destroy(vfs);
}
