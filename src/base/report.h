/* SPDX-License-Identifier: MIT */
/* Broken contracts: by a caller, or by berth itself. */
#ifndef BASE_REPORT_H
#define BASE_REPORT_H

#include <stdio.h>

/*
 * Tell the handler of berth_set_report_handler() that @invariant does not
 * hold.  Returns when the handler does; the caller then carries on in the
 * safest way.
 */
void report(const char *invariant, const char *detail);

/* For what only berth itself can break; the caller can not carry on. */
#define invariant(cond)                                           \
	do {                                                      \
		if (__builtin_expect(!(cond), 0))                 \
			report_broken(#cond, __FILE__, __LINE__); \
	} while (0)

void report_broken(const char *cond, const char *file, int line)
	__attribute__((noreturn, cold));

#endif
