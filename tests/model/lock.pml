/*
 * lock.pml - the lock of lib/sync/lock.c.
 *
 * PROCS processes take and release it twice each.  Accepted: never two inside, and in every
 * interleaving all end, without the time limit of a sleep (which would hide a lost wake).
 *
 * With DEAD one process dies inside.  The job's abort flag is then set, nobody wakes, and sleeps
 * end by their time limit: "ends", all others leave, must hold for every fair run.
 *
 * Each of these must be rejected:
 *	TEST_AND_SET	the word is read, then written
 *	SLEEP_ON_1	a waiter marks the word "held" only
 *	UNLOCK_QUIET	the lock is freed after the wake
 *	NO_COMPARE	sleeps whatever the word is
 *	NO_LIMIT	(DEAD) sleeps have no time limit
 *	NO_LOOK		(DEAD) waiters do not look at the abort flag
 */
#ifndef PROCS
#define PROCS 2
#endif

byte word;			/* 0 free, 1 held, 2 held and somebody sleeps */
bool aborted;
bool asleep[PROCS];
byte inside, gone;
bool over;

#ifdef SLEEP_ON_1
#define CONTENDED 1
#else
#define CONTENDED 2
#endif

inline lock()
{
#ifdef TEST_AND_SET
	had = word;
	if
	:: had == 0 -> word = 1
	:: else
	fi;
#else
	atomic {
		had = word;
		if
		:: had == 0 -> word = 1
		:: else
		fi
	}
#endif
	do
	:: had == 0 -> break
	:: else ->
		atomic { had = word; word = CONTENDED }
		if
		:: had == 0 -> break
		:: else
		fi;
#ifndef NO_LOOK
		if
		:: aborted -> goto out
		:: else
		fi;
#endif
		atomic {
			if
#ifdef NO_COMPARE
			:: asleep[p] = true
#else
			:: word == CONTENDED -> asleep[p] = true
			:: else
#endif
			fi
		}
		if
		:: !asleep[p]
#if defined(DEAD) && !defined(NO_LIMIT)
		:: aborted -> asleep[p] = false
#endif
		fi
	od
}

inline wake()
{
	d_step {
		asleep[0] = false;
		asleep[1] = false;
		asleep[PROCS - 1] = false
	}
}

inline unlock()
{
#ifdef UNLOCK_QUIET
	had = word;
	if
	:: had == 2 -> wake()
	:: else
	fi;
	word = 0
#else
	atomic { had = word; word = 0 }
	if
	:: had == 2 -> wake()
	:: else
	fi
#endif
}

proctype user(byte p)
{
	byte had, times;

	for (times : 1 .. 2) {
		lock();
		inside++;
		assert(inside == 1);
#ifdef DEAD
		if
		:: p == 0 && times == 1 ->
			aborted = true;	/* by whoever sees the death */
			goto out
		:: else
		fi;
#endif
		inside--;
		unlock()
	}
out:	gone++
}

init {
	byte i;

	atomic {
		for (i : 0 .. PROCS - 1) {
			run user(i)
		}
	}
	gone == PROCS;
	over = true
}

#ifdef DEAD
ltl ends { <>over }
#endif
