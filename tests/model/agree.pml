/*
 * agree.pml - the agreement of lib/job/pldi_agree.h, by its labels.
 *
 * MEMBERS members make CALLS calls.  Under each number a member writes its record (print, payload
 * and call), posts, waits for the posts of all and reads all records.  Calls 1 and 5 post twice
 * more: a step, for which the right neighbour alone waits, as in a ring, and one that all wait for,
 * a barrier.  Accepted: in every interleaving a member that reads under number n finds what was
 * written under n, by every member, up to its own post of the next number; and who has waited for a
 * step finds its poster there, or beyond.
 *
 * Each of these must be rejected:
 *	COPIES=1	one record a member, in the place of one for even and one for odd numbers
 *	POST_FIRST	A2 before A1
 *	FEW_WAIT	the last member waits for member 0 alone (as the leaf of a broadcast could):
 *			every collective that counts numbers must meet all members
 *	WAIT_NUMBER	A3 waits for as many posts as there were calls: steps are posts too
 *	UNEVEN		member 0 posts once more than the others in a call
 */
#define MEMBERS 3
#define CALLS 5
#ifndef COPIES
#define COPIES 2
#endif

byte v[MEMBERS];
byte record[6];			/* of member m under n: [2 * m + n % COPIES] */
byte point[MEMBERS];		/* 4 * number + steps: where a member is */
byte gone;

inline post(where)
{
	posts++;
	point[me] = where;
	v[me] = posts			/* [A2] */
}

inline read_records()		/* [A4] */
{
	for (m : 0 .. MEMBERS - 1) {
#ifdef FEW_WAIT
		if
		:: me < MEMBERS - 1 || m == 0 -> assert(record[2 * m + n % COPIES] == n)
		:: else
		fi
#else
		assert(record[2 * m + n % COPIES] == n)
#endif
	}
}

inline steps()
{
	post(4 * n + 1);
#ifdef UNEVEN
	if
	:: me == 0 -> post(4 * n + 1)
	:: else
	fi;
#endif
	v[left] >= entry + 1;
	assert(point[left] >= 4 * n + 1);
	read_records();
	post(4 * n + 2);
	for (m : 0 .. MEMBERS - 1) {
		v[m] >= posts;
		assert(point[m] >= 4 * n + 2)
	}
}

proctype member(byte me)
{
	byte n, m, posts, entry, left = (me + MEMBERS - 1) % MEMBERS;

	for (n : 1 .. CALLS) {
#ifdef POST_FIRST
		post(4 * n);
		record[2 * me + n % COPIES] = n;
#else
		record[2 * me + n % COPIES] = n;	/* [A1] */
		post(4 * n);
#endif
		entry = posts;
		for (m : 0 .. MEMBERS - 1) {
#if defined(FEW_WAIT)
			(me == MEMBERS - 1 && m > 0) || v[m] >= posts
#elif defined(WAIT_NUMBER)
			v[m] >= n
#else
			v[m] >= posts			/* [A3] */
#endif
		}
		read_records();
		if
		:: n % 4 == 1 -> steps()
		:: else
		fi
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
