/* SPDX-License-Identifier: MIT */
/*
 * fget: from a number to the file and back.
 *
 * A unit is one lookup and its end: a borrow and its return, or an owned get
 * and its put; of one descriptor by all threads (same), or of one for each
 * thread (own).  Every lookup is checked to have found the right file.
 *
 * Contenders, and what they do as a unit:
 *
 * berth		what the variant says, on a descriptor table alone; so do the
 *		designs in lineage/, where a borrow is a counted get
 * kernel		fcntl(fd, F_GETFD): it has no lookup without a call
 *			around it, and this is the least of them
 * empty-rcu		an RCU read section (userspace-rcu, flavour bp, inline)
 *			with nothing in it: what a borrow can not go below
 */
#include "fget.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "design.h"
/* The build defines _LGPL_SOURCE, and so the read section is inline. */
#include <urcu-bp.h>

/* ---- kernel ---- */

static void kernel_setup(struct bench_run *run)
{
	for (int fd = BENCH_STDIO_FDS; fd < (int)fds_of(run); fd++) {
		int got = open("/dev/null", O_RDWR);

		if (got != fd)
			bench_fail("/dev/null: %s",
				   got < 0 ? strerror(errno) : "wrong number");
	}
	for (unsigned int i = 0; i < run->nr_threads; i++)
		run->threads[i].fd = fd_of(run, i);
}

static void kernel_loop(struct bench_thread *thread)
{
	int fd = thread->fd;

	LOOP(thread, {
		if (unlikely(fcntl(fd, F_GETFD) != 0))
			wrong_file(fd, NULL);
	});
}

/* ---- empty-rcu ---- */

static void empty_rcu_loop(struct bench_thread *thread)
{
	LOOP(thread, {
		urcu_bp_read_lock();
		urcu_bp_read_unlock();
	});
}

/* ---- What there is ---- */

static const struct bench_contender kernel = {
	.name = "kernel",
	.does = "fcntl(fd, F_GETFD), the call with least around its lookup",
	.setup = kernel_setup,
	.loop = kernel_loop,
};

static const struct bench_contender empty_rcu = {
	.name = "empty-rcu",
	.does = "an RCU read section (bp, inline) with nothing in it",
	.loop = empty_rcu_loop,
	.always = true,
};

static const struct bench_contender *const borrow_contenders[] = {
	&ours_fget_borrow, &kernel, &empty_rcu, LINEAGE(fget_borrow), NULL,
};

static const struct bench_contender *const ref_contenders[] = {
	&ours_fget_ref,
	&kernel,
	LINEAGE(fget_ref),
	NULL,
};

const struct bench_workload fget_workloads[] = {
	{
		.name = "fget:borrow-same",
		.unit = "borrow and return; all threads one descriptor",
		.shared = true,
		.contenders = borrow_contenders,
	},
	{
		.name = "fget:borrow-own",
		.unit = "borrow and return; each thread a descriptor of its "
			"own",
		.contenders = borrow_contenders,
	},
	{
		.name = "fget:ref-same",
		.unit = "owned get and put; all threads one descriptor",
		.shared = true,
		.contenders = ref_contenders,
	},
	{
		.name = "fget:ref-own",
		.unit = "owned get and put; each thread a descriptor of its "
			"own",
		.contenders = ref_contenders,
	},
	{ .name = NULL },
};
