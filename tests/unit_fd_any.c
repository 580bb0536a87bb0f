/* SPDX-License-Identifier: MIT */
/* Any free number: which one it may be, and what it changes for the others. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	LIMIT = 1024, /* of a new table */
	WORD = 64,
	RING = 200,
};

static int reserve_any(void)
{
	return berth_files_reserve(table, 0, BERTH_ANYFD);
}

static int open_any(unsigned int flags)
{
	struct probe *probe;
	int fd = berth_files_reserve(table, 0, BERTH_ANYFD | flags);

	assert_true(fd >= 0);
	probe = probe_create(NULL, 0);
	berth_files_install(table, fd, &probe->file);
	return fd;
}

static void unreserve_all(void)
{
	int fd;

	for (fd = 0; fd < LIMIT; fd++)
		berth_files_unreserve(table, fd);
}

/* ---- Which number ---- */

static void all_numbers_once(void **state)
{
	bool seen[LIMIT] = { false };
	int i, fd;

	(void)state;
	for (i = 0; i < LIMIT; i++) {
		fd = reserve_any();
		assert_in_range(fd, 0, LIMIT - 1);
		assert_false(seen[fd]);
		seen[fd] = true;
	}
	assert_int_equal(berth_files_count(table), LIMIT);
	assert_int_equal(reserve_any(), -EMFILE);
	assert_int_equal(berth_files_reserve(table, 0, 0), -EMFILE);
	unreserve_all();
	assert_int_equal(berth_files_count(table), 0);
}

static void a_full_table_gives_what_comes_back(void **state)
{
	static const int freed[] = { 0, 63, 64, 255, 256, 300, 511, 1023 };
	size_t i;

	(void)state;
	while (reserve_any() >= 0)
		;
	for (i = 0; i < sizeof(freed) / sizeof(freed[0]); i++) {
		berth_files_unreserve(table, freed[i]);
		assert_int_equal(reserve_any(), freed[i]);
	}
	unreserve_all();
}

static void a_small_limit_is_kept(void **state)
{
	unsigned int limit, i;
	int fd;

	(void)state;
	for (limit = 0; limit < 3 * WORD; limit += 13) {
		assert_int_equal(berth_files_set_limit(table, limit), 0);
		for (i = 0; i < limit; i++)
			assert_in_range(reserve_any(), 0, limit - 1);
		assert_int_equal(reserve_any(), -EMFILE);
		for (fd = 0; fd < (int)limit; fd++)
			berth_files_unreserve(table, fd);
	}
}

static void a_minimum_asks_for_the_lowest(void **state)
{
	(void)state;
	assert_int_equal(berth_files_reserve(table, 70, BERTH_ANYFD), 70);
	assert_int_equal(berth_files_reserve(table, 70, BERTH_ANYFD), 71);
	assert_int_equal(berth_files_reserve(table, -1, BERTH_ANYFD), -EINVAL);
	berth_files_unreserve(table, 70);
	berth_files_unreserve(table, 71);
}

/* Numbers that are given back are used again, in whatever order they come. */
static void numbers_are_used_again(void **state)
{
	int ring[RING], i, highest = 0;

	(void)state;
	assert_int_equal(berth_files_set_limit(table, 1 << 20), 0);
	for (i = 0; i < RING; i++)
		ring[i] = reserve_any();
	for (i = 0; i < 100 * RING; i++) {
		berth_files_unreserve(table, ring[i % RING]);
		ring[i % RING] = reserve_any();
		if (ring[i % RING] > highest)
			highest = ring[i % RING];
	}
	assert_in_range(highest, 1, 16 * RING);
	for (i = 0; i < RING; i++)
		berth_files_unreserve(table, ring[i]);
}

/* They keep out of the way of the lowest ones. */
static void numbers_far_from_the_lowest(void **state)
{
	int fd;

	(void)state;
	for (fd = 0; fd < 6 * WORD; fd++)
		assert_int_equal(berth_files_reserve(table, 0, 0), fd);
	assert_int_equal(reserve_any(), 10 * WORD);
	for (fd = 0; fd < 6 * WORD; fd++)
		berth_files_unreserve(table, fd);
	berth_files_unreserve(table, 10 * WORD);
}

/* ---- The lowest number beside them ---- */

static void take_lowest(int from, int to)
{
	int fd;

	for (fd = from; fd < to; fd++)
		assert_int_equal(berth_files_reserve(table, 0, 0), fd);
}

static void the_lowest_is_the_lowest_wherever_it_is(void **state)
{
	int any = reserve_any(), base = any / WORD * WORD;

	(void)state;
	assert_int_equal(any, base);
	assert_true(base >= WORD);
	take_lowest(0, base);
	/* The chunk's own numbers are free for everybody. */
	take_lowest(base + 1, base + 3 * WORD);
	/* The search went past the chunk; what is freed there comes first. */
	berth_files_unreserve(table, base + 2 * WORD);
	berth_files_unreserve(table, base + 30);
	berth_files_unreserve(table, base + 7);
	take_lowest(base + 7, base + 8);
	berth_files_unreserve(table, base - 1);
	take_lowest(base - 1, base);
	take_lowest(base + 30, base + 31);
	take_lowest(base + 2 * WORD, base + 2 * WORD + 1);
	take_lowest(base + 3 * WORD, base + 3 * WORD + 1);
	for (any = 0; any <= base + 3 * WORD; any++)
		berth_files_unreserve(table, any);
}

/* A chunk that was passed, emptied and passed again is found each time. */
static void a_chunk_is_passed_more_than_once(void **state)
{
	int base = reserve_any() / WORD * WORD, round, fd;

	(void)state;
	take_lowest(0, base);
	take_lowest(base + 1, base + 2 * WORD);
	for (round = 0; round < 3; round++) {
		for (fd = base + WORD - 1; fd >= base; fd--)
			berth_files_unreserve(table, fd);
		assert_in_range(reserve_any(), base, LIMIT - 1);
		berth_files_unreserve(table, base);
		for (fd = base; fd < base + WORD; fd++)
			assert_int_equal(berth_files_reserve(table, 0, 0), fd);
	}
	for (fd = 0; fd < base + 2 * WORD; fd++)
		berth_files_unreserve(table, fd);
}

static void a_minimum_looks_into_chunks(void **state)
{
	int any = reserve_any(), base = any / WORD * WORD;

	(void)state;
	assert_int_equal(berth_files_reserve(table, base, 0), base + 1);
	assert_int_equal(berth_files_reserve(table, base + 5, 0), base + 5);
	assert_int_equal(berth_files_reserve(table, base + 63, 0), base + 63);
	assert_int_equal(berth_files_reserve(table, base + 63, 0), base + 64);
	/* Nothing was passed for that. */
	assert_int_equal(berth_files_reserve(table, 0, 0), 0);
	berth_files_unreserve(table, 0);
	berth_files_unreserve(table, base);
	berth_files_unreserve(table, base + 1);
	berth_files_unreserve(table, base + 5);
	berth_files_unreserve(table, base + 63);
	berth_files_unreserve(table, base + 64);
}

/* ---- What else is done to numbers ---- */

static void they_are_numbers_like_others(void **state)
{
	int a = open_any(0), b = open_any(O_CLOEXEC), c;
	uint64_t id = probe_id_at(table, a);

	(void)state;
	assert_int_equal(berth_files_getfd(table, a), 0);
	assert_int_equal(berth_files_getfd(table, b), FD_CLOEXEC);
	assert_int_equal(berth_files_setfd(table, a, FD_CLOEXEC), 0);
	assert_int_equal(berth_files_setfd(table, b, 0), 0);
	assert_int_equal(berth_files_getfd(table, a), FD_CLOEXEC);
	assert_int_equal(berth_files_dup(table, a), 0);
	assert_int_equal(berth_files_dup2(table, a, b + 1), b + 1);
	assert_int_equal(berth_files_dup2(table, 0, b), b);
	assert_int_equal(probe_id_at(table, b), id);
	assert_int_equal(berth_files_count(table), 4);
	berth_files_exec(table);
	assert_false(is_open(table, a));
	assert_int_equal(berth_files_renumber(table, b, a), a);
	assert_int_equal(berth_files_renumber(table, a, 1), 1);
	assert_int_equal(berth_files_renumber(table, 1, b), b);
	assert_int_equal(probe_id_at(table, b), id);
	c = berth_files_reserve(table, a, 0);
	assert_int_equal(c, a);
	assert_int_equal(berth_files_dup2(table, b, a), -EBUSY);
	berth_files_unreserve(table, a);
	assert_int_equal(berth_files_close(table, b), 0);
	assert_int_equal(berth_files_close(table, b), -EBADF);
	assert_int_equal(berth_files_close(table, b + 1), 0);
	assert_int_equal(berth_files_close(table, 0), 0);
	assert_int_equal(berth_files_count(table), 0);
}

static void a_copy_has_them(void **state)
{
	int a = open_any(O_CLOEXEC), reserved = reserve_any();
	struct berth_files *copy;

	(void)state;
	assert_int_equal(berth_files_fork(table, &copy), 0);
	assert_int_equal(probe_id_at(copy, a), probe_id_at(table, a));
	assert_int_equal(berth_files_getfd(copy, a), FD_CLOEXEC);
	assert_int_equal(berth_files_count(copy), 1);
	assert_int_equal(berth_files_reserve(copy, a, 0), reserved);
	berth_files_put_table(copy);
	berth_files_unreserve(table, reserved);
	assert_int_equal(berth_files_close(table, a), 0);
}

static void a_table_ends_with_them(void **state)
{
	struct fate *fate = new_fate();
	struct berth_files *files;
	struct probe *probe;
	int i, fd;

	(void)state;
	assert_int_equal(berth_files_create(&files), 0);
	for (i = 0; i < 2 * WORD; i++) {
		fd = berth_files_reserve(files, 0, BERTH_ANYFD);
		probe = probe_create(fate, 0);
		berth_files_install(files, fd, &probe->file);
	}
	berth_files_put_table(files);
	assert_int_equal(atomic_load(&fate->releases), 2 * WORD);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(all_numbers_once),
		table_test(a_full_table_gives_what_comes_back),
		table_test(a_small_limit_is_kept),
		table_test(a_minimum_asks_for_the_lowest),
		table_test(numbers_are_used_again),
		table_test(numbers_far_from_the_lowest),
		table_test(the_lowest_is_the_lowest_wherever_it_is),
		table_test(a_chunk_is_passed_more_than_once),
		table_test(a_minimum_looks_into_chunks),
		table_test(they_are_numbers_like_others),
		table_test(a_copy_has_them),
		table_test(a_table_ends_with_them),
	};

	return run_cases(argc, argv, cases);
}
