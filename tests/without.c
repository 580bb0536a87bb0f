/* SPDX-License-Identifier: MIT */
/*
 * without WHAT[,WHAT...] COMMAND [ARGUMENT...]
 *
 * Runs a command on a system that lacks something which berth would use:
 *
 *	membarrier	no membarrier(2): readers of RCU pay for barriers
 *	rseq		no restartable sequences
 *	noreserve	mmap(2) does not take MAP_NORESERVE
 *	stack		threads have no larger stack than 128 KiB
 *	space		no more than 4 GiB of address space
 *	all		all of these
 *
 * What is taken away is looked for before the command starts: if it is still
 * there the exit status is 125, as when it can not be taken away.  The command
 * finds the list in BERTH_WITHOUT.
 */
#include <errno.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "without.h"

static scmp_filter_ctx filter;

static void fail(const char *what)
{
	fprintf(stderr, "without: %s\n", what);
	exit(125);
}

static void refuse(int number, int error)
{
	if (seccomp_rule_add(filter, SCMP_ACT_ERRNO((unsigned int)error),
			     number, 0))
		fail("no such filter can be made");
}

static void take_membarrier(void)
{
	refuse(SCMP_SYS(membarrier), ENOSYS);
}

static void take_rseq(void)
{
	refuse(SCMP_SYS(rseq), ENOSYS);
}

static void take_noreserve(void)
{
	if (seccomp_rule_add(
		    filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(mmap), 1,
		    SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_NORESERVE, MAP_NORESERVE)))
		fail("no such filter can be made");
}

/* The soft limit is what the C library gives a thread. */
static void take(int resource, rlim_t max)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		fail("no limit is known");
	limit.rlim_cur = max;
	if (setrlimit(resource, &limit))
		fail("a limit cannot be set");
}

static void take_stack(void)
{
	take(RLIMIT_STACK, STACK_MAX);
}

static void take_space(void)
{
	take(RLIMIT_AS, SPACE_MAX);
}

static const struct {
	const char *name;
	void (*take)(void);
} things[] = {
	{ "membarrier", take_membarrier }, { "rseq", take_rseq },
	{ "noreserve", take_noreserve },   { "stack", take_stack },
	{ "space", take_space },
};

/* Take @name away, or everything; is there such a thing? */
static bool take_away(const char *name)
{
	bool all = !strcmp(name, "all"), known = false;
	size_t i;

	for (i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
		if (!all && strcmp(name, things[i].name) != 0)
			continue;
		things[i].take();
		known = true;
	}
	return known;
}

int main(int argc, char **argv)
{
	char *list, *name;
	const char *left;

	if (argc < 3)
		fail("usage: without WHAT[,WHAT...] COMMAND [ARGUMENT...]");
	filter = seccomp_init(SCMP_ACT_ALLOW);
	list = strdup(argv[1]);
	if (!filter || !list || setenv(WITHOUT_LIST, argv[1], 1))
		fail("no memory");
	for (name = strtok(list, ","); name; name = strtok(NULL, ","))
		if (!take_away(name))
			fail("there is no such thing to do without");
	if (seccomp_load(filter))
		fail("the filter cannot be set");
	left = still_there();
	if (left)
		fail(left);
	execvp(argv[2], argv + 2);
	fail(strerror(errno));
}
