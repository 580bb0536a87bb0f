/* SPDX-License-Identifier: MIT */
/*
 * A close that waits: fd_left(), own_uses() and mark_uses() against
 * berth_files_enter() and berth_files_leave().
 *
 * Covers: ACQ(spin_take:A) REL(spin_unlock:A)
 *
 * Two users look a number up; they borrow its file, or enter and leave.  A closer
 * closes the number; he may be inside himself.
 *
 * When close returns nobody else is inside, and the closer sees what they did
 * there.  It does return: nobody sleeps for ever, which Spin would call an
 * invalid end state.  Who closed from inside keeps the file until he leaves.
 *
 * Left out: the reference's own steps, see kref_get_vs_put.pml; the slot's lock,
 * for there is one closer.
 */
#define CPUS	   3
#define SLOT	   0 /* 1: the file */
#define LIST	   1 /* + user: his list of uses */
#define DATA	   3 /* the first user writes there while he is inside */
#define DEPARTURES 4
#define LOCK	   5 /* + user: the list's */
#define PLACES	   7
#define EARLY	   5

#define CLOSER 2

#define OUT    0 /* not in the list */
#define IN     1
#define MARKED 2

bool within[CPUS]; /* from the lookup to the leaving */
bool wrote;
bool asleep;	 /* the closer, on DEPARTURES */
byte refs = 1;	 /* the number's */

#include "memory.pml"

/* What the kernel does: compare and sleep in one step. */
inline futex_wait(where, what)
{
	atomic {
		if
		:: memory[where] == what -> asleep = true
		:: else -> skip
		fi
	}
	!asleep
}

inline futex_wake()
{
	asleep = false
}

inline use_enter()
{
	spin_lock(LOCK + me, ACQ(spin_take, A));
	store(LIST + me, IN, RELAXED);
	spin_unlock(LOCK + me, REL(spin_unlock, A))
}

inline use_leave()
{
	spin_lock(LOCK + me, ACQ(spin_take, A));
	load(LIST + me, use, RELAXED);
	store(LIST + me, OUT, RELAXED);
	spin_unlock(LOCK + me, REL(spin_unlock, A));
	if
	:: use == MARKED ->
#ifndef WITHOUT_WAKING
		modify(DEPARTURES, use, use + 1, RELAXED, RELAXED);
		futex_wake()
#endif
		skip
	:: else -> skip
	fi
}

inline work()
{
	assert(refs);
	if
	:: me == 0 ->
		atomic { store(DATA, 1, RELAXED); wrote = true }
	:: else -> skip
	fi
}

proctype user(byte me)
{
	byte use;

	rcu_read_lock();
	atomic {
		load(SLOT, use, true); /* as RCU(fd_lookup:A) */
		within[me] = use
	}
	if
	:: use == 0 -> rcu_read_unlock()
	:: use == 1 ->
		work(); /* a borrow */
		within[me] = false;
		rcu_read_unlock()
	:: use == 1 ->
#ifdef WITHOUT_ENTERING_INSIDE
		rcu_read_unlock();
		use_enter();
#else
		use_enter();
		rcu_read_unlock();
#endif
		work();
		within[me] = false;
		use_leave()
	fi
}

inline mark(whose)
{
	load(LIST + whose, use, RELAXED);
	if
	:: use != OUT -> store(LIST + whose, MARKED, RELAXED); found = true
	:: else -> skip
	fi;
	spin_unlock(LOCK + whose, REL(spin_unlock, A))
}

/* @departures is loaded before the first list's unlock. */
inline mark_uses()
{
	found = false;
#ifdef WITHOUT_OWN_TEST
	found = within[CLOSER];
#endif
#ifdef WITHOUT_SEEING_FIRST
	spin_lock(LOCK, ACQ(spin_take, A));
#else
	if
	:: load(DEPARTURES, departures, RELAXED);
		spin_lock(LOCK, ACQ(spin_take, A))
	:: spin_lock(LOCK, ACQ(spin_take, A));
		load(DEPARTURES, departures, RELAXED)
	fi;
#endif
	mark(0);
	spin_lock(LOCK + 1, ACQ(spin_take, A));
	mark(1);
#ifdef WITHOUT_SEEING_FIRST
	load(DEPARTURES, departures, RELAXED);
#endif
}

inline fd_left()
{
	if
	:: within[CLOSER] -> /* own_uses() */
#ifndef WITHOUT_REFERENCE
		refs++;
#endif
		skip
	:: else -> skip
	fi;
#ifndef WITHOUT_GRACE_PERIOD
	synchronize_rcu();
#endif
	do
	:: mark_uses();
#ifdef WITHOUT_WAITING
		break
#else
		if
		:: found -> futex_wait(DEPARTURES, departures)
		:: else -> break
		fi
#endif
	od
}

proctype closer(byte me)
{
	byte use, departures;
	bool found;

	if
	:: within[me] = true
	:: true -> skip
	fi;
	store(SLOT, 0, RELAXED);
	fd_left();
	assert(!within[0] && !within[1]);
	load(DATA, use, RELAXED);
	assert(use == wrote);
	refs--;
	if
	:: within[me] ->
		assert(refs);
		within[me] = false;
		refs--
	:: else -> skip
	fi;
	assert(refs == 0)
}

init {
	atomic {
		memory[SLOT] = 1;
		power_on();
		run user(0);
		run user(1);
		run closer(CLOSER)
	}
}
