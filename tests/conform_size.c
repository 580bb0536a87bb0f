/* SPDX-License-Identifier: MIT */
/*
 * Sizes, holes, stale data and full file systems, as on the kernel's tmpfs.
 * The first word of a case is its row of the list of pitfalls.
 */
#include "trace.h"

#define PAGE INT64_C(4096)

static int64_t blocks_of(struct trace *t, int fd)
{
	return t_fstat(t, fd) ? -1 : (int64_t)t->out.st.blocks;
}

static int64_t size_of(struct trace *t, int fd)
{
	return t_fstat(t, fd) ? -1 : (int64_t)t->out.st.size;
}

static void O1_seek_and_write_after_truncation(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_fill(t, fd, 'x', 10000);
	t_close(t, fd);
	fd = t_open(t, "f", O_RDWR | O_TRUNC, 0);
	t_lseek(t, fd, 9000, SEEK_SET);
	is(t, 3, t_write(t, fd, "abc"));
	is(t, 9000, t_pread(t, fd, 9000, 0));
	is_all(t, '\0');
	t_pread(t, fd, 99, 8998);
	is_text(t, "\0\0abc");
}

static void O2_shrink_then_grow(struct trace *t)
{
	static const int64_t cuts[] = { 0,	     1,	   100,
					PAGE - 1,    PAGE, PAGE + 1,
					2 * PAGE,    9999, 3 * PAGE,
					4 * PAGE - 1 };
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	size_t i;

	for (i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		t_lseek(t, fd, 0, SEEK_SET);
		t_fill(t, fd, 'x', 4 * PAGE);
		is(t, 0, t_ftruncate(t, fd, cuts[i]));
		is(t, 0, t_ftruncate(t, fd, 4 * PAGE));
		is(t, 4 * PAGE - cuts[i], t_pread(t, fd, 5 * PAGE, cuts[i]));
		is_all(t, '\0');
		if (cuts[i]) {
			t_pread(t, fd, (size_t)cuts[i], 0);
			is_all(t, 'x');
		}
		blocks_of(t, fd);
	}
}

static void O2_cut_then_write_behind(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_fill(t, fd, 'x', PAGE);
	is(t, 0, t_ftruncate(t, fd, 10));
	is(t, 1, t_pwrite(t, fd, "y", 100));
	is(t, 90, t_pread(t, fd, 90, 10));
	is_all(t, '\0');
	is(t, 101, size_of(t, fd));
	/* And by another page than the cut one. */
	t_pwrite(t, fd, "z", 3 * PAGE);
	t_pread(t, fd, PAGE, 101);
	is_all(t, '\0');
}

static void O4_grow_by_truncation(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_write(t, fd, "hello");
	is(t, 0, t_ftruncate(t, fd, 100000));
	is(t, 100000, size_of(t, fd));
	is(t, 99995, t_pread(t, fd, FS_BUFFER, 5));
	is_all(t, '\0');
	is(t, 5, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 8, blocks_of(t, fd));
	is(t, 0, t_truncate(t, "f", 200000));
	is(t, 200000, t_lseek(t, fd, 0, SEEK_END));
}

static void O5_read_past_the_end(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_write(t, fd, "hello");
	is(t, 0, t_pread(t, fd, 10, 5));
	is(t, 0, t_pread(t, fd, 10, 6));
	is(t, 0, t_pread(t, fd, 10, 1LL << 40));
	is(t, 1, t_pread(t, fd, 10, 4));
	t_lseek(t, fd, 1000000, SEEK_SET);
	is(t, 0, t_read(t, fd, 10));
	is(t, 1000000, t_lseek(t, fd, 0, SEEK_CUR));
}

static void O7_the_grown_part_is_clear(struct trace *t)
{
	int fd = t_open(t, "old", O_CREAT | O_RDWR, 0644);

	/* Memory that held data is used again. */
	t_fill(t, fd, 'x', 50 * PAGE);
	t_close(t, fd);
	t_unlink(t, "old");
	fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	t_pwrite(t, fd, "a", 3);
	t_pwrite(t, fd, "b", 10 * PAGE + 7);
	t_pwrite(t, fd, "c", 49 * PAGE - 1);
	t_ftruncate(t, fd, 50 * PAGE);
	is(t, 50 * PAGE, t_pread(t, fd, 50 * PAGE, 0));
}

static void O8_holes(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_lseek(t, fd, 10, SEEK_SET);
	t_write(t, fd, "one");
	t_lseek(t, fd, 7, SEEK_CUR);
	t_write(t, fd, "two");
	t_cat(t, "f");
	is_text(t, "\0\0\0\0\0\0\0\0\0\0one\0\0\0\0\0\0\0two");
	t_pwrite(t, fd, "x", 10 * PAGE);
	is(t, 10 * PAGE + 1, size_of(t, fd));
	is(t, 16, blocks_of(t, fd));
	t_pread(t, fd, FS_BUFFER, 23);
	/* Writes into holes. */
	t_pwrite(t, fd, "y", 5 * PAGE);
	is(t, 24, blocks_of(t, fd));
	t_pread(t, fd, FS_BUFFER, 4 * PAGE);
}

static void O10_data_and_holes(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_pwrite(t, fd, "x", 2 * PAGE + 5);
	t_pwrite(t, fd, "y", 5 * PAGE);
	t_ftruncate(t, fd, 8 * PAGE + 10);
	is(t, 2 * PAGE, t_lseek(t, fd, 0, SEEK_DATA));
	is(t, 0, t_lseek(t, fd, 0, SEEK_HOLE));
	is(t, 2 * PAGE + 1, t_lseek(t, fd, 2 * PAGE + 1, SEEK_DATA));
	is(t, 3 * PAGE, t_lseek(t, fd, 2 * PAGE + 1, SEEK_HOLE));
	is(t, 5 * PAGE, t_lseek(t, fd, 3 * PAGE, SEEK_DATA));
	is(t, 6 * PAGE, t_lseek(t, fd, 5 * PAGE, SEEK_HOLE));
	is(t, -ENXIO, t_lseek(t, fd, 6 * PAGE, SEEK_DATA));
	is(t, -ENXIO, t_lseek(t, fd, 8 * PAGE + 9, SEEK_DATA));
	is(t, 8 * PAGE + 9, t_lseek(t, fd, 8 * PAGE + 9, SEEK_HOLE));
	is(t, -ENXIO, t_lseek(t, fd, 8 * PAGE + 10, SEEK_HOLE));
	is(t, -ENXIO, t_lseek(t, fd, 8 * PAGE + 10, SEEK_DATA));
	is(t, -ENXIO, t_lseek(t, fd, -1, SEEK_DATA));
	is(t, -ENXIO, t_lseek(t, fd, INT64_MIN, SEEK_HOLE));
	is(t, -ENXIO, t_lseek(t, fd, INT64_MAX, SEEK_DATA));
}

static void O11_a_failing_seek_moves_nothing(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	int empty = t_open(t, "empty", O_CREAT | O_RDWR, 0644);

	t_write(t, fd, "hello");
	t_lseek(t, fd, 3, SEEK_SET);
	is(t, -ENXIO, t_lseek(t, fd, 5, SEEK_DATA));
	is(t, -ENXIO, t_lseek(t, fd, 5, SEEK_HOLE));
	is(t, -EINVAL, t_lseek(t, fd, -100, SEEK_END));
	is(t, 3, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 4, t_lseek(t, fd, 4, SEEK_DATA));
	is(t, 4, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 5, t_lseek(t, fd, 1, SEEK_HOLE));
	is(t, 5, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, -ENXIO, t_lseek(t, empty, 0, SEEK_DATA));
	is(t, -ENXIO, t_lseek(t, empty, 0, SEEK_HOLE));
}

/* The file system of these cases holds 16 pages. */
static void O14_no_space_for_data(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	is(t, 16 * PAGE, t_fill(t, fd, 'x', 16 * PAGE));
	is(t, -ENOSPC, t_write(t, fd, "y"));
	is(t, 16 * PAGE, size_of(t, fd));
	is(t, 16 * PAGE, t_lseek(t, fd, 0, SEEK_CUR));
	/* What is there can be written again, a size can be set. */
	is(t, 1, t_pwrite(t, fd, "y", 100));
	is(t, 0, t_ftruncate(t, fd, 100 * PAGE));
	is(t, -ENOSPC, t_pwrite(t, fd, "y", 50 * PAGE));
	is(t, 100 * PAGE, size_of(t, fd));
	is(t, 0, t_ftruncate(t, fd, 15 * PAGE + 1));
	is(t, -ENOSPC, t_pwrite(t, fd, "y", 16 * PAGE));
	is(t, 0, t_ftruncate(t, fd, 15 * PAGE));
	is(t, 1, t_pwrite(t, fd, "y", 90 * PAGE));
	is(t, -ENOSPC, t_pwrite(t, fd, "y", 91 * PAGE));
	is(t, 128, blocks_of(t, fd));
	is(t, 90 * PAGE + 1, size_of(t, fd));
	/* Names need none. */
	t_file(t, "g", 0644, "");
	t_mkdir(t, "d", 0755);
	is(t, 0, t_unlink(t, "f"));
	is(t, 0, t_close(t, fd));
	fd = t_open(t, "g", O_RDWR, 0);
	is(t, 16 * PAGE, t_fill(t, fd, 'z', 16 * PAGE));
}

static void O14_a_short_write(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	int other = t_open(t, "g", O_CREAT | O_RDWR, 0644);

	t_fill(t, other, 'o', 10 * PAGE);
	is(t, 6 * PAGE, t_fill(t, fd, 'x', 7 * PAGE));
	is(t, 6 * PAGE, size_of(t, fd));
	is(t, -ENOSPC, t_fill(t, fd, 'x', 1));
	is(t, 0, t_ftruncate(t, fd, 10));
	/* Into the rest of a page, and as far as it goes. */
	t_lseek(t, fd, 5, SEEK_SET);
	is(t, 6 * PAGE - 5, t_fill(t, fd, 'y', 10 * PAGE));
	is(t, 6 * PAGE, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, 0, t_ftruncate(t, other, 9 * PAGE));
	is(t, PAGE, t_fill(t, fd, 'z', 2 * PAGE));
	/* An append, too. */
	is(t, 0, t_ftruncate(t, other, 8 * PAGE));
	t_fcntl(t, fd, F_SETFL, O_APPEND);
	is(t, 10, t_fill(t, fd, 'w', 10));
	is(t, PAGE - 10, t_fill(t, fd, 'w', PAGE));
	is(t, -ENOSPC, t_fill(t, fd, 'w', PAGE));
	t_tree(t);
}

/* The kernel takes set-id bits and moves times before it looks for space. */
static void O14_a_failing_write_changes_nothing(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_fill(t, t_open(t, "g", O_CREAT | O_RDWR, 0644), 'x', 16 * PAGE);
	t_chmod(t, "f", 06755);
	t_mark(t, "f");
	is(t, -ENOSPC, t_write(t, fd, "x"));
	mute(t);
	t_lstat(t, "f");
	if (on_berth(t)) {
		is(t, S_IFREG | 06755, t->out.st.mode);
		is(t, 0, t_moved(t, "f"));
	}
	unmute(t);
}

static void O14_space_comes_back(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);
	int round;

	for (round = 0; round < 5; round++) {
		is(t, 16 * PAGE, t_fill(t, fd, 'x', 16 * PAGE));
		is(t, -ENOSPC, t_fill(t, fd, 'x', 1));
		is(t, 0, t_ftruncate(t, fd, 0));
		t_lseek(t, fd, 0, SEEK_SET);
	}
	t_fill(t, fd, 'x', 16 * PAGE);
	/* By O_TRUNC, and by a rename that replaces it. */
	t_close(t, t_open(t, "f", O_WRONLY | O_TRUNC, 0));
	t_lseek(t, fd, 0, SEEK_SET);
	is(t, 16 * PAGE, t_fill(t, fd, 'y', 16 * PAGE));
	t_file(t, "g", 0644, "");
	is(t, 0, t_rename(t, "g", "f"));
	t_file(t, "h", 0644, "x");
	is(t, 0, t_close(t, fd));
	t_file(t, "i", 0644, "x");
	t_tree(t);
}

static void O14_long_links_take_space(struct trace *t)
{
	char text[200];
	int i;

	memset(text, 'l', sizeof(text));
	text[199] = '\0';
	for (i = 0; i < 20; i++) {
		char name[8];

		snprintf(name, sizeof(name), "l%d", i % 100);
		t_symlink(t, text, name);
	}
	t_symlink(t, "short", "s");
	t_file(t, "f", 0644, "x");
	t_unlink(t, "l3");
	t_truncate(t, "f", 0);
	t_list(t, ".");
}

/* The file system of this case holds 6 names, the root included. */
static void O14_no_inodes_left(struct trace *t)
{
	int fd;

	t_file(t, "f1", 0644, "x");
	t_file(t, "f2", 0644, "x");
	is(t, 0, t_mkdir(t, "d", 0755));
	is(t, 0, t_symlink(t, "f1", "s"));
	is(t, 0, t_link(t, "f1", "hard"));
	is(t, -ENOSPC, t_mkdir(t, "d2", 0755));
	is(t, -ENOSPC, t_symlink(t, "x", "s2"));
	is(t, -ENOSPC, t_mknod(t, "n", S_IFREG | 0644));
	is(t, -ENOSPC, t_link(t, "f1", "hard2"));
	is(t, -ENOSPC, t_open(t, "f3", O_CREAT | O_RDWR, 0644));
	is(t, -EEXIST, t_mkdir(t, "d", 0755));
	is(t, -EEXIST, t_link(t, "f1", "f2"));
	is(t, -EPERM, t_link(t, "d", "d2"));
	is(t, 0, t_rename(t, "f1", "d/f1"));
	is(t, 0, t_open(t, "f2", O_CREAT | O_RDWR, 0644));
	t_tree(t);
	/* A further name gives its own place back, a file at its last close. */
	is(t, 0, t_unlink(t, "hard"));
	is(t, 0, t_link(t, "f2", "hard"));
	is(t, -ENOSPC, t_mkdir(t, "d2", 0755));
	is(t, 0, t_unlink(t, "d/f1"));
	is(t, 0, t_mkdir(t, "d2", 0755));
	is(t, 0, t_unlink(t, "f2"));
	is(t, 0, t_unlink(t, "hard"));
	fd = t_open(t, "f4", O_CREAT | O_RDWR, 0644);
	is(t, 1, fd);
	is(t, -ENOSPC, t_open(t, "f5", O_CREAT | O_RDWR, 0644));
	is(t, 0, t_close(t, 0));
	is(t, 0, t_open(t, "f5", O_CREAT | O_RDWR, 0644));
	is(t, 0, t_rmdir(t, "d"));
	is(t, 0, t_mkdir(t, "d", 0755));
	t_tree(t);
}

static void O16_sizes_that_cannot_be(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_write(t, fd, "hello");
	is(t, -EINVAL, t_ftruncate(t, fd, -1));
	is(t, -EINVAL, t_ftruncate(t, fd, INT64_MIN));
	is(t, -EINVAL, t_truncate(t, "f", -1));
	is(t, 5, size_of(t, fd));
	is(t, 0, t_ftruncate(t, fd, INT64_MAX));
	is(t, INT64_MAX, size_of(t, fd));
	is(t, 10, t_pread(t, fd, 10, INT64_MAX - 10));
	is(t, INT64_MAX, t_lseek(t, fd, 0, SEEK_END));
	t_lseek(t, fd, 5, SEEK_HOLE);
	t_lseek(t, fd, PAGE, SEEK_DATA);
	t_lseek(t, fd, PAGE, SEEK_HOLE);
	is(t, 0, t_fcntl(t, fd, F_SETFL, O_APPEND));
	t_write(t, fd, "x");
	t_pwrite(t, fd, "x", 0);
	is(t, 0, t_ftruncate(t, fd, 5));
	t_cat(t, "f");
	is_text(t, "hello");
}

static void O20_blocks(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	is(t, 0, blocks_of(t, fd));
	t_fill(t, fd, 'x', 10 * PAGE);
	is(t, 80, blocks_of(t, fd));
	t_ftruncate(t, fd, 3 * PAGE + 1);
	is(t, 32, blocks_of(t, fd));
	t_ftruncate(t, fd, 3 * PAGE);
	is(t, 24, blocks_of(t, fd));
	t_ftruncate(t, fd, 1);
	is(t, 8, blocks_of(t, fd));
	t_ftruncate(t, fd, 0);
	is(t, 0, blocks_of(t, fd));
	t_pwrite(t, fd, "x", 1LL << 35);
	is(t, 8, blocks_of(t, fd));
	/* Reading fills no holes. */
	t_pread(t, fd, PAGE, 1LL << 34);
	is(t, 8, blocks_of(t, fd));
}

static const struct CMUnitTest cases[] = {
	TRACE(O1_seek_and_write_after_truncation, AS_ROOT),
	TRACE(O2_shrink_then_grow, AS_ROOT),
	TRACE(O2_cut_then_write_behind, AS_ROOT),
	TRACE(O4_grow_by_truncation, AS_ROOT),
	TRACE(O5_read_past_the_end, AS_ROOT),
	TRACE(O7_the_grown_part_is_clear, AS_ROOT),
	TRACE(O8_holes, AS_ROOT),
	TRACE(O10_data_and_holes, AS_ROOT),
	TRACE(O11_a_failing_seek_moves_nothing, AS_ROOT),
	TRACE_LIMITED(O14_no_space_for_data, AS_BOTH, 16 * PAGE, 0),
	TRACE_LIMITED(O14_a_short_write, AS_BOTH, 16 * PAGE, 0),
	TRACE_LIMITED(O14_a_failing_write_changes_nothing, AS_USER, 16 * PAGE,
		      0),
	TRACE_LIMITED(O14_space_comes_back, AS_BOTH, 16 * PAGE, 0),
	TRACE_LIMITED(O14_long_links_take_space, AS_ROOT, 16 * PAGE, 0),
	TRACE_LIMITED(O14_no_inodes_left, AS_BOTH, 0, 6),
	TRACE(O16_sizes_that_cannot_be, AS_ROOT),
	TRACE(O20_blocks, AS_ROOT),
};

int main(int argc, char **argv)
{
	return run_traces(argc, argv, cases);
}
