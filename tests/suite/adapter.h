/* SPDX-License-Identifier: MIT */
/*
 * How a descriptor table is plugged into the suite.
 *
 * The suite's programs (exhaustive, linearizable, races, conflicts) know a table
 * by these functions alone.  A runtime that has a table of its own writes them
 * once, links them with the suite's sources, and has all four:
 *
 *	const struct table_adapter table_adapter = {
 *		.name = "mine",
 *		.create = my_create,
 *		...
 *	};
 *
 * tests/suite/adapter_files.c is the one for berth and for every design in
 * lineage/; docs/SUITE.md tells the rest.
 *
 * What a table's numbers find is an object of the suite's.  The adapter wraps it
 * in whatever its table holds, leaves the wrapping's address in @handle, and
 * tells object_released() when the table has dropped it for good, once.  Results
 * are numbers >= 0 or a negative errno of Linux's.  All functions may be called
 * by several threads at once, on the same table too.
 */
#ifndef SUITE_ADAPTER_H
#define SUITE_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One object; it stays readable until the suite's end, so that a table which
 * hands out a dropped one is found out by what it says. */
struct object {
	uint64_t id;	       /* from 1, never used twice */
	void *handle;	       /* the adapter's */
	unsigned int released; /* how often; atomic */
};

/* Told by the adapter: no number and no get has the object any more. */
void object_released(struct object *object);

struct table_adapter {
	const char *name;
	/* Do open and dup take a number first and show the object later, so
	 * that others may see it taken and not yet open?  And does dup look
	 * its source up before that? */
	bool reserves;

	/* ---- Tables ---- */

	/* An empty one whose numbers are below @limit; NULL: no memory. */
	void *(*create)(unsigned int limit);
	/* The last use of it: drops every object that it finds. */
	void (*destroy)(void *table);
	/* As fork does: the open numbers and their close-on-exec bits, as of
	 * one instant.  NULL: no memory.  Optional. */
	void *(*copy)(void *table);
	/* Changes the limit.  Optional. */
	int (*set_limit)(void *table, unsigned int limit);

	/* ---- Numbers ---- */

	/* Let the lowest free number find @object. -EMFILE: it stays the
	 * caller's, and object_released() is not called. */
	int (*open)(void *table, struct object *object, bool cloexec);
	/* The same with any free number.  Optional. */
	int (*open_any)(void *table, struct object *object, bool cloexec);
	int (*close)(void *table, int fd);
	int (*dup)(void *table, int fd);
	/* F_DUPFD and, with @cloexec, F_DUPFD_CLOEXEC. */
	int (*dupfd)(void *table, int fd, int min, bool cloexec);
	int (*dup2)(void *table, int oldfd, int newfd);
	int (*dup3)(void *table, int oldfd, int newfd, unsigned int flags);
	/* Move a number; what @to found is dropped.  Optional. */
	int (*renumber)(void *table, int from, int to);
	int (*getfd)(void *table, int fd); /* F_GETFD */
	int (*setfd)(void *table, int fd, int fdflags);
	/* With CLOSE_RANGE_UNSHARE the user goes on with a table of his own,
	 * which goes to *@table when it is another one.  Optional. */
	int (*close_range)(void **table, unsigned int first, unsigned int last,
			   unsigned int flags);
	/* Close what is close-on-exec.  Optional. */
	void (*exec)(void *table);
	/* How many numbers are open or reserved.  Optional. */
	unsigned int (*count)(void *table);

	/* An open in two steps: first a number that finds nothing yet, the
	 * lowest from @min on, or with @any any free one; then what it finds,
	 * or that it is given back.  Optional, all or none. */
	int (*reserve)(void *table, int min, bool any);
	void (*install)(void *table, int fd, struct object *object);
	void (*unreserve)(void *table, int fd);

	/* ---- Lookups ---- */

	/* The object stays undropped until put.  NULL: not open. */
	struct object *(*get)(void *table, int fd);
	void (*put)(void *table, struct object *object);
	/* The same for a moment, on one thread, where there is a cheaper way.
	 * Optional, both or none. */
	struct object *(*borrow)(void *table, int fd);
	void (*give_back)(void *table, struct object *object);

	/* Do what the calling thread has put off, such as frees.  Optional. */
	void (*settle)(void);
};

extern const struct table_adapter table_adapter;

#endif
