/* SPDX-License-Identifier: MIT */
/*
 * The races of a descriptor table, on any table that has an adapter.  Each case
 * is two or three kinds of threads at the same numbers, and what must hold
 * whoever comes first.
 *
 * Objects stay until the end of a case, so that one which is found too late tells
 * by itself: a minute takes a gigabyte or so.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>

#include "../harness.h"
#include "adapter.h"
#include "objects.h"

#define LIMIT 1024u

static const struct table_adapter *const t = &table_adapter;
static void *table;

static void create(unsigned int limit)
{
	table = t->create(limit);
	check(table);
}

static void finish(void)
{
	t->destroy(table);
	objects_free();
}

/* At the lowest number. */
static int open_one(void)
{
	struct object *object = object_create();

	return t->open(table, object, false);
}

static struct object *look_up(int fd, bool borrow)
{
	return borrow ? t->borrow(table, fd) : t->get(table, fd);
}

static void let_go(struct object *object, bool borrow)
{
	if (borrow)
		t->give_back(table, object);
	else
		t->put(table, object);
}

static bool some_borrow(struct worker *worker)
{
	return t->borrow && random_once_in(&worker->random, 2);
}

/* ---- Lookups ---- */

/* What was found has not been dropped: an owned one, as long as it is held. */
static void looker(struct worker *worker)
{
	struct object *object;
	bool borrow;

	for (; keep_going(); worker->work++) {
		borrow = some_borrow(worker);
		object = look_up(0, borrow);
		if (!object)
			continue;
		check(borrow || !object_is_released(object));
		check(object->id);
		let_go(object, borrow);
	}
}

static void reopener(struct worker *worker)
{
	int fd;

	for (; keep_going(); worker->work++) {
		fd = open_one();
		check(fd >= 0);
		check_equal(t->close(table, fd), 0);
	}
}

static void lookup_vs_close(void **state)
{
	(void)state;
	create(LIMIT);
	race(NULL, looker, reopener, looker, reopener);
	finish();
}

/* A number that is replaced over and over never finds nothing. */
static void sure_looker(struct worker *worker)
{
	struct object *object;
	bool borrow;

	for (; keep_going(); worker->work++) {
		borrow = some_borrow(worker);
		object = look_up(0, borrow);
		check(object);
		let_go(object, borrow);
		check(t->getfd(table, 0) >= 0);
	}
}

static void replacer(struct worker *worker)
{
	int fd;

	for (; keep_going(); worker->work++) {
		fd = open_one();
		check(fd > 0);
		if (random_once_in(&worker->random, 2))
			check_equal(t->dup2(table, fd, 0), 0);
		else
			check_equal(t->dup3(table, fd, 0, O_CLOEXEC), 0);
		check_equal(t->close(table, fd), 0);
	}
}

static void lookup_vs_dup2(void **state)
{
	(void)state;
	create(LIMIT);
	check_equal(open_one(), 0);
	race(NULL, sure_looker, replacer, replacer);
	finish();
}

/* A number and its bit change hands in one instant: with close-on-exec it finds
 * the second object, without it the first. */
static struct object *plain, *marked;

static void swapper(struct worker *worker)
{
	for (; keep_going(); worker->work++) {
		check_equal(t->dup3(table, 1, 0, 0), 0);
		check_equal(t->dup3(table, 2, 0, O_CLOEXEC), 0);
	}
}

static void bit_copier(struct worker *worker)
{
	struct object *object;
	void *copy;
	int bit;

	for (; keep_going(); worker->work++) {
		copy = t->copy(table);
		check(copy);
		bit = t->getfd(copy, 0);
		object = t->get(copy, 0);
		check(object == (bit ? marked : plain));
		t->put(copy, object);
		t->destroy(copy);
	}
}

static void dup3_vs_copy(void **state)
{
	(void)state;
	if (!t->copy)
		skip(); /* it is optional in an adapter */
	create(LIMIT);
	plain = object_create();
	marked = object_create();
	check_equal(open_one(), 0);
	check_equal(t->open(table, plain, false), 1);
	check_equal(t->open(table, marked, true), 2);
	check_equal(t->dup3(table, 1, 0, 0), 0);
	race(NULL, swapper, bit_copier, bit_copier);
	finish();
}

static void grower(struct worker *worker)
{
	int fd = 0, min = 64;

	for (; keep_going(); worker->work++) {
		min = min * 2 < 1 << 16 ? min * 2 : 64;
		fd = t->dupfd(table, 0, min, false);
		check(fd >= min);
		check_equal(t->close(table, fd), 0);
	}
}

static void lookup_vs_growth(void **state)
{
	(void)state;
	create(1u << 17);
	check_equal(open_one(), 0);
	race(NULL, sure_looker, grower, grower);
	finish();
}

/* ---- Numbers ---- */

static atomic_uint winners;

static void closer(struct worker *worker)
{
	int fd;

	for (; keep_going(); worker->work++) {
		fd = (int)random_below(&worker->random, 4);
		if (!t->close(table, fd))
			atomic_fetch_add(&winners, 1);
	}
}

static void opener(struct worker *worker)
{
	unsigned int opened = 0;
	int fd;

	for (; keep_going(); worker->work++) {
		fd = open_one();
		check(fd >= 0 || fd == -EMFILE);
		opened += fd >= 0;
	}
	atomic_fetch_sub(&winners, opened);
}

/* As many closes succeed as there were opens. */
static void close_vs_close(void **state)
{
	int fd;

	(void)state;
	atomic_store(&winners, 0);
	create(4);
	race(NULL, closer, opener, closer, opener);
	for (fd = 0; fd < 4; fd++)
		if (!t->close(table, fd))
			atomic_fetch_add(&winners, 1);
	check_equal(atomic_load(&winners), 0);
	finish();
}

/* Nobody gets a number that another one has, nor one above what all have. */
static atomic_uint owners[8];

static void owner(struct worker *worker)
{
	int fd;

	for (; keep_going(); worker->work++) {
		if (t->open_any && random_once_in(&worker->random, 4))
			fd = t->open_any(table, object_create(), false);
		else
			fd = open_one();
		check(fd >= 0 && fd < 8);
		check_equal(atomic_fetch_add(&owners[fd], 1), 0);
		check_equal(atomic_fetch_sub(&owners[fd], 1), 1);
		check_equal(t->close(table, fd), 0);
	}
}

static void numbers_are_nobody_elses(void **state)
{
	(void)state;
	create(8);
	race(NULL, owner, owner, owner, owner);
	finish();
}

/* Two threads, each with one number at most, share the lowest two. */
static void frugal(struct worker *worker)
{
	int fd;

	for (; keep_going(); worker->work++) {
		fd = open_one();
		check(fd == 0 || fd == 1);
		check_equal(t->close(table, fd), 0);
	}
}

static void lowest_of_two(void **state)
{
	(void)state;
	create(LIMIT);
	race(NULL, frugal, frugal);
	finish();
}

/* ---- Copies ---- */

static atomic_bool begun;

/* The object always has one number at least. */
static void runner(struct worker *worker)
{
	int held = open_one(), next;

	atomic_store(&begun, true);
	for (; keep_going(); worker->work++) {
		next = t->dup(table, held);
		check(next >= 0);
		check_equal(t->close(table, held), 0);
		held = next;
	}
	atomic_store(&begun, false);
}

static void copier(struct worker *worker)
{
	unsigned int found;
	void *copy;
	int fd;

	while (keep_going()) {
		if (!atomic_load(&begun))
			continue;
		copy = t->copy(table);
		check(copy);
		found = 0;
		for (fd = 0; fd < 8; fd++)
			found += t->getfd(copy, fd) >= 0;
		if (atomic_load(&begun))
			check(found == 1 || found == 2);
		t->destroy(copy);
		worker->work++;
	}
}

static void copy_vs_dup_and_close(void **state)
{
	(void)state;
	if (!t->copy)
		skip(); /* it is optional in an adapter */
	create(LIMIT);
	race(NULL, runner, copier, copier);
	finish();
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(lookup_vs_close),
		cmocka_unit_test(lookup_vs_dup2),
		cmocka_unit_test(dup3_vs_copy),
		cmocka_unit_test(lookup_vs_growth),
		cmocka_unit_test(close_vs_close),
		cmocka_unit_test(numbers_are_nobody_elses),
		cmocka_unit_test(lowest_of_two),
		cmocka_unit_test(copy_vs_dup_and_close),
	};

	return run_cases(argc, argv, cases);
}
