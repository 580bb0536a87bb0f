/* SPDX-License-Identifier: MIT */
/*
 * Two threads end the same numbers, by close or by dup2 onto them: of two
 * closes one succeeds, and each file is flushed, released and freed once (R2), whether or not a third thread uses it meanwhile.
 */
#include <errno.h>
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	FILES = 64, /* at the numbers from 1 up; 0 is what dup2 copies */
};

static struct fate fates[FILES + 1];
static int results[2][FILES + 1];
static unsigned int rounds;

/* By number and round: both close, one of the two does, or none. */
static bool closes(unsigned int worker, int fd)
{
	unsigned int kind = ((unsigned int)fd + rounds) % 4;

	return kind == 0 || kind == worker + 1;
}

static void check_results(int fd)
{
	int first = results[0][fd], second = results[1][fd];

	if (closes(0, fd) && closes(1, fd)) {
		check((first == 0 && second == -EBADF) ||
		      (first == -EBADF && second == 0));
		check(!is_open(table, fd));
		return;
	}
	check_equal(first, closes(0, fd) ? 0 : fd);
	check_equal(second, closes(1, fd) ? 0 : fd);
	if (!closes(0, fd) && !closes(1, fd))
		check(is_open(table, fd));
}

static void check_fates(unsigned long copies)
{
	int fd;

	check_equal(fates[0].flushes, 1 + copies);
	for (fd = 0; fd <= FILES; fd++) {
		if (fd)
			check_equal(fates[fd].flushes, 1);
		check_equal(fates[fd].releases, 1);
		check_equal(fates[fd].frees, 1);
	}
}

static void end_round(void)
{
	unsigned long copies = 0;
	int fd;

	for (fd = 1; fd <= FILES; fd++) {
		check_results(fd);
		copies += !closes(0, fd);
		copies += !closes(1, fd);
	}
	berth_files_put_table(table);
	berth_drain();
	check_fates(copies);
	check_equal(berth_files_create(&table), 0);
}

static void next_files(void *shared)
{
	int fd;

	(void)shared;
	if (rounds)
		end_round();
	rounds++;
	for (fd = 0; fd <= FILES; fd++) {
		fates[fd] = (struct fate){ 0 };
		check_equal(probe_open(table, &fates[fd]), fd);
	}
}

static void ender(struct worker *worker)
{
	int *result = results[worker->index];
	int fd;

	while (next_round(worker, next_files))
		for (fd = 1; fd <= FILES; fd++) {
			result[fd] = closes(worker->index, fd)
					     ? berth_files_close(table, fd)
					     : berth_files_dup2(table, 0, fd);
			worker->work++;
		}
}

/* Holds references now and then, so that the last put is sometimes here. */
static void user(struct worker *worker)
{
	struct berth_file *file;
	int fd;

	while (next_round(worker, next_files))
		for (fd = 1; fd <= FILES; fd++) {
			file = berth_files_get(table, fd);
			if (file)
				probe_check_owned(probe_of(file));
			berth_file_put(file);
			worker->work++;
		}
}

static void close_close(void **state)
{
	(void)state;
	race(NULL, ender, ender, user);
	check(rounds > 1);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(close_close),
	};

	return run_cases(argc, argv, cases);
}
