/* SPDX-License-Identifier: MIT */
/*
 * Owned gets against closes whose memory is used again under other numbers: a
 * get finds a file of that number's history, not yet closed when it began
 * (F1), and owns it until its put: not released before, and then once (R1, R2).
 */
#include <errno.h>
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	NUMBERS = 4,
};

/* Behind each number: the newest id whose close has returned. */
static atomic_ulong closed[NUMBERS];

static atomic_ulong found, outlived;

static void note_closed(int fd, uint64_t id)
{
	unsigned long seen = atomic_load(&closed[fd]);

	while (seen < id &&
	       !atomic_compare_exchange_weak(&closed[fd], &seen, id))
		;
}

/* A duplicate under a number of this thread's own finds the same history. */
static void dup_one(int fd, int mine)
{
	uint64_t floor = atomic_load(&closed[fd]);
	int ret = berth_files_dup2(table, fd, mine);
	struct berth_file *file;

	if (ret == -EBADF)
		return;
	check_equal(ret, mine);
	file = berth_files_borrow(table, mine);
	check(file);
	probe_check_owned(probe_of(file));
	check_equal(probe_of(file)->fd, fd);
	check(probe_of(file)->id > floor);
	berth_files_return(file);
	check_equal(berth_files_close(table, mine), 0);
}

static void getter(struct worker *worker)
{
	struct random *random = &worker->random;
	unsigned int looks;
	struct berth_file *file;
	struct probe *probe;
	uint64_t floor, id;
	int fd;

	for (; keep_going_until(&outlived); worker->work++) {
		fd = (int)random_below(random, NUMBERS);
		if (random_once_in(random, 8))
			dup_one(fd, NUMBERS + (int)worker->index);
		floor = atomic_load(&closed[fd]);
		file = berth_files_get(table, fd);
		if (!file)
			continue;
		probe = probe_of(file);
		id = probe->id;
		check(id > floor);
		looks = random_once_in(random, 4) ? random_below(random, 99)
						  : 1;
		for (; looks; looks--) {
			probe_check_owned(probe);
			check(probe->fd == fd);
			check(probe->id == id);
		}
		if (atomic_load(&closed[fd]) >= id)
			atomic_fetch_add(&outlived, 1);
		berth_file_put(file);
		atomic_fetch_add(&found, 1);
	}
}

struct opened {
	int fd;
	uint64_t id;
};

static struct opened open_one(void)
{
	int fd = berth_files_reserve(table, 0, 0);
	struct probe *probe = probe_create(NULL, 0);
	struct opened opened = { fd, probe->id };

	check(fd >= 0 && fd < NUMBERS);
	probe->fd = fd;
	berth_files_install(table, fd, &probe->file);
	return opened;
}

static void close_one(struct opened opened)
{
	check_equal(berth_files_close(table, opened.fd), 0);
	note_closed(opened.fd, opened.id);
}

/* Two numbers at a time; which, the other closer decides, too. */
static void closer(struct worker *worker)
{
	struct random *random = &worker->random;
	struct opened first, second;

	for (; keep_going_until(&outlived); worker->work++) {
		first = open_one();
		second = open_one();
		if (random_once_in(random, 2)) {
			close_one(first);
			first = open_one();
		}
		close_one(second);
		close_one(first);
		/* By turns: free in batches, or at once what may be. */
		if (worker->work & 4096 && random_once_in(random, 16))
			berth_drain();
	}
}

static void get_vs_close_reuse(void **state)
{
	(void)state;
	race(NULL, getter, closer, closer, getter);
	check(atomic_load(&found) > 0);
	check(atomic_load(&outlived) > 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(get_vs_close_reuse),
	};

	return run_cases(argc, argv, cases);
}
