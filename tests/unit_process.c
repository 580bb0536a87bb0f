/* SPDX-License-Identifier: MIT */
/*
 * berth from the first constructor to the last destructor of a process, and the
 * end of the process while threads are inside berth.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "harness.h"
#include "probe.h"

enum {
	TOO_LONG = 20, /* seconds until a child hangs */
	THREADS = 3,
	/* ThreadSanitizer waits a second before a process ends. */
	TIMES = UNDER_TSAN ? 1 : 5,
};

/* Of the library early.c, which has them from its constructor on. */
int early_fd(struct berth_task **of);

/* ---- Before main() and after it ---- */

static struct berth_vfs *own_vfs;
static struct berth_task *own_task;
static int own_fd;

/* Before berth's own constructors, maybe, in a static program. */
__attribute__((constructor(101))) static void very_early(void)
{
	struct berth_files *files;

	check_equal(berth_files_create(&files), 0);
	check_equal(probe_open(files, NULL), 0);
	check_equal(berth_files_close(files, 0), 0);
	berth_files_put_table(files);
}

__attribute__((constructor)) static void early(void)
{
	check_equal(berth_vfs_create(NULL, &own_vfs), 0);
	check_equal(berth_task_create(own_vfs, NULL, &own_task), 0);
	own_fd = berth_open(own_task, "/f", O_CREAT | O_RDWR, 0644);
	check_equal(own_fd, 0);
	check_equal(berth_write(own_task, own_fd, "hello", 5), 5);
}

static void call_again(void)
{
	int fd;

	check(file_holds(own_task, own_fd, "hello"));
	fd = berth_open(own_task, "/g", O_CREAT | O_RDWR, 0644);
	check(fd > 0);
	check_equal(berth_unlink(own_task, "/g"), 0);
	check_equal(berth_close(own_task, fd), 0);
	berth_drain();
}

__attribute__((destructor)) static void late(void)
{
	call_again();
	berth_task_destroy(own_task);
	check_equal(berth_vfs_destroy(own_vfs), 0);
}

static void constructors_may_call(void **state)
{
	struct berth_task *of;
	int fd = early_fd(&of);

	(void)state;
	check(file_holds(of, fd, "early"));
	check(file_holds(own_task, own_fd, "hello"));
	/* What the destructors do is seen by the program's exit status. */
	check(!atexit(call_again));
}

/* What was deferred before all constructors had run is not lost. */
static void nothing_of_the_constructors_is_lost(void **state)
{
	(void)state;
	check(atomic_load(&all_probes.made) > 0);
	check_no_probe_left();
}

/* ---- The end, with threads inside ---- */

static atomic_uint inside;

static void *never_end(void *unused)
{
	struct berth_task *mine = fork_task();
	int fd;

	(void)unused;
	for (;;) {
		fd = berth_open(mine, "/file", O_CREAT | O_RDWR, 0644);
		berth_pwrite(mine, fd, "data", 4, 5000);
		berth_unlink(mine, "/file");
		berth_close(mine, fd);
		berth_files_return(berth_files_borrow(table, 0));
		berth_files_dup2(table, 0, 1);
		berth_drain();
		atomic_fetch_add(&inside, 1);
	}
	return NULL;
}

static void start_threads(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < THREADS; i++)
		check(!pthread_create(&thread, NULL, never_end, NULL));
	while (atomic_load(&inside) < 100)
		usleep(100);
}

static void *exit_elsewhere(void *unused)
{
	(void)unused;
	exit(0);
}

/* By another thread than the first, which has ended. */
static void leave_main(void)
{
	pthread_t thread;

	check(!pthread_create(&thread, NULL, exit_elsewhere, NULL));
	pthread_exit(NULL);
}

static void leave(void)
{
	exit(0);
}

static void leave_at_once(void)
{
	_exit(0);
}

static void leave_quickly(void)
{
	quick_exit(0);
}

static void end_in_a_child(void (*by)(void))
{
	int status;
	pid_t pid = fork();

	check(pid >= 0);
	if (!pid) {
		alarm(TOO_LONG);
		expect_leaks();
		start_threads();
		by();
	}
	check_equal(waitpid(pid, &status, 0), pid);
	check_equal(status, 0);
}

static void a_process_ends_with_threads_inside(void **state)
{
	int i;

	(void)state;
	if (under_helgrind())
		skip(); /* it wants no lock held by a thread that ends */
	check_equal(probe_open(table, NULL), 0);
	create(NULL);
	for (i = 0; i < TIMES; i++) {
		end_in_a_child(leave);
		end_in_a_child(leave_at_once);
		end_in_a_child(leave_quickly);
		/* What the first thread's stack alone knew is a leak then. */
		if (!UNDER_ASAN)
			end_in_a_child(leave_main);
	}
	finish();
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(constructors_may_call),
		cmocka_unit_test(nothing_of_the_constructors_is_lost),
		table_test(a_process_ends_with_threads_inside),
	};

	return run_cases(argc, argv, cases);
}
