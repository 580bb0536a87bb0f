/* SPDX-License-Identifier: MIT */
/*
 * The lock is an exchange to take it and a plain store to leave it, as cheap
 * as a lock can be; waiters only read.  A holder may lose its CPU to a waiter,
 * which in a kernel it may not: so a waiter that waits for long gives its own
 * away.
 *
 * *Ordering*
 *	REL(array_unlock:A) pairs with ACQ(array_lock:A)
 */
#include "spinlock_array.h"

#include <sched.h>
#include <stdlib.h>

#include "base/atomic.h"

#define SPINS 1000

static noinline void array_lock_slow(struct array_table *table)
{
	for (;;) {
		for (int i = 0; i < SPINS; i++) {
			/* as ACQ(array_lock:A) */
			if (load_relaxed(&table->held) == 0 &&
			    swap_acquire(&table->held, 1u) == 0)
				return;
			cpu_relax();
		}
		sched_yield();
	}
}

static inline void array_lock(struct array_table *table)
{
	/* ACQ(array_lock:A) pairs with REL(array_unlock:A) */
	if (unlikely(swap_acquire(&table->held, 1u) != 0))
		array_lock_slow(table);
}

static inline void array_unlock(struct array_table *table)
{
	/* REL(array_unlock:A) pairs with ACQ(array_lock:A) */
	store_release(&table->held, 0u);
}

void array_init(struct array_table *table, struct array_file **files,
		unsigned int size)
{
	table->held = 0;
	table->files = files;
	table->size = size;
}

struct array_file *array_get(struct array_table *table, int fd)
{
	struct array_file *file = NULL;

	array_lock(table);
	if (likely((unsigned int)fd < table->size)) {
		file = table->files[fd];
		if (likely(file != NULL)) /* counted before anybody can put */
			fetch_add_relaxed(&file->refs, 1u);
	}
	array_unlock(table);
	return file;
}

void array_put(struct array_file *file)
{
	/* Its table holds a reference: who drops it would free the file. */
	if (unlikely(fetch_sub_release(&file->refs, 1u) == 1u))
		abort();
}
