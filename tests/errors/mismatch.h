/* mismatch.h - rows of calls that differ between ranks, and what each rank must be told of them. */
#ifndef MISMATCH_H
#define MISMATCH_H

#include "errors.h"

/* What a row breaks. */
struct stage {
	pld_ctx d;
	pld_tensor w, v; /* (n, 4) of INT32 in d */
	pl_tensor s, t;	 /* host tensors, (4) of INT32 */
	int me, n;
	int dry; /* 1: only tell the place */
	const char *where;
};

/* The place of an op, and unless dry its status. */
#define OP(call) (s->where = PL_WHERE, s->dry ? PL_OK : ERRORS_STATUS(call))

/* A call, the name that its errors have, and how the texts show it. */
struct op {
	int (*fn)(struct stage *s);
	const char *call, *text;
};

/* All members but one call the first, that one the second. */
struct mismatch {
	const char *name;
	const struct op *most, *one;
};

static inline const char *mismatch_base(const char *where)
{
	const char *slash = strrchr(where, '/');

	return slash ? slash + 1 : where;
}

/* Makes the calls of a row, of which member `odd` makes the other. */
static inline void mismatch_run(const struct mismatch *row, struct stage *s, int odd)
{
	const struct op *mine = s->me == odd ? row->one : row->most;
	const struct op *theirs = s->me == odd ? row->most : row->one;
	struct stage other = *s;
	char text[512];
	int got;

	errors_begin();
	got = mine->fn(s);
	other.dry = 1;
	theirs->fn(&other);
	snprintf(text, sizeof(text),
		 "ranks disagree about call * of the domain: rank %d calls %s at %s, rank * "
		 "calls %s at %s",
		 s->me, mine->text, mismatch_base(s->where), theirs->text,
		 mismatch_base(other.where));
	errors_fails(got, row->name, PL_EMISMATCH, mine->call, text, s->where);
}

#define BROKEN                                                                                     \
	"members of the domain disagreed about its call *: only calls that release its windows "   \
	"and end it are left"

#endif
