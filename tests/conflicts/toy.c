/* SPDX-License-Identifier: MIT */
/* See toy.h. */
#include <stdlib.h>
#include <string.h>

#include "toy.h"

uint64_t toy_read(const struct toy *toy, unsigned int i)
{
	return toy->word[i];
}

void toy_write(struct toy *toy, unsigned int i)
{
	toy->word[i] = i;
}

void toy_add(struct toy *toy, unsigned int i)
{
	__atomic_fetch_add(&toy->word[i], 1, __ATOMIC_RELAXED);
}

void toy_swap(struct toy *toy, unsigned int i, uint64_t *expected)
{
	__atomic_compare_exchange_n(&toy->word[i], expected, 2, 0,
				    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void toy_copy(struct toy *to, const struct toy *from)
{
	memcpy(to, from, sizeof(*to));
}

void toy_fill(struct toy *toy, size_t words)
{
	memset(toy, 0, words * sizeof(toy->word[0]));
}

void toy_allocate(size_t bytes)
{
	free(malloc(bytes));
}

static void __attribute__((noinline))
write_below(struct toy *toy, unsigned int i)
{
	toy->word[i] = i;
	__asm__ volatile("" ::: "memory"); /* not a tail call */
}

void toy_write_inside(struct toy *toy, unsigned int i)
{
	write_below(toy, i);
	__asm__ volatile("" ::: "memory");
}
