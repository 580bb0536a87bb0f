/* SPDX-License-Identifier: MIT */
/*
 * Invariant V2: a reader sees no byte that was never written, while the file is
 * cut, grown, punched, given room and written again, in one piece or several,
 * and pages change hands between files.
 *
 * Byte i of the file is pattern(i), or zero where it was cut off.  Another file
 * holds a byte that is neither.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "harness.h"

enum {
	PAGES = 6,
	SIZE = PAGES * PAGE,
	FOREIGN = 0xee,
};

/* What the truncating thread lets the readers know. */
struct shared {
	/* Odd: the file is @cut bytes of pattern, then zeros up to SIZE. */
	atomic_uint phase;
	atomic_uint cut;
	unsigned char pattern[SIZE];
};

static bool is_zero(const unsigned char *data, size_t size)
{
	return !size || (!data[0] && !memcmp(data, data + 1, size - 1));
}

static void cut_and_regrow(struct worker *me, struct berth_task *mine, int fd)
{
	struct shared *shared = me->shared;
	unsigned int cut = random_below(&me->random, SIZE);

	if (random_once_in(&me->random, 2)) {
		check_equal(berth_ftruncate(mine, fd, cut), 0);
		check_equal(berth_ftruncate(mine, fd, SIZE), 0);
	} else {
		check_equal(berth_fallocate(mine, fd,
					    BERTH_FALLOC_PUNCH_HOLE |
						    BERTH_FALLOC_KEEP_SIZE,
					    cut, SIZE - cut),
			    0);
	}
	if (random_once_in(&me->random, 2))
		check_equal(berth_fallocate(mine, fd, 0, cut, SIZE - cut), 0);
	atomic_store(&shared->cut, cut);
}

/* All of the pattern, in up to five pieces. */
static void write_again(struct worker *me, struct berth_task *mine, int fd)
{
	struct shared *shared = me->shared;
	unsigned int n = 1 + random_below(&me->random, 5), i;
	size_t at = 0, end;
	struct iovec iov[5];

	for (i = 0; i < n; i++) {
		end = i + 1 < n ? at + random_below(&me->random,
						    (unsigned int)(SIZE - at))
				: SIZE;
		iov[i].iov_base = shared->pattern + at;
		iov[i].iov_len = end - at;
		at = end;
	}
	check_equal(berth_pwritev(mine, fd, iov, (int)n, 0), SIZE);
}

static void truncate_and_write(struct worker *me)
{
	struct shared *shared = me->shared;
	struct berth_task *mine = fork_task();
	int fd = berth_open(mine, "/f", O_RDWR, 0);

	while (keep_going()) {
		cut_and_regrow(me, mine, fd);
		atomic_fetch_add(&shared->phase, 1);
		me->work++;
		if (random_once_in(&me->random, 2))
			sched_yield();
		atomic_fetch_add(&shared->phase, 1);
		write_again(me, mine, fd);
	}
	berth_task_destroy(mine);
}

static void check_bytes(const struct shared *shared, const unsigned char *data,
			size_t size, size_t pos)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (data[i])
			check_equal(data[i], shared->pattern[pos + i]);
}

/* All the while the file was as the truncating thread had left it. */
static void check_cut(const struct shared *shared, const unsigned char *data,
		      size_t size, size_t pos, size_t wanted, size_t cut)
{
	size_t kept = pos < cut ? cut - pos : 0;

	check_equal((long)size,
		    (long)(pos + wanted > SIZE ? SIZE - pos : wanted));
	if (kept > size)
		kept = size;
	check(!memcmp(data, shared->pattern + pos, kept));
	check(is_zero(data + kept, size - kept));
}

static void read_pieces(struct worker *me)
{
	struct shared *shared = me->shared;
	struct berth_task *mine = fork_task();
	unsigned char *data = malloc(SIZE);
	int fd = berth_open(mine, "/f", O_RDONLY, 0);

	while (keep_going()) {
		size_t pos = random_below(&me->random, SIZE);
		size_t size = 1 + random_below(&me->random, SIZE);
		unsigned int phase = atomic_load(&shared->phase);
		unsigned int cut = atomic_load(&shared->cut);
		ssize_t got = berth_pread(mine, fd, data, size, (long)pos);

		check(got >= 0);
		check_bytes(shared, data, (size_t)got, pos);
		if (phase % 2 && atomic_load(&shared->phase) == phase) {
			check_cut(shared, data, (size_t)got, pos, size, cut);
			me->work++;
		}
	}
	free(data);
	berth_task_destroy(mine);
}

/* Fill what pages are free with something else. */
static void use_other_pages(struct worker *me)
{
	struct berth_task *mine = fork_task();
	unsigned char *data = malloc(SIZE);

	memset(data, FOREIGN, SIZE);
	while (keep_going()) {
		int fd = berth_open(mine, "/other", O_CREAT | O_RDWR, 0644);

		check_equal(berth_write(mine, fd, data, SIZE), SIZE);
		check_equal(berth_unlink(mine, "/other"), 0);
		check_equal(berth_close(mine, fd), 0);
		me->work++;
	}
	free(data);
	berth_task_destroy(mine);
}

static void prepare(struct shared *shared)
{
	size_t i;
	int fd;

	for (i = 0; i < SIZE; i++)
		shared->pattern[i] = (unsigned char)(1 + i % 199);
	atomic_init(&shared->phase, 0);
	atomic_init(&shared->cut, SIZE);
	fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
	check_equal(berth_write(task, fd, shared->pattern, SIZE), SIZE);
}

static void readers_see_the_pattern_or_zero(void **state)
{
	static struct shared shared;

	(void)state;
	prepare(&shared);
	race(&shared, truncate_and_write, read_pieces, read_pieces,
	     use_other_pages);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(readers_see_the_pattern_or_zero,
						create, destroy),
	};

	return run_cases(argc, argv, cases);
}
