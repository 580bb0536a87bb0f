/* SPDX-License-Identifier: MIT */
/*
 * Whole tables at once: ranges, visits, revocation, the sets of poll and
 * select.
 *
 * Like exec.c these take one number after the other, over the seam alone.  A
 * visitor runs with an owned reference and nothing else held, so it may sleep
 * and call what it likes.
 */
#include <errno.h>
#include <fcntl.h>

#include "files/files.h"

/* ---- Ranges ---- */

int unshare_files(struct files_struct **files)
{
	struct files_struct *copy;

	if (!files_is_shared(*files))
		return 0;
	copy = dup_fd(*files);
	if (!copy)
		return -ENOMEM;
	files_put(*files);
	*files = copy;
	return 0;
}

int close_range_fd(struct files_struct **files, unsigned int first,
		   unsigned int last, unsigned int flags)
{
	unsigned int fd;
	int ret = 0;

	if ((flags &
	     ~(BERTH_CLOSE_RANGE_UNSHARE | BERTH_CLOSE_RANGE_CLOEXEC)) ||
	    first > last)
		return -EINVAL;
	if (flags & BERTH_CLOSE_RANGE_UNSHARE)
		ret = unshare_files(files);
	if (ret)
		return ret;
	for_each_open_fd_from(*files, fd, first)
	{
		if (fd > last)
			break;
		if (flags & BERTH_CLOSE_RANGE_CLOEXEC)
			set_close_on_exec(*files, fd, true);
		else
			close_fd(*files, fd);
	}
	return 0;
}

int berth_files_close_range(struct berth_files **handle, unsigned int first,
			    unsigned int last, unsigned int flags)
{
	struct files_struct *files = table_of(*handle);
	int ret = close_range_fd(&files, first, last, flags);

	*handle = handle_of(files);
	rcu_poll();
	return ret;
}

void berth_files_closefrom(struct berth_files *files, int first)
{
	berth_files_close_range(&files, first < 0 ? 0 : (unsigned int)first,
				FD_NONE, 0);
}

int berth_files_unshare(struct berth_files **handle)
{
	struct files_struct *files = table_of(*handle);
	int ret = unshare_files(&files);

	*handle = handle_of(files);
	rcu_poll();
	return ret;
}

/* ---- Visits ---- */

int berth_files_iterate(struct berth_files *handle, int from,
			int (*fn)(int fd, struct berth_file *file, void *arg),
			void *arg)
{
	struct files_struct *files = table_of(handle);
	struct berth_file *file;
	unsigned int fd;
	int ret = 0;

	for_each_open_fd_from(files, fd, from < 0 ? 0 : (unsigned int)from)
	{
		file = fget(files, fd);
		if (!file)
			continue;
		ret = fn((int)fd, file, arg);
		fput(file);
		if (ret)
			break;
	}
	rcu_poll();
	return ret;
}

/* ---- Revocation ---- */

struct revocation {
	bool (*refuses)(int fd, struct berth_file *file, void *arg);
	void *arg;
	struct berth_file *null_file; /* or NULL */
};

/*
 * Is @fd's file refused, and was it this call that took it away?  A file that
 * is owned here can not come back as another one at the same address, so what
 * fd_exchange() compares is what was refused.
 */
static bool revoke_fd(struct files_struct *files, unsigned int fd,
		      const struct revocation *revocation)
{
	struct berth_file *file, *null_file = revocation->null_file;
	bool refused, done = false;

	do {
		file = fget(files, fd);
		if (!file)
			return false;
		refused = file != null_file &&
			  revocation->refuses((int)fd, file, revocation->arg);
		if (refused && null_file)
			get_file(null_file);
		if (refused)
			done = fd_exchange(files, fd, file, null_file);
		if (done)
			close_left(files, fd, file);
		else if (refused && null_file)
			fput(null_file);
		fput(file);
	} while (refused && !done);
	return done;
}

unsigned int berth_files_revoke(struct berth_files *handle,
				bool (*refuses)(int fd, struct berth_file *file,
						void *arg),
				void *arg, struct berth_file *null_file)
{
	const struct revocation revocation = { refuses, arg, null_file };
	struct files_struct *files = table_of(handle);
	unsigned int fd, before, count = 0;

	do {
		before = count;
		for_each_open_fd(files, fd) count +=
			revoke_fd(files, fd, &revocation);
	} while (count != before);
	rcu_poll();
	return count;
}

/* ---- One number ---- */

int berth_files_receive(struct berth_files *handle, struct berth_file *file,
			unsigned int flags, int *where)
{
	int fd = berth_files_reserve(handle, 0, flags);

	if (fd < 0)
		return fd;
	if (where)
		*where = fd;
	get_file(file);
	fd_install(table_of(handle), (unsigned int)fd, file);
	return fd;
}

int berth_files_same(struct berth_files *handle, int fd1, int fd2)
{
	struct files_struct *files = table_of(handle);
	struct berth_file *file = fdget_rcu(files, (unsigned int)fd1), *other;
	int ret = -EBADF;

	if (!file)
		return -EBADF;
	other = fdget_rcu(files, (unsigned int)fd2);
	if (other) {
		ret = file == other;
		fdput_rcu(other);
	}
	fdput_rcu(file);
	return ret;
}

struct berth_file *berth_files_borrow_of(
	struct berth_files *files, int fd,
	const struct berth_file_operations *ops)
{
	struct berth_file *file = berth_files_borrow(files, fd);

	if (!file || (file->ops == ops && !(file->mode & BERTH_FILE_PATH)))
		return file;
	berth_files_return(file);
	return NULL;
}

/* ---- Sets of poll and select ---- */

static bool fd_finds_file(struct files_struct *files, unsigned int fd)
{
	struct berth_file *file = fdget_rcu(files, fd);

	if (file)
		fdput_rcu(file);
	return file;
}

unsigned int berth_files_check_poll(struct berth_files *files,
				    struct pollfd *fds, size_t nfds)
{
	unsigned int count = 0;
	size_t i;
	bool bad;

	for (i = 0; i < nfds; i++) {
		bad = fds[i].fd >= 0 &&
		      !fd_finds_file(table_of(files), (unsigned int)fds[i].fd);
		fds[i].revents = bad ? POLLNVAL : 0;
		count += bad;
	}
	return count;
}

#define SET_BITS ((unsigned int)(sizeof(fd_mask) * CHAR_BIT))

/* The bits of a set, of which there may be more than its type says. */
static unsigned long set_word(const fd_set *set, unsigned int i)
{
	const fd_mask *words = (const fd_mask *)(const void *)set;

	return set ? (unsigned long)words[i] : 0;
}

int berth_files_check_select(struct berth_files *handle, int nfds,
			     const fd_set *in, const fd_set *out,
			     const fd_set *ex)
{
	struct files_struct *files = table_of(handle);
	unsigned int fd, base, end;
	unsigned long word;

	if (nfds < 0)
		return -EINVAL;
	end = files_size(files);
	if (end > (unsigned int)nfds)
		end = (unsigned int)nfds;
	for (base = 0; base < end; base += SET_BITS) {
		word = set_word(in, base / SET_BITS) |
		       set_word(out, base / SET_BITS) |
		       set_word(ex, base / SET_BITS);
		for (; word; word &= word - 1) {
			fd = base + (unsigned int)__builtin_ctzl(word);
			if (fd < end && !fd_finds_file(files, fd))
				return -EBADF;
		}
	}
	return 0;
}
