/* SPDX-License-Identifier: MIT */
/* A record of berth's reports; see harness.h. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <berth/kref.h>

#include "harness.h"

enum {
	REPORTS_KEPT = 64,
};

static struct {
	pthread_mutex_t lock;
	unsigned int count;
	char invariants[REPORTS_KEPT][40];
} reports = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void record(const char *invariant, const char *detail, void *arg)
{
	check(arg == &reports);
	check(invariant && *invariant);
	check(detail && *detail);
	pthread_mutex_lock(&reports.lock);
	if (reports.count < REPORTS_KEPT)
		snprintf(reports.invariants[reports.count],
			 sizeof(reports.invariants[0]), "%s", invariant);
	reports.count++;
	pthread_mutex_unlock(&reports.lock);
}

void record_reports(void)
{
	reports.count = 0;
	berth_set_report_handler(record, &reports);
}

unsigned int stop_recording(void)
{
	berth_set_report_handler(NULL, NULL);
	return reports.count;
}

unsigned int reports_of(const char *invariant)
{
	unsigned int found = 0, i;

	pthread_mutex_lock(&reports.lock);
	check(reports.count <= REPORTS_KEPT);
	for (i = 0; i < reports.count; i++)
		found += !strcmp(reports.invariants[i], invariant);
	pthread_mutex_unlock(&reports.lock);
	return found;
}
