/* SPDX-License-Identifier: MIT */
/*
 * What the tests share: a seed and a time from the command line, random
 * numbers, threads that start and stop together, and a record of reports.
 *
 * A test program ends in
 *
 *	int main(int argc, char **argv)
 *	{
 *		static const struct CMUnitTest cases[] = {
 *			cmocka_unit_test(first_case),
 *		};
 *
 *		return run_cases(argc, argv, cases);
 *	}
 *
 * and then takes [--seed N] [--seconds S] [--except CASES] [CASE], where CASE
 * may have * and ?, and CASES too, and commas.
 * BERTH_SEED and BERTH_TORTURE_SECONDS in the environment do as well.  Without
 * a seed the clock gives one; it is printed with the command that repeats the
 * run when a case first asks for it.
 */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif
#ifdef __SANITIZE_THREAD__
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif

/* Is valgrind the processor, and partly the kernel, of this run? */
bool under_valgrind(void);
/* By its tool for threads? */
bool under_helgrind(void);

/*
 * Would a fork beside other threads mislead who watches?  The allocators of the
 * sanitizers have locks that do not survive it; helgrind goes on seeing, in the
 * child, the accesses of threads that are gone.
 */
static inline bool forks_mislead_tools(void)
{
	return UNDER_ASAN || UNDER_TSAN || under_helgrind();
}

/*
 * Helgrind takes atomic accesses for plain ones.  A valgrind build tells it that
 * the tests' own are none, and are ordered.
 */
#if WITH_VALGRIND
#include <stdatomic.h>
#include <valgrind/helgrind.h>

#define annotated(p, access)                                   \
	__extension__({                                        \
		VALGRIND_HG_DISABLE_CHECKING(p, sizeof(*(p))); \
		ANNOTATE_HAPPENS_BEFORE(p);                    \
		__auto_type result_ = (access);                \
		ANNOTATE_HAPPENS_AFTER(p);                     \
		result_;                                       \
	})

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_exchange
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_compare_exchange_weak
#define atomic_load_explicit(p, order) \
	annotated(p, __atomic_load_n(p, __ATOMIC_SEQ_CST))
#define atomic_load(p) atomic_load_explicit(p, memory_order_seq_cst)
#define atomic_store(p, v) \
	((void)annotated(p, (__atomic_store_n(p, v, __ATOMIC_SEQ_CST), 0)))
#define atomic_exchange(p, v) \
	annotated(p, __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST))
#define atomic_fetch_add(p, v) \
	annotated(p, __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST))
#define atomic_fetch_sub(p, v) \
	annotated(p, __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST))
#define atomic_compare_exchange_weak(p, old, v)                               \
	annotated(p,                                                          \
		  __atomic_compare_exchange_n(p, old, v, 1, __ATOMIC_SEQ_CST, \
					      __ATOMIC_SEQ_CST))
#endif

/* ---- Running ---- */

#define run_cases(argc, argv, cases) \
	run_some_cases(argc, argv, cases, sizeof(cases) / sizeof((cases)[0]))

int run_some_cases(int argc, char **argv, const struct CMUnitTest *cases,
		   size_t count);

/* Shows seed and command on the first call. */
uint64_t test_seed(void);
/* A single-threaded test of many rounds calls this with each round's seed. */
void repeat_with_seed(uint64_t seed);
double test_seconds(void);
/* Monotonic time in seconds, from some start. */
double now(void);

/* ---- Conditions, on any thread ---- */

/* cmocka's own assertions are for the thread that runs the case. */
#define check(condition) \
	((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))
#define check_equal(a, b) check_equal_at(a, b, __FILE__, __LINE__, #a " is " #b)

/* Say what is wrong and how to repeat it, and abort. */
void check_failed(const char *file, int line, const char *condition)
	__attribute__((noreturn, cold));
void check_equal_failed(long long a, long long b, const char *file, int line,
			const char *condition) __attribute__((noreturn, cold));

static inline void check_equal_at(long long a, long long b, const char *file,
				  int line, const char *condition)
{
	if (__builtin_expect(a != b, 0))
		check_equal_failed(a, b, file, line, condition);
}

/* ---- Random numbers ---- */

struct random {
	uint64_t state;
};

/* Different streams of one seed have nothing in common. */
struct random random_of(uint64_t seed, uint64_t stream);
uint64_t random_next(struct random *random);

/* From 0 to @bound - 1. */
static inline unsigned int random_below(struct random *random,
					unsigned int bound)
{
	return (unsigned int)((random_next(random) >> 32) * bound >> 32);
}

/* True once in @one_in times. */
static inline bool random_once_in(struct random *random, unsigned int one_in)
{
	return random_below(random, one_in) == 0;
}

/* ---- Races ---- */

/*
 * One thread of a race.  It counts in @work what it did; a thread that ends
 * with zero fails the test.
 */
struct worker {
	unsigned int index;
	struct random random;
	void *shared;
	unsigned long work;
};

/*
 * Run each function on a thread of its own, all from the same moment, and wait
 * until they have returned.  keep_going() turns false after test_seconds(),
 * for a worker that has not come to work by then a little later.
 */
#define race(shared, ...)                                               \
	run_race(shared, (void (*[])(struct worker *)){ __VA_ARGS__ },  \
		 sizeof((void (*[])(struct worker *)){ __VA_ARGS__ }) / \
			 sizeof(void (*)(struct worker *)))

void run_race(void *shared, void (*const *functions)(struct worker *),
	      size_t count);

bool keep_going(void);
/* The same, but not before a thing has happened that the test is about, though
 * on a busy machine it takes longer.  (If it never does, the test hangs.) */
bool keep_going_until(const atomic_ulong *seen);

/*
 * A forked child's end.  What belonged to its parent's threads is nobody's here,
 * so valgrind does not look for leaks; what it reached counts as covered.
 */
void leave_child(int status) __attribute__((noreturn));

/* This process ends with threads inside, which have memory. */
void expect_leaks(void);
/* In a child that is to abort: the same. */
void prepare_to_abort(void);

/* Fork the process until time is over; each child runs @child, which must end it
 * well.  Counts the children as work. */
void fork_until_over(struct worker *worker, void (*child)(void));

/*
 * Wait for all other workers; one of them calls @between (checks the round that
 * is over, prepares the next) while the others wait.  False, for all alike,
 * when time is over; @between has been called then, too.
 */
bool next_round(struct worker *worker, void (*between)(void *shared));

/* ---- Reports of broken contracts ---- */

/* Count reports from now on, instead of aborting. */
void record_reports(void);
/* Back to aborting.  Returns how many there were of any kind. */
unsigned int stop_recording(void);
/* How many of this invariant since record_reports(). */
unsigned int reports_of(const char *invariant);

#endif
