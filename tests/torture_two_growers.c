/* SPDX-License-Identifier: MIT */
/*
 * Two threads make a fresh table grow at the same moment, to the same size or
 * beyond each other: each gets a number of its own, finds its file there at
 * once, and nothing that was there before is lost.
 */
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	GROWERS = 2,
	STEPS = 6,
	LIMIT = 1 << 17,
};

/* Where it is to grow to, the same for both. */
static int minima[STEPS];
static int got[GROWERS][STEPS];
static unsigned int rounds;
static struct random random_of_rounds;

static void end_round(void)
{
	int g, i;

	for (g = 0; g < GROWERS; g++)
		for (i = 0; i < STEPS; i++)
			check(is_open(table, got[g][i]));
	for (i = 0; i < STEPS; i++)
		check(got[0][i] != got[1][i]);
	check_equal(berth_files_count(table), 1 + GROWERS * STEPS);
}

static void next_table(void *shared)
{
	static const int boundaries[] = { 64, 256, 1024, 4096, 16384, 65536 };
	int i;

	(void)shared;
	if (rounds++)
		end_round();
	berth_files_put_table(table);
	check_equal(berth_files_create(&table), 0);
	check_equal(berth_files_set_limit(table, LIMIT), 0);
	check_equal(probe_open(table, NULL), 0);
	for (i = 0; i < STEPS; i++)
		minima[i] = boundaries[random_below(&random_of_rounds, 6)] -
			    (int)random_below(&random_of_rounds, 3);
}

static int open_from(int min)
{
	struct probe *probe;
	int fd = berth_files_reserve(table, min, 0);

	check(fd >= min);
	check(fd < min + GROWERS * STEPS);
	probe = probe_create(NULL, 0);
	probe->fd = fd;
	berth_files_install(table, fd, &probe->file);
	check_equal((long long)probe_id_at(table, fd), (long long)probe->id);
	return fd;
}

static void grower(struct worker *worker)
{
	int *mine = got[worker->index], i, j;
	struct berth_file *file;

	while (next_round(worker, next_table))
		for (i = 0; i < STEPS; i++) {
			mine[i] = open_from(minima[i]);
			check(is_open(table, 0));
			for (j = 0; j <= i; j++) {
				file = berth_files_get(table, mine[j]);
				check(file);
				check_equal(probe_of(file)->fd, mine[j]);
				berth_file_put(file);
			}
			worker->work++;
		}
}

static void two_growers(void **state)
{
	(void)state;
	random_of_rounds = random_of(test_seed(), 100);
	race(NULL, grower, grower);
	check(rounds > 1);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(two_growers),
	};

	return run_cases(argc, argv, cases);
}
