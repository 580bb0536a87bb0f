/* SPDX-License-Identifier: MIT */
/*
 * Copies of a table share references until a number loses its file: what that
 * does to the others, and who releases the files in the end.
 */
#include <errno.h>
#include <fcntl.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	NUMBERS = 192, /* three words, the last two of them shared */
	SHARED = 64,   /* from here on */
};

/* The case's table is full of probes of one fate, and copied. */
static struct berth_files *copy;
static struct fate *fate;

static void fill_and_copy(void)
{
	int fd;

	fate = new_fate();
	for (fd = 0; fd < NUMBERS; fd++)
		assert_int_equal(probe_open(table, fate), fd);
	assert_int_equal(berth_files_fork(table, &copy), 0);
}

static unsigned int refs_at(struct berth_files *files, int fd)
{
	struct berth_file *file = berth_files_borrow(files, fd);
	unsigned int refs;

	assert_non_null(file);
	refs = berth_kref_read(&file->refs);
	berth_files_return(file);
	return refs;
}

static void close_all_but(struct berth_files *files, int spared)
{
	int fd;

	for (fd = 0; fd < NUMBERS; fd++)
		if (fd != spared)
			berth_files_close(files, fd);
}

static void copy_takes_no_references(void **state)
{
	(void)state;
	fill_and_copy();
	assert_int_equal(refs_at(table, SHARED), 1);
	assert_int_equal(refs_at(table, NUMBERS - 1), 1);
	assert_ptr_equal(berth_files_borrow(copy, NUMBERS - 1),
			 berth_files_borrow(table, NUMBERS - 1));
	berth_files_return(NULL);
	berth_files_return(NULL);
	berth_files_put_table(copy);
	assert_int_equal(fate->flushes, NUMBERS);
	assert_int_equal(fate->releases, 0);
	assert_int_equal(refs_at(table, NUMBERS - 1), 1);
}

/* Only the word that is written is counted. */
static void close_gives_the_word_its_own(void **state)
{
	(void)state;
	fill_and_copy();
	assert_int_equal(berth_files_close(table, SHARED), 0);
	assert_int_equal(refs_at(copy, SHARED), 1);
	assert_int_equal(refs_at(copy, SHARED + 1), 2);
	assert_int_equal(refs_at(copy, NUMBERS - 1), 1);
	assert_int_equal(berth_files_close(copy, SHARED), 0);
	assert_int_equal(fate->releases, 1);
	assert_int_equal(refs_at(table, SHARED + 1), 2);
	berth_files_put_table(copy);
	assert_int_equal(refs_at(table, SHARED + 1), 1);
	assert_int_equal(fate->releases, 1);
}

/* Whichever table ends first, the other has its files. */
static void the_other_keeps_its_files(void **state)
{
	struct berth_files *first;
	int round, fd;

	(void)state;
	for (round = 0; round < 2; round++) {
		fill_and_copy();
		first = round ? table : copy;
		if (round)
			table = copy;
		berth_files_put_table(first);
		berth_drain();
		assert_int_equal(fate->releases, 0);
		for (fd = 0; fd < NUMBERS; fd++)
			assert_true(is_open(table, fd));
		close_all_but(table, -1);
		assert_int_equal(fate->releases, NUMBERS);
		assert_int_equal(fate->flushes, 2 * NUMBERS);
	}
}

static void one_number_is_spared(void **state)
{
	(void)state;
	fill_and_copy();
	close_all_but(table, 100);
	close_all_but(copy, 101);
	assert_int_equal(fate->releases, NUMBERS - 2);
	assert_int_equal(refs_at(table, 100), 1);
	assert_int_equal(refs_at(copy, 101), 1);
	berth_files_put_table(copy);
	assert_int_equal(fate->releases, NUMBERS - 1);
}

/* A third table shares what is left to share, and owns what came since. */
static void copies_of_copies(void **state)
{
	struct berth_files *third;

	(void)state;
	fill_and_copy();
	assert_int_equal(berth_files_close(copy, 70), 0);
	assert_int_equal(probe_open(copy, fate), 70);
	assert_int_equal(berth_files_fork(copy, &third), 0);
	assert_int_equal(refs_at(third, 70), 1);
	assert_int_equal(refs_at(third, NUMBERS - 1), 1);
	assert_int_equal(berth_files_renumber(third, 130, 140), 140);
	berth_files_put_table(copy);
	assert_int_equal(fate->releases, 0);
	berth_files_put_table(third);
	assert_int_equal(fate->releases, 1); /* the new one at 70 */
	assert_int_equal(refs_at(table, 140), 1);
}

/* ---- Every way in which a number loses its file ---- */

static void by_close(struct berth_files *files)
{
	assert_int_equal(berth_files_close(files, 100), 0);
}

static void by_dup2(struct berth_files *files)
{
	assert_int_equal(berth_files_dup2(files, 0, 100), 100);
	assert_int_equal(berth_files_dup2(files, 99, 101), 101);
}

static void by_renumber(struct berth_files *files)
{
	assert_int_equal(berth_files_renumber(files, 100, 10), 10);
	assert_int_equal(berth_files_renumber(files, 11, 101), 101);
	assert_int_equal(berth_files_renumber(files, 150, 102), 102);
}

static void by_rights(struct berth_files *files)
{
	struct berth_rights none = { 0 };

	assert_int_equal(berth_files_limit_rights(files, 100, &none), 0);
}

static void by_exec(struct berth_files *files)
{
	assert_int_equal(berth_files_setfd(files, 100, FD_CLOEXEC), 0);
	berth_files_exec(files);
}

static void each_way_to_lose_a_file(void **state)
{
	static void (*const ways[])(struct berth_files * files) = {
		by_close, by_dup2, by_renumber, by_rights, by_exec,
	};
	size_t i;

	(void)state;
	for (i = 0; i < 2 * sizeof(ways) / sizeof(ways[0]); i++) {
		fill_and_copy();
		ways[i / 2](i % 2 ? table : copy);
		close_all_but(table, -1);
		berth_files_put_table(copy);
		berth_drain();
		assert_int_equal(fate->releases, NUMBERS);
		assert_int_equal(fate->frees, NUMBERS);
	}
}

/* A number that is opened in a shared word is its table's alone, and counted
 * in a copy of that. */
static void what_is_opened_later_is_not_shared(void **state)
{
	struct berth_files *third;

	(void)state;
	fate = new_fate();
	while (probe_open(table, fate) < NUMBERS - 10)
		;
	assert_int_equal(berth_files_fork(table, &copy), 0);
	assert_int_equal(probe_open(copy, fate), NUMBERS - 9);
	assert_false(is_open(table, NUMBERS - 9));
	assert_int_equal(berth_files_fork(copy, &third), 0);
	assert_int_equal(refs_at(third, NUMBERS - 9), 2);
	assert_int_equal(berth_files_close(copy, NUMBERS - 9), 0);
	assert_int_equal(fate->releases, 0);
	assert_int_equal(refs_at(third, NUMBERS - 9), 1);
	assert_int_equal(refs_at(third, NUMBERS - 10), 1);
	berth_files_put_table(third);
	assert_int_equal(fate->releases, 1);
	berth_files_put_table(copy);
	assert_int_equal(fate->releases, 1);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(copy_takes_no_references),
		table_test(close_gives_the_word_its_own),
		table_test(the_other_keeps_its_files),
		table_test(one_number_is_spared),
		table_test(copies_of_copies),
		table_test(each_way_to_lose_a_file),
		table_test(what_is_opened_later_is_not_shared),
	};

	return run_cases(argc, argv, cases);
}
