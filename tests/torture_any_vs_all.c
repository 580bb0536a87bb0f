/* SPDX-License-Identifier: MIT */
/*
 * Any numbers beside everything else: each thread knows which numbers are its
 * own, and finds there what it put, while others allocate in the same words by
 * either way, look for the lowest past them, copy the table and take numbers
 * one by one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	OWN = 40,    /* numbers a thread has at most */
	LIMIT = 320, /* four of them fill half of it, chunks included */
};

struct own {
	int fd;
	uint64_t id;
	bool cloexec;
};

/* A number of the thread's own, with a new probe; -1 when the table is full. */
static int open_one(struct worker *worker, struct own *own)
{
	unsigned int flags =
		random_once_in(&worker->random, 3) ? 0 : BERTH_ANYFD;
	struct probe *probe;
	int fd;

	own->cloexec = random_once_in(&worker->random, 2);
	fd = berth_files_reserve(table, 0,
				 flags | (own->cloexec ? O_CLOEXEC : 0));
	if (fd < 0) {
		check_equal(fd, -EMFILE);
		return -1;
	}
	check(fd < LIMIT);
	if (random_once_in(&worker->random, 8)) {
		berth_files_unreserve(table, fd);
		return -1;
	}
	probe = probe_create(NULL, 0);
	own->id = probe->id;
	own->fd = fd;
	berth_files_install(table, fd, &probe->file);
	return fd;
}

static void check_own(const struct own *own)
{
	struct berth_file *file = berth_files_borrow(table, own->fd);

	check(file);
	probe_check_owned(probe_of(file));
	check(probe_of(file)->id == own->id);
	berth_files_return(file);
	check_equal(berth_files_getfd(table, own->fd),
		    own->cloexec ? FD_CLOEXEC : 0);
}

/* Move it to another number of the thread's, whose file ends. */
static void move(struct own *own, struct own *to)
{
	if (to == own || to->fd < 0)
		return;
	check_equal(berth_files_renumber(table, own->fd, to->fd), to->fd);
	to->id = own->id;
	to->cloexec = own->cloexec;
	own->fd = -1;
}

static void replace(struct own *own, struct own *by)
{
	if (by == own || by->fd < 0)
		return;
	check_equal(berth_files_dup3(table, by->fd, own->fd, O_CLOEXEC),
		    own->fd);
	own->id = by->id;
	own->cloexec = true;
}

static void change(struct worker *worker, struct own *own, struct own *other)
{
	switch (random_below(&worker->random, 6)) {
	case 0:
		own->cloexec = !own->cloexec;
		check_equal(berth_files_setfd(table, own->fd,
					      own->cloexec ? FD_CLOEXEC : 0),
			    0);
		break;
	case 1:
		move(own, other);
		break;
	case 2:
		replace(own, other);
		break;
	default:
		check_equal(berth_files_close(table, own->fd), 0);
		own->fd = -1;
	}
}

static void owner(struct worker *worker)
{
	struct own own[OWN], *one;
	int i;

	for (i = 0; i < OWN; i++)
		own[i].fd = -1;
	for (; keep_going(); worker->work++) {
		one = &own[random_below(&worker->random, OWN)];
		if (one->fd < 0 && open_one(worker, one) < 0)
			continue;
		check_own(one);
		change(worker, one, &own[random_below(&worker->random, OWN)]);
	}
	for (i = 0; i < OWN; i++)
		if (own[i].fd >= 0)
			check_equal(berth_files_close(table, own[i].fd), 0);
}

static struct berth_file *baton;
static atomic_bool handed_on;

/* One file that always has a number: the next one before the last goes. */
static void runner(struct worker *worker)
{
	int held = -1, next;

	for (; keep_going(); worker->work++) {
		next = berth_files_reserve(table, 0, BERTH_ANYFD);
		if (next < 0)
			continue;
		berth_file_get(baton);
		berth_files_install(table, next, baton);
		if (held >= 0)
			check_equal(berth_files_close(table, held), 0);
		held = next;
		atomic_store(&handed_on, 1);
	}
	check_equal(berth_files_close(table, held), 0);
	atomic_store(&handed_on, 0);
}

static unsigned int numbers_of_baton(struct berth_files *files)
{
	unsigned int n = 0;
	int fd;

	for (fd = 0; fd < LIMIT; fd++)
		n += probe_id_at(files, fd) == probe_of(baton)->id;
	return n;
}

/* A copy is of one instant, at each of which the baton has a number or two. */
static void copier(struct worker *worker)
{
	struct berth_files *copy;
	unsigned int n;

	while (keep_going()) {
		if (!atomic_load(&handed_on))
			continue;
		check_equal(berth_files_fork(table, &copy), 0);
		n = numbers_of_baton(copy);
		if (atomic_load(&handed_on))
			check(n == 1 || n == 2);
		berth_files_put_table(copy);
		worker->work++;
	}
}

static void any_vs_all(void **state)
{
	(void)state;
	check_equal(berth_files_set_limit(table, LIMIT), 0);
	baton = &probe_create(NULL, 0)->file;
	race(NULL, owner, owner, runner, owner, copier);
	berth_file_put(baton);
	check_equal(berth_files_count(table), 0);
	check_no_probe_left();
}

/* The same with room for one word of any numbers only. */
static void any_vs_all_in_a_small_table(void **state)
{
	(void)state;
	check_equal(berth_files_set_limit(table, 70), 0);
	race(NULL, owner, owner, owner);
	check_equal(berth_files_count(table), 0);
	check_no_probe_left();
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(any_vs_all),
		table_test(any_vs_all_in_a_small_table),
	};

	return run_cases(argc, argv, cases);
}
