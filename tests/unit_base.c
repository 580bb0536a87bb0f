/* SPDX-License-Identifier: MIT */
/* The floor: bitmaps, byte counts, locks, sequence counters, injected faults. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bitmap.h"
#include "base/fault.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/report.h"
#include "harness.h"

/* ---- Bitmaps against the plain way ---- */

enum {
	BITS = 200,
	WORDS = 4,
};

static unsigned int plain_next_zero(const bool *bits, unsigned int from)
{
	while (from < BITS && bits[from])
		from++;
	return from < BITS ? from : BITS;
}

static void bitmaps_find_the_next_zero(void **state)
{
	struct random random = random_of(test_seed(), 0);
	uint64_t words[WORDS] = { 0 };
	bool bits[BITS] = { false };
	unsigned int round, bit, from;

	(void)state;
	for (round = 0; round < 100000; round++) {
		bit = random_below(&random, BITS);
		bits[bit] = random_once_in(&random, 8) ? false : true;
		bit_assign(words, bit, bits[bit]);
		assert_int_equal(bit_is_set(words, bit), bits[bit]);
		from = random_below(&random, BITS + 1);
		assert_int_equal(bit_next_zero(words, BITS, from),
				 plain_next_zero(bits, from));
	}
}

/* ---- Byte counts ---- */

static void byte_counts_do_not_wrap(void **state)
{
	(void)state;
	assert_int_equal(bytes_array(8, 3, 16).n, 56);
	assert_int_equal(bytes_array(8, SIZE_MAX / 4, 16).n, SIZE_MAX);
	assert_int_equal(bytes_array(SIZE_MAX, 1, 1).n, SIZE_MAX);
	assert_int_equal(bytes_lines(bytes_of(1)).n, 64);
	assert_int_equal(bytes_lines(bytes_of(64)).n, 64);
	assert_int_equal(bytes_lines(bytes_of(SIZE_MAX - 1)).n, SIZE_MAX);
}

/* ---- Locks ---- */

static struct spinlock spinlock;
static struct mutex mutex;
static struct seqcount seqcount;
static unsigned long guarded; /* not atomic: a lock must do */
static atomic_ulong counted;
static uint64_t first, second;

static void count_by_spinlock(struct worker *me)
{
	while (keep_going()) {
		spin_lock(&spinlock);
		guarded++;
		spin_unlock(&spinlock);
		atomic_fetch_add(&counted, 1);
		me->work++;
	}
}

static void count_by_mutex(struct worker *me)
{
	while (keep_going()) {
		mutex_lock(&mutex);
		guarded++;
		mutex_unlock(&mutex);
		atomic_fetch_add(&counted, 1);
		me->work++;
	}
}

static void spinlock_excludes(void **state)
{
	(void)state;
	guarded = 0;
	atomic_store(&counted, 0);
	race(NULL, count_by_spinlock, count_by_spinlock, count_by_spinlock);
	assert_int_equal(guarded, atomic_load(&counted));
	assert_true(spin_trylock(&spinlock));
	assert_false(spin_trylock(&spinlock));
	spin_unlock(&spinlock);
}

static void mutex_excludes(void **state)
{
	(void)state;
	guarded = 0;
	atomic_store(&counted, 0);
	race(NULL, count_by_mutex, count_by_mutex, count_by_mutex);
	assert_int_equal(guarded, atomic_load(&counted));
	assert_true(mutex_trylock(&mutex));
	assert_false(mutex_trylock(&mutex));
	mutex_unlock(&mutex);
}

/* Both are the same, as of any instant outside a section. */
static void write_a_pair(struct worker *me)
{
	while (keep_going()) {
		seq_write_begin(&seqcount);
		seq_store(&first, first + 1);
		seq_store(&second, second + 1);
		seq_write_end(&seqcount);
		me->work++;
	}
}

static void read_a_pair(struct worker *me)
{
	uint64_t a, b;
	uint32_t seq;

	while (keep_going()) {
		do {
			seq = seq_read_begin(&seqcount);
			a = seq_load(&first);
			b = seq_load(&second);
		} while (seq_read_retry(&seqcount, seq));
		check_equal((long long)a, (long long)b);
		me->work++;
	}
}

static void seqcount_gives_whole_pairs(void **state)
{
	(void)state;
	race(NULL, write_a_pair, read_a_pair, read_a_pair);
}

/* ---- Injected faults and caps ---- */

static void the_nth_call_fails_once(void **state)
{
	struct bytes bytes = bytes_of(100);
	void *memory[3];
	int i;

	(void)state;
	sys_fail_nth(SYS_ALLOC, 2);
	for (i = 0; i < 3; i++)
		memory[i] = sys_alloc(bytes);
	sys_fail_none();
	assert_non_null(memory[0]);
	assert_null(memory[1]);
	assert_non_null(memory[2]);
	sys_free(memory[0], bytes);
	sys_free(memory[2], bytes);
}

static void chance_fails_some(void **state)
{
	struct bytes bytes = bytes_of(100);
	unsigned int i, failed = 0;
	void *memory;

	(void)state;
	sys_fail_random(test_seed(), 4);
	for (i = 0; i < 1000; i++) {
		memory = sys_zalloc(bytes);
		failed += !memory;
		if (memory)
			sys_free(memory, bytes);
	}
	assert_int_equal(sys_failures(), failed);
	sys_fail_none();
	assert_in_range(failed, 150, 350);
}

static void a_cap_is_kept(void **state)
{
	struct mem mem = { .max = 1000 };
	void *half, *rest;

	(void)state;
	half = mem_alloc(&mem, bytes_of(600));
	assert_non_null(half);
	assert_null(mem_alloc(&mem, bytes_of(401)));
	rest = mem_zalloc(&mem, bytes_of(400));
	assert_non_null(rest);
	mem_free(&mem, half, bytes_of(600));
	mem_free(&mem, rest, bytes_of(400));
	assert_int_equal(mem.used, 0);
}

static void mapped_pages_are_aligned_and_zero(void **state)
{
	size_t align = (size_t)1 << 20;
	struct bytes bytes = bytes_of(3 * 4096 + 1);
	char *map = sys_map(bytes, align);

	(void)state;
	assert_non_null(map);
	assert_int_equal((uintptr_t)map % align, 0);
	assert_int_equal(map[0], 0);
	assert_int_equal(map[4 * 4096 - 1], 0);
	sys_unmap(map, bytes);
}

static void maps_fail_whole(void **state)
{
	struct mem mem = { .max = 8192 };
	bool zeroed;

	(void)state;
	sys_fail_nth(SYS_MAP, 1);
	assert_null(mem_map(&mem, bytes_of(4096), &zeroed));
	sys_fail_none();
	assert_int_equal(mem.used, 0);
	assert_null(sys_map(bytes_of(SIZE_MAX / 2 - 4096), 4096));
	mem_free(&mem, NULL, bytes_of(4096));
	assert_int_equal(mem.used, 0);
}

static void without_a_clock_it_is_1970(void **state)
{
	struct timespec now = { 1, 1 };

	(void)state;
	sys_fail_from(SYS_CLOCK, 1); /* neither the coarse nor the fine one */
	sys_clock(&now);
	sys_fail_none();
	assert_int_equal(now.tv_sec, 0);
	assert_int_equal(now.tv_nsec, 0);
	sys_clock(&now);
	assert_true(now.tv_sec > 0);
}

static void a_broken_invariant_aborts(void **state)
{
	int ends[2], status;
	char text[100] = "";
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		prepare_to_abort();
		invariant(ends[0] < 0);
		leave_child(0);
	}
	close(ends[1]);
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(text, "broken invariant: ends[0] < 0 ("));
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(bitmaps_find_the_next_zero),
		cmocka_unit_test(byte_counts_do_not_wrap),
		cmocka_unit_test(spinlock_excludes),
		cmocka_unit_test(mutex_excludes),
		cmocka_unit_test(seqcount_gives_whole_pairs),
		cmocka_unit_test(the_nth_call_fails_once),
		cmocka_unit_test(chance_fails_some),
		cmocka_unit_test(a_cap_is_kept),
		cmocka_unit_test(mapped_pages_are_aligned_and_zero),
		cmocka_unit_test(maps_fail_whole),
		cmocka_unit_test(without_a_clock_it_is_1970),
		cmocka_unit_test(a_broken_invariant_aborts),
	};

	return run_cases(argc, argv, cases);
}
