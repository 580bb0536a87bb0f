/* SPDX-License-Identifier: MIT */
/*
 * What the parts of `berth bench` share.
 *
 * A *workload* is a loop of equal units; a *contender* is one way of doing
 * them; a *run* is one contender at work for a set time with a number of
 * threads, in a child process of its own, so that no run inherits threads,
 * heap or descriptors from another.  bench.c runs them in turn, and report.c
 * tells what came out.
 *
 * The threads of a run go through the same steps (run.c):
 *
 *	setup()		by the first thread, for all
 *	begin()		each thread, for itself
 *	loop()		each thread, from a barrier until bench_stopped();
 *			once to warm up, then once measured
 *	teardown()	by the first thread, when all have ended
 *
 * The first thread is the process's only one when one is wanted.
 */
#ifndef BENCH_H
#define BENCH_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/atomic.h"

#define BENCH_THREADS_MAX 512u
#define BENCH_LIST_MAX	  32u

/* Descriptors that are open before the workload begins, unless the table is
 * to be small: so many that the first 64 numbers do not do. */
#define BENCH_FURTHER_FDS 64u

/* Descriptors that every process has open from its start. */
#define BENCH_STDIO_FDS 3u

struct bench_options {
	unsigned int threads[BENCH_LIST_MAX]; /* rising */
	unsigned int nr_threads;
	unsigned int runs; /* of each contender and number of threads */
	double seconds;	   /* of each run */
	bool small_table;
	bool idle_thread;
	bool pin;
	cpu_set_t cpus;
};

struct bench_run;

/* One thread of a run.  Each is alone on its cache lines. */
struct bench_thread {
	struct bench_run *run;
	unsigned int index;
	int fd;
	void *table;
	void *object;
	const char *path;
	uint64_t units; /* done since the loop began, stored at its end */
	double began;	/* when, in seconds */
	double ended;
	double waited; /* for a CPU, in between */
	double spent;  /* on the units, where the loop does more; else 0 */
} __attribute__((aligned(2 * CACHE_LINE)));

/* Of the steps, only loop() must be there. */
struct bench_contender {
	const char *name;
	const char *does; /* a unit of it, when it is not the workload's own */
	void (*setup)(struct bench_run *run);
	void (*begin)(struct bench_thread *thread);
	void (*loop)(struct bench_thread *thread);
	void (*teardown)(struct bench_run *run);
	bool always;	  /* measured whether asked for or not */
	bool needs_tmpfs; /* bench_tmpfs_find() comes first */
};

struct bench_workload {
	const char *name; /* "name" or "name:variant" */
	const char *unit;
	/* Their threads share one object, instead of having one each. */
	bool shared;
	const struct bench_contender *const *contenders; /* up to NULL */
};

#define for_each_contender(workload, at) \
	for ((at) = (workload)->contenders; *(at); (at)++)

extern const struct bench_workload open_loop_workloads[]; /* ditto */
extern const struct bench_workload fget_workloads[];
extern const struct bench_workload fork_copy_workloads[];
extern const struct bench_workload kref_workloads[];

/* ---- What a contender may use: run.c ---- */

struct bench_run {
	const struct bench_workload *workload;
	const struct bench_contender *contender;
	const struct bench_options *options;
	struct bench_thread *threads;
	unsigned int nr_threads;
	void *state; /* of the contender */
};

extern bool bench_stop;

/* Is the time over?  The flag is written once a run, so looking is cheap. */
static inline bool bench_stopped(void)
{
	return load_relaxed(&bench_stop);
}

/* The run is worth nothing: tells why, and ends its process. */
void bench_fail(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn, cold));

/* Has each of so many threads a CPU of its own? */
bool bench_pins(const struct bench_options *options, unsigned int nr_threads);

/* How many descriptors are opened before the workload begins. */
unsigned int bench_fds_before(const struct bench_run *run);

/* Memory that shares no cache line with any other. */
void *bench_alloc(size_t size);

/* What comes out of a run. */
struct bench_figures {
	double rate; /* units a second */
	/* The part of the time that its threads waited for a CPU, although
	 * there were enough: others were at work. */
	double waited;
};

/* One run, in a child process.  Return: 0, or -1 after a message. */
int bench_run(const struct bench_workload *workload,
	      const struct bench_contender *contender,
	      const struct bench_options *options, unsigned int nr_threads,
	      struct bench_figures *figures);

/* ---- Where the kernel's contender works: tmpfs.c ---- */

/* Find a directory on a tmpfs.  Return: 0, or -1 after a message. */
int bench_tmpfs_find(void);

/* In a run's process: make it the working directory. */
void bench_tmpfs_enter(void);

/* Remove what is left of it. */
void bench_tmpfs_remove(void);

/* ---- What came out: report.c ---- */

/* One contender with one number of threads. */
struct bench_result {
	const struct bench_workload *workload;
	const struct bench_contender *contender;
	unsigned int threads;
	unsigned int nr_runs;
	double *runs;  /* units a second, in the order they were run */
	double waited; /* the most of them */
	double median;
	double min;
	double max;
};

struct bench_report {
	struct bench_result *results; /* each with its runs, to be freed */
	unsigned int nr_results;
	FILE *out;	 /* the table */
	FILE *json;	 /* NULL: none */
	char *json_path; /* what it is to be called; NULL: it is already */
	char *json_temp; /* what it is called until then */
};

/* Open the output; @json is a path, "-" or NULL.  Return: 0, or -1 after a
 * message. */
int report_open(struct bench_report *report, const char *json);

/* What holds for all tables. */
void report_head(const struct bench_report *report,
		 const struct bench_options *options);

/* On a terminal: a line that the next one overwrites, and its end. */
void report_progress(const struct bench_result *result, unsigned int runs);
void report_progress_end(void);

/* Find the median and the range of a result whose runs are all there. */
void report_summarise(struct bench_result *result);

/* The table of a workload; its results are those from @first on. */
void report_workload(const struct bench_report *report, unsigned int first);

/* The summary, and the JSON.  Return: 0, or -1 after a message. */
int report_finish(struct bench_report *report,
		  const struct bench_options *options);

/* Free the report, and leave nothing half done behind. */
void report_close(struct bench_report *report);

#endif
