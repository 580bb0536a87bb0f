/* SPDX-License-Identifier: MIT */
/*
 * Signal handlers call what docs/SPEC.md allows them, at any moment, while the
 * threads that they interrupt do everything else: nobody waits for a lock that
 * the interrupted thread holds, what is borrowed stays good, and offsets that
 * only handlers read along are never torn.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "fixture.h"
#include "harness.h"
#include "probe.h"

enum {
	WORKERS = 3,
	TOO_LONG = 10, /* seconds more than the race takes */
	LONG_READ = 256 * 1024,
	PROBES = 4,
	CHANGING = 2, /* numbers that are closed and opened all the time */
};

static struct berth_task *inner; /* the handlers' */
static int constant, growing;	 /* files of theirs */
static int shared[CHANGING];	 /* numbers that the workers close */
static struct probe *lasting;	 /* owned by the case */
static atomic_ulong handled;

/* What each worker is doing, beside. */
static pthread_t threads[WORKERS];
static atomic_uint running;

/* ---- In the handler ---- */

static void look_at_probes(void)
{
	struct berth_file *file, *again;
	int fd, ret;

	for (fd = -1; fd <= PROBES; fd++) {
		file = berth_files_borrow(table, fd);
		if (!file)
			continue;
		probe_check(probe_of(file));
		again = berth_files_get(table, 0);
		check(again);
		probe_check_owned(probe_of(again));
		berth_files_return(file);
		berth_file_put(again); /* number 0 is never closed */
		ret = berth_files_getfd(table, fd);
		check(ret == 0 || ret == FD_CLOEXEC || ret == -EBADF);
	}
	berth_file_get(&lasting->file);
	berth_file_put(&lasting->file);
}

static void read_files(void)
{
	char buf[LONG_READ]; /* handlers interrupt each other */
	ssize_t got;
	int i, ret;

	check_equal(berth_pread(inner, constant, buf, 5, 0), 5);
	check(!memcmp(buf, "hello", 5));
	got = berth_pread(inner, growing, buf, sizeof(buf), 0);
	check(got >= 0);
	for (i = 0; i < got; i += 100)
		check(buf[i] == 'x' || buf[i] == 0);
	check_equal(berth_lseek(inner, constant, 0, SEEK_SET), 0);
	got = berth_read(inner, constant, buf, 5);
	check(got >= 0 && got <= 5);
	check(berth_lseek(inner, constant, 0, SEEK_CUR) >= 0);
	check_equal(berth_lseek(inner, constant, 0, SEEK_END), 5);
	check(berth_lseek(inner, growing, 0, SEEK_END) >= 0);
	ret = berth_fcntl(inner, constant, F_GETFL, 0);
	check_equal(ret & O_ACCMODE, O_RDWR);
	check_equal(berth_fcntl(inner, constant, F_GETFD, 0), FD_CLOEXEC);
	for (i = 0; i < CHANGING; i++) {
		got = berth_pread(inner, shared[i], buf, 5, 0);
		check(got == 5 || got == -EBADF);
	}
}

static void handle(int number)
{
	int saved = errno;

	(void)number;
	look_at_probes();
	read_files();
	atomic_fetch_add(&handled, 1);
	errno = saved;
}

static void install_handler(int number)
{
	struct sigaction action = { .sa_handler = handle,
				    .sa_flags = SA_RESTART };

	check(!sigaction(number, &action, NULL));
}

/* ---- Beneath ---- */

static void change_table(struct random *random)
{
	int fd = 1 + (int)random_below(random, PROBES - 1);
	struct berth_files *copy;
	int ret;

	switch (random_below(random, 5)) {
	case 0:
		/* Another thread may have just reserved the number. */
		ret = berth_files_dup2(table, 0, fd);
		check(ret == fd || ret == -EBUSY);
		break;
	case 1:
		berth_files_close(table, fd);
		break;
	case 2:
		fd = probe_open(table, NULL);
		check(fd > 0);
		berth_files_setfd(table, fd, FD_CLOEXEC);
		if (fd >= PROBES)
			berth_files_close(table, fd);
		break;
	case 3:
		check_equal(berth_files_fork(table, &copy), 0);
		berth_files_put_table(copy);
		break;
	default:
		berth_drain();
	}
}

/* The files that handlers read are written, truncated, renamed and removed. */
static void change_tree(struct random *random, unsigned int index)
{
	static const char data[5000] = "";
	char text[5000], name[16], other[16];
	struct berth_stat st;
	int i;

	memset(text, 'x', sizeof(text));
	snprintf(name, sizeof(name), "/d/n%u", index);
	snprintf(other, sizeof(other), "/d/m%u", index);
	check_equal(berth_mknodat(inner, BERTH_AT_FDCWD, name, 0644, 0), 0);
	check_equal(berth_rename(inner, name, other), 0);
	check_equal(berth_chmod(inner, other, 0600), 0);
	check_equal(berth_unlink(inner, other), 0);
	check_equal(berth_pwrite(inner, growing, text, sizeof(text),
				 random_below(random, LONG_READ)),
		    sizeof(text));
	check_equal(berth_pwrite(inner, growing, data, sizeof(data), 0),
		    sizeof(data));
	check_equal(berth_ftruncate(inner, growing,
				    random_below(random, LONG_READ)),
		    0);
	check_equal(berth_fstat(inner, constant, &st), 0);
	i = shared[random_below(random, CHANGING)];
	check_equal(berth_dup2(inner, constant, i), i);
	berth_close(inner, i);
}

/* Who comes late finds a thread of each worker. */
static void join_in(struct worker *me)
{
	threads[me->index] = pthread_self();
	/* A thread's first call is not for handlers. */
	berth_files_return(berth_files_borrow(table, 0));
	berth_drain();
	atomic_fetch_add(&running, 1);
	while (atomic_load(&running) < WORKERS)
		sched_yield();
}

static void work(struct worker *me)
{
	join_in(me);
	for (; keep_going(); me->work++) {
		change_table(&me->random);
		change_tree(&me->random, me->index);
	}
	/* Nobody sends to a thread that has ended. */
	atomic_fetch_add(&running, 1);
	while (atomic_load(&running) < 2 * WORKERS + 1)
		sched_yield();
}

static void send_signals(struct worker *me)
{
	while (atomic_load(&running) < WORKERS)
		sched_yield();
	for (; keep_going(); me->work++)
		check(!pthread_kill(threads[random_below(&me->random, WORKERS)],
				    SIGUSR1));
	atomic_fetch_add(&running, 1);
}

static void set_timer(long us)
{
	struct itimerval time = { { 0, us }, { 0, us } };

	check(!setitimer(ITIMER_PROF, &time, NULL));
}

static void handlers_call_in(void **state)
{
	int i;

	(void)state;
	alarm((unsigned int)test_seconds() + TOO_LONG);
	create(NULL);
	inner = task;
	check_equal(berth_mkdir(task, "/d", 0755), 0);
	make_file("/constant", "hello");
	make_file("/growing", "");
	constant = berth_open(task, "/constant", O_RDWR | O_CLOEXEC, 0);
	growing = berth_open(task, "/growing", O_RDWR, 0);
	for (i = 0; i < CHANGING; i++)
		shared[i] = berth_open(task, "/constant", O_RDONLY, 0);
	check_equal(berth_files_create(&table), 0);
	for (i = 0; i < PROBES; i++)
		check_equal(probe_open(table, NULL), i);
	lasting = probe_create(NULL, 0);

	install_handler(SIGUSR1);
	install_handler(SIGPROF);
	set_timer(1000);
	race(NULL, work, work, work, send_signals);
	set_timer(0);
	fprintf(stderr, "%lu signals\n", atomic_load(&handled));
	check(atomic_load(&handled) > 0);

	berth_file_put(&lasting->file);
	berth_files_put_table(table);
	check_no_probe_left();
	finish();
	alarm(0);
}

/* Whatever the system's limit: see read_files(). */
static void take_large_stacks(void)
{
	struct rlimit limit;
	pthread_attr_t attr;

	check(!getrlimit(RLIMIT_STACK, &limit));
	limit.rlim_cur = 8 << 20;
	check(!setrlimit(RLIMIT_STACK, &limit));
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, limit.rlim_cur);
	check(!pthread_setattr_default_np(&attr));
	pthread_attr_destroy(&attr);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(handlers_call_in),
	};

	take_large_stacks();
	return run_cases(argc, argv, cases);
}
