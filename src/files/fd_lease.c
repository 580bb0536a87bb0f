/* SPDX-License-Identifier: MIT */
/*
 * Copies of a table share their references until somebody writes.
 *
 * A copy would count every file once more, and its end once less; mostly
 * nothing else happens to them.  So tables that came from each other have the
 * references of a word of 64 numbers in common: a lease.  Slots are each
 * table's own, and lookups know nothing of it.
 *
 * *Structure*.  A lease is about the same word in all tables that have it, and
 * about those numbers of the word that had a file when it was made (@mask).
 * These have the same files in all of them, and to each file there is one
 * reference for all.  What a table has opened in that word since is its own.
 *
 * *Lifetime*
 *
 *	owned		each number in use owns a reference to its file
 *	-> leased	fd_share(): the table is copied, and the word has many
 *			files.  What its numbers owned, the lease does.
 *	-> owned	lease_resolve(): a number of the lease is about to lose
 *			its file.  All of them get references first; then the
 *			table leaves the lease.
 *	-> empty	fd_lease_end(): the table ends.
 *
 * Whoever is the last to leave drops the lease's references; while a table has
 * a lease they keep the files of its numbers.  So it may get references of its
 * own at any time, without looking at any count.
 *
 * *Locking*.  What lease a word has is under the table's lock; chunks have none.
 * A lease never changes; leaving it is a put.
 */
#include "base/sys.h"
#include "files/files.h"

/* For less it is not worth while. */
#define FD_LEASE_MIN 16

struct fd_lease {
	struct berth_kref tables; /* that have it */
	uint64_t mask;
};

static struct bytes lease_bytes(void)
{
	return bytes_of(sizeof(struct fd_lease));
}

/* Where the lease of a number's word is noted; NULL where there can be none. */
static struct fd_lease **lease_of(struct files_struct *files, unsigned int fd)
{
	struct fd_lease **leases;
	struct fd_range range;

	if (fd < FD_EMBEDDED || !fd_range(files, fd_segment_of(fd), &range) ||
	    fd_chunk_of(&range, fd - range.base))
		return NULL;
	leases = range.lease;
	return leases + (fd - range.base) / BITS_PER_WORD;
}

/* Relaxed: a chunk's holder looks, too, and any value will do for him. */
static void lease_set(struct files_struct *files, struct fd_lease **place,
		      struct fd_lease *lease)
{
	unsigned int n = files->nr_leases;

	*place = lease;
	store_relaxed(&files->nr_leases, lease ? n + 1 : n - 1);
}

/* All that is in the slots of @mask. */
static unsigned int lease_contents(struct berth_file **slots, uint64_t mask,
				   struct berth_file **contents)
{
	unsigned int n = 0;

	for (; mask; mask &= mask - 1)
		/* Relaxed: these were here before the lease was. */
		contents[n++] = load_relaxed(
			&slots[fd_spread((unsigned int)__builtin_ctzll(mask))]);
	return n;
}

/* Whoever was the last drops what the lease owns. */
static void lease_leave(struct fd_lease *lease, struct berth_file **contents,
			unsigned int n)
{
	unsigned int i;

	if (!kref_put_last(&lease->tables))
		return;
	for (i = 0; i < n; i++)
		fd_content_put(contents[i]);
	sys_free(lease, lease_bytes());
}

/* Each number of the word whose slots these are gets a reference of its own. */
static void lease_resolve(struct files_struct *files, struct fd_lease **place,
			  struct berth_file **slots)
{
	struct berth_file *contents[BITS_PER_WORD];
	struct fd_lease *lease = *place;
	unsigned int i, n;

	n = lease_contents(slots, lease->mask, contents);
	for (i = 0; i < n; i++)
		fd_content_get(contents[i]);
	lease_set(files, place, NULL);
	/* It cannot be the end of a file: we have references. */
	lease_leave(lease, contents, n);
}

noinline void fd_own_slow(struct files_struct *files, unsigned int fd)
{
	struct fd_lease **place = lease_of(files, fd);

	if (place && *place && ((*place)->mask & bit_mask(fd)))
		lease_resolve(files, place,
			      fd_slot(files, fd & ~(BITS_PER_WORD - 1)));
}

/* The word of @fd as it is now becomes leased, to this table for the present. */
static struct fd_lease *lease_create(struct files_struct *files,
				     struct fd_lease **place, uint64_t mask)
{
	struct fd_lease *lease;

	if (__builtin_popcountll(mask) < FD_LEASE_MIN)
		return NULL;
	lease = sys_alloc(lease_bytes());
	if (!lease)
		return NULL;
	kref_init(&lease->tables);
	lease->mask = mask;
	lease_set(files, place, lease);
	return lease;
}

uint64_t fd_share(struct files_struct *from, struct files_struct *to,
		  unsigned int fd, uint64_t copied)
{
	struct fd_lease **source = lease_of(from, fd), *lease;
	struct fd_lease **place = lease_of(to, fd);

	if (!source || *place)
		return 0;
	lease = *source ? *source : lease_create(from, source, copied);
	if (!lease)
		return 0;
	kref_get(&lease->tables);
	lease_set(to, place, lease);
	return lease->mask;
}

/*
 * The numbers are closed before the first flush, so that a flush which closes
 * some itself finds none.  A word of which only a part is leased is not worth
 * the trouble: flushes run in the order of the numbers.
 */
void fd_lease_end(struct files_struct *files, unsigned int fd, uint64_t *open)
{
	struct berth_file *contents[BITS_PER_WORD], **slots;
	struct fd_lease **place = lease_of(files, fd), *lease;
	unsigned int i, n;
	uint64_t mask;

	if (!place || !*place)
		return;
	lease = *place;
	slots = fd_slot(files, fd);
	if (*open != lease->mask) {
		lease_resolve(files, place, slots);
		return;
	}
	n = lease_contents(slots, lease->mask, contents);
	lease_set(files, place, NULL);
	store_relaxed(open, 0);
	for (i = 0; i < BITS_PER_WORD; i++)
		store_relaxed(&slots[i], NULL);
	for (i = 0, mask = lease->mask; i < n; i++, mask &= mask - 1)
		fd_content_leave(files,
				 fd + (unsigned int)__builtin_ctzll(mask),
				 contents[i]);
	lease_leave(lease, contents, n);
}
