/* SPDX-License-Identifier: MIT */
/*
 * Close-on-exec belongs to the number, under races as well: neighbours that
 * share a word of bits do not disturb each other, a number that is replaced
 * changes its file and its bit in one instant, and so a copy of the table, made
 * at any moment, gaps included, has the bit that belongs to the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

/* ---- Neighbours ---- */

/* In the first segment, in one of its own, and where words meet. */
static const int own[3][2] = { { 0, 64 }, { 1, 65 }, { 2, 127 } };

static void open_at(int fd, unsigned int flags)
{
	check_equal(berth_files_reserve(table, fd, flags), fd);
	berth_files_install(table, fd, &probe_create(NULL, 0)->file);
}

/* All ways to set the bit, and each is seen until the next. */
static void own_bits(struct worker *worker)
{
	struct random *random = &worker->random;
	bool set;
	int fd;

	for (; keep_going(); worker->work++) {
		fd = own[worker->index][random_below(random, 2)];
		set = random_once_in(random, 2);
		switch (random_below(random, 3)) {
		case 0:
			check_equal(berth_files_setfd(table, fd,
						      set ? FD_CLOEXEC : 0),
				    0);
			break;
		case 1:
			check_equal(berth_files_dup3(table, 3, fd,
						     set ? O_CLOEXEC : 0),
				    fd);
			break;
		default:
			check_equal(berth_files_close(table, fd), 0);
			check_equal(berth_files_getfd(table, fd), -EBADF);
			open_at(fd, set ? O_CLOEXEC : 0);
		}
		check_equal(berth_files_getfd(table, fd), set ? FD_CLOEXEC : 0);
	}
}

static void bits_of_neighbours(void **state)
{
	int i;

	(void)state;
	open_at(3, 0);
	for (i = 0; i < 3; i++) {
		open_at(own[i][0], 0);
		open_at(own[i][1], 0);
	}
	race(NULL, own_bits, own_bits, own_bits);
}

/* ---- Copies ---- */

enum {
	MARKED = 0,
	PLAIN = 1,
	REPLACED = 2, /* finds what 0 finds, marked, or what 1 finds, plain */
	FAR = 300,    /* the same, in another segment, and sometimes closed */
};

static void replace(struct worker *worker)
{
	bool set;
	int fd;

	for (; keep_going(); worker->work++) {
		set = random_once_in(&worker->random, 2);
		fd = random_once_in(&worker->random, 2) ? REPLACED : FAR;
		check_equal(berth_files_dup3(table, set ? MARKED : PLAIN, fd,
					     set ? O_CLOEXEC : 0),
			    fd);
		if (fd == FAR && random_once_in(&worker->random, 2))
			berth_files_close(table, FAR);
	}
}

static void check_bit(struct berth_files *copy, int fd)
{
	uint64_t id = probe_id_at(copy, fd);

	if (!id)
		check(fd == FAR);
	else if (id == probe_id_at(copy, MARKED))
		check_equal(berth_files_getfd(copy, fd), FD_CLOEXEC);
	else
		check_equal(berth_files_getfd(copy, fd), 0);
}

/* And exec, of a copy, closes the one and leaves the other. */
static void copy(struct worker *worker)
{
	struct berth_files *copied;
	bool marked;

	for (; keep_going(); worker->work++) {
		check_equal(berth_files_fork(table, &copied), 0);
		check_bit(copied, REPLACED);
		check_bit(copied, FAR);
		marked = berth_files_getfd(copied, REPLACED);
		berth_files_exec(copied);
		check_equal(is_open(copied, REPLACED), !marked);
		check(!berth_files_getfd(copied, PLAIN));
		berth_files_put_table(copied);
	}
}

/* Whatever changes hands meanwhile, the answer is one of the two. */
static void ask(struct worker *worker)
{
	int ret;

	for (; keep_going(); worker->work++) {
		ret = berth_files_getfd(table, REPLACED);
		check(ret == 0 || ret == FD_CLOEXEC);
		ret = berth_files_getfd(table, FAR);
		check(ret == 0 || ret == FD_CLOEXEC || ret == -EBADF);
	}
}

static void bits_of_copies(void **state)
{
	(void)state;
	open_at(MARKED, 0);
	open_at(PLAIN, 0);
	check_equal(berth_files_dup2(table, PLAIN, REPLACED), REPLACED);
	race(NULL, replace, replace, copy, ask);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(bits_of_neighbours),
		table_test(bits_of_copies),
	};

	return run_cases(argc, argv, cases);
}
