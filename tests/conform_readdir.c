/* SPDX-License-Identifier: MIT */
/*
 * Reading directories, as on the kernel's tmpfs.  The first word of a case is
 * its row of the list of pitfalls.
 *
 * The order of entries and the values of cookies are each side's own; what is
 * compared is which entries come, and how often.
 */
#include <stdlib.h>

#include "trace.h"

/* Files in the directory of most cases: names "0" to "99". */
#define FILES 100

/* How often each of them was seen, and what else. */
struct seen {
	unsigned int files[FILES];
	unsigned int others; /* "." and ".." included */
	unsigned int calls;
};

/* Its descriptor. */
static int make_directory(struct trace *t)
{
	char name[16];
	int i;

	mute(t);
	t_mkdir(t, "d", 0755);
	for (i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "d/%d", i);
		t_file(t, name, 0644, "");
	}
	unmute(t);
	return t_open(t, "d", O_RDONLY | O_DIRECTORY, 0);
}

static int64_t getdents(struct trace *t, int fd, size_t size)
{
	return t_call(t, .kind = OP_GETDENTS, .fd = fd, .size = size);
}

/* The entry at @at of the last call. */
static const struct berth_dirent *entry_at(struct trace *t, int64_t at)
{
	return (const void *)(t->out.data + at);
}

static void see(struct seen *seen, const char *name)
{
	unsigned long number;
	char *end;

	number = strtoul(name, &end, 10);
	if (end != name && !*end && number < FILES)
		seen->files[number]++;
	else
		seen->others++;
}

/* One call.  Returns what it returned. */
static int64_t see_some(struct trace *t, int fd, size_t size, struct seen *seen)
{
	int64_t ret, at;

	mute(t);
	ret = getdents(t, fd, size);
	unmute(t);
	for (at = 0; at < ret; at += entry_at(t, at)->reclen)
		see(seen, entry_at(t, at)->name);
	seen->calls++;
	return ret;
}

/* Calls until the end. */
static void see_rest(struct trace *t, int fd, size_t size, struct seen *seen)
{
	int64_t ret;

	do
		ret = see_some(t, fd, size, seen);
	while (ret > 0 && seen->calls < 10 * FILES);
	is(t, 0, ret);
}

/* Those from @first, one in @step, were each seen this often. */
static void were_seen(struct trace *t, const struct seen *seen, int first,
		      int step, unsigned int times)
{
	int i, wrong = 0;

	for (i = first; i < FILES; i += step)
		wrong += seen->files[i] != times;
	is(t, 0, wrong);
}

static void remove_files(struct trace *t, int first, int step)
{
	char name[16];
	int i;

	mute(t);
	for (i = first; i < FILES; i += step) {
		snprintf(name, sizeof(name), "d/%d", i);
		t_unlink(t, name);
	}
	unmute(t);
}

static void K1_removing_what_was_read(struct trace *t)
{
	struct seen seen = { 0 };
	char name[300];
	int fd = make_directory(t);
	int64_t ret, at;
	unsigned char copy[512];

	/* As "rm -r" does: read some, remove those, read on. */
	do {
		ret = see_some(t, fd, sizeof(copy), &seen);
		if (ret <= 0)
			break;
		memcpy(copy, t->out.data, (size_t)ret);
		mute(t);
		for (at = 0; at < ret;) {
			const struct berth_dirent *entry =
				(const void *)(copy + at);

			snprintf(name, sizeof(name), "d/%s", entry->name);
			if (entry->name[0] != '.')
				is(t, 0, t_unlink(t, name));
			at += entry->reclen;
		}
		unmute(t);
	} while (seen.calls < 10 * FILES);
	were_seen(t, &seen, 0, 1, 1);
	is(t, 2, seen.others);
	is(t, 0, t_rmdir(t, "d"));
}

static void K2_removing_others_beside_it(struct trace *t)
{
	struct seen seen = { 0 };
	int fd = make_directory(t);

	see_some(t, fd, 600, &seen);
	remove_files(t, 0, 2);
	see_rest(t, fd, 600, &seen);
	were_seen(t, &seen, 1, 2, 1);
	is(t, 2, seen.others);
}

static void K2_creating_beside_it(struct trace *t)
{
	struct seen seen = { 0 };
	int fd = make_directory(t);
	char name[16];
	int i;

	see_some(t, fd, 600, &seen);
	mute(t);
	for (i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "d/new%d", i);
		t_file(t, name, 0644, "");
	}
	unmute(t);
	see_rest(t, fd, 600, &seen);
	were_seen(t, &seen, 0, 1, 1);
}

static void K2_renaming_beside_it(struct trace *t)
{
	struct seen seen = { 0 };
	int fd = make_directory(t);

	see_some(t, fd, 600, &seen);
	t_mkdir(t, "other", 0755);
	t_rename(t, "d/10", "other/10");
	t_rename(t, "d/20", "d/twenty");
	t_rename(t, "d/30", "d/31");
	see_rest(t, fd, 600, &seen);
	seen.files[10] = seen.files[20] = seen.files[30] = 1;
	if (seen.files[31] == 0 || seen.files[31] == 2)
		seen.files[31] = 1; /* the new 31 has its own place */
	were_seen(t, &seen, 0, 1, 1);
}

static void K4_a_cookie_resumes_behind_its_entry(struct trace *t)
{
	int64_t cookies[FILES + 2] = { 0 }, ret, at;
	char names[FILES + 2][8];
	int fd = make_directory(t);
	int count = 0, i, wrong = 0;

	mute(t);
	while ((ret = getdents(t, fd, 700)) > 0)
		for (at = 0; at < ret && count < FILES + 2;
		     at += entry_at(t, at)->reclen) {
			cookies[count] = entry_at(t, at)->cookie;
			snprintf(names[count++], sizeof(names[0]), "%.7s",
				 entry_at(t, at)->name);
		}
	unmute(t);
	is(t, FILES + 2, count);

	/* Backwards, and each cookie finds the entry that came behind it. */
	mute(t);
	for (i = count - 2; i >= 0; i--) {
		wrong += t_lseek(t, fd, cookies[i], SEEK_SET) != cookies[i];
		wrong += t_lseek(t, fd, 0, SEEK_CUR) != cookies[i];
		wrong += getdents(t, fd, 32) <= 0 ||
			 strcmp(entry_at(t, 0)->name, names[i + 1]) != 0;
		wrong += t_lseek(t, fd, 0, SEEK_CUR) != cookies[i + 1];
	}
	wrong += t_lseek(t, fd, cookies[count - 1], SEEK_SET) < 0;
	wrong += getdents(t, fd, 700) != 0;
	unmute(t);
	is(t, 0, wrong);
}

static void K4_a_cookie_of_a_removed_entry(struct trace *t)
{
	struct seen seen = { 0 }, again = { 0 };
	int fd = make_directory(t);
	int64_t cookie, ret, at;
	int i;

	since_kernel(t, 6, 6); /* before, positions were counts of entries */
	mute(t);
	ret = see_some(t, fd, 1000, &seen);
	for (at = 0; at + entry_at(t, at)->reclen < ret;)
		at += entry_at(t, at)->reclen;
	cookie = entry_at(t, at)->cookie;
	unmute(t);
	/* All that were seen go, the cookie's own among them. */
	mute(t);
	for (i = 0; i < FILES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "d/%d", i);
		if (seen.files[i])
			t_unlink(t, name);
	}
	t_lseek(t, fd, cookie, SEEK_SET);
	unmute(t);
	see_rest(t, fd, 1000, &again);
	for (i = 0; i < FILES; i++)
		again.files[i] += seen.files[i];
	were_seen(t, &again, 0, 1, 1);
	is(t, 0, again.others);
}

static void K5_the_directory_goes_during_a_scan(struct trace *t)
{
	struct seen seen = { 0 };
	int fd = make_directory(t);

	see_some(t, fd, 600, &seen);
	remove_files(t, 0, 1);
	is(t, 0, t_rmdir(t, "d"));
	is(t, -ENOENT, getdents(t, fd, 600));
	t_lseek(t, fd, 0, SEEK_SET);
	is(t, -ENOENT, getdents(t, fd, 600));
}

static void K7_rewinding(struct trace *t)
{
	struct seen seen = { 0 };
	int fd = make_directory(t);

	see_rest(t, fd, 600, &seen);
	remove_files(t, 0, 2);
	t_file(t, "d/new", 0644, "");
	is(t, 0, t_lseek(t, fd, 0, SEEK_SET));
	see_rest(t, fd, 600, &seen);
	were_seen(t, &seen, 0, 2, 1);
	were_seen(t, &seen, 1, 2, 2);
	is(t, 2 + 3, seen.others);
}

static void K7_positions_of_a_directory(struct trace *t)
{
	int fd = make_directory(t);

	is(t, 0, t_lseek(t, fd, 0, SEEK_CUR));
	is(t, -EINVAL, t_lseek(t, fd, -1, SEEK_SET));
	t_lseek(t, fd, 0, 99);
	t_lseek(t, fd, 0, SEEK_SET);
	/* A duplicate shares the position. */
	mute(t);
	getdents(t, t_dup(t, fd), FS_BUFFER);
	unmute(t);
	is(t, 0, getdents(t, fd, 4096));
}

static void K8_buffers_of_all_sizes(struct trace *t)
{
	int fd = make_directory(t);
	size_t size;

	for (size = 24; size < 200; size += 8) {
		struct seen seen = { 0 };

		mute(t);
		t_lseek(t, fd, 0, SEEK_SET);
		unmute(t);
		see_rest(t, fd, size, &seen);
		were_seen(t, &seen, 0, 1, 1);
		is(t, 2, seen.others);
	}
	/* Not one entry fits. */
	t_lseek(t, fd, 0, SEEK_SET);
	is(t, -EINVAL, getdents(t, fd, 16));
	is(t, -EINVAL, getdents(t, fd, 0));
	t_file(t, "d/a-name-that-is-longer-than-the-others", 0644, "");
	t_lseek(t, fd, 0, SEEK_SET);
	mute(t);
	while (getdents(t, fd, 32) > 0)
		;
	is(t, -EINVAL, t->out.ret);
	is(t, 64, getdents(t, fd, 64) > 0 ? 64 : t->out.ret);
	unmute(t);
}

static void K10_numbers_and_types(struct trace *t)
{
	int64_t ret, at;
	int fd;

	t_mkdir(t, "d", 0755);
	t_mkdir(t, "d/dir", 0755);
	t_file(t, "d/file", 0644, "");
	t_link(t, "d/file", "d/twin");
	t_symlink(t, "file", "d/link");
	t_mknod(t, "d/socket", S_IFSOCK | 0644);
	t_mknod(t, "d/fifo", S_IFIFO | 0644);
	t_list(t, "d");
	fd = t_open(t, "d", O_RDONLY, 0);
	mute(t);
	ret = getdents(t, fd, 4096);
	for (at = 0; at < ret; at += entry_at(t, at)->reclen) {
		const struct berth_dirent *entry = entry_at(t, at);
		struct outcome listing = t->out;

		t_call(t, .kind = OP_STAT, .fd = fd, .path = entry->name,
		       .flags = BERTH_AT_SYMLINK_NOFOLLOW);
		is(t, (int64_t)entry->ino, (int64_t)t->out.st.ino);
		is(t, entry->type, (t->out.st.mode & S_IFMT) >> 12);
		is(t, 0, entry->reclen % 8);
		t->out = listing;
	}
	unmute(t);
	is(t, true, t_same_file(t, "d/file", "d/twin"));
}

static void K10_dot_and_dot_dot(struct trace *t)
{
	int64_t ret, at;
	unsigned int dots = 0;
	int fd;

	t_mkdir(t, "d", 0755);
	t_mkdir(t, "d/e", 0755);
	is(t, true, t_same_file(t, "d/e/..", "d"));
	is(t, true, t_same_file(t, "d/e/.", "d/e"));
	is(t, true, t_same_file(t, "/..", "/"));
	fd = t_open(t, "d/e", O_RDONLY, 0);
	mute(t);
	ret = getdents(t, fd, 4096);
	for (at = 0; at < ret; at += entry_at(t, at)->reclen) {
		const struct berth_dirent *entry = entry_at(t, at);
		struct outcome listing = t->out;

		t_call(t, .kind = OP_STAT, .fd = fd, .path = entry->name);
		is(t, (int64_t)entry->ino, (int64_t)t->out.st.ino);
		is(t, 4, entry->type);
		t->out = listing;
		dots++;
	}
	unmute(t);
	is(t, 2, dots);
}

static void K11_the_end(struct trace *t)
{
	struct seen seen = { 0 };
	int fd = make_directory(t);

	see_rest(t, fd, 4096, &seen);
	is(t, 0, getdents(t, fd, 4096));
	is(t, 0, getdents(t, fd, 4096));
	/* A position behind the end. */
	t_mkdir(t, "empty", 0755);
	fd = t_open(t, "empty", O_RDONLY, 0);
	see_rest(t, fd, 4096, &seen);
	is(t, 0, getdents(t, fd, 4096));
	is(t, 4, seen.others);
}

static void K14_each_entry_once_in_large_directories(struct trace *t)
{
	int64_t ret, at;
	unsigned int count = 0, i, wrong = 0;
	unsigned char *seen = calloc(3000, 1);
	char name[16];
	int fd;

	mute(t);
	t_mkdir(t, "d", 0755);
	for (i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "d/%u", i);
		t_mknod(t, name, S_IFREG | 0644);
		if (i % 3 == 2) { /* holes in whatever numbers they get */
			snprintf(name, sizeof(name), "d/%u", i - 1);
			t_unlink(t, name);
		}
	}
	fd = t_open(t, "d", O_RDONLY, 0);
	while ((ret = getdents(t, fd, 2000)) > 0 && count < 10000)
		for (at = 0; at < ret; at += entry_at(t, at)->reclen) {
			if (entry_at(t, at)->name[0] != '.')
				seen[atoi(entry_at(t, at)->name) % 3000]++;
			count++;
		}
	unmute(t);
	for (i = 0; i < 3000; i++)
		wrong += seen[i] != (i % 3 != 1);
	free(seen);
	is(t, 0, wrong);
	is(t, 2002, count);
}

static void K16_read_of_a_directory(struct trace *t)
{
	int fd = make_directory(t);
	int file = t_open(t, "d/1", O_RDONLY, 0);

	is(t, -EISDIR, t_read(t, fd, 100));
	is(t, -EISDIR, t_pread(t, fd, 100, 0));
	is(t, -EBADF, t_write(t, fd, "x"));
	is(t, -EINVAL, t_ftruncate(t, fd, 0));
	t_read(t, fd, 0);
	is(t, -ENOTDIR, getdents(t, file, 4096));
	is(t, -EBADF, getdents(t, 99, 4096));
	is(t, -EBADF, getdents(t, -1, 4096));
}

static void times_and_permissions_of_reading(struct trace *t)
{
	struct seen seen = { 0 };
	int fd = make_directory(t);

	t_mark(t, "d");
	see_rest(t, fd, 4096, &seen);
	is(t, ATIME, t_moved(t, "d"));
	t_chmod(t, "d", 0300);
	t_open(t, "d", O_RDONLY, 0);
	t_stat(t, "d/1");
	t_chmod(t, "d", 0600);
	t_list(t, "d");
	t_stat(t, "d/1");
}

static const struct CMUnitTest cases[] = {
	TRACE(K1_removing_what_was_read, AS_ROOT),
	TRACE(K2_removing_others_beside_it, AS_ROOT),
	TRACE(K2_creating_beside_it, AS_ROOT),
	TRACE(K2_renaming_beside_it, AS_ROOT),
	TRACE(K4_a_cookie_resumes_behind_its_entry, AS_ROOT),
	TRACE(K4_a_cookie_of_a_removed_entry, AS_ROOT),
	TRACE(K5_the_directory_goes_during_a_scan, AS_ROOT),
	TRACE(K7_rewinding, AS_ROOT),
	TRACE(K7_positions_of_a_directory, AS_ROOT),
	TRACE(K8_buffers_of_all_sizes, AS_ROOT),
	TRACE(K10_numbers_and_types, AS_BOTH),
	TRACE(K10_dot_and_dot_dot, AS_BOTH),
	TRACE(K11_the_end, AS_ROOT),
	TRACE(K14_each_entry_once_in_large_directories, AS_ROOT),
	TRACE(K16_read_of_a_directory, AS_BOTH),
	TRACE(times_and_permissions_of_reading, AS_BOTH),
};

int main(int argc, char **argv)
{
	return run_traces(argc, argv, cases);
}
