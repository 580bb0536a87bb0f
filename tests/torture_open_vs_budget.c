/* SPDX-License-Identifier: MIT */
/*
 * Threads open and close by one budget.  There are never more files than it
 * allows; and when each thread keeps to its share, so that there is room at
 * every instant, none of them is ever told that there is none, whichever
 * processors the credits lie on.  Half of the time nobody can tell which
 * processor it is, so that credits wander and threads meet on one line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <berth/files.h>

#include "base/fault.h"
#include "base/sys.h"
#include "harness.h"

enum {
	THREADS = 3,
};

static struct berth_file_budget *budget;
static uint64_t maximum;
static unsigned int share; /* of a thread */
static atomic_long open_files;

static void released(struct berth_file *file)
{
	(void)file;
	atomic_fetch_sub(&open_files, 1);
}

static void give_back(struct berth_file *file)
{
	free(file);
}

static const struct berth_file_operations operations = {
	.release = released,
	.free = give_back,
};

static struct berth_file *try_to_open(void)
{
	struct berth_file *file = malloc(sizeof(*file));
	int ret;

	check(file);
	ret = berth_file_init_counted(file, &operations, O_RDWR, 0, budget);
	if (!ret) {
		check(atomic_fetch_add(&open_files, 1) < (long)maximum);
		return file;
	}
	check_equal(ret, -ENFILE);
	free(file);
	return NULL;
}

/* Between nothing and @most, and often at these. */
static void open_and_close(struct worker *worker, unsigned int most, bool sure)
{
	struct berth_file **files = calloc(most, sizeof(*files));
	unsigned int n = 0;
	bool up = true;

	check(files);
	for (; keep_going(); worker->work++) {
		if (random_once_in(&worker->random, most))
			up = !up;
		if (up ? n < most : n == 0) {
			files[n] = try_to_open();
			check(files[n] || !sure);
			n += files[n] != NULL;
		} else {
			berth_file_put(files[--n]);
		}
		if (random_once_in(&worker->random, 1000))
			check(berth_file_budget_count(budget) <= maximum);
	}
	while (n)
		berth_file_put(files[--n]);
	free(files);
}

static void within_a_share(struct worker *worker)
{
	open_and_close(worker, share, true);
}

static void beyond_it(struct worker *worker)
{
	open_and_close(worker, THREADS * share, false);
}

/* In all @thirds of what leaves the lines open for most of the time. */
static void begin(unsigned int thirds)
{
	share = 64 * sys_cpus();
	maximum = (uint64_t)thirds * share;
	check_equal(berth_file_budget_create(maximum, &budget), 0);
	sys_fail_random(test_seed(), 2);
}

static void end(void)
{
	sys_fail_none();
	check_equal(atomic_load(&open_files), 0);
	check_equal((long long)berth_file_budget_count(budget), 0);
	check_equal(berth_file_budget_destroy(budget), 0);
	berth_drain();
}

static void room_is_always_found(void **state)
{
	(void)state;
	begin(THREADS);
	race(NULL, within_a_share, within_a_share, within_a_share);
	end();
}

static void never_too_many(void **state)
{
	(void)state;
	begin(2);
	race(NULL, beyond_it, beyond_it, beyond_it);
	end();
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(room_is_always_found),
		cmocka_unit_test(never_too_many),
	};

	return run_cases(argc, argv, cases);
}
