/*
 * bell.pml - the doorbell handshake of lib/sync/pldi_bell.h, by its labels.
 *
 * THREADS threads of one owner wait twice, for a cell that two notifiers bring to 1 and to 2.
 * Accepted: in every interleaving all of them leave, and no sleeper stays counted.  Words are read
 * and changed in one step each; the kernel compares the doorbell and falls asleep in one step.
 * A store that is weaker than seq_cst is one that waits in a buffer while its process goes on.
 *
 * The last thread may leave a sleep without a wake (signal, deadline), the first never does: nobody
 * but a notifier gets it out.  With ABORT one of the notifiers is dead; the flag and one ring must
 * end the waits that it leaves.
 *
 * Each of these must be rejected:
 *	WEAK_N1		the cell's change may become visible after N2
 *	WEAK_W1		the announcement may become visible after W3
 *	LOOK_LATE	W2 after W3
 *	WAKE_FIRST	N4 before N3
 *	NO_COMPARE	W4 sleeps whatever the doorbell says
 *	WAKE_ONE	N4 wakes one of several
 *	WRAP=2		the doorbell comes round between W2 and W4: why it has 32 bits
 *	RING_FIRST	(ABORT) the bell is rung before the flag is set
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef WRAP
#define WRAP 256
#endif
#define NOTIFIERS 2

byte cell, doorbell, sleepers;
bool aborted;
bool asleep[THREADS];		/* in the kernel, on the doorbell */
bool late_cell[NOTIFIERS];	/* buffered: the add of a notifier */
bool late_count[THREADS];	/* buffered: the announcement of a thread */
byte gone, told;

inline wake()			/* [N4] */
{
#ifdef WAKE_ONE
	atomic {
		if
		:: asleep[0] -> asleep[0] = false
		:: asleep[THREADS - 1] -> asleep[THREADS - 1] = false
		:: else
		fi
	}
#else
	d_step { asleep[0] = false; asleep[THREADS - 1] = false }
#endif
}

inline ring()
{
#ifdef WAKE_FIRST
	wake();
	doorbell = (doorbell + 1) % WRAP
#else
	doorbell = (doorbell + 1) % WRAP;	/* [N3] */
	wake()
#endif
}

proctype owner(byte t)
{
	byte looked, seen, want;

	for (want : 1 .. 2) {
#ifdef WEAK_W1
		late_count[t] = true;
#else
		sleepers++;			/* [W1] */
#endif
		do
		::
#ifdef LOOK_LATE
			seen = cell;
			looked = doorbell;
#else
			looked = doorbell;	/* [W2] */
			seen = cell;		/* [W3] */
#endif
			if
			:: seen >= want || aborted -> break
			:: else
			fi;
			!late_count[t];		/* a system call empties the buffer */
			atomic {		/* [W4] */
				if
#ifdef NO_COMPARE
				:: asleep[t] = true
#else
				:: doorbell == looked -> asleep[t] = true
				:: else
#endif
				fi
			}
			if
			:: !asleep[t]
			:: t > 0 -> asleep[t] = false	/* signal */
			:: t > 0 -> asleep[t] = false; break	/* deadline */
			fi
		od;
		!late_count[t];
		sleepers--			/* [W5] */
	}
	gone++
}

proctype notifier(byte n)
{
#ifdef WEAK_N1
	late_cell[n] = true;
#else
	cell++;					/* [N1] */
#endif
	if
	:: sleepers > 0 ->			/* [N2] */
		!late_cell[n];			/* a read-modify-write empties the buffer */
		ring()
	:: sleepers == 0
	fi;
	!late_cell[n];
	told++
}

proctype aborter()
{
#ifdef RING_FIRST
	ring();
	aborted = true;
#else
	aborted = true;
	ring();
#endif
	told++
}

/* Buffers become empty at some time. */
proctype buffers()
{
end:	do
	:: atomic { late_cell[0] -> late_cell[0] = false; cell++ }
	:: atomic { late_cell[1] -> late_cell[1] = false; cell++ }
	:: atomic { late_count[0] -> late_count[0] = false; sleepers++ }
	:: atomic { late_count[THREADS - 1] -> late_count[THREADS - 1] = false; sleepers++ }
	od
}

init {
	byte i;

	atomic {
		run buffers();
		for (i : 0 .. THREADS - 1) {
			run owner(i)
		}
		run notifier(0);
#ifdef ABORT
		run aborter()
#else
		run notifier(1)
#endif
	}
	gone == THREADS && told == NOTIFIERS;
	assert(sleepers == 0)
}
