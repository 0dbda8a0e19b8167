/*
 * ring.pml - PLD_RING of lib/coll/allreduce.c: neighbours hand chunks on without a barrier between
 * rounds, and a barrier closes the call.
 *
 * MEMBERS members reduce CALLS times; a segment is CHUNKS chunks.  A chunk's value is the call and
 * the set of members in its sum.  A read lasts: it looks twice; a write goes through 0, which is no
 * value.  Accepted: in every interleaving each read finds what the ring's round says, from its
 * beginning to its end; each call's result is complete; and all cells are 0 in the end.
 *
 * With LINES on the library's lines: the entry is a barrier, and a member's posts count its chunks.
 *
 * Each of these must be rejected:
 *	NO_CLOSE	no closing barrier: the next call's data comes while a neighbour still reads
 *	EARLY		the wait is for one chunk less
 *	TELL_FIRST	a chunk is handed on before it is stored
 *	NO_END		cells are not taken back
 */
#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef CHUNKS
#define CHUNKS 2
#endif
#ifndef CALLS
#define CALLS 2
#endif
#define ROUNDS (2 * (MEMBERS - 1))
#define ALL ((1 << MEMBERS) - 1)
#define VALUE(call, set) (((call) << MEMBERS) + (set))

/* member, segment, chunk */
#define DATA(m, q, k) data[((m) * MEMBERS + (q)) * CHUNKS + (k)]
/* row, owner, who credits it */
#define CELL(r, o, s) cell[((r) * MEMBERS + (o)) * MEMBERS + (s)]

byte data[MEMBERS * MEMBERS * CHUNKS];
short cell[ROUNDS * MEMBERS * MEMBERS];
byte v[MEMBERS];		/* LINES: posts */
byte gone;

#ifdef NO_CLOSE
#define CLOSING 0
#else
#define CLOSING 1
#endif
#ifdef EARLY
#define NEED(k) (k)
#else
#define NEED(k) ((k) + 1)
#endif

inline tell_right(round, n)
{
#ifdef LINES
	v[me]++
#else
	d_step { CELL(round, right, me) = CELL(round, right, me) + n }
#endif
}

inline wait_left(round, k)
{
#ifdef LINES
	round == 0 || v[left] >= entry + (round - 1) * CHUNKS + NEED(k)
#else
	CELL(round, me, left) >= NEED(k)
#endif
}

/* Data of call c. */
inline stage()
{
	for (q : 0 .. MEMBERS - 1) {
		for (k : 0 .. CHUNKS - 1) {
			DATA(me, q, k) = VALUE(c, 1 << me)
		}
	}
}

inline one_round()
{
	if
	:: s < MEMBERS - 1 ->
		q = (me + 2 * MEMBERS - s - 2) % MEMBERS;
		/* left and the s members before it; with this one, s + 2 */
		d_step {
			theirs = 0;
			for (m : 0 .. s) {
				theirs = theirs | (1 << ((left + MEMBERS - m) % MEMBERS))
			}
			mine = theirs | (1 << me);
			m = 0
		}
	:: else ->
		q = (me + MEMBERS - (s - MEMBERS + 1) - 1) % MEMBERS;
		d_step { theirs = ALL; mine = ALL }
	fi;
	for (k : 0 .. CHUNKS - 1) {
		wait_left(s, k);
		assert(DATA(left, q, k) == VALUE(c, theirs));
#ifdef TELL_FIRST
		if
		:: s < ROUNDS - 1 -> tell_right(s + 1, 1)
		:: else
		fi;
#endif
		DATA(me, q, k) = 0;
		assert(DATA(left, q, k) == VALUE(c, theirs));
		DATA(me, q, k) = VALUE(c, mine);
#ifndef TELL_FIRST
		if
		:: s < ROUNDS - 1 -> tell_right(s + 1, 1)
		:: else
		fi
#endif
	}
}

inline close_ring()
{
#ifdef LINES
	v[me]++;
	posts = v[me];
	for (m : 0 .. MEMBERS - 1) {
		v[m] >= posts
	}
#else
	for (m : 0 .. MEMBERS - 1) {
		if
		:: m == me
		:: else -> CELL(0, m, me) = CELL(0, m, me) + 1
		fi
	}
	for (m : 0 .. MEMBERS - 1) {
		m == me || CELL(0, me, m) >= (m == left -> CHUNKS : 0) + CLOSING
	}
#endif
}

inline take_back()
{
	for (m : 0 .. MEMBERS - 1) {
		if
		:: m == me
		:: else -> CELL(0, me, m) = CELL(0, me, m) - (m == left -> CHUNKS : 0) - CLOSING
		fi
	}
	for (s : 1 .. ROUNDS - 1) {
		CELL(s, me, left) = CELL(s, me, left) - CHUNKS
	}
}

proctype member(byte me)
{
	byte c, q, k, s, m, theirs, mine, entry, posts;
	byte left = (me + MEMBERS - 1) % MEMBERS, right = (me + 1) % MEMBERS;

	for (c : 1 .. CALLS) {
		stage();
#ifdef LINES
		v[me]++;
		entry = v[me];
		for (m : 0 .. MEMBERS - 1) {
			v[m] >= entry
		}
#else
		tell_right(0, CHUNKS);
#endif
		for (s : 0 .. ROUNDS - 1) {
			one_round()
		}
#ifndef NO_CLOSE
		close_ring();
#endif
		atomic {
			for (q : 0 .. MEMBERS - 1) {
				for (k : 0 .. CHUNKS - 1) {
					assert(DATA(me, q, k) == VALUE(c, ALL))
				}
			}
		}
#if !defined(LINES) && !defined(NO_END)
		take_back()
#endif
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
	gone == MEMBERS;
	for (i : 0 .. ROUNDS * MEMBERS * MEMBERS - 1) {
		assert(cell[i] == 0)
	}
}
