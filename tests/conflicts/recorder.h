/* SPDX-License-Identifier: MIT */
/*
 * What memory does a thread touch?
 *
 * The code in question is compiled with -fsanitize=thread, for the calls that
 * this puts before every load and store; but linked with these hooks instead of
 * ThreadSanitizer's library.  Each performs the access, if that is its part, and
 * while its thread is recording it writes it down.  What functions of other
 * libraries touch is told by wrappers around them (wrappers.c, externals).
 */
#ifndef CONFLICTS_RECORDER_H
#define CONFLICTS_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The place of an access, and the places of the calls that led there. */
#define ACCESS_FRAMES 4

struct access {
	uintptr_t address;
	uint32_t size; /* bytes */
	bool write;
	uintptr_t pc[ACCESS_FRAMES]; /* innermost first; 0: no more */
};

struct recording {
	struct access *accesses;
	size_t count;
	size_t capacity;
};

void recording_init(struct recording *recording, size_t capacity);
void recording_free(struct recording *recording);

/* The calling thread's accesses from now on; those of before are forgotten. */
void recorder_start(struct recording *recording);
void recorder_stop(void);

/* For wrappers: so much is read or written from the place @pc. */
void record(const volatile void *address, size_t size, bool write, void *pc);

/* Where the program was loaded, for who looks places up in its file. */
uintptr_t program_base(void);

#endif
