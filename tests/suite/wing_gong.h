/* SPDX-License-Identifier: MIT */
/*
 * Is there an order of these calls, one at a time, that explains what they
 * returned?
 *
 * A history is linearizable if each call can be given an instant between its
 * beginning and its end, such that a table that makes them in the order of these
 * instants, one after the other, gives the same results.  The search is Wing's and
 * Gong's: take some call that no other one precedes, make it on the model, go
 * on with the rest, and come back when that leads nowhere; with Lowe's memory
 * of what has been tried: the set of calls made and the state they led to.
 */
#ifndef SUITE_WING_GONG_H
#define SUITE_WING_GONG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
	WG_NUMBERS = 8,	  /* the highest limit */
	WG_CALLS = 24,	  /* of a history */
	WG_OBJECTS = 126, /* so many are told apart */
};

enum wg_kind {
	WG_OPEN,
	WG_OPEN_ANY,
	WG_CLOSE,
	WG_DUP,
	WG_DUPFD,
	WG_DUP2,
	WG_DUP3,
	WG_GETFD,
	WG_SETFD,
	WG_GET,
	WG_COPY,
	WG_KINDS
};

/* What a number finds: 0 nothing, WG_RESERVED nothing yet, or an object from 1;
 * with WG_CLOEXEC. */
typedef uint8_t wg_number;
#define WG_CLOEXEC  0x80u
#define WG_RESERVED 0x7fu

struct wg_state {
	wg_number number[WG_NUMBERS];
};

/* One call as it was made.  Each kind uses the fields that it needs. */
struct wg_call {
	enum wg_kind kind;
	unsigned int thread;
	int a, b;	      /* numbers, or the minimum of WG_DUPFD */
	bool cloexec;	      /* asked for */
	wg_number object;     /* WG_OPEN: put in; WG_GET: found, 0 if nothing */
	int ret;	      /* but for WG_GET, WG_COPY */
	struct wg_state copy; /* of WG_COPY */
	/* One call precedes another if its end is at most the other's
	 * beginning. */
	uint64_t begin, end;
};

/* A table as the calls should find it. */
struct wg_table {
	int limit;
	bool reserves; /* see adapter.h */
};

/* @calls: at most WG_CALLS, in any order, on a table that was empty. */
bool wg_linearizable(const struct wg_table *table, const struct wg_call *calls,
		     unsigned int count);

/* The history, sorted by beginnings, a column a thread. */
void wg_print(FILE *out, const struct wg_call *calls, unsigned int count);

#endif
