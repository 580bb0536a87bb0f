/* SPDX-License-Identifier: MIT */
/*
 * fd_install() and fd_take() against fd_lookup(), fget() and close_fd(), on one
 * number.
 *
 * Covers: REL(fd_install:A) REL(fd_take:A) REL(fd_publish:A) RCU(fd_lookup:A)
 *	ACQ(close_fd:A) ACQ(fd_publish:B) REL(kref_put_last:A)
 *
 * An opener makes a file and gives it a number: one that was reserved, without
 * the lock; or the one it takes under the lock, by either of the two ways there
 * are.  A closer closes the number if there is a file, or replaces
 * the file, as dup2 does.  A reader looks it up, and
 * borrows or owns the file.
 *
 * F1: who looks up after close has returned does not find the file, even in real time: that
 * is the put's doing, for it comes after the slot's store, and is in memory.
 * F2: the file that was found is whole and stays what it is.  What the close
 * flushes is whole as well.  F3: it is destroyed once.
 */
#define CPUS   3
#define SLOT   0
#define DATA   1 /* the file's contents */
#define REFS   2
#define LOCK   3
#define PLACES 4
#define EARLY  3

#define RESERVED 1 /* in the slot, which is empty by 0 */
#define FILE	 2
#define OTHER	 3

#define WHOLE 1 /* in the file; it is 0 before its birth */
#define FREED 2

bool closed; /* close has returned */
bool freed;

#include "memory.pml"

inline check_whole()
{
	load(DATA, data, RELAXED);
	assert(data == WHOLE)
}

/* filp_close() without its flush, fput(). */
inline put()
{
#ifdef WITHOUT_READ_MODIFY_WRITE
	load(REFS, refs, RELAXED);
	store(REFS, refs - 1, RELAXED);
#else
	modify(REFS, refs, refs - 1, RELAXED, REL(kref_put_last, A));
#endif
	assert(refs != 0);
	if
	:: refs == 1 -> last = true
	:: else -> skip
	fi
}

/* file_put_last() */
inline destroy()
{
#ifndef WITHOUT_GRACE_PERIOD
	synchronize_rcu();
#endif
	assert(!freed);
	freed = true;
	store(DATA, FREED, RELAXED)
}

proctype opener(byte me)
{
	store(DATA, WHOLE, RELAXED);
	store(REFS, 1, RELAXED);
	if
	:: memory[SLOT] == RESERVED ->
		store(SLOT, FILE, REL(fd_install, A))
	:: memory[SLOT] == 0 ->
		spin_lock(LOCK, true);
		if
		:: store(SLOT, FILE, REL(fd_take, A))
		:: store(SLOT, FILE, REL(fd_publish, A))
		fi;
		spin_unlock(LOCK, true)
	fi
}

proctype closer(byte me)
{
	byte content, next, data, refs;
	bool last;

	spin_lock(LOCK, true);
	if
	:: load(SLOT, content, ACQ(close_fd, A)); next = 0
	:: load(SLOT, content, ACQ(fd_publish, B)); next = OTHER
	fi;
#ifdef WITHOUT_CLEARING_FIRST
	if
	:: content == FILE -> put()
	:: else -> skip
	fi;
#endif
	if
	:: content == FILE && next == 0 -> store(SLOT, 0, RELAXED)
	:: content == FILE && next == OTHER ->
		store(SLOT, OTHER, REL(fd_publish, A))
	:: else -> skip
	fi;
	spin_unlock(LOCK, true);
	if
	:: content == FILE ->
		check_whole(); /* the flush */
#ifndef WITHOUT_CLEARING_FIRST
		put();
#endif
		closed = true;
		if
		:: last -> destroy()
		:: else -> skip
		fi
	:: else -> skip
	fi
}

inline lookup()
{
	load(SLOT, content, RCU(fd_lookup, A));
	if
	:: content == FILE -> assert(!after)
	:: else -> content = 0
	fi
}

inline get_unless_zero()
{
	load(REFS, refs, RELAXED);
	good = false;
	do
	:: good || refs == 0 -> break
	:: else -> cas(REFS, refs, refs + 1, good, RELAXED, RELAXED)
	od
}

proctype reader(byte me)
{
	byte content, data, refs;
	bool after, good, last;

	atomic { after = closed; learn() }
	rcu_read_lock();
#ifdef WITHOUT_SECTION
	rcu_read_unlock();
#endif
	lookup();
	if
	:: content -> check_whole(); check_whole()
	:: content ->
		get_unless_zero();
		/* Else fget() looks again: see fd_lookup_vs_dup2.pml. */
		if
		:: good ->
			rcu_read_unlock();
			assert(!freed);
			check_whole();
			put();
			if
			:: last -> destroy()
			:: else -> skip
			fi
		:: else -> skip
		fi
	:: else -> skip
	fi;
	rcu_read_unlock()
}

init {
	atomic {
		if
		:: memory[SLOT] = RESERVED
		:: true -> skip
		fi;
		power_on();
		run opener(0);
		run closer(1);
		run reader(2)
	}
}
