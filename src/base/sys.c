/* SPDX-License-Identifier: MIT */
/*
 * The way out to libc and the kernel.
 *
 * *Pieces kept*.  munmap() of the middle of a mapping makes two of one, and
 * fails when the process has as many as it may (vm.max_map_count).  Such a piece
 * loses its pages and is kept, on a list that lies in the pieces themselves, for
 * the next sys_map() of that size; the next munmap() that works takes the others
 * along.  Whoever looks through the list takes all of it and puts back what it
 * does not want: so there is no ABA, no lock, and nothing to bring to rest when
 * the process forks.
 *
 * *Ordering*
 *	REL(keep:A) pairs with ACQ(kept_take:A)
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/sys.h"

/* ---- Memory ---- */

/* How the C library is asked. */
static void *by_malloc(struct bytes bytes)
{
	return malloc(bytes.n);
}

static void *by_calloc(struct bytes bytes)
{
	return calloc(1, bytes.n);
}

static void *by_lines(struct bytes bytes)
{
	return aligned_alloc(CACHE_LINE, bytes.n);
}

static void *alloc_by(void *(*ask)(struct bytes bytes), struct bytes bytes)
{
	int saved = errno;
	void *memory = fault(SYS_ALLOC) ? NULL : ask(bytes);

	errno = saved;
	if (memory)
		fault_count(1, (int64_t)bytes.n, 0);
	return memory;
}

void *sys_alloc(struct bytes bytes)
{
	return alloc_by(by_malloc, bytes);
}

void *sys_zalloc(struct bytes bytes)
{
	return alloc_by(by_calloc, bytes);
}

void *sys_zalloc_lines(struct bytes bytes)
{
	void *memory = alloc_by(by_lines, bytes);

	return memory ? memset(memory, 0, bytes.n) : NULL;
}

void sys_free(void *memory, struct bytes bytes)
{
	fault_count(-1, -(int64_t)bytes.n, 0);
	free(memory);
}

/* ---- Pages ---- */

static char *map_pages(size_t n)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *map = MAP_FAILED;

	if (!fault(SYS_NORESERVE))
		map = mmap(NULL, n, PROT_READ | PROT_WRITE,
			   flags | MAP_NORESERVE, -1, 0);
	/* The flag is a wish: a filter may refuse it. */
	if (map == MAP_FAILED)
		map = mmap(NULL, n, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	fault_count(0, 0, (int64_t)n);
	return map;
}

static bool unmap_pages(void *memory, size_t n)
{
	if (fault(SYS_UNMAP) || munmap(memory, n))
		return false;
	fault_count(0, 0, -(int64_t)n);
	return true;
}

/* A piece that the system would not unmap; the rest of it is zero. */
struct kept {
	struct kept *next;
	size_t n;
};

static struct kept *kept;

static void keep(struct kept *piece)
{
	piece->next = load_relaxed(&kept);
	/* REL(keep:A) pairs with ACQ(kept_take:A) */
	while (!cas_release(&kept, &piece->next, piece))
		;
}

static struct kept *kept_take(void)
{
	if (likely(!load_relaxed(&kept)))
		return NULL;
	/* ACQ(kept_take:A) pairs with REL(keep:A) */
	return swap_acquire(&kept, NULL);
}

/* A kept piece of just this size, zeroed, or NULL. */
static void *map_kept(size_t n, size_t align)
{
	struct kept *piece, *next, *found = NULL;

	for (piece = kept_take(); piece; piece = next) {
		next = piece->next;
		if (!found && piece->n == n &&
		    !((uintptr_t)piece & (align - 1)))
			found = piece;
		else
			keep(piece);
	}
	if (found)
		*found = (struct kept){ 0 };
	return found;
}

/* Where one piece could be unmapped, others may now. */
static void unmap_kept(void)
{
	struct kept *piece, *next;
	bool works = true;

	for (piece = kept_take(); piece; piece = next) {
		next = piece->next;
		works = works && unmap_pages(piece, piece->n);
		if (!works)
			keep(piece);
	}
}

static void give_back(void *memory, size_t n)
{
	struct kept *piece = memory;

	if (likely(unmap_pages(memory, n))) {
		unmap_kept();
		return;
	}
	if (fault(SYS_DISCARD) || madvise(memory, n, MADV_DONTNEED))
		memset(memory, 0, n);
	piece->n = n;
	keep(piece);
}

static size_t whole_pages(struct bytes bytes)
{
	return (bytes.n + SYS_PAGE - 1) & ~(SYS_PAGE - 1);
}

static char *map_aligned(size_t n, size_t align)
{
	size_t lead, spare = align - SYS_PAGE;
	char *map = map_pages(n);

	/* The next mapping lies just below the last: mostly it is aligned. */
	if (!map || !((uintptr_t)map & (align - 1)))
		return map;
	give_back(map, n);
	/* So much more always holds an aligned piece; give back the rest. */
	map = map_pages(n + spare);
	if (!map)
		return NULL;
	lead = -(uintptr_t)map & (align - 1);
	if (lead)
		give_back(map, lead);
	if (spare > lead)
		give_back(map + lead + n, spare - lead);
	return map + lead;
}

void *sys_map(struct bytes bytes, size_t align)
{
	int saved = errno;
	void *map = NULL;

	if (bytes.n > SIZE_MAX / 2 || fault(SYS_MAP))
		return NULL;
	map = map_kept(whole_pages(bytes), align);
	if (!map)
		map = map_aligned(whole_pages(bytes), align);
	errno = saved;
	return map;
}

void sys_unmap(void *memory, struct bytes bytes)
{
	int saved = errno;

	give_back(memory, whole_pages(bytes));
	errno = saved;
}

void sys_populate(void *memory, struct bytes bytes)
{
#ifdef MADV_POPULATE_WRITE
	int saved = errno;

	madvise(memory, whole_pages(bytes), MADV_POPULATE_WRITE);
	errno = saved;
#else
	(void)memory;
	(void)bytes;
#endif
}

/* ---- Time and waiting ---- */

static bool clock_gives(clockid_t clock, struct timespec *now)
{
	return !fault(SYS_CLOCK) && !clock_gettime(clock, now);
}

uint64_t sys_memory(void)
{
	int saved = errno;
	long pages = fault(SYS_MEMORY) ? -1 : sysconf(_SC_PHYS_PAGES);

	errno = saved;
	if (pages < 0)
		return UINT64_MAX;
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

unsigned int sys_cpu(void)
{
	int saved = errno;
	int cpu = fault(SYS_CPU) ? -1 : sched_getcpu();

	errno = saved;
	return cpu < 0 ? 0 : (unsigned int)cpu;
}

unsigned int sys_cpus(void)
{
	int saved = errno;
	long cpus = fault(SYS_CPU) ? -1 : sysconf(_SC_NPROCESSORS_CONF);

	errno = saved;
	return cpus < 1 ? 1 : (unsigned int)cpus;
}

void sys_clock(struct timespec *now)
{
	int saved = errno;

	if (unlikely(!clock_gives(CLOCK_REALTIME_COARSE, now)) &&
	    !clock_gives(CLOCK_REALTIME, now))
		*now = (struct timespec){ 0 };
	errno = saved;
}

static void nap(void)
{
	struct timespec pause = { .tv_nsec = 50000 };

	if (!fault(SYS_NAP))
		syscall(SYS_nanosleep, &pause, NULL);
}

/* Where there is no futex the waiter looks again after a nap. */
void sys_futex_wait(const uint32_t *word, uint32_t value)
{
	int saved = errno;

	if (!fault(SYS_WAIT) &&
	    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL,
		    0) &&
	    errno != EAGAIN && errno != EINTR)
		nap();
	errno = saved;
}

void sys_futex_wake(uint32_t *word, int waiters)
{
	int saved = errno;

	if (fault(SYS_WAKE))
		waiters = INT32_MAX;
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
	int saved = errno;

	if (tries >= 16)
		nap();
	else if (!fault(SYS_YIELD))
		sched_yield();
	errno = saved;
}

/* ---- Signals ---- */

/* Neither fails, nor changes errno. */
void sys_block_signals(sigset_t *former)
{
	static const int caused[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL,
				      SIGTRAP };
	sigset_t signals;
	size_t i;

	sigfillset(&signals);
	for (i = 0; i < ARRAY_SIZE(caused); i++)
		sigdelset(&signals, caused[i]);
	pthread_sigmask(SIG_BLOCK, &signals, former);
}

void sys_restore_signals(const sigset_t *former)
{
	pthread_sigmask(SIG_SETMASK, former, NULL);
}

/* ---- Threads and processes ---- */

bool sys_key_create(pthread_key_t *key, void (*destroy)(void *value))
{
	return !fault(SYS_KEY) && !pthread_key_create(key, destroy);
}

bool sys_key_set(pthread_key_t key, const void *value)
{
	return !fault(SYS_KEY_SET) && !pthread_setspecific(key, value);
}

bool sys_atfork(void (*prepare)(void), void (*parent)(void),
		void (*child)(void))
{
	return !fault(SYS_ATFORK) && !pthread_atfork(prepare, parent, child);
}
