/* SPDX-License-Identifier: MIT */
/* What is to be tidied when a thread ends. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <stdbool.h>

/*
 * Run @fn once when the calling thread ends, after its own functions but before
 * its thread-local variables go.  At most THREAD_EXITS different functions;
 * asking twice for the same one is harmless.  False when there is no room, or
 * the system has no key or no memory for it: the caller then keeps nothing in
 * thread-local memory.
 */
#define THREAD_EXITS 4
bool thread_at_exit(void (*fn)(void));

#endif
