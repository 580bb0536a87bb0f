/* SPDX-License-Identifier: MIT */
/*
 * Memory as the code of berth may rely on it, for the models beside this file.
 *
 * Spin by itself is sequentially consistent: a barrier could be left out of a
 * model and nothing would change.  Here a processor's stores wait in a buffer
 * and its loads may come early, and nothing but the orders that the code asks
 * for, in the words of C17, keeps them in place.
 *
 * *Stores* go into the processor's buffer and from there to memory, at any time
 * and in any order, but for two rules: stores to one place keep their order, and
 * a release goes last of all that were there before it.  A load finds what its
 * own processor has in the buffer.  (A buffer that keeps all of the order, as
 * that of x86, is one of the cases.)
 *
 * *Loads* that come early: when a place changes in memory, each other processor
 * may have read it already for a load that is still to come.  So it may use that
 * old value, until it has loaded the new one, or stored there itself; an acquire
 * ends it for all places.  This holds for a load through a pointer that was just
 * loaded, too; no processor of today does that, but C17 without an acquire
 * allows it to the compiler.
 *
 * *Read-modify-writes* happen in memory, after the processor's own stores to that
 * place; a release waits for all of its stores.  Relaxed ones pass the rest,
 * unlike those of x86, which empty the buffer.
 *
 * *RCU* is what userspace-rcu promises, not how it keeps it.  A grace period waits
 * for all sections that began before it; sees what they did; and what came
 * before it is seen by all sections that begin later.
 *
 * Not modelled: a store that is seen by one processor before it is seen by
 * another, and one that comes before a load that precedes it.
 *
 * *Use*.  A model defines PLACES, EARLY (places from there on are only ever the
 * object of read-modify-writes and of stores, such as locks), CPUS, and, if it
 * wants to be told what comes into memory, on_store(cpu, place, value); then
 * includes this.  Its processes have a parameter @me, the processor, from 0 on,
 * and init calls power_on().  An order is the name of a label in the source,
 * REL(fd_install, A), or RELAXED; `run` makes each label of the model's line
 * "Covers:" an order, and once, for each of them, none.
 */
#ifndef on_store
#define on_store(cpu, place, value) skip
#endif

#define RELAXED 0

#define ACQ(function, n) ACQ_##function##_##n
#define REL(function, n) REL_##function##_##n
#define RCU(function, n) RCU_##function##_##n

#define DEPTH 3	 /* of a buffer */
#define NONE 255 /* no old value */

byte memory[PLACES];

typedef processor {
	byte stores; /* how many wait */
	byte place[DEPTH];
	byte value[DEPTH];
	bool last[DEPTH]; /* a release: goes after those before it */
	byte old[EARLY];  /* may be loaded still */
}

processor cpu[CPUS];

/* The same as a mask: whose buffer is not empty?  And has stores in it that were
 * made in a read section, which has ended? */
byte waiting;
byte left_behind;

/* ---- Memory ---- */

/* Each helper that loops over processors has its own counter, which is zero
 * whenever nobody is in the helper, so that it adds no states. */
byte other;

inline forget(who)
{
	d_step {
		other = 0;
		do
		:: other < EARLY -> cpu[who].old[other] = NONE; other++
		:: else -> break
		od;
		other = 0
	}
}

/* Memory changes.  Who has an old value already keeps that one, or this. */
inline change(who, where, what)
{
	if
	:: where < EARLY && memory[where] != what ->
		other = 0;
		do
		:: other == CPUS -> break
		:: other < CPUS && other != who ->
			if
			:: true -> cpu[other].old[where] = memory[where]
			:: cpu[other].old[where] != NONE -> skip
			fi;
			other++
		:: other < CPUS && other == who -> other++
		od;
		other = 0
	:: else -> skip
	fi;
	memory[where] = what;
	on_store(who, where, what)
}

/* ---- The buffer ---- */

#define buffered(where)                                            \
	((cpu[me].stores > 0 && cpu[me].place[0] == where) ||      \
	 (cpu[me].stores > 1 && cpu[me].place[1] == where) ||      \
	 (cpu[me].stores > 2 && cpu[me].place[2] == where))

/* What the processor finds that loads a place now. */
#define current(where)                                             \
	((cpu[me].stores > 2 && cpu[me].place[2] == where) ->      \
	 cpu[me].value[2] :                                        \
	 ((cpu[me].stores > 1 && cpu[me].place[1] == where) ->     \
	  cpu[me].value[1] :                                       \
	  ((cpu[me].stores > 0 && cpu[me].place[0] == where) ->    \
	   cpu[me].value[0] : memory[where])))

#define drained(who) (cpu[who].stores == 0)

/* May the i-th store go to memory? */
#define may_go_0 (cpu[me].stores > 0)
#define may_go_1                                                   \
	(cpu[me].stores > 1 && !cpu[me].last[1] &&                 \
	 cpu[me].place[1] != cpu[me].place[0])
#define may_go_2                                                   \
	(cpu[me].stores > 2 && !cpu[me].last[2] &&                 \
	 cpu[me].place[2] != cpu[me].place[0] &&                   \
	 cpu[me].place[2] != cpu[me].place[1])

#define move_up(i)                                                 \
	cpu[me].place[i] = cpu[me].place[i + 1];                   \
	cpu[me].value[i] = cpu[me].value[i + 1];                   \
	cpu[me].last[i] = cpu[me].last[i + 1]

/* The i-th has gone. */
inline take_out(i)
{
	d_step {
		if
		:: i < 1 -> move_up(0)
		:: else -> skip
		fi;
		if
		:: i < 2 -> move_up(1)
		:: else -> skip
		fi;
		cpu[me].place[2] = 0;
		cpu[me].value[2] = 0;
		cpu[me].last[2] = false;
		cpu[me].stores--;
		if
		:: drained(me) ->
			waiting = waiting & ~(1 << me);
			left_behind = left_behind & ~(1 << me)
		:: else -> skip
		fi
	}
}

proctype store_buffer(byte me)
{
end:	do
	:: atomic { may_go_0 ->
		change(me, cpu[me].place[0], cpu[me].value[0]); take_out(0) }
	:: atomic { may_go_1 ->
		change(me, cpu[me].place[1], cpu[me].value[1]); take_out(1) }
	:: atomic { may_go_2 ->
		change(me, cpu[me].place[2], cpu[me].value[2]); take_out(2) }
	od
}

byte boot;

inline power_on()
{
	atomic {
		boot = 0;
		do
		:: boot < CPUS ->
			forget(boot);
			run store_buffer(boot);
			boot++
		:: else -> break
		od;
		boot = 0
	}
}

/* ---- What programs do ---- */

inline store(where, what, order)
{
	d_step {
		cpu[me].stores < DEPTH ->
		cpu[me].place[cpu[me].stores] = where;
		cpu[me].value[cpu[me].stores] = what;
		cpu[me].last[cpu[me].stores] = order;
		cpu[me].stores++;
		waiting = waiting | (1 << me);
		if
		:: where < EARLY -> cpu[me].old[where] = NONE
		:: else -> skip
		fi
	}
}

inline load(where, result, order)
{
	atomic {
		if
		:: result = current(where); cpu[me].old[where] = NONE
		:: cpu[me].old[where] != NONE -> result = cpu[me].old[where]
		fi;
		if
		:: order -> forget(me)
		:: else -> skip
		fi
	}
}

/* When a read-modify-write may happen. */
#define may_modify(where, release)                                 \
	(!buffered(where) && (!(release) || drained(me)))

/* Read-modify-write; @result is what was there before. */
inline modify(where, result, what, acquire, release)
{
	atomic {
		may_modify(where, release) ->
		result = memory[where];
		change(me, where, what);
		if
		:: where < EARLY -> cpu[me].old[where] = NONE
		:: else -> skip
		fi;
		if
		:: acquire -> forget(me)
		:: else -> skip
		fi
	}
}

/* Compare and swap: @expected becomes what was there. */
inline cas(where, expected, what, good, acquire, release)
{
	atomic {
		may_modify(where, release) ->
		good = (memory[where] == expected);
		expected = memory[where];
		if
		:: good ->
			change(me, where, what);
			if
			:: acquire -> forget(me)
			:: else -> skip
			fi
		:: else -> skip
		fi;
		if
		:: where < EARLY -> cpu[me].old[where] = NONE
		:: else -> skip
		fi
	}
}

/* The lock's word is 0 when it is free. */
inline spin_lock(where, acquire)
{
	atomic {
		!buffered(where) && memory[where] == 0 ->
		memory[where] = 1;
		if
		:: acquire -> forget(me)
		:: else -> skip
		fi
	}
}

#define spin_unlock(where, release) store(where, 0, release)

/* ---- RCU ---- */

byte inside;	       /* who is in a read section */
byte awaited[CPUS];    /* whom a grace period still waits for */
byte was_inside[CPUS]; /* whose stores it is to see */

inline rcu_read_lock()
{
	inside = inside | (1 << me)
}

inline rcu_read_unlock()
{
	d_step {
		inside = inside & ~(1 << me);
		left_behind = left_behind | (waiting & (1 << me));
		other = 0;
		do
		:: other < CPUS ->
			awaited[other] = awaited[other] & ~(1 << me);
			other++
		:: else -> break
		od;
		other = 0
	}
}

byte each;

/* Sections that begin from now on load nothing from before. */
inline synchronize_rcu()
{
	d_step {
		drained(me) ->
		assert(!(inside & (1 << me)));
		awaited[me] = inside;
		was_inside[me] = inside | left_behind;
		each = 0;
		do
		:: each < CPUS -> forget(each); each++
		:: else -> break
		od;
		each = 0
	}
	d_step {
		awaited[me] == 0 && (waiting & was_inside[me]) == 0 ->
		was_inside[me] = 0;
		forget(me)
	}
}

/* Whoever knows that something has happened was told of it in some way, and did
 * not load before what he does because of it. */
#define learn() forget(me)
