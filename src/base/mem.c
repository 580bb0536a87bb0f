/* SPDX-License-Identifier: MIT */
/* Memory of one instance: cap first, then the allocator. */
#include <stdalign.h>

#include "base/mem.h"

/* Relaxed: the counter decides about itself only, and guards no data. */
bool mem_charge(struct mem *mem, struct bytes bytes)
{
	uint64_t used, more;

	if (!mem->max)
		return true;
	used = load_relaxed(&mem->used);
	do {
		if (__builtin_add_overflow(used, bytes.n, &more) ||
		    more > mem->max)
			return false;
	} while (!cas_relaxed(&mem->used, &used, more));
	return true;
}

void mem_uncharge(struct mem *mem, struct bytes bytes)
{
	if (mem->max)
		fetch_sub_relaxed(&mem->used, bytes.n);
}

static void *alloc_as(struct mem *mem, struct bytes bytes, size_t align,
		      void *(*by_system)(struct bytes bytes))
{
	void *memory;

	if (!mem_charge(mem, bytes))
		return NULL;
	if (mem->alloc)
		memory = mem->alloc(bytes.n, align, mem->arg);
	else
		memory = by_system(bytes);
	if (!memory)
		mem_uncharge(mem, bytes);
	return memory;
}

/* What the system gives is zeroed by it, more cheaply than here. */
static void *zero_foreign(const struct mem *mem, void *memory,
			  struct bytes bytes)
{
	return memory && mem->alloc ? memset(memory, 0, bytes.n) : memory;
}

void *mem_alloc(struct mem *mem, struct bytes bytes)
{
	return alloc_as(mem, bytes, alignof(max_align_t), sys_alloc);
}

void *mem_zalloc(struct mem *mem, struct bytes bytes)
{
	void *memory;

	memory = alloc_as(mem, bytes, alignof(max_align_t), sys_zalloc);
	return zero_foreign(mem, memory, bytes);
}

void *mem_zalloc_lines(struct mem *mem, struct bytes bytes)
{
	void *memory = alloc_as(mem, bytes, CACHE_LINE, sys_zalloc_lines);

	return zero_foreign(mem, memory, bytes);
}

void mem_free(struct mem *mem, void *memory, struct bytes bytes)
{
	if (!memory)
		return;
	if (mem->dealloc)
		mem->dealloc(memory, bytes.n, mem->arg);
	else
		sys_free(memory, bytes);
	mem_uncharge(mem, bytes);
}

void *mem_map(struct mem *mem, struct bytes bytes, bool *zeroed)
{
	void *memory;

	*zeroed = !mem->alloc;
	if (!mem_charge(mem, bytes))
		return NULL;
	if (mem->alloc)
		memory = mem->alloc(bytes.n, bytes.n, mem->arg);
	else
		memory = sys_map(bytes, bytes.n);
	if (!memory)
		mem_uncharge(mem, bytes);
	return memory;
}

void mem_unmap(struct mem *mem, void *memory, struct bytes bytes)
{
	if (mem->dealloc)
		mem->dealloc(memory, bytes.n, mem->arg);
	else
		sys_unmap(memory, bytes);
	mem_uncharge(mem, bytes);
}
