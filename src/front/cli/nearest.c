/* SPDX-License-Identifier: MIT */
/*
 * What a misspelt word was probably meant to be: the known one that takes the
 * fewest letters to add, drop, change, or swap with their neighbours.
 */
#include "front/cli/nearest.h"

#include <stdio.h>
#include <string.h>

/* The longest of our words is "allow_other"; no guess is made for what is
 * twice as long. */
#define LETTERS_MAX 24

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* cost[i][j] is the distance between the first i letters of @a and the first j
 * of @b; it follows from those of fewer letters. */
static size_t next_cost(size_t cost[][LETTERS_MAX + 1], const char *a, size_t i,
			const char *b, size_t j)
{
	size_t least;

	if (i == 0 || j == 0)
		return i + j;
	least = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
	least = smaller(least, cost[i - 1][j] + 1);
	least = smaller(least, cost[i][j - 1] + 1);
	if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
		least = smaller(least, cost[i - 2][j - 2] + 1);
	return least;
}

static size_t distance(const char *a, size_t a_length, const char *b,
		       size_t b_length)
{
	size_t cost[LETTERS_MAX + 1][LETTERS_MAX + 1];

	for (size_t i = 0; i <= a_length; i++) {
		for (size_t j = 0; j <= b_length; j++)
			cost[i][j] = next_cost(cost, a, i, b, j);
	}
	return cost[a_length][b_length];
}

struct nearest nearest_to(const char *word, size_t length)
{
	/* Of short words fewer letters may be wrong, or all would be alike. */
	return (struct nearest){
		.word = word,
		.length = length,
		.distance = length < 3 ? 2 : length / 2 + 1,
	};
}

void nearest_try(struct nearest *nearest, const char *candidate)
{
	size_t length = strlen(candidate), letters;

	if (length > LETTERS_MAX || nearest->length > LETTERS_MAX)
		return;
	letters = distance(nearest->word, nearest->length, candidate, length);
	if (letters < nearest->distance && letters < length) {
		nearest->distance = letters;
		nearest->guess = candidate;
	}
}

const char *nearest_text(const struct nearest *nearest, const char *prefix,
			 char *text)
{
	text[0] = '\0';
	if (nearest->guess)
		snprintf(text, NEAREST_SIZE, " (did you mean '%s%s'?)", prefix,
			 nearest->guess);
	return text;
}
