/* SPDX-License-Identifier: MIT */
/*
 * Which tables hold a file?  For whoever has to list or end those who use it
 * (fuser, secure attention), or to find whose a file is.
 *
 * One table after the other is owned while it is looked at, so that nothing is
 * locked while the caller's function runs.
 */
#include "files/files.h"

/* A comparison, for which nothing of the file is needed. */
static bool number_finds(struct files_struct *files, unsigned int fd,
			 const struct berth_file *file)
{
	struct berth_file *found = fdget_rcu(files, fd);

	if (found)
		fdput_rcu(found);
	return found == file;
}

static int holders_in_table(
	struct files_struct *files, const struct berth_file *file,
	int (*fn)(struct berth_files *files, int fd, void *arg), void *arg)
{
	unsigned int fd;
	int ret;

	for_each_open_fd(files, fd)
	{
		if (!number_finds(files, fd, file))
			continue;
		ret = fn(handle_of(files), (int)fd, arg);
		if (ret)
			return ret;
	}
	return 0;
}

/* ---- Exported ---- */

int berth_files_holders(struct berth_file *file,
			int (*fn)(struct berth_files *files, int fd, void *arg),
			void *arg)
{
	struct files_struct *files = NULL;
	int ret = 0;

	while (!ret && (files = files_next(files)) != NULL)
		ret = holders_in_table(files, file, fn, arg);
	if (files)
		files_put(files);
	rcu_poll();
	return ret;
}

void berth_files_set_owner(struct berth_files *files, void *owner)
{
	files_set_owner(table_of(files), owner);
}

void *berth_files_owner(const struct berth_files *files)
{
	return files_owner(table_of(files));
}
