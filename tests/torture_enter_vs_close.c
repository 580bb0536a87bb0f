/* SPDX-License-Identifier: MIT */
/*
 * Uses against closes that wait: after a close has returned nobody is inside by
 * that number, however the file was taken from it, and nobody was inside an
 * object that had come to its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	NUMBERS = 3,
};

/* How many are inside by each number, of what is there since its last close. */
static struct {
	atomic_uint inside;
} ways[NUMBERS];

static struct berth_files *files;

static void user(struct worker *worker)
{
	struct berth_use use;
	int fd;

	while (keep_going()) {
		fd = (int)random_below(&worker->random, NUMBERS);
		if (berth_files_enter(files, fd, &use))
			continue;
		atomic_fetch_add(&ways[fd].inside, 1);
		probe_check_owned(probe_of(use.file));
		/* A use may sleep, or be overtaken. */
		if (random_once_in(&worker->random, 4))
			sched_yield();
		probe_check_owned(probe_of(use.file));
		atomic_fetch_sub(&ways[fd].inside, 1);
		berth_files_leave(&use);
		worker->work++;
	}
}

static void borrower(struct worker *worker)
{
	struct berth_file *file;
	int fd;

	while (keep_going()) {
		fd = (int)random_below(&worker->random, NUMBERS);
		file = berth_files_borrow(files, fd);
		if (!file)
			continue;
		atomic_fetch_add(&ways[fd].inside, 1);
		probe_check_owned(probe_of(file));
		atomic_fetch_sub(&ways[fd].inside, 1);
		berth_files_return(file);
		worker->work++;
	}
}

/* The only one that changes the table, so it knows what each number finds. */
static void closer(struct worker *worker)
{
	int fd, other;

	for (; keep_going(); worker->work++) {
		fd = (int)random_below(&worker->random, NUMBERS);
		other = (fd + 1) % NUMBERS;
		switch (random_below(&worker->random, 3)) {
		case 0:
			check_equal(berth_files_close(files, fd), 0);
			check_equal(atomic_load(&ways[fd].inside), 0);
			break;
		case 1:
			check_equal(berth_files_renumber(files, fd, NUMBERS),
				    NUMBERS);
			check_equal(atomic_load(&ways[fd].inside), 0);
			check_equal(berth_files_close(files, NUMBERS), 0);
			break;
		default:
			check_equal(berth_files_dup2(files, other, fd), fd);
			check_equal(berth_files_close(files, fd), 0);
			check_equal(atomic_load(&ways[fd].inside), 0);
		}
		check_equal(probe_open(files, NULL), fd);
	}
}

static void enter_vs_close(void **state)
{
	const struct berth_files_options options = {
		.struct_size = sizeof(options),
		.flags = BERTH_FILES_CLOSE_WAITS,
	};
	int fd;

	(void)state;
	check_equal(berth_files_create_with(&files, &options), 0);
	for (fd = 0; fd < NUMBERS; fd++)
		check_equal(probe_open(files, NULL), fd);
	race(NULL, user, closer, user, borrower);
	berth_files_put_table(files);
	check_no_probe_left();
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(enter_vs_close),
	};

	return run_cases(argc, argv, cases);
}
