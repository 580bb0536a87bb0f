/* SPDX-License-Identifier: MIT */
/*
 * Runs each pair of a domain's operations in both orders.
 *
 * What it prints is for `report`, a line each, in fields with tabs between:
 *
 *	pair DOMAIN SIDES A B LINES COMMUTES BLOCKS8 BLOCKS64
 *	share GRAIN BLOCK CPU r|w SIZE PLACES
 *
 * where LINES are the closing lines that count the pair (r, a, -), and each
 * access to shared memory follows its pair.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../harness.h"
#include "pairs.h"

#define ACCESSES_MAX 65536u
/* After so many pairs the threads are warmed anew. */
#define PAIRS_WARM 32u

/* ---- Two logical CPUs ---- */

struct cpu {
	pthread_t thread;
	unsigned int number;
	sem_t begin, ended;
	void (*job)(void *arg); /* NULL: the end */
	void *arg;
};

static struct cpu cpus[2];

/* The @n-th processor that this process may use; false: there is none. */
static bool pin(unsigned int n)
{
	cpu_set_t set, one;
	int i;

	check_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &set) || n--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		return !pthread_setaffinity_np(pthread_self(), sizeof(one),
					       &one);
	}
	return false;
}

static void *cpu_run(void *arg)
{
	struct cpu *cpu = arg;

	if (!pin(cpu->number))
		printf("note\tprocessor %u is not there: what is a "
		       "processor's own is shared by both threads\n",
		       cpu->number);
	for (;;) {
		while (sem_wait(&cpu->begin))
			;
		if (!cpu->job)
			return NULL;
		cpu->job(cpu->arg);
		sem_post(&cpu->ended);
	}
}

static void cpu_start(struct cpu *cpu, unsigned int number)
{
	cpu->number = number;
	check_equal(sem_init(&cpu->begin, 0, 0), 0);
	check_equal(sem_init(&cpu->ended, 0, 0), 0);
	check_equal(pthread_create(&cpu->thread, NULL, cpu_run, cpu), 0);
}

/* Let the thread do it, and wait until it has. */
static void on_cpu(unsigned int number, void (*job)(void *arg), void *arg)
{
	struct cpu *cpu = &cpus[number];

	cpu->job = job;
	cpu->arg = arg;
	sem_post(&cpu->begin);
	while (job && sem_wait(&cpu->ended))
		;
}

static void cpu_stop(struct cpu *cpu)
{
	on_cpu(cpu->number, NULL, NULL);
	check_equal(pthread_join(cpu->thread, NULL), 0);
	sem_destroy(&cpu->begin);
	sem_destroy(&cpu->ended);
}

/* ---- Results ---- */

void result_any(struct call *call, int fd)
{
	call->any = fd;
	if (fd < 0)
		result_print(call, "%d", fd);
	else
		result_print(call, "any");
}

/* ---- Operations ---- */

struct operation *add_unnamed(struct operations *operations,
			      void (*run)(struct call *call),
			      enum family family)
{
	struct operation *operation = &operations->list[operations->count++];

	check(operations->count <= OPERATIONS_MAX);
	*operation = (struct operation){ .run = run, .family = family };
	return operation;
}

/* ---- One order of a pair ---- */

struct order {
	struct call calls[2];
	char *state;
	size_t state_size;
};

static const struct domain *domain;

static void job_warm(void *unused)
{
	(void)unused;
	domain->warm();
}

static void job_prepare(void *arg)
{
	struct call *call = arg;

	domain->prepare(call->state, call->cpu);
}

static void job_run(void *arg)
{
	struct call *call = arg;

	recorder_start(&call->recording);
	call->operation->run(call);
	recorder_stop();
}

static void call_begin(struct call *call, void *state)
{
	call->state = state;
	call->result[0] = '\0';
	call->any = -1;
	call->made = NULL;
}

/* From a new state: first the one of @first, then the other one. */
static void order_run(struct order *order, unsigned int first)
{
	void *state = domain->create();
	unsigned int cpu;
	FILE *text;

	for (cpu = 0; cpu < 2; cpu++) {
		call_begin(&order->calls[cpu], state);
		on_cpu(cpu, job_prepare, &order->calls[cpu]);
	}
	on_cpu(first, job_run, &order->calls[first]);
	on_cpu(!first, job_run, &order->calls[!first]);
	text = open_memstream(&order->state, &order->state_size);
	check(text);
	domain->describe(state, order->calls, text);
	fclose(text);
	domain->destroy(state, order->calls);
}

static bool is_same(const struct order *a, const struct order *b)
{
	return !strcmp(a->calls[0].result, b->calls[0].result) &&
	       !strcmp(a->calls[1].result, b->calls[1].result) &&
	       !strcmp(a->state, b->state);
}

/* ---- What is said about it ---- */

static void print_share(const struct share *share, void *arg)
{
	const unsigned int *grain = arg;
	const struct access *access = share->access;
	unsigned int i;

	printf("share\t%u\t%#lx\t%u\t%c\t%u\t", *grain,
	       (unsigned long)share->block, share->cpu,
	       access->write ? 'w' : 'r', access->size);
	for (i = 0; i < ACCESS_FRAMES && access->pc[i]; i++)
		printf("%s%#lx", i ? "," : "",
		       (unsigned long)(access->pc[i] - program_base() - 1));
	printf("\n");
}

/* Does one change by its meaning what the other one asks for? */
static bool meddle(const struct operation *a, const struct operation *b)
{
	return a->file && a->file == b->file &&
	       ((a->changes & b->asks) || (a->asks & b->changes));
}

/* The closing line beside "all" that counts the pair. */
static char line_of(const struct operation *a, const struct operation *b)
{
	if (a->family != b->family || meddle(a, b))
		return '-';
	if (a->family == FAMILY_ANY)
		return 'a';
	return a->family == FAMILY_READ ? 'r' : '-';
}

static size_t order_conflicts(const struct order *order, unsigned int grain)
{
	return conflicts(&order->calls[0].recording, &order->calls[1].recording,
			 grain, NULL, NULL);
}

/* What is shared: the words, or the lines if that is all. */
static void print_order(const struct order *order, unsigned int grain)
{
	conflicts(&order->calls[0].recording, &order->calls[1].recording, grain,
		  print_share, &grain);
}

static void print_pair(const struct order *orders, bool commutes)
{
	const struct operation *a = orders[0].calls[0].operation;
	const struct operation *b = orders[0].calls[1].operation;
	size_t words[2] = { 0 }, lines[2] = { 0 };
	int i;

	for (i = 0; commutes && i < 2; i++) {
		words[i] = order_conflicts(&orders[i], 8);
		lines[i] = order_conflicts(&orders[i], 64);
	}
	printf("pair\t%s\t%s %s\t%s\t%s\t%c\t%d\t%zu\t%zu\n", domain->name,
	       orders[0].calls[1].side ? "two" : "one", domain->sides, a->name,
	       b->name, line_of(a, b), commutes, words[0] + words[1],
	       lines[0] + lines[1]);
	i = lines[0] == 0;
	if (lines[i])
		print_order(&orders[i], words[i] ? 8 : 64);
}

/* ---- All of them ---- */

static void order_init(struct order *order)
{
	unsigned int cpu;

	*order = (struct order){ 0 };
	for (cpu = 0; cpu < 2; cpu++) {
		order->calls[cpu].cpu = cpu;
		recording_init(&order->calls[cpu].recording, ACCESSES_MAX);
	}
}

static void order_finish(struct order *order)
{
	recording_free(&order->calls[0].recording);
	recording_free(&order->calls[1].recording);
}

static void pair_run(struct order *orders, const struct operation *a,
		     const struct operation *b, unsigned int side)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		orders[i].calls[0].operation = a;
		orders[i].calls[1].operation = b;
		orders[i].calls[1].side = side;
		order_run(&orders[i], i);
	}
	print_pair(orders, is_same(&orders[0], &orders[1]));
	free(orders[0].state);
	free(orders[1].state);
}

static void warm_again(unsigned int pairs)
{
	if (pairs % PAIRS_WARM)
		return;
	on_cpu(0, job_warm, NULL);
	on_cpu(1, job_warm, NULL);
}

void run_pairs(const struct domain *of, bool quick)
{
	const struct operation *a, *b, *end = of->operations + of->count;
	struct order orders[2];
	unsigned int side, i, pairs = 0;

	domain = of;
	for (i = 0; i < 2; i++) {
		order_init(&orders[i]);
		cpu_start(&cpus[i], i);
	}
	for (side = 0; side < 2; side++)
		for (a = of->operations; a < end; a++)
			for (b = a; b < end; b++) {
				if (quick && line_of(a, b) == '-')
					continue;
				if (side == 0 && a->reserved &&
				    a->reserved == b->reserved)
					continue;
				warm_again(pairs++);
				pair_run(orders, a, b, side);
			}
	for (i = 0; i < 2; i++) {
		cpu_stop(&cpus[i]);
		order_finish(&orders[i]);
	}
}
