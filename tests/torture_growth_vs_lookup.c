/* SPDX-License-Identifier: MIT */
/*
 * Growth against lookups: one thread installs files at ever higher numbers of
 * a fresh table; whoever looks meanwhile finds each file that was installed
 * before, under its number, and nothing anywhere else (F6).
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	STEPS = 200, /* files a round */
	LIMIT = 1 << 18,
};

/* A round: number n[i] is installed for all i below count. */
static struct {
	int n[STEPS];
	atomic_int count;
	struct random random;
	unsigned int rounds;
} this_round;

/* The numbers to come: ever larger strides, or one far jump first. */
static void choose_numbers(void)
{
	int i, n = 0;

	for (i = 0; i < STEPS; i++) {
		this_round.n[i] = n;
		n += 1 + (int)random_below(&this_round.random,
					   2u + (unsigned int)n / 8);
		if (n >= LIMIT - STEPS)
			n = this_round.n[i] + 1;
	}
}

static void begin_round(void *shared)
{
	(void)shared;
	if (this_round.rounds++)
		check_equal(berth_files_count(table), STEPS);
	berth_files_put_table(table);
	check_equal(berth_files_create(&table), 0);
	check_equal(berth_files_set_limit(table, LIMIT), 0);
	choose_numbers();
	atomic_store(&this_round.count, 0);
}

static void grower(struct worker *worker)
{
	struct probe *probe;
	int i, fd;

	while (next_round(worker, begin_round)) {
		for (i = 0; i < STEPS; i++) {
			fd = this_round.n[i];
			probe = probe_create(NULL, 0);
			probe->fd = fd;
			check_equal(berth_files_reserve(table, fd, 0), fd);
			berth_files_install(table, fd, &probe->file);
			atomic_store(&this_round.count, i + 1);
			worker->work++;
		}
	}
}

static void check_finds(int fd, bool installed)
{
	struct berth_file *file = berth_files_borrow(table, fd);

	check(file || !installed);
	if (!file)
		return;
	probe_check_owned(probe_of(file));
	check_equal(probe_of(file)->fd, fd);
	berth_files_return(file);
}

/* Small numbers as likely as large ones: every size of step is looked at. */
static int some_number(struct random *random)
{
	return (int)random_below(random, 1u << random_below(random, 19));
}

static void look(struct random *random, int count)
{
	if (count) {
		check_finds(this_round.n[count - 1], true);
		check_finds(
			this_round.n[random_below(random, (unsigned int)count)],
			true);
	}
	if (count < STEPS)
		check_finds(this_round.n[count], false);
	check_finds(some_number(random), false);
	check_finds((int)random_next(random), false);
}

static void looker(struct worker *worker)
{
	int count;

	while (next_round(worker, begin_round)) {
		do {
			count = atomic_load(&this_round.count);
			look(&worker->random, count);
			worker->work++;
		} while (count < STEPS);
	}
}

static void growth_vs_lookup(void **state)
{
	(void)state;
	this_round.random = random_of(test_seed(), 100);
	race(NULL, grower, looker, looker);
	check(this_round.rounds > 1);
}

/* ---- Growth waits for no borrow ---- */

static atomic_int borrowed, grown;

static void *long_borrower(void *arg)
{
	struct berth_file *file = berth_files_borrow(table, 0);

	(void)arg;
	check(file);
	atomic_store(&borrowed, 1);
	while (!atomic_load(&grown)) {
		probe_check_owned(probe_of(file));
		sched_yield();
	}
	berth_files_return(file);
	return NULL;
}

/* A table that waits for readers hangs here. */
static void growth_waits_for_no_borrow(void **state)
{
	pthread_t thread;
	int fd;

	(void)state;
	alarm(30);
	berth_files_set_limit(table, LIMIT);
	check_equal(probe_open(table, NULL), 0);
	check(!pthread_create(&thread, NULL, long_borrower, NULL));
	while (!atomic_load(&borrowed))
		sched_yield();
	for (fd = 1; fd < LIMIT; fd++)
		check_equal(berth_files_dup(table, 0), fd);
	atomic_store(&grown, 1);
	pthread_join(thread, NULL);
	alarm(0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(growth_vs_lookup),
		table_test(growth_waits_for_no_borrow),
	};

	/* Fresh memory is not zero by good luck. */
	mallopt(M_PERTURB, 0x5a);
	return run_cases(argc, argv, cases);
}
