/* SPDX-License-Identifier: MIT */
/*
 * Borrows against closes: a number is closed and opened again all the time;
 * whoever borrows the file behind it has that very file until he returns it
 * (F2), and never one whose close was over before he asked (F1).
 */
#include <sched.h>
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	/* The more, the surer is memory that is used again of another one. */
	NUMBERS = 8,
};

/* Behind each number: the newest id whose close has returned. */
static atomic_ulong closed[NUMBERS];

static atomic_ulong found, missed;

static void borrower(struct worker *worker)
{
	struct random *random = &worker->random;
	unsigned int looks;
	struct berth_file *file;
	struct probe *probe;
	uint64_t floor, id;
	int fd;

	for (; keep_going(); worker->work++) {
		fd = (int)random_below(random, NUMBERS);
		floor = atomic_load(&closed[fd]);
		file = berth_files_borrow(table, fd);
		if (!file) {
			atomic_fetch_add(&missed, 1);
			continue;
		}
		probe = probe_of(file);
		probe_check(probe);
		id = probe->id;
		check(id > floor);
		looks = random_once_in(random, 8) ? random_below(random, 999)
						  : 1;
		for (; looks; looks--) {
			probe_check(probe);
			check(probe->id == id);
			check(probe->fd == fd);
		}
		if (random_once_in(random, 64)) {
			sched_yield();
			probe_check(probe);
			check(probe->id == id);
		}
		berth_files_return(file);
		atomic_fetch_add(&found, 1);
	}
}

static uint64_t open_one(struct random *random, int fd)
{
	struct probe *probe;
	uint64_t id;

	check_equal(berth_files_reserve(table, fd, 0), fd);
	probe = probe_create(
		NULL, random_once_in(random, 4) ? BERTH_FILE_RELEASE_WAITS : 0);
	probe->fd = fd;
	id = probe->id;
	berth_files_install(table, fd, &probe->file);
	return id;
}

/* Each number is open about half of the time, so that many are found. */
static void closer(struct worker *worker)
{
	struct random *random = &worker->random;
	uint64_t ids[NUMBERS] = { 0 };
	int fd;

	for (; keep_going(); worker->work++) {
		fd = (int)random_below(random, NUMBERS);
		if (!ids[fd]) {
			ids[fd] = open_one(random, fd);
			continue;
		}
		check_equal(berth_files_close(table, fd), 0);
		atomic_store(&closed[fd], ids[fd]);
		ids[fd] = 0;
		/* With one processor to share, borrowers run only now. */
		if (random_once_in(random, 64))
			sched_yield();
		/* By turns: free in batches, or at once what may be. */
		if (worker->work & 4096 && random_once_in(random, 4))
			berth_drain();
	}
}

static void begin(void)
{
	int fd;

	for (fd = 0; fd < NUMBERS; fd++)
		atomic_store(&closed[fd], 0);
	atomic_store(&found, 0);
	atomic_store(&missed, 0);
}

static void borrows_vs_close(void **state)
{
	(void)state;
	begin();
	race(NULL, borrower, closer, borrower);
	check(atomic_load(&found) > 0);
	check(atomic_load(&missed) > 0);
}

/* Grace periods are short: nobody else's borrow makes one outlast a stall. */
static void borrow_vs_close(void **state)
{
	(void)state;
	begin();
	race(NULL, borrower, closer);
	check(atomic_load(&found) > 0);
	check(atomic_load(&missed) > 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(borrow_vs_close),
		table_test(borrows_vs_close),
	};

	return run_cases(argc, argv, cases);
}
