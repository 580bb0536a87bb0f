/* SPDX-License-Identifier: MIT */
/*
 * fd_lookup() against two threads that find their number's segment missing:
 * expand_files(), then fd_take_slow().
 *
 * Covers: REL(expand_files:A) ACQ(fd_segment_slot:A) ACQ(fd_range:A)
 *	REL(spin_unlock:A)
 *
 * Each grower makes a segment, of memory that has been used before, and shows it
 * by compare-and-swap; who comes second frees his own.  Then each gives, under
 * the lock, its own file to the lowest free number.  A reader looks up one
 * of the numbers, or counts what is open.
 *
 * F6: a lookup finds a file, or nothing; never what was in the memory before, nor
 * what is in memory that was freed.  So does who reads the bitmap.  Each file gets a
 * number, and none gets lost.
 *
 * Left out: the lookup of the file's contents, see fd_lookup_vs_close_fd.pml.
 */
#define CPUS	3
#define SEGMENT 0	   /* 0 when it is missing, or one of two */
#define BITS(s)	   (s)	   /* the bitmap of segment @s */
#define SLOT(s, n) (1 + 2 * (s) + (n)) /* its slots; each has a number */
#define LOCK	7
#define PLACES	8
#define EARLY	7

#define GARBAGE 9

bool freed[3];
byte done; /* growers that are */

#include "memory.pml"

/* The bitmap's words are read and written under the lock. */
inline fd_take_slow()
{
	spin_lock(LOCK, true);
	load(SEGMENT, segment, ACQ(fd_range, A));
	assert(!freed[segment]);
	load(BITS(segment), bits, RELAXED);
	assert(bits < 3); /* two numbers: not both are taken yet */
	fd = (bits & 1 -> 1 : 0);
	store(BITS(segment), bits | (1 << fd), RELAXED);
	load(SEGMENT, segment, ACQ(fd_segment_slot, A));
	/* As REL(fd_publish:A). */
	store(SLOT(segment, fd), me + 1, true);
	spin_unlock(LOCK, REL(spin_unlock, A))
}

inline expand_files()
{
	mine = me + 1;
	store(BITS(mine), 0, RELAXED);
	store(SLOT(mine, 0), 0, RELAXED);
	store(SLOT(mine, 1), 0, RELAXED);
#ifdef WITHOUT_CAS
	load(SEGMENT, segment, RELAXED);
	good = (segment == 0);
	if
	:: good -> store(SEGMENT, mine, REL(expand_files, A))
	:: else -> skip
	fi;
#else
	segment = 0;
	cas(SEGMENT, segment, mine, good, RELAXED, REL(expand_files, A));
#endif
	if
	:: good -> skip
	:: else ->
		/* Nobody has seen it, or will. */
		freed[mine] = true
	fi
}

proctype grower(byte me)
{
	byte segment, mine, bits, fd;
	bool good;

	expand_files();
	fd_take_slow();
	done++
}

inline fd_lookup(fd)
{
	load(SEGMENT, segment, ACQ(fd_segment_slot, A));
	if
	:: segment == 0 -> skip
	:: else ->
		assert(!freed[segment]);
		load(SLOT(segment, fd), found, true); /* as RCU(fd_lookup:A) */
		assert(found != GARBAGE)
	fi
}

inline files_count()
{
	spin_lock(LOCK, true);
	load(SEGMENT, segment, ACQ(fd_range, A));
	if
	:: segment == 0 -> skip
	:: else ->
		assert(!freed[segment]);
		load(BITS(segment), found, RELAXED);
		assert(found != GARBAGE)
	fi;
	spin_unlock(LOCK, true)
}

proctype reader(byte me)
{
	byte segment, found;

	if
	:: fd_lookup(0)
	:: fd_lookup(1)
	:: files_count()
	fi
}

init {
	atomic {
		memory[BITS(1)] = GARBAGE;
		memory[BITS(2)] = GARBAGE;
		memory[SLOT(1, 0)] = GARBAGE;
		memory[SLOT(1, 1)] = GARBAGE;
		memory[SLOT(2, 0)] = GARBAGE;
		memory[SLOT(2, 1)] = GARBAGE;
		power_on();
		run grower(0);
		run grower(1);
		run reader(2)
	}
	done == 2 && waiting == 0;
	d_step {
		assert(memory[BITS(memory[SEGMENT])] == 3);
		assert(memory[SLOT(memory[SEGMENT], 0)] +
		       memory[SLOT(memory[SEGMENT], 1)] == 3)
	}
}
