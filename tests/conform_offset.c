/* SPDX-License-Identifier: MIT */
/*
 * Offsets, append, status flags and the access mode, as on the kernel's tmpfs.
 * The first word of a case is its row of the list of pitfalls.
 */
#include <limits.h>

#include "trace.h"

static void F1_append_after_truncation(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR | O_APPEND, 0644);

	t_write(t, fd, "0123456789");
	is(t, 0, t_ftruncate(t, fd, 0));
	is(t, 3, t_write(t, fd, "abc"));
	is(t, 3, t_pread(t, fd, 100, 0));
	is_text(t, "abc");
	is(t, 3, t_lseek(t, fd, 0, SEEK_CUR));
}

static void F2_append_after_truncation_by_another(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_WRONLY | O_APPEND, 0644);

	t_write(t, fd, "0123456789");
	is(t, 0, t_truncate(t, "f", 4));
	is(t, 3, t_write(t, fd, "abc"));
	t_cat(t, "f");
	is_text(t, "0123abc");
}

static void F4_seek_beyond_the_end(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_write(t, fd, "hello");
	is(t, 105, t_lseek(t, fd, 100, SEEK_END));
	is(t, 0, t_read(t, fd, 10));
	is(t, 0, t_fstat(t, fd));
	is(t, 5, (int64_t)t->out.st.size);
	is(t, 3, t_lseek(t, fd, -2, SEEK_END));
	is(t, -EINVAL, t_lseek(t, fd, -6, SEEK_END));
	is(t, -EINVAL, t_lseek(t, fd, -1, SEEK_SET));
	is(t, -EINVAL, t_lseek(t, fd, 0, 99));
	is(t, -EINVAL, t_lseek(t, fd, 0, -1));
	is(t, 3, t_lseek(t, fd, 0, SEEK_CUR));
}

static void F4_seek_to_the_last_offset(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	is(t, INT64_MAX, t_lseek(t, fd, INT64_MAX, SEEK_SET));
	t_lseek(t, fd, 1, SEEK_CUR);
	is(t, INT64_MAX, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, -EINVAL, t_read(t, fd, 1));
	is(t, 0, t_read(t, fd, 0));
	is(t, -EINVAL, t_write(t, fd, "x"));
	t_write(t, fd, "");
	t_fstat(t, fd);
	t_write(t, fd, "hello");
	t_lseek(t, fd, INT64_MAX, SEEK_END);
	t_lseek(t, fd, INT64_MIN, SEEK_CUR);
	t_lseek(t, fd, INT64_MIN, SEEK_END);
}

static void F5_access_mode_is_reported(struct trace *t)
{
	t_file(t, "f", 0644, "");
	is(t, O_RDONLY,
	   O_ACCMODE & t_fcntl(t, t_open(t, "f", O_RDONLY, 0), F_GETFL, 0));
	is(t, O_WRONLY,
	   O_ACCMODE & t_fcntl(t, t_open(t, "f", O_WRONLY, 0), F_GETFL, 0));
	is(t, O_RDWR,
	   O_ACCMODE & t_fcntl(t, t_open(t, "f", O_RDWR, 0), F_GETFL, 0));
}

static void F7_positioned_write_extends(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	is(t, 5, t_pwrite(t, fd, "hello", 7000));
	is(t, 0, t_fstat(t, fd));
	is(t, 7005, (int64_t)t->out.st.size);
	is(t, 0, t_lseek(t, fd, 0, SEEK_CUR));
	t_pread(t, fd, 100, 6990);
	is_text(t, "\0\0\0\0\0\0\0\0\0\0hello");
}

static void F8_append_is_honoured(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "hello");
	fd = t_open(t, "f", O_RDWR | O_APPEND, 0);
	is(t, 0, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 2, t_read(t, fd, 2));
	is(t, 6, t_write(t, fd, " world"));
	is(t, 11, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 1, t_lseek(t, fd, 1, SEEK_SET));
	is(t, 1, t_write(t, fd, "!"));
	is(t, 12, t_lseek(t, fd, 0, SEEK_CUR));
	t_cat(t, "f");
	is_text(t, "hello world!");
}

static void F10_positioned_write_to_an_append_file(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR | O_APPEND, 0644);

	t_write(t, fd, "hello");
	is(t, 2, t_lseek(t, fd, 2, SEEK_SET));
	is(t, 2, t_pwrite(t, fd, "XX", 0));
	is(t, 2, t_lseek(t, fd, 0, SEEK_CUR));
	t_cat(t, "f");
	is_text(t, "helloXX");
	is(t, -EINVAL, t_pwrite(t, fd, "XX", -1));
}

static void F11_setting_flags_truncates_nothing(struct trace *t)
{
	int fd, twin;

	t_file(t, "f", 0644, "hello");
	fd = t_open(t, "f", O_RDWR, 0);
	twin = t_dup(t, fd);
	is(t, 0, t_fcntl(t, fd, F_SETFL, O_TRUNC | O_CREAT | O_WRONLY));
	is(t, 0, t_fstat(t, fd));
	is(t, 5, (int64_t)t->out.st.size);
	is(t, O_RDWR, O_ACCMODE & t_fcntl(t, fd, F_GETFL, 0));

	/* What can be changed is changed for the duplicate, too. */
	is(t, 0, t_fcntl(t, twin, F_SETFL, O_APPEND | O_NONBLOCK));
	t_fcntl(t, fd, F_GETFL, 0);
	is(t, 1, t_write(t, fd, "!"));
	is(t, 0, t_fcntl(t, fd, F_SETFL, 0));
	t_fcntl(t, twin, F_GETFL, 0);
	t_lseek(t, fd, 0, SEEK_SET);
	is(t, 1, t_write(t, fd, "H"));
	t_cat(t, "f");
	is_text(t, "Hello!");
}

static void F13_positioned_read_keeps_the_offset(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "0123456789");
	fd = t_open(t, "f", O_RDONLY, 0);
	t_read(t, fd, 2);
	is(t, 3, t_pread(t, fd, 3, 6));
	is_text(t, "678");
	is(t, 1, t_pread(t, fd, 3, 9));
	is(t, 0, t_pread(t, fd, 3, 10));
	is(t, 2, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 1, t_read(t, fd, 1));
	is_text(t, "2");
}

static void F14_access_mode_is_a_value(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "hello");
	fd = t_open(t, "f", O_ACCMODE, 0);
	t_read(t, fd, 1);
	t_write(t, fd, "x");
	t_fcntl(t, fd, F_GETFL, 0);
	t_ftruncate(t, fd, 0);
	t_fstat(t, fd);
}

static void F16_access_mode_is_enforced(struct trace *t)
{
	int reader, writer;

	t_file(t, "f", 0644, "hello");
	reader = t_open(t, "f", O_RDONLY, 0);
	writer = t_open(t, "f", O_WRONLY, 0);
	is(t, -EBADF, t_write(t, reader, "x"));
	is(t, -EBADF, t_pwrite(t, reader, "x", 0));
	is(t, -EBADF, t_write(t, reader, ""));
	is(t, -EBADF, t_read(t, writer, 1));
	is(t, -EBADF, t_pread(t, writer, 1, 0));
	is(t, -EBADF, t_read(t, writer, 0));
	is(t, -EINVAL, t_pread(t, writer, 1, -1));
	is(t, -EINVAL, t_pwrite(t, reader, "x", -1));
	is(t, -EBADF, t_read(t, 77, 1));
	is(t, -EBADF, t_pread(t, -1, 1, 0));
	is(t, -EBADF, t_write(t, INT_MIN, "x"));
	is(t, -EBADF, t_lseek(t, INT_MAX, 0, SEEK_SET));
}

static void F16_a_path_descriptor_does_no_io(struct trace *t)
{
	int fd, dir;

	t_file(t, "f", 0644, "hello");
	t_mkdir(t, "d", 0755);
	t_file(t, "d/g", 0644, "");
	fd = t_open(t, "f", O_PATH | O_RDWR | O_TRUNC, 0);
	dir = t_open(t, "d", O_PATH, 0);
	is(t, -EBADF, t_read(t, fd, 1));
	is(t, -EBADF, t_write(t, fd, "x"));
	is(t, -EBADF, t_pread(t, fd, 1, 0));
	is(t, -EBADF, t_lseek(t, fd, 0, SEEK_SET));
	is(t, -EBADF, t_ftruncate(t, fd, 0));
	is(t, -EBADF, t_call(t, .kind = OP_FCHMOD, .fd = fd, .mode = 0600));
	is(t, -EBADF,
	   t_call(t, .kind = OP_FCHOWN, .fd = fd, .uid = 0, .gid = 0));
	is(t, -EBADF, t_call(t, .kind = OP_GETDENTS, .fd = dir, .size = 999));
	is(t, -EBADF, t_fcntl(t, fd, F_SETFL, 0));
	t_call(t, .kind = OP_UTIMENS, .fd = fd, .path = NULL);
	is(t, O_PATH, O_PATH & t_fcntl(t, fd, F_GETFL, 0));
	is(t, 0, t_fstat(t, fd));
	is(t, 5, (int64_t)t->out.st.size);
	is(t, 0, t_call(t, .kind = OP_STAT, .fd = dir, .path = "g"));
	is(t, 0, t_call(t, .kind = OP_FCHDIR, .fd = dir));
	is(t, 0, t_stat(t, "g"));
	is(t, 2, t_dup(t, fd));
	is(t, 0, t_close(t, fd));
}

static void F17_write_goes_to_the_offset(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "0123456789");
	fd = t_open(t, "f", O_WRONLY, 0);
	is(t, 4, t_lseek(t, fd, 4, SEEK_SET));
	is(t, 2, t_write(t, fd, "ab"));
	is(t, 6, t_lseek(t, fd, 0, SEEK_CUR));
	t_cat(t, "f");
	is_text(t, "0123ab6789");
}

static void F19_two_opens_have_two_positions(struct trace *t)
{
	int first, second;

	t_file(t, "f", 0644, "0123456789");
	first = t_open(t, "f", O_RDWR, 0);
	second = t_open(t, "f", O_RDWR, 0);
	t_read(t, first, 4);
	is(t, 0, t_lseek(t, second, 0, SEEK_CUR));
	is(t, 1, t_write(t, second, "x"));
	is(t, 4, t_lseek(t, first, 0, SEEK_CUR));
	t_read(t, second, 1);
	is_text(t, "1");
}

static void F19_duplicates_have_one_position(struct trace *t)
{
	int fd, twin;

	t_file(t, "f", 0644, "0123456789");
	fd = t_open(t, "f", O_RDWR, 0);
	twin = t_dup(t, fd);
	t_read(t, fd, 4);
	is(t, 4, t_lseek(t, twin, 0, SEEK_CUR));
	is(t, 1, t_write(t, twin, "x"));
	is(t, 0, t_close(t, twin));
	t_read(t, fd, 1);
	is_text(t, "5");
}

static void F20_truncated_below_my_position(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_write(t, fd, "0123456789");
	is(t, 0, t_truncate(t, "f", 2));
	is(t, 10, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 0, t_read(t, fd, 1));
	is(t, 2, t_write(t, fd, "ab"));
	t_cat(t, "f");
	is_text(t, "01\0\0\0\0\0\0\0\0ab");
}

static void F22_a_used_number_starts_at_zero(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "0123456789");
	fd = t_open(t, "f", O_RDONLY, 0);
	t_read(t, fd, 7);
	t_close(t, fd);
	is(t, fd, t_open(t, "f", O_RDONLY, 0));
	is(t, 0, t_lseek(t, fd, 0, SEEK_CUR));
	t_read(t, fd, 1);
	is_text(t, "0");
}

static void F23_appends_by_two_openers(struct trace *t)
{
	int first = t_open(t, "f", O_CREAT | O_WRONLY | O_APPEND, 0644);
	int second = t_open(t, "f", O_WRONLY | O_APPEND, 0);

	t_write(t, first, "one ");
	t_write(t, second, "two ");
	t_write(t, first, "three ");
	is(t, 14, t_lseek(t, first, 0, SEEK_CUR));
	is(t, 8, t_lseek(t, second, 0, SEEK_CUR));
	t_cat(t, "f");
	is_text(t, "one two three ");
}

static void F25_huge_positions(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	is(t, -EINVAL, t_pread(t, fd, 1, -1));
	is(t, -EINVAL, t_pread(t, fd, 1, INT64_MIN));
	is(t, -EINVAL, t_pwrite(t, fd, "x", INT64_MIN));
	is(t, -EINVAL, t_pwrite(t, fd, "hello", INT64_MAX - 1));
	is(t, -EINVAL, t_pread(t, fd, 10, INT64_MAX));
	is(t, 0, t_pread(t, fd, 10, INT64_MAX - 10));
	t_pwrite(t, fd, "x", INT64_MAX);
	t_pwrite(t, fd, "", INT64_MAX);
	t_fstat(t, fd);
	is(t, 1, t_pwrite(t, fd, "x", 1LL << 40));
	t_pread(t, fd, 10, (1LL << 40) - 3);
	is_text(t, "\0\0\0x");
	t_fstat(t, fd);
}

static void F26_truncation_wants_a_writable_open(struct trace *t)
{
	int fd, dir;

	t_file(t, "f", 0666, "hello");
	t_mkdir(t, "d", 0777);
	fd = t_open(t, "f", O_RDONLY, 0);
	dir = t_open(t, "d", O_RDONLY, 0);
	is(t, -EINVAL, t_ftruncate(t, fd, 0));
	is(t, -EINVAL, t_ftruncate(t, fd, -1));
	is(t, -EINVAL, t_ftruncate(t, dir, 0));
	is(t, -EBADF, t_ftruncate(t, 9, 0));
	is(t, -EINVAL, t_ftruncate(t, 9, -1));
	is(t, -EISDIR, t_truncate(t, "d", 0));
	is(t, -EINVAL, t_truncate(t, "f", -1));
	is(t, -EINVAL, t_truncate(t, "missing", -1));
	is(t, -ENOENT, t_truncate(t, "missing", 0));
	t_mknod(t, "s", S_IFSOCK | 0666);
	is(t, -EINVAL, t_truncate(t, "s", 0));
	t_stat(t, "f");
}

static void F28_another_opener_keeps_its_offset(struct trace *t)
{
	int first, second;

	t_file(t, "f", 0644, "0123456789");
	first = t_open(t, "f", O_RDONLY, 0);
	second = t_open(t, "f", O_RDONLY, 0);
	t_read(t, first, 5);
	t_read(t, second, 2);
	is_text(t, "01");
	t_lseek(t, second, 9, SEEK_SET);
	t_read(t, first, 2);
	is_text(t, "56");
}

static void F29_seek_in_a_write_only_file(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "hello");
	fd = t_open(t, "f", O_WRONLY, 0);
	is(t, 5, t_lseek(t, fd, 0, SEEK_END));
	is(t, 3, t_lseek(t, fd, -2, SEEK_CUR));
	is(t, 0, t_lseek(t, fd, 0, SEEK_DATA));
	is(t, 5, t_lseek(t, fd, 0, SEEK_HOLE));
}

static void F31_flags_are_answered(struct trace *t)
{
	int fd;

	fd = t_open(t, "f", O_CREAT | O_EXCL | O_RDWR | O_APPEND | O_CLOEXEC,
		    0644);
	is(t, O_RDWR | O_APPEND, ~0100000 & t_fcntl(t, fd, F_GETFL, 0));
	is(t, FD_CLOEXEC, t_fcntl(t, fd, F_GETFD, 0));
	is(t, 0, t_fcntl(t, fd, F_SETFD, 0));
	is(t, 0, t_fcntl(t, fd, F_GETFD, 0));
	is(t, 5, t_fcntl(t, fd, F_DUPFD_CLOEXEC, 5));
	is(t, FD_CLOEXEC, t_fcntl(t, 5, F_GETFD, 0));
	is(t, 1, t_fcntl(t, fd, F_DUPFD, 0));
	is(t, -EINVAL, t_fcntl(t, fd, F_DUPFD, 1 << 30));
	is(t, -EINVAL, t_fcntl(t, fd, F_DUPFD, -1));
	is(t, -EINVAL, t_fcntl(t, fd, 9999, 0));
	is(t, -EBADF, t_fcntl(t, 99, 9999, 0));
	is(t, -EBADF, t_fcntl(t, 99, F_GETFL, 0));
	is(t, -EBADF, t_fcntl(t, -1, F_SETFL, 0));

	/* Which flags of an open stay to be seen. */
	t_fcntl(t, t_open(t, "f", O_RDONLY | O_NONBLOCK | O_NOCTTY, 0), F_GETFL,
		0);
	t_fcntl(t, t_open(t, "f", O_RDWR | O_TRUNC | O_SYNC, 0), F_GETFL, 0);
	t_fcntl(t, t_open(t, "f", O_RDONLY | O_NOFOLLOW | O_NOATIME, 0),
		F_GETFL, 0);
	t_fcntl(t, t_open(t, ".", O_RDONLY | O_DIRECTORY, 0), F_GETFL, 0);
	t_fcntl(t, t_open(t, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0), F_GETFL,
		0);
}

static void no_reads_and_writes_of_nothing(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "hello");
	fd = t_open(t, "f", O_RDWR, 0);
	is(t, 0, t_read(t, fd, 0));
	is(t, 0, t_write(t, fd, ""));
	is(t, 0, t_pread(t, fd, 0, 100));
	is(t, 0, t_pwrite(t, fd, "", 100));
	is(t, 0, t_fstat(t, fd));
	is(t, 5, (int64_t)t->out.st.size);
}

static void reads_and_writes_across_pages(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	int i;

	for (i = 0; i < 10; i++)
		is(t, 3000, t_fill(t, fd, (char)('a' + i), 3000));
	t_fstat(t, fd);
	is(t, 0, t_lseek(t, fd, 0, SEEK_SET));
	while (t_read(t, fd, 4999) > 0)
		;
	is(t, 8192, t_pread(t, fd, 8192, 4096));
	is(t, 1, t_pwrite(t, fd, "X", 4095));
	is(t, 2, t_pwrite(t, fd, "YZ", 8191));
	t_cat(t, "f");
}

/* Of a count that is none nothing is read, also where there is something. */
static void counts_that_are_none(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_write(t, fd, "hello");
	t_lseek(t, fd, 1, SEEK_SET);
	/* The kernel finds first that no memory is as large. */
	mute(t);
	is(t, on_berth(t) ? -EINVAL : -EFAULT, t_read(t, fd, SIZE_MAX));
	is(t, on_berth(t) ? -EINVAL : -EFAULT, t_read(t, fd, SSIZE_MAX));
	is(t, on_berth(t) ? -EINVAL : -EFAULT, t_pread(t, fd, SIZE_MAX, 1));
	unmute(t);
	is(t, 1, t_lseek(t, fd, 0, SEEK_CUR));
	t_ftruncate(t, fd, INT64_MAX);
	t_lseek(t, fd, INT64_MAX - 4096, SEEK_SET);
	is(t, -EINVAL, t_read(t, fd, 6000));
	is(t, 4096, t_read(t, fd, 4096));
}

static const struct CMUnitTest cases[] = {
	TRACE(counts_that_are_none, AS_BOTH),
	TRACE(F1_append_after_truncation, AS_BOTH),
	TRACE(F2_append_after_truncation_by_another, AS_BOTH),
	TRACE(F4_seek_beyond_the_end, AS_BOTH),
	TRACE(F4_seek_to_the_last_offset, AS_ROOT),
	TRACE(F5_access_mode_is_reported, AS_BOTH),
	TRACE(F7_positioned_write_extends, AS_ROOT),
	TRACE(F8_append_is_honoured, AS_BOTH),
	TRACE(F10_positioned_write_to_an_append_file, AS_BOTH),
	TRACE(F11_setting_flags_truncates_nothing, AS_BOTH),
	TRACE(F13_positioned_read_keeps_the_offset, AS_ROOT),
	TRACE(F14_access_mode_is_a_value, AS_BOTH),
	TRACE(F16_access_mode_is_enforced, AS_BOTH),
	TRACE(F16_a_path_descriptor_does_no_io, AS_BOTH),
	TRACE(F17_write_goes_to_the_offset, AS_ROOT),
	TRACE(F19_two_opens_have_two_positions, AS_ROOT),
	TRACE(F19_duplicates_have_one_position, AS_ROOT),
	TRACE(F20_truncated_below_my_position, AS_ROOT),
	TRACE(F22_a_used_number_starts_at_zero, AS_ROOT),
	TRACE(F23_appends_by_two_openers, AS_ROOT),
	TRACE(F25_huge_positions, AS_ROOT),
	TRACE(F26_truncation_wants_a_writable_open, AS_BOTH),
	TRACE(F28_another_opener_keeps_its_offset, AS_ROOT),
	TRACE(F29_seek_in_a_write_only_file, AS_ROOT),
	TRACE(F31_flags_are_answered, AS_BOTH),
	TRACE(no_reads_and_writes_of_nothing, AS_ROOT),
	TRACE(reads_and_writes_across_pages, AS_ROOT),
};

int main(int argc, char **argv)
{
	return run_traces(argc, argv, cases);
}
