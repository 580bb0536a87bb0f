/* SPDX-License-Identifier: MIT */
/*
 * Numbers are revoked while others dup2 onto them and close them: every file is
 * released once, a good file is never taken away, and once the revocation has
 * returned no number finds a refused file that was in the table before.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	GOOD, /* always there, and never refused */
	BAD,  /* opened anew by the revoker, refused by him */
	FIRST,
	LAST = 70, /* across a word and a segment */
};

static struct fate *bad;
static struct probe *null;

static bool is_bad(int fd, struct berth_file *file, void *arg)
{
	(void)fd;
	(void)arg;
	probe_check_owned(probe_of(file));
	return probe_of(file)->fate == bad;
}

static int any_number(struct random *random)
{
	return FIRST + (int)random_below(random, LAST - FIRST + 1);
}

static void open_bad(void)
{
	check_equal(berth_files_reserve(table, BAD, 0), BAD);
	berth_files_install(table, BAD, &probe_create(bad, 0)->file);
}

static int see(int fd, struct berth_file *file, void *arg)
{
	return is_bad(fd, file, arg);
}

/* Only copies of what BAD finds are made, so that none escapes. */
static void revoke(struct worker *worker)
{
	bool with_null;

	for (; keep_going(); worker->work++) {
		open_bad();
		with_null = random_once_in(&worker->random, 2);
		check(berth_files_revoke(table, is_bad, NULL,
					 with_null ? &null->file : NULL) > 0);
		if (with_null)
			check_equal(berth_files_close(table, BAD), 0);
		check_equal(berth_files_getfd(table, BAD), -EBADF);
		check_equal(berth_files_iterate(table, 0, see, NULL), 0);
	}
}

/* Copies, never closes of what is bad: those would let it escape. */
static void copy(struct worker *worker)
{
	int ret, from;

	for (; keep_going(); worker->work++) {
		from = random_once_in(&worker->random, 4) ? GOOD : BAD;
		ret = berth_files_dup2(table, from,
				       any_number(&worker->random));
		check(ret >= FIRST || (ret == -EBADF && from == BAD));
	}
}

static void revoke_vs_copies(void **state)
{
	(void)state;
	bad = new_fate();
	null = probe_create(NULL, 0);
	check_equal(probe_open(table, NULL), GOOD);
	race(NULL, revoke, copy, copy);
	berth_file_put(&null->file);
}

/* Anything goes: what is taken away is released once, and the good file stays. */
static void revoke_any(struct worker *worker)
{
	for (; keep_going(); worker->work++)
		berth_files_revoke(table, is_bad, NULL,
				   random_once_in(&worker->random, 2)
					   ? &null->file
					   : NULL);
}

static void move(struct worker *worker)
{
	struct random *random = &worker->random;
	struct probe *probe;
	int fd, ret;

	for (; keep_going(); worker->work++) {
		fd = any_number(random);
		switch (random_below(random, 4)) {
		case 0:
			berth_files_close(table, fd);
			break;
		case 1:
			ret = berth_files_dup2(table, GOOD, fd);
			check(ret == fd || ret == -EBUSY);
			break;
		case 2:
			berth_files_dup2(table, any_number(random), fd);
			break;
		default:
			probe = probe_create(bad, 0);
			fd = berth_files_receive(table, &probe->file, 0, NULL);
			check(fd > GOOD || fd == -EMFILE);
			berth_file_put(&probe->file);
		}
	}
}

static void revoke_vs_all(void **state)
{
	(void)state;
	bad = new_fate();
	null = probe_create(NULL, 0);
	berth_files_set_limit(table, LAST + 1);
	check_equal(probe_open(table, NULL), GOOD);
	race(NULL, revoke_any, revoke_any, move, move);
	check(is_open(table, GOOD));
	berth_files_revoke(table, is_bad, NULL, NULL);
	check_equal(atomic_load(&bad->releases), atomic_load(&bad->made));
	berth_file_put(&null->file);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(revoke_vs_copies),
		table_test(revoke_vs_all),
	};

	return run_cases(argc, argv, cases);
}
