/* SPDX-License-Identifier: MIT */
/*
 * The copy of a table against installs, close-on-exec and closes: one thread
 * walks a table through known states, a step at a time; every copy must be one
 * of the states that the table was in between the copy's begin and end (F7).
 *
 * A cycle of 4 * NUMBERS steps, always from the lowest number up: install all
 * (they were reserved before), mark all, unmark all, close all.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	NUMBERS = 130,
	CYCLE = 4 * NUMBERS,
};

enum phase {
	INSTALL,
	MARK,
	UNMARK,
	CLOSE,
};

/* Steps of the walk since the start. */
static atomic_ulong started, done;

/* How often a number lost its file, in the table and in copies. */
static atomic_ulong closes;

/* How many copies were taken amid installs. */
static atomic_ulong amid_installs;

static void take_step(unsigned long step)
{
	int fd = (int)(step % NUMBERS);

	switch ((enum phase)(step % CYCLE / NUMBERS)) {
	case INSTALL:
		berth_files_install(table, fd, &probe_create(NULL, 0)->file);
		break;
	case MARK:
		check_equal(berth_files_setfd(table, fd, FD_CLOEXEC), 0);
		break;
	case UNMARK:
		check_equal(berth_files_setfd(table, fd, 0), 0);
		break;
	case CLOSE:
		check_equal(berth_files_close(table, fd), 0);
		atomic_fetch_add(&closes, 1);
	}
}

static void walker(struct worker *worker)
{
	unsigned long step;
	int fd;

	for (step = 0; keep_going_until(&amid_installs) || step % CYCLE;
	     step++) {
		if (step % CYCLE == 0)
			for (fd = 0; fd < NUMBERS; fd++)
				check_equal(berth_files_reserve(table, 0, 0),
					    fd);
		atomic_store(&started, step + 1);
		take_step(step);
		atomic_store(&done, step + 1);
		worker->work++;
	}
}

/* What getfd says of @fd when so many steps are done. */
static int state_after(unsigned long steps, int fd)
{
	enum phase phase = (enum phase)(steps % CYCLE / NUMBERS);
	bool stepped = fd < (int)(steps % NUMBERS);

	switch (phase) {
	case INSTALL:
		return stepped ? 0 : -EBADF;
	case MARK:
		return stepped ? FD_CLOEXEC : 0;
	case UNMARK:
		return stepped ? 0 : FD_CLOEXEC;
	default:
		return stepped ? -EBADF : 0;
	}
}

static bool is_state_after(const int *state, unsigned long steps)
{
	int fd;

	for (fd = 0; fd < NUMBERS; fd++)
		if (state[fd] != state_after(steps, fd))
			return false;
	return true;
}

static unsigned int read_state(struct berth_files *copy, int *state)
{
	unsigned int open = 0;
	int fd;

	for (fd = 0; fd < NUMBERS; fd++) {
		state[fd] = berth_files_getfd(copy, fd);
		check(is_open(copy, fd) == (state[fd] >= 0));
		open += state[fd] >= 0;
	}
	return open;
}

static void forker(struct worker *worker)
{
	unsigned long from, to;
	struct berth_files *copy;
	int state[NUMBERS];
	unsigned int open;

	for (; keep_going_until(&amid_installs); worker->work++) {
		from = atomic_load(&done);
		check_equal(berth_files_fork(table, &copy), 0);
		to = atomic_load(&started);

		open = read_state(copy, state);
		/* Numbers that were reserved are free in the copy. */
		check_equal(berth_files_count(copy), open);
		if (from / NUMBERS % 4 == INSTALL && from != to)
			atomic_fetch_add(&amid_installs, 1);
		while (from < to && !is_state_after(state, from))
			from++;
		check(is_state_after(state, from));

		berth_files_put_table(copy);
		atomic_fetch_add(&closes, open);
	}
}

static void fork_vs_install_close(void **state)
{
	(void)state;
	race(NULL, walker, forker, forker);
	check(atomic_load(&amid_installs) > 0);
	check_equal(berth_files_count(table), 0);
	check_equal(atomic_load(&all_probes.flushes), atomic_load(&closes));
	check_no_probe_left();
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(fork_vs_install_close),
	};

	return run_cases(argc, argv, cases);
}
