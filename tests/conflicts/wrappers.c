/* SPDX-License-Identifier: MIT */
/*
 * What functions of other libraries touch; `externals` lists them all.
 *
 * *Memory*.  glibc keeps free blocks of up to about a kilobyte in a cache of
 * each thread, and larger ones in an arena, of which each thread has its own as
 * long as there are few; a large block goes back to the arena that it came from.
 * So an allocation writes something of the thread's own, here `cache`; a free
 * the same, or for a large block something of the thread's that allocated it.
 * Both write the first words of the block.
 *
 * *The kernel* is one object that all its callers write.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder.h"

#define HERE __builtin_return_address(0)

/* What --wrap makes of a function: its other name, and ours in its place. */
#define WRAPPED(type, name, ...)         \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

/* Each stands for the state of something, on a line of its own. */
static char kernel __attribute__((aligned(64)));
static char readers __attribute__((aligned(64)));
static __thread char cache __attribute__((aligned(64)));

/* ---- The allocator ---- */

#define CACHED_MAX 1032u
#define LARGE_MAX  256u

/* The large blocks that are out, and whose they are. */
static struct {
	void *memory;
	char *cache;
} large[LARGE_MAX];

static void large_note(void *memory)
{
	size_t i;
	void *none;

	for (i = 0; i < LARGE_MAX; i++) {
		none = NULL;
		if (__atomic_compare_exchange_n(&large[i].memory, &none, memory,
						false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST)) {
			large[i].cache = &cache;
			return;
		}
	}
}

static char *owner_of(void *memory)
{
	size_t i;
	char *owner;

	if (malloc_usable_size(memory) <= CACHED_MAX)
		return &cache;
	for (i = 0; i < LARGE_MAX; i++) {
		if (__atomic_load_n(&large[i].memory, __ATOMIC_SEQ_CST) !=
		    memory)
			continue;
		owner = large[i].cache;
		__atomic_store_n(&large[i].memory, NULL, __ATOMIC_SEQ_CST);
		return owner;
	}
	return &cache;
}

static void *given(void *memory, size_t size, void *pc)
{
	record(&cache, 1, true, pc);
	record(memory, memory ? 2 * sizeof(void *) : 0, true, pc);
	if (memory && size > CACHED_MAX)
		large_note(memory);
	return memory;
}

WRAPPED(void *, malloc, size_t size)
{
	return given(__real_malloc(size), size, HERE);
}

WRAPPED(void *, calloc, size_t count, size_t size)
{
	void *memory = given(__real_calloc(count, size), count * size, HERE);

	record(memory, memory ? count * size : 0, true, HERE);
	return memory;
}

WRAPPED(void *, aligned_alloc, size_t align, size_t size)
{
	return given(__real_aligned_alloc(align, size), size, HERE);
}

WRAPPED(void, free, void *memory)
{
	if (!memory)
		return;
	record(owner_of(memory), 1, true, HERE);
	record(memory, 2 * sizeof(void *), true, HERE);
	__real_free(memory);
}

/* ---- Ranges ---- */

WRAPPED(void *, memcpy, void *to, const void *from, size_t n)
{
	record(from, n, false, HERE);
	record(to, n, true, HERE);
	return __real_memcpy(to, from, n);
}

WRAPPED(void *, memmove, void *to, const void *from, size_t n)
{
	record(from, n, false, HERE);
	record(to, n, true, HERE);
	return __real_memmove(to, from, n);
}

WRAPPED(void *, memset, void *to, int byte, size_t n)
{
	record(to, n, true, HERE);
	return __real_memset(to, byte, n);
}

WRAPPED(int, memcmp, const void *a, const void *b, size_t n)
{
	record(a, n, false, HERE);
	record(b, n, false, HERE);
	return __real_memcmp(a, b, n);
}

WRAPPED(int, bcmp, const void *a, const void *b, size_t n)
{
	record(a, n, false, HERE);
	record(b, n, false, HERE);
	return __real_bcmp(a, b, n);
}

WRAPPED(size_t, strlen, const char *s)
{
	size_t n = __real_strlen(s);

	record(s, n + 1, false, HERE);
	return n;
}

WRAPPED(size_t, strnlen, const char *s, size_t max)
{
	size_t n = __real_strnlen(s, max);

	record(s, n < max ? n + 1 : max, false, HERE);
	return n;
}

/* ---- The kernel ---- */

WRAPPED(void *, mmap64, void *at, size_t n, int prot, int flags, int fd,
	off64_t offset)
{
	record(&kernel, 1, true, HERE);
	return __real_mmap64(at, n, prot, flags, fd, offset);
}

WRAPPED(void *, mmap, void *at, size_t n, int prot, int flags, int fd,
	off_t offset)
{
	record(&kernel, 1, true, HERE);
	return __real_mmap(at, n, prot, flags, fd, offset);
}

WRAPPED(int, munmap, void *at, size_t n)
{
	record(&kernel, 1, true, HERE);
	return __real_munmap(at, n);
}

WRAPPED(int, madvise, void *at, size_t n, int advice)
{
	record(&kernel, 1, true, HERE);
	return __real_madvise(at, n, advice);
}

WRAPPED(int, sched_yield, void)
{
	record(&kernel, 1, true, HERE);
	return __real_sched_yield();
}

/* A question. */
WRAPPED(long, sysconf, int name)
{
	record(&kernel, 1, false, HERE);
	return __real_sysconf(name);
}

/* Six words, however many of them the call takes. */
WRAPPED(long, syscall, long number, long a, long b, long c, long d, long e,
	long f)
{
	record(&kernel, 1, true, HERE);
	return __real_syscall(number, a, b, c, d, e, f);
}

/* ---- RCU ---- */

WRAPPED(void, urcu_bp_register, void)
{
	record(&readers, 1, true, HERE);
	__real_urcu_bp_register();
}

WRAPPED(void, urcu_bp_synchronize_rcu, void)
{
	record(&readers, 1, true, HERE);
	__real_urcu_bp_synchronize_rcu();
}
