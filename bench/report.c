/* SPDX-License-Identifier: MIT */
/*
 * What came out of the runs: a table and a summary for people, JSON for
 * programs.
 *
 * Figures are medians over the runs.  The spread is the whole range, in per
 * cent of the median; nothing is left out.  The JSON file appears under its
 * name when it is complete, or not at all.
 */
#include "bench.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "front/cli/message.h"

/* Threads that wait for a CPU for more of their time were disturbed. */
#define QUIET 0.05

/* ---- Figures ---- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void report_summarise(struct bench_result *result)
{
	unsigned int n = result->nr_runs;
	double *sorted = malloc(n * sizeof(*sorted));

	if (!sorted)
		abort();
	memcpy(sorted, result->runs, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	result->min = sorted[0];
	result->max = sorted[n - 1];
	result->median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
	free(sorted);
}

/* What a unit takes, as its thread sees it. */
static double ns_per_unit(const struct bench_result *result)
{
	return (double)result->threads * 1e9 / result->median;
}

static double spread_percent(const struct bench_result *result)
{
	return (result->max - result->min) * 100 / result->median;
}

/* The same workload by another contender or with other threads, or NULL. */
static const struct bench_result *find(const struct bench_report *report,
				       const struct bench_result *like,
				       const char *contender,
				       unsigned int threads)
{
	for (unsigned int i = 0; i < report->nr_results; i++) {
		const struct bench_result *result = &report->results[i];

		if (result->workload == like->workload &&
		    result->threads == threads &&
		    strcmp(result->contender->name, contender) == 0)
			return result;
	}
	return NULL;
}

/* Its throughput over that of another contender; 0 if there is none. */
static double ratio_to(const struct bench_report *report,
		       const struct bench_result *result, const char *contender)
{
	const struct bench_result *other =
		find(report, result, contender, result->threads);

	return other ? result->median / other->median : 0;
}

/* Its throughput over its own with one thread; 0 if there is none. */
static double scaling(const struct bench_report *report,
		      const struct bench_result *result)
{
	const struct bench_result *one =
		find(report, result, result->contender->name, 1);

	return one ? result->median / one->median : 0;
}

/* ---- The table ---- */

#define CELL 24

/* 1234567.8 as 1,234,568. */
static void format_count(char cell[CELL], double count)
{
	char digits[CELL];
	size_t n, at = 0;

	snprintf(digits, sizeof(digits), "%.0f", count);
	n = strlen(digits);
	for (size_t i = 0; i < n && at < CELL - 2; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			cell[at++] = ',';
		cell[at++] = digits[i];
	}
	cell[at] = '\0';
}

/* Three digits that count. */
static int decimals(double value)
{
	return value < 10 ? 2 : value < 100 ? 1 : 0;
}

static void format_ratio(char cell[CELL], double ratio)
{
	if (ratio > 0)
		snprintf(cell, CELL, "%.*fx", decimals(ratio), ratio);
	else
		snprintf(cell, CELL, "-");
}

static void print_line(const struct bench_report *report,
		       const struct bench_result *result)
{
	char count[CELL], vs_kernel[CELL], scale[CELL];
	double ns = ns_per_unit(result);

	format_count(count, result->median);
	format_ratio(vs_kernel, ratio_to(report, result, "kernel"));
	format_ratio(scale, scaling(report, result));
	fprintf(report->out, "  %7u  %-14s %14s %9.*f %7.1f%% %9s %7s\n",
		result->threads, result->contender->name, count, decimals(ns),
		ns, spread_percent(result), vs_kernel, scale);
}

static void print_contenders(const struct bench_report *report,
			     unsigned int first)
{
	for (unsigned int i = first; i < report->nr_results; i++) {
		const struct bench_result *result = &report->results[i];

		if (result->threads == report->results[first].threads &&
		    result->contender->does)
			fprintf(report->out, "  %s: %s\n",
				result->contender->name,
				result->contender->does);
	}
}

/* Figures from a busy machine are not worth much, and shall say so. */
static void print_disturbance(const struct bench_report *report,
			      unsigned int first)
{
	double most = 0;

	for (unsigned int i = first; i < report->nr_results; i++)
		if (report->results[i].waited > most)
			most = report->results[i].waited;
	if (most > QUIET)
		fprintf(report->out,
			"  The machine was busy: a run waited up to %.0f %% of "
			"its time for a CPU; measure again.\n",
			most * 100);
}

void report_workload(const struct bench_report *report, unsigned int first)
{
	const struct bench_workload *workload = report->results[first].workload;

	fprintf(report->out, "\n%s: %s\n", workload->name, workload->unit);
	print_contenders(report, first);
	fprintf(report->out, "  %7s  %-14s %14s %9s %8s %9s %7s\n", "threads",
		"contender", "units/s", "ns each", "spread", "to kernel",
		"1 -> N");
	for (unsigned int i = first; i < report->nr_results; i++)
		print_line(report, &report->results[i]);
	print_disturbance(report, first);
	fflush(report->out);
}

void report_head(const struct bench_report *report,
		 const struct bench_options *options)
{
	fprintf(report->out,
		"%u run%s of %g s of each, in turn; medians, and their whole "
		"spread; %d CPU%s%s; %s table%s\n",
		options->runs, options->runs == 1 ? "" : "s", options->seconds,
		CPU_COUNT(&options->cpus),
		CPU_COUNT(&options->cpus) == 1 ? "" : "s",
		options->pin ? ", a thread on each" : "",
		options->small_table ? "small" : "grown",
		options->idle_thread ? "; an idle thread besides" : "");
}

/* ---- Progress ---- */

void report_progress(const struct bench_result *result, unsigned int runs)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%s: run %u of %u: %s, %u thread%s",
			result->workload->name, result->nr_runs + 1, runs,
			result->contender->name, result->threads,
			result->threads == 1 ? "" : "s");
}

void report_progress_end(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* ---- The summary ---- */

/* "berth 10.4x kernel", or the other way round if the other is ahead. */
static void print_ratio(const struct bench_report *report,
			const struct bench_result *result,
			const struct bench_result *other, const char *before)
{
	const char *own_name = result->contender->name;
	const char *other_name = other->contender->name;
	double ratio = result->median / other->median;
	char cell[CELL];

	format_ratio(cell, ratio < 1 ? 1 / ratio : ratio);
	fprintf(report->out, "%s%s %s %s", before,
		ratio < 1 ? other_name : own_name, cell,
		ratio < 1 ? own_name : other_name);
}

static void print_figure(const struct bench_report *report,
			 const struct bench_result *result)
{
	double scale = scaling(report, result);
	const char *before = ": ";

	fprintf(report->out, "%s, %u thread%s", result->workload->name,
		result->threads, result->threads == 1 ? "" : "s");
	for (unsigned int i = 0; i < report->nr_results; i++) {
		const struct bench_result *other = &report->results[i];

		if (other == result || other->workload != result->workload ||
		    other->threads != result->threads)
			continue;
		print_ratio(report, result, other, before);
		before = ", ";
	}
	if (result->threads > 1 && scale > 0)
		fprintf(report->out, "%s1 -> %u threads %.2fx", before,
			result->threads, scale);
	fputc('\n', report->out);
}

static void print_summary(const struct bench_report *report)
{
	fputc('\n', report->out);
	for (unsigned int i = 0; i < report->nr_results; i++)
		if (strcmp(report->results[i].contender->name, "berth") == 0)
			print_figure(report, &report->results[i]);
}

/* ---- JSON ---- */

static void add_ratio(cJSON *object, const char *key, double ratio)
{
	if (ratio > 0)
		cJSON_AddNumberToObject(object, key, ratio);
}

static cJSON *json_of(const struct bench_report *report,
		      const struct bench_result *result,
		      const struct bench_options *options)
{
	const char *does = result->contender->does;
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "workload", result->workload->name);
	cJSON_AddStringToObject(object, "contender", result->contender->name);
	cJSON_AddNumberToObject(object, "threads", result->threads);
	cJSON_AddNumberToObject(object, "ops_per_second", result->median);
	cJSON_AddNumberToObject(object, "ns_per_op", ns_per_unit(result));
	cJSON_AddItemToObject(
		object, "runs",
		cJSON_CreateDoubleArray(result->runs, (int)result->nr_runs));
	cJSON_AddNumberToObject(object, "min", result->min);
	cJSON_AddNumberToObject(object, "max", result->max);
	cJSON_AddNumberToObject(object, "spread_percent",
				spread_percent(result));
	cJSON_AddNumberToObject(object, "waited", result->waited);
	add_ratio(object, "ratio_to_kernel",
		  ratio_to(report, result, "kernel"));
	add_ratio(object, "scaling", scaling(report, result));
	cJSON_AddStringToObject(object, "op",
				does ? does : result->workload->unit);
	cJSON_AddNumberToObject(object, "seconds", options->seconds);
	cJSON_AddBoolToObject(object, "small_table", options->small_table);
	cJSON_AddBoolToObject(object, "idle_thread", options->idle_thread);
	cJSON_AddBoolToObject(object, "pinned",
			      bench_pins(options, result->threads));
	return object;
}

static char *json_text(const struct bench_report *report,
		       const struct bench_options *options)
{
	cJSON *array = cJSON_CreateArray();
	char *text;

	for (unsigned int i = 0; i < report->nr_results; i++)
		cJSON_AddItemToArray(
			array, json_of(report, &report->results[i], options));
	text = cJSON_Print(array);
	cJSON_Delete(array);
	return text;
}

/* ---- Files ---- */

static int complain(const char *path)
{
	message("--json: %s: %s", path, strerror(errno));
	return -1;
}

/* A file beside the one to come. */
static int open_temporary(struct bench_report *report)
{
	mode_t mask = umask(0);
	int fd = -1;

	umask(mask);
	if (asprintf(&report->json_temp, "%s.XXXXXX", report->json_path) < 0) {
		report->json_temp = NULL;
		return -1;
	}
	fd = mkstemp(report->json_temp);
	if (fd < 0) {
		free(report->json_temp);
		report->json_temp = NULL;
		return -1;
	}
	fchmod(fd, 0666 & ~mask);
	report->json = fdopen(fd, "w");
	return report->json ? 0 : -1;
}

int report_open(struct bench_report *report, const char *path)
{
	struct stat st;
	bool exists;

	report->out = stdout;
	if (!path)
		return 0;
	if (strcmp(path, "-") == 0) {
		report->out = stderr;
		report->json = stdout;
		return 0;
	}
	exists = stat(path, &st) == 0;
	if (exists && !S_ISREG(st.st_mode)) { /* a device, a pipe */
		report->json = fopen(path, "w");
		return report->json ? 0 : complain(path);
	}
	/* A symbolic link stays one. */
	report->json_path = exists ? realpath(path, NULL) : strdup(path);
	if (!report->json_path || open_temporary(report))
		return complain(path);
	return 0;
}

static int write_json(struct bench_report *report,
		      const struct bench_options *options)
{
	char *text = json_text(report, options);
	int error;

	if (!text) {
		errno = ENOMEM;
		return -1;
	}
	fprintf(report->json, "%s\n", text);
	free(text);
	if (fflush(report->json) || ferror(report->json))
		return -1;
	if (!report->json_temp)
		return 0;
	fsync(fileno(report->json));
	error = rename(report->json_temp, report->json_path);
	if (error)
		return -1;
	free(report->json_temp);
	report->json_temp = NULL;
	return 0;
}

int report_finish(struct bench_report *report,
		  const struct bench_options *options)
{
	print_summary(report);
	if (fflush(report->out) || ferror(report->out)) {
		message("the output: %s", strerror(errno));
		return -1;
	}
	if (report->json && write_json(report, options))
		return complain(report->json_path ? report->json_path : "-");
	return 0;
}

void report_close(struct bench_report *report)
{
	if (report->json && report->json != stdout)
		fclose(report->json);
	if (report->json_temp)
		unlink(report->json_temp);
	free(report->json_temp);
	free(report->json_path);
	for (unsigned int i = 0; i < report->nr_results; i++)
		free(report->results[i].runs);
	free(report->results);
}
