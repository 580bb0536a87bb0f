/* SPDX-License-Identifier: MIT */
/* Histories written by hand: which of them does some order explain? */
#include <errno.h>

#include "harness.h"
#include "suite/wing_gong.h"

static const struct wg_table table = { .limit = 4 };
static const struct wg_table reserving = { .limit = 4, .reserves = true };

#define CALL(kind_, from, to, ...)                                   \
	{                                                            \
		.kind = kind_, .begin = from, .end = to, __VA_ARGS__ \
	}
#define EXPLAINED(table, calls) \
	wg_linearizable(table, calls, sizeof(calls) / sizeof((calls)[0]))

static void one_after_the_other(void **state)
{
	static const struct wg_call good[] = {
		CALL(WG_OPEN, 0, 1, .object = 1),
		CALL(WG_DUP, 1, 2, .a = 0, .ret = 1),
		CALL(WG_CLOSE, 2, 3, .a = 0),
		CALL(WG_GET, 3, 4, .a = 0, .object = 0),
		CALL(WG_GET, 4, 5, .a = 1, .object = 1),
	};
	static const struct wg_call bad[] = {
		CALL(WG_OPEN, 0, 1, .object = 1),
		CALL(WG_CLOSE, 1, 2, .a = 0),
		CALL(WG_GET, 2, 3, .a = 0, .object = 1),
	};

	(void)state;
	assert_true(EXPLAINED(&table, good));
	assert_false(EXPLAINED(&table, bad));
}

static void overlapping_calls_may_come_in_any_order(void **state)
{
	static const struct wg_call good[] = {
		CALL(WG_OPEN, 0, 1, .object = 1),
		CALL(WG_CLOSE, 1, 4, .a = 0),
		CALL(WG_GET, 2, 3, .a = 0, .object = 1),
	};
	/* Not twice the one after the other. */
	static const struct wg_call bad[] = {
		CALL(WG_OPEN, 0, 1, .object = 1),
		CALL(WG_CLOSE, 1, 6, .a = 0),
		CALL(WG_GET, 2, 3, .a = 0, .object = 0),
		CALL(WG_GET, 4, 5, .a = 0, .object = 1),
	};

	(void)state;
	assert_true(EXPLAINED(&table, good));
	assert_false(EXPLAINED(&table, bad));
}

static void the_lowest_number(void **state)
{
	static const struct wg_call bad[] = {
		CALL(WG_OPEN, 0, 1, .object = 1, .ret = 1),
	};
	static const struct wg_call any[] = {
		CALL(WG_OPEN_ANY, 0, 1, .object = 1, .ret = 1),
		CALL(WG_OPEN, 1, 2, .object = 2, .ret = 0),
	};
	static const struct wg_call beyond[] = {
		CALL(WG_OPEN_ANY, 0, 1, .object = 1, .ret = 4),
	};

	(void)state;
	assert_false(EXPLAINED(&table, bad));
	assert_true(EXPLAINED(&table, any));
	assert_false(EXPLAINED(&table, beyond));
}

/* dup(0) beside close(0), which returns 0 itself. */
static void a_dup_without_its_source(void **state)
{
	static const struct wg_call calls[] = {
		CALL(WG_OPEN, 0, 1, .object = 1),
		CALL(WG_DUP, 1, 4, .a = 0, .ret = 0),
		CALL(WG_CLOSE, 2, 3, .a = 0),
	};

	(void)state;
	assert_false(EXPLAINED(&table, calls));
	/* A table that looks first and takes later does that. */
	assert_true(EXPLAINED(&reserving, calls));
}

/* A number that is taken, and not yet open. */
static void a_reserved_number(void **state)
{
	static const struct wg_call calls[] = {
		CALL(WG_OPEN, 0, 6, .object = 1, .ret = 0),
		CALL(WG_OPEN, 1, 2, .object = 2, .ret = 1),
		CALL(WG_GET, 3, 4, .a = 0, .object = 0),
	};
	static const struct wg_call dup2_onto_it[] = {
		CALL(WG_OPEN, 0, 6, .object = 1, .ret = 0),
		CALL(WG_OPEN, 1, 2, .object = 2, .ret = 1),
		CALL(WG_DUP2, 3, 4, .a = 1, .b = 0, .ret = -EBUSY),
	};

	(void)state;
	assert_false(EXPLAINED(&table, calls));
	assert_true(EXPLAINED(&reserving, calls));
	assert_false(EXPLAINED(&table, dup2_onto_it));
	assert_true(EXPLAINED(&reserving, dup2_onto_it));
}

static void bits_and_errors(void **state)
{
	static const struct wg_call calls[] = {
		CALL(WG_OPEN, 0, 1, .object = 1, .cloexec = true),
		CALL(WG_GETFD, 1, 2, .a = 0, .ret = 1),
		CALL(WG_SETFD, 2, 3, .a = 0),
		CALL(WG_GETFD, 3, 4, .a = 0, .ret = 0),
		CALL(WG_DUP3, 4, 5, .a = 0, .b = 0, .ret = -EINVAL),
		CALL(WG_DUP2, 5, 6, .a = 0, .b = 0, .ret = 0),
		CALL(WG_DUP3, 6, 7, .a = 0, .b = 3, .cloexec = true, .ret = 3),
		CALL(WG_DUPFD, 7, 8, .a = 0, .b = 3, .ret = -EMFILE),
		CALL(WG_DUPFD, 8, 9, .a = 0, .b = 4, .ret = -EINVAL),
		CALL(WG_DUPFD, 9, 10, .a = 2, .b = 4, .ret = -EBADF),
		CALL(WG_COPY, 10, 11, .copy = { { 1, 0, 0, 1 | WG_CLOEXEC } }),
	};

	(void)state;
	assert_true(EXPLAINED(&table, calls));
}

/* Two instants, of which none has both. */
static void a_copy_of_two_instants(void **state)
{
	static const struct wg_call calls[] = {
		CALL(WG_OPEN, 0, 1, .object = 1),
		CALL(WG_COPY, 1, 8, .copy = { { 1, 1 } }),
		CALL(WG_CLOSE, 2, 3, .a = 0),
		CALL(WG_OPEN, 4, 5, .object = 2),
		CALL(WG_DUP, 6, 7, .a = 0, .ret = 1),
	};

	(void)state;
	assert_false(EXPLAINED(&table, calls));
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(overlapping_calls_may_come_in_any_order),
		cmocka_unit_test(the_lowest_number),
		cmocka_unit_test(a_dup_without_its_source),
		cmocka_unit_test(a_reserved_number),
		cmocka_unit_test(bits_and_errors),
		cmocka_unit_test(a_copy_of_two_instants),
	};

	return run_cases(argc, argv, cases);
}
