/* SPDX-License-Identifier: MIT */
/*
 * Invariant V1: two readers of one offset never get the same bytes, and
 * together they get all.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "fixture.h"
#include "harness.h"

enum {
	NUMBERS = 20000, /* the file is this many numbers, in order */
	MOST = 8,	 /* numbers that one read asks for */
};

struct shared {
	int fd;
	atomic_uchar seen[NUMBERS];
};

static void check_round(void *arg)
{
	struct shared *shared = arg;
	unsigned int i;

	for (i = 0; i < NUMBERS; i++) {
		check_equal(atomic_load(&shared->seen[i]), 1);
		atomic_store(&shared->seen[i], 0);
	}
	check_equal(berth_lseek(task, shared->fd, 0, SEEK_SET), 0);
}

static void read_all(struct worker *me)
{
	struct shared *shared = me->shared;
	struct berth_task *mine = fork_task();
	uint64_t *numbers = malloc(MOST * sizeof(*numbers));
	ssize_t got;
	size_t i;

	do {
		do {
			size_t count = 1 + random_below(&me->random, MOST);

			got = berth_read(mine, shared->fd, numbers,
					 count * sizeof(*numbers));
			check(got >= 0 && got % (int)sizeof(*numbers) == 0);
			for (i = 0; i < (size_t)got / sizeof(*numbers); i++) {
				check(numbers[i] < NUMBERS);
				check(i == 0 ||
				      numbers[i] == numbers[i - 1] + 1);
				atomic_fetch_add(&shared->seen[numbers[i]], 1);
			}
			me->work += got > 0;
		} while (got > 0);
	} while (next_round(me, check_round));
	free(numbers);
	berth_task_destroy(mine);
}

static void each_byte_goes_to_one_reader(void **state)
{
	static struct shared shared;
	uint64_t *numbers = malloc(NUMBERS * sizeof(*numbers));
	size_t i;

	(void)state;
	for (i = 0; i < NUMBERS; i++)
		numbers[i] = i;
	shared.fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);
	check_equal(berth_pwrite(task, shared.fd, numbers,
				 NUMBERS * sizeof(*numbers), 0),
		    NUMBERS * sizeof(*numbers));
	free(numbers);
	race(&shared, read_all, read_all, read_all);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(each_byte_goes_to_one_reader,
						create, destroy),
	};

	return run_cases(argc, argv, cases);
}
