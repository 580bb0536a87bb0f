/* SPDX-License-Identifier: MIT */
/* What tests of the VFS share; see fixture.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "harness.h"

struct berth_vfs *vfs;
struct berth_task *task;

struct berth_vfs_options default_options(void)
{
	return (struct berth_vfs_options){
		.struct_size = sizeof(struct berth_vfs_options),
	};
}

void create_with(const struct berth_vfs_options *options)
{
	check_equal(berth_vfs_create(options, &vfs), 0);
	check_equal(berth_task_create(vfs, NULL, &task), 0);
}

int create(void **state)
{
	(void)state;
	create_with(NULL);
	return 0;
}

void finish(void)
{
	berth_task_destroy(task);
	check_equal(berth_vfs_destroy(vfs), 0);
}

int destroy(void **state)
{
	(void)state;
	berth_task_destroy(task);
	return berth_vfs_destroy(vfs);
}

struct berth_task *fork_task(void)
{
	struct berth_task *child;

	check_equal(berth_task_fork(task, 0, &child), 0);
	return child;
}

void make_file(const char *path, const char *text)
{
	int fd = berth_open(task, path, O_CREAT | O_WRONLY, 0644);

	check(fd >= 0);
	check_equal(berth_write(task, fd, text, strlen(text)),
		    (long)strlen(text));
	check_equal(berth_close(task, fd), 0);
}

bool file_holds(struct berth_task *of, int fd, const char *text)
{
	char buf[100];
	ssize_t got = berth_pread(of, fd, buf, sizeof(buf), 0);

	return got == (ssize_t)strlen(text) && !memcmp(buf, text, (size_t)got);
}

unsigned int fill(int fd)
{
	static const char page[PAGE] = { 'x' };
	unsigned int pages = 0;
	ssize_t ret;

	while ((ret = berth_write(task, fd, page, PAGE)) == PAGE)
		pages++;
	check_equal(ret, -ENOSPC);
	return pages;
}

/* ---- Memory ---- */

/* Stands right before each block. */
struct block {
	void *start; /* of what malloc gave */
	size_t bytes;
};

static bool is_to_fail(struct heap *heap)
{
	long left = atomic_load(&heap->calls_left);

	if (left < 0)
		return false;
	if (left > 0 || !atomic_load(&heap->fails_for_good))
		left = atomic_fetch_sub(&heap->calls_left, 1);
	if (left == 0)
		atomic_fetch_add(&heap->failures, 1);
	return left == 0;
}

static void *heap_alloc(size_t bytes, size_t align, void *arg)
{
	struct heap *heap = arg;
	struct block *block;
	size_t total, most;
	int saved = errno;
	uintptr_t at;
	char *start;

	check(align && !(align & (align - 1)));
	if (is_to_fail(heap))
		return NULL;
	if (align < sizeof(*block))
		align = sizeof(*block);
	start = malloc(bytes + 2 * align);
	check(start);
	errno = saved; /* for those who look whether berth changes it */
	at = ((uintptr_t)start + sizeof(*block) + align - 1) & -align;
	block = (struct block *)at - 1;
	*block = (struct block){ start, bytes };
	memset((void *)at, 0xa5, bytes);

	atomic_fetch_add(&heap->blocks, 1);
	total = atomic_fetch_add(&heap->bytes, bytes) + bytes;
	most = atomic_load(&heap->most_bytes);
	while (total > most &&
	       !atomic_compare_exchange_weak(&heap->most_bytes, &most, total))
		;
	return (void *)at;
}

static void heap_dealloc(void *memory, size_t bytes, void *arg)
{
	struct heap *heap = arg;
	struct block block = *((struct block *)memory - 1);

	check_equal((long)block.bytes, (long)bytes);
	memset(memory, 0x5a, bytes);
	atomic_fetch_sub(&heap->blocks, 1);
	atomic_fetch_sub(&heap->bytes, bytes);
	free(block.start);
}

struct berth_vfs_options on_heap(struct heap *heap)
{
	struct berth_vfs_options options = default_options();

	atomic_init(&heap->bytes, 0);
	atomic_init(&heap->blocks, 0);
	atomic_init(&heap->most_bytes, 0);
	atomic_init(&heap->calls_left, -1);
	atomic_init(&heap->fails_for_good, false);
	atomic_init(&heap->failures, 0);
	options.alloc = heap_alloc;
	options.dealloc = heap_dealloc;
	options.arg = heap;
	return options;
}
