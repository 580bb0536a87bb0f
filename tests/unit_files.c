/* SPDX-License-Identifier: MIT */
/*
 * Descriptor tables, one thread and its helpers: lookups, any number, what
 * happens to a file from its first reference to its end, reports.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

/* An embedder's objects depend on it. */
_Static_assert(sizeof(struct berth_file) == 64, "the size is fixed");

/* ---- Any number ---- */

static const int odd_numbers[] = {
	-1,	     INT_MIN, INT_MIN + 1,   INT_MAX,
	INT_MAX - 1, 1 << 30, (1 << 30) - 1, 1022,
	1023,	     1024,    1025,	     63,
	64,	     65,      4095,	     4096,
	65535,	     65536,   1 << 20,	     -1024,
};

#define for_each_odd_number(fd)                                       \
	for (const int *odd = odd_numbers;                            \
	     odd < odd_numbers + sizeof(odd_numbers) / sizeof(int) && \
	     ((fd) = *odd, true);                                     \
	     odd++)

static void check_all_calls_find_nothing(int fd)
{
	assert_null(berth_files_get(table, fd));
	assert_null(berth_files_borrow(table, fd));
	assert_int_equal(berth_files_close(table, fd), -EBADF);
	assert_int_equal(berth_files_dup(table, fd), -EBADF);
	assert_int_equal(berth_files_dup2(table, fd, 500), -EBADF);
	assert_int_equal(berth_files_dup2(table, fd, fd), -EBADF);
	assert_int_equal(berth_files_dup3(table, fd, 500, 0), -EBADF);
	assert_int_equal(berth_files_dup3(table, fd, 500, O_CLOEXEC), -EBADF);
	assert_int_equal(berth_files_dup3(table, fd, fd, 0), -EINVAL);
	assert_int_equal(berth_files_dupfd(table, fd, 0, 0), -EBADF);
	assert_int_equal(berth_files_dupfd(table, fd, 0, O_CLOEXEC), -EBADF);
	assert_int_equal(berth_files_getfd(table, fd), -EBADF);
	assert_int_equal(berth_files_setfd(table, fd, FD_CLOEXEC), -EBADF);
	assert_int_equal(berth_files_setfd(table, fd, 0), -EBADF);
}

static void empty_numbers_find_nothing(void **state)
{
	int fd;

	(void)state;
	for (fd = 0; fd < 200; fd++)
		check_all_calls_find_nothing(fd);
	for_each_odd_number(fd) check_all_calls_find_nothing(fd);
	assert_int_equal(berth_files_count(table), 0);
}

static void odd_numbers_find_nothing_in_a_full_table(void **state)
{
	int fd;

	(void)state;
	berth_files_set_limit(table, 63);
	while (probe_open(table, NULL) >= 0)
		;
	for_each_odd_number(fd) check_all_calls_find_nothing(fd);
	assert_int_equal(berth_files_count(table), 63);
}

static void odd_targets_are_refused(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	for_each_odd_number(fd)
	{
		if (fd >= 0 && fd < 1024)
			continue;
		assert_int_equal(berth_files_dup2(table, 0, fd), -EBADF);
		assert_int_equal(berth_files_dup3(table, 0, fd, 0), -EBADF);
		assert_int_equal(berth_files_dupfd(table, 0, fd, 0), -EINVAL);
		assert_int_equal(berth_files_reserve(table, fd, 0),
				 fd < 0 ? -EINVAL : -EMFILE);
		assert_false(is_open(table, fd));
	}
	assert_int_equal(berth_files_count(table), 1);
}

static void last_number_below_the_limit_works(void **state)
{
	(void)state;
	assert_int_equal(probe_open(table, NULL), 0);
	assert_int_equal(berth_files_dup2(table, 0, 1023), 1023);
	assert_int_equal(berth_files_dup2(table, 0, 1024), -EBADF);
	assert_int_equal(berth_files_close(table, 1023), 0);
	assert_int_equal(berth_files_dupfd(table, 0, 1023, 0), 1023);
	assert_int_equal(berth_files_dupfd(table, 0, 1023, 0), -EMFILE);
	assert_int_equal(berth_files_dupfd(table, 0, 1024, 0), -EINVAL);
	assert_int_equal(berth_files_close(table, 1023), 0);
	assert_int_equal(berth_files_reserve(table, 1023, 0), 1023);
	assert_int_equal(berth_files_reserve(table, 1023, 0), -EMFILE);
	berth_files_unreserve(table, 1023);
}

/* ---- Lookups ---- */

static void number_finds_what_was_installed(void **state)
{
	struct probe *probe = probe_create(NULL, 0);
	struct berth_file *file;

	(void)state;
	assert_int_equal(berth_files_reserve(table, 7, 0), 7);
	berth_files_install(table, 7, &probe->file);

	file = berth_files_get(table, 7);
	assert_ptr_equal(file, &probe->file);
	assert_int_equal(file->flags, O_RDWR);
	berth_file_put(file);

	file = berth_files_borrow(table, 7);
	assert_ptr_equal(file, &probe->file);
	berth_files_return(file);
}

static void reserved_number_finds_nothing(void **state)
{
	struct berth_file *file;

	(void)state;
	assert_int_equal(berth_files_reserve(table, 0, 0), 0);
	assert_null(berth_files_get(table, 0));
	assert_null(berth_files_borrow(table, 0));
	assert_int_equal(berth_files_close(table, 0), -EBADF);
	assert_int_equal(berth_files_dup(table, 0), -EBADF);
	assert_int_equal(berth_files_dup2(table, 0, 3), -EBADF);
	assert_int_equal(berth_files_dup2(table, 0, 0), -EBADF);
	assert_int_equal(berth_files_dupfd(table, 0, 0, 0), -EBADF);
	assert_int_equal(berth_files_getfd(table, 0), -EBADF);
	assert_int_equal(berth_files_setfd(table, 0, FD_CLOEXEC), -EBADF);
	assert_int_equal(berth_files_count(table), 1);

	/* And none of these gave it away. */
	assert_int_equal(probe_open(table, NULL), 1);
	file = &probe_create(NULL, 0)->file;
	berth_files_install(table, 0, file);
	assert_true(is_open(table, 0));
	assert_int_equal(berth_files_getfd(table, 0), 0);
}

static void borrows_nest(void **state)
{
	struct berth_file *outer, *inner, *other;

	(void)state;
	probe_open(table, NULL);
	probe_open(table, NULL);
	outer = berth_files_borrow(table, 0);
	inner = berth_files_borrow(table, 0);
	other = berth_files_borrow(table, 1);
	assert_ptr_equal(outer, inner);
	assert_ptr_not_equal(outer, other);
	berth_files_return(inner);
	berth_files_return(other);
	probe_check_owned(probe_of(outer));
	berth_files_return(outer);
}

static void get_inside_a_borrow(void **state)
{
	struct berth_file *borrowed, *owned;

	(void)state;
	probe_open(table, NULL);
	borrowed = berth_files_borrow(table, 0);
	owned = berth_files_get(table, 0);
	assert_ptr_equal(borrowed, owned);
	berth_files_return(borrowed);
	berth_files_close(table, 0);
	probe_check_owned(probe_of(owned));
	berth_file_put(owned);
}

static void tables_are_apart(void **state)
{
	struct berth_files *other;

	(void)state;
	assert_int_equal(berth_files_create(&other), 0);
	assert_int_equal(probe_open(table, NULL), 0);
	assert_null(berth_files_borrow(other, 0));
	assert_int_equal(berth_files_close(other, 0), -EBADF);
	assert_int_equal(probe_open(other, NULL), 0);
	assert_int_equal(berth_files_close(table, 0), 0);
	assert_int_not_equal(probe_id_at(other, 0), 0);
	berth_files_put_table(other);
}

/* ---- A file's life ---- */

static void check_fate(struct fate *fate, unsigned int flushes,
		       unsigned int releases, unsigned int frees)
{
	assert_int_equal(fate->flushes, flushes);
	assert_int_equal(fate->releases, releases);
	assert_int_equal(fate->frees, frees);
}

static void one_close_ends_it(void **state)
{
	struct fate *fate = new_fate();

	(void)state;
	assert_int_equal(probe_open(table, fate), 0);
	check_fate(fate, 0, 0, 0);
	assert_int_equal(berth_files_close(table, 0), 0);
	assert_int_equal(fate->flushes, 1);
	assert_int_equal(fate->releases, 1);
	assert_int_equal(berth_files_close(table, 0), -EBADF);
	berth_drain();
	check_fate(fate, 1, 1, 1);
}

static void every_close_flushes_the_last_releases(void **state)
{
	struct fate *fate = new_fate();

	(void)state;
	assert_int_equal(probe_open(table, fate), 0);
	assert_int_equal(berth_files_dup(table, 0), 1);
	assert_int_equal(berth_files_dup2(table, 1, 2), 2);
	assert_int_equal(berth_files_dupfd(table, 0, 3, 0), 3);

	assert_int_equal(berth_files_close(table, 0), 0);
	assert_int_equal(berth_files_close(table, 3), 0);
	assert_int_equal(berth_files_close(table, 1), 0);
	berth_drain();
	check_fate(fate, 3, 0, 0);
	assert_true(is_open(table, 2));
	assert_int_equal(berth_files_close(table, 2), 0);
	berth_drain();
	check_fate(fate, 4, 1, 1);
}

static void owned_reference_outlives_close(void **state)
{
	struct fate *fate = new_fate();
	struct berth_file *file;

	(void)state;
	probe_open(table, fate);
	file = berth_files_get(table, 0);
	berth_file_get(file);
	berth_files_close(table, 0);
	berth_drain();
	check_fate(fate, 1, 0, 0);
	berth_file_put(file);
	probe_check_owned(probe_of(file));
	berth_file_put(file);
	assert_int_equal(fate->releases, 1);
	berth_drain();
	check_fate(fate, 1, 1, 1);
}

static void never_installed_is_not_flushed(void **state)
{
	struct fate *fate = new_fate();
	struct probe *probe = probe_create(fate, 0);

	(void)state;
	berth_file_put(&probe->file);
	assert_int_equal(fate->releases, 1);
	berth_drain();
	check_fate(fate, 0, 1, 1);
	berth_file_put(NULL);
}

static void close_frees_the_number_though_flush_fails(void **state)
{
	struct fate *fate = new_fate();
	struct berth_file *file;

	(void)state;
	probe_open(table, fate);
	assert_int_equal(berth_files_dup(table, 0), 1);
	file = berth_files_borrow(table, 0);
	probe_of(file)->flush_result = -EIO;
	berth_files_return(file);

	assert_int_equal(berth_files_close(table, 0), -EIO);
	assert_false(is_open(table, 0));
	assert_int_equal(berth_files_close(table, 0), -EBADF);
	assert_true(is_open(table, 1));
	assert_int_equal(berth_files_close(table, 1), -EIO);
	berth_drain();
	check_fate(fate, 2, 1, 1);
	assert_int_equal(berth_files_count(table), 0);
	assert_int_equal(probe_open(table, NULL), 0);
}

static void last_user_of_the_table_closes_all(void **state)
{
	struct berth_files *shared, *same;
	struct fate *fate = new_fate();

	(void)state;
	assert_int_equal(berth_files_create(&shared), 0);
	same = berth_files_get_table(shared);
	assert_ptr_equal(same, shared);
	probe_open(shared, fate);
	probe_open(shared, fate);
	assert_int_equal(berth_files_dup2(shared, 1, 1000), 1000);
	assert_int_equal(berth_files_reserve(shared, 0, 0), 2);

	berth_files_put_table(shared);
	berth_drain();
	check_fate(fate, 0, 0, 0);
	berth_files_put_table(same);
	berth_drain();
	check_fate(fate, 3, 2, 2);
	berth_files_put_table(NULL);
}

/* ---- Operations of one's own ---- */

static int flush_order[8];
static unsigned int flushed;
static struct berth_files *flushed_in;

static int note_flush(struct berth_file *file, struct berth_files *in)
{
	flush_order[flushed++ % 8] = probe_of(file)->fd;
	flushed_in = in;
	return 0;
}

static unsigned int bare_frees;

static void count_free(struct berth_file *file)
{
	(void)file;
	bare_frees++;
}

static const struct berth_file_operations bare_operations = {
	.free = count_free,
};

static void flush_and_release_are_optional(void **state)
{
	struct berth_file file;

	(void)state;
	bare_frees = 0;
	berth_file_init(&file, &bare_operations, 0, 0);
	assert_int_equal(berth_files_reserve(table, 0, 0), 0);
	berth_files_install(table, 0, &file);
	assert_int_equal(berth_files_close(table, 0), 0);
	berth_drain();
	assert_int_equal(bare_frees, 1);

	berth_file_init(&file, &bare_operations, 0, BERTH_FILE_RELEASE_WAITS);
	assert_int_equal(berth_files_reserve(table, 0, 0), 0);
	berth_files_install(table, 0, &file);
	assert_int_equal(berth_files_close(table, 0), 0);
	berth_drain();
	assert_int_equal(bare_frees, 2);
}

static void put_table_closes_from_the_lowest_up(void **state)
{
	static const struct berth_file_operations noting = {
		.flush = note_flush,
		.free = count_free,
	};
	static const int numbers[] = { 70, 3, 900, 0 };
	struct probe probes[4];
	struct berth_files *other;
	int i;

	(void)state;
	assert_int_equal(berth_files_create(&other), 0);
	for (i = 0; i < 4; i++) {
		berth_file_init(&probes[i].file, &noting, 0, 0);
		probes[i].fd = numbers[i];
		assert_int_equal(berth_files_reserve(other, numbers[i], 0),
				 numbers[i]);
		berth_files_install(other, numbers[i], &probes[i].file);
	}
	flushed = 0;
	berth_files_put_table(other);
	assert_int_equal(flushed, 4);
	assert_int_equal(flush_order[0], 0);
	assert_int_equal(flush_order[1], 3);
	assert_int_equal(flush_order[2], 70);
	assert_int_equal(flush_order[3], 900);
	assert_ptr_equal(flushed_in, other);
	berth_drain();
}

/* A flush may use the table: no lock is held, and the number is free. */
static int use_table(struct berth_file *file, struct berth_files *in)
{
	(void)file;
	check(!berth_files_borrow(in, 0));
	check_equal(berth_files_close(in, 1), 0);
	check_equal(probe_open(in, NULL), 0);
	return 0;
}

static void flush_may_use_the_table(void **state)
{
	static const struct berth_file_operations using = {
		.flush = use_table,
		.free = count_free,
	};
	struct berth_file file;

	(void)state;
	berth_file_init(&file, &using, 0, 0);
	assert_int_equal(berth_files_reserve(table, 0, 0), 0);
	berth_files_install(table, 0, &file);
	assert_int_equal(probe_open(table, NULL), 1);
	assert_int_equal(berth_files_close(table, 0), 0);
	assert_true(is_open(table, 0));
	assert_false(is_open(table, 1));
	berth_drain();
}

/* A free may close what the object held, as an epoll file does. */
static void close_zero_of_mine(struct berth_file *file)
{
	(void)file;
	check_equal(berth_files_close(table, 0), 0);
}

static void free_may_use_a_table(void **state)
{
	static const struct berth_file_operations holding = {
		.free = close_zero_of_mine,
	};
	struct fate *fate = new_fate();
	struct berth_file file;

	(void)state;
	assert_int_equal(probe_open(table, fate), 0);
	berth_file_init(&file, &holding, 0, 0);
	assert_int_equal(berth_files_reserve(table, 0, 0), 1);
	berth_files_install(table, 1, &file);
	assert_int_equal(berth_files_close(table, 1), 0);
	berth_drain();
	assert_false(is_open(table, 0));
	assert_int_equal(fate->releases, 1);
}

/* ---- Borrows of another thread ---- */

enum step {
	START,
	BORROWED,
	CLOSED,
	DRAINING,
	RETURNED,
};

static _Atomic(enum step) step;

static void reach(enum step next)
{
	atomic_store(&step, next);
}

static void wait_for(enum step wanted)
{
	while (atomic_load(&step) < wanted)
		sched_yield();
}

/* Borrow 0, and keep it until someone waits for it. */
static void *long_borrower(void *arg)
{
	struct fate *fate = arg;
	struct berth_file *file = berth_files_borrow(table, 0);
	double until;

	check(file);
	reach(BORROWED);
	wait_for(DRAINING);
	until = now() + 0.02;
	while (now() < until) {
		probe_check(probe_of(file));
		check_equal(fate->frees, 0);
	}
	reach(RETURNED);
	berth_files_return(file);
	return NULL;
}

/* By check(), which does not leave the borrower behind. */
static void borrow_keeps_file(unsigned int mode)
{
	bool waits = mode & BERTH_FILE_RELEASE_WAITS;
	struct fate *fate = new_fate();
	pthread_t borrower;
	int i;

	reach(START);
	check_equal(berth_files_reserve(table, 0, 0), 0);
	berth_files_install(table, 0, &probe_create(fate, mode)->file);
	check(!pthread_create(&borrower, NULL, long_borrower, fate));
	wait_for(BORROWED);

	check_equal(berth_files_close(table, 0), 0);
	check_equal(fate->flushes, 1);
	check_equal(fate->releases, !waits);
	for (i = 0; i < 100; i++) {
		check_equal(probe_open(table, NULL), 0);
		check_equal(berth_files_close(table, 0), 0);
	}
	check_equal(fate->releases, !waits);
	reach(DRAINING);
	berth_drain();
	check_equal(atomic_load(&step), RETURNED);
	check_fate(fate, 1, 1, 1);
	pthread_join(borrower, NULL);
}

static void borrow_keeps_the_memory(void **state)
{
	(void)state;
	borrow_keeps_file(0);
}

static void borrow_keeps_release_waiting(void **state)
{
	(void)state;
	borrow_keeps_file(BERTH_FILE_RELEASE_WAITS);
}

static void *short_life(void *arg)
{
	int fd = probe_open(table, NULL);

	(void)arg;
	check(fd >= 0);
	check_equal(berth_files_close(table, fd), 0);
	return NULL;
}

static void run_threads(int count)
{
	pthread_t thread;
	int i;

	for (i = 0; i < count; i++) {
		check(!pthread_create(&thread, NULL, short_life, NULL));
		pthread_join(thread, NULL);
	}
	berth_drain();
}

/* What a thread deferred does not get lost when it ends. */
static void ended_threads_leave_nothing(void **state)
{
	(void)state;
	run_threads(100);
	check_no_probe_left();
}

static void ended_threads_leave_no_memory(void **state)
{
	size_t used;
	int i;

	(void)state;
	if (UNDER_ASAN || UNDER_TSAN)
		skip(); /* their memory is not malloc's */
	run_threads(100);
	used = mallinfo2().uordblks;
	for (i = 0; i < 20; i++)
		run_threads(100);
	assert_true(mallinfo2().uordblks < used + 4096);
}

/* A burst of closes is freed on the way, without a drain. */
static void deferred_frees_are_bounded(void **state)
{
	unsigned long start = all_probes.frees;
	int i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		assert_int_equal(probe_open(table, NULL), 0);
		assert_int_equal(berth_files_close(table, 0), 0);
	}
	assert_true(all_probes.frees - start > 90000);
}

/* More than half of what a thread collects before it frees. */
#define MANY_CLOSES 3000

static void close_many(void)
{
	int i;

	for (i = 0; i < MANY_CLOSES; i++) {
		assert_int_equal(probe_open(table, NULL), 0);
		assert_int_equal(berth_files_close(table, 0), 0);
	}
}

/* What was freed by a drain is not waiting any more. */
static void a_drain_lets_the_next_batch_fill(void **state)
{
	unsigned long frees;

	(void)state;
	berth_drain();
	close_many();
	berth_drain();
	frees = all_probes.frees;
	close_many();
	assert_int_equal(all_probes.frees, frees);
}

/* ---- Reports ---- */

static void check_unreserve_is_reported(int fd)
{
	unsigned int count = berth_files_count(table);

	record_reports();
	berth_files_unreserve(table, fd);
	assert_int_equal(reports_of("unreserve-not-reserved"), 1);
	assert_int_equal(stop_recording(), 1);
	assert_int_equal(berth_files_count(table), count);
}

static void unreserve_of_anything_else_is_reported(void **state)
{
	int fd;

	(void)state;
	probe_open(table, NULL);
	check_unreserve_is_reported(0);
	assert_true(is_open(table, 0));
	assert_int_equal(probe_open(table, NULL), 1);
	check_unreserve_is_reported(2);
	for_each_odd_number(fd) check_unreserve_is_reported(fd);

	fd = berth_files_reserve(table, 0, 0);
	berth_files_unreserve(table, fd);
	check_unreserve_is_reported(fd);
	assert_int_equal(probe_open(table, NULL), fd);
}

/* The file stays the caller's: it might be a double install of the same. */
static void check_install_is_reported(int fd)
{
	struct berth_file *file = &probe_create(NULL, 0)->file;
	unsigned int count = berth_files_count(table);
	uint64_t id = probe_id_at(table, fd);

	record_reports();
	berth_files_install(table, fd, file);
	assert_int_equal(reports_of("install-not-reserved"), 1);
	assert_int_equal(stop_recording(), 1);
	assert_int_equal(berth_files_count(table), count);
	assert_int_equal(probe_id_at(table, fd), id);
	assert_int_equal(berth_kref_read(&file->refs), 1);
	berth_file_put(file);
}

static void install_of_anything_else_is_reported(void **state)
{
	int fd;

	(void)state;
	probe_open(table, NULL);
	check_install_is_reported(0);
	check_install_is_reported(1);
	for_each_odd_number(fd) check_install_is_reported(fd);
	assert_int_equal(probe_open(table, NULL), 1);
}

static void last_put_inside_a_borrow_is_reported(void **state)
{
	struct berth_file *owned = &probe_create(NULL, 0)->file;
	struct berth_file *borrowed;

	(void)state;
	probe_open(table, NULL);
	borrowed = berth_files_borrow(table, 0);
	record_reports();
	berth_file_get(owned);
	berth_file_put(owned);
	assert_int_equal(reports_of("close-inside-borrow"), 0);
	berth_file_put(owned);
	assert_int_equal(reports_of("close-inside-borrow"), 1);
	assert_int_equal(stop_recording(), 1);
	probe_check_owned(probe_of(borrowed));
	berth_files_return(borrowed);
}

static void last_close_inside_a_borrow_is_reported(void **state)
{
	struct berth_file *borrowed;

	(void)state;
	probe_open(table, NULL);
	borrowed = berth_files_borrow(table, 0);
	record_reports();
	assert_int_equal(berth_files_close(table, 0), 0);
	assert_true(reports_of("close-inside-borrow") > 0);
	stop_recording();
	probe_check(probe_of(borrowed));
	berth_files_return(borrowed);
	assert_false(is_open(table, 0));
}

static void a_drain_inside_a_borrow_is_reported(void **state)
{
	struct berth_file *file;
	int fd = probe_open(table, NULL);

	(void)state;
	file = berth_files_borrow(table, fd);
	assert_non_null(file);
	record_reports();
	berth_drain();
	assert_int_equal(reports_of("drain-inside-borrow"), 1);
	assert_int_equal(stop_recording(), 1);
	berth_files_return(file);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(empty_numbers_find_nothing),
		table_test(odd_numbers_find_nothing_in_a_full_table),
		table_test(odd_targets_are_refused),
		table_test(last_number_below_the_limit_works),
		table_test(number_finds_what_was_installed),
		table_test(reserved_number_finds_nothing),
		table_test(borrows_nest),
		table_test(get_inside_a_borrow),
		table_test(tables_are_apart),
		table_test(one_close_ends_it),
		table_test(every_close_flushes_the_last_releases),
		table_test(owned_reference_outlives_close),
		table_test(never_installed_is_not_flushed),
		table_test(flush_and_release_are_optional),
		table_test(close_frees_the_number_though_flush_fails),
		table_test(last_user_of_the_table_closes_all),
		table_test(put_table_closes_from_the_lowest_up),
		table_test(flush_may_use_the_table),
		table_test(free_may_use_a_table),
		table_test(borrow_keeps_the_memory),
		table_test(borrow_keeps_release_waiting),
		table_test(ended_threads_leave_nothing),
		table_test(ended_threads_leave_no_memory),
		table_test(deferred_frees_are_bounded),
		table_test(a_drain_lets_the_next_batch_fill),
		table_test(unreserve_of_anything_else_is_reported),
		table_test(install_of_anything_else_is_reported),
		table_test(last_put_inside_a_borrow_is_reported),
		table_test(last_close_inside_a_borrow_is_reported),
		table_test(a_drain_inside_a_borrow_is_reported),
	};

	return run_cases(argc, argv, cases);
}
