/*
 * line.pml - the flags of lib/sync/pldi_line.h, by their labels.
 *
 * One poster brings v to 1 and then 2; two waiters wait for 1, then for 2.  Steps and buffers as in
 * bell.pml.  Accepted: in every interleaving all leave, and no sleeper stays counted.
 *
 * With ABORT the poster may die before a post, and the launcher sets the flag and wakes those who
 * publish that they sleep on v, again and again until they have gone: "ends" must hold for every
 * fair run.
 *
 * Each of these must be rejected:
 *	WEAK_P1		v may become visible after P2
 *	WEAK_L1		the announcement may become visible after L2, and after L3: Linux puts it
 *			before its comparison, but the header does not count on that
 *	READ_TWICE	the value given to the kernel is read anew, after the test
 *	NO_COMPARE	L3 sleeps whatever v is
 *	RING_ONCE	(ABORT) the launcher wakes once: v does not change, so nothing remembers it
 *	UNPUBLISHED	(ABORT) a waiter sleeps and does not say so
 */
#define WAITERS 2

byte v, sleepers;
bool aborted;
bool asleep[WAITERS];		/* in the kernel, on v */
bool published[WAITERS];
bool late_v;			/* buffered: a post, of this value */
byte late_value;
bool late_count[WAITERS];
byte gone;
bool told, over;

proctype waiter(byte t)
{
	byte seen, want;

	for (want : 1 .. 2) {
#ifdef WEAK_L1
		late_count[t] = true;
#else
		sleepers++;			/* [L1] */
#endif
#ifndef UNPUBLISHED
		published[t] = true;
#endif
		do
		::
			seen = v;		/* [L2] */
			if
			:: seen >= want || aborted -> break
			:: else
			fi;
#ifdef READ_TWICE
			seen = v;
#endif
			atomic {		/* [L3] */
				if
#ifdef NO_COMPARE
				:: asleep[t] = true
#else
				:: v == seen -> asleep[t] = true
				:: else
#endif
				fi
			}
			!asleep[t]
		od;
		published[t] = false;
		!late_count[t];
		sleepers--			/* [L4] */
	}
	gone++
}

proctype poster()
{
	byte x;

	for (x : 1 .. 2) {
#ifdef ABORT
		if
		:: break
		:: skip
		fi;
#endif
#ifdef WEAK_P1
		!late_v;
		late_value = x;
		late_v = true;
#else
		v = x;				/* [P1] */
#endif
		if
		:: sleepers > 0 ->		/* [P2] */
			!late_v;		/* a system call empties the buffer */
			d_step { asleep[0] = false; asleep[1] = false }	/* [P3] */
		:: sleepers == 0
		fi
	}
	!late_v;
	told = true
}

proctype launcher()
{
	aborted = true;
	do
	:: gone == WAITERS -> break
	:: published[0] || published[1] ->
		d_step { asleep[0] = false; asleep[1] = false }
#ifdef RING_ONCE
		break
#endif
	od
}

proctype buffers()
{
end:	do
	:: atomic { late_v -> late_v = false; v = late_value }
	:: atomic { late_count[0] -> late_count[0] = false; sleepers++ }
	:: atomic { late_count[1] -> late_count[1] = false; sleepers++ }
	od
}

init {
	atomic {
		run buffers();
		run waiter(0);
		run waiter(1);
#ifdef ABORT
		run launcher();
#endif
		run poster()
	}
	gone == WAITERS && told;
	assert(sleepers == 0);
	over = true
}

#ifdef ABORT
ltl ends { <>over }
#endif
