/* SPDX-License-Identifier: MIT */
/* What a misspelt word was probably meant to be. */
#ifndef FRONT_NEAREST_H
#define FRONT_NEAREST_H

#include <stddef.h>

/**
 * struct nearest - the best guess so far.
 * @word: what was written, @length bytes of it.
 * @guess: a word that is like it, or NULL.
 * @distance: how many letters are different.
 */
struct nearest {
	const char *word;
	size_t length;
	const char *guess;
	size_t distance;
};

/* Look for words like the first @length bytes of @word. */
struct nearest nearest_to(const char *word, size_t length);

/* Is this one nearer than the one before? */
void nearest_try(struct nearest *nearest, const char *candidate);

#define NEAREST_SIZE 64

/* Write " (did you mean '--debug'?)" with the prefix "--" to @text, of
 * NEAREST_SIZE bytes, or nothing.  Return: @text. */
const char *nearest_text(const struct nearest *nearest, const char *prefix,
			 char *text);

#endif
