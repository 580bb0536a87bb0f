/* SPDX-License-Identifier: MIT */
/*
 * Every complaint about the command line is one line that says what would be
 * right: the names there are, or the range.
 */
#include "plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "front/cli/message.h"
#include "front/cli/nearest.h"

#define SECONDS_MIN 0.001
#define SECONDS_MAX 86400.0
#define RUNS_MAX    10000

/* The workloads, family by family. */
static const struct bench_workload *const families[] = {
	open_loop_workloads,
	fget_workloads,
	kref_workloads,
	fork_copy_workloads,
};

/* Say what is wrong with the command line, or with the machine. */
static int __attribute__((format(printf, 1, 2))) refuse(const char *format, ...)
{
	va_list words;

	va_start(words, format);
	vmessage(format, words);
	va_end(words);
	return -1;
}

/* ---- Names ---- */

/* The workload in this place among all, or NULL behind the last one. */
static const struct bench_workload *workload_at(unsigned int place)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		const struct bench_workload *workload = families[i];

		for (; workload->name; workload++)
			if (place-- == 0)
				return workload;
	}
	return NULL;
}

/* The contender of that name; NULL if the workload has none. */
static const struct bench_contender *find_contender(
	const struct bench_workload *workload, const char *name)
{
	const struct bench_contender *const *at;

	for_each_contender(workload,
			   at) if (strcmp((*at)->name, name) == 0) return *at;
	return NULL;
}

/* A list of names, each once. */
struct names {
	char text[512];
};

static void add_name(struct names *names, const char *name)
{
	size_t length = strlen(names->text), n = strlen(name);
	const char *at = names->text;

	while ((at = strstr(at, name))) {
		if ((at[n] == ',' || !at[n]) &&
		    (at == names->text || at[-1] == ' '))
			return;
		at += n;
	}
	snprintf(names->text + length, sizeof(names->text) - length, "%s%s",
		 length ? ", " : "", name);
}

static struct names workload_names(void)
{
	const struct bench_workload *workload;
	struct names names = { "" };
	char family[64];

	for (unsigned int i = 0; (workload = workload_at(i)); i++) {
		snprintf(family, sizeof(family), "%.*s",
			 (int)strcspn(workload->name, ":"), workload->name);
		add_name(&names, family);
		add_name(&names, workload->name);
	}
	add_name(&names, "all");
	return names;
}

static struct names contender_names(void)
{
	const struct bench_contender *const *at;
	const struct bench_workload *workload;
	struct names names = { "" };

	for (unsigned int i = 0; (workload = workload_at(i)); i++)
		for_each_contender(workload, at) add_name(&names, (*at)->name);
	add_name(&names, "all");
	return names;
}

/* The contender whose name is most like this one. */
static struct nearest contender_like(const char *name)
{
	struct nearest nearest = nearest_to(name, strlen(name));
	const struct bench_contender *const *at;
	const struct bench_workload *workload;

	for (unsigned int i = 0; (workload = workload_at(i)); i++)
		for_each_contender(workload, at)
			nearest_try(&nearest, (*at)->name);
	return nearest;
}

/* ---- Lists ---- */

/* The next word of a list with commas, or NULL; @list is cut up. */
static char *next_word(char **list)
{
	return strsep(list, ",");
}

/* A whole number and nothing else. */
static bool read_number(const char *word, unsigned long max,
			unsigned long *number)
{
	char *end;

	if (*word < '0' || *word > '9')
		return false;
	errno = 0;
	*number = strtoul(word, &end, 10);
	return !errno && !*end && *number <= max;
}

static int compare(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a;
	unsigned int y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

static bool has_threads(const struct bench_options *options,
			unsigned long number)
{
	for (unsigned int i = 0; i < options->nr_threads; i++)
		if (options->threads[i] == number)
			return true;
	return false;
}

static int read_threads(struct bench_options *options, const char *given)
{
	char *copy = strdupa(given);
	unsigned long number;
	const char *word;

	while ((word = next_word(&copy))) {
		if (!read_number(word, BENCH_THREADS_MAX, &number) ||
		    number == 0)
			return refuse("--threads: \"%s\" is not a number of "
				      "threads; give numbers from 1 to %u, "
				      "such as 1,2",
				      word, BENCH_THREADS_MAX);
		if (has_threads(options, number))
			continue;
		if (options->nr_threads == BENCH_LIST_MAX)
			return refuse("--threads: more than %u numbers",
				      BENCH_LIST_MAX);
		options->threads[options->nr_threads++] = (unsigned int)number;
	}
	qsort(options->threads, options->nr_threads,
	      sizeof(options->threads[0]), compare);
	return 0;
}

static int read_seconds(struct bench_options *options, const char *given)
{
	char *end;

	errno = 0;
	options->seconds = strtod(given, &end);
	/* A NaN compares as false. */
	if (errno || end == given || *end ||
	    !(options->seconds >= SECONDS_MIN &&
	      options->seconds <= SECONDS_MAX))
		return refuse("--seconds: \"%s\" is not a length of time; give "
			      "seconds from %g to %g, such as 0.5",
			      given, SECONDS_MIN, SECONDS_MAX);
	return 0;
}

static int read_runs(struct bench_options *options, const char *given)
{
	unsigned long number;

	if (!read_number(given, RUNS_MAX, &number) || number == 0)
		return refuse("--runs: \"%s\" is not a number of runs; give "
			      "one from 1 to %d",
			      given, RUNS_MAX);
	options->runs = (unsigned int)number;
	return 0;
}

/* ---- CPUs ---- */

/* "0x3": a mask, the last digit being the first CPUs. */
static bool read_mask(cpu_set_t *cpus, const char *mask)
{
	size_t n = strlen(mask);

	if (n == 0 || n > CPU_SETSIZE / 4 ||
	    strspn(mask, "0123456789abcdefABCDEF") != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		char digit[2] = { mask[n - 1 - i], '\0' };
		unsigned long bits = strtoul(digit, NULL, 16);

		for (unsigned int bit = 0; bit < 4; bit++)
			if (bits >> bit & 1)
				CPU_SET(i * 4 + bit, cpus);
	}
	return true;
}

/* "2" or "0-3". */
static bool read_range(cpu_set_t *cpus, char *range)
{
	const char *from = strsep(&range, "-");
	unsigned long first, last;

	if (!read_number(from, CPU_SETSIZE - 1, &first))
		return false;
	last = first;
	if (range && !read_number(range, CPU_SETSIZE - 1, &last))
		return false;
	for (unsigned long cpu = first; cpu <= last; cpu++)
		CPU_SET(cpu, cpus);
	return first <= last;
}

static bool read_cpu_set(cpu_set_t *cpus, const char *given)
{
	char *copy = strdupa(given);
	char *word;

	CPU_ZERO(cpus);
	if (strncasecmp(given, "0x", 2) == 0)
		return read_mask(cpus, given + 2);
	while ((word = next_word(&copy)))
		if (!read_range(cpus, word))
			return false;
	return true;
}

static struct names cpu_names(const cpu_set_t *cpus)
{
	struct names names = { "" };
	char word[32];

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int last = cpu;

		if (!CPU_ISSET(cpu, cpus))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, cpus))
			last++;
		snprintf(word, sizeof(word), last > cpu ? "%d-%d" : "%d", cpu,
			 last);
		add_name(&names, word);
		cpu = last;
	}
	return names;
}

static int read_cpus(struct bench_options *options, const char *given)
{
	cpu_set_t ours, both;

	if (sched_getaffinity(0, sizeof(ours), &ours))
		return refuse("cannot tell the CPUs: %s", strerror(errno));
	options->cpus = ours;
	if (!given)
		return 0;
	if (!read_cpu_set(&options->cpus, given) ||
	    CPU_COUNT(&options->cpus) == 0)
		return refuse("--cpus: \"%s\" is neither a mask such as 0x3 "
			      "nor a list such as 0,2-3; there are: %s",
			      given, cpu_names(&ours).text);
	CPU_AND(&both, &ours, &options->cpus);
	if (!CPU_EQUAL(&both, &options->cpus))
		return refuse("--cpus: not all of \"%s\" may be used; there "
			      "are: %s",
			      given, cpu_names(&ours).text);
	return 0;
}

/* ---- Workloads and contenders ---- */

static int plan_workload(struct bench_plan *plan,
			 const struct bench_workload *workload)
{
	for (unsigned int i = 0; i < plan->nr_workloads; i++)
		if (plan->workloads[i] == workload)
			return 0;
	if (plan->nr_workloads == BENCH_LIST_MAX)
		return refuse("more than %u workloads", BENCH_LIST_MAX);
	plan->workloads[plan->nr_workloads++] = workload;
	return 0;
}

/* Is @word the name before the colon, or "all"? */
static bool is_family(const struct bench_workload *workload, const char *word)
{
	size_t n = strlen(word);

	return strcmp(word, "all") == 0 ||
	       (strncmp(workload->name, word, n) == 0 &&
		workload->name[n] == ':');
}

/* A name means itself; if there is no such, all its variants. */
static int read_workload(struct bench_plan *plan, const char *word)
{
	const struct bench_workload *workload;
	bool known = false;

	for (unsigned int i = 0; (workload = workload_at(i)); i++)
		if (strcmp(workload->name, word) == 0)
			return plan_workload(plan, workload);
	for (unsigned int i = 0; (workload = workload_at(i)); i++) {
		if (!is_family(workload, word))
			continue;
		known = true;
		if (plan_workload(plan, workload))
			return -1;
	}
	if (!known)
		return refuse("no workload \"%s\"; there are: %s", word,
			      workload_names().text);
	return 0;
}

static int read_workloads(struct bench_plan *plan,
			  const struct bench_words *words)
{
	if (words->nr_workloads == 0)
		return refuse("no workload given; there are: %s",
			      workload_names().text);
	for (int i = 0; i < words->nr_workloads; i++)
		if (read_workload(plan, words->workloads[i]))
			return -1;
	return 0;
}

static int refuse_contender(const char *name)
{
	const struct nearest nearest = contender_like(name);
	const struct bench_workload *workload;
	char guess[NEAREST_SIZE];

	for (unsigned int i = 0; (workload = workload_at(i)); i++)
		if (find_contender(workload, name))
			return refuse("--against: %s is no contender of these "
				      "workloads, but of others",
				      name);
	return refuse("--against: no contender \"%s\"%s; there are: %s", name,
		      nearest_text(&nearest, "", guess),
		      contender_names().text);
}

static int plan_contender(struct bench_plan *plan, const char *name)
{
	const struct bench_contender *contender = NULL;

	if (strcmp(name, "all") == 0) {
		plan->against_all = true;
		return 0;
	}
	for (unsigned int i = 0; i < plan->nr_workloads && !contender; i++)
		contender = find_contender(plan->workloads[i], name);
	if (!contender)
		return refuse_contender(name);
	if (plan->nr_against == BENCH_LIST_MAX)
		return refuse("--against: more than %u contenders",
			      BENCH_LIST_MAX);
	plan->against[plan->nr_against++] = contender->name;
	return 0;
}

static int read_against(struct bench_plan *plan, const char *given)
{
	char *copy = strdupa(given);
	const char *word;

	while ((word = next_word(&copy)))
		if (plan_contender(plan, word))
			return -1;
	return 0;
}

/* ---- All of it ---- */

int bench_read_words(struct bench_plan *plan, const struct bench_words *words)
{
	plan->options.small_table = words->small_table;
	plan->options.idle_thread = words->idle_thread;
	plan->options.pin = !words->no_pin;
	if (read_workloads(plan, words) || read_against(plan, words->against) ||
	    read_threads(&plan->options, words->threads) ||
	    read_seconds(&plan->options, words->seconds) ||
	    read_runs(&plan->options, words->runs) ||
	    read_cpus(&plan->options, words->cpus))
		return -1;
	return 0;
}

bool bench_takes_part(const struct bench_plan *plan,
		      const struct bench_contender *contender)
{
	if (contender->always || plan->against_all)
		return true;
	for (unsigned int i = 0; i < plan->nr_against; i++)
		if (strcmp(plan->against[i], contender->name) == 0)
			return true;
	return false;
}
