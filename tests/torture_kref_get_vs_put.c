/* SPDX-License-Identifier: MIT */
/*
 * get_unless_zero against the last put: an object is destroyed once (R2), by
 * the one who was told so, and nobody gets a reference afterwards (R1).
 */
#include <stdatomic.h>

#include <berth/kref.h>

#include "harness.h"

static struct {
	struct berth_kref kref;
	int content; /* written by owners only: not atomic, for the sanitizer */
	atomic_uint destroyed;
} object;

static unsigned int rounds;
static atomic_ulong refused;

static void next_object(void *shared)
{
	(void)shared;
	if (rounds++) {
		check_equal(atomic_load(&object.destroyed), 1);
		check_equal(object.content, -1);
		check(!berth_kref_get_unless_zero(&object.kref));
	}
	atomic_store(&object.destroyed, 0);
	object.content = 0;
	berth_kref_init(&object.kref);
}

static void destroy(void)
{
	check_equal(atomic_fetch_add(&object.destroyed, 1), 0);
	object.content = -1;
}

static void release(struct berth_kref *kref)
{
	check(kref == &object.kref);
	destroy();
}

/* Gives the first reference back; some takes of its own come before. */
static void owner(struct worker *worker)
{
	unsigned int i;

	while (next_round(worker, next_object)) {
		for (i = random_below(&worker->random, 20); i; i--) {
			berth_kref_get(&object.kref);
			check_equal(object.content, 0);
			check(!berth_kref_put(&object.kref, release));
		}
		berth_kref_put(&object.kref, release);
		worker->work++;
	}
}

/* A few takes; two endless finders would keep the object between them. */
static void finder(struct worker *worker)
{
	unsigned int i;

	while (next_round(worker, next_object)) {
		for (i = random_below(&worker->random, 40) + 1; i; i--) {
			if (!berth_kref_get_unless_zero(&object.kref))
				break;
			check_equal(object.content, 0);
			check_equal(atomic_load(&object.destroyed), 0);
			if (berth_kref_put_last(&object.kref))
				destroy();
		}
		if (i)
			atomic_fetch_add(&refused, 1);
		worker->work++;
	}
}

static void kref_get_vs_put(void **state)
{
	(void)state;
	race(NULL, owner, finder, finder);
	check(rounds > 1);
	check(atomic_load(&refused) > 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(kref_get_vs_put),
	};

	return run_cases(argc, argv, cases);
}
