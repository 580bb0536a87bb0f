/* SPDX-License-Identifier: MIT */
/*
 * berth bench: berth beside the kernel and beside yardsticks, in one go.
 *
 * For each workload, every contender runs once with every number of threads,
 * then all again, round after round, each round beginning one place further
 * on: what disturbs the machine for a while disturbs all alike, and nobody
 * always comes after the same one.
 */
#include "bench.h"

#include <signal.h>
#include <stdlib.h>

#include "front/cli/cli.h"
#include "front/cli/message.h"
#include "plan.h"

static volatile sig_atomic_t interrupted;

/* ---- Running ---- */

static int add_result(struct bench_report *report,
		      const struct bench_plan *plan,
		      const struct bench_workload *workload,
		      const struct bench_contender *contender,
		      unsigned int threads)
{
	size_t size = (report->nr_results + 1) * sizeof(*report->results);
	struct bench_result *results = realloc(report->results, size);
	double *runs = calloc(plan->options.runs, sizeof(*runs));

	if (results)
		report->results = results;
	if (!results || !runs) {
		free(runs);
		message("no memory for the results");
		return -1;
	}
	results[report->nr_results++] = (struct bench_result){
		.workload = workload,
		.contender = contender,
		.threads = threads,
		.runs = runs,
	};
	return 0;
}

/* A line of the table for each number of threads and each contender. */
static int add_results(struct bench_report *report,
		       const struct bench_plan *plan,
		       const struct bench_workload *workload)
{
	const struct bench_contender *const *at;

	for (unsigned int i = 0; i < plan->options.nr_threads; i++)
		for_each_contender(
			workload,
			at) if (bench_takes_part(plan, *at) &&
				add_result(report, plan, workload, *at,
					   plan->options.threads[i])) return -1;
	return 0;
}

static int run_once(struct bench_result *result,
		    const struct bench_options *options)
{
	struct bench_figures figures;

	report_progress(result, options->runs);
	if (bench_run(result->workload, result->contender, options,
		      result->threads, &figures) ||
	    interrupted)
		return -1;
	if (figures.waited > result->waited)
		result->waited = figures.waited;
	result->runs[result->nr_runs++] = figures.rate;
	return 0;
}

static int run_workload(struct bench_report *report,
			const struct bench_plan *plan,
			const struct bench_workload *workload)
{
	unsigned int first = report->nr_results, n;

	if (add_results(report, plan, workload))
		return -1;
	n = report->nr_results - first;
	for (unsigned int round = 0; round < plan->options.runs; round++)
		for (unsigned int i = 0; i < n; i++)
			if (run_once(&report->results[first + (i + round) % n],
				     &plan->options))
				return -1;
	for (unsigned int i = 0; i < n; i++)
		report_summarise(&report->results[first + i]);
	report_progress_end();
	report_workload(report, first);
	return 0;
}

static void on_interrupt(int signal)
{
	interrupted = signal;
}

/* No SA_RESTART: the wait for a run shall end. */
static void catch_interrupts(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_interrupt };
	struct sigaction former;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (!sigaction(signals[i], NULL, &former) &&
		    former.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

static bool needs_tmpfs(const struct bench_plan *plan)
{
	const struct bench_contender *const *at;

	for (unsigned int i = 0; i < plan->nr_workloads; i++)
		for_each_contender(
			plan->workloads[i],
			at) if ((*at)->needs_tmpfs &&
				bench_takes_part(plan, *at)) return true;
	return false;
}

/* What would fail later shall fail before the first run. */
static int prepare(struct bench_report *report, const struct bench_plan *plan,
		   const char *json)
{
	if (report_open(report, json))
		return -1;
	return needs_tmpfs(plan) ? bench_tmpfs_find() : 0;
}

static int measure(const struct bench_plan *plan, const char *json)
{
	struct bench_report report = { .results = NULL };
	int error = prepare(&report, plan, json);

	if (!error)
		report_head(&report, &plan->options);
	for (unsigned int i = 0; i < plan->nr_workloads && !error; i++)
		error = run_workload(&report, plan, plan->workloads[i]);
	if (!error)
		error = report_finish(&report, &plan->options);
	report_progress_end();
	report_close(&report);
	bench_tmpfs_remove();
	return error ? CLI_FAILED : 0;
}

/* ---- The command line ---- */

enum key {
	KEY_SMALL_TABLE = 0x100,
	KEY_IDLE_THREAD,
	KEY_CPUS,
	KEY_NO_PIN,
};

static const struct argp_option argp_options[] = {
	{ "threads", 't', "LIST", 0, "Numbers of threads (default: 1,2)", 0 },
	{ "seconds", 's', "S", 0, "Length of each run (default: 0.3)", 0 },
	{ "runs", 'r', "N", 0,
	  "Runs of each contender and number of threads (default: 5)", 0 },
	{ "against", 'a', "LIST", 0,
	  "Contenders besides berth and the yardsticks (default: kernel)", 0 },
	{ "json", 'j', "FILE", 0,
	  "Write the results as JSON, too; - is the standard output, and then "
	  "the table goes to the standard error",
	  0 },
	{ "small-table", KEY_SMALL_TABLE, NULL, 0,
	  "Do not open 64 further descriptors first: the table has not grown",
	  0 },
	{ "idle-thread", KEY_IDLE_THREAD, NULL, 0,
	  "Have a further thread that does nothing: a run with one thread is "
	  "no single-threaded process then",
	  0 },
	{ "cpus", KEY_CPUS, "CPUS", 0,
	  "Run on these: a mask such as 0x3 or a list such as 0,2-3", 0 },
	{ "no-pin", KEY_NO_PIN, NULL, 0,
	  "Let threads move between CPUs; else each has one of its own, if "
	  "there are enough",
	  0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bench_words *words = state->input;

	switch (key) {
	case 't':
		words->threads = arg;
		return 0;
	case 's':
		words->seconds = arg;
		return 0;
	case 'r':
		words->runs = arg;
		return 0;
	case 'a':
		words->against = arg;
		return 0;
	case 'j':
		words->json = arg;
		return 0;
	case KEY_SMALL_TABLE:
		words->small_table = true;
		return 0;
	case KEY_IDLE_THREAD:
		words->idle_thread = true;
		return 0;
	case KEY_CPUS:
		words->cpus = arg;
		return 0;
	case KEY_NO_PIN:
		words->no_pin = true;
		return 0;
	case ARGP_KEY_ARGS:
		words->workloads = state->argv + state->next;
		words->nr_workloads = state->argc - state->next;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char doc[] =
	"Measure berth beside the kernel.\v"
	"Workloads:\n"
	"  open-loop              open, 5 reads of 1 byte, 4 seeks, close\n"
	"  open-loop:shared-file  the same, all threads on one file\n"
	"  fget                   lookups of a descriptor, in four variants:\n"
	"    fget:borrow-same       borrow and return, one for all threads\n"
	"    fget:borrow-own        borrow and return, one a thread\n"
	"    fget:ref-same          owned get and put, one for all threads\n"
	"    fget:ref-own           owned get and put, one a thread\n"
	"  kref:own               a reference taken and given back, one count a "
	"thread\n"
	"  kref:shared            the same, one count for all threads\n"
	"  fork-copy              a copy of 16,384 descriptors, in four "
	"variants:\n"
	"    fork-copy:copy         of as many files\n"
	"    fork-copy:copy-end     of as many files, and the copy's end\n"
	"    fork-copy:dups         of a few files\n"
	"    fork-copy:dups-end     of a few files, and the copy's end\n"
	"  all\n"
	"\n"
	"Contenders: kernel (the same by system calls on a tmpfs; for fget "
	"and kref, which it has no call for, F_GETFD; for fork-copy, "
	"unshare); of open-loop and fget the designs that berth's descriptor "
	"table descends from, each under the same VFS: spinlock, rwlock, kref "
	"(2004), fdtable, fdtable-packed, fdtable-split (2005). Yardsticks, "
	"always there: of fget empty-rcu (a read section with nothing in it) "
	"and spinlock; of kref hashed (counts by locks) and atomic-add. all "
	"is all of them.\n"
	"\n"
	"Contenders run in turn, each run in a process of its own, after a "
	"short warm-up. Every result of every call is checked. The exit status "
	"is 1 when a run failed, 2 when the command line was wrong.";

static const struct argp argp = {
	.options = argp_options,
	.parser = parse,
	.args_doc = "WORKLOAD...",
	.doc = doc,
	.children = cli_children,
};

int cmd_bench(int argc, char **argv)
{
	struct bench_words words = {
		.threads = "1,2",
		.seconds = "0.3",
		.runs = "5",
		.against = "kernel",
	};
	struct bench_plan plan = { .nr_workloads = 0 };
	int status;

	cli_parse(&argp, argc, argv, 0, &words);
	if (bench_read_words(&plan, &words))
		return CLI_USAGE;
	catch_interrupts();
	status = measure(&plan, words.json);
	if (interrupted) { /* end as if it had not been caught */
		signal(interrupted, SIG_DFL);
		raise(interrupted);
	}
	return status;
}
