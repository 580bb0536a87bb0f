/* SPDX-License-Identifier: MIT */
/*
 * Pairs of operations: do they commute, and what memory do both touch?
 *
 * A domain (tables.c, files.c) has a list of operations and says how the state
 * from which they run is made and told; pairs.c runs each with each, as
 * docs/SCALING.md has it under "The pairs".
 */
#ifndef CONFLICTS_PAIRS_H
#define CONFLICTS_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "recorder.h"

struct call;

enum family {
	FAMILY_OTHER,
	FAMILY_READ, /* lookup+read */
	FAMILY_ANY,  /* any-number */
};

/* What of a file those who ask and read may change for each other. */
#define ASPECT_OWNERS 0x1u
#define ASPECT_OFFSET 0x2u

struct operation {
	char name[32];
	void (*run)(struct call *call);
	int arg[2];
	enum family family;
	unsigned int file;    /* that it is about; 0: none */
	unsigned int asks;    /* by its meaning, of that file: ASPECT_* */
	unsigned int changes; /* the same */
	int reserved; /* the number that it uses up: one caller's alone */
};

#define RESULT_MAX 128

/* One run of an operation: by the thread @cpu, in the table or task @side. */
struct call {
	const struct operation *operation;
	void *state;
	unsigned int cpu;
	unsigned int side;
	char result[RESULT_MAX]; /* as far as it is compared */
	int any; /* the number that was given where any one would do, or -1 */
	void *made; /* a table or task, for the state to tell of and to end */
	struct recording recording;
};

struct domain {
	const char *name;
	const char *sides; /* what there are two of */
	const struct operation *operations;
	size_t count;
	void *(*create)(void);
	/* On each of both threads, before anything is recorded. */
	void (*prepare)(void *state, unsigned int cpu);
	void (*describe)(void *state, const struct call *calls, FILE *to);
	void (*destroy)(void *state, struct call *calls);
	/* On each thread, now and then: see "Warm". */
	void (*warm)(void);
};

#define result_print(call, ...) \
	snprintf((call)->result, RESULT_MAX, __VA_ARGS__)
/* A number that was given where any one would do, or an error. */
void result_any(struct call *call, int fd);

/* Was @fd of that side given so by either? */
static inline bool call_gave(const struct call *calls, unsigned int side,
			     int fd)
{
	return (calls[0].side == side && calls[0].any == fd) ||
	       (calls[1].side == side && calls[1].any == fd);
}

/* What of two recordings conflicts, in blocks of so many bytes?  Calls @found,
 * if it is not NULL, for each access of each such block. */
struct share {
	const struct access *access;
	uintptr_t block;
	unsigned int cpu;
};

size_t conflicts(const struct recording *a, const struct recording *b,
		 unsigned int grain,
		 void (*found)(const struct share *share, void *arg),
		 void *arg);

/* Run all pairs and print what came out, for `report` to read; only those of
 * the first two lines if @quick. */
void run_pairs(const struct domain *domain, bool quick);

/* The domains, complete with their operations. */
const struct domain *tables_domain(void);
const struct domain *files_domain(void);

/* For those who make them: a list with one more operation. */
#define OPERATIONS_MAX 160u

struct operations {
	struct operation list[OPERATIONS_MAX];
	size_t count;
};

struct operation *add_unnamed(struct operations *operations,
			      void (*run)(struct call *call),
			      enum family family);

/* With a name, as by printf(). */
#define add(operations, run, family, ...)                              \
	__extension__({                                                \
		struct operation *new_;                                \
		new_ = add_unnamed(operations, run, family);           \
		snprintf(new_->name, sizeof(new_->name), __VA_ARGS__); \
		new_;                                                  \
	})

#endif
