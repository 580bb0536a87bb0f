/* SPDX-License-Identifier: MIT */
/* Which blocks of memory do two recordings have in common, with a write? */
#include <stdlib.h>

#include "../harness.h"
#include "pairs.h"

#define WORD 8u

/* One word that an access touches. */
struct touch {
	uintptr_t word;
	const struct access *access;
	unsigned int cpu;
};

struct touches {
	struct touch *touch;
	size_t count;
	size_t capacity;
};

static void touch(struct touches *touches, uintptr_t word,
		  const struct access *access, unsigned int cpu)
{
	if (touches->count == touches->capacity) {
		touches->capacity = 2 * touches->capacity + 1024;
		touches->touch =
			realloc(touches->touch,
				touches->capacity * sizeof(struct touch));
		check(touches->touch);
	}
	touches->touch[touches->count++] = (struct touch){ word, access, cpu };
}

static void touch_all(struct touches *touches, const struct recording *from,
		      unsigned int cpu)
{
	const struct access *access;
	uintptr_t word, end;
	size_t i;

	for (i = 0; i < from->count; i++) {
		access = &from->accesses[i];
		end = access->address + access->size;
		for (word = access->address / WORD; word * WORD < end; word++)
			touch(touches, word, access, cpu);
	}
}

static int compare(const void *a, const void *b)
{
	const struct touch *x = a, *y = b;

	if (x->word != y->word)
		return x->word < y->word ? -1 : 1;
	return (int)x->cpu - (int)y->cpu;
}

/* Touches of one block: does one thread write what the other one touches? */
static bool is_conflict(const struct touch *touch, size_t n)
{
	bool touched[2] = { false }, written[2] = { false };
	size_t i;

	for (i = 0; i < n; i++) {
		touched[touch[i].cpu] = true;
		written[touch[i].cpu] |= touch[i].access->write;
	}
	return (touched[0] && written[1]) || (written[0] && touched[1]);
}

static void tell(const struct touch *touch, size_t n, uintptr_t block,
		 void (*found)(const struct share *share, void *arg), void *arg)
{
	struct share share = { .block = block };
	size_t i;

	for (i = 0; i < n; i++) {
		share.access = touch[i].access;
		share.cpu = touch[i].cpu;
		found(&share, arg);
	}
}

size_t conflicts(const struct recording *a, const struct recording *b,
		 unsigned int grain,
		 void (*found)(const struct share *share, void *arg), void *arg)
{
	static struct touches touches; /* kept for the next time */
	size_t i, next, blocks = 0;
	uintptr_t block;

	touches.count = 0;
	touch_all(&touches, a, 0);
	touch_all(&touches, b, 1);
	qsort(touches.touch, touches.count, sizeof(struct touch), compare);
	for (i = 0; i < touches.count; i = next) {
		block = touches.touch[i].word * WORD / grain;
		for (next = i; next < touches.count; next++)
			if (touches.touch[next].word * WORD / grain != block)
				break;
		if (!is_conflict(&touches.touch[i], next - i))
			continue;
		blocks++;
		if (found)
			tell(&touches.touch[i], next - i, block * grain, found,
			     arg);
	}
	return blocks;
}
