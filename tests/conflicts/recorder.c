/* SPDX-License-Identifier: MIT */
/*
 * The hooks that gcc and clang call in code compiled with -fsanitize=thread.
 *
 * An atomic access that may write counts as a write whether it does or not: a
 * failed compare-and-swap moves the line as well.  Every one is performed
 * sequentially consistent, for the two threads take turns anyway.
 */
#include <stdlib.h>

#include "../harness.h"
#include "recorder.h"

#define STACK_MAX 256u

static __thread struct recording *current;

/* Places of the calls that the thread is inside of, since it is recording. */
static __thread void *stack[STACK_MAX];
static __thread unsigned int depth;

extern const char __executable_start[];

uintptr_t program_base(void)
{
	return (uintptr_t)__executable_start;
}

void recording_init(struct recording *recording, size_t capacity)
{
	*recording = (struct recording){ .capacity = capacity };
	recording->accesses = calloc(capacity, sizeof(struct access));
	check(recording->accesses);
}

void recording_free(struct recording *recording)
{
	free(recording->accesses);
}

void recorder_start(struct recording *recording)
{
	recording->count = 0;
	depth = 0;
	current = recording;
}

void recorder_stop(void)
{
	current = NULL;
}

static void record_places(struct access *access, void *pc)
{
	unsigned int i;

	access->pc[0] = (uintptr_t)pc;
	for (i = 1; i < ACCESS_FRAMES; i++)
		access->pc[i] = i <= depth ? (uintptr_t)stack[depth - i] : 0;
}

void record(const volatile void *address, size_t size, bool write, void *pc)
{
	struct recording *to = current;
	struct access *access;

	if (!to || !size)
		return;
	check(to->count < to->capacity);
	access = &to->accesses[to->count++];
	access->address = (uintptr_t)address;
	access->size = (uint32_t)size;
	access->write = write;
	record_places(access, pc);
}

#define HERE __builtin_return_address(0)

/* ---- Calls ---- */

void __tsan_init(void);
void __tsan_func_entry(void *pc);
void __tsan_func_exit(void);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *pc)
{
	if (!current)
		return;
	check(depth < STACK_MAX);
	stack[depth++] = pc;
}

void __tsan_func_exit(void)
{
	if (current)
		depth--;
}

/* ---- Plain accesses ---- */

#define ACCESS_HOOK(name, size, write)              \
	void __tsan_##name(void *address);          \
	void __tsan_##name(void *address)           \
	{                                           \
		record(address, size, write, HERE); \
	}

#define ACCESS_HOOKS(bytes)                                       \
	ACCESS_HOOK(read##bytes, bytes, false)                    \
	ACCESS_HOOK(write##bytes, bytes, true)                    \
	ACCESS_HOOK(unaligned_read##bytes, bytes, false)          \
	ACCESS_HOOK(unaligned_write##bytes, bytes, true)          \
	ACCESS_HOOK(volatile_read##bytes, bytes, false)           \
	ACCESS_HOOK(volatile_write##bytes, bytes, true)           \
	ACCESS_HOOK(unaligned_volatile_read##bytes, bytes, false) \
	ACCESS_HOOK(unaligned_volatile_write##bytes, bytes, true) \
	ACCESS_HOOK(read_write##bytes, bytes, true)               \
	ACCESS_HOOK(unaligned_read_write##bytes, bytes, true)

ACCESS_HOOKS(1)
ACCESS_HOOKS(2)
ACCESS_HOOKS(4)
ACCESS_HOOKS(8)
ACCESS_HOOKS(16)
ACCESS_HOOK(vptr_read, sizeof(void *), false)

void __tsan_read_range(void *address, unsigned long size);
void __tsan_write_range(void *address, unsigned long size);
void __tsan_vptr_update(void **address, void *value);

void __tsan_read_range(void *address, unsigned long size)
{
	record(address, size, false, HERE);
}

void __tsan_write_range(void *address, unsigned long size)
{
	record(address, size, true, HERE);
}

void __tsan_vptr_update(void **address, void *value)
{
	(void)value;
	record(address, sizeof(*address), true, HERE);
}

/* ---- Atomic accesses ---- */

#define ATOMIC_RMW(bits, name, operation)                                 \
	uint##bits##_t __tsan_atomic##bits##_##name(                      \
		volatile uint##bits##_t *p, uint##bits##_t v, int order); \
	uint##bits##_t __tsan_atomic##bits##_##name(                      \
		volatile uint##bits##_t *p, uint##bits##_t v, int order)  \
	{                                                                 \
		(void)order;                                              \
		record(p, sizeof(*p), true, HERE);                        \
		return operation(p, v, __ATOMIC_SEQ_CST);                 \
	}

/* With the value that was expected in memory: gcc's, and clang's two. */
#define ATOMIC_CAS(bits, name)                                                 \
	int __tsan_atomic##bits##_##name(volatile uint##bits##_t *p,           \
					 uint##bits##_t *expected,             \
					 uint##bits##_t v, int good, int bad); \
	int __tsan_atomic##bits##_##name(volatile uint##bits##_t *p,           \
					 uint##bits##_t *expected,             \
					 uint##bits##_t v, int good, int bad)  \
	{                                                                      \
		(void)good;                                                    \
		(void)bad;                                                     \
		record(p, sizeof(*p), true, HERE);                             \
		return __atomic_compare_exchange_n(p, expected, v, false,      \
						   __ATOMIC_SEQ_CST,           \
						   __ATOMIC_SEQ_CST);          \
	}

/* The same by value: it returns what was there. */
#define ATOMIC_CAS_VALUE(bits)                                       \
	uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(   \
		volatile uint##bits##_t *p, uint##bits##_t expected, \
		uint##bits##_t v, int good, int bad);                \
	uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(   \
		volatile uint##bits##_t *p, uint##bits##_t expected, \
		uint##bits##_t v, int good, int bad)                 \
	{                                                            \
		(void)good;                                          \
		(void)bad;                                           \
		record(p, sizeof(*p), true, HERE);                   \
		__atomic_compare_exchange_n(p, &expected, v, false,  \
					    __ATOMIC_SEQ_CST,        \
					    __ATOMIC_SEQ_CST);       \
		return expected;                                     \
	}

#define ATOMIC_LOAD(bits)                                     \
	uint##bits##_t __tsan_atomic##bits##_load(            \
		const volatile uint##bits##_t *p, int order); \
	uint##bits##_t __tsan_atomic##bits##_load(            \
		const volatile uint##bits##_t *p, int order)  \
	{                                                     \
		(void)order;                                  \
		record(p, sizeof(*p), false, HERE);           \
		return __atomic_load_n(p, __ATOMIC_SEQ_CST);  \
	}

#define ATOMIC_STORE(bits)                                             \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *p,   \
					 uint##bits##_t v, int order); \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *p,   \
					 uint##bits##_t v, int order)  \
	{                                                              \
		(void)order;                                           \
		record(p, sizeof(*p), true, HERE);                     \
		__atomic_store_n(p, v, __ATOMIC_SEQ_CST);              \
	}

#define ATOMIC_HOOKS(bits)                                \
	ATOMIC_LOAD(bits)                                 \
	ATOMIC_STORE(bits)                                \
	ATOMIC_RMW(bits, exchange, __atomic_exchange_n)   \
	ATOMIC_RMW(bits, fetch_add, __atomic_fetch_add)   \
	ATOMIC_RMW(bits, fetch_sub, __atomic_fetch_sub)   \
	ATOMIC_RMW(bits, fetch_and, __atomic_fetch_and)   \
	ATOMIC_RMW(bits, fetch_or, __atomic_fetch_or)     \
	ATOMIC_RMW(bits, fetch_xor, __atomic_fetch_xor)   \
	ATOMIC_RMW(bits, fetch_nand, __atomic_fetch_nand) \
	ATOMIC_CAS(bits, compare_exchange_strong)         \
	ATOMIC_CAS(bits, compare_exchange_weak)           \
	ATOMIC_CAS_VALUE(bits)

ATOMIC_HOOKS(8)
ATOMIC_HOOKS(16)
ATOMIC_HOOKS(32)
ATOMIC_HOOKS(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

void __tsan_atomic_thread_fence(int order)
{
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}
