/* SPDX-License-Identifier: MIT */
/* What the tests share; see harness.h. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <berth/files.h>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_CLO_CHANGE(option)
#endif

#include "harness.h"

/* The suite for tables is linked with tables that are not berth's, too. */
#pragma weak berth_drain

bool under_valgrind(void)
{
	return RUNNING_ON_VALGRIND;
}

bool under_helgrind(void)
{
	const char *tool = getenv("BERTH_UNDER");

	return tool && strcmp(tool, "helgrind") == 0;
}

/* ---- Arguments and time ---- */

static struct {
	const char *program;
	const char *only;   /* the case asked for, or NULL */
	const char *except; /* those not to be run, or NULL */
	uint64_t seed;
	double seconds;
	bool shown;
} run = { .seconds = 1 };

double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void show_seed(void)
{
	fprintf(stderr,
		"seed %" PRIu64 ", repeat with: %s --seed %" PRIu64
		" --seconds %g%s%s\n",
		run.seed, run.program, run.seed, run.seconds,
		run.only ? " " : "", run.only ? run.only : "");
}

uint64_t test_seed(void)
{
	if (!run.shown)
		show_seed();
	run.shown = true;
	return run.seed;
}

void repeat_with_seed(uint64_t seed)
{
	run.seed = seed;
}

double test_seconds(void)
{
	return run.seconds;
}

static void usage(int status)
{
	fprintf(status ? stderr : stdout,
		"usage: %s [--seed N] [--seconds S] [--except CASES] [CASE]\n",
		run.program);
	exit(status);
}

/* The whole of @text as a number, or the usage. */
static double number(const char *text)
{
	char *end;
	double value;

	errno = 0;
	value = text ? strtod(text, &end) : -1;
	if (!text || errno || *end || value < 0)
		usage(2);
	return value;
}

static uint64_t seed_number(const char *text)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = text ? strtoull(text, &end, 0) : 0;
	if (!text || errno || end == text || *end)
		usage(2);
	return value;
}

static const char *word(const char *text)
{
	if (!text)
		usage(2);
	return text;
}

static void read_environment(void)
{
	const char *seed = getenv("BERTH_SEED");
	const char *seconds = getenv("BERTH_TORTURE_SECONDS");
	struct timespec time;

	if (seconds && *seconds)
		run.seconds = number(seconds);
	if (seed && *seed) {
		run.seed = seed_number(seed);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &time);
	run.seed = (uint64_t)time.tv_sec * 1000003 + (uint64_t)time.tv_nsec;
}

static void read_arguments(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seed"))
			run.seed = seed_number(argv[++i]);
		else if (!strcmp(argv[i], "--seconds"))
			run.seconds = number(argv[++i]);
		else if (!strcmp(argv[i], "--except"))
			run.except = word(argv[++i]);
		else if (!strcmp(argv[i], "--help"))
			usage(0);
		else if (argv[i][0] == '-' || run.only)
			usage(2);
		else
			run.only = argv[i];
	}
}

/* A name that fits no case would pass for a success. */
static void check_is_a_case(const char *pattern, const struct CMUnitTest *cases,
			    size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!fnmatch(pattern, cases[i].name, 0))
			return;
	fprintf(stderr, "no such case: %s; there are:\n", pattern);
	for (i = 0; i < count; i++)
		fprintf(stderr, "  %s\n", cases[i].name);
	exit(2);
}

/* Take those that fit @pattern out of @cases; returns how many are left. */
static size_t without_pattern(const char *pattern, struct CMUnitTest *cases,
			      size_t count)
{
	size_t i, left = 0;

	check_is_a_case(pattern, cases, count);
	for (i = 0; i < count; i++)
		if (fnmatch(pattern, cases[i].name, 0))
			cases[left++] = cases[i];
	return left;
}

static size_t without_excepted(struct CMUnitTest *cases, size_t count)
{
	char *list = run.except ? strdup(run.except) : NULL, *rest = list;
	const char *pattern;

	while ((pattern = strsep(&rest, ",")) != NULL)
		count = without_pattern(pattern, cases, count);
	free(list);
	return count;
}

int run_some_cases(int argc, char **argv, const struct CMUnitTest *cases,
		   size_t count)
{
	const char *name = strrchr(argv[0], '/');
	struct CMUnitTest *chosen = calloc(count, sizeof(*chosen));
	int failures;

	check(chosen);
	memcpy(chosen, cases, count * sizeof(*chosen));
	run.program = argv[0];
	read_environment();
	read_arguments(argc, argv);
	count = without_excepted(chosen, count);
	if (run.only) {
		check_is_a_case(run.only, chosen, count);
		cmocka_set_test_filter(run.only);
	}
	failures = _cmocka_run_group_tests(name ? name + 1 : argv[0], chosen,
					   count, NULL, NULL);
	free(chosen);
	if (berth_drain)
		berth_drain(); /* what is left now is a leak */
	return failures;
}

void check_failed(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: failed: %s\n", file, line, condition);
	show_seed();
	abort();
}

void check_equal_failed(long long a, long long b, const char *file, int line,
			const char *text)
{
	fprintf(stderr, "%lld is not %lld\n", a, b);
	check_failed(file, line, text);
}

/* ---- Random numbers ---- */

/* splitmix64: spreads seeds that are near each other. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

struct random random_of(uint64_t seed, uint64_t stream)
{
	return (struct random){ mix(mix(seed) + stream) | 1 };
}

/* xorshift64*; the state is never zero. */
uint64_t random_next(struct random *random)
{
	uint64_t x = random->state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	random->state = x;
	return x * 0x2545f4914f6cdd1d;
}

/* ---- Races ---- */

/* The race that is on. */
static struct {
	atomic_bool time_over;
	bool last_round;
	pthread_barrier_t meeting;
	atomic_uint ready; /* goes up only: see start_together() */
	unsigned int count;
	double patience; /* when even a worker without work gives up */
} the_race;

static __thread const struct worker *this_worker;

bool keep_going(void)
{
	if (!atomic_load_explicit(&the_race.time_over, memory_order_relaxed))
		return true;
	return this_worker && !this_worker->work && now() < the_race.patience;
}

bool keep_going_until(const atomic_ulong *seen)
{
	return keep_going() || !atomic_load(seen);
}

/* gcov writes its counts when a process exits, and what is linked into this
 * program also when it is told to. */
#if WITH_COVERAGE
void __gcov_dump(void);

static void dump_coverage(int signal)
{
	(void)signal;
	__gcov_dump();
}
#endif

void expect_leaks(void)
{
	VALGRIND_CLO_CHANGE("--leak-check=no");
}

void leave_child(int status)
{
	VALGRIND_CLO_CHANGE("--leak-check=no");
#if WITH_COVERAGE
	exit(status);
#endif
	_exit(status);
}

void prepare_to_abort(void)
{
	VALGRIND_CLO_CHANGE("--leak-check=no");
#if WITH_COVERAGE
	signal(SIGABRT, dump_coverage);
#else
	signal(SIGABRT, SIG_DFL);
#endif
}

void fork_until_over(struct worker *worker, void (*child)(void))
{
	int status;
	pid_t pid;

	for (; keep_going(); worker->work++) {
		pid = fork();
		check(pid >= 0);
		if (!pid) {
			child();
			leave_child(0);
		}
		check_equal(waitpid(pid, &status, 0), pid);
		check_equal(status, 0);
	}
}

/*
 * A barrier wakes sleepers one after the other, and a short round is over
 * before the last is awake.  So whoever is awake spins until all are.
 */
static void start_together(void)
{
	unsigned int mine = atomic_fetch_add(&the_race.ready, 1);
	unsigned int all = mine - mine % the_race.count + the_race.count;
	unsigned int tries = 0;

	while ((int)(atomic_load(&the_race.ready) - all) < 0)
		if (++tries % 256 == 0)
			sched_yield();
}

bool next_round(struct worker *worker, void (*between)(void *shared))
{
	bool go_on;

	if (pthread_barrier_wait(&the_race.meeting) ==
	    PTHREAD_BARRIER_SERIAL_THREAD) {
		between(worker->shared);
		the_race.last_round = !keep_going();
	}
	pthread_barrier_wait(&the_race.meeting);
	go_on = !the_race.last_round;
	start_together();
	return go_on;
}

/*
 * A timer stops each worker now and then, wherever it is, for up to longer than
 * a grace period takes: so a window of two instructions is met in a second.
 * (ThreadSanitizer puts signals off, and needs no windows.)
 */
enum {
	STALL_EVERY_US = 700, /* on average */
	STALL_BITS = 12,      /* the longest is so many bits of us */
};

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static __thread struct random stall_random;
static __thread timer_t stall_timer;

static void stall_again(void)
{
	struct itimerspec time = { 0 };

	time.it_value.tv_nsec =
		1 +
		1000 * (long)random_below(&stall_random, 2 * STALL_EVERY_US);
	timer_settime(stall_timer, 0, &time, NULL);
}

static void stall(int signal)
{
	unsigned int bits = random_below(&stall_random, STALL_BITS);
	double end = now() + 1e-6 * random_below(&stall_random, 2u << bits);
	int saved = errno;

	(void)signal;
	while (now() < end)
		;
	stall_again();
	errno = saved;
}

static void begin_stalls(struct random random)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = SIGRTMIN };
	struct sigaction action = { .sa_handler = stall,
				    .sa_flags = SA_RESTART };

	stall_random = random;
	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	check(!sigaction(SIGRTMIN, &action, NULL));
	check(!timer_create(CLOCK_MONOTONIC, &event, &stall_timer));
	stall_again();
}

/* A signal that is on its way still finds a timer, or one that is gone. */
static void end_stalls(void)
{
	timer_delete(stall_timer);
}

struct runner {
	pthread_t thread;
	struct worker worker;
	void (*function)(struct worker *);
};

static void *run_worker(void *arg)
{
	struct runner *runner = arg;

	this_worker = &runner->worker;
	pthread_barrier_wait(&the_race.meeting);
	start_together();
	if (!UNDER_TSAN)
		begin_stalls(random_of(run.seed, runner->worker.index + 1000));
	runner->function(&runner->worker);
	if (!UNDER_TSAN)
		end_stalls();
	return NULL;
}

static void let_time_pass(void)
{
	struct timespec time = { .tv_sec = (time_t)run.seconds };

	time.tv_nsec = (long)((run.seconds - (double)time.tv_sec) * 1e9);
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) == EINTR)
		;
}

/*
 * cmocka's handlers are for the thread that runs the case: on another one they
 * end the process without a word.
 */
static void crash_in_race(int signal)
{
	static const char said[] =
		"A crash in one of the threads.  A build with -fsanitize=address "
		"may tell more; its signal follows.\n";
	ssize_t n = write(STDERR_FILENO, said, sizeof(said) - 1);

	(void)n;
	(void)raise(signal); /* which is as by default again: SA_RESETHAND */
}

static void watch_for_crashes(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE };
	struct sigaction action = { .sa_handler = crash_in_race,
				    .sa_flags = (int)SA_RESETHAND };
	size_t i;

	if (UNDER_ASAN || UNDER_TSAN)
		return; /* they tell by themselves */
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		check(!sigaction(signals[i], &action, NULL));
}

void run_race(void *shared, void (*const *functions)(struct worker *),
	      size_t count)
{
	struct runner *runners = calloc(count, sizeof(*runners));
	uint64_t seed = test_seed();
	size_t i;

	check(runners);
	watch_for_crashes();
	the_race.count = (unsigned int)count;
	atomic_store(&the_race.ready, 0);
	atomic_store(&the_race.time_over, false);
	the_race.patience = now() + 10 * test_seconds();
	pthread_barrier_init(&the_race.meeting, NULL, (unsigned int)count);

	for (i = 0; i < count; i++) {
		runners[i].function = functions[i];
		runners[i].worker = (struct worker){
			.index = (unsigned int)i,
			.random = random_of(seed, i),
			.shared = shared,
		};
		check(!pthread_create(&runners[i].thread, NULL, run_worker,
				      &runners[i]));
	}
	let_time_pass();
	atomic_store(&the_race.time_over, true);

	for (i = 0; i < count; i++) {
		pthread_join(runners[i].thread, NULL);
		fprintf(stderr, "worker %zu: %lu\n", i, runners[i].worker.work);
		check(runners[i].worker.work > 0);
	}
	pthread_barrier_destroy(&the_race.meeting);
	free(runners);
}
