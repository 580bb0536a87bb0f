/* SPDX-License-Identifier: MIT */
/*
 * The sets of select and poll: the same numbers are refused as by the kernel,
 * with the same values.  A child has the same numbers open on both sides, and
 * no table that has grown beyond 64; all its files are ready at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

#define WORDS 64 /* of a set: more than an fd_set has */
#define BITS  (WORDS * 64)

static int kernel_select(int nfds, unsigned long *in, unsigned long *out,
			 unsigned long *ex)
{
	unsigned long sets[3][WORDS];
	unsigned long *from[3] = { in, out, ex };
	struct timespec zero = { 0, 0 };
	int i;

	/* It writes its answer into them. */
	for (i = 0; i < 3; i++)
		if (from[i])
			memcpy(sets[i], from[i], sizeof(sets[i]));
	i = (int)syscall(SYS_pselect6, nfds, in ? sets[0] : NULL,
			 out ? sets[1] : NULL, ex ? sets[2] : NULL, &zero,
			 NULL);
	return i < 0 ? -errno : 0;
}

static int berth_select(int nfds, unsigned long *in, unsigned long *out,
			unsigned long *ex)
{
	return berth_files_check_select(table, nfds, (fd_set *)(void *)in,
					(fd_set *)(void *)out,
					(fd_set *)(void *)ex);
}

static const int numbers[] = { 0,  1,  5,  9,  10,  11,	 62,  63,
			       64, 65, 66, 99, 127, 128, 255, 1023 };
static const int counts[] = { 0,  1,   6,   10,	 11,   12,   63, 64,
			      65, 127, 128, 256, 1024, 4096, -1, INT_MIN };

/* One number, in each of the sets. */
static void compare_select(int number, int nfds)
{
	unsigned long set[WORDS] = { 0 }, empty[WORDS] = { 0 };

	set[number / 64] = 1ul << (number % 64);
	check_equal(kernel_select(nfds, set, empty, NULL),
		    berth_select(nfds, set, empty, NULL));
	check_equal(kernel_select(nfds, NULL, set, empty),
		    berth_select(nfds, NULL, set, empty));
	check_equal(kernel_select(nfds, empty, NULL, set),
		    berth_select(nfds, empty, NULL, set));
}

static void compare_poll(void)
{
	static const int odd[] = { -1, INT_MIN, INT_MAX, 1 << 30 };
	struct pollfd kernel[20], berth[20];
	int i, n = 0, bad = 0;

	for (i = 0; i < 16; i++)
		kernel[n++].fd = numbers[i];
	for (i = 0; i < 4; i++)
		kernel[n++].fd = odd[i];
	for (i = 0; i < n; i++) {
		kernel[i].events = 0;
		berth[i] = kernel[i];
		berth[i].revents = 0x55;
	}
	check(poll(kernel, (nfds_t)n, 0) >= 0);
	for (i = 0; i < n; i++)
		bad += (kernel[i].revents & POLLNVAL) != 0;
	check_equal(berth_files_check_poll(table, berth, (size_t)n), bad);
	for (i = 0; i < n; i++)
		check_equal(berth[i].revents, kernel[i].revents & POLLNVAL);
}

static void compare_all(void)
{
	unsigned int i, j;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		for (j = 0; j < sizeof(counts) / sizeof(*counts); j++)
			compare_select(numbers[i], counts[j]);
	compare_poll();
}

/* The same numbers as standard streams and a few more, and then beyond 64. */
static void both_sides(void)
{
	int fd, null = open("/dev/null", O_RDWR);

	check(null >= 0);
	for (fd = 0; fd < 10; fd++) {
		if (fd > STDERR_FILENO)
			check(dup2(null, fd) == fd);
		check_equal(probe_open(table, NULL), fd);
	}
	check(!close_range(10, UINT_MAX, 0));
	compare_all();
	check(dup2(0, 63) == 63);
	check_equal(berth_files_dup2(table, 0, 63), 63);
	compare_all();
	/* Both tables have 256 now. */
	check(dup2(0, 200) == 200);
	check_equal(berth_files_dup2(table, 0, 200), 200);
	compare_all();
	check(!close(200));
	check_equal(berth_files_close(table, 200), 0);
	compare_all();
}

static void sets_are_refused_alike(void **state)
{
	pid_t child;
	int status;

	(void)state;
	if (under_valgrind())
		skip(); /* it has numbers of its own */
	/* A fork makes a table as small as its numbers allow. */
	check(!close_range(10, UINT_MAX, 0));
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		both_sides();
		leave_child(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(sets_are_refused_alike),
	};

	return run_cases(argc, argv, cases);
}
