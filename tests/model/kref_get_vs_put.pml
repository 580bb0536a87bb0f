/* SPDX-License-Identifier: MIT */
/*
 * kref_get_unless_zero() and kref_put_last(), and the object's memory in its
 * next life.
 *
 * Covers: REL(kref_put_last:A) ACQ(kref_put_last:B) RCU(fd_lookup:A)
 *	REL(fd_take:A)
 *
 * An object stands in a slot, which owns a reference.  Two users look it up, own
 * it, write to it and put it; a closer empties the slot and puts.  Whoever puts
 * last retires the object and, after a grace period, makes a new one of its
 * memory.  That may be refused before anybody has seen it, and then its memory
 * is used again at once; at last one stands in the slot, where users find it.
 *
 * R1: nobody owns an object of another life than the one that he looked up, nor
 * sees what is of another.  R2: a life ends once.  The destroyer sees what every owner wrote, and nothing
 * that an owner wrote gets into the next life.
 *
 * Left out: saturation (R3), and the lists of what is retired: they are taken
 * before the grace period, which orders all that their labels do.
 */
#define CPUS   3
#define USERS  2
#define SLOT   0 /* 0 when empty, or else which life the object is in */
#define REFS   1
#define DATA   2 /* a place for each user: has he written there? */
#define PLACES 4
#define EARLY  4

byte life = 1;	   /* of the memory */
bool freed;	   /* the last one has ended, the next not begun */
bool written[USERS]; /* in this life */

/* What a user writes comes into memory before the life ends. */
#define on_store(cpu, place, value)                                \
	assert(place < DATA || value == 0 ||                       \
	       (written[place - DATA] && !freed))

#include "memory.pml"

/* Begin another life: as sys_zalloc() and berth_file_init(). */
inline make()
{
	d_step {
		life++;
		written[0] = false;
		written[1] = false;
		freed = false
	}
	store(DATA, 0, RELAXED);
	store(DATA + 1, 0, RELAXED);
	store(REFS, 1, RELAXED)
}

/* file_free_unseen(), or not. */
inline refuse()
{
	if
	:: true -> skip
	:: true ->
#ifdef WITHOUT_UNSEEN
		store(SLOT, life, REL(fd_take, A));
		store(SLOT, 0, RELAXED);
#endif
		freed = true;
		make()
	fi
}

inline check_data(i)
{
	load(DATA + i, old, RELAXED);
	assert(old == written[i])
}

inline destroy()
{
	assert(!freed);
	check_data(0);
	check_data(1);
#ifndef WITHOUT_GRACE_PERIOD
	synchronize_rcu();
#endif
	d_step {
		assert(!freed);
		freed = true
	}
	make();
	refuse();
	store(SLOT, life, REL(fd_take, A))
}

inline kref_get_unless_zero()
{
	load(REFS, old, RELAXED);
	do
#ifndef WITHOUT_ZERO_TEST
	:: old == 0 -> break
#endif
	:: good -> break
	:: else ->
#ifdef WITHOUT_CAS
		modify(REFS, old, old + 1, RELAXED, RELAXED);
		good = true
#else
		cas(REFS, old, old + 1, good, RELAXED, RELAXED)
#endif
	od
}

inline put()
{
#ifdef WITHOUT_ONE_STEP
	load(REFS, old, RELAXED);
	store(REFS, old - 1, REL(kref_put_last, A));
#else
	modify(REFS, old, old - 1, RELAXED, REL(kref_put_last, A));
#endif
	assert(old != 0);
	if
	:: old == 1 ->
		load(REFS, old, ACQ(kref_put_last, B));
		destroy()
	:: else -> skip
	fi
}

proctype user(byte me)
{
	byte mine, old;
	bool good;

#ifndef WITHOUT_SECTION
	rcu_read_lock();
#endif
	load(SLOT, mine, RCU(fd_lookup, A));
	if
	:: mine -> kref_get_unless_zero()
	:: else -> skip
	fi;
#ifndef WITHOUT_SECTION
	rcu_read_unlock();
#endif
	if
	:: good ->
		assert(mine == life && !freed);
		/* What it finds in the object is of this life. */
		load(DATA + 1 - me, old, RELAXED);
		assert(old <= written[1 - me]);
		atomic { store(DATA + me, 1, RELAXED); written[me] = true }
		put()
	:: else -> skip
	fi
}

proctype closer(byte me)
{
	byte old;

	store(SLOT, 0, RELAXED);
	put()
}

init {
	atomic {
		memory[SLOT] = life;
		memory[REFS] = 1;
		power_on();
		run user(0);
		run user(1);
		run closer(2)
	}
}
