/* SPDX-License-Identifier: MIT */
/*
 * Directory entries: lookup without a lock, modification under the directory's.
 *
 * *Ordering*.  An entry is complete before it is shown:
 *
 *	REL(chain_add:A) pairs with RCU(d_walk:A)
 *	REL(chain_remove:A) pairs with RCU(d_walk:A)
 *	REL(hash_resize:A) pairs with RCU(d_walk:B)
 *	REL(slot_set:A) pairs with ACQ(dir_read:B)
 *	REL(slots_resize:A) pairs with ACQ(dir_read:A)
 */
#include <errno.h>

#include "base/report.h"
#include "vfs/dentry.h"
#include "vfs/task.h"

/* ---- Names ---- */

/* Mix eight bytes in: a multiplication spreads them upwards, a fold back. */
static inline uint64_t hash_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
	return hash ^ (hash >> 32);
}

/* @n bytes, at most 8, as a number. */
static inline uint64_t load_bytes(const char *from, unsigned int n)
{
	uint32_t lo, hi;
	uint64_t word;

	if (n >= 8) {
		memcpy(&word, from, 8);
		return word;
	}
	if (n >= 4) {
		memcpy(&lo, from, 4);
		memcpy(&hi, from + n - 4, 4);
		return lo | (uint64_t)hi << 32;
	}
	if (n == 0)
		return 0;
	return (unsigned char)from[0] |
	       (uint64_t)(unsigned char)from[n / 2] << 8 |
	       (uint64_t)(unsigned char)from[n - 1] << 16;
}

void qstr_init(struct qstr *qstr, const char *name)
{
	unsigned int i, len = 0;
	uint64_t hash;

	while (name[len] && name[len] != '/')
		len++;
	hash = len;
	for (i = 0; i + 8 < len; i += 8)
		hash = hash_mix(hash, load_bytes(name + i, 8));
	hash = hash_mix(hash, load_bytes(name + i, len - i));
	*qstr = (struct qstr){ .name = name,
			       .len = len,
			       .hash = (uint32_t)(hash ^ (hash >> 15)) };
}

static bool d_is_named(const struct dentry *dentry, const struct qstr *name)
{
	return dentry->hash == name->hash && dentry->len == name->len &&
	       memcmp(dentry->name, name->name, name->len) == 0;
}

/* ---- Lookup ---- */

static struct dentry *d_walk(struct inode *dir, const struct qstr *name)
{
	struct dir_hash *hash;
	struct dentry *dentry;

	/* RCU(d_walk:B) pairs with REL(hash_resize:A) */
	hash = rcu_dereference(dir->dir.hash);
	if (!hash)
		return NULL;
	/* RCU(d_walk:A) pairs with REL(chain_add:A), REL(chain_remove:A) */
	dentry = rcu_dereference(hash->chain[name->hash & hash->mask]);
	while (dentry && !d_is_named(dentry, name)) {
		/* As RCU(d_walk:A). */
		dentry = rcu_dereference(dentry->next);
	}
	return dentry;
}

int d_lookup(struct inode *dir, const struct qstr *name, struct inode **inode)
{
	struct dentry *dentry;
	uint32_t seq;

	do {
		if (unlikely(!seq_read_try_begin(&dir->dir.seq, &seq)))
			return LOOKUP_AGAIN;
		dentry = d_walk(dir, name);
		if (likely(dentry)) {
			*inode = dentry->inode;
			return 0;
		}
	} while (seq_read_retry(&dir->dir.seq, seq));
	return -ENOENT;
}

struct dentry *d_find(struct inode *dir, const struct qstr *name)
{
	return d_walk(dir, name);
}

/* ---- Entries ---- */

static struct bytes dentry_bytes(unsigned int len)
{
	size_t n = offsetof(struct dentry, name) + len + 1;

	/* Padding behind @len may make the structure itself longer. */
	return bytes_of(n > sizeof(struct dentry) ? n : sizeof(struct dentry));
}

struct dentry *d_alloc(struct inode *inode, const struct qstr *name)
{
	struct berth_vfs *vfs = inode->vfs;
	struct dentry *dentry = mem_alloc(&vfs->mem, dentry_bytes(name->len));

	if (!dentry)
		return NULL;
	*dentry = (struct dentry){ .inode = inode,
				   .hash = name->hash,
				   .vfs = vfs,
				   .len = (unsigned char)name->len };
	memcpy(dentry->name, name->name, name->len);
	dentry->name[name->len] = '\0';
	return dentry;
}

void d_free(struct dentry *dentry)
{
	if (dentry)
		mem_free(&dentry->vfs->mem, dentry, dentry_bytes(dentry->len));
}

static void d_free_retired(struct berth_retired *retired)
{
	d_free(container_of(retired, struct dentry, retired));
}

/* ---- Hash chains ---- */

#define HASH_FIRST 8u

static struct bytes hash_bytes(unsigned int chains)
{
	return bytes_array(sizeof(struct dir_hash), chains,
			   sizeof(struct dentry *));
}

static void hash_free_retired(struct berth_retired *retired)
{
	struct dir_hash *hash;

	hash = container_of(retired, struct dir_hash, retired);
	mem_free(&hash->vfs->mem, hash, hash_bytes(hash->mask + 1));
}

static void chain_add(struct dir_hash *hash, struct dentry *dentry)
{
	struct dentry **head = &hash->chain[dentry->hash & hash->mask];

	/* REL(chain_add:A) pairs with RCU(d_walk:A).  Both stores: a reader
	 * may be on an entry that a rehash moves. */
	rcu_assign_pointer(dentry->next, load_relaxed(head));
	/* As REL(chain_add:A). */
	rcu_assign_pointer(*head, dentry);
}

/* The entry's own link stays, for readers who are on it. */
static void chain_remove(struct dir_hash *hash, struct dentry *dentry)
{
	struct dentry **place = &hash->chain[dentry->hash & hash->mask];

	while (load_relaxed(place) != dentry)
		place = &load_relaxed(place)->next;
	/* REL(chain_remove:A) pairs with RCU(d_walk:A) */
	rcu_assign_pointer(*place, load_relaxed(&dentry->next));
}

/* Readers who are led astray by a moved entry see the seq and look again. */
static int hash_resize(struct inode *dir, unsigned int chains)
{
	struct dir_hash *old = load_relaxed(&dir->dir.hash), *hash;
	struct dentry *dentry, *next;
	unsigned int i;

	hash = mem_zalloc(&dir->vfs->mem, hash_bytes(chains));
	if (!hash)
		return -ENOMEM;
	hash->mask = chains - 1;
	hash->vfs = dir->vfs;
	seq_write_begin(&dir->dir.seq);
	for (i = 0; old && i <= old->mask; i++)
		for (dentry = load_relaxed(&old->chain[i]); dentry;
		     dentry = next) {
			next = load_relaxed(&dentry->next);
			chain_add(hash, dentry);
		}
	/* REL(hash_resize:A) pairs with RCU(d_walk:B) */
	rcu_assign_pointer(dir->dir.hash, hash);
	seq_write_end(&dir->dir.seq);
	if (old)
		rcu_retire(&old->retired, hash_free_retired);
	return 0;
}

/* ---- Slots ---- */

#define SLOTS_FIRST 8u

static struct bytes slots_bytes(unsigned int count)
{
	return bytes_array(sizeof(struct dir_slots), count,
			   sizeof(struct dentry *));
}

static void slots_free_retired(struct berth_retired *retired)
{
	struct dir_slots *slots;

	slots = container_of(retired, struct dir_slots, retired);
	mem_free(&slots->vfs->mem, slots, slots_bytes(slots->count));
}

static int slots_resize(struct inode *dir, unsigned int count)
{
	struct dir_slots *old = load_relaxed(&dir->dir.slots), *slots;
	unsigned int i;

	slots = mem_zalloc(&dir->vfs->mem, slots_bytes(count));
	if (!slots)
		return -ENOMEM;
	slots->count = count;
	slots->vfs = dir->vfs;
	for (i = 0; old && i < old->used; i++)
		slots->slot[i] = load_relaxed(&old->slot[i]);
	slots->used = old ? old->used : 0;
	/* REL(slots_resize:A) pairs with ACQ(dir_read:A) */
	rcu_assign_pointer(dir->dir.slots, slots);
	if (old)
		rcu_retire(&old->retired, slots_free_retired);
	return 0;
}

static void slot_set(struct dir_slots *slots, unsigned int slot,
		     struct dentry *dentry)
{
	/* REL(slot_set:A) pairs with ACQ(dir_read:B) */
	store_release(&slots->slot[slot], dentry);
}

/* The lowest free slot; d_prepare() has made sure that there is one. */
static unsigned int slot_find(struct inode *dir)
{
	struct dir_slots *slots = load_relaxed(&dir->dir.slots);
	unsigned int slot = dir->dir.lowest;

	while (slot < slots->used && load_relaxed(&slots->slot[slot]))
		slot++;
	return slot;
}

/* ---- Invariants ---- */

#if BERTH_DEBUG_CHECKS
/* A larger directory is not worth the time. */
#define CHECK_ENTRIES 256u

static unsigned int slots_check(struct inode *dir)
{
	struct dir_slots *slots = load_relaxed(&dir->dir.slots);
	unsigned int i, found = 0;
	struct dentry *dentry;

	for (i = 0; slots && i < slots->used; i++) {
		dentry = load_relaxed(&slots->slot[i]);
		if (!dentry) {
			invariant(i >= dir->dir.lowest);
			continue;
		}
		invariant(dentry->slot == i);
		found++;
	}
	return found;
}

static unsigned int hash_check(struct inode *dir)
{
	struct dir_hash *hash = load_relaxed(&dir->dir.hash);
	unsigned int i, found = 0;
	struct dentry *dentry;

	for (i = 0; hash && i <= hash->mask; i++)
		for (dentry = load_relaxed(&hash->chain[i]); dentry;
		     dentry = load_relaxed(&dentry->next)) {
			invariant((dentry->hash & hash->mask) == i);
			found++;
		}
	return found;
}

void dir_check(struct inode *dir)
{
	if (dir->dir.entries > CHECK_ENTRIES)
		return;
	invariant(slots_check(dir) == dir->dir.entries);
	invariant(hash_check(dir) == dir->dir.entries);
}
#endif

/* ---- Directories ---- */

int d_prepare(struct inode *dir)
{
	struct dir_hash *hash = load_relaxed(&dir->dir.hash);
	struct dir_slots *slots = load_relaxed(&dir->dir.slots);
	unsigned int chains = hash ? hash->mask + 1 : 0;
	int ret = 0;

	if (!slots)
		ret = slots_resize(dir, SLOTS_FIRST);
	else if (dir->dir.entries == slots->count)
		ret = slots_resize(dir, slots->count * 2);
	if (ret)
		return ret;
	if (!hash)
		return hash_resize(dir, HASH_FIRST);
	/* Longer chains are slower, not wrong. */
	if (dir->dir.entries >= chains)
		hash_resize(dir, chains * 2);
	return 0;
}

void d_add(struct inode *dir, struct dentry *dentry)
{
	struct dir_slots *slots = load_relaxed(&dir->dir.slots);
	unsigned int slot = slot_find(dir);

	dentry->slot = slot;
	slot_set(slots, slot, dentry);
	if (slot >= slots->used)
		store_relaxed(&slots->used, slot + 1);
	dir->dir.lowest = slot + 1;
	store_relaxed(&dir->dir.entries, dir->dir.entries + 1);
	chain_add(load_relaxed(&dir->dir.hash), dentry);
}

void d_remove(struct inode *dir, struct dentry *dentry)
{
	slot_set(load_relaxed(&dir->dir.slots), dentry->slot, NULL);
	if (dentry->slot < dir->dir.lowest)
		dir->dir.lowest = dentry->slot;
	store_relaxed(&dir->dir.entries, dir->dir.entries - 1);
	chain_remove(load_relaxed(&dir->dir.hash), dentry);
	rcu_retire(&dentry->retired, d_free_retired);
}

void d_move_begin(struct inode *dir1, struct inode *dir2)
{
	seq_write_begin(&dir1->dir.seq);
	if (dir2 != dir1)
		seq_write_begin(&dir2->dir.seq);
}

void d_move_end(struct inode *dir1, struct inode *dir2)
{
	if (dir2 != dir1)
		seq_write_end(&dir2->dir.seq);
	seq_write_end(&dir1->dir.seq);
}

void d_replace(struct inode *dir, struct dentry *old, struct dentry *dentry)
{
	struct dir_hash *hash = load_relaxed(&dir->dir.hash);

	dentry->slot = old->slot;
	slot_set(load_relaxed(&dir->dir.slots), old->slot, dentry);
	chain_remove(hash, old);
	chain_add(hash, dentry);
	rcu_retire(&old->retired, d_free_retired);
}

void d_free_all(struct inode *dir)
{
	struct dir_slots *slots = dir->dir.slots;
	struct dir_hash *hash = dir->dir.hash;
	unsigned int i;

	for (i = 0; slots && i < slots->used; i++)
		d_free(slots->slot[i]);
	if (slots)
		slots_free_retired(&slots->retired);
	if (hash)
		hash_free_retired(&hash->retired);
}
