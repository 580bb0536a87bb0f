/* SPDX-License-Identifier: MIT */
/* A few accesses, compiled like the library: see unit_recorder.c. */
#ifndef CONFLICTS_TOY_H
#define CONFLICTS_TOY_H

#include <stddef.h>
#include <stdint.h>

/* Two lines. */
struct toy {
	uint64_t word[16] __attribute__((aligned(64)));
};

uint64_t toy_read(const struct toy *toy, unsigned int i);
void toy_write(struct toy *toy, unsigned int i);
void toy_add(struct toy *toy, unsigned int i);
/* A compare-and-swap. */
void toy_swap(struct toy *toy, unsigned int i, uint64_t *expected);
void toy_copy(struct toy *to, const struct toy *from);
void toy_fill(struct toy *toy, size_t words);
/* Allocates and frees a block of so many bytes. */
void toy_allocate(size_t bytes);
void toy_write_inside(struct toy *toy, unsigned int i);

#endif
