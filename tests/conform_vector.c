/* SPDX-License-Identifier: MIT */
/* Reads and writes of several buffers, as on the kernel's tmpfs. */
#include "trace.h"

#define PAGE INT64_C(4096)

static void in_pieces(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	is(t, 11, t_writev(t, fd, "hello world", 3, -1));
	is(t, 11, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 11, t_pread(t, fd, 20, 0));
	is_text(t, "hello world");
	is(t, 2, t_writev(t, fd, "HE", 2, 0));
	is(t, 2, t_writev(t, fd, "ab", 5, 20)); /* four of them empty */
	is(t, 11, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 22, t_readv(t, fd, 30, 4, 0));
	is_text(t, "HEllo world\0\0\0\0\0\0\0\0\0ab");
	is(t, 11, t_readv(t, fd, 30, 7, -1));
	is(t, 0, t_readv(t, fd, 30, 7, -1));
	is(t, 22, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 0, t_readv(t, fd, 30, 2, 1 << 20));
}

static void across_pages(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	int pieces;

	/* Pages that are filled from two pieces, and by halves. */
	for (pieces = 1; pieces < 8; pieces++) {
		t_ftruncate(t, fd, 0);
		t_call(t, .kind = OP_WRITEV, .fd = fd, .fill = 'x',
		       .size = 3 * PAGE, .cmd = pieces, .pos = 100);
		t_readv(t, fd, 4 * PAGE, 8 - pieces, 0);
		is(t, 3 * PAGE + 100, t->out.ret);
		t_call(t, .kind = OP_WRITEV, .fd = fd, .fill = 'y',
		       .size = 2 * PAGE, .cmd = pieces, .pos = 5 * PAGE);
		is(t, 2 * PAGE, t_pread(t, fd, 2 * PAGE, 5 * PAGE));
		is_all(t, 'y');
		t_fstat(t, fd);
	}
}

static void counts(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	int ro = t_open(t, "f", O_RDONLY, 0);
	int wo = t_open(t, "f", O_WRONLY, 0);
	int dir = t_open(t, ".", O_RDONLY, 0);
	int place = t_open(t, "f", O_PATH, 0);

	t_write(t, fd, "hello");
	is(t, -EINVAL, t_readv(t, fd, 5, -1, 0));
	is(t, -EINVAL, t_readv(t, fd, 5, 1025, 0));
	is(t, 5, t_readv(t, fd, 5, 1024, 0));
	is(t, 0, t_readv(t, fd, 5, 0, 0));
	is(t, 0, t_readv(t, fd, 0, 3, 0));
	is(t, 0, t_writev(t, fd, "", 3, 0));
	is(t, 0, t_writev(t, fd, "", 0, 0));
	is(t, -EINVAL, t_writev(t, fd, "ab", 1025, 0));
	is(t, -EBADF, t_readv(t, wo, 5, 1, 0));
	is(t, -EBADF, t_writev(t, ro, "ab", 1, 0));
	is(t, -EBADF, t_readv(t, place, 5, 1, 0));
	is(t, -EBADF, t_readv(t, 77, 5, -1, 0));
	is(t, -EINVAL, t_readv(t, 77, 5, 1, -2));
	is(t, -EISDIR, t_readv(t, dir, 5, 1, -1));
	is(t, -EOPNOTSUPP,
	   t_call(t, .kind = OP_READV, .fd = dir, .size = 5, .cmd = 1,
		  .flags = BERTH_RWF_APPEND));
	is(t, 0, t_readv(t, dir, 0, 1, -1));
	is(t, -EINVAL, t_readv(t, dir, 5, -1, -1));
	is(t, -EINVAL, t_readv(t, fd, 5, 1, INT64_MAX));
	is(t, -EINVAL, t_writev(t, fd, "hello", 1, INT64_MAX - 2));
	t_fstat(t, fd);
}

static int64_t with_flags(struct trace *t, enum op_kind kind, int fd,
			  int64_t pos, unsigned int flags)
{
	return t_call(t, .kind = kind, .fd = fd, .data = "abc", .size = 3,
		      .cmd = 2, .pos = pos, .flags = flags);
}

static void flags(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_write(t, fd, "0123456789");
	is(t, 3, with_flags(t, OP_WRITEV, fd, 0, BERTH_RWF_APPEND));
	is(t, 10, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 3, with_flags(t, OP_WRITEV, fd, -1, BERTH_RWF_APPEND));
	is(t, 16, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 3,
	   with_flags(t, OP_WRITEV, fd, 1,
		      BERTH_RWF_DSYNC | BERTH_RWF_SYNC | BERTH_RWF_HIPRI));
	is(t, 3, with_flags(t, OP_READV, fd, 1, BERTH_RWF_HIPRI));
	is(t, 3, with_flags(t, OP_READV, fd, 1, BERTH_RWF_APPEND));
	is(t, -EOPNOTSUPP, with_flags(t, OP_READV, fd, 1, 1u << 20));
	is(t, -EOPNOTSUPP, with_flags(t, OP_WRITEV, fd, 1, 1u << 31));
	is(t, 0,
	   t_call(t, .kind = OP_READV, .fd = fd, .cmd = 1, .size = 0,
		  .flags = 1u << 20));
	is(t, -EOPNOTSUPP, with_flags(t, OP_WRITEV, fd, 1, 0x8)); /* NOWAIT */
	is(t, 16, t_pread(t, fd, 30, 0));
	since_kernel(t, 6, 9);
	is(t, -EINVAL,
	   with_flags(t, OP_WRITEV, fd, 0,
		      BERTH_RWF_APPEND | BERTH_RWF_NOAPPEND));
	t_fcntl(t, fd, F_SETFL, O_APPEND);
	is(t, 3, with_flags(t, OP_WRITEV, fd, 4, BERTH_RWF_NOAPPEND));
	is(t, 16, t_pread(t, fd, 30, 0));
	t_lseek(t, fd, 7, SEEK_SET);
	is(t, 3, with_flags(t, OP_WRITEV, fd, -1, BERTH_RWF_NOAPPEND));
	is(t, 10, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 3, with_flags(t, OP_WRITEV, fd, 4, 0));
	is(t, 19, t_pread(t, fd, 30, 0));
}

static void set_id_bits_and_times(struct trace *t)
{
	int fd;

	t_file(t, "f", 0666, "");
	t_chmod(t, "f", 06777);
	t_cred(t, USER);
	fd = t_open(t, "f", O_RDWR, 0);
	t_mark(t, "f");
	is(t, 0, t_writev(t, fd, "", 1, 0));
	is(t, 0, t_moved(t, "f"));
	is(t, 1, t_writev(t, fd, "x", 1, 0));
	is(t, MTIME | CTIME, t_moved(t, "f"));
	t_stat(t, "f");
	t_mark(t, "f");
	is(t, 1, t_readv(t, fd, 5, 2, 0));
	is(t, ATIME, t_moved(t, "f"));
}

static void no_room(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	/* What fits is written. */
	t_call(t, .kind = OP_WRITEV, .fd = fd, .fill = 'x', .size = 6 * PAGE,
	       .cmd = 4, .pos = -1);
	is(t, 4 * PAGE, t->out.ret);
	is(t, 4 * PAGE, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, -ENOSPC, t_writev(t, fd, "ab", 2, -1));
	is(t, 2, t_writev(t, fd, "ab", 2, 0));
	t_fstat(t, fd);
}

static const struct CMUnitTest cases[] = {
	TRACE(in_pieces, AS_BOTH),
	TRACE(across_pages, AS_BOTH),
	TRACE(counts, AS_BOTH),
	TRACE(flags, AS_BOTH),
	TRACE(set_id_bits_and_times, AS_MANY),
	TRACE_LIMITED(no_room, AS_ROOT, 4 * PAGE, 100),
};

int main(int argc, char **argv)
{
	return run_traces(argc, argv, cases);
}
