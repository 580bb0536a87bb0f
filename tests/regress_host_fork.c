/* SPDX-License-Identifier: MIT */
/*
 * The host process forks while a callback closes numbers of another table, and
 * while a borrower waits for a table's lock.  Reclamation was brought to rest last,
 * with all tables locked: whoever held its lock and wanted a table's waited for the
 * forker for ever, and he for it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <berth/files.h>

#include "harness.h"

enum {
	TOO_LONG = 60, /* seconds, for a second's work */
};

static struct berth_files *table, *other;

/* A file that has a number of another table, which it closes at its end. */
struct owner {
	struct berth_file file;
	int owned;
};

static void plain_free(struct berth_file *file)
{
	free(file);
}

static const struct berth_file_operations plain_ops = { .free = plain_free };

static void owner_free(struct berth_file *file)
{
	berth_files_close(other, ((struct owner *)file)->owned);
	free(file);
}

static const struct berth_file_operations owner_ops = { .free = owner_free };

static int open_in(struct berth_files *files,
		   const struct berth_file_operations *ops, int owned)
{
	struct owner *owner = calloc(1, sizeof(*owner));
	int fd = berth_files_reserve(files, 0, 0);

	check(owner && fd >= 0);
	owner->owned = owned;
	berth_file_init(&owner->file, ops, O_RDWR, 0);
	berth_files_install(files, fd, &owner->file);
	return fd;
}

static void open_and_close(struct worker *me)
{
	while (keep_going()) {
		int owned = open_in(other, &plain_ops, 0);

		berth_files_close(table, open_in(table, &owner_ops, owned));
		me->work++;
	}
}

static void ask_inside_a_borrow(struct worker *me)
{
	int fd = open_in(table, &plain_ops, 0);

	while (keep_going()) {
		struct berth_file *file = berth_files_borrow(table, fd);

		check(file);
		check_equal(berth_files_setfd(table, fd, 0), 0);
		berth_files_return(file);
		me->work++;
	}
	berth_files_close(table, fd);
}

/* That it came to be is all that is asked of it. */
static void be_the_child(void)
{
}

static void fork_again_and_again(struct worker *me)
{
	fork_until_over(me, be_the_child);
}

static void forks_do_not_wait_for_themselves(void **state)
{
	(void)state;
	if (forks_mislead_tools())
		skip(); /* see harness.h */
	alarm(TOO_LONG);
	berth_files_create(&table);
	berth_files_create(&other);
	berth_files_set_limit(other, 1u << 20);
	race(NULL, open_and_close, ask_inside_a_borrow, fork_again_and_again);
	berth_files_put_table(table);
	berth_drain();
	berth_files_put_table(other);
	berth_drain();
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(forks_do_not_wait_for_themselves),
	};

	return run_cases(argc, argv, cases);
}
