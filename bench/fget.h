/* SPDX-License-Identifier: MIT */
/* What all contenders of fget share. */
#ifndef BENCH_FGET_H
#define BENCH_FGET_H

#include "bench.h"

/* Units between two looks at the clock's flag. */
#define BATCH 256

/* The descriptor of the workload that thread number @index uses. */
static inline int fd_of(const struct bench_run *run, unsigned int index)
{
	return (int)(bench_fds_before(run) +
		     (run->workload->shared ? 0 : index));
}

/* How many descriptors are open in all. */
static inline unsigned int fds_of(const struct bench_run *run)
{
	return bench_fds_before(run) +
	       (run->workload->shared ? 1 : run->nr_threads);
}

/* Do @statement until the time is over. */
#define LOOP(thread, statement)                           \
	do {                                              \
		uint64_t units = 0;                       \
                                                          \
		do {                                      \
			for (int i = 0; i < BATCH; i++) { \
				statement;                \
			}                                 \
			units += BATCH;                   \
		} while (!bench_stopped());               \
		(thread)->units = units;                  \
	} while (0)

static inline void wrong_file(int fd, const void *got)
{
	if (!got)
		bench_fail("descriptor %d was not found", fd);
	bench_fail("descriptor %d found another's file", fd);
}

#endif
