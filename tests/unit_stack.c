/* SPDX-License-Identifier: MIT */
/* How much stack a call needs, be it the first of its thread. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "harness.h"
#include "twins.h"

/* What docs/SPEC.md promises. */
#define STACK_NEEDED ((size_t)8 * 1024)

#define STACK ((size_t)256 * 1024)
#define PAINT 0xa5

static struct twins twins;
static const struct step *step;

static void *take_the_step(void *arg)
{
	struct twin *twin = &twins.plain;
	struct outcome out;

	if (arg && step->call)
		step->call(twin);
	else if (arg)
		fs_do(&twin->fs, &step->op, &out);
	return NULL;
}

/* Bytes of a painted stack that a thread has written. */
static size_t stack_used(unsigned char *stack, void *takes_a_step)
{
	pthread_attr_t attr;
	pthread_t thread;
	size_t unused = 0;

	memset(stack, PAINT, STACK);
	check(!pthread_attr_init(&attr));
	check(!pthread_attr_setstack(&attr, stack, STACK));
	check(!pthread_create(&thread, &attr, take_the_step, takes_a_step));
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	while (unused < STACK && stack[unused] == PAINT)
		unused++;
	return STACK - unused;
}

static void print_step(size_t used)
{
	fprintf(stderr, "%zu bytes: ", used);
	if (step->call)
		fprintf(stderr, "%s", step->name);
	else
		fs_print_op(stderr, &step->op);
	fputc('\n', stderr);
}

/* The most that a step of a life needs, each on a thread of its own. */
static size_t most_used(unsigned char *stack)
{
	size_t idle = stack_used(stack, NULL), used, most = 0;
	const struct step *worst = life;
	unsigned int i;

	twins_create(&twins, false);
	for (i = 0; i < life_length; i++) {
		step = &life[i];
		used = stack_used(stack, &twins) - idle;
		if (used <= most)
			continue;
		most = used;
		worst = step;
	}
	twins_destroy(&twins);
	step = worst;
	print_step(most);
	return most;
}

/* The first life includes the dynamic linker, which looks up what is called. */
static void a_few_kilobytes_do(void **state)
{
	unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t first, second;

	(void)state;
	if (UNDER_ASAN || UNDER_TSAN)
		skip(); /* they need more */
	if (under_valgrind())
		skip(); /* it takes the stack of a thread that ended for no memory */
	assert_ptr_not_equal(stack, MAP_FAILED);
	first = most_used(stack);
	second = most_used(stack);
	munmap(stack, STACK);
	assert_true(second > 500);
	assert_true(first <= STACK_NEEDED && second <= STACK_NEEDED);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(a_few_kilobytes_do),
	};

	return run_cases(argc, argv, cases);
}
