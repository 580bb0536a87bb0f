/* SPDX-License-Identifier: MIT */
/*
 * fget() against two ksys_dup2() onto the same number.
 *
 * Covers: REL(fd_install:A) RCU(fd_lookup:A) ACQ(dup_onto:A) REL(spin_unlock:A)
 *
 * NEW finds a file.  An installer gives another one to OLD, which was reserved;
 * two others let NEW find what OLD finds.  A reader gets the file of NEW.
 *
 * F5: there is always one.  F2: the file is whole, and stays what it is while the
 * reader borrows or owns it.  F3: what NEW found before is put once, by whoever
 * replaced it.
 */
#define CPUS   4
#define OLD    0 /* slots: 0 when empty, or a file, 1 or 2 */
#define NEW    1
#define DATA   1 /* + file */
#define REFS   3 /* + file */
#define LOCK   6
#define PLACES 7
#define EARLY  6

#define WHOLE 1
#define FREED 2

bool freed[3];

#include "memory.pml"

inline check_whole(file)
{
	load(DATA + file, data, RELAXED);
	assert(data == WHOLE)
}

inline put(file)
{
	/* As REL(kref_put_last:A). */
	modify(REFS + file, refs, refs - 1, RELAXED, true);
	assert(refs != 0);
	if
	:: refs == 1 ->
#ifndef WITHOUT_GRACE_PERIOD
		synchronize_rcu();
#endif
		assert(!freed[file]);
		freed[file] = true;
		store(DATA + file, FREED, RELAXED)
	:: else -> skip
	fi
}

proctype installer(byte me)
{
	store(DATA + 2, WHOLE, RELAXED);
	store(REFS + 2, 1, RELAXED);
	store(OLD, 2, REL(fd_install, A))
}

inline lock()
{
#ifdef WITHOUT_LOCK
	skip
#else
	spin_lock(LOCK, true)
#endif
}

inline unlock()
{
#ifdef WITHOUT_LOCK
	skip
#else
	spin_unlock(LOCK, REL(spin_unlock, A))
#endif
}

/* dup_onto(), fd_publish() */
inline dup_onto()
{
	load(OLD, file, ACQ(dup_onto, A));
	if
	:: file == 0 -> skip /* -EBADF */
	:: else ->
		check_whole(file); /* as fd_content_get(), which looks in it */
		modify(REFS + file, refs, refs + 1, RELAXED, RELAXED);
		/* As ACQ(fd_publish:B), REL(fd_publish:A). */
		load(NEW, replaced, true);
#ifdef WITHOUT_ONE_STORE
		store(NEW, 0, RELAXED);
#endif
		store(NEW, file, true)
	fi
}

proctype dup2(byte me)
{
	byte file, replaced, data, refs;

	lock();
	dup_onto();
	unlock();
	if
	:: replaced ->
		check_whole(replaced); /* the flush */
		put(replaced)
	:: else -> skip
	fi
}

inline get_unless_zero(file)
{
	load(REFS + file, refs, RELAXED);
	good = false;
	do
	:: good || refs == 0 -> break
	:: else -> cas(REFS + file, refs, refs + 1, good, RELAXED, RELAXED)
	od
}

proctype reader(byte me)
{
	byte file, data, refs;
	bool good;

	rcu_read_lock();
#ifdef WITHOUT_SECTION
	rcu_read_unlock();
#endif
	do
	:: good -> break
	:: else ->
		load(NEW, file, RCU(fd_lookup, A));
		assert(file != 0);
		check_whole(file);
		get_unless_zero(file);
#ifdef WITHOUT_RETRY
		assert(good)
#endif
	od;
	rcu_read_unlock();
	assert(!freed[file]);
	check_whole(file);
	put(file)
}

init {
	atomic {
		memory[NEW] = 1;
		memory[DATA + 1] = WHOLE;
		memory[REFS + 1] = 1;
		power_on();
		run installer(0);
		run dup2(1);
		run dup2(2);
		run reader(3)
	}
}
