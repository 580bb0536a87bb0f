/* SPDX-License-Identifier: MIT */
/*
 * dup_fd() against fd_install() and close_fd().
 *
 * Covers: REL(fd_install:A) ACQ(dup_fd_collect:A) REL(spin_unlock:A)
 *
 * The table has three numbers: the first finds a file, the others are reserved.
 * Two threads install one each, or one thread both, in order.  A closer closes
 * the first number, under the lock.  The copier collects, and looks again.
 *
 * F7: what the copy finds is what the slots were, in memory, at one instant
 * between the copier's begin and end.  A copy with what a thread installed
 * second has what it installed first.
 */
#define CPUS   4
#define SLOT   0 /* + number: 0 reserved, 1 a file, 2 empty */
#define LOCK   3
#define PLACES 4
#define EARLY  3

#define EMPTY 2

/* Which sets of numbers have found files since the copier began: a bit for each
 * of the eight sets. */
byte seen;
byte second, first; /* of a thread that installs both, the numbers */

#define FILES                                                      \
	((memory[SLOT] == 1 -> 1 : 0) + (memory[SLOT + 1] == 1 -> 2 : 0) + \
	 (memory[SLOT + 2] == 1 -> 4 : 0))
#define on_store(cpu, place, value) seen = seen | (1 << FILES)

#include "memory.pml"

proctype installer(byte me; byte number; byte next)
{
	store(SLOT + number, 1, REL(fd_install, A));
	if
	:: next -> store(SLOT + next, 1, REL(fd_install, A))
	:: else -> skip
	fi
}

proctype closer(byte me)
{
	spin_lock(LOCK, true);
	store(SLOT, EMPTY, RELAXED);
	spin_unlock(LOCK, REL(spin_unlock, A))
}

inline look(number)
{
	if
	:: copy & (1 << number) -> skip
	:: else ->
		load(SLOT + number, content, ACQ(dup_fd_collect, A));
		if
		:: content == 1 -> copy = copy | (1 << number); found = true
		:: content == 0 -> reserved = true
		:: content == EMPTY -> skip
		fi
	fi
}

inline dup_fd_collect()
{
	found = false;
	reserved = false;
	look(0);
	look(1);
	look(2)
}

proctype copier(byte me)
{
	byte copy, content;
	bool found, reserved;

	d_step { seen = 1 << FILES; learn() }
#ifndef WITHOUT_LOCK
	spin_lock(LOCK, true);
#endif
	do
	:: dup_fd_collect();
#ifdef WITHOUT_SECOND_LOOK
		break
#else
		if
		:: found && reserved -> skip
		:: else -> break
		fi
#endif
	od;
#ifndef WITHOUT_LOCK
	spin_unlock(LOCK, true);
#endif
	assert(seen & (1 << copy));
	assert(!(copy & (1 << second)) || (copy & (1 << first)))
}

init {
	atomic {
		memory[SLOT] = 1;
		power_on();
		if
		:: run installer(0, 1, 0);
			run installer(1, 2, 0)
		:: first = 1;
			second = 2;
			run installer(0, 1, 2)
		:: first = 2;
			second = 1;
			run installer(0, 2, 1)
		fi;
		run closer(2);
		run copier(3)
	}
}
