/* SPDX-License-Identifier: MIT */
/*
 * Pages of file data, and the tree by which a file finds its own.
 *
 * *Store*.  An instance takes memory in chunks of PAGE_CHUNK bytes, aligned to
 * that, and cuts pages of 4096 bytes from them.  The first page of a chunk
 * holds what is to be known of the others, so a page's struct page is found
 * from its address and the page itself is all data: it can be handed to mmap.
 *
 * *Tree*.  64-way, as high as the highest page needs; a file of one page is a
 * pointer.  Readers walk it under RCU; writers hold the inode's lock.  A page
 * that leaves a tree is retired, and stays charged to the instance until it is
 * free.
 */
#ifndef VFS_PAGE_H
#define VFS_PAGE_H

#include "base/lock.h"
#include "base/mem.h"
#include "base/rcu.h"

#define PAGE_SIZE  4096u
#define PAGE_SHIFT 12
#define PAGE_CHUNK ((size_t)256 * 1024)

/* What is known of a page, apart from its bytes. */
struct page {
	union {
		struct berth_retired retired; /* it has left a tree */
		struct {
			struct page *next; /* nobody sees it */
			bool zeroed;	   /* in hand: its bytes are zero */
			bool unwritten;	   /* in a tree: room without data */
		};
	};
};

struct page_chunk;

struct page_store {
	struct mem *mem;
	struct spinlock lock;
	unsigned int empty;	    /* chunks of which no page is in use */
	struct page_chunk *partial; /* those with a free page */
	uint64_t used
		cache_aligned; /* pages charged, deferred frees included */
	uint64_t max;	       /* 0: no limit */
};

void page_store_init(struct page_store *store, struct mem *mem, uint64_t max);
/* Every page must have been freed. */
void page_store_finish(struct page_store *store);

/* A page charged to the store: 0, -ENOSPC (limit) or -ENOMEM. */
int page_alloc(struct page_store *store, char **data);
/* Could so many pages be had if the store were empty? */
bool page_store_holds(const struct page_store *store, uint64_t pages);
/* A page in hand whose bytes are not all written next: make them zero. */
void page_zero(char *data);
/* Is there room, but no data?  Of a page in a tree, under the inode's lock. */
bool page_is_unwritten(char *data);
void page_set_unwritten(char *data, bool unwritten);
/* Count a page without one: for what is kept elsewhere but takes room. */
int page_charge(struct page_store *store);
void page_uncharge(struct page_store *store);

/* Nobody can see the page any more. */
void page_free(struct page_store *store, char *data);

/* Pages in hand, which nobody else sees, in the order in which they came. */
struct page_list {
	struct page *first;
	struct page **end;
	uint64_t count;
	int error; /* why there are no more, or 0 */
};

void page_list_init(struct page_list *list);
void page_list_add(struct page_list *list, char *data);
/* There is one. */
char *page_list_take(struct page_list *list);

/* A file's pages. */
struct page_tree {
	uintptr_t root; /* a page, or a node with bit 0 set, or 0 */
};

#define PAGE_NODE_SHIFT 6
#define PAGE_NODE_SLOTS (1u << PAGE_NODE_SHIFT)

struct page_node {
	uintptr_t slot[PAGE_NODE_SLOTS];
	unsigned int shift; /* index bits below this node's */
	unsigned int used;  /* slots that are not empty; by the inode's lock */
	struct berth_retired retired;
	struct page_store *store;
};

static inline struct page_node *page_node_of(uintptr_t entry)
{
	return (struct page_node *)(entry & ~(uintptr_t)1);
}

/*
 * In a read section, or under the inode's lock: the page at @index, or NULL for
 * a hole.
 */
hot_inline char *page_find(const struct page_tree *tree, uint64_t index)
{
	/* RCU(page_find:A) pairs with REL(page_tree_grow:A),
	 * REL(page_insert:A) */
	uintptr_t entry = rcu_dereference(tree->root);
	struct page_node *node;

	if (likely(!(entry & 1)))
		return index ? NULL : (char *)entry;
	node = page_node_of(entry);
	if (node->shift + PAGE_NODE_SHIFT < 64 &&
	    index >> (node->shift + PAGE_NODE_SHIFT))
		return NULL;
	for (;;) {
		/* As RCU(page_find:A). */
		entry = rcu_dereference(node->slot[(index >> node->shift) &
						   (PAGE_NODE_SLOTS - 1)]);
		if (!(entry & 1))
			return (char *)entry;
		node = page_node_of(entry);
	}
}

/* Make room for a page at @index, so that page_insert() can not fail.
 * 0 or -ENOMEM.  Under the inode's lock.  page_unprepare() if there will be no
 * page after all. */
int page_prepare(struct page_store *store, struct page_tree *tree,
		 uint64_t index);
void page_unprepare(struct page_tree *tree, uint64_t index);
/* Show readers a complete page at a prepared, empty place. */
void page_insert(struct page_tree *tree, uint64_t index, char *data);
/*
 * Take the pages from @first to @last out of the tree and retire them; returns
 * how many.  Under the inode's lock.
 */
uint64_t page_remove(struct page_store *store, struct page_tree *tree,
		     uint64_t first, uint64_t last);
/* Nobody sees the tree any more: free all of it. */
void page_tree_free(struct page_store *store, struct page_tree *tree);

/* Under the inode's lock: the first index at or after @index with a page;
 * UINT64_MAX when none. */
uint64_t page_next(const struct page_tree *tree, uint64_t index);

#endif
