/* SPDX-License-Identifier: MIT */
/*
 * The edge that callers of <berth/files.h> see, over whatever design of a table
 * is compiled in: any int becomes a number, which the tables bound, and a call
 * that may have deferred frees pays for them at its end, holding nothing.
 */
#include <errno.h>
#include <fcntl.h>

#include "base/report.h"
#include "files/files.h"

/* ---- Tables ---- */

int berth_files_create(struct berth_files **handle)
{
	struct files_struct *files = files_create();

	if (!files)
		return -ENOMEM;
	*handle = handle_of(files);
	return 0;
}

struct berth_files *berth_files_get_table(struct berth_files *handle)
{
	files_get(table_of(handle));
	return handle;
}

void berth_files_put_table(struct berth_files *handle)
{
	if (!handle)
		return;
	files_put(table_of(handle));
	rcu_poll();
}

int berth_files_fork(struct berth_files *handle, struct berth_files **copy)
{
	struct files_struct *files = dup_fd(table_of(handle));

	if (!files)
		return -ENOMEM;
	*copy = handle_of(files);
	return 0;
}

void berth_files_exec(struct berth_files *handle)
{
	do_close_on_exec(table_of(handle));
	rcu_poll();
}

/* ---- Numbers ---- */

static void report_no_file(void)
{
	report("install-without-file", "a number is to find no file at all");
}

int berth_files_reserve(struct berth_files *files, int min, unsigned int flags)
{
	if (min < 0 || (flags & ~((unsigned int)O_CLOEXEC | BERTH_ANYFD)))
		return -EINVAL;
	return alloc_fd(table_of(files), (unsigned int)min, flags);
}

void berth_files_unreserve(struct berth_files *files, int fd)
{
	put_unused_fd(table_of(files), (unsigned int)fd);
}

void berth_files_install(struct berth_files *files, int fd,
			 struct berth_file *file)
{
	if (unlikely(!file)) {
		report_no_file();
		return;
	}
	fd_install(table_of(files), (unsigned int)fd, file);
}

int berth_files_open(struct berth_files *files, struct berth_file *file,
		     unsigned int flags)
{
	if (flags & ~((unsigned int)O_CLOEXEC | BERTH_ANYFD))
		return -EINVAL;
	if (unlikely(!file)) {
		report_no_file();
		return -EINVAL;
	}
	return receive_fd(table_of(files), file, flags);
}

/* What is more than a place. */
static struct berth_file *borrow_proper(struct berth_files *files, int fd)
{
	struct berth_file *file = berth_files_borrow(files, fd);

	if (likely(!file || !(file->mode & BERTH_FILE_PATH)))
		return file;
	fdput_rcu(file);
	return NULL;
}

struct berth_file *berth_files_get(struct berth_files *files, int fd)
{
	struct berth_file *file;
	bool owned;

	/* As fget(), but what is only a place is not even owned for a moment:
	 * that might be its last put. */
	do {
		file = borrow_proper(files, fd);
		if (!file)
			return NULL;
		owned = kref_get_unless_zero(&file->refs);
		fdput_rcu(file);
	} while (unlikely(!owned));
	return file;
}

struct berth_file *berth_files_get_raw(struct berth_files *files, int fd)
{
	return fget(table_of(files), (unsigned int)fd);
}

struct berth_file *berth_files_borrow(struct berth_files *files, int fd)
{
	return fdget_rcu(table_of(files), (unsigned int)fd);
}

void berth_files_return(struct berth_file *file)
{
	fdput_rcu(file);
}

int berth_files_close(struct berth_files *files, int fd)
{
	int ret = close_fd(table_of(files), (unsigned int)fd);

	rcu_poll();
	return ret;
}

int berth_files_getfd(struct berth_files *files, int fd)
{
	int ret = get_close_on_exec(table_of(files), (unsigned int)fd);

	return ret > 0 ? FD_CLOEXEC : ret;
}

int berth_files_setfd(struct berth_files *files, int fd, int fdflags)
{
	return set_close_on_exec(table_of(files), (unsigned int)fd,
				 fdflags & FD_CLOEXEC);
}

int berth_files_getfl(struct berth_files *files, int fd)
{
	struct berth_file *file = berth_files_borrow(files, fd);
	int flags;

	if (!file)
		return -EBADF;
	/* Relaxed: one word, which orders nothing. */
	flags = (int)load_relaxed(&file->flags);
	fdput_rcu(file);
	return flags;
}

int berth_files_setfl(struct berth_files *files, int fd, unsigned int flags)
{
	struct berth_file *file = borrow_proper(files, fd);
	unsigned int old, fresh, mask;
	int ret = 0;

	if (!file)
		return -EBADF;
	mask = file_setfl_mask(file);
	/* Relaxed: as in berth_files_getfl(). */
	old = load_relaxed(&file->flags);
	do {
		fresh = (old & ~mask) | (flags & mask);
		if (file->ops->check_flags)
			ret = file->ops->check_flags(file, fresh);
	} while (!ret && !cas_relaxed(&file->flags, &old, fresh));
	fdput_rcu(file);
	return ret;
}

unsigned int berth_files_count(struct berth_files *files)
{
	return files_count(table_of(files));
}

int berth_files_set_limit(struct berth_files *files, unsigned int limit)
{
	return files_set_limit(table_of(files), limit);
}

unsigned int berth_files_limit(const struct berth_files *files)
{
	return files_limit(table_of(files));
}

int berth_files_set_maximum(struct berth_files *files, unsigned int maximum)
{
	return files_set_maximum(table_of(files), maximum);
}

unsigned int berth_files_maximum(const struct berth_files *files)
{
	return files_maximum(table_of(files));
}

/* ---- Several numbers for one file ---- */

int berth_files_dup(struct berth_files *files, int fd)
{
	int ret = f_dupfd(table_of(files), (unsigned int)fd, 0, 0);

	rcu_poll();
	/* Here no number was asked for that could be wrong. */
	return ret == -EINVAL ? -EMFILE : ret;
}

int berth_files_dupfd(struct berth_files *files, int fd, int min,
		      unsigned int flags)
{
	int ret;

	if (flags & ~(unsigned int)O_CLOEXEC)
		return -EINVAL;
	ret = f_dupfd(table_of(files), (unsigned int)fd, (unsigned int)min,
		      flags);
	rcu_poll();
	return ret;
}

int berth_files_dup2(struct berth_files *files, int oldfd, int newfd)
{
	int ret = ksys_dup2(table_of(files), (unsigned int)oldfd,
			    (unsigned int)newfd);

	rcu_poll();
	return ret;
}

int berth_files_dup3(struct berth_files *files, int oldfd, int newfd,
		     unsigned int flags)
{
	int ret = ksys_dup3(table_of(files), (unsigned int)oldfd,
			    (unsigned int)newfd, flags);

	rcu_poll();
	return ret;
}

int berth_files_renumber(struct berth_files *files, int from, int to)
{
	int ret = renumber_fd(table_of(files), (unsigned int)from,
			      (unsigned int)to);

	rcu_poll();
	return ret;
}
