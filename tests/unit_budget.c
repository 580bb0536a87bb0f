/* SPDX-License-Identifier: MIT */
/* How many files may be open: exact at every size, and given back at release. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

static unsigned long releases;

static void release(struct berth_file *file)
{
	(void)file;
	releases++;
}

static void give_back(struct berth_file *file)
{
	free(file);
}

static const struct berth_file_operations operations = {
	.release = release,
	.free = give_back,
};

static struct berth_file *open_counted(struct berth_file_budget *budget,
				       unsigned int mode, int *ret)
{
	struct berth_file *file = malloc(sizeof(*file));

	assert_non_null(file);
	*ret = berth_file_init_counted(file, &operations, O_RDWR, mode, budget);
	if (!*ret)
		return file;
	free(file);
	return NULL;
}

static void exact_at(uint64_t max)
{
	struct berth_file **files = calloc(max, sizeof(struct berth_file *));
	struct berth_file_budget *budget;
	uint64_t i, round;
	int ret;

	assert_non_null(files);
	assert_int_equal(berth_file_budget_create(max, &budget), 0);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < max; i++) {
			files[i] = open_counted(budget, 0, &ret);
			assert_int_equal(ret, 0);
		}
		assert_int_equal(berth_file_budget_count(budget), max);
		assert_null(open_counted(budget, 0, &ret));
		assert_int_equal(ret, -ENFILE);
		/* One goes, one comes. */
		berth_file_put(files[0]);
		files[0] = open_counted(budget, 0, &ret);
		assert_int_equal(ret, 0);
		assert_int_equal(berth_file_budget_destroy(budget), -EBUSY);
		for (i = 0; i < max; i++)
			berth_file_put(files[i]);
		assert_int_equal(berth_file_budget_count(budget), 0);
	}
	assert_int_equal(berth_file_budget_destroy(budget), 0);
	free(files);
}

static void exact_at_every_size(void **state)
{
	static const uint64_t sizes[] = { 1,   2,   31,	  32,	33,  63,
					  64,  65,  96,	  127,	128, 129,
					  255, 256, 1000, 40000 };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		exact_at(sizes[i]);
	berth_drain();
}

static void no_budget_of_nothing(void **state)
{
	struct berth_file_budget *budget = NULL;

	(void)state;
	assert_int_equal(berth_file_budget_create(0, &budget), -EINVAL);
	assert_null(budget);
	assert_int_equal(berth_file_budget_destroy(NULL), 0);
	assert_int_equal(berth_file_budget_create(UINT64_MAX, &budget), 0);
	assert_int_equal(berth_file_budget_count(budget), 0);
	assert_int_equal(berth_file_budget_destroy(budget), 0);
}

/* At the last put, though a borrow goes on; or with the release that waits. */
static void given_back_at_release(void **state)
{
	struct berth_file_budget *budget;
	struct berth_file *file;
	int ret;

	(void)state;
	releases = 0;
	assert_int_equal(berth_file_budget_create(1, &budget), 0);
	file = open_counted(budget, 0, &ret);
	assert_int_equal(berth_files_receive(table, file, 0, NULL), 0);
	berth_file_put(file);
	assert_int_equal(berth_files_dup(table, 0), 1);
	assert_int_equal(berth_files_close(table, 0), 0);
	assert_int_equal(berth_file_budget_count(budget), 1);
	assert_int_equal(berth_files_close(table, 1), 0);
	assert_int_equal(berth_file_budget_count(budget), 0);

	file = open_counted(budget, BERTH_FILE_RELEASE_WAITS, &ret);
	berth_file_put(file);
	assert_int_equal(releases, 1);
	assert_null(open_counted(budget, 0, &ret));
	assert_int_equal(ret, -ENFILE);
	berth_drain();
	assert_int_equal(releases, 2);
	assert_int_equal(berth_file_budget_count(budget), 0);
	assert_int_equal(berth_file_budget_destroy(budget), 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(exact_at_every_size),
		table_test(no_budget_of_nothing),
		table_test(given_back_at_release),
	};

	return run_cases(argc, argv, cases);
}
