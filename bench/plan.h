/* SPDX-License-Identifier: MIT */
/* From the words of the command line to what is to be measured. */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include "bench.h"

/* The command line as it was given. */
struct bench_words {
	const char *threads;
	const char *seconds;
	const char *runs;
	const char *against;
	const char *cpus; /* NULL: all that there are */
	const char *json; /* NULL: none */
	char **workloads;
	int nr_workloads;
	bool small_table;
	bool idle_thread;
	bool no_pin;
};

/* What is to be measured. */
struct bench_plan {
	struct bench_options options;
	const struct bench_workload *workloads[BENCH_LIST_MAX];
	unsigned int nr_workloads;
	const char *against[BENCH_LIST_MAX]; /* names of contenders */
	unsigned int nr_against;
	bool against_all;
};

/* Fill in an empty plan.  Return: 0, or -1 after a message that says what is
 * wrong and what would be right. */
int bench_read_words(struct bench_plan *plan, const struct bench_words *words);

/* Is the contender of a planned workload to be measured? */
bool bench_takes_part(const struct bench_plan *plan,
		      const struct bench_contender *contender);

#endif
