/* SPDX-License-Identifier: MIT */
/* Each call of the system's fails as it may, and the floor goes on. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/lock.h"

#include "harness.h"

#define CHUNK ((size_t)256 * 1024)

static const struct bytes chunk = { CHUNK };

static bool is_zero(const char *map, size_t n)
{
	while (n && !*map)
		map++, n--;
	return !n;
}

static int64_t mapped(void)
{
	return sys_in_use().mapped;
}

/* ---- errno ---- */

static void errno_stays_without_memory(void **state)
{
	(void)state;
	if (UNDER_ASAN || UNDER_TSAN)
		skip(); /* their allocators do not fail, they end the process */
	errno = 4711;
	assert_null(sys_alloc(bytes_of(SIZE_MAX / 4)));
	assert_null(sys_zalloc(bytes_of(SIZE_MAX / 4)));
	assert_null(sys_zalloc_lines(bytes_of(SIZE_MAX / 4 + 1)));
	assert_int_equal(errno, 4711);
}

static void errno_stays(void **state)
{
	struct timespec time;
	uint32_t word = 1;

	(void)state;
	errno = 4711;
	assert_null(sys_map(bytes_of(SIZE_MAX / 4), SYS_PAGE));
	assert_null(sys_map(bytes_of(SIZE_MAX), SYS_PAGE));
	assert_null(sys_map(bytes_of(SIZE_MAX), CHUNK));
	sys_futex_wait(&word, 0);
	sys_futex_wake(&word, 1);
	sys_yield(0);
	sys_yield(1000);
	sys_clock(&time);
	assert_int_equal(errno, 4711);
}

/* ---- Mapping ---- */

static void a_system_may_refuse_noreserve(void **state)
{
	char *map;

	(void)state;
	sys_fail_from(SYS_NORESERVE, 1);
	map = sys_map(chunk, CHUNK);
	sys_fail_none();
	assert_true(sys_failures() > 0);
	assert_non_null(map);
	assert_true(is_zero(map, CHUNK));
	sys_unmap(map, chunk);
}

/* Unmap a piece full of bytes, which the system will not have. */
static char *unmap_in_vain(void)
{
	char *map = sys_map(chunk, CHUNK);

	assert_non_null(map);
	memset(map, 'x', CHUNK);
	sys_fail_nth(SYS_UNMAP, 1);
	sys_unmap(map, chunk);
	assert_int_equal(sys_failures(), 1);
	return map;
}

static void what_is_not_unmapped_is_used_again(void **state)
{
	int64_t before = mapped();
	char *map;

	(void)state;
	map = unmap_in_vain();
	sys_fail_none();
	assert_int_equal(mapped() - before, CHUNK);
	assert_ptr_equal(sys_map(chunk, CHUNK), map);
	assert_true(is_zero(map, CHUNK));
	sys_unmap(map, chunk);
	assert_int_equal(mapped(), before);
}

/* Locked pages can not be dropped, only cleared. */
static void locked_pages_are_zero_all_the_same(void **state)
{
	int64_t before = mapped();
	char *map = sys_map(chunk, CHUNK);

	(void)state;
	assert_non_null(map);
	memset(map, 'x', CHUNK);
	sys_fail_nth(SYS_UNMAP, 1);
	sys_fail_nth(SYS_DISCARD, 1);
	sys_unmap(map, chunk);
	assert_int_equal(sys_failures(), 2);
	sys_fail_none();
	assert_ptr_equal(sys_map(chunk, CHUNK), map);
	assert_true(is_zero(map, CHUNK));
	sys_unmap(map, chunk);
	assert_int_equal(mapped(), before);
}

/* A kept piece of another size or place does not do. */
static void what_was_kept_has_to_fit(void **state)
{
	int64_t before = mapped();
	struct bytes half = bytes_of(CHUNK / 2);
	char *kept, *map, *far;

	(void)state;
	kept = unmap_in_vain();
	sys_fail_none();
	map = sys_map(half, SYS_PAGE);
	assert_non_null(map);
	assert_true(map + CHUNK / 2 <= kept || kept + CHUNK <= map);
	/* A piece that was mapped by chance is hardly aligned so. */
	far = sys_map(chunk, (size_t)1 << 30);
	assert_non_null(far);
	assert_int_equal((uintptr_t)far % ((size_t)1 << 30), 0);
	/* What works takes what was kept along. */
	sys_unmap(far, chunk);
	sys_unmap(map, half);
	assert_int_equal(mapped(), before);
}

/* What is cut off a larger mapping can not be given back either. */
static void what_is_cut_off_is_kept(void **state)
{
	int64_t before = mapped();
	size_t align = (size_t)1 << 30;
	char *map;

	(void)state;
	sys_fail_from(SYS_UNMAP, 1);
	map = sys_map(chunk, align);
	assert_non_null(map);
	assert_int_equal((uintptr_t)map % align, 0);
	assert_true(is_zero(map, CHUNK));
	memset(map, 'x', CHUNK);
	assert_true(sys_failures() >= 2);
	assert_true(mapped() - before > (int64_t)CHUNK);
	sys_fail_none();
	sys_unmap(map, chunk);
	assert_int_equal(mapped(), before);
}

/* ---- The system's own limit ---- */

/* More than that would take too long to fill. */
#define MANY_MAPS 300000ul

static unsigned long max_map_count(void)
{
	FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
	unsigned long max = 0;

	if (!file || fscanf(file, "%lu", &max) != 1)
		max = 0;
	if (file)
		fclose(file);
	return max;
}

/* Use up all mappings that a process may have: pages of changing protection. */
static char *fill_the_map(size_t bytes)
{
	char *area = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	size_t at = 0;

	assert_ptr_not_equal(area, MAP_FAILED);
	while (!mprotect(area + at, SYS_PAGE, PROT_READ)) {
		at += 2 * SYS_PAGE;
		assert_true(at < bytes);
	}
	assert_int_equal(errno, ENOMEM);
	/* One is left perhaps, for the last took two. */
	while (!mprotect(area + bytes - SYS_PAGE, SYS_PAGE, PROT_READ) &&
	       bytes > at)
		bytes -= 2 * SYS_PAGE;
	return area;
}

static unsigned int resident(char *map)
{
	unsigned char pages[CHUNK / SYS_PAGE];
	unsigned int i, n = 0;

	assert_int_equal(mincore(map, CHUNK, pages), 0);
	for (i = 0; i < CHUNK / SYS_PAGE; i++)
		n += pages[i] & 1;
	return n;
}

static void as_many_mappings_as_there_may_be(void **state)
{
	unsigned long max = max_map_count();
	size_t bytes = (max + 100) * 2 * SYS_PAGE;
	int64_t before = mapped();
	struct bytes three = bytes_of(3 * CHUNK);
	char *area, *map;

	(void)state;
	if (UNDER_ASAN || UNDER_TSAN)
		skip(); /* they need some themselves */
	if (under_valgrind())
		skip(); /* it knows fewer of them than there may be, and ends */
	if (!max || max > MANY_MAPS)
		skip(); /* unknown, or too many */
	map = sys_map(three, CHUNK);
	assert_non_null(map);
	memset(map, 'x', three.n);
	area = fill_the_map(bytes);

	/* In the middle: the system would have to make two of it. */
	errno = 0;
	assert_int_equal(munmap(map + CHUNK, CHUNK), -1);
	assert_int_equal(errno, ENOMEM);
	sys_unmap(map + CHUNK, chunk);
	assert_true(resident(map + CHUNK) <= 1);
	assert_ptr_equal(sys_map(chunk, CHUNK), map + CHUNK);
	assert_true(is_zero(map + CHUNK, CHUNK));
	sys_unmap(map + CHUNK, chunk);

	assert_int_equal(munmap(area, bytes), 0);
	sys_unmap(map, chunk);
	sys_unmap(map + 2 * CHUNK, chunk);
	assert_int_equal(mapped(), before);
}

/* ---- Time ---- */

static void the_precise_clock_does_too(void **state)
{
	struct timespec before, now;

	(void)state;
	sys_clock(&before);
	sys_fail_nth(SYS_CLOCK, 1);
	sys_clock(&now);
	assert_int_equal(sys_failures(), 1);
	sys_fail_none();
	assert_true(before.tv_sec > 0);
	assert_true(now.tv_sec >= before.tv_sec);
	sys_fail_from(SYS_CLOCK, 1);
	sys_clock(&now);
	sys_fail_none();
	assert_int_equal(now.tv_sec, 0);
	assert_int_equal(now.tv_nsec, 0);
}

/* ---- Waiting ---- */

static struct mutex mutex;
static struct spinlock spinlock;
static unsigned long guarded[2]; /* not atomic: the locks must do */

static void count_under_both(struct worker *me)
{
	while (keep_going()) {
		mutex_lock(&mutex);
		guarded[0]++;
		spin_lock(&spinlock);
		guarded[1]++;
		spin_unlock(&spinlock);
		mutex_unlock(&mutex);
		spin_lock(&spinlock);
		guarded[1]++;
		spin_unlock(&spinlock);
		me->work++;
	}
}

static void locks_exclude_whatever_waits_do(void **state)
{
	(void)state;
	sys_fail_from(SYS_WAIT, 1);
	sys_fail_from(SYS_WAKE, 1);
	sys_fail_from(SYS_YIELD, 1);
	sys_fail_from(SYS_NAP, 1);
	race(NULL, count_under_both, count_under_both, count_under_both);
	sys_fail_none();
	assert_true(sys_failures() > 0);
	assert_int_equal(guarded[1], 2 * guarded[0]);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(errno_stays_without_memory),
		cmocka_unit_test(errno_stays),
		cmocka_unit_test(a_system_may_refuse_noreserve),
		cmocka_unit_test(what_is_not_unmapped_is_used_again),
		cmocka_unit_test(locked_pages_are_zero_all_the_same),
		cmocka_unit_test(what_was_kept_has_to_fit),
		cmocka_unit_test(what_is_cut_off_is_kept),
		cmocka_unit_test(as_many_mappings_as_there_may_be),
		cmocka_unit_test(the_precise_clock_does_too),
		cmocka_unit_test(locks_exclude_whatever_waits_do),
	};

	sys_count_use();
	return run_cases(argc, argv, cases);
}
