/* SPDX-License-Identifier: MIT */
/*
 * A table beside the kernel's own descriptors: the same calls on both, and what
 * is to be seen afterwards compared.
 *
 * The kernel's side is a child process, which has no other descriptors than
 * those of the test: what it finds comes back by shared memory.  An open file's
 * identity is its offset, which an open sets to the count of the opens before.
 */
#ifndef SUITE_BESIDE_H
#define SUITE_BESIDE_H

#include "steps.h"

enum {
	STEPS_MAX = 256, /* of a sequence */
	NUMBERS = 136,	 /* none from here on is ever open */
};

/* The numbers of which a sequence makes use, and how it begins. */
struct domain {
	unsigned int limit;
	int filled; /* 0, or the numbers below are open, all of one object */
	bool all;   /* look at all numbers, and not at a few */
};

/* One sequence, as far as it has come. */
struct sequence {
	struct domain domain;
	unsigned int length;
	const char *doing; /* where it is, for a message */
	struct step step[STEPS_MAX];
	int kernel[STEPS_MAX], table[STEPS_MAX];
	char difference[128];
};

/* What a number finds: its close-on-exec bit or -EBADF, and which object. */
struct look {
	int bit;
	int64_t object; /* -1: none */
};

/* ---- For the child and its parent ---- */

extern struct shared {
	struct sequence now;
	struct look copy[NUMBERS + 1]; /* in the child of a fork */
	char summary[4000];
} * shared;

void begin_beside(void);
void end_beside(void);
/* Run @work in a child, for about so many seconds.  Returns how that ended; a
 * signal, too, is something that the table did. */
int in_child(void (*work)(void), double seconds);
/* in_child() has failed: shrink the sequence, show it and fail the test. */
void show_difference(int status) __attribute__((noreturn));

/* ---- In the child ---- */

/* End the process; whoever watches it may want descriptors for that. */
void leave(int status) __attribute__((noreturn));

/* All descriptors of this process are the domain's from now on. */
void begin_domain(const struct domain *of);

/* The numbers that change; -1 is the first of them, one above the limit the
 * last. */
extern int watched[NUMBERS + 1];
extern unsigned int watched_count;

extern struct kernel_side {
	struct look seen[NUMBERS + 1]; /* of -1 on */
	unsigned int limit;
	bool stale; /* it is not what the sequence has made */
} kernel;

/* With a table's end, all that it was given has been released, once. */
void table_begin(void);
void table_end(void);
/* Make the call of step @n on both sides, and compare.  Did it change anything
 * that can be seen? */
bool on_both(unsigned int n);
/* The same, on a new table for which the calls of the @n steps before, which
 * have been compared, are made first. */
bool on_new_table(unsigned int n);
/* What takes longer: who shares an offset, what is in a copy. */
void compare_sharing(void);
void compare_copies(void);
/* All of shared->now, from its beginning to its end. */
void run_sequence(void);
/* Its calls, lookups and end on the table alone, wherever that leads. */
void run_on_table(void);

#endif
