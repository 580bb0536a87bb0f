/* SPDX-License-Identifier: MIT */
/*
 * A step of a sequence: one call of a table, as data, that can be made on a
 * table and on the kernel's own descriptors, and be printed.
 */
#ifndef SUITE_STEPS_H
#define SUITE_STEPS_H

#include <limits.h>
#include <stdio.h>

#include "adapter.h"

enum call {
	OPEN,
	OPEN_ANY,
	CLOSE,
	DUP,
	DUP2,
	DUP3,
	DUPFD,
	GETFD,
	SETFD,
	CLOSE_RANGE,
	LIMIT,
	COPY, /* the table becomes its own copy, as in a forked child */
};

struct step {
	enum call call;
	int a, b;
	unsigned int flags; /* O_CLOEXEC, or what the call takes */
};

/* No result of a call. */
#define NO_RESULT INT_MIN

/* Has the adapter a function for it? */
bool step_is_offered(const struct step *step);
bool step_opens(const struct step *step);
/* An open gives the table @object; a COPY exchanges *@table. */
int step_on_table(const struct step *step, void **table, struct object *object);
/* A COPY does nothing: a child of a fork goes on with the same numbers. */
int step_on_kernel(const struct step *step);

/* As a call of the table. */
void step_print(FILE *out, const struct step *step);
/* As a line of C for the adapter's table t. */
void step_print_c(FILE *out, const struct step *step);
/* A number, or the errno's name. */
const char *result_name(int result);

#endif
