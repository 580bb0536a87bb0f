/* SPDX-License-Identifier: MIT */
/*
 * Two instances that take the same steps, one of them with injected faults.
 *
 * What a fault may do to a call is little: it gives -ENOMEM, and nothing at all
 * has changed; or it goes on without what it could not get, and gives what it
 * gives without a fault (a write may be short).  So the other instance, the
 * plain one, takes a step exactly if it did not fail on the faulty one, and
 * after each both must look the same: names, attributes, times, data, links,
 * room, and the descriptor tables.  Their clock stands still during a step.
 */
#ifndef TESTS_TWINS_H
#define TESTS_TWINS_H

#include "base/fault.h"

#include "fixture.h"
#include "fsops.h"

enum {
	TWIN_HANDLES = 4,
};

/* One of the two, and what a step may leave behind in it for later ones. */
struct twin {
	struct fs fs;
	struct berth_task *observer; /* whose table nobody else uses */
	struct berth_task *child;
	struct berth_files *copy;
	struct berth_inode *handle[TWIN_HANDLES];
	struct heap heap;
	bool on_heap;
	unsigned int made; /* numbers the names of one kind of step */
};

struct twins {
	struct twin faulty;
	struct twin plain;
	unsigned long failed;	/* steps that a fault made fail */
	unsigned long survived; /* steps that did without */
};

/* A step: a function, or without one an operation. */
struct step {
	struct op op;
	int64_t (*call)(struct twin *twin);
	const char *name; /* of the function */
};

#define STEP_OF(function)                           \
	{                                           \
		.call = function, .name = #function \
	}

/* The steps of a life, in which each has what it needs from those before. */
extern const struct step life[];
extern const unsigned int life_length;

/* How the faulty one is to suffer in a step. */
struct aim {
	enum {
		AIM_NTH,    /* one use of a call fails */
		AIM_FROM,   /* and all later ones */
		AIM_RANDOM, /* one in @nth of any call */
	} kind;
	enum sys_call call; /* SYS_CALLS: the instance's own allocator */
	uint64_t nth;	    /* 0: nothing fails */
	uint64_t seed;
};

/* Both on allocators of their own, or on the system's. */
void twins_create(struct twins *twins, bool on_heap);
/* Nothing may be left in use. */
void twins_destroy(struct twins *twins);

/* Faults that were injected, and whether the step has been taken. */
struct taken {
	uint64_t faults;
	bool done;
};

struct taken twins_step(struct twins *twins, const struct step *step,
			const struct aim *aim);

#endif
