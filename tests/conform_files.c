/* SPDX-License-Identifier: MIT */
/*
 * The same calls on a table of berth and on the kernel's own: every result,
 * every errno, and in the end the same numbers with the same files and bits.
 *
 * Both run in a child process, whose own descriptors are the kernel's side.
 * There the numbers below BASE are taken (the test's standard streams and two
 * files, A and B, among them), and so they are in the table.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	FILE_A = 3,
	FILE_B = 4,
	BASE = 10,
	NUMBERS = 320, /* no number from here on is open */
};

enum call {
	OPEN,
	CLOSE,
	DUP,
	DUP2,
	DUP3,
	DUPFD,
	DUPFD_CLOEXEC,
	GETFD,
	SETFD,
	LIMIT,
	CLOSE_RANGE,
	CALLS,
};

static const char *const call_names[CALLS] = {
	"open",	       "close",		  "dup",     "dup2",	"dup3",
	"F_DUPFD",     "F_DUPFD_CLOEXEC", "F_GETFD", "F_SETFD", "set limit",
	"close_range",
};

struct step {
	enum call call;
	int a, b;
	unsigned int flags;
};

/* ---- The two sides ---- */

static int kernel_limit(int limit)
{
	struct rlimit rlimit;

	check(!getrlimit(RLIMIT_NOFILE, &rlimit));
	rlimit.rlim_cur = (rlim_t)limit;
	return setrlimit(RLIMIT_NOFILE, &rlimit);
}

static int kernel_call(const struct step *step)
{
	switch (step->call) {
	case OPEN:
		return memfd_create("conform",
				    step->flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
	case CLOSE:
		return close(step->a);
	case DUP:
		return dup(step->a);
	case DUP2:
		return dup2(step->a, step->b);
	case DUP3:
		return dup3(step->a, step->b, (int)step->flags);
	case DUPFD:
		return fcntl(step->a, F_DUPFD, step->b);
	case DUPFD_CLOEXEC:
		return fcntl(step->a, F_DUPFD_CLOEXEC, step->b);
	case GETFD:
		return fcntl(step->a, F_GETFD);
	case SETFD:
		return fcntl(step->a, F_SETFD, step->b);
	case CLOSE_RANGE:
		return close_range((unsigned int)step->a, (unsigned int)step->b,
				   (int)step->flags);
	default:
		return kernel_limit(step->b);
	}
}

static int on_kernel(const struct step *step)
{
	int ret = kernel_call(step);

	return ret < 0 ? -errno : ret;
}

static int berth_open(unsigned int flags)
{
	int fd = berth_files_reserve(table, 0, flags & O_CLOEXEC);

	if (fd >= 0)
		berth_files_install(table, fd, &probe_create(NULL, 0)->file);
	return fd;
}

static int on_berth(const struct step *step)
{
	switch (step->call) {
	case OPEN:
		return berth_open(step->flags);
	case CLOSE:
		return berth_files_close(table, step->a);
	case DUP:
		return berth_files_dup(table, step->a);
	case DUP2:
		return berth_files_dup2(table, step->a, step->b);
	case DUP3:
		return berth_files_dup3(table, step->a, step->b, step->flags);
	case DUPFD:
		return berth_files_dupfd(table, step->a, step->b, 0);
	case DUPFD_CLOEXEC:
		return berth_files_dupfd(table, step->a, step->b, O_CLOEXEC);
	case GETFD:
		return berth_files_getfd(table, step->a);
	case SETFD:
		return berth_files_setfd(table, step->a, step->b);
	case CLOSE_RANGE:
		return berth_files_close_range(&table, (unsigned int)step->a,
					       (unsigned int)step->b,
					       step->flags);
	default:
		return berth_files_set_limit(table, (unsigned int)step->b);
	}
}

/* ---- Comparison ---- */

/* What was done since the start, for the message. */
static struct step trace[64];
static unsigned int trace_length;

static void print_trace(void)
{
	unsigned int i = trace_length < 64 ? 0 : trace_length - 64;
	const struct step *step;

	for (; i < trace_length; i++) {
		step = &trace[i % 64];
		fprintf(stderr, "  %u: %s %d %d %#x\n", i,
			call_names[step->call], step->a, step->b, step->flags);
	}
}

static void check_same(long kernel, long berth, const char *what, int number)
{
	if (kernel == berth)
		return;
	print_trace();
	fprintf(stderr, "%s %d: kernel %ld, berth %ld\n", what, number, kernel,
		berth);
	check_failed(__FILE__, __LINE__, "both sides do the same");
}

/* The inode of each probe, by id: files must be the same ones. */
static ino_t *inodes;
static uint64_t inodes_size;

static void remember_inode(int fd)
{
	uint64_t id = probe_id_at(table, fd);
	struct stat stat;
	ino_t *more;

	check(!fstat(fd, &stat));
	if (id >= inodes_size) {
		more = realloc(inodes, 2 * id * sizeof(*inodes));
		check(more);
		inodes = more;
		inodes_size = 2 * id;
	}
	inodes[id] = stat.st_ino;
}

static void run(struct step step)
{
	int kernel, berth;

	trace[trace_length++ % 64] = step;
	kernel = on_kernel(&step);
	berth = on_berth(&step);
	check_same(kernel, berth, "result of call", (int)trace_length - 1);
	if (step.call == OPEN && kernel >= 0)
		remember_inode(kernel);
}

static void compare_number(int fd)
{
	struct step getfd = { GETFD, fd, 0, 0 };
	int kernel = on_kernel(&getfd);
	uint64_t id = probe_id_at(table, fd);
	struct stat stat;

	check_same(kernel, on_berth(&getfd), "close-on-exec of number", fd);
	check_same(kernel >= 0, id != 0, "open number", fd);
	if (!id)
		return;
	check(!fstat(fd, &stat));
	check_same((long)stat.st_ino, (long)inodes[id], "file of number", fd);
}

static void compare_numbers(int from, int to)
{
	int fd;

	for (fd = from; fd < to; fd++)
		compare_number(fd);
}

/* ---- In the child ---- */

/* Take what is below BASE, on both sides, and nothing else. */
static void begin(void)
{
	struct rlimit rlimit;
	int fd, null = open("/dev/null", O_RDWR);

	check(null >= 0);
	for (fd = 0; fd < BASE; fd++)
		if (fd > STDERR_FILENO || fcntl(fd, F_GETFD) < 0)
			check(dup2(null, fd) == fd);
	check(!close_range(BASE, UINT_MAX, 0));
	check(!close(FILE_A));
	check(!close(FILE_B));
	check(memfd_create("a", 0) == FILE_A);
	check(memfd_create("b", 0) == FILE_B);
	check(!getrlimit(RLIMIT_NOFILE, &rlimit));
	rlimit.rlim_cur = NUMBERS;
	check(!setrlimit(RLIMIT_NOFILE, &rlimit));

	berth_files_set_limit(table, NUMBERS);
	for (fd = 0; fd < BASE; fd++) {
		check_equal(probe_open(table, NULL), fd);
		remember_inode(fd);
	}
}

/* Everything happens in a child; this process keeps its descriptors. */
static void in_child(void (*work)(void))
{
	pid_t child;
	int status;

	if (under_valgrind())
		skip(); /* it has a limit of numbers of its own */
	test_seed();
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		begin();
		work();
		leave_child(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- All short sequences ---- */

enum {
	FEW = 4, /* numbers, of which the last is at the limit */
	LENGTH = 3,
};

/* Every call with every pair of the few numbers, a call a line. */
static unsigned int list_steps(struct step *steps)
{
	unsigned int n = 0;
	int a, b;

	for (a = BASE; a < BASE + FEW; a++) {
		steps[n++] = (struct step){ CLOSE, a, 0, 0 };
		steps[n++] = (struct step){ DUP, a, 0, 0 };
		steps[n++] = (struct step){ SETFD, a, 0, 0 };
		steps[n++] = (struct step){ SETFD, a, FD_CLOEXEC, 0 };
		steps[n++] = (struct step){ CLOSE_RANGE, a, BASE + 1, 0 };
		steps[n++] = (struct step){ CLOSE_RANGE, BASE + 1, a,
					    BERTH_CLOSE_RANGE_CLOEXEC };
		for (b = BASE; b < BASE + FEW; b++) {
			steps[n++] = (struct step){ DUP2, a, b, 0 };
			steps[n++] = (struct step){ DUP3, a, b, O_CLOEXEC };
			steps[n++] = (struct step){ DUPFD, a, b, 0 };
			steps[n++] = (struct step){ DUPFD_CLOEXEC, a, b, 0 };
		}
	}
	return n;
}

/* A at the first number, B at the second with close-on-exec, the rest free. */
static void reset_few(void)
{
	int fd;

	trace_length = 0;
	run((struct step){ DUP2, FILE_A, BASE, 0 });
	run((struct step){ DUP3, FILE_B, BASE + 1, O_CLOEXEC });
	for (fd = BASE + 2; fd < BASE + FEW - 1; fd++)
		run((struct step){ CLOSE, fd, 0, 0 });
}

static void all_short_sequences(void)
{
	struct step steps[128];
	unsigned int count = list_steps(steps), i, place[LENGTH] = { 0 };
	unsigned long sequences = 0;

	run((struct step){ LIMIT, 0, BASE + FEW - 1, 0 });
	do {
		reset_few();
		for (i = 0; i < LENGTH; i++)
			run(steps[place[i]]);
		compare_numbers(BASE, BASE + FEW);
		sequences++;
		for (i = 0; i < LENGTH && ++place[i] == count; i++)
			place[i] = 0;
	} while (i < LENGTH);
	check_equal(sequences, (unsigned long)count * count * count);
}

static void short_sequences(void **state)
{
	(void)state;
	in_child(all_short_sequences);
}

/* ---- Long random ones ---- */

static int random_number(struct random *random, int limit)
{
	static const int odd[] = { -1, INT_MIN, INT_MAX, 1 << 30, 0, BASE };

	switch (random_below(random, 16)) {
	case 0:
		return odd[random_below(random, 6)];
	case 1:
		return limit - 1 + (int)random_below(random, 3);
	case 2:
	case 3: /* around a boundary of words */
		return 61 + (int)random_below(random, 6);
	case 4:
		return BASE + (int)random_below(random, NUMBERS);
	default:
		return BASE + (int)random_below(random, 30);
	}
}

static unsigned int random_flags(struct random *random)
{
	if (random_once_in(random, 8))
		return 1u << random_below(random, 32);
	return random_once_in(random, 2) ? O_CLOEXEC : 0;
}

static unsigned int random_range_flags(struct random *random)
{
	if (random_once_in(random, 8))
		return 1u << random_below(random, 32);
	return random_below(random, 4) * BERTH_CLOSE_RANGE_UNSHARE;
}

static struct step random_step(struct random *random, int *limit)
{
	struct step step;

	step.call = random_below(random, CALLS);
	step.a = random_number(random, *limit);
	step.b = random_number(random, *limit);
	step.flags = random_flags(random);
	if (step.a <= STDERR_FILENO && step.a >= 0)
		step.a = FILE_A;
	/* The test's own numbers stay. */
	if ((step.call == CLOSE || step.call == SETFD) && step.a >= 0 &&
	    step.a < BASE)
		step.call = GETFD;
	if ((step.call == DUP2 || step.call == DUP3) && step.b >= 0 &&
	    step.b < BASE)
		step.b += BASE;
	if (step.call == CLOSE_RANGE) {
		step.flags = random_range_flags(random);
		if (step.a >= 0 && step.a < BASE)
			step.a = BASE;
	}
	if (step.call == LIMIT) {
		if (!random_once_in(random, 20))
			step.call = OPEN;
		else
			*limit = BASE +
				 (int)random_below(random, NUMBERS - BASE + 1);
		step.b = *limit;
	}
	return step;
}

static void random_round(uint64_t seed)
{
	struct random random = random_of(seed, 0);
	int i, limit = NUMBERS;

	trace_length = 0;
	run((struct step){ LIMIT, 0, limit, 0 });
	for (i = 0; i < 2000; i++) {
		run(random_step(&random, &limit));
		if (i % 100 == 0)
			compare_numbers(0, NUMBERS + 2);
	}
	compare_numbers(0, NUMBERS + 2);
	for (i = BASE; i < NUMBERS; i++)
		run((struct step){ CLOSE, i, 0, 0 });
	check_equal(berth_files_count(table), BASE);
}

static void random_rounds(void)
{
	uint64_t seed = test_seed();
	double end = now() + test_seconds();

	do {
		repeat_with_seed(seed);
		random_round(seed++);
	} while (now() < end);
}

static void random_sequences(void **state)
{
	(void)state;
	in_child(random_rounds);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(short_sequences),
		table_test(random_sequences),
	};

	return run_cases(argc, argv, cases);
}
