/* SPDX-License-Identifier: MIT */
/* The way out to libc and the kernel, and the faults injected there. */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/sys.h"

/*
 * Tests arm these from one thread; any thread counts them down.  Relaxed
 * throughout: an injection orders nothing.
 */
static struct {
	unsigned int armed;
	unsigned int one_in;
	uint64_t seed;
	uint64_t countdown[SYS_CALLS];
	uint64_t failures;
} faults;

static bool fault_by_chance(void)
{
	unsigned int one_in = load_relaxed(&faults.one_in);
	uint64_t x;

	if (!one_in)
		return false;
	/* A Weyl sequence, mixed: repeatable in one thread, cheap in many. */
	x = fetch_add_relaxed(&faults.seed, UINT64_C(0x9e3779b97f4a7c15));
	x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return (x >> 33) % one_in == 0;
}

static noinline bool fault_due(enum sys_call call)
{
	uint64_t *countdown = &faults.countdown[call];
	uint64_t left = load_relaxed(countdown);

	while (left && !cas_relaxed(countdown, &left, left - 1))
		;
	if (left != 1 && !fault_by_chance())
		return false;
	fetch_add_relaxed(&faults.failures, 1);
	return true;
}

static bool fault(enum sys_call call)
{
	return unlikely(load_relaxed(&faults.armed)) && fault_due(call);
}

void sys_fail_nth(enum sys_call call, uint64_t nth)
{
	store_relaxed(&faults.failures, 0);
	store_relaxed(&faults.countdown[call], nth);
	store_relaxed(&faults.armed, nth != 0);
}

void sys_fail_random(uint64_t seed, unsigned int one_in)
{
	store_relaxed(&faults.failures, 0);
	store_relaxed(&faults.seed, seed);
	store_relaxed(&faults.one_in, one_in);
	store_relaxed(&faults.armed, one_in != 0);
}

uint64_t sys_failures(void)
{
	return load_relaxed(&faults.failures);
}

void *sys_alloc(struct bytes bytes)
{
	return fault(SYS_ALLOC) ? NULL : malloc(bytes.n);
}

void *sys_zalloc(struct bytes bytes)
{
	return fault(SYS_ALLOC) ? NULL : calloc(1, bytes.n);
}

void *sys_zalloc_lines(struct bytes bytes)
{
	void *memory = NULL;

	if (!fault(SYS_ALLOC))
		memory = aligned_alloc(CACHE_LINE, bytes.n);
	return memory ? memset(memory, 0, bytes.n) : NULL;
}

void sys_free(void *memory, struct bytes bytes)
{
	(void)bytes;
	free(memory);
}

static size_t whole_pages(struct bytes bytes)
{
	return (bytes.n + SYS_PAGE - 1) & ~(SYS_PAGE - 1);
}

void *sys_map(struct bytes bytes, size_t align)
{
	size_t n = whole_pages(bytes), lead, spare = align - SYS_PAGE;
	char *map;

	if (fault(SYS_MAP) || n > SIZE_MAX / 2)
		return NULL;
	/* So much more always holds an aligned piece; give back the rest. */
	map = mmap(NULL, n + spare, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	lead = -(uintptr_t)map & (align - 1);
	if (lead)
		munmap(map, lead);
	if (spare > lead)
		munmap(map + lead + n, spare - lead);
	return map + lead;
}

void sys_unmap(void *memory, struct bytes bytes)
{
	munmap(memory, whole_pages(bytes));
}

uint64_t sys_memory(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) *
	       (uint64_t)sysconf(_SC_PAGESIZE);
}

void sys_clock(struct timespec *now)
{
	if (fault(SYS_CLOCK) || clock_gettime(CLOCK_REALTIME_COARSE, now))
		*now = (struct timespec){ 0 };
}

void sys_futex_wait(const uint32_t *word, uint32_t value)
{
	int saved = errno;

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
	errno = saved;
}

void sys_futex_wake(uint32_t *word, int waiters)
{
	int saved = errno;

	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, waiters, NULL, NULL, 0);
	errno = saved;
}

/*
 * Yielding is no use against a real-time thread that waits for a preempted
 * ordinary one, so later tries sleep: by a system call, for in the C library's
 * sleep a thread may be cancelled, and would keep what it holds.
 */
void sys_yield(unsigned int tries)
{
	struct timespec pause = { .tv_nsec = 50000 };

	if (tries < 16)
		sched_yield();
	else
		syscall(SYS_nanosleep, &pause, NULL);
}
