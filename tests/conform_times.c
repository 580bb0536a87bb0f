/* SPDX-License-Identifier: MIT */
/*
 * Which times an operation moves, as on the kernel's tmpfs.  The first word of
 * a case is its row of the list of pitfalls.
 */
#include "trace.h"

static const struct timespec right_now = { .tv_nsec = BERTH_UTIME_NOW };
static const struct timespec omitted = { .tv_nsec = BERTH_UTIME_OMIT };

static void N1_truncation(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "");
	t_mark(t, "f");
	t_open(t, "f", O_WRONLY | O_TRUNC, 0);
	is(t, MTIME | CTIME, t_moved(t, "f"));
	t_mark(t, "f");
	is(t, 0, t_truncate(t, "f", 0));
	is(t, 0, t_moved(t, "f"));
	is(t, 0, t_truncate(t, "f", 5));
	t_mark(t, "f");
	is(t, 0, t_truncate(t, "f", 5));
	is(t, 0, t_moved(t, "f"));
	/* A file that has pages differs: tmpfs goes to throw some away. */
	t_file(t, "g", 0644, "hello");
	t_mark(t, "g");
	is(t, 0, t_truncate(t, "g", 5));
	is(t, MTIME | CTIME, t_moved(t, "g"));
	fd = t_open(t, "g", O_RDWR, 0);
	is(t, 0, t_ftruncate(t, fd, 5));
	is(t, MTIME | CTIME, t_moved(t, "g"));
	t_mark(t, "g");
	is(t, 0, t_truncate(t, "g", 7));
	is(t, MTIME | CTIME, t_moved(t, "g"));
	t_mark(t, "g");
	is(t, 0, t_ftruncate(t, fd, 1));
	is(t, MTIME | CTIME, t_moved(t, "g"));
	/* Failing, it moves nothing. */
	t_mark(t, "g");
	is(t, -EINVAL, t_ftruncate(t, fd, -1));
	is(t, 0, t_moved(t, "g"));
}

static int64_t compare(const struct timespec *a, const struct timespec *b)
{
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

static void N2_birth_time(struct trace *t)
{
	struct berth_stat st;
	struct timespec birth;

	t_file(t, "f", 0644, "");
	t_lstat(t, "f");
	birth = t->out.st.btime;
	if (!on_berth(t) && !birth.tv_sec)
		return; /* an older kernel does not tell */
	is(t, 0, compare(&birth, &t->out.st.atime));
	fs_tick();
	t_truncate(t, "f", 5);
	t_chmod(t, "f", 0600);
	t_utimens(t, "f", (struct timespec){ 1, 1 }, (struct timespec){ 2, 2 });
	t_lstat(t, "f");
	st = t->out.st;
	is(t, 0, compare(&birth, &st.btime));
	is(t, 1, compare(&st.ctime, &st.btime));
}

static void N4_chmod_and_chown(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "");
	fd = t_open(t, "f", O_RDONLY, 0);
	t_mark(t, "f");
	is(t, 0, t_chmod(t, "f", 0600));
	is(t, CTIME, t_moved(t, "f"));
	t_mark(t, "f");
	is(t, 0, t_chmod(t, "f", 0600));
	is(t, CTIME, t_moved(t, "f"));
	t_mark(t, "f");
	is(t, 0, t_call(t, .kind = OP_FCHMOD, .fd = fd, .mode = 0644));
	is(t, CTIME, t_moved(t, "f"));
	t_mark(t, "f");
	is(t, 0, t_chown(t, "f", -1u, -1u));
	t_moved(t, "f");
	t_mark(t, "f");
	t_lstat(t, "f");
	is(t, 0, t_chown(t, "f", t->out.st.uid, t->out.st.gid));
	is(t, CTIME, t_moved(t, "f"));
}

static void N5_omitted_and_now(struct trace *t)
{
	const struct timespec old = { 1000, 123456789 };
	const struct timespec older = { -5, 999999999 };

	t_file(t, "f", 0644, "");
	is(t, 0, t_utimens(t, "f", old, older));
	t_lstat(t, "f");
	is(t, 0, compare(&old, &t->out.st.atime));
	is(t, 0, compare(&older, &t->out.st.mtime));
	t_mark(t, "f");
	is(t, 0, t_utimens(t, "f", omitted, right_now));
	is(t, MTIME | CTIME, t_moved(t, "f"));
	t_mark(t, "f");
	is(t, 0, t_utimens(t, "f", right_now, omitted));
	is(t, ATIME | CTIME, t_moved(t, "f"));
	t_mark(t, "f");
	is(t, 0, t_utimens(t, "f", old, omitted));
	is(t, ATIME | CTIME, t_moved(t, "f"));
	t_mark(t, "f");
	is(t, 0, t_call(t, .kind = OP_UTIMENS, .fd = AT_FDCWD, .path = "f"));
	is(t, ATIME | MTIME | CTIME, t_moved(t, "f"));
	t_mark(t, "f");
	is(t, 0, t_utimens(t, "f", omitted, omitted));
	is(t, 0, t_moved(t, "f"));
	/* By number. */
	t_open(t, "f", O_RDONLY, 0);
	is(t, 0, t_call(t, .kind = OP_UTIMENS, .fd = 0));
	is(t, ATIME | MTIME | CTIME, t_moved(t, "f"));
	is(t, -EBADF, t_call(t, .kind = OP_UTIMENS, .fd = 44));
	t_call(t, .kind = OP_UTIMENS, .fd = AT_FDCWD);
}

static void N5_invalid_times(struct trace *t)
{
	const struct timespec good = { 1, 1 };

	t_file(t, "f", 0644, "");
	t_mark(t, "f");
	is(t, -EINVAL, t_utimens(t, "f", good, (struct timespec){ 0, -1 }));
	is(t, -EINVAL,
	   t_utimens(t, "f", (struct timespec){ 0, 1000000000 }, good));
	is(t, -ENOENT,
	   t_utimens(t, "missing", (struct timespec){ 0, 1000000000 }, good));
	is(t, -EINVAL,
	   t_utimens(t, "f", omitted, (struct timespec){ 0, 1000000000 }));
	is(t, 0, t_moved(t, "f"));
	is(t, -ENOENT, t_utimens(t, "missing", good, good));
	is(t, -ENOENT, t_utimens(t, "", good, good));
	/* The seconds beside NOW and OMIT mean nothing. */
	is(t, 0,
	   t_utimens(t, "f", (struct timespec){ -7, BERTH_UTIME_OMIT }, good));
	t_lstat(t, "f");
	is(t, 0, compare(&good, &t->out.st.mtime));
}

static void N5_who_may_set_times(struct trace *t)
{
	const struct timespec good = { 1, 1 };

	t_umask(t, 0);
	t_file(t, "w", 0666, "");
	t_file(t, "r", 0444, "");
	t_cred(t, USER);
	t_file(t, "mine", 0, "");
	is(t, 0, t_utimens(t, "mine", good, good));
	is(t, 0, t_utimens(t, "mine", right_now, right_now));
	is(t, -EPERM, t_utimens(t, "w", good, good));
	is(t, -EPERM, t_utimens(t, "w", right_now, omitted));
	is(t, -EPERM, t_utimens(t, "w", right_now, good));
	is(t, 0, t_utimens(t, "w", right_now, right_now));
	is(t, 0, t_call(t, .kind = OP_UTIMENS, .fd = AT_FDCWD, .path = "w"));
	is(t, -EACCES, t_utimens(t, "r", right_now, right_now));
	is(t, -EACCES,
	   t_call(t, .kind = OP_UTIMENS, .fd = AT_FDCWD, .path = "r"));
	is(t, -EPERM, t_utimens(t, "r", good, good));
	is(t, 0, t_utimens(t, "r", omitted, omitted));
	t_open(t, "r", O_RDONLY, 0);
	t_call(t, .kind = OP_UTIMENS, .fd = 0);
	t_open(t, "w", O_RDONLY, 0);
	t_call(t, .kind = OP_UTIMENS, .fd = 1);
}

static void N7_now_is_the_time_of_day(struct trace *t)
{
	struct timespec before, after;

	clock_gettime(CLOCK_REALTIME_COARSE, &before);
	t_file(t, "f", 0644, "");
	t_utimens(t, "f", (struct timespec){ 1, 1 }, (struct timespec){ 1, 1 });
	is(t, 0, t_utimens(t, "f", right_now, right_now));
	clock_gettime(CLOCK_REALTIME, &after);
	t_lstat(t, "f");
	is(t, true, compare(&before, &t->out.st.atime) <= 0);
	is(t, true, compare(&t->out.st.atime, &after) <= 0);
	is(t, 0, compare(&t->out.st.atime, &t->out.st.mtime));
	is(t, true,
	   compare(&before, &t->out.st.btime) <= 0 ||
		   (!on_berth(t) && !t->out.st.btime.tv_sec));
}

static void N8_nanoseconds_of_far_times(struct trace *t)
{
	static const struct timespec times[] = {
		{ 0, 0 },	    { 0, 999999999 },  { -1, 1 },
		{ 2147483647, 5 },  { 2147483648, 6 }, { 4294967296, 7 },
		{ -2147483649, 8 }, { 9000000000, 9 }, { -9000000000, 10 },
	};
	size_t i;

	t_file(t, "f", 0644, "");
	t_mkdir(t, "d", 0755);
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		is(t, 0, t_utimens(t, "f", times[i], times[i]));
		t_lstat(t, "f");
		is(t, 0, compare(&times[i], &t->out.st.mtime));
		is(t, 0, compare(&times[i], &t->out.st.atime));
		is(t, 0, t_utimens(t, "d", times[i], times[i]));
		t_lstat(t, "d");
		is(t, 0, compare(&times[i], &t->out.st.mtime));
	}
}

static void N8_times_of_new_entries(struct trace *t)
{
	t_mkdir(t, "d", 0755);
	t_mkdir(t, "d/e", 0755);
	t_mark(t, "d");
	t_mark(t, "/");
	t_file(t, "d/f", 0644, "");
	is(t, MTIME | CTIME, t_moved(t, "d"));
	is(t, 0, t_moved(t, "/"));
	t_lstat(t, "d/f");
	is(t, 0, compare(&t->out.st.atime, &t->out.st.mtime));
	is(t, 0, compare(&t->out.st.atime, &t->out.st.ctime));
	t_mark(t, "d");
	t_mkdir(t, "d/g", 0755);
	is(t, MTIME | CTIME, t_moved(t, "d"));
	t_mark(t, "d");
	t_symlink(t, "f", "d/link");
	is(t, MTIME | CTIME, t_moved(t, "d"));
	t_mark(t, "d");
	t_mknod(t, "d/n", S_IFSOCK | 0644);
	is(t, MTIME | CTIME, t_moved(t, "d"));
	t_mark(t, "d");
	t_rmdir(t, "d/g");
	is(t, MTIME | CTIME, t_moved(t, "d"));
	t_mark(t, "d");
	t_unlink(t, "d/f");
	is(t, MTIME | CTIME, t_moved(t, "d"));
	t_mark(t, "d");
	t_mark(t, "d/link");
	/* What fails or creates nothing moves nothing. */
	is(t, -EEXIST, t_mkdir(t, "d/e", 0755));
	is(t, -ENOENT, t_unlink(t, "d/f"));
	is(t, -EEXIST, t_symlink(t, "f", "d/link"));
	t_open(t, "d/e", O_RDONLY, 0);
	is(t, 0, t_moved(t, "d"));
	is(t, 0, t_moved(t, "d/link"));
}

static void N10_reads(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "hello");
	fd = t_open(t, "f", O_RDONLY, 0);
	t_mark(t, "f");
	t_read(t, fd, 0);
	t_moved(t, "f");
	is(t, 5, t_read(t, fd, 9));
	is(t, ATIME, t_moved(t, "f"));
	/* Once read since the last change, that is enough ("relatime"). */
	t_mark(t, "f");
	t_pread(t, fd, 9, 0);
	is(t, 0, t_moved(t, "f"));
	t_chmod(t, "f", 0600);
	t_mark(t, "f");
	t_pread(t, fd, 9, 0);
	is(t, ATIME, t_moved(t, "f"));
	t_truncate(t, "f", 3);
	t_mark(t, "f");
	t_pread(t, fd, 9, 100);
	t_moved(t, "f");
	/* An access time of more than a day ago moves in any case. */
	t_utimens(t, "f", (struct timespec){ 5, 5 }, (struct timespec){ 1, 1 });
	t_mark(t, "f");
	t_pread(t, fd, 9, 0);
	is(t, ATIME, t_moved(t, "f"));
}

static void N10_no_access_times_wanted(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "hello");
	t_mkdir(t, "d", 0755);
	fd = t_open(t, "f", O_RDONLY | O_NOATIME, 0);
	t_mark(t, "f");
	is(t, 5, t_read(t, fd, 9));
	is(t, 0, t_moved(t, "f"));
	is(t, 0, t_fcntl(t, fd, F_SETFL, 0));
	t_pread(t, fd, 9, 0);
	is(t, ATIME, t_moved(t, "f"));
	t_chmod(t, "f", 0600);
	is(t, 0, t_fcntl(t, fd, F_SETFL, O_NOATIME));
	t_mark(t, "f");
	t_pread(t, fd, 9, 0);
	is(t, 0, t_moved(t, "f"));
	fd = t_open(t, "d", O_RDONLY | O_NOATIME, 0);
	t_mark(t, "d");
	t_call(t, .kind = OP_GETDENTS, .fd = fd, .size = 4096);
	is(t, 0, t_moved(t, "d"));
}

static void N10_who_may_refuse_access_times(struct trace *t)
{
	int fd;

	t_file(t, "f", 0644, "hello");
	t_cred(t, USER);
	is(t, -EPERM, t_open(t, "f", O_RDONLY | O_NOATIME, 0));
	fd = t_open(t, "f", O_RDONLY, 0);
	is(t, -EPERM, t_fcntl(t, fd, F_SETFL, O_NOATIME));
	is(t, 0, t_fcntl(t, fd, F_SETFL, O_NONBLOCK));
	is(t, -EPERM, t_fcntl(t, fd, F_SETFL, O_NOATIME | O_APPEND));
	t_fcntl(t, fd, F_GETFL, 0);
	t_cred(t, 0);
	is(t, 0, t_fcntl(t, fd, F_SETFL, O_NOATIME));
	t_cred(t, USER);
	/* To keep it, or to be without it, needs nobody's leave. */
	t_fcntl(t, fd, F_SETFL, O_NOATIME | O_APPEND);
	is(t, 0, t_fcntl(t, fd, F_SETFL, 0));
}

static void N10_links_and_lookups(struct trace *t)
{
	t_mkdir(t, "d", 0755);
	t_file(t, "d/f", 0644, "");
	t_symlink(t, "f", "d/link");
	t_mark(t, "d");
	t_mark(t, "d/f");
	t_mark(t, "d/link");
	t_lstat(t, "d/f");
	t_lstat(t, "d/link");
	t_access(t, "d/f", R_OK);
	t_open(t, "d/f", O_RDWR, 0);
	is(t, 0, t_moved(t, "d"));
	is(t, 0, t_moved(t, "d/f"));
	is(t, 0, t_moved(t, "d/link"));
	t_readlink(t, "d/link");
	is(t, ATIME, t_moved(t, "d/link"));
	t_symlink(t, "f", "d/link2");
	t_mark(t, "d/link2");
	t_stat(t, "d/link2");
	is(t, ATIME, t_moved(t, "d/link2"));
}

static void N10_writes(struct trace *t)
{
	int fd = t_open(t, "f", O_CREAT | O_RDWR, 0644);

	t_mark(t, "f");
	is(t, 5, t_write(t, fd, "hello"));
	is(t, MTIME | CTIME, t_moved(t, "f"));
	t_mark(t, "f");
	is(t, 1, t_pwrite(t, fd, "x", 0));
	is(t, MTIME | CTIME, t_moved(t, "f"));
	t_mark(t, "f");
	is(t, 0, t_write(t, fd, ""));
	is(t, 0, t_moved(t, "f"));
	is(t, -EINVAL, t_pwrite(t, fd, "x", -1));
	is(t, 0, t_moved(t, "f"));
	t_lseek(t, fd, 100, SEEK_SET);
	is(t, 0, t_moved(t, "f"));
}

static void N11_omitting_both_checks_nothing(struct trace *t)
{
	t_file(t, "f", 0, "");
	t_cred(t, USER);
	t_mark(t, "f");
	is(t, 0, t_utimens(t, "f", omitted, omitted));
	is(t, 0, t_moved(t, "f"));
	t_utimens(t, "missing", omitted, omitted);
	t_utimens(t, "f/x", omitted, omitted);
	t_utimens(t, "", omitted, omitted);
}

static void N13_a_replaced_file(struct trace *t)
{
	t_file(t, "a", 0644, "");
	t_file(t, "b", 0644, "");
	t_link(t, "b", "c");
	t_mark(t, "c");
	t_mark(t, "a");
	is(t, 0, t_rename(t, "a", "b"));
	is(t, CTIME, t_moved(t, "c"));
}

static void N14_a_renamed_file(struct trace *t)
{
	t_file(t, "a", 0644, "");
	t_mkdir(t, "d", 0755);
	t_mark(t, "a");
	t_mark(t, "d");
	t_rename(t, "a", "b");
	t_rename(t, "b", "a");
	is(t, CTIME, t_moved(t, "a"));
	t_rename(t, "d", "e");
	t_rename(t, "e", "d");
	is(t, CTIME, t_moved(t, "d"));
}

static const struct CMUnitTest cases[] = {
	TRACE(N1_truncation, AS_BOTH),
	TRACE(N2_birth_time, AS_ROOT),
	TRACE(N4_chmod_and_chown, AS_BOTH),
	TRACE(N5_omitted_and_now, AS_BOTH),
	TRACE(N5_invalid_times, AS_BOTH),
	TRACE(N5_who_may_set_times, AS_MANY),
	TRACE(N7_now_is_the_time_of_day, AS_ROOT),
	TRACE(N8_nanoseconds_of_far_times, AS_ROOT),
	TRACE(N8_times_of_new_entries, AS_BOTH),
	TRACE(N10_reads, AS_BOTH),
	TRACE(N10_no_access_times_wanted, AS_BOTH),
	TRACE(N10_who_may_refuse_access_times, AS_MANY),
	TRACE(N10_links_and_lookups, AS_BOTH),
	TRACE(N10_writes, AS_BOTH),
	TRACE(N11_omitting_both_checks_nothing, AS_MANY),
	TRACE(N13_a_replaced_file, AS_BOTH),
	TRACE(N14_a_renamed_file, AS_BOTH),
};

int main(int argc, char **argv)
{
	return run_traces(argc, argv, cases);
}
