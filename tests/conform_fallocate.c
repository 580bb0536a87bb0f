/* SPDX-License-Identifier: MIT */
/* Room kept and given back, as on the kernel's tmpfs. */
#include "trace.h"

#define PAGE  INT64_C(4096)
#define KEEP  BERTH_FALLOC_KEEP_SIZE
#define PUNCH (BERTH_FALLOC_PUNCH_HOLE | BERTH_FALLOC_KEEP_SIZE)

static void room_in_a_new_file(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	is(t, 0, t_fallocate(t, fd, 0, 0, 10000));
	is(t, 0, t_fstat(t, fd));
	is(t, 10000, (int64_t)t->out.st.size);
	is(t, 24, (int64_t)t->out.st.blocks);
	is(t, 10000, t_pread(t, fd, 20000, 0));
	is_all(t, '\0');
	is(t, 0, t_fallocate(t, fd, 0, 5000, 100));
	is(t, 0, t_fallocate(t, fd, 0, 5 * PAGE + 1, 1));
	t_fstat(t, fd);
	is(t, 0, t_fallocate(t, fd, KEEP, 10 * PAGE, 2 * PAGE));
	is(t, 0, t_fstat(t, fd));
	is(t, 5 * PAGE + 2, (int64_t)t->out.st.size);
	is(t, 48, (int64_t)t->out.st.blocks);
	/* Of room beyond the end nothing is seen, until the file grows. */
	is(t, 0, t_ftruncate(t, fd, 11 * PAGE));
	is(t, PAGE, t_pread(t, fd, 2 * PAGE, 10 * PAGE));
	is_all(t, '\0');
	t_fstat(t, fd);
	is(t, 0, t_ftruncate(t, fd, 0));
	is(t, 0, t_fstat(t, fd));
	is(t, 0, (int64_t)t->out.st.blocks);
	/* To set the size that is there gives back what lies beyond. */
	is(t, 0, t_fallocate(t, fd, KEEP, 0, PAGE));
	is(t, 0, t_ftruncate(t, fd, 0));
	t_fstat(t, fd);
	is(t, 0, t_fallocate(t, fd, KEEP, 0, PAGE));
	is(t, 0, t_truncate(t, "f", 0));
	t_fstat(t, fd);
	is(t, 0, t_fallocate(t, fd, KEEP, 0, PAGE));
	t_open(t, "f", O_RDONLY | O_TRUNC, 0);
	t_fstat(t, fd);
}

static void data_stays(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_write(t, fd, "hello");
	t_pwrite(t, fd, "world", 3 * PAGE - 2);
	is(t, 0, t_fallocate(t, fd, 0, 0, 8 * PAGE));
	is(t, 5, t_pread(t, fd, 5, 0));
	is_text(t, "hello");
	is(t, 5, t_pread(t, fd, 5, 3 * PAGE - 2));
	is_text(t, "world");
	is(t, 5 * PAGE - 3, t_pread(t, fd, 6 * PAGE, 3 * PAGE + 3));
	is_all(t, '\0');
	t_pwrite(t, fd, "abc", 6 * PAGE + 1);
	t_pread(t, fd, 4, 6 * PAGE);
	is_text(t, "\0abc");
	t_fstat(t, fd);
}

static void where_the_data_is(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_fallocate(t, fd, 0, 0, 8 * PAGE);
	/* Room without data is a hole. */
	is(t, -ENXIO, t_lseek(t, fd, 0, SEEK_DATA));
	is(t, 0, t_lseek(t, fd, 0, SEEK_HOLE));
	t_pwrite(t, fd, "x", 3 * PAGE + 5);
	is(t, 3 * PAGE, t_lseek(t, fd, 0, SEEK_DATA));
	is(t, 4 * PAGE, t_lseek(t, fd, 3 * PAGE, SEEK_HOLE));
	is(t, -ENXIO, t_lseek(t, fd, 4 * PAGE, SEEK_DATA));
	is(t, 4 * PAGE, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 0, t_fallocate(t, fd, PUNCH, 3 * PAGE, PAGE));
	is(t, -ENXIO, t_lseek(t, fd, 0, SEEK_DATA));
	/* To read it, or to keep it once more, is not to write it; the kernel
	 * takes it for that. */
	mute(t);
	t_pread(t, fd, 8 * PAGE, 0);
	t_fallocate(t, fd, 0, 0, 8 * PAGE);
	is(t, on_berth(t) ? -ENXIO : 0, t_lseek(t, fd, 0, SEEK_DATA));
	unmute(t);
}

static void punch(struct trace *t)
{
	static const struct {
		int64_t offset, length;
	} holes[] = {
		{ 0, 1 },	    { 10, 20 },
		{ PAGE - 1, 2 },    { PAGE, PAGE },
		{ 5, PAGE },	    { 5, 2 * PAGE - 5 },
		{ 2 * PAGE, 100 },  { PAGE + 1, 4 * PAGE },
		{ 0, 6 * PAGE },    { 5 * PAGE, 3 * PAGE },
		{ 9 * PAGE, PAGE }, { 0, INT64_MAX },
	};
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	size_t i;

	for (i = 0; i < sizeof(holes) / sizeof(holes[0]); i++) {
		t_call(t, .kind = OP_PWRITE, .fd = fd, .fill = 'x',
		       .size = 6 * PAGE - 7);
		is(t, 0,
		   t_fallocate(t, fd, PUNCH, holes[i].offset, holes[i].length));
		is(t, 6 * PAGE - 7, t_pread(t, fd, 8 * PAGE, 0));
		t_fstat(t, fd);
		t_lseek(t, fd, 0, SEEK_DATA);
		t_lseek(t, fd, 0, SEEK_HOLE);
	}
	is(t, 0, (int64_t)t->out.st.blocks);
}

static void far_away(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_pwrite(t, fd, "x", 1LL << 40);
	t_pwrite(t, fd, "y", 1LL << 30);
	t_pwrite(t, fd, "z", 0);
	is(t, 0, t_fallocate(t, fd, PUNCH, 1, (1LL << 40) - 1));
	t_fstat(t, fd);
	is(t, 1LL << 40, t_lseek(t, fd, PAGE, SEEK_DATA));
	is(t, 1, t_pread(t, fd, 1, 1LL << 40));
	is(t, 0, t_fallocate(t, fd, 0, (1LL << 41), 1));
	t_fstat(t, fd);
	is(t, 0, t_fallocate(t, fd, PUNCH, 0, 1LL << 42));
	t_fstat(t, fd);
}

static void what_is_refused(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	int ro = t_open(t, "f", O_RDONLY, 0);
	int dir = t_open(t, ".", O_RDONLY, 0);
	int place = t_open(t, "f", O_PATH, 0);
	unsigned int mode;

	is(t, -EINVAL, t_fallocate(t, fd, 0, -1, 10));
	is(t, -EINVAL, t_fallocate(t, fd, 0, 0, 0));
	is(t, -EINVAL, t_fallocate(t, fd, 0, 0, -1));
	is(t, -EFBIG, t_fallocate(t, fd, 0, INT64_MAX, 1));
	is(t, -EFBIG, t_fallocate(t, fd, PUNCH, 1, INT64_MAX));
	is(t, -EBADF, t_fallocate(t, ro, 0, 0, 10));
	is(t, -EBADF, t_fallocate(t, dir, 0, 0, 10));
	is(t, -EBADF, t_fallocate(t, place, 0, -1, 10));
	is(t, -EBADF, t_fallocate(t, 77, 0, -1, 10));
	for (mode = 0; mode < 0x80; mode++) {
		t_fallocate(t, fd, mode, 0, PAGE);
		t_fallocate(t, ro, mode, 0, PAGE);
	}
	is(t, -EOPNOTSUPP, t_fallocate(t, ro, 1u << 20, 0, PAGE));
	t_fstat(t, fd);
}

static void times_and_set_id_bits(struct trace *t)
{
	int fd;

	t_file(t, "f", 0666, "hello");
	t_chmod(t, "f", 06777);
	t_cred(t, USER);
	fd = t_open(t, "f", O_RDWR, 0);
	since_kernel(t, 6, 6); /* before, mtime and bits stayed */
	t_mark(t, "f");
	is(t, 0, t_fallocate(t, fd, KEEP, 0, 1));
	is(t, MTIME | CTIME, t_moved(t, "f"));
	t_stat(t, "f");
	t_mark(t, "f");
	is(t, 0, t_fallocate(t, fd, PUNCH, 0, 1));
	is(t, MTIME | CTIME, t_moved(t, "f"));
	t_mark(t, "f");
	is(t, -EFBIG, t_fallocate(t, fd, 0, INT64_MAX, 1));
	is(t, 0, t_moved(t, "f"));
}

static void all_or_nothing(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	int other = t_open(t, "g", O_CREAT | O_RDWR, 0644);

	t_pwrite(t, fd, "x", PAGE);
	is(t, -ENOSPC, t_fallocate(t, fd, 0, 0, 9 * PAGE));
	t_fstat(t, fd);
	is(t, -ENOSPC, t_fallocate(t, fd, 0, 0, 1LL << 50));
	t_fstat(t, fd);
	t_fill(t, other, 'x', 2 * PAGE);
	is(t, -ENOSPC, t_fallocate(t, fd, 0, 0, 7 * PAGE));
	t_fstat(t, fd);
	t_call(t, .kind = OP_STATFS, .path = "f");
	is(t, 0, t_fallocate(t, fd, 0, 0, 6 * PAGE));
	t_call(t, .kind = OP_FSTATFS, .fd = fd);
	/* Room that was kept is there when it is needed. */
	is(t, -ENOSPC, t_write(t, other, "x"));
	t_call(t, .kind = OP_PWRITE, .fd = fd, .fill = 'y', .size = 6 * PAGE);
	is(t, 6 * PAGE, t->out.ret);
	is(t, 0, t_fallocate(t, fd, PUNCH, 0, PAGE));
	is(t, 1, t_write(t, other, "x"));
	t_call(t, .kind = OP_STATFS, .path = "/");
}

static const struct CMUnitTest cases[] = {
	TRACE(room_in_a_new_file, AS_BOTH),
	TRACE(data_stays, AS_BOTH),
	TRACE(where_the_data_is, AS_BOTH),
	TRACE(punch, AS_BOTH),
	TRACE(far_away, AS_BOTH),
	TRACE(what_is_refused, AS_BOTH),
	TRACE(times_and_set_id_bits, AS_MANY),
	TRACE_LIMITED(all_or_nothing, AS_ROOT, 8 * PAGE, 100),
};

int main(int argc, char **argv)
{
	return run_traces(argc, argv, cases);
}
