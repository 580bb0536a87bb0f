/* SPDX-License-Identifier: MIT */
/* Where broken contracts go: the user's handler, or stderr and abort(). */
#include <stdio.h>
#include <stdlib.h>

#include <berth/kref.h>

#include "base/atomic.h"
#include "base/report.h"

static void report_default(const char *invariant, const char *detail, void *arg)
{
	(void)arg;
	fprintf(stderr, "berth: %s: %s\n", invariant, detail);
	abort();
}

/*
 * Handler and argument are set together before threads start, as the header
 * asks; relaxed is enough then, and a late change can at worst call the former
 * handler.
 */
static void (*report_handler)(const char *, const char *,
			      void *) = report_default;
static void *report_arg;

void report(const char *invariant, const char *detail)
{
	void (*handler)(const char *, const char *, void *) =
		load_relaxed(&report_handler);

	handler(invariant, detail, load_relaxed(&report_arg));
}

void report_broken(const char *cond, const char *file, int line)
{
	fprintf(stderr, "berth: broken invariant: %s (%s:%d)\n", cond, file,
		line);
	abort();
}

void berth_set_report_handler(void (*handler)(const char *, const char *,
					      void *),
			      void *arg)
{
	store_relaxed(&report_arg, arg);
	store_relaxed(&report_handler, handler ? handler : report_default);
}
