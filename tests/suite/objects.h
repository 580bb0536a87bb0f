/* SPDX-License-Identifier: MIT */
/* The objects that the suite puts into tables, and what became of them. */
#ifndef SUITE_OBJECTS_H
#define SUITE_OBJECTS_H

#include "adapter.h"

/* A new object; it lives until objects_free(), whatever tables do with it. */
struct object *object_create(void);

/* Has the table dropped it?  A get or a borrow must never see this be true. */
bool object_is_released(const struct object *object);

/* Those go that tables have dropped, or never took; nobody looks at them. */
void objects_free_released(void);

/* All objects go; no table has any.  Fails when one was not released
 * once; those that no table ever took do not count. */
void objects_free(void);

#endif
