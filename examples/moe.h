/* moe.h - sizes, inputs and results of moe_dispatch, which its check needs too. */
#ifndef MOE_H
#define MOE_H

#include <stdint.h>

#define MOE_PAD 8 /* columns of a weight or index row, of which the first counts */

struct moe {
	int me, ranks;
	int64_t tokens, topk; /* a rank's tokens, and experts that each goes to */
	int64_t width;	      /* elements of a token */
	int64_t experts;      /* a rank's */
	int64_t slots;	      /* rows that an expert has room for */
	int32_t *expert;      /* [ranks][tokens][topk] of 0 .. ranks * experts - 1 */
};

/* What rank me got out of it; bfloat16 as its bits. */
struct moe_results {
	const int32_t *rows; /* [experts] */
	const uint16_t *x;   /* [experts][slots][width], of which rows[e] are valid */
	const float *weight; /* [experts][slots] */
	const int32_t *from; /* [experts][slots]: route that the row came by */
	const float *out;    /* [tokens][width] */
};

/* x[rank][token][column] as bfloat16, and the weight of a route. */
uint16_t moe_x(int rank, int64_t token, int64_t column);
float moe_weight(int rank, int64_t token, int64_t k);

/* Draws m->expert, the same on every rank.  0, or -1 when no draw fits into the slots. */
int moe_draw(struct moe *m);

/* All of it again, in one pass without ranks, slots to share or messages.  0, or 1 and a line. */
int moe_check(const struct moe *m, const struct moe_results *r);

#endif
