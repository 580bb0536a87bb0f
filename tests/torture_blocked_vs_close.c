/* SPDX-License-Identifier: MIT */
/*
 * Readers are blocked for ever in something like a pipe, while others open and
 * close, create and remove.  As such a reader owns what it waits on and has left
 * the read section, memory stays bounded: what is not freed yet is no more than
 * what the threads' lists hold.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <berth/files.h>

#include "fixture.h"
#include "harness.h"
#include "probe.h"

enum {
	READERS = 4,
	WORKERS = 3, /* who retire */
	/*
	 * A call leaves a list of its thread that is full to the reclaimer, and
	 * waits for him when it is eight times as long (src/base/rcu.h and .c).
	 * So many objects and a few more a thread may wait; as many again are
	 * taken from the lists and being freed.
	 */
	BATCH = 4096,
	LIST_MAX = 8 * BATCH + 100,
	BOUND = 2 * WORKERS * LIST_MAX,
	TOO_LONG = 20, /* seconds more than the race takes */
};

/* ---- The pipe ---- */

struct pipe {
	struct berth_file file;
	sem_t bytes;
};

static void pipe_free(struct berth_file *file)
{
	struct pipe *pipe = (struct pipe *)file;

	sem_destroy(&pipe->bytes);
	free(pipe);
}

static const struct berth_file_operations pipe_operations = {
	.free = pipe_free,
};

/*
 * What an operation that may wait does: find out in a borrow that it will have
 * to, own the file, end the borrow, wait.
 */
static void pipe_read(struct berth_files *files, int fd)
{
	struct berth_file *file = berth_files_borrow(files, fd);
	struct pipe *pipe = (struct pipe *)file;

	check(file);
	if (!sem_trywait(&pipe->bytes)) {
		berth_files_return(file);
		return;
	}
	check(berth_files_get(files, fd) == file);
	berth_files_return(file);
	while (sem_wait(&pipe->bytes))
		;
	berth_file_put(file);
}

static int pipe_open(struct berth_files *files, struct pipe **result)
{
	struct pipe *pipe = malloc(sizeof(*pipe));
	int fd = berth_files_reserve(files, 0, 0);

	check(pipe && fd >= 0);
	check(!sem_init(&pipe->bytes, 0, 0));
	berth_file_init(&pipe->file, &pipe_operations, O_RDONLY, 0);
	berth_files_install(files, fd, &pipe->file);
	*result = pipe;
	return fd;
}

/* ---- The readers ---- */

static struct pipe *pipes[READERS];
static pthread_t readers[READERS];

static void *read_for_ever(void *arg)
{
	pipe_read(table, *(int *)arg);
	return NULL;
}

static void block_readers(void)
{
	static int fds[READERS];
	int i;

	for (i = 0; i < READERS; i++) {
		fds[i] = pipe_open(table, &pipes[i]);
		check(!pthread_create(&readers[i], NULL, read_for_ever,
				      &fds[i]));
	}
}

/* Their numbers may go first: who waits owns the pipe. */
static void release_readers(bool close_first)
{
	int i;

	if (close_first)
		berth_files_put_table(table);
	for (i = 0; i < READERS; i++)
		sem_post(&pipes[i]->bytes);
	for (i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	if (!close_first)
		berth_files_put_table(table);
	berth_drain();
}

/* ---- Tables ---- */

static unsigned long alive(void)
{
	/* In this order: what is made in between would count twice. */
	unsigned long frees = atomic_load(&all_probes.frees);
	unsigned long made = atomic_load(&all_probes.made);

	return made > frees ? made - frees : 0;
}

static void open_and_close(struct worker *worker)
{
	int fd;

	for (; keep_going(); worker->work++) {
		fd = probe_open(table, NULL);
		check(fd >= 0);
		check_equal(berth_files_close(table, fd), 0);
	}
}

static void watch_probes(struct worker *worker)
{
	unsigned long before = 0, now_alive;

	for (; keep_going(); worker->work++) {
		now_alive = alive();
		/* Between the two looks of alive() some may have been made. */
		if (now_alive > BOUND && before > BOUND)
			check_equal((long)now_alive, BOUND);
		before = now_alive;
		usleep(1000);
	}
}

static void closes_are_freed(void **state)
{
	(void)state;
	alarm((unsigned int)test_seconds() + TOO_LONG);
	check_equal(berth_files_create(&table), 0);
	block_readers();
	race(NULL, open_and_close, open_and_close, open_and_close,
	     watch_probes);
	release_readers(true);
	check_no_probe_left();
	alarm(0);
}

/* ---- The file system ---- */

static struct heap heap;

enum {
	/* What is deferred of one file: a page, and less than another. */
	FILE_BYTES = 2 * PAGE,
	/* Its page, its inode, its name and the open file, at least. */
	FILE_OBJECTS = 4,
	/* Pages come in chunks, and the root has tables. */
	REST = 4 << 20,
	FEW_PAGES = 64,
};

static void create_and_remove(struct worker *worker)
{
	struct berth_task *mine = fork_task();
	char path[16], data[10] = "some data";
	int fd;

	snprintf(path, sizeof(path), "/f%u", worker->index);
	for (; keep_going(); worker->work++) {
		fd = berth_open(mine, path, O_CREAT | O_RDWR, 0644);
		check(fd >= 0);
		check_equal(berth_write(mine, fd, data, sizeof(data)),
			    sizeof(data));
		check_equal(berth_unlink(mine, path), 0);
		check_equal(berth_close(mine, fd), 0);
	}
	berth_task_destroy(mine);
}

static void create_beside_readers(uint64_t pages, size_t bound)
{
	struct berth_vfs_options options = on_heap(&heap);

	alarm((unsigned int)test_seconds() + TOO_LONG);
	options.size = pages * PAGE;
	create_with(&options);
	check_equal(berth_files_create(&table), 0);
	block_readers();
	race(NULL, create_and_remove, create_and_remove, create_and_remove);
	fprintf(stderr, "%zu bytes at most\n", atomic_load(&heap.most_bytes));
	check(atomic_load(&heap.most_bytes) < bound);
	release_readers(false);
	finish();
	check_equal((long)atomic_load(&heap.bytes), 0);
	alarm(0);
}

static void removed_files_are_freed(void **state)
{
	(void)state;
	create_beside_readers(0,
			      REST + (size_t)BOUND / FILE_OBJECTS * FILE_BYTES);
}

/* Who finds no space waits for what is deferred, and never for a reader. */
static void their_space_is_there_again(void **state)
{
	(void)state;
	create_beside_readers(FEW_PAGES, REST);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(closes_are_freed),
		cmocka_unit_test(removed_files_are_freed),
		cmocka_unit_test(their_space_is_there_again),
	};

	return run_cases(argc, argv, cases);
}
