/* SPDX-License-Identifier: MIT */
/*
 * One run of one contender, in a child process.
 *
 * The child tells its parent what came out through a page of shared memory,
 * and ends with _exit(): whatever it did to memory, descriptors or mounts goes
 * with it.  The time is up when SIGALRM says so; no thread but the workers is
 * needed, so a run with one thread is a process with one thread.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "front/cli/message.h"

/* Threads that go on for so long after the end of the time hang. */
#define HANG_SECONDS 30

/* Caches, tables and clock rates settle before the measurement begins. */
#define WARM_UP_SHARE 0.1
#define WARM_UP_MAX   0.1

/* What a child leaves to its parent. */
struct outcome {
	bool failed;
	bool hung;
	struct bench_figures figures;
	char error[256];
};

bool bench_stop cache_aligned;

static struct outcome *outcome;
static bool cut_short; /* a signal asked for the end */
static pthread_barrier_t barrier;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* How long this thread has been ready to run without a CPU, in seconds; 0
 * where the kernel does not tell. */
static double time_waited(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	unsigned long long nanoseconds = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*u %llu", &nanoseconds) != 1)
		nanoseconds = 0;
	fclose(file);
	return (double)nanoseconds / 1e9;
}

/* ---- For contenders ---- */

void bench_fail(const char *format, ...)
{
	va_list args;

	/* The first one is heard; the process ends under the others. */
	while (swap_relaxed(&outcome->failed, true))
		pause();
	va_start(args, format);
	vsnprintf(outcome->error, sizeof(outcome->error), format, args);
	va_end(args);
	_exit(EXIT_FAILURE);
}

bool bench_pins(const struct bench_options *options, unsigned int nr_threads)
{
	return options->pin &&
	       (unsigned int)CPU_COUNT(&options->cpus) >= nr_threads;
}

unsigned int bench_fds_before(const struct bench_run *run)
{
	return BENCH_STDIO_FDS +
	       (run->options->small_table ? 0 : BENCH_FURTHER_FDS);
}

void *bench_alloc(size_t size)
{
	size_t line = 2ul * CACHE_LINE; /* processors fetch lines in pairs */
	void *memory = aligned_alloc(line, (size + line - 1) / line * line);

	if (!memory)
		bench_fail("%s", strerror(ENOMEM));
	memset(memory, 0, size);
	return memory;
}

/* ---- Time ---- */

static void on_alarm(int signal)
{
	(void)signal;
	if (load_relaxed(&bench_stop)) {
		outcome->hung = true;
		_exit(EXIT_FAILURE);
	}
	store_relaxed(&bench_stop, true);
}

static struct timeval timeval_of(double seconds)
{
	struct timeval tv = { .tv_sec = (time_t)seconds };

	tv.tv_usec = (suseconds_t)((seconds - (double)tv.tv_sec) * 1e6);
	if (seconds > 0 && tv.tv_sec == 0 && tv.tv_usec == 0)
		tv.tv_usec = 1;
	return tv;
}

/* Stop after so many seconds; 0 is never.  A second signal means a hang. */
static void arm(double seconds)
{
	struct itimerval timer = {
		.it_value = timeval_of(seconds),
		.it_interval.tv_sec = HANG_SECONDS,
	};

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void catch_alarm(void)
{
	struct sigaction action = {
		.sa_handler = on_alarm,
		.sa_flags = SA_RESTART,
	};

	sigaction(SIGALRM, &action, NULL);
}

/* ---- Threads ---- */

/* The CPU of the set that thread number @index is to have. */
static int cpu_of(const cpu_set_t *cpus, unsigned int index)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus) && index-- == 0)
			return cpu;
	return -1;
}

static void pin(const struct bench_thread *thread)
{
	const struct bench_options *options = thread->run->options;
	cpu_set_t one;

	if (!bench_pins(options, thread->run->nr_threads))
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu_of(&options->cpus, thread->index), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		bench_fail("cannot pin a thread: %s", strerror(errno));
}

/* All threads loop together for this long. */
static void loop(struct bench_thread *thread, double seconds)
{
	bool first = thread->index == 0;
	double waited;

	if (first)
		store_relaxed(&bench_stop, false);
	pthread_barrier_wait(&barrier);
	if (first)
		arm(seconds);
	waited = time_waited();
	thread->began = now();
	thread->run->contender->loop(thread);
	thread->ended = now();
	thread->waited = time_waited() - waited;
	pthread_barrier_wait(&barrier);
}

static void *work(void *arg)
{
	struct bench_thread *thread = arg;
	const struct bench_run *run = thread->run;
	double seconds = run->options->seconds;
	double warm_up = seconds * WARM_UP_SHARE;

	pin(thread);
	if (run->contender->begin)
		run->contender->begin(thread);
	loop(thread, warm_up < WARM_UP_MAX ? warm_up : WARM_UP_MAX);
	loop(thread, seconds);
	return NULL;
}

static void *idle(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void start(pthread_t *id, void *(*function)(void *), void *arg)
{
	int error = pthread_create(id, NULL, function, arg);

	if (error)
		bench_fail("cannot start a thread: %s", strerror(error));
}

/* Start the others, be the first, and wait for the others. */
static void work_together(struct bench_run *run)
{
	pthread_t *ids = bench_alloc(run->nr_threads * sizeof(*ids));

	pthread_barrier_init(&barrier, NULL, run->nr_threads);
	for (unsigned int i = 1; i < run->nr_threads; i++)
		start(&ids[i], work, &run->threads[i]);
	work(&run->threads[0]);
	for (unsigned int i = 1; i < run->nr_threads; i++)
		pthread_join(ids[i], NULL);
	free(ids);
}

/* The time is that from the first thread's start to the last one's end; where
 * the threads tell how long they worked, each has a rate of its own. */
static struct bench_figures sum_up(const struct bench_run *run)
{
	double began = run->threads[0].began;
	double ended = run->threads[0].ended;
	double waited = 0, seconds, rate = 0;
	uint64_t units = 0;

	for (unsigned int i = 0; i < run->nr_threads; i++) {
		const struct bench_thread *thread = &run->threads[i];

		units += thread->units;
		if (thread->spent > 0)
			rate += (double)thread->units / thread->spent;
		waited += thread->waited;
		began = thread->began < began ? thread->began : began;
		ended = thread->ended > ended ? thread->ended : ended;
	}
	if ((unsigned int)CPU_COUNT(&run->options->cpus) < run->nr_threads)
		waited = 0; /* for each other */
	seconds = ended - began;
	return (struct bench_figures){
		.rate = rate > 0 ? rate : (double)units / seconds,
		.waited = waited / (seconds * run->nr_threads),
	};
}

/* ---- Processes ---- */

/* Exactly the first three descriptors are open, as in a new process. */
static void reset_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < (int)BENCH_STDIO_FDS);
	close_range(BENCH_STDIO_FDS, ~0u, 0);
}

static void run_in_child(struct bench_run *run)
{
	pthread_t idler;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	reset_descriptors();
	catch_alarm();
	if (sched_setaffinity(0, sizeof(cpu_set_t), &run->options->cpus))
		bench_fail("cannot choose the CPUs: %s", strerror(errno));
	if (run->options->idle_thread)
		start(&idler, idle, NULL);

	run->threads = bench_alloc(run->nr_threads * sizeof(*run->threads));
	for (unsigned int i = 0; i < run->nr_threads; i++)
		run->threads[i] = (struct bench_thread){
			.run = run,
			.index = i,
			.fd = -1,
		};
	if (run->contender->setup)
		run->contender->setup(run);
	work_together(run);
	arm(0);
	outcome->figures = sum_up(run);
	if (run->contender->teardown)
		run->contender->teardown(run);
	_exit(EXIT_SUCCESS);
}

/* Wait for the child; a signal to us ends it. */
static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
		cut_short = true;
		kill(child, SIGKILL);
	}
	return status;
}

static void complain(const struct bench_run *run, int status)
{
	char how[sizeof(outcome->error)];

	if (outcome->failed)
		snprintf(how, sizeof(how), "%s", outcome->error);
	else if (outcome->hung)
		snprintf(how, sizeof(how), "its threads did not end");
	else if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "its process got signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(how, sizeof(how), "its process ended early");
	report_progress_end();
	message("%s, %s, %u thread%s: %s", run->workload->name,
		run->contender->name, run->nr_threads,
		run->nr_threads == 1 ? "" : "s", how);
}

int bench_run(const struct bench_workload *workload,
	      const struct bench_contender *contender,
	      const struct bench_options *options, unsigned int nr_threads,
	      struct bench_figures *figures)
{
	struct bench_run run = {
		.workload = workload,
		.contender = contender,
		.options = options,
		.nr_threads = nr_threads,
	};
	int status = -1;
	pid_t child;

	outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (outcome == MAP_FAILED) {
		message("no memory for a run: %s", strerror(errno));
		return -1;
	}
	child = fork();
	if (child == 0)
		run_in_child(&run);
	if (child < 0) {
		message("no process for a run: %s", strerror(errno));
		goto out_unmap;
	}
	status = wait_for(child);
	if (status == 0)
		*figures = outcome->figures;
	else if (!cut_short)
		complain(&run, status);
out_unmap:
	munmap(outcome, sizeof(*outcome));
	return status ? -1 : 0;
}
