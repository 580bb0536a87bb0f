/* SPDX-License-Identifier: MIT */
/*
 * kref: a reference taken and given back.
 *
 * A unit is one get and one put; of a count of each thread's own (own), or of
 * one count for all (shared).  The count's owner keeps it above zero.
 *
 * Contenders, and what they do as a unit:
 *
 * berth	the library's counts, in the form that it was built with
 * hashed	those for processors without compare-and-swap: a hashed lock
 *		around each operation, and signals blocked meanwhile
 * atomic-add	an addition and a subtraction, in line, and no checks: what a
 *		count in shared memory can not go below
 * kernel	fcntl(fd, F_GETFD), of one descriptor or of one for each: where
 *		threads share a table, it counts the file for the call
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <berth/kref.h>

#include "kref_hashed.h"

/* Units between two looks at the clock's flag. */
#define BATCH 64

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

/* ---- A count for each, or one for all ---- */

static void setup(struct bench_run *run)
{
	for (unsigned int i = 0; i < run->nr_threads; i++) {
		struct bench_thread *thread = &run->threads[i];

		thread->object = run->threads[0].object;
		if (i == 0 || !run->workload->shared)
			thread->object = bench_alloc(sizeof(struct berth_kref));
		berth_kref_init(thread->object);
	}
}

/* All that was taken has been given back. */
static void teardown(struct bench_run *run)
{
	for (unsigned int i = 0; i < run->nr_threads; i++) {
		struct berth_kref *kref = run->threads[i].object;

		if (kref->refs != 1)
			bench_fail("a count is %u, not 1", kref->refs);
	}
}

static void destroyed(void)
{
	bench_fail("a put was the last one, though the count has an owner");
}

static void berth_loop(struct bench_thread *thread)
{
	struct berth_kref *kref = thread->object;

	LOOP(thread, {
		berth_kref_get(kref);
		if (unlikely(berth_kref_put_last(kref)))
			destroyed();
	});
}

static void hashed_loop(struct bench_thread *thread)
{
	struct berth_kref *kref = thread->object;

	LOOP(thread, {
		hashed_kref_get(kref);
		if (unlikely(hashed_kref_put_last(kref)))
			destroyed();
	});
}

static void atomic_add_loop(struct bench_thread *thread)
{
	unsigned int *count = &((struct berth_kref *)thread->object)->refs;

	LOOP(thread, {
		fetch_add_relaxed(count, 1u);
		if (unlikely(fetch_sub_release(count, 1u) == 1u))
			destroyed();
	});
}

/* ---- kernel ---- */

static void kernel_setup(struct bench_run *run)
{
	for (unsigned int i = 0; i < run->nr_threads; i++) {
		struct bench_thread *thread = &run->threads[i];

		thread->fd = run->threads[0].fd;
		if (i == 0 || !run->workload->shared)
			thread->fd = open("/dev/null", O_RDWR);
		if (thread->fd < 0)
			bench_fail("/dev/null: %s", strerror(errno));
	}
}

static void kernel_loop(struct bench_thread *thread)
{
	int fd = thread->fd;

	LOOP(thread, {
		if (unlikely(fcntl(fd, F_GETFD) != 0))
			bench_fail("descriptor %d was not found", fd);
	});
}

/* ---- What there is ---- */

static const struct bench_contender *const contenders[] = {
	&(const struct bench_contender){
		.name = "berth",
		.setup = setup,
		.loop = berth_loop,
		.teardown = teardown,
		.always = true,
	},
	&(const struct bench_contender){
		.name = "hashed",
		.does = "the same by hashed locks, with signals blocked",
		.setup = setup,
		.loop = hashed_loop,
		.teardown = teardown,
		.always = true,
	},
	&(const struct bench_contender){
		.name = "atomic-add",
		.does = "an atomic addition and a subtraction, in line",
		.setup = setup,
		.loop = atomic_add_loop,
		.teardown = teardown,
		.always = true,
	},
	&(const struct bench_contender){
		.name = "kernel",
		.does = "fcntl(fd, F_GETFD), which counts the file if threads "
			"share the table",
		.setup = kernel_setup,
		.loop = kernel_loop,
	},
	NULL,
};

const struct bench_workload kref_workloads[] = {
	{
		.name = "kref:own",
		.unit = "get and put; each thread a count of its own",
		.contenders = contenders,
	},
	{
		.name = "kref:shared",
		.unit = "get and put; all threads one count",
		.shared = true,
		.contenders = contenders,
	},
	{ .name = NULL },
};
