/* SPDX-License-Identifier: MIT */
/*
 * Does the recorder find what is planted in a toy, and nothing else?
 *
 * The two sides run on one thread: what is shared is told from the addresses.
 */
#include "../harness.h"
#include "pairs.h"
#include "toy.h"

static struct toy toy, other;
static struct recording a, b;

static int start(void **state)
{
	(void)state;
	toy = other = (struct toy){ { 0 } };
	recording_init(&a, 256);
	recording_init(&b, 256);
	return 0;
}

static int end(void **state)
{
	(void)state;
	recorder_stop();
	recording_free(&a);
	recording_free(&b);
	return 0;
}

#define on(recording, call)                \
	do {                               \
		recorder_start(recording); \
		call;                      \
		recorder_stop();           \
	} while (0)

static size_t words(void)
{
	return conflicts(&a, &b, 8, NULL, NULL);
}

static size_t lines(void)
{
	return conflicts(&a, &b, 64, NULL, NULL);
}

static void two_writes_of_a_word_conflict(void **state)
{
	(void)state;
	on(&a, toy_write(&toy, 3));
	on(&b, toy_write(&toy, 3));
	assert_int_equal(words(), 1);
	assert_int_equal(lines(), 1);
}

static void two_writes_of_a_line_conflict_by_place(void **state)
{
	(void)state;
	on(&a, toy_write(&toy, 0));
	on(&b, toy_write(&toy, 7));
	assert_int_equal(words(), 0);
	assert_int_equal(lines(), 1);
}

static void a_read_and_a_write_conflict(void **state)
{
	(void)state;
	on(&a, toy_read(&toy, 3));
	on(&b, toy_write(&toy, 3));
	assert_int_equal(words(), 1);
}

static void two_reads_and_other_lines_do_not(void **state)
{
	(void)state;
	on(&a, toy_read(&toy, 3));
	on(&b, toy_read(&toy, 3));
	assert_int_equal(lines(), 0);
	on(&a, toy_write(&toy, 7));
	on(&b, toy_write(&toy, 8));
	assert_int_equal(lines(), 0);
}

static void atomic_accesses_write_even_in_vain(void **state)
{
	uint64_t mine = 1, yours = 1;

	(void)state;
	on(&a, toy_add(&toy, 3));
	on(&b, toy_add(&toy, 3));
	assert_int_equal(toy.word[3], 2);
	assert_int_equal(words(), 1);
	on(&a, toy_swap(&toy, 8, &mine));
	on(&b, toy_swap(&toy, 8, &yours));
	assert_int_equal(toy.word[8], 0);
	assert_int_equal(words(), 1);
}

static void ranges_are_whole(void **state)
{
	(void)state;
	toy.word[15] = 15;
	on(&a, toy_copy(&other, &toy));
	assert_int_equal(other.word[15], 15);
	on(&b, toy_write(&other, 15));
	assert_int_equal(words(), 1);
	on(&b, toy_write(&toy, 15));
	assert_int_equal(words(), 1);
	on(&a, toy_fill(&toy, 15));
	assert_int_equal(words(), 0);
	assert_int_equal(lines(), 1);
}

static void allocations_are_the_threads_own(void **state)
{
	(void)state;
	on(&a, toy_allocate(100));
	assert_true(a.count >= 4);
	on(&b, toy_write(&toy, 0));
	assert_int_equal(lines(), 0);
}

/* The innermost place is in the toy, and its caller's is known. */
static void places_are_told(void **state)
{
	size_t i;

	(void)state;
	on(&a, toy_write_inside(&toy, 3));
	for (i = 0; i < a.count; i++)
		if (a.accesses[i].address == (uintptr_t)&toy.word[3])
			break;
	assert_true(i < a.count);
	assert_true(a.accesses[i].write);
	assert_int_equal(a.accesses[i].size, 8);
	assert_true(a.accesses[i].pc[0] > program_base());
	assert_true(a.accesses[i].pc[1] > (uintptr_t)toy_write_inside);
	assert_true(a.accesses[i].pc[1] < (uintptr_t)toy_write_inside + 100);
}

static void nothing_is_recorded_when_off(void **state)
{
	(void)state;
	recorder_start(&a);
	recorder_stop();
	toy_write(&toy, 3);
	toy_copy(&other, &toy);
	assert_int_equal(a.count, 0);
}

#define with_toy(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		with_toy(two_writes_of_a_word_conflict),
		with_toy(two_writes_of_a_line_conflict_by_place),
		with_toy(a_read_and_a_write_conflict),
		with_toy(two_reads_and_other_lines_do_not),
		with_toy(atomic_accesses_write_even_in_vain),
		with_toy(ranges_are_whole),
		with_toy(allocations_are_the_threads_own),
		with_toy(places_are_told),
		with_toy(nothing_is_recorded_when_off),
	};

	return run_cases(argc, argv, cases);
}
