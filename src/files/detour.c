/* SPDX-License-Identifier: MIT */
/*
 * Slots that do not hold a plain file: one with rights, or a number on the move.
 *
 * *A move* (renumber_fd) is to be seen at once, though it changes two slots.
 * Both first hold a detour to the same structure, which says what each of them
 * found; one store, to @done, then is the move for every lookup; and both get
 * what they are to have.  The structure is retired.
 *
 *	slot @to	slot @from	done	a lookup finds by @to, by @from
 *	replaced	moved		-	replaced	moved
 *	detour		moved		0	replaced	moved
 *	detour		detour		0	replaced	moved
 *	detour		detour		1	moved		nothing
 *	moved		detour		1	moved		nothing
 *	moved		NULL		-	moved		nothing
 *
 * Each store is a release and each load an acquire: who has seen the move by
 * one number sees, by the other, the detour at least, and @done.  A lookup is
 * still wait-free: it never waits for the mover.
 *
 * *Ordering*
 *	REL(fd_move:A) pairs with RCU(fd_lookup:A)
 *	REL(fd_move:B) pairs with ACQ(fd_moving:A)
 */
#include <errno.h>

#include "base/sys.h"
#include "files/files.h"

/* ---- Lookups ---- */

static struct berth_file *fd_moving(struct berth_file **slot,
				    const struct berth_file *content)
{
	const struct fd_move *move = fd_detour_to(content);
	/* ACQ(fd_moving:A) pairs with REL(fd_move:B) */
	bool done = load_acquire(&move->done);

	if (slot == move->to)
		return done ? move->moved : move->replaced;
	return done ? NULL : move->moved;
}

/* In a read section: what a slot holds, as of this instant. */
static struct berth_file *fd_settled(struct berth_file **slot,
				     struct berth_file *content)
{
	return (uintptr_t)content >= (FD_DETOUR | FD_MOVING)
		       ? fd_moving(slot, content)
		       : content;
}

noinline struct berth_file *fd_lookup_slow(struct berth_file **slot,
					   struct berth_file *content)
{
	content = fd_settled(slot, content);
	return fd_is_open_slot(content) ? fd_file_of(content) : NULL;
}

/* ---- What a slot owns ---- */

static void limited_free(struct berth_retired *retired)
{
	sys_free(container_of(retired, struct fd_limited, retired),
		 bytes_of(sizeof(struct fd_limited)));
}

void fd_limited_put(struct berth_file *content)
{
	struct fd_limited *limited = fd_limited_of(content);

	if (limited && kref_put_last(&limited->refs))
		rcu_retire(&limited->retired, limited_free);
}

void fd_content_get(struct berth_file *content)
{
	struct fd_limited *limited = fd_limited_of(content);

	get_file(fd_file_of(content));
	if (limited)
		kref_get(&limited->refs);
}

/* As fget(): what is past its end has left the slot, so look again. */
static bool content_get_unless_zero(struct berth_file *content)
{
	struct fd_limited *limited = fd_limited_of(content);

	if (limited && !kref_get_unless_zero(&limited->refs))
		return false;
	if (kref_get_unless_zero(&fd_file_of(content)->refs))
		return true;
	fd_limited_put(content);
	return false;
}

struct berth_file *fd_content(struct files_struct *files, unsigned int fd)
{
	struct berth_file **slot = fd_slot(files, fd), *content;

	if (!slot)
		return NULL;
	/* As RCU(fd_lookup:A). */
	content = fd_settled(slot, rcu_dereference(*slot));
	return fd_is_open_slot(content) ? content : NULL;
}

struct berth_file *fget_content(struct files_struct *files, unsigned int fd)
{
	struct berth_file *content;

	rcu_read_lock();
	do {
		content = fd_content(files, fd);
	} while (content && unlikely(!content_get_unless_zero(content)));
	rcu_read_unlock();
	return content;
}

void fd_content_put(struct berth_file *content)
{
	struct berth_file *file = fd_file_of(content);

	fd_limited_put(content);
	fput(file);
}

/* ---- A move ---- */

static struct bytes move_bytes(void)
{
	return bytes_of(sizeof(struct fd_move));
}

static void move_free(struct berth_retired *retired)
{
	sys_free(container_of(retired, struct fd_move, retired), move_bytes());
}

/* Under the hold of both numbers. */
static void fd_move(struct fd_move *move)
{
	struct berth_file *detour;

	detour = (struct berth_file *)((uintptr_t)move | FD_DETOUR | FD_MOVING);
	/* REL(fd_move:A) pairs with RCU(fd_lookup:A) */
	store_release(move->to, detour);
	store_release(move->from, detour); /* As REL(fd_move:A). */
	/* REL(fd_move:B) pairs with ACQ(fd_moving:A) */
	store_release(&move->done, 1u);
	store_release(move->to, move->moved); /* As REL(fd_move:A). */
	store_release(move->from, NULL);      /* As REL(fd_move:A). */
}

/* The same, once both numbers are known to be fit for it. */
static int fd_move_checked(struct files_struct *files, unsigned int from,
			   unsigned int to, struct fd_move *move)
{
	move->from = fd_slot(files, from);
	move->to = fd_slot(files, to);
	/* As ACQ(dup_onto:A). */
	move->moved = move->from ? load_acquire(move->from) : NULL;
	if (!fd_is_open_slot(move->moved))
		return -EBADF;
	if (!move->to)
		return -ENOMEM;
	move->replaced = load_acquire(move->to); /* As ACQ(dup_onto:A). */
	if (move->replaced == FD_RESERVED)
		return -EBUSY;
	fd_mark_open(
		files, to,
		bit_is_set(fd_cloexec_word(files, from), from % BITS_PER_WORD));
	fd_own(files, from);
	fd_own(files, to);
	if (files->close_waits)
		get_file(fd_file_of(move->moved));
	fd_move(move);
	fd_mark_free(files, from);
	return (int)to;
}

/*
 * In a table whose close waits: those inside by the old number live on its
 * reference, which is the new number's now, and may be dropped by a close of
 * that; so they had another one.  To them it is a close, which can wake them.
 */
static void fd_moved(struct files_struct *files, unsigned int from,
		     unsigned int to, const struct fd_move *move)
{
	struct berth_file *file = fd_file_of(move->moved);

	filp_flush(file, handle_of(files));
	if (move->replaced)
		filp_flush(fd_file_of(move->replaced), handle_of(files));
	fd_left(files, from, file);
	fput(file);
	if (!move->replaced)
		return;
	fd_left(files, to, fd_file_of(move->replaced));
	fd_content_put(move->replaced);
}

int renumber_fd(struct files_struct *files, unsigned int from, unsigned int to)
{
	struct fd_move *move;
	struct fd_hold hold;
	int ret;

	if (from == to)
		return ksys_dup2(files, from, to);
	if (to >= files_limit(files))
		return -EBADF;
	move = sys_zalloc(move_bytes());
	if (!move)
		return -ENOMEM;
	/* When this fails, fd_move_checked() says so, unless @from is worse. */
	expand_files(files, to);
	hold = fd_hold_two(files, from, to);
	ret = fd_move_checked(files, from, to, move);
	if (hold.table)
		files_check(files);
	fd_drop(&hold);
	if (ret < 0) {
		sys_free(move, move_bytes());
		return ret;
	}
	if (files->close_waits)
		fd_moved(files, from, to, move);
	else if (move->replaced)
		fd_content_close(files, to, move->replaced);
	rcu_retire(&move->retired, move_free);
	return ret;
}
