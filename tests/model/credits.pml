/*
 * credits.pml - the barriers of a collective on the caller's cells, lib/coll/sync.c, by its labels.
 *
 * MEMBERS members make CALLS calls of K barriers each, on one row of cells; with TWO_ROWS of three:
 * row 0, row 1, row 0 again, as PLD_TWO_PHASE.  Accepted: in every interleaving all end, nobody
 * leaves a barrier before all have entered it, a cell holds 0 to K + 1, and all cells are 0 then.
 *
 * Each of these must be rejected:
 *	SET_0		B3 stores 0
 *	WAIT_EQ		B2 waits for exactly g
 *	NO_END		no B3
 *	FEW_TOLD	B1 leaves out a peer
 */
#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef K
#define K 1
#endif
#ifndef CALLS
#define CALLS 3
#endif
#ifdef TWO_ROWS
#define BARRIERS 3
#define ROWS 2
#define ROW(b) ((b) % 2)	/* of barrier b = 0, 1, 2 */
#define OF_ROW(r) (2 - (r))
#else
#define BARRIERS K
#define ROWS 1
#define ROW(b) 0
#define OF_ROW(r) K
#endif

/* row, owner, who credits it */
#define CELL(r, o, s) cell[((r) * MEMBERS + (o)) * MEMBERS + (s)]

short cell[ROWS * MEMBERS * MEMBERS];
byte entered[MEMBERS];		/* barriers, of all calls */
byte gone;

inline add(r, o, s, n)
{
	d_step {
		CELL(r, o, s) = CELL(r, o, s) + n;
		assert(CELL(r, o, s) >= 0 && CELL(r, o, s) <= OF_ROW(r) + 1)
	}
}

inline take_back()		/* [B3] */
{
	for (r : 0 .. ROWS - 1) {
		for (m : 0 .. MEMBERS - 1) {
			if
			:: m == me
			:: else ->
#if defined(SET_0)
				CELL(r, me, m) = 0
#elif !defined(NO_END)
				add(r, me, m, -OF_ROW(r))
#endif
			fi
		}
	}
}

proctype member(byte me)
{
	byte call, b, m, r, g;

	for (call : 0 .. CALLS - 1) {
		for (b : 0 .. BARRIERS - 1) {
			entered[me]++;
			r = ROW(b);
			g = b / ROWS + 1;
			for (m : 0 .. MEMBERS - 1) {	/* [B1] */
				if
				:: m == me
#ifdef FEW_TOLD
				:: me == 0 && m == MEMBERS - 1
#endif
				:: else -> add(r, m, me, 1)
				fi
			}
			for (m : 0 .. MEMBERS - 1) {	/* [B2] */
#ifdef WAIT_EQ
				m == me || CELL(r, me, m) == g
#else
				m == me || CELL(r, me, m) >= g
#endif
			}
			for (m : 0 .. MEMBERS - 1) {
				assert(entered[m] >= call * BARRIERS + b + 1)
			}
		}
		take_back()
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
	for (i : 0 .. ROWS * MEMBERS * MEMBERS - 1) {
		assert(cell[i] == 0)
	}
}
