/* SPDX-License-Identifier: MIT */
/*
 * renumber_fd(): fd_move() against fd_lookup() and fd_moving().
 *
 * Covers: REL(fd_move:A) REL(fd_move:B) RCU(fd_lookup:A) ACQ(fd_moving:A)
 *
 * A mover lets the number TO find what FROM finds, and FROM nothing.  A reader
 * looks up both, in either order.
 *
 * The move is at one instant: nobody finds the file by both numbers, or by
 * neither, whichever he asks first.  The move's structure is whole when it
 * is seen, and nobody looks at it after it was freed.
 */
#define CPUS   2
#define FROM   0 /* slots: 0 when empty, a file, or a detour to the move */
#define TO     1
#define MOVE   2 /* its memory: garbage, or what it says */
#define DONE   3
#define PLACES 4
#define EARLY  4

#define MOVED	 1 /* the file of FROM before */
#define REPLACED 2 /* the file of TO before */
#define DETOUR	 3

#define WHOLE 1 /* in the move's memory; it is 0 before */
#define FREED 2

#include "memory.pml"

proctype mover(byte me)
{
	store(MOVE, WHOLE, RELAXED);
	store(DONE, 0, RELAXED);
#ifndef WITHOUT_DETOUR
	store(TO, DETOUR, REL(fd_move, A));
	store(FROM, DETOUR, REL(fd_move, A));
#ifndef WITHOUT_DONE
	store(DONE, 1, REL(fd_move, B));
#endif
#endif
	store(TO, MOVED, REL(fd_move, A));
	store(FROM, 0, REL(fd_move, A));
#ifndef WITHOUT_GRACE_PERIOD
	synchronize_rcu();
#endif
	store(MOVE, FREED, RELAXED)
}

/* fd_settled(), fd_moving() */
inline fd_lookup(slot, file)
{
	load(slot, file, RCU(fd_lookup, A));
	if
	:: file != DETOUR -> skip
	:: else ->
		load(DONE, done, ACQ(fd_moving, A));
		load(MOVE, move, RELAXED);
		assert(move == WHOLE);
		assert(done < 2);
		file = (slot == TO -> (done -> MOVED : REPLACED)
				   : (done -> 0 : MOVED))
	fi
}

proctype reader(byte me)
{
	byte from, to, done, move;

#ifndef WITHOUT_SECTION
	rcu_read_lock();
#endif
	if
	:: fd_lookup(TO, to);
		fd_lookup(FROM, from);
		assert(to == REPLACED || from == 0)
	:: fd_lookup(FROM, from);
		fd_lookup(TO, to);
		assert(from == MOVED || to == MOVED)
	fi;
	assert(to == REPLACED || to == MOVED);
	assert(from == 0 || from == MOVED);
#ifndef WITHOUT_SECTION
	rcu_read_unlock()
#endif
}

init {
	atomic {
		memory[FROM] = MOVED;
		memory[TO] = REPLACED;
		memory[DONE] = 2; /* garbage */
		power_on();
		run mover(0);
		run reader(1)
	}
}
