/* SPDX-License-Identifier: MIT */
/* fsync and its family, statfs, chroot: as on the kernel's tmpfs. */
#include "trace.h"

static int64_t sync_range(struct trace *t, int fd, int64_t offset,
			  int64_t count, unsigned int flags)
{
	return t_call(t, .kind = OP_SYNC_RANGE, .fd = fd, .pos = offset,
		      .size = (size_t)count, .flags = flags);
}

static void fsync_and_family(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_WRONLY, 0644);
	int dir = t_open(t, ".", O_RDONLY, 0);
	int place = t_open(t, "f", O_PATH, 0);
	int which;

	t_mark(t, "f");
	for (which = 0; which < 3; which++) {
		is(t, 0, t_call(t, .kind = OP_FSYNC, .fd = fd, .cmd = which));
		is(t, 0, t_call(t, .kind = OP_FSYNC, .fd = dir, .cmd = which));
		is(t, -EBADF,
		   t_call(t, .kind = OP_FSYNC, .fd = place, .cmd = which));
		is(t, -EBADF,
		   t_call(t, .kind = OP_FSYNC, .fd = -1, .cmd = which));
	}
	is(t, 0, sync_range(t, fd, 0, 0, 7));
	is(t, 0, sync_range(t, fd, 0, INT64_MAX, 0));
	is(t, 0, sync_range(t, dir, 0, 0, 2));
	is(t, -EBADF, sync_range(t, place, 0, 0, 0));
	is(t, -EBADF, sync_range(t, 77, -1, 0, 8));
	is(t, -EINVAL, sync_range(t, fd, 0, 0, 8));
	is(t, -EINVAL, sync_range(t, fd, -1, 0, 0));
	is(t, -EINVAL, sync_range(t, fd, 0, -1, 0));
	is(t, -EINVAL, sync_range(t, fd, 2, INT64_MAX, 0));
	is(t, 0, t_moved(t, "f"));
}

static int64_t statfs_of(struct trace *t, const char *path)
{
	return t_call(t, .kind = OP_STATFS, .path = path);
}

static void how_full_it_is(struct trace *t)
{
	int fd;

	is(t, 0, statfs_of(t, "/"));
	t_mkdir(t, "d", 0700);
	t_file(t, "d/f", 0, "hello");
	t_symlink(t, "d/f", "l");
	is(t, 0, statfs_of(t, "l"));
	is(t, -ENOENT, statfs_of(t, "missing"));
	is(t, -ENOTDIR, statfs_of(t, "d/f/"));
	is(t, -ENOENT, statfs_of(t, ""));
	fd = t_open(t, "d/f", O_PATH, 0);
	is(t, 0, t_call(t, .kind = OP_FSTATFS, .fd = fd));
	is(t, -EBADF, t_call(t, .kind = OP_FSTATFS, .fd = 77));
	t_unlink(t, "d/f");
	t_close(t, fd);
	is(t, 0, statfs_of(t, "d"));
	t_cred(t, USER);
	is(t, -EACCES, statfs_of(t, "d/f"));
	is(t, 0, statfs_of(t, "d"));
}

static int64_t root_at(struct trace *t, const char *path)
{
	return t_call(t, .kind = OP_CHROOT, .path = path);
}

static void another_root(struct trace *t)
{
	t_mkdir(t, "a", 0755);
	t_mkdir(t, "a/b", 0755);
	t_mkdir(t, "c", 0700);
	t_file(t, "f", 0644, "outside");
	t_file(t, "a/f", 0644, "inside");
	t_symlink(t, "/f", "a/l");
	t_symlink(t, "../../f", "a/up");
	is(t, -ENOENT, root_at(t, "missing"));
	is(t, -ENOTDIR, root_at(t, "f"));
	is(t, 0, t_open(t, "c", O_RDONLY, 0));
	is(t, 0, root_at(t, "a"));
	/* The working directory is out of reach, but works. */
	is(t, 7, t_cat(t, "f"));
	is(t, 6, t_cat(t, "/f"));
	t_chdir(t, "c");
	/* The kernel goes on to a root that is none of ours. */
	mute(t);
	t_call(t, .kind = OP_GETCWD, .size = 100);
	if (on_berth(t))
		is_text(t, "(unreachable)/c\0");
	unmute(t);
	t_chdir(t, "/b");
	is(t, 3, t_call(t, .kind = OP_GETCWD, .size = 100));
	is(t, 6, t_cat(t, "../../../f"));
	is(t, 6, t_cat(t, "../l"));
	is(t, 6, t_cat(t, "../up"));
	t_list(t, "/");
	/* What is open leads out. */
	is(t, 0, t_call(t, .kind = OP_FCHDIR, .fd = 0));
	is(t, 7, t_cat(t, "../f"));
}

static void who_may_change_the_root(struct trace *t)
{
	t_mkdir(t, "a", 0755);
	t_mkdir(t, "c", 0700);
	t_cred(t, USER);
	is(t, -EPERM, root_at(t, "a"));
	is(t, -EACCES, root_at(t, "c"));
}

static const struct CMUnitTest cases[] = {
	TRACE(fsync_and_family, AS_BOTH),
	TRACE_LIMITED(how_full_it_is, AS_MANY, 1 << 20, 100),
	TRACE(another_root, AS_ROOT),
	TRACE(who_may_change_the_root, AS_MANY),
};

int main(int argc, char **argv)
{
	return run_traces(argc, argv, cases);
}
