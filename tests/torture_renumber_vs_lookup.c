/* SPDX-License-Identifier: MIT */
/*
 * A renumber is one instant for lookups: whoever has not found the file by its
 * old number finds it by the new one, and whoever found it by the new one does
 * not find it by the old one any more.
 *
 * A file goes from number A to B by a renumber, and back by dup2 and a close,
 * which leaves it at both for a while; the rounds tell which way it goes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

/* In words of their own, one of them a chunk's when @chunks. */
static int number_a, number_b;
/* Even: the file is at A, and may be on its way to B; odd: at B, or back. */
static atomic_ulong rounds;

static void mover(struct worker *worker)
{
	uint64_t id = probe_id_at(table, number_a);

	for (; keep_going(); worker->work++) {
		/* What is replaced now and then is another file. */
		if (random_once_in(&worker->random, 2))
			check_equal(berth_files_dup2(table, 0, number_b),
				    number_b);
		check_equal(berth_files_renumber(table, number_a, number_b),
			    number_b);
		atomic_fetch_add(&rounds, 1);
		check(probe_id_at(table, number_b) == id);
		check_equal(berth_files_dup2(table, number_b, number_a),
			    number_a);
		check_equal(berth_files_close(table, number_b), 0);
		atomic_fetch_add(&rounds, 1);
	}
}

/* Two lookups within one round that began with the file at A. */
static bool one_way_round(unsigned long before)
{
	return !(before & 1) && atomic_load(&rounds) == before;
}

static uint64_t moved_id;

static bool is_at(int fd)
{
	return probe_id_at(table, fd) == moved_id;
}

static void old_then_new(struct worker *worker)
{
	unsigned long before;
	bool at_a, at_b;

	while (keep_going()) {
		before = atomic_load(&rounds);
		at_a = is_at(number_a);
		at_b = is_at(number_b);
		if (!one_way_round(before))
			continue;
		check(at_a || at_b);
		worker->work++;
	}
}

static void new_then_old(struct worker *worker)
{
	unsigned long before;
	bool at_a, at_b;

	while (keep_going()) {
		before = atomic_load(&rounds);
		at_b = is_at(number_b);
		at_a = is_at(number_a);
		if (!one_way_round(before))
			continue;
		check(!(at_b && at_a));
		worker->work++;
	}
}

/* Owned references, and rights, go through the same detour. */
static void getter(struct worker *worker)
{
	struct berth_rights rights;
	struct berth_file *file;
	int fd;

	for (; keep_going(); worker->work++) {
		fd = random_once_in(&worker->random, 2) ? number_a : number_b;
		file = berth_files_get(table, fd);
		if (file)
			probe_check_owned(probe_of(file));
		berth_file_put(file);
		if (!berth_files_rights(table, fd, &rights))
			check(rights.base == BERTH_RIGHTS_ALL);
		fd = berth_files_dup(table, fd);
		if (fd >= 0)
			check_equal(berth_files_close(table, fd), 0);
	}
}

static void renumber_between(int a, int b)
{
	atomic_store(&rounds, 0);
	number_a = a;
	number_b = b;
	check_equal(probe_open(table, NULL), 0);
	check_equal(probe_open(table, NULL), 1);
	check_equal(berth_files_renumber(table, 1, a), a);
	moved_id = probe_id_at(table, a);
	race(NULL, mover, old_then_new, new_then_old, getter);
	check_equal(berth_files_close(table, a), 0);
	check_equal(berth_files_close(table, 0), 0);
	check_equal(berth_files_count(table), 0);
	check_no_probe_left();
}

static void renumber_vs_lookup(void **state)
{
	(void)state;
	renumber_between(5, 13);
}

static void renumber_out_of_a_chunk(void **state)
{
	int any = berth_files_reserve(table, 0, BERTH_ANYFD);

	(void)state;
	berth_files_unreserve(table, any);
	renumber_between(any, 13);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(renumber_vs_lookup),
		table_test(renumber_out_of_a_chunk),
	};

	return run_cases(argc, argv, cases);
}
