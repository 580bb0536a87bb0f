/* SPDX-License-Identifier: MIT */
/* What tests/without.c takes away, and whether it is gone. */
#ifndef TESTS_WITHOUT_H
#define TESTS_WITHOUT_H

#include <stdbool.h>

/* The environment's variable with the list of what was taken away. */
#define WITHOUT_LIST "BERTH_WITHOUT"

#define STACK_MAX ((rlim_t)128 * 1024)
#define SPACE_MAX ((rlim_t)4 << 30)

bool have_membarrier(void);

/* What is in the list and yet there, or NULL. */
const char *still_there(void);

#endif
