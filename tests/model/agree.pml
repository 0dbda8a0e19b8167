/*
 * agree.pml - the agreement of lib/job/pldi_agree.h, by its labels.
 *
 * MEMBERS members make CALLS calls.  Under each number a member writes its record, posts, waits for
 * the posts of all and reads all records.  Accepted: in every interleaving a member that reads
 * under number n finds what was written under n, by every member.
 *
 * Each of these must be rejected:
 *	COPIES=1	one record a member, in the place of one for even and one for odd numbers
 *	POST_FIRST	A2 before A1
 *	FEW_WAIT	the last member waits for member 0 alone (as the leaf of a broadcast could):
 *			every collective that counts numbers must meet all members
 */
#define MEMBERS 3
#define CALLS 4
#ifndef COPIES
#define COPIES 2
#endif

byte v[MEMBERS];
byte record[6];			/* of member m under n: [2 * m + n % COPIES] */
byte gone;

proctype member(byte me)
{
	byte n, m;

	for (n : 1 .. CALLS) {
#ifdef POST_FIRST
		v[me] = n;
		record[2 * me + n % COPIES] = n;
#else
		record[2 * me + n % COPIES] = n;	/* [A1] */
		v[me] = n;				/* [A2] */
#endif
		for (m : 0 .. MEMBERS - 1) {
#ifdef FEW_WAIT
			(me == MEMBERS - 1 && m > 0) || v[m] >= n
#else
			v[m] >= n			/* [A3] */
#endif
		}
		for (m : 0 .. MEMBERS - 1) {
#ifdef FEW_WAIT
			if
			:: me < MEMBERS - 1 || m == 0 -> assert(record[2 * m + n % COPIES] == n)
			:: else
			fi
#else
			assert(record[2 * m + n % COPIES] == n)	/* [A4] */
#endif
		}
	}
	gone++
}

init {
	byte i;

	atomic {
		for (i : 0 .. MEMBERS - 1) {
			run member(i)
		}
	}
	gone == MEMBERS
}
