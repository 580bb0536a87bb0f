/* SPDX-License-Identifier: MIT */
/*
 * Short histories of two to four threads on one small table, each of which has
 * to be explained by some order of its calls (wing_gong.h).
 *
 * *Time*.  One counter tells which call precedes which: a call takes a number
 * from it as it begins, and reads it as it ends.  If the end's number is at most
 * the other's beginning, the other call began after this one had ended: so no
 * history is blamed wrongly.  Most calls read by a read-modify-write, for what
 * they did may still be in their processor's store buffer when they return, and
 * nobody promises more.  A close only loads: a lookup that begins after a close
 * has returned must not find the file, and a table whose close returns too early
 * is found out.
 *
 * *Preemption*.  Threads stop now and then wherever they are, by a signal (see
 * harness.c), for as long as others need for their part of the history.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "../harness.h"
#include "adapter.h"
#include "objects.h"
#include "wing_gong.h"

enum {
	THREADS = 4,
	CALLS_A_THREAD = 6,
	HISTORIES_A_ROUND = 64,
};

/* One history: its table, what was called, and what was put in. */
struct history {
	void *table;
	int limit;
	struct wg_call calls[THREADS][CALLS_A_THREAD];
	struct object *objects[THREADS][CALLS_A_THREAD];
	atomic_ullong clock;
	atomic_uint arrived; /* threads that are ready for it */
};

static struct history histories[HISTORIES_A_ROUND];
static struct random random_limits;
static unsigned int nr_threads;
static unsigned long nr_histories;

/* ---- One call ---- */

/* Objects are known by a small number, which stands where the adapter does not
 * look. */
static wg_number object_number(unsigned int thread, unsigned int call)
{
	return (wg_number)(1 + thread * CALLS_A_THREAD + call);
}

static wg_number number_of(const struct history *of,
			   const struct object *object)
{
	unsigned int thread, call;

	if (!object)
		return 0;
	for (thread = 0; thread < THREADS; thread++)
		for (call = 0; call < CALLS_A_THREAD; call++)
			if (of->objects[thread][call] == object)
				return object_number(thread, call);
	check(!"an object of this history");
	return 0;
}

static wg_number look_up(const struct history *of, void *table, int fd,
			 bool borrow)
{
	struct object *object;
	wg_number number;

	object = borrow ? table_adapter.borrow(table, fd)
			: table_adapter.get(table, fd);
	number = number_of(of, object);
	if (!object)
		return 0;
	check(borrow || !object_is_released(object));
	if (borrow)
		table_adapter.give_back(table, object);
	else
		table_adapter.put(table, object);
	return number;
}

static uint64_t time_of_end(struct history *of, const struct wg_call *call)
{
	if (call->kind == WG_CLOSE)
		return atomic_load_explicit(&of->clock, memory_order_relaxed);
	return atomic_fetch_add(&of->clock, 0);
}

static void copy_table(struct history *of, struct wg_call *call)
{
	void *copy = table_adapter.copy(of->table);
	int fd, bit;

	check(copy);
	call->end = time_of_end(of, call);
	for (fd = 0; fd < of->limit; fd++) {
		call->copy.number[fd] = look_up(of, copy, fd, false);
		bit = table_adapter.getfd(copy, fd);
		if (bit > 0)
			call->copy.number[fd] |= WG_CLOEXEC;
	}
	table_adapter.destroy(copy);
}

static int make_call(struct history *of, struct wg_call *call,
		     struct object *object, bool borrow)
{
	const struct table_adapter *t = &table_adapter;

	switch (call->kind) {
	case WG_OPEN:
		return t->open(of->table, object, call->cloexec);
	case WG_OPEN_ANY:
		return t->open_any(of->table, object, call->cloexec);
	case WG_CLOSE:
		return t->close(of->table, call->a);
	case WG_DUP:
		return t->dup(of->table, call->a);
	case WG_DUPFD:
		return t->dupfd(of->table, call->a, call->b, call->cloexec);
	case WG_DUP2:
		return t->dup2(of->table, call->a, call->b);
	case WG_DUP3:
		return t->dup3(of->table, call->a, call->b,
			       call->cloexec ? O_CLOEXEC : 0);
	case WG_GETFD:
		return t->getfd(of->table, call->a);
	case WG_SETFD:
		return t->setfd(of->table, call->a,
				call->cloexec ? FD_CLOEXEC : 0);
	case WG_GET:
		call->object = look_up(of, of->table, call->a, borrow);
		return 0;
	default:
		copy_table(of, call);
		return 0;
	}
}

/* ---- A thread's part ---- */

static enum wg_kind some_kind(struct random *random)
{
	/* What changes numbers, and what looks, more often than the rest. */
	static const enum wg_kind often[] = { WG_OPEN,	WG_OPEN, WG_CLOSE,
					      WG_CLOSE, WG_DUP2, WG_GET,
					      WG_GET };
	enum wg_kind kind;

	if (random_once_in(random, 2))
		return often[random_below(random, 7)];
	kind = (enum wg_kind)random_below(random, WG_KINDS);
	if ((kind == WG_OPEN_ANY && !table_adapter.open_any) ||
	    (kind == WG_COPY && !table_adapter.copy))
		return WG_OPEN;
	return kind;
}

static bool may_have_cloexec(enum wg_kind kind)
{
	return kind == WG_OPEN || kind == WG_OPEN_ANY || kind == WG_DUPFD ||
	       kind == WG_DUP3 || kind == WG_SETFD;
}

static void record(struct worker *worker, struct history *of, unsigned int i)
{
	struct wg_call *call = &of->calls[worker->index][i];
	struct object *object = of->objects[worker->index][i];
	struct random *random = &worker->random;
	bool borrow;

	*call = (struct wg_call){ .kind = some_kind(random),
				  .thread = worker->index };
	call->a = (int)random_below(random, (unsigned int)of->limit + 1);
	call->b = (int)random_below(random, (unsigned int)of->limit + 1);
	if (may_have_cloexec(call->kind))
		call->cloexec = random_once_in(random, 2);
	call->object = object_number(worker->index, i);
	borrow = table_adapter.borrow && random_once_in(random, 2);
	call->begin = atomic_fetch_add(&of->clock, 1);
	call->ret = make_call(of, call, object, borrow);
	if (call->kind != WG_COPY)
		call->end = time_of_end(of, call);
}

/* All begin a history at the same time. */
static void meet(struct history *of)
{
	unsigned int spins = 0;

	atomic_fetch_add(&of->arrived, 1);
	while (atomic_load(&of->arrived) < nr_threads)
		if (++spins % 256 == 0)
			sched_yield();
}

static void next_round_of_histories(void *shared);

static void caller(struct worker *worker)
{
	unsigned int h, i;

	do {
		for (h = 0; h < HISTORIES_A_ROUND; h++) {
			meet(&histories[h]);
			for (i = 0; i < CALLS_A_THREAD; i++)
				record(worker, &histories[h], i);
		}
		worker->work++;
	} while (next_round(worker, next_round_of_histories));
}

/* ---- Histories ---- */

static void begin_history(struct history *of)
{
	unsigned int thread, i;

	of->limit = 2 + (int)random_below(&random_limits, 4);
	of->table = table_adapter.create((unsigned int)of->limit);
	check(of->table);
	atomic_store(&of->clock, 0);
	atomic_store(&of->arrived, 0);
	for (thread = 0; thread < nr_threads; thread++)
		for (i = 0; i < CALLS_A_THREAD; i++)
			of->objects[thread][i] = object_create();
}

static void check_history(const struct history *of)
{
	const struct wg_table table = { of->limit, table_adapter.reserves };
	struct wg_call calls[WG_CALLS];
	unsigned int thread;

	for (thread = 0; thread < nr_threads; thread++)
		memcpy(calls + (size_t)thread * CALLS_A_THREAD,
		       of->calls[thread], sizeof(of->calls[thread]));
	if (wg_linearizable(&table, calls, nr_threads * CALLS_A_THREAD))
		return;
	fprintf(stderr,
		"No order of these calls explains their results; limit %d, "
		"each begins and ends as told:\n",
		of->limit);
	wg_print(stderr, calls, nr_threads * CALLS_A_THREAD);
	check(!"a history that some order explains");
}

static void for_each_history(void (*function)(struct history *))
{
	unsigned int h;

	for (h = 0; h < HISTORIES_A_ROUND; h++)
		function(&histories[h]);
}

static void end_history(struct history *of)
{
	table_adapter.destroy(of->table);
}

static void next_round_of_histories(void *shared)
{
	unsigned int h;

	(void)shared;
	for (h = 0; h < HISTORIES_A_ROUND; h++)
		check_history(&histories[h]);
	nr_histories += HISTORIES_A_ROUND;
	for_each_history(end_history);
	objects_free_released();
	for_each_history(begin_history);
}

/* The last round has been prepared, and nobody makes it. */
static void in_threads(unsigned int count, void (*run)(void))
{
	random_limits = random_of(test_seed(), 77);
	nr_threads = count;
	nr_histories = 0;
	for_each_history(begin_history);
	run();
	for_each_history(end_history);
	fprintf(stderr, "%s: %lu histories\n", table_adapter.name,
		nr_histories);
	objects_free();
}

static void two(void)
{
	race(NULL, caller, caller);
}

static void three(void)
{
	race(NULL, caller, caller, caller);
}

static void four(void)
{
	race(NULL, caller, caller, caller, caller);
}

static void two_threads(void **state)
{
	(void)state;
	in_threads(2, two);
}

static void three_threads(void **state)
{
	(void)state;
	in_threads(3, three);
}

static void four_threads(void **state)
{
	(void)state;
	in_threads(4, four);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(two_threads),
		cmocka_unit_test(three_threads),
		cmocka_unit_test(four_threads),
	};

	return run_cases(argc, argv, cases);
}
