/* SPDX-License-Identifier: MIT */
/* See objects.h. */
#include <pthread.h>
#include <stdlib.h>

#include "../harness.h"
#include "objects.h"

struct listed {
	struct object object;
	struct listed *next;
};

static struct listed *all;
static uint64_t last_id;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct object *object_create(void)
{
	struct listed *listed = calloc(1, sizeof(*listed));

	check(listed);
	pthread_mutex_lock(&lock);
	listed->object.id = ++last_id;
	listed->next = all;
	all = listed;
	pthread_mutex_unlock(&lock);
	return &listed->object;
}

void object_released(struct object *object)
{
	/* Twice is the fault that is looked for, so say so at once. */
	check_equal(__atomic_fetch_add(&object->released, 1, __ATOMIC_ACQ_REL),
		    0);
}

bool object_is_released(const struct object *object)
{
	return __atomic_load_n(&object->released, __ATOMIC_ACQUIRE);
}

void objects_free_released(void)
{
	struct listed **link = &all, *listed;

	while ((listed = *link) != NULL) {
		if (listed->object.handle &&
		    !object_is_released(&listed->object)) {
			link = &listed->next;
			continue;
		}
		*link = listed->next;
		free(listed);
	}
}

void objects_free(void)
{
	struct listed *listed;

	while ((listed = all) != NULL) {
		/* A handle: some table has taken it. */
		if (listed->object.handle)
			check_equal(listed->object.released, 1);
		all = listed->next;
		free(listed);
	}
}
