/* SPDX-License-Identifier: MIT */
/*
 * Closing many numbers at once.
 *
 * A sweep takes one number after the other, as Linux does: what others open or
 * close beside it is their affair, and each number is closed as by close().
 */
#include "files/files.h"

void do_close_on_exec(struct files_struct *files)
{
	unsigned int fd;

	for_each_open_fd(files, fd) if (get_close_on_exec(files, fd) > 0)
		close_fd(files, fd);
}
