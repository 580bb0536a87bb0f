/* SPDX-License-Identifier: MIT */
/* Two instances that take the same steps; see twins.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <berth/berth.h>

#include "harness.h"
#include "twins.h"

/* ---- What an instance looks like ---- */

enum {
	INODES = 200, /* of the largest tree */
	FIRST_FDS = 100,
};

/*
 * A failed creation takes an inode number with it, so numbers are told by the
 * order in which they are met.
 */
struct look {
	FILE *out;
	struct twin *twin;
	uint64_t ino[INODES];
	unsigned int inodes;
};

static unsigned int nth_inode(struct look *look, uint64_t ino)
{
	unsigned int i;

	for (i = 0; i < look->inodes && look->ino[i] != ino; i++)
		;
	check(i < INODES);
	if (i == look->inodes)
		look->ino[look->inodes++] = ino;
	return i;
}

static void look_at_stat(struct look *look, const struct berth_stat *st)
{
	fprintf(look->out,
		" #%u %o %u:%u links %u size %" PRIu64 " blocks %" PRIu64
		" dev %" PRIu64 " times %ld %ld %ld %ld",
		nth_inode(look, st->ino), st->mode, st->uid, st->gid, st->nlink,
		st->size, st->blocks, st->rdev, st->atime.tv_sec,
		st->mtime.tv_sec, st->ctime.tv_sec, st->btime.tv_sec);
}

/* FNV, by words. */
static uint64_t hash_words(uint64_t hash, const uint64_t *words, size_t n)
{
	while (n--)
		hash = (hash ^ *words++) * UINT64_C(0x100000001b3);
	return hash;
}

/* The ends of each page; holes are passed, a terabyte is no trouble. */
static void look_at_data(struct look *look, struct berth_task *who, int fd)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	int64_t pos = 0;

	while ((pos = berth_lseek(who, fd, pos, SEEK_DATA)) >= 0) {
		uint64_t words[9] = { (uint64_t)pos };

		check(berth_pread(who, fd, words + 1, 32, pos) > 0);
		pos += PAGE;
		check(berth_pread(who, fd, words + 5, 32, pos - 32) >= 0);
		hash = hash_words(hash, words, 9);
	}
	check_equal(pos, -ENXIO);
	fprintf(look->out, " data %" PRIx64, hash);
}

static int open_to_look(struct look *look, const char *path)
{
	int fd = berth_open(look->twin->observer, path,
			    O_RDONLY | O_NOATIME | O_NOFOLLOW, 0);

	check(fd >= 0);
	return fd;
}

static void look_below(struct look *look, const char *path);

static void look_at_entries(struct look *look, const char *path)
{
	_Alignas(8) char buf[4096];
	int fd = open_to_look(look, path);
	struct berth_dirent *entry;
	char child[4096];
	ssize_t n, at;

	while ((n = berth_getdents(look->twin->observer, fd, buf,
				   sizeof(buf))) > 0)
		for (at = 0; at < n; at += entry->reclen) {
			entry = (struct berth_dirent *)(void *)(buf + at);
			if (!strcmp(entry->name, ".") ||
			    !strcmp(entry->name, ".."))
				continue;
			snprintf(child, sizeof(child), "%s/%s", path,
				 entry->name);
			look_below(look, child);
		}
	check_equal(n, 0);
	check_equal(berth_close(look->twin->observer, fd), 0);
}

static void look_below(struct look *look, const char *path)
{
	struct berth_task *who = look->twin->observer;
	struct berth_stat st;
	char target[4096];
	ssize_t n;
	int fd;

	check_equal(berth_lstat(who, *path ? path : "/", &st), 0);
	fprintf(look->out, "%s", path);
	look_at_stat(look, &st);
	if (S_ISREG(st.mode)) {
		fd = open_to_look(look, path);
		look_at_data(look, who, fd);
		check_equal(berth_close(who, fd), 0);
	}
	if (S_ISLNK(st.mode)) {
		n = berth_readlink(who, path, target, sizeof(target));
		fprintf(look->out, " -> %.*s", (int)n, target);
	}
	fputc('\n', look->out);
	if (S_ISDIR(st.mode))
		look_at_entries(look, *path ? path : "/.");
}

/* What a number shows without changing it. */
static void look_at_fd(struct look *look, struct berth_task *who, int fd)
{
	int flags = berth_fcntl(who, fd, F_GETFD, 0);
	struct berth_stat st;

	if (flags < 0) {
		check_equal(flags, -EBADF);
		return;
	}
	fprintf(look->out, "fd %d %d %o", fd, flags,
		(unsigned int)berth_fcntl(who, fd, F_GETFL, 0));
	if (!berth_fstat(who, fd, &st)) {
		fprintf(look->out, " at %" PRId64,
			berth_lseek(who, fd, 0, SEEK_CUR));
		look_at_stat(look, &st);
	}
	fputc('\n', look->out);
}

static void look_at_task(struct look *look, struct berth_task *who)
{
	static const int further[] = { 300, 1100, 5000, 20000, 70000 };
	struct berth_files *files = berth_task_files(who);
	char path[4096];
	ssize_t n = berth_getcwd(who, path, sizeof(path));
	size_t i;
	int fd;

	fprintf(look->out, "task in %.*s, %u open, limit %u\n",
		n < 0 ? 0 : (int)n, path, berth_files_count(files),
		berth_files_limit(files));
	for (fd = 0; fd < FIRST_FDS; fd++)
		look_at_fd(look, who, fd);
	for (i = 0; i < sizeof(further) / sizeof(further[0]); i++)
		look_at_fd(look, who, further[i]);
}

static void look_at_room(struct look *look)
{
	struct berth_statfs st;

	berth_vfs_statfs(look->twin->fs.vfs, &st);
	fprintf(look->out,
		"room %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		st.blocks, st.blocks_free, st.inodes, st.inodes_free);
}

static char *look_at(struct twin *twin)
{
	struct look look = { .twin = twin };
	size_t size;
	char *text;

	look.out = open_memstream(&text, &size);
	check(look.out);
	look_at_room(&look);
	look_below(&look, "");
	look_at_task(&look, twin->fs.task);
	if (twin->child)
		look_at_task(&look, twin->child);
	if (twin->copy)
		fprintf(look.out, "copy with %u\n",
			berth_files_count(twin->copy));
	check(!fclose(look.out));
	return text;
}

/* ---- Birth and end ---- */

/* Seconds; stands still during a step.  Small ones, as in 1970. */
static _Atomic(long) the_time = 1000;

static void clock_of_steps(struct timespec *now, void *arg)
{
	(void)arg;
	*now = (struct timespec){ .tv_sec = the_time };
}

static void twin_create(struct twin *twin, bool on_own_heap)
{
	struct berth_vfs_options options;

	options = on_own_heap ? on_heap(&twin->heap) : default_options();
	twin->on_heap = on_own_heap;
	options.size = 1500 * (uint64_t)PAGE;
	options.nr_inodes = 80;
	options.clock = clock_of_steps;
	check_equal(berth_vfs_create(&options, &twin->fs.vfs), 0);
	check_equal(berth_task_create(twin->fs.vfs, NULL, &twin->fs.task), 0);
	check_equal(berth_task_fork(twin->fs.task, 0, &twin->observer), 0);
	twin->fs.buffer = aligned_alloc(4096, FS_BUFFER);
	check(twin->fs.buffer);
	fs_use_berth(&twin->fs);
}

static void twin_destroy(struct twin *twin)
{
	free(twin->fs.buffer);
	berth_files_put_table(twin->copy);
	berth_task_destroy(twin->child);
	berth_task_destroy(twin->observer);
	berth_task_destroy(twin->fs.task);
	berth_vfs_forget_all(twin->fs.vfs);
	check_equal(berth_vfs_destroy(twin->fs.vfs), 0);
	if (twin->on_heap) {
		check_equal((long)twin->heap.blocks, 0);
		check_equal((long)twin->heap.bytes, 0);
	}
}

void twins_create(struct twins *twins, bool on_own_heap)
{
	*twins = (struct twins){ 0 };
	twin_create(&twins->faulty, on_own_heap);
	twin_create(&twins->plain, on_own_heap);
}

void twins_destroy(struct twins *twins)
{
	twin_destroy(&twins->faulty);
	twin_destroy(&twins->plain);
}

/* ---- A step ---- */

static void arm(struct twin *twin, const struct aim *aim)
{
	if (!aim->nth)
		return;
	if (aim->kind == AIM_RANDOM) {
		sys_fail_random(aim->seed, (unsigned int)aim->nth);
	} else if (aim->call == SYS_CALLS) {
		atomic_store(&twin->heap.fails_for_good, aim->kind == AIM_FROM);
		atomic_store(&twin->heap.failures, 0);
		atomic_store(&twin->heap.calls_left, (long)aim->nth - 1);
	} else if (aim->kind == AIM_FROM) {
		sys_fail_from(aim->call, aim->nth);
	} else {
		sys_fail_nth(aim->call, aim->nth);
	}
}

static uint64_t disarm(struct twin *twin, const struct aim *aim)
{
	if (!aim->nth)
		return 0;
	sys_fail_none();
	if (aim->kind == AIM_RANDOM || aim->call != SYS_CALLS)
		return sys_failures();
	atomic_store(&twin->heap.calls_left, -1);
	return atomic_load(&twin->heap.failures);
}

enum {
	ERRNO_OF_CALLER = 4711,
};

static int64_t take(struct twin *twin, const struct step *step, size_t size,
		    struct outcome *out)
{
	struct op op = step->op;
	int64_t ret;

	errno = ERRNO_OF_CALLER;
	if (step->call) {
		*out = (struct outcome){ .ret = step->call(twin) };
		ret = out->ret;
	} else {
		op.size = size;
		ret = fs_do(&twin->fs, &op, out);
	}
	check_equal(errno, ERRNO_OF_CALLER);
	return ret;
}

static void step_print(const struct step *step, const struct aim *aim)
{
	if (step->call)
		fprintf(stderr, "%s", step->name);
	else
		fs_print_op(stderr, &step->op);
	fprintf(stderr,
		", kind %d of call %d, use %" PRIu64 ", seed %" PRIu64 "\n",
		(int)aim->kind, (int)aim->call, aim->nth, aim->seed);
}

static void compare_looks(struct twins *twins, const struct step *step,
			  const struct aim *aim)
{
	char *faulty = look_at(&twins->faulty);
	char *plain = look_at(&twins->plain);

	if (strcmp(faulty, plain) != 0) {
		step_print(step, aim);
		fprintf(stderr, "with faults:\n%s\nwithout:\n%s", faulty,
			plain);
		check(!"the faulty instance looks as the plain one");
	}
	free(faulty);
	free(plain);
}

/* Text and bytes that a step gave; entries of directories have numbers. */
static bool same_data(const struct step *step, const struct outcome *a,
		      const struct outcome *b)
{
	if (step->call || step->op.kind == OP_GETDENTS || !a->data || !b->data)
		return true;
	return !memcmp(a->data, b->data, (size_t)a->ret);
}

static void take_plain(struct twins *twins, const struct step *step,
		       const struct outcome *faulty, const struct aim *aim)
{
	bool writes = step->op.kind == OP_WRITE || step->op.kind == OP_PWRITE ||
		      step->op.kind == OP_WRITEV;
	size_t size = step->op.size;
	struct outcome plain;

	/* As much as the other could. */
	if (!step->call && writes && faulty->ret > 0)
		size = (size_t)faulty->ret;
	take(&twins->plain, step, size, &plain);
	if (faulty->ret == plain.ret && same_data(step, faulty, &plain))
		return;
	step_print(step, aim);
	check_equal(faulty->ret, plain.ret);
	check(!"both steps gave the same data");
}

struct taken twins_step(struct twins *twins, const struct step *step,
			const struct aim *aim)
{
	struct twin *faulty = &twins->faulty;
	struct taken taken = { .done = true };
	struct outcome out;

	the_time++;
	/* With something to wait for, a call that fails would wait and try
	 * again, and not fail. */
	if (aim->kind != AIM_RANDOM)
		berth_drain();
	arm(faulty, aim);
	take(faulty, step, step->op.size, &out);
	taken.faults = disarm(faulty, aim);
	if (out.ret == -ENOMEM && taken.faults) {
		taken.done = false;
		twins->failed++;
	} else {
		take_plain(twins, step, &out, aim);
		twins->survived += taken.faults != 0;
	}
	compare_looks(twins, step, aim);
	return taken;
}
