/* SPDX-License-Identifier: MIT */
/*
 * Bits in words of 64.  Writers hold the lock of what the bits belong to;
 * accesses are relaxed atomics, since some are also peeked at without it.
 */
#ifndef BASE_BITMAP_H
#define BASE_BITMAP_H

#include "base/atomic.h"

#define BITS_PER_WORD 64u

static inline uint64_t bit_mask(unsigned int bit)
{
	return UINT64_C(1) << (bit % BITS_PER_WORD);
}

static inline bool bit_is_set(const uint64_t *words, unsigned int bit)
{
	return load_relaxed(&words[bit / BITS_PER_WORD]) & bit_mask(bit);
}

static inline void bit_set(uint64_t *words, unsigned int bit)
{
	uint64_t *word = &words[bit / BITS_PER_WORD];

	store_relaxed(word, load_relaxed(word) | bit_mask(bit));
}

static inline void bit_clear(uint64_t *words, unsigned int bit)
{
	uint64_t *word = &words[bit / BITS_PER_WORD];

	store_relaxed(word, load_relaxed(word) & ~bit_mask(bit));
}

/* Set or clear; writes nothing when the bit is right already. */
static inline void bit_assign(uint64_t *words, unsigned int bit, bool value)
{
	if (bit_is_set(words, bit) == value)
		return;
	if (value)
		bit_set(words, bit);
	else
		bit_clear(words, bit);
}

/* The first zero bit at or after @from, or @bits when there is none. */
static inline unsigned int bit_next_zero(const uint64_t *words,
					 unsigned int bits, unsigned int from)
{
	unsigned int i;
	uint64_t zeros;

	for (i = from; i < bits; i = (i / BITS_PER_WORD + 1) * BITS_PER_WORD) {
		zeros = ~load_relaxed(&words[i / BITS_PER_WORD]);
		zeros &= ~UINT64_C(0) << (i % BITS_PER_WORD);
		if (!zeros)
			continue;
		i = i / BITS_PER_WORD * BITS_PER_WORD +
		    (unsigned int)__builtin_ctzll(zeros);
		return i < bits ? i : bits;
	}
	return bits;
}

#endif
