/* SPDX-License-Identifier: MIT */
/* The host process forks: the parts' handlers, in their order. */
#include "base/fork.h"
#include "base/lock.h"

/* Written by constructors, before there are threads. */
static const struct fork_handler *handlers[FORK_LEVELS];

static void fork_prepare(void)
{
	int level;

	for (level = FORK_LEVELS - 1; level >= 0; level--)
		if (handlers[level] && handlers[level]->quiesce)
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

static struct mutex ready_lock;
static bool ready;

noinline static bool fork_register_all(void)
{
	mutex_lock(&ready_lock);
	if (!ready)
		store_relaxed(&ready, sys_atfork(fork_prepare, fork_parent,
						 fork_child));
	mutex_unlock(&ready_lock);
	return load_relaxed(&ready);
}

bool fork_is_ready(void)
{
	/* Relaxed: it guards nothing that is read here. */
	return likely(load_relaxed(&ready)) || fork_register_all();
}

/* Copies of this file in one process would bring the one RCU library to rest
 * twice: one that is only there to be measured waits until it is used. */
#ifndef FORK_WHEN_USED
__attribute__((constructor)) static void fork_init(void)
{
	fork_register_all();
}
#endif
