/* moe_check.c - the input of moe_dispatch, and what must come out: serially, without pld. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "moe.h"

#define DRAWS 1000

/* To nearest, ties to even; no NaN comes here. */
static uint16_t to_bf16(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float from_bf16(uint16_t h)
{
	uint32_t bits = (uint32_t)h << 16;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

uint16_t moe_x(int rank, int64_t token, int64_t column)
{
	return to_bf16((float)(100 * (int64_t)rank + 10 * token + column));
}

float moe_weight(int rank, int64_t token, int64_t k)
{
	return (float)(0.01 * (rank + 1) + 0.1 * (double)token + 0.001 * (double)k);
}

/* Knuth's linear congruential generator of MMIX; its upper bits are the good ones. */
static int64_t draw(uint64_t *state, int64_t below)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int64_t)((*state >> 33) % (uint64_t)below);
}

int moe_draw(struct moe *m)
{
	int64_t all = m->ranks * m->experts, ntokens = m->ranks * m->tokens;
	int32_t *rows = calloc((size_t)all, sizeof(*rows));
	int32_t *card = calloc((size_t)all, sizeof(*card));
	uint64_t state = 1;
	int fits = 0;

	if (m->topk > all || m->slots * all < ntokens * m->topk)
		goto out;
	m->expert = calloc((size_t)(ntokens * m->topk), sizeof(*m->expert));
	for (int tried = 0; rows && card && m->expert && tried < DRAWS && !fits; tried++) {
		memset(rows, 0, (size_t)all * sizeof(*rows));
		fits = 1;
		for (int64_t t = 0; t < ntokens; t++) {
			for (int64_t i = 0; i < all; i++)
				card[i] = (int32_t)i;
			for (int64_t k = 0; k < m->topk; k++) { /* topk different cards */
				int64_t i = k + draw(&state, all - k);
				int32_t e = card[i];

				card[i] = card[k];
				m->expert[t * m->topk + k] = e;
				fits &= ++rows[e] <= m->slots;
			}
		}
	}
out:
	free(rows);
	free(card);
	return fits ? 0 : -1;
}

static int wrong(const struct moe *m, const char *what, int64_t i, int64_t j, double got,
		 double want)
{
	fprintf(stderr, "moe_dispatch: rank %d of %d: %s [%lld][%lld]: got %.9g, wanted %.9g\n",
		m->me, m->ranks, what, (long long)i, (long long)j, got, want);
	return 1;
}

/* The route of token t of rank r to my expert e, whose next row it is. */
static int check_row(const struct moe *m, const struct moe_results *got, int r, int64_t route,
		     int64_t e, int64_t slot)
{
	int64_t row = e * m->slots + slot, t = route / m->topk;
	const uint16_t *x = got->x + row * m->width;
	float w = moe_weight(r, t, route % m->topk);

	for (int64_t d = 0; d < m->width; d++)
		if (x[d] != moe_x(r, t, d))
			return wrong(m, "received x", row, d, from_bf16(x[d]),
				     from_bf16(moe_x(r, t, d)));
	if (got->weight[row] != w)
		return wrong(m, "received weight", row, 0, got->weight[row], w);
	if (got->from[row] != route)
		return wrong(m, "received route", row, 0, got->from[row], (double)route);
	return 0;
}

static int check_out(const struct moe *m, const float *out)
{
	for (int64_t t = 0; t < m->tokens; t++)
		for (int64_t d = 0; d < m->width; d++) {
			float x = from_bf16(moe_x(m->me, t, d)), sum = 0;

			for (int64_t k = 0; k < m->topk; k++)
				sum += from_bf16(to_bf16(x * moe_weight(m->me, t, k)));
			if (out[t * m->width + d] != sum)
				return wrong(m, "out", t, d, out[t * m->width + d], sum);
		}
	return 0;
}

int moe_check(const struct moe *m, const struct moe_results *got)
{
	int32_t *rows = calloc((size_t)m->experts, sizeof(*rows));
	int64_t routes = m->tokens * m->topk;
	int bad = !rows;

	/* In the order of source rank, token, k: that is the order of an expert's slots. */
	for (int r = 0; r < m->ranks && !bad; r++)
		for (int64_t route = 0; route < routes && !bad; route++) {
			int64_t e = m->expert[r * routes + route] - m->me * m->experts;

			if (e >= 0 && e < m->experts)
				bad = check_row(m, got, r, route, e, rows[e]++);
		}
	for (int64_t e = 0; e < m->experts && !bad; e++)
		if (got->rows[e] != rows[e])
			bad = wrong(m, "rows of expert", e, 0, got->rows[e], rows[e]);
	free(rows);
	return bad || check_out(m, got->out);
}
