/* SPDX-License-Identifier: MIT */
/*
 * What tests of the VFS share: an instance with a task of root, and an
 * allocator that knows what is out.
 */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <berth/vfs.h>

#define PAGE INT64_C(4096)

/* The instance of a case, and its task. */
extern struct berth_vfs *vfs;
extern struct berth_task *task;

/* Options of which a case sets a few more. */
struct berth_vfs_options default_options(void);

/* Make both, and end both, when nothing is in use any more. */
void create_with(const struct berth_vfs_options *options);
void finish(void);
/* The same around a case, without options. */
int create(void **state);
int destroy(void **state);

/* A further task with a table of its own. */
struct berth_task *fork_task(void);

void make_file(const char *path, const char *text);
bool file_holds(struct berth_task *of, int fd, const char *text);
/* Write pages until there is no more space.  Returns how many. */
unsigned int fill(int fd);

/* ---- Memory ---- */

struct heap {
	atomic_size_t bytes;
	atomic_size_t blocks;
	atomic_size_t most_bytes;
	atomic_long calls_left;	    /* until one fails; negative: none does */
	atomic_bool fails_for_good; /* and so do all after it */
	atomic_ulong failures;
};

/* Options by which an instance takes its memory from @heap, which is reset. */
struct berth_vfs_options on_heap(struct heap *heap);

#endif
