/* SPDX-License-Identifier: MIT */
/*
 * The host process forks: each part brings its structures to rest.
 *
 * A part registers once for each level.  Before the fork the parts are quiesced
 * from the top down (reclamation, gates, tables, budgets, userspace-rcu), so that
 * no thread is inside a modification at the instant of the fork; afterwards both
 * processes resume them from the bottom up.  That is asked of the C library when
 * berth is loaded; should it have no memory then, it is asked again before
 * there is anything to bring to rest.  A fork from inside an operation of
 * berth, or a borrow, is not supported: it would wait for itself.
 */
#ifndef BASE_FORK_H
#define BASE_FORK_H

#include <stdbool.h>

enum fork_level {
	FORK_KREF, /* where counts are locked: kref_hashed.c */
	FORK_URCU,
	FORK_BUDGETS,
	FORK_USES,
	FORK_FILES,
	FORK_MOUNT,
	FORK_RECLAIM,
	FORK_LEVELS,
};

struct fork_handler {
	void (*quiesce)(void); /* optional */
	void (*resume)(bool in_child);
};

/* Called from a constructor; the handler lives for ever. */
void fork_register(enum fork_level level, const struct fork_handler *handler);

/* Will a fork be safe?  Asked by who makes a table or an instance; he fails with
 * -ENOMEM otherwise. */
bool fork_is_ready(void);

#endif
