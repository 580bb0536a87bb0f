/* SPDX-License-Identifier: MIT */
/*
 * Invariant V1: no write is lost or torn, neither of several openers that
 * append nor of several threads that share an offset.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "harness.h"

enum {
	WRITERS = 3,
	RECORDS = 40, /* a writer and round */
	LONGEST = 3 * PAGE,
};

/* What stands before each record's bytes, all of which are @writer + 1. */
struct header {
	uint32_t writer;
	uint32_t number;
	uint32_t size; /* with the header */
};

struct shared {
	unsigned int flags; /* of the opens */
	int fd;		    /* the one that all share, or -1 */
	uint64_t bytes;	    /* of this round */
	atomic_uint_fast64_t written;
	unsigned char *file;
};

static void write_record(struct worker *me, struct berth_task *mine, int fd,
			 uint32_t number, unsigned char *buf)
{
	struct shared *shared = me->shared;
	struct header header = {
		.writer = me->index,
		.number = number,
		.size = (uint32_t)sizeof(header) +
			random_below(&me->random,
				     random_once_in(&me->random, 4)
					     ? LONGEST - sizeof(header)
					     : 60),
	};

	memcpy(buf, &header, sizeof(header));
	memset(buf + sizeof(header), (int)me->index + 1,
	       header.size - sizeof(header));
	check_equal(berth_write(mine, fd, buf, header.size), header.size);
	atomic_fetch_add(&shared->written, header.size);
}

/* One record after the other, each whole, those of a writer in order. */
static void check_records(struct shared *shared, uint64_t size)
{
	uint32_t next[WRITERS] = { 0 };
	struct header header;
	uint64_t at;
	size_t i;

	for (at = 0; at < size; at += header.size) {
		check(at + sizeof(header) <= size);
		memcpy(&header, shared->file + at, sizeof(header));
		check(header.writer < WRITERS);
		check_equal(header.number, next[header.writer]);
		next[header.writer]++;
		check(header.size >= sizeof(header) &&
		      at + header.size <= size);
		for (i = sizeof(header); i < header.size; i++)
			check_equal(shared->file[at + i], header.writer + 1);
	}
	for (i = 0; i < WRITERS; i++)
		check_equal(next[i], RECORDS);
}

static void check_round(void *arg)
{
	struct shared *shared = arg;
	struct berth_stat st;
	uint64_t written = atomic_load(&shared->written);

	check_equal(berth_stat(task, "/f", &st), 0);
	check_equal((long)st.size, (long)written);
	check_equal(berth_pread(task, 0, shared->file, written, 0),
		    (long)written);
	check_records(shared, written);
	check_equal(berth_ftruncate(task, 0, 0), 0);
	check_equal(
		berth_lseek(task, shared->fd < 0 ? 0 : shared->fd, 0, SEEK_SET),
		0);
	atomic_store(&shared->written, 0);
}

static void write_records(struct worker *me)
{
	struct shared *shared = me->shared;
	/* The fork shares the offset of what was open. */
	struct berth_task *mine = fork_task();
	unsigned char *buf = malloc(LONGEST + sizeof(struct header));
	int fd = shared->fd;
	uint32_t i;

	if (fd < 0)
		fd = berth_open(mine, "/f", shared->flags, 0);
	check(fd >= 0);
	do {
		for (i = 0; i < RECORDS; i++)
			write_record(me, mine, fd, i, buf);
		me->work++;
	} while (next_round(me, check_round));
	free(buf);
	berth_task_destroy(mine);
}

static void run(unsigned int flags, bool share)
{
	struct shared shared = { .flags = flags, .fd = -1 };

	check_equal(berth_open(task, "/f", O_CREAT | O_RDWR, 0644), 0);
	if (share)
		shared.fd = berth_open(task, "/f", flags, 0);
	shared.file = malloc((LONGEST + 100L) * RECORDS * WRITERS);
	race(&shared, write_records, write_records, write_records);
	free(shared.file);
}

static void several_openers_append(void **state)
{
	(void)state;
	run(O_WRONLY | O_APPEND, false);
}

static void one_open_file_appends(void **state)
{
	(void)state;
	run(O_WRONLY | O_APPEND, true);
}

static void one_offset_is_shared(void **state)
{
	(void)state;
	run(O_WRONLY, true);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(several_openers_append, create,
						destroy),
		cmocka_unit_test_setup_teardown(one_open_file_appends, create,
						destroy),
		cmocka_unit_test_setup_teardown(one_offset_is_shared, create,
						destroy),
	};

	return run_cases(argc, argv, cases);
}
