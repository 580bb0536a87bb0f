/* SPDX-License-Identifier: MIT */
/*
 * A child process in which a table is compared, and what is done when it fails:
 * the sequence is shrunk to one of which no call can be left out, and printed.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../harness.h"
#include "beside.h"

/* ---- A child process ---- */

/* A sequence must not take so long; a table may hang. */
enum {
	PATIENCE = 10
};

static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS };

int in_child(void (*work)(void), double seconds)
{
	pid_t child = fork();
	unsigned int i;
	int status;

	check(child >= 0);
	if (!child) {
		/* cmocka would go on with the next case. */
		for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
			signal(faults[i], SIG_DFL);
		prepare_to_abort();
		alarm((unsigned int)(4 * seconds) + PATIENCE);
		work();
		leave(0);
	}
	check_equal(waitpid(child, &status, 0), child);
	return status;
}

/* A table may choose numbers by the processor that it is on. */
static void stay_on_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	/* If this is refused, a sequence may not fail again. */
	sched_setaffinity(0, sizeof(one), &one);
}

static void repeat_sequence(void)
{
	static struct domain of;

	stay_on_processor();
	of = shared->now.domain;
	begin_domain(&of);
	run_sequence();
}

static bool fails(const struct sequence *sequence)
{
	shared->now = *sequence;
	shared->now.difference[0] = '\0';
	return in_child(repeat_sequence, 0) != 0;
}

/* ---- A difference is shrunk ---- */

/* Leave out @count steps from @at on. */
static struct sequence without(const struct sequence *sequence, unsigned int at,
			       unsigned int count)
{
	struct sequence shorter = *sequence;

	shorter.length -= count;
	memmove(&shorter.step[at], &sequence->step[at + count],
		(shorter.length - at) * sizeof(shorter.step[0]));
	return shorter;
}

/* Leave out as many steps as can be, in pieces of this length. */
static bool shrink_by(struct sequence *sequence, unsigned int piece)
{
	struct sequence shorter;
	unsigned int at = 0;
	bool shrunk = false;

	while (at + piece <= sequence->length) {
		shorter = without(sequence, at, piece);
		if (fails(&shorter)) {
			/* It may have failed before its end. */
			shorter.length = shared->now.length;
			*sequence = shorter;
			shrunk = true;
		} else {
			at += piece;
		}
	}
	return shrunk;
}

static void shrink(struct sequence *sequence)
{
	unsigned int piece = sequence->length / 2;

	for (; piece > 1; piece /= 2)
		shrink_by(sequence, piece);
	while (shrink_by(sequence, 1))
		;
}

/* ---- A difference is shown ---- */

static void print_steps(const struct sequence *sequence)
{
	unsigned int i;
	bool same;

	for (i = 0; i < sequence->length; i++) {
		same = sequence->table[i] == sequence->kernel[i];
		fprintf(stderr, "  %2u  ", i + 1);
		step_print(stderr, &sequence->step[i]);
		fprintf(stderr, " = %s", result_name(sequence->kernel[i]));
		if (!same)
			fprintf(stderr, ", table: %s",
				result_name(sequence->table[i]));
		fprintf(stderr, "\n");
	}
}

static void print_program(const struct sequence *sequence)
{
	const struct domain *of = &sequence->domain;
	unsigned int i;

	fprintf(stderr, "In C:\n\tvoid *t = table_adapter.create(%u);\n",
		of->limit);
	if (of->filled)
		fprintf(stderr,
			"\ttable_adapter.open(t, object_create(), false);\n"
			"\tfor (int fd = 1; fd < %d; fd++)\n"
			"\t\ttable_adapter.dup2(t, 0, fd);\n",
			of->filled);
	for (i = 0; i < sequence->length; i++) {
		fprintf(stderr, "\ttable_adapter.");
		step_print_c(stderr, &sequence->step[i]);
		fprintf(stderr, "\n");
	}
}

static void print_end(const struct sequence *sequence, int status)
{
	if (sequence->difference[0])
		fprintf(stderr, "  %s\n", sequence->difference);
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		fprintf(stderr, "  the table hangs in %s\n", sequence->doing);
	else
		fprintf(stderr, "  the table ends the process in %s: %s\n",
			sequence->doing,
			WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
					    : "exit");
}

/* Where this process's messages are to be read. */
static void repeat_on_table(void)
{
	run_on_table();
	leave_child(0);
}

void show_difference(int status)
{
	struct sequence sequence = shared->now;
	unsigned int length = sequence.length;

	if (fails(&sequence)) {
		shrink(&sequence);
		shared->now = sequence;
		shared->now.difference[0] = '\0';
		status = in_child(repeat_sequence, 0);
		sequence = shared->now;
	} else {
		fprintf(stderr, "It does not fail again:\n");
	}
	fprintf(stderr, "Shrunk from %u calls; limit %u", length,
		sequence.domain.limit);
	if (sequence.domain.filled)
		fprintf(stderr, ", all below %d are open",
			sequence.domain.filled);
	fprintf(stderr, ":\n");
	print_steps(&sequence);
	print_end(&sequence, status);
	print_program(&sequence);
	if (!sequence.difference[0]) {
		fprintf(stderr, "The table alone says:\n");
		in_child(repeat_on_table, 0);
	}
	check_failed(__FILE__, __LINE__, "the table does what the kernel does");
}
