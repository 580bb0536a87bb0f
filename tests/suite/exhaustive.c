/* SPDX-License-Identifier: MIT */
/*
 * The same calls on a table and on the kernel's own descriptors: every result,
 * every errno, and after each call the same open numbers with the same
 * close-on-exec bits, which share what they find in the same way.
 *
 * *Domains*.  Few numbers, among them -1 and the limit, so that every call with
 * every argument can be made: 0 to 3 with a limit of 4, and the numbers around
 * a limit of 63, 64 and 65 in a table that is full below them.
 *
 * *State graph*.  Two tables are in the same state when they have the same open
 * numbers and bits, sharing in the same way, and the same limit.  Each state
 * that calls can reach is built by the shortest sequence that does, and from
 * there each call is made once: all transitions are seen.
 *
 * *All sequences*.  A table has hidden state as well (where the lowest free
 * number is, how far it has grown), which depends on how it got there: so each
 * sequence runs on a new table, in the order of their lengths, until time is
 * over.  Of a length that is too many, first those in which all calls but the
 * last change something.
 *
 * *Random sequences*, longer ones, over more numbers.
 *
 * *A difference* (or a crash, or a hang) is shrunk to a sequence of which no
 * call can be left out, and printed with both sides' results.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../harness.h"
#include "beside.h"

/* ---- The calls of a domain ---- */

enum {
	CALLS_MAX = 1024
};

static const struct domain *domain;

static struct step calls[CALLS_MAX];
static unsigned int calls_count;

static void add(enum call call, int a, int b, unsigned int flags)
{
	struct step step = { call, a, b, flags };

	check(calls_count < CALLS_MAX);
	if (step_is_offered(&step))
		calls[calls_count++] = step;
}

static void add_of_two(int a, int b)
{
	static const unsigned int wrong_flag = 1;

	add(DUP2, a, b, 0);
	add(DUP3, a, b, 0);
	add(DUP3, a, b, O_CLOEXEC);
	add(DUP3, a, b, O_CLOEXEC | wrong_flag);
	add(DUPFD, a, b, 0);
	add(DUPFD, a, b, O_CLOEXEC);
}

/* A range; what fills the table stays.  (-1 is the highest number here.) */
static void add_of_range(int a, int b)
{
	static const unsigned int wrong_flag = 1;
	bool empty = (unsigned int)a > (unsigned int)b;

	if (a < domain->filled && a >= 0 && a != b && !empty)
		return;
	add(CLOSE_RANGE, a, b, 0);
	if (empty)
		return;
	add(CLOSE_RANGE, a, b, CLOSE_RANGE_CLOEXEC);
	add(CLOSE_RANGE, a, b, CLOSE_RANGE_UNSHARE);
	if (a == b)
		add(CLOSE_RANGE, a, b, wrong_flag);
}

static void add_of_number(int a)
{
	unsigned int i;

	add(CLOSE, a, 0, 0);
	add(DUP, a, 0, 0);
	add(GETFD, a, 0, 0);
	for (i = 0; i < 3; i++) /* the bit, and one that means nothing */
		add(SETFD, a, 0, i);
	for (i = 0; i < watched_count; i++) {
		add_of_two(a, watched[i]);
		add_of_range(a, watched[i]);
	}
}

/* Every call with every number that is watched.  The limit is the last but one
 * of these; raised by one, it lets the last but one be open. */
static void list_calls(void)
{
	unsigned int i;

	watched_count--;
	calls_count = 0;
	add(OPEN, 0, 0, 0);
	add(OPEN, 0, 0, O_CLOEXEC);
	add(OPEN_ANY, 0, 0, 0);
	add(OPEN_ANY, 0, 0, O_CLOEXEC);
	add(COPY, 0, 0, 0);
	for (i = 0; i < watched_count; i++)
		add_of_number(watched[i]);
	add(LIMIT, 2, 0, 0);
	add(LIMIT, (int)domain->limit, 0, 0);
	add(LIMIT, domain->filled ? (int)domain->limit + 1 : 0, 0, 0);
	watched_count++;
}

static const struct domain domains[] = {
	{ .limit = 4 },
	{ .limit = 63, .filled = 61 },
	{ .limit = 64, .filled = 62 },
	{ .limit = 65, .filled = 63 },
};

enum {
	DOMAINS = sizeof(domains) / sizeof(domains[0])
};

static void begin_domain_with_calls(const struct domain *of)
{
	domain = of;
	begin_domain(of);
	list_calls();
}

static double end;

static bool time_is_over(void)
{
	static unsigned int asked;

	return ++asked % 64 == 0 && now() > end;
}

/* A line for the parent to print. */
#define summarize(...)                                              \
	snprintf(shared->summary + strlen(shared->summary),         \
		 sizeof(shared->summary) - strlen(shared->summary), \
		 __VA_ARGS__)

/* ---- The state graph ---- */

/* A state, and the call by which it was first reached. */
struct state {
	uint64_t key;
	struct state *next; /* in the order in which they were found */
	struct state *from;
	struct step by;
};

/* Which of the watched numbers is the first that finds the same? */
static unsigned int first_sharer(unsigned int i)
{
	int64_t object = kernel.seen[watched[i] + 1].object;
	unsigned int first = 0;

	while (kernel.seen[watched[first] + 1].object != object)
		first++;
	return object == 0 ? 0 : first; /* 0: what fills the table */
}

/* States of the same key differ in the objects' names alone. */
static uint64_t state_key(void)
{
	uint64_t key = kernel.limit;
	unsigned int i, part;

	for (i = 1; i < watched_count; i++) {
		part = 0;
		if (kernel.seen[watched[i] + 1].bit >= 0)
			part = 1 + 2 * first_sharer(i) +
			       (unsigned int)kernel.seen[watched[i] + 1].bit;
		key = key << 4 | part;
	}
	return key;
}

static int compare_states(const void *a, const void *b)
{
	uint64_t x = ((const struct state *)a)->key;
	uint64_t y = ((const struct state *)b)->key;

	return (x > y) - (x < y);
}

struct graph {
	void *known; /* a tree of states */
	struct state *last;
	unsigned long states, transitions;
};

/* The kernel's present state, if it is a new one, goes to the end. */
static void note_state(struct graph *graph, struct state *from,
		       const struct step *by)
{
	struct state *state = calloc(1, sizeof(*state));

	check(state);
	state->key = state_key();
	if (*(struct state **)tsearch(state, &graph->known, compare_states) !=
	    state) {
		free(state);
		return;
	}
	if (by) {
		state->from = from;
		state->by = *by;
		graph->last->next = state;
	}
	graph->last = state;
	graph->states++;
}

/* Let the sequence be the one that leads to @state.  Returns its length. */
static unsigned int lead_to(const struct state *state)
{
	const struct state *each;
	unsigned int length = 0, i;

	for (each = state; each->from; each = each->from)
		length++;
	check(length < STEPS_MAX);
	for (each = state, i = length; each->from; each = each->from)
		shared->now.step[--i] = each->by;
	shared->now.length = length;
	return length;
}

/* All calls from one state on.  False: time is over. */
static bool expand_state(struct graph *graph, struct state *state)
{
	unsigned int n = lead_to(state), i;

	run_sequence();
	kernel.stale = true;
	for (i = 0; i < calls_count; i++) {
		if (time_is_over())
			return false;
		shared->now.step[n] = calls[i];
		graph->transitions++;
		if (on_new_table(n))
			note_state(graph, state, &calls[i]);
	}
	return true;
}

static void free_graph(struct graph *graph, struct state *state)
{
	struct state *next;

	for (; state; state = next) {
		next = state->next;
		tdelete(state, &graph->known, compare_states);
		free(state);
	}
}

static void explore_domain(const struct domain *of)
{
	struct graph graph = { 0 };
	struct state *first, *state;

	begin_domain_with_calls(of);
	note_state(&graph, NULL, NULL);
	first = state = graph.last;
	while (state && expand_state(&graph, state))
		state = state->next;
	summarize("limit %u: %lu states, %lu transitions, %s\n", of->limit,
		  graph.states, graph.transitions,
		  state ? "until time was over" : "which are all");
	free_graph(&graph, first);
}

/* ---- All sequences ---- */

struct tree {
	unsigned int length;
	bool short_cut; /* no call but the last without an effect */
	unsigned long sequences;
};

/* All continuations of the first @n steps.  False: time is over. */
static bool continue_sequence(struct tree *tree, unsigned int n)
{
	unsigned int i;
	bool changed;

	for (i = 0; i < calls_count; i++) {
		if (time_is_over())
			return false;
		shared->now.step[n] = calls[i];
		changed = on_new_table(n) || calls[i].call == COPY;
		if (n + 1 == tree->length) {
			tree->sequences++;
			continue;
		}
		if (tree->short_cut && !changed)
			continue;
		if (!continue_sequence(tree, n + 1))
			return false;
		kernel.stale = true;
	}
	return true;
}

static bool all_of_length(const struct domain *of, unsigned int length,
			  bool short_cut)
{
	struct tree tree = { .length = length, .short_cut = short_cut };
	bool whole;

	begin_domain_with_calls(of);
	whole = continue_sequence(&tree, 0);
	summarize("limit %u: %lu sequences of length %u%s, %s\n", of->limit,
		  tree.sequences, length,
		  short_cut ? " where all calls but the last change something"
			    : "",
		  whole ? "which are all" : "until time was over");
	return whole;
}

/* ---- Random ones ---- */

static int random_number(struct random *random)
{
	static const int odd[] = { -1, INT_MIN, INT_MAX, 1 << 30 };

	switch (random_below(random, 16)) {
	case 0:
		return odd[random_below(random, 4)];
	case 1:
		return (int)kernel.limit - 1 + (int)random_below(random, 3);
	case 2:
	case 3: /* around a boundary of words */
		return 61 + (int)random_below(random, 6);
	case 4:
		return (int)random_below(random, NUMBERS);
	default:
		return (int)random_below(random, 10);
	}
}

static unsigned int random_flags(struct random *random)
{
	if (random_once_in(random, 8))
		return 1u << random_below(random, 32);
	return random_once_in(random, 2) ? O_CLOEXEC : 0;
}

static struct step random_step(struct random *random)
{
	struct step step = {
		.call = random_below(random, COPY + 1),
		.a = random_number(random),
		.b = random_number(random),
	};

	if ((step.call == LIMIT || step.call == CLOSE_RANGE ||
	     step.call == COPY) &&
	    !random_once_in(random, 4))
		step.call = OPEN;
	if (step.call == LIMIT)
		step.a = (int)random_below(random, NUMBERS - 1);
	else if (step.call == DUP3)
		step.flags = random_flags(random);
	else if (step.call == SETFD)
		step.flags = random_below(random, 4);
	else if (step.call == CLOSE_RANGE)
		step.flags = random_below(random, 8);
	else if (step_opens(&step) || step.call == DUPFD)
		step.flags = random_once_in(random, 2) ? O_CLOEXEC : 0;
	return step;
}

/* Empty or all but full, with a limit where something may be special. */
static struct domain random_domain(struct random *random)
{
	static const unsigned int limits[] = { 4, 63, 64, 65, NUMBERS - 2 };
	struct domain of = { .limit = limits[random_below(random, 5)],
			     .all = true };

	if (random_once_in(random, 2))
		of.filled = (int)of.limit - 2;
	return of;
}

static void random_sequence(uint64_t seed)
{
	struct random random = random_of(seed, 0);
	static struct domain of;
	struct step *step;
	unsigned int n;

	of = random_domain(&random);
	begin_domain(&of);
	table_begin();
	for (n = 0; n < STEPS_MAX; n++) {
		step = &shared->now.step[n];
		do {
			*step = random_step(&random);
		} while (!step_is_offered(step));
		on_both(n);
	}
	compare_sharing();
	compare_copies();
	table_end();
}

/* ---- Cases ---- */

/* The share of the whole time that each of the three cases has, in tenths. */
static void run_for(int tenths, void (*work)(void))
{
	double seconds = test_seconds() * tenths / 10;
	int status;

	if (under_valgrind())
		skip(); /* it has a limit and high numbers of its own */
	test_seed();
	begin_beside();
	end = now() + seconds;
	status = in_child(work, seconds);
	fprintf(stderr, "%s", shared->summary);
	if (status)
		show_difference(status);
	end_beside();
}

static void explore(void)
{
	double from = now(), whole = end - from;
	unsigned int i;

	for (i = 0; i < DOMAINS; i++) {
		end = from + whole * (i + 1) / DOMAINS;
		explore_domain(&domains[i]);
	}
}

static void state_graph(void **state)
{
	(void)state;
	run_for(4, explore);
}

/* The shorter first, and of about as many those of the smallest domain. */
static void run_sequences(void)
{
	static const struct {
		unsigned int length;
		bool short_cut;
		unsigned int from, to; /* domains */
	} plan[] = {
		{ 1, false, 0, DOMAINS }, { 2, false, 0, DOMAINS },
		{ 3, true, 0, DOMAINS },  { 4, true, 0, 1 },
		{ 3, false, 0, 1 },	  { 4, true, 1, DOMAINS },
		{ 5, true, 0, 1 },	  { 3, false, 1, DOMAINS },
		{ 6, true, 0, 1 },	  { 4, false, 0, 1 },
	};
	unsigned int i, k;

	for (i = 0; i < sizeof(plan) / sizeof(plan[0]); i++)
		for (k = plan[i].from; k < plan[i].to; k++)
			if (!all_of_length(&domains[k], plan[i].length,
					   plan[i].short_cut))
				return;
}

static void all_sequences(void **state)
{
	(void)state;
	run_for(5, run_sequences);
}

static void run_random(void)
{
	uint64_t seed = test_seed(), first = seed;

	do
		random_sequence(seed++);
	while (now() < end);
	summarize("%" PRIu64 " random sequences of length %u\n", seed - first,
		  STEPS_MAX);
}

static void random_sequences(void **state)
{
	(void)state;
	run_for(1, run_random);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(state_graph),
		cmocka_unit_test(all_sequences),
		cmocka_unit_test(random_sequences),
	};

	return run_cases(argc, argv, cases);
}
