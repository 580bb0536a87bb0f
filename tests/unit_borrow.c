/* SPDX-License-Identifier: MIT */
/*
 * A borrow is wait-free and writes no shared memory; whatever is known of a
 * number is known without the table's lock (F9).  What waits is reported inside
 * a borrow (F10).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/files.h"

#include "harness.h"
#include "probe.h"

enum {
	TOO_LONG = 10, /* seconds, for what takes none */
	FAR = 1000,    /* a number in a segment of its own */
};

static const int numbers[] = { 0, 63, FAR };
static const int empty[] = { 1, 62, FAR + 1, 100000, -1, 1 << 30 };

#define for_each_in(i, array) \
	for ((i) = 0; (i) < sizeof(array) / sizeof((array)[0]); (i)++)

static void open_at(int fd)
{
	struct probe *probe = probe_create(NULL, 0);

	assert_int_equal(berth_files_reserve(table, fd, 0), fd);
	probe->fd = fd;
	berth_files_install(table, fd, &probe->file);
}

static void open_all(void)
{
	size_t i;

	for_each_in(i, numbers) open_at(numbers[i]);
}

/* Every number finds its file, and no other finds any. */
static void borrow_all(void)
{
	struct berth_file *file;
	size_t i;

	for_each_in(i, numbers)
	{
		file = berth_files_borrow(table, numbers[i]);
		check(file && probe_of(file)->fd == numbers[i]);
		berth_files_return(file);
	}
	for_each_in(i, empty) check(!berth_files_borrow(table, empty[i]));
}

/* ---- It writes nothing ---- */

/* The pages that hold @size bytes at @at. */
static void protect(const void *at, size_t size, int how)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)at & -page;
	uintptr_t end = ((uintptr_t)at + size + page - 1) & -page;

	check(!mprotect((void *)start, end - start, how));
}

/* All that a borrow sees.  On the same pages others' memory may lie: nobody
 * else is here. */
static void protect_all(int how)
{
	struct files_struct *files = table_of(table);
	unsigned int i;

	for_each_in(i, numbers)
		protect(load_relaxed(fd_slot(files, (unsigned int)numbers[i])),
			sizeof(struct probe), how);
	for (i = 0; i < FD_SEGMENTS; i++)
		if (files->segment[i])
			protect(files->segment[i],
				fd_segment_count(i + 1) * sizeof(void *), how);
	protect(files, sizeof(*files), how);
}

static void a_borrow_writes_nothing(void **state)
{
	(void)state;
	open_all();
	borrow_all(); /* the thread's first call may write */
	protect_all(PROT_READ);
	borrow_all();
	protect_all(PROT_READ | PROT_WRITE);
}

/* ---- It waits for nobody ---- */

static void get_all(void)
{
	struct berth_file *file;
	size_t i;

	for_each_in(i, numbers)
	{
		file = berth_files_get(table, numbers[i]);
		check(file && probe_of(file)->fd == numbers[i]);
		check_equal(berth_files_getfd(table, numbers[i]), 0);
		berth_file_put(file);
	}
	for_each_in(i, empty)
	{
		check(!berth_files_get(table, empty[i]));
		check_equal(berth_files_getfd(table, empty[i]), -EBADF);
	}
}

static void lookups_need_no_lock(void **state)
{
	struct files_struct *files = table_of(table);

	(void)state;
	if (under_helgrind())
		skip(); /* it sees a lock and a section in an odd order */
	alarm(TOO_LONG);
	open_all();
	spin_lock(&files->lock);
	borrow_all();
	get_all();
	spin_unlock(&files->lock);
	alarm(0);
}

/* A thread that is in the midst of ending the grace periods of others. */
static void *drain(void *unused)
{
	(void)unused;
	berth_drain();
	return NULL;
}

static void a_drain_waits_for_a_borrow_not_the_reverse(void **state)
{
	struct berth_file *file;
	pthread_t thread;
	int i;

	(void)state;
	alarm(TOO_LONG);
	open_all();
	check_equal(berth_files_close(table, FAR), 0);
	file = berth_files_borrow(table, 0);
	check(!pthread_create(&thread, NULL, drain, NULL));
	for (i = 0; i < 1000; i++) {
		struct berth_file *other = berth_files_borrow(table, 63);

		check(other);
		berth_files_return(other);
	}
	berth_files_return(file);
	pthread_join(thread, NULL);
	alarm(0);
}

/* ---- What waits is told ---- */

static void a_drain_inside_a_borrow_is_reported(void **state)
{
	struct berth_file *file;

	(void)state;
	alarm(TOO_LONG);
	open_all();
	file = berth_files_borrow(table, 0);
	record_reports();
	berth_drain();
	check_equal(reports_of("drain-inside-borrow"), 1);
	check_equal(stop_recording(), 1);
	probe_check_owned(probe_of(file));
	berth_files_return(file);
	alarm(0);
}

/* Nor does a call reclaim there, however much there is to reclaim. */
static void no_reclaiming_inside_a_borrow(void **state)
{
	struct berth_file *file;
	unsigned long frees;
	unsigned int i;

	(void)state;
	alarm(TOO_LONG);
	open_at(0);
	berth_drain();
	file = berth_files_borrow(table, 0);
	frees = atomic_load(&all_probes.frees);
	record_reports();
	for (i = 0; i < 10 * RCU_BATCH; i++) {
		open_at(1);
		check_equal(berth_files_close(table, 1), 0);
	}
	check_equal(stop_recording(), (long)10 * RCU_BATCH);
	check_equal(atomic_load(&all_probes.frees), frees);
	probe_check_owned(probe_of(file));
	berth_files_return(file);
	alarm(0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(a_borrow_writes_nothing),
		table_test(lookups_need_no_lock),
		table_test(a_drain_waits_for_a_borrow_not_the_reverse),
		table_test(a_drain_inside_a_borrow_is_reported),
		table_test(no_reclaiming_inside_a_borrow),
	};

	return run_cases(argc, argv, cases);
}
