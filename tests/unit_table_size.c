/* SPDX-License-Identifier: MIT */
/* What tables and open files cost: the sizes that are promised. */
#include <malloc.h>
#include <stdlib.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	TABLES = 100000,
	LIMIT = 100 * 1000 * 1000,
};

static void a_file_has_its_fixed_size(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct berth_file), 64);
}

/* A hundred thousand tables that share three files: under 100 MB. */
static void tables_are_small(void **state)
{
	struct berth_files **copies;
	size_t before, used;
	int i;

	(void)state;
	if (UNDER_ASAN || UNDER_TSAN)
		skip(); /* their memory is not malloc's */
	copies = calloc(TABLES, sizeof(*copies));
	for (i = 0; i < 3; i++)
		assert_int_equal(probe_open(table, NULL), i);
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	for (i = 0; i < TABLES; i++)
		assert_int_equal(berth_files_fork(table, &copies[i]), 0);
	used = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	for (i = 0; i < TABLES; i++)
		berth_files_put_table(copies[i]);
	free(copies);
	print_message("%d tables: %zu bytes each\n", TABLES, used / TABLES);
	assert_true(used < LIMIT);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(a_file_has_its_fixed_size),
		table_test(tables_are_small),
	};

	return run_cases(argc, argv, cases);
}
