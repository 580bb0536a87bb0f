/* SPDX-License-Identifier: MIT */
/* The host process forks: the parts' handlers, in their order. */
#include <pthread.h>

#include "base/compiler.h"
#include "base/fork.h"

/* Written by constructors, before there are threads. */
static const struct fork_handler *handlers[FORK_LEVELS];

static void fork_prepare(void)
{
	int level;

	for (level = FORK_LEVELS - 1; level >= 0; level--)
		if (handlers[level])
			handlers[level]->quiesce();
}

static void fork_resume(bool in_child)
{
	int level;

	for (level = 0; level < FORK_LEVELS; level++)
		if (handlers[level])
			handlers[level]->resume(in_child);
}

static void fork_parent(void)
{
	fork_resume(false);
}

static void fork_child(void)
{
	fork_resume(true);
}

void fork_register(enum fork_level level, const struct fork_handler *handler)
{
	handlers[level] = handler;
}

__attribute__((constructor)) static void fork_init(void)
{
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}
