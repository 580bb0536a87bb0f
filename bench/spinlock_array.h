/* SPDX-License-Identifier: MIT */
/*
 * A yardstick: the descriptor table of 2004, as far as a lookup needs it.
 *
 * One spinlock around the array of pointers; a lookup counts the file, and
 * whoever is done with it uncounts it.
 */
#ifndef BENCH_SPINLOCK_ARRAY_H
#define BENCH_SPINLOCK_ARRAY_H

#include <stdint.h>

struct array_file {
	uint32_t refs;
};

struct array_table {
	uint32_t held; /* the lock; guards all that follows */
	unsigned int size;
	struct array_file **files;
};

/* @files has @size places, which may be empty. */
void array_init(struct array_table *table, struct array_file **files,
		unsigned int size);

/* Own the file behind a number.  Return: NULL when it is not open. */
struct array_file *array_get(struct array_table *table, int fd);

/* No longer own it. */
void array_put(struct array_file *file);

#endif
