/* SPDX-License-Identifier: MIT */
/*
 * Pages and page trees.
 *
 * *Locking*.  store->lock guards chunks and their free lists; the charge is
 * counted apart, so that a full store is told without it.  Trees are guarded by
 * the lock of their inode.
 *
 * *Ordering*.  A page and a node are complete before they are shown:
 *
 *	REL(page_insert:A) pairs with RCU(page_find:A)
 *	REL(page_tree_grow:A) pairs with RCU(page_find:A)
 */
#include <errno.h>

#include "base/report.h"
#include "vfs/page.h"

#define CHUNK_PAGES (PAGE_CHUNK / PAGE_SIZE - 1)

struct page_chunk {
	struct page_store *store;
	struct page_chunk *next; /* in the list of those with a free page */
	struct page_chunk **pprev;
	struct page *free;   /* pages given back; their bytes are not zero */
	unsigned int cut;    /* pages cut so far; the others are as mapped */
	unsigned int in_use; /* pages handed out */
	bool zeroed;	     /* as mapped means zero */
	struct page page[CHUNK_PAGES];
};

static_assert(sizeof(struct page_chunk) <= PAGE_SIZE,
	      "the head of a chunk is one page");

static struct page_chunk *chunk_of(const void *page)
{
	return (struct page_chunk *)((uintptr_t)page &
				     ~((uintptr_t)PAGE_CHUNK - 1));
}

static char *page_data(struct page *page)
{
	struct page_chunk *chunk = chunk_of(page);

	return (char *)chunk + (size_t)(page - chunk->page + 1) * PAGE_SIZE;
}

static struct page *page_of(char *data)
{
	struct page_chunk *chunk = chunk_of(data);

	return &chunk->page[(data - (char *)chunk) / PAGE_SIZE - 1];
}

/* ---- Chunks, under the store's lock ---- */

static bool chunk_is_full(const struct page_chunk *chunk)
{
	return !chunk->free && chunk->cut == CHUNK_PAGES;
}

static void chunk_link(struct page_store *store, struct page_chunk *chunk)
{
	chunk->next = store->partial;
	chunk->pprev = &store->partial;
	if (chunk->next)
		chunk->next->pprev = &chunk->next;
	store->partial = chunk;
}

static void chunk_unlink(struct page_chunk *chunk)
{
	*chunk->pprev = chunk->next;
	if (chunk->next)
		chunk->next->pprev = chunk->pprev;
}

static struct page *chunk_take(struct page_store *store,
			       struct page_chunk *chunk)
{
	struct page *page = chunk->free;
	bool zeroed = !page && chunk->zeroed;

	if (page)
		chunk->free = page->next;
	else
		page = &chunk->page[chunk->cut++];
	page->zeroed = zeroed;
	page->unwritten = false;
	if (chunk->in_use++ == 0)
		store->empty--;
	if (chunk_is_full(chunk))
		chunk_unlink(chunk);
	return page;
}

/* Returns a chunk to unmap, when a second one has become empty. */
static struct page_chunk *chunk_give(struct page_store *store,
				     struct page_chunk *chunk,
				     struct page *page)
{
	if (chunk_is_full(chunk))
		chunk_link(store, chunk);
	page->next = chunk->free;
	chunk->free = page;
	if (--chunk->in_use)
		return NULL;
	if (store->empty++ == 0)
		return NULL;
	store->empty--;
	chunk_unlink(chunk);
	return chunk;
}

static struct page_chunk *chunk_create(struct page_store *store)
{
	struct page_chunk *chunk;
	bool zeroed;

	chunk = mem_map(store->mem, bytes_of(PAGE_CHUNK), &zeroed);
	if (!chunk)
		return NULL;
	*chunk = (struct page_chunk){ .store = store, .zeroed = zeroed };
	return chunk;
}

/* ---- The store ---- */

void page_store_init(struct page_store *store, struct mem *mem, uint64_t max)
{
	*store = (struct page_store){ .mem = mem, .max = max };
	spin_init(&store->lock);
}

void page_store_finish(struct page_store *store)
{
	struct page_chunk *chunk;

	invariant(load_relaxed(&store->used) == 0);
	while ((chunk = store->partial) != NULL) {
		chunk_unlink(chunk);
		mem_unmap(store->mem, chunk, bytes_of(PAGE_CHUNK));
	}
}

/* Relaxed: the counter decides about itself only, and guards no data. */
int page_charge(struct page_store *store)
{
	uint64_t used = load_relaxed(&store->used);

	do {
		if (store->max && used >= store->max)
			return -ENOSPC;
	} while (!cas_relaxed(&store->used, &used, used + 1));
	return 0;
}

void page_uncharge(struct page_store *store)
{
	fetch_sub_relaxed(&store->used, 1);
}

static struct page *page_take(struct page_store *store)
{
	struct page_chunk *chunk;
	struct page *page = NULL;

	spin_lock(&store->lock);
	if (!store->partial) {
		spin_unlock(&store->lock);
		chunk = chunk_create(store);
		if (!chunk)
			return NULL;
		spin_lock(&store->lock);
		chunk_link(store, chunk);
		store->empty++;
	}
	page = chunk_take(store, store->partial);
	spin_unlock(&store->lock);
	return page;
}

int page_alloc(struct page_store *store, char **data)
{
	struct page *page;
	int ret = page_charge(store);

	if (ret)
		return ret;
	page = page_take(store);
	if (!page) {
		page_uncharge(store);
		return -ENOMEM;
	}
	*data = page_data(page);
	return 0;
}

bool page_store_holds(const struct page_store *store, uint64_t pages)
{
	if (store->max && pages > store->max)
		return false;
	return pages <= sys_memory() / PAGE_SIZE;
}

void page_zero(char *data)
{
	if (!page_of(data)->zeroed)
		memset(data, 0, PAGE_SIZE);
}

bool page_is_unwritten(char *data)
{
	return page_of(data)->unwritten;
}

void page_set_unwritten(char *data, bool unwritten)
{
	page_of(data)->unwritten = unwritten;
}

void page_free(struct page_store *store, char *data)
{
	struct page_chunk *chunk = chunk_of(data);

	spin_lock(&store->lock);
	chunk = chunk_give(store, chunk, page_of(data));
	spin_unlock(&store->lock);
	page_uncharge(store);
	if (chunk)
		mem_unmap(store->mem, chunk, bytes_of(PAGE_CHUNK));
}

static void page_free_retired(struct berth_retired *retired)
{
	struct page *page = container_of(retired, struct page, retired);

	page_free(chunk_of(page)->store, page_data(page));
}

/* ---- Pages in hand ---- */

void page_list_init(struct page_list *list)
{
	*list = (struct page_list){ .end = &list->first };
}

void page_list_add(struct page_list *list, char *data)
{
	struct page *page = page_of(data);

	page->next = NULL;
	*list->end = page;
	list->end = &page->next;
	list->count++;
}

char *page_list_take(struct page_list *list)
{
	struct page *page = list->first;

	list->first = page->next;
	if (!list->first)
		list->end = &list->first;
	list->count--;
	return page_data(page);
}

/* ---- Trees ---- */

static struct bytes node_bytes(void)
{
	return bytes_of(sizeof(struct page_node));
}

static struct page_node *node_create(struct page_store *store,
				     unsigned int shift)
{
	struct page_node *node = mem_zalloc(store->mem, node_bytes());

	if (!node)
		return NULL;
	node->shift = shift;
	node->store = store;
	return node;
}

static void node_free_retired(struct berth_retired *retired)
{
	struct page_node *node;

	node = container_of(retired, struct page_node, retired);
	mem_free(node->store->mem, node, node_bytes());
}

/* Does @index lie under a root of @root's height? */
static bool page_tree_reaches(uintptr_t root, uint64_t index)
{
	unsigned int bits;

	if (!(root & 1))
		return index == 0;
	bits = page_node_of(root)->shift + PAGE_NODE_SHIFT;
	return bits >= 64 || !(index >> bits);
}

/* One level more, the former root in its first slot. */
static int page_tree_grow(struct page_store *store, struct page_tree *tree)
{
	uintptr_t root = load_relaxed(&tree->root);
	struct page_node *node;
	unsigned int shift = 0;

	if (root & 1)
		shift = page_node_of(root)->shift + PAGE_NODE_SHIFT;
	node = node_create(store, shift);
	if (!node)
		return -ENOMEM;
	node->slot[0] = root;
	node->used = root != 0;
	/* REL(page_tree_grow:A) pairs with RCU(page_find:A) */
	store_release(&tree->root, (uintptr_t)node | 1);
	return 0;
}

static uintptr_t *node_place(struct page_node *node, uint64_t index)
{
	return &node->slot[(index >> node->shift) & (PAGE_NODE_SLOTS - 1)];
}

int page_prepare(struct page_store *store, struct page_tree *tree,
		 uint64_t index)
{
	struct page_node *node, *child;
	uintptr_t *place;

	while (!page_tree_reaches(load_relaxed(&tree->root), index))
		if (page_tree_grow(store, tree))
			return -ENOMEM;
	if (!(load_relaxed(&tree->root) & 1))
		return 0;
	node = page_node_of(load_relaxed(&tree->root));
	for (; node->shift; node = child) {
		place = node_place(node, index);
		child = page_node_of(load_relaxed(place));
		if (child)
			continue;
		child = node_create(store, node->shift - PAGE_NODE_SHIFT);
		if (!child)
			return -ENOMEM;
		node->used++;
		/* As REL(page_tree_grow:A). */
		store_release(place, (uintptr_t)child | 1);
	}
	return 0;
}

void page_insert(struct page_tree *tree, uint64_t index, char *data)
{
	uintptr_t *place = &tree->root;
	struct page_node *node;

	while (load_relaxed(place) & 1) {
		node = page_node_of(load_relaxed(place));
		place = node_place(node, index);
		node->used += !node->shift;
	}
	invariant(!load_relaxed(place));
	/* REL(page_insert:A) pairs with RCU(page_find:A) */
	store_release(place, (uintptr_t)data);
}

/* The index of @slot's first page, in a node that starts at @start. */
static uint64_t slot_start(const struct page_node *node, uint64_t start,
			   unsigned int slot)
{
	return start + ((uint64_t)slot << node->shift);
}

/* Indices from @first to @last, both in it. */
struct range {
	uint64_t first;
	uint64_t last;
};

static uint64_t cut_entry(struct page_store *store, uintptr_t *place,
			  uint64_t start, const struct range *range);

/* Cut what is in the range below @node, whose first index is @start. */
static uint64_t cut_node(struct page_store *store, struct page_node *node,
			 uint64_t start, const struct range *range)
{
	unsigned int slot = 0;
	uint64_t cut = 0;

	if (range->first > start)
		slot = (unsigned int)((range->first - start) >> node->shift);
	for (; slot < PAGE_NODE_SLOTS; slot++) {
		if (slot_start(node, start, slot) > range->last)
			break;
		if (!load_relaxed(&node->slot[slot]))
			continue;
		cut += cut_entry(store, &node->slot[slot],
				 slot_start(node, start, slot), range);
		node->used -= !load_relaxed(&node->slot[slot]);
	}
	return cut;
}

/* Take a node out of the tree: readers may be on it. */
static void node_retire(uintptr_t *place, struct page_node *node)
{
	store_relaxed(place, (uintptr_t)0);
	rcu_retire(&node->retired, node_free_retired);
}

/* Does all below @node, whose first index is @start, lie in the range? */
static bool node_is_in(const struct page_node *node, uint64_t start,
		       const struct range *range)
{
	return start >= range->first &&
	       slot_start(node, start, PAGE_NODE_SLOTS) - 1 <= range->last;
}

/* Readers may be on the page or node: it is taken out first, then retired. */
static uint64_t cut_entry(struct page_store *store, uintptr_t *place,
			  uint64_t start, const struct range *range)
{
	uintptr_t entry = load_relaxed(place);
	struct page_node *node;
	uint64_t cut;

	if (!entry)
		return 0;
	if (entry & 1) {
		node = page_node_of(entry);
		if (node_is_in(node, start, range))
			store_relaxed(place, (uintptr_t)0);
		cut = cut_node(store, node, start, range);
		if (!node->used)
			node_retire(place, node);
		return cut;
	}
	if (start < range->first)
		return 0;
	store_relaxed(place, (uintptr_t)0);
	rcu_retire(&page_of((char *)entry)->retired, page_free_retired);
	return 1;
}

uint64_t page_remove(struct page_store *store, struct page_tree *tree,
		     uint64_t first, uint64_t last)
{
	struct range range = { .first = first, .last = last };

	if (!page_tree_reaches(load_relaxed(&tree->root), first))
		return 0;
	return cut_entry(store, &tree->root, 0, &range);
}

/* Take out what is empty on the way to @index; is there nothing at @place now? */
static bool unprepare(uintptr_t *place, uint64_t index)
{
	uintptr_t entry = load_relaxed(place), *below;
	struct page_node *node;

	if (!(entry & 1))
		return !entry;
	node = page_node_of(entry);
	below = node_place(node, index);
	if (node->shift && load_relaxed(below) && unprepare(below, index))
		node->used--;
	if (node->used)
		return false;
	node_retire(place, node);
	return true;
}

void page_unprepare(struct page_tree *tree, uint64_t index)
{
	if (page_tree_reaches(load_relaxed(&tree->root), index))
		unprepare(&tree->root, index);
}

static void free_entry(struct page_store *store, uintptr_t entry)
{
	struct page_node *node;
	unsigned int i;

	if (!entry)
		return;
	if (!(entry & 1)) {
		page_free(store, (char *)entry);
		return;
	}
	node = page_node_of(entry);
	for (i = 0; i < PAGE_NODE_SLOTS; i++)
		free_entry(store, node->slot[i]);
	mem_free(store->mem, node, node_bytes());
}

void page_tree_free(struct page_store *store, struct page_tree *tree)
{
	free_entry(store, tree->root);
	tree->root = 0;
}

/* ---- Search ---- */

static uint64_t next_in_entry(uintptr_t entry, uint64_t start, uint64_t index)
{
	struct page_node *node;
	unsigned int slot = 0;
	uint64_t found;

	if (!entry)
		return UINT64_MAX;
	if (!(entry & 1))
		return start >= index ? start : UINT64_MAX;
	node = page_node_of(entry);
	if (index > start)
		slot = (unsigned int)((index - start) >> node->shift);
	for (; slot < PAGE_NODE_SLOTS; slot++) {
		entry = load_relaxed(&node->slot[slot]);
		found = next_in_entry(entry, slot_start(node, start, slot),
				      index);
		if (found != UINT64_MAX)
			return found;
	}
	return UINT64_MAX;
}

uint64_t page_next(const struct page_tree *tree, uint64_t index)
{
	uintptr_t root = load_relaxed(&tree->root);

	if (!page_tree_reaches(root, index))
		return UINT64_MAX;
	return next_in_entry(root, 0, index);
}
