/*
 * Example: mixture of experts, spread over ranks (expert parallelism).
 *
 * Every rank has tokens and experts.  Each token goes to its topk experts, wherever they are; an
 * expert scales the rows that it gets; the results go back and are summed up, token by token.
 *
 *	     tokens of rank r                      experts of rank d
 *	  1  count my routes for each expert
 *	  2  pub[me][d][e] += count ------------->  everybody's counts, on every rank
 *	  3  rows before mine: those of ranks s < me
 *	  4  x row, weight row, route ----------->  slot (rows before mine) + 0, 1, ..
 *	                                        5   out of the windows
 *	                                        6   y = bf16(x * weight)
 *	     routed[route] <-----------------------  7  put y back by its route
 *	  8  out[token] = sum of its topk rows
 *
 * Nobody asks for a slot: all know all counts, so all know where the rows of each rank begin, and
 * no two ranks write the same slot.  After 2, 4 and 7 a barrier, each on a signal of its own.
 *
 * Cost:     a rank puts tokens * topk rows out and about as many back: no more with more ranks
 * Run:      pldrun -n 4 ./moe_dispatch
 *           pldrun -n 4 ./moe_dispatch --tokens 128 --width 4096 --experts 16     (full size)
 * Prints:   OK, after each rank has compared all that it received, and its result, with a serial
 *           computation (moe_check.c), bit for bit
 */
#include <pld.h>
#include <stdio.h>
#include <stdlib.h>

#include "args.h"
#include "moe.h"

struct job {
	struct args *args;
	struct moe m;
	pld_tensor pub, recv_x, recv_weight, recv_route, routed, signal[3];
	pl_tensor x, weight, route;	      /* what I send, a row for each token or route */
	pl_tensor x_out, weight_out, from, y; /* what my experts got and made, a row a slot */
	pl_tensor out;			      /* a row for each of my tokens */
	int32_t *count;			      /* [ranks * experts]: my routes to it */
	int32_t *before;		      /* [ranks * experts]: rows of ranks before me */
	int32_t *rows;			      /* [experts]: rows that my experts get */
	void *mine[11];			      /* all that is private, to free it */
	int nmine;
};

static pl_tensor private(struct job *j, int64_t rows, int64_t columns, pl_dtype dtype)
{
	void *data = calloc((size_t)(rows * columns), pl_dtype_bytes(dtype));

	if (!data)
		args_fail(j->args, "no memory for %lld x %lld %s", (long long)rows,
			  (long long)columns, pl_dtype_name(dtype));
	j->mine[j->nmine++] = data;
	return pl_wrap(data, PL_SHAPE(rows, columns), dtype);
}

static void make(struct job *j)
{
	const struct moe *m = &j->m;
	int64_t all = m->ranks * m->experts, routes = m->tokens * m->topk;
	int64_t slots = m->experts * m->slots;

	j->pub = pld_new_window(PL_SHAPE(m->ranks * m->ranks, m->experts), PL_INT32);
	j->recv_x = pld_new_window(PL_SHAPE(slots, m->width), PL_BF16);
	j->recv_weight = pld_new_window(PL_SHAPE(slots, MOE_PAD), PL_FP32);
	j->recv_route = pld_new_window(PL_SHAPE(slots, MOE_PAD), PL_INT32);
	j->routed = pld_new_window(PL_SHAPE(routes, m->width), PL_BF16);
	for (int i = 0; i < 3; i++)
		j->signal[i] = pld_new_window(PL_SHAPE(m->ranks, 1), PL_INT32);
	j->x = private(j, m->tokens, m->width, PL_BF16);
	j->weight = private(j, routes, MOE_PAD, PL_FP32);
	j->route = private(j, routes, MOE_PAD, PL_INT32);
	j->x_out = private(j, slots, m->width, PL_BF16);
	j->weight_out = private(j, slots, 1, PL_FP32);
	j->from = private(j, slots, 1, PL_INT32);
	j->y = private(j, slots, m->width, PL_BF16);
	j->out = private(j, m->tokens, m->width, PL_FP32);
	j->count = pl_data(private(j, all, 1, PL_INT32));
	j->before = pl_data(private(j, all, 1, PL_INT32));
	j->rows = pl_data(private(j, m->experts, 1, PL_INT32));
}

static void fill(struct job *j)
{
	const struct moe *m = &j->m;
	uint16_t *x = pl_data(j->x);

	for (int64_t t = 0; t < m->tokens; t++)
		for (int64_t d = 0; d < m->width; d++)
			*x++ = moe_x(m->me, t, d);
	for (int64_t r = 0; r < m->tokens * m->topk; r++) {
		pl_write(j->weight, PL_AT(r, 0), moe_weight(m->me, r / m->topk, r % m->topk));
		pl_write(j->route, PL_AT(r, 0), r);
	}
}

/* The experts of my routes. */
static const int32_t *chosen(const struct moe *m)
{
	return m->expert + m->me * m->tokens * m->topk;
}

/* Routes of rank src to expert e of rank dst: everybody's, after step 2. */
static int32_t published(const struct job *j, int src, int dst, int64_t e)
{
	const int32_t *pub = pl_data(pld_local(j->pub));

	return pub[(src * (int64_t)j->m.ranks + dst) * j->m.experts + e];
}

/* Steps 1 and 2 */
static void publish(struct job *j)
{
	const struct moe *m = &j->m;
	pl_tensor counts = pl_wrap(j->count, PL_SHAPE(m->ranks, m->experts), PL_INT32);

	for (int64_t r = 0; r < m->tokens * m->topk; r++)
		j->count[chosen(m)[r]]++;
	for (int peer = 0; peer < m->ranks; peer++)
		pld_put(j->pub, peer, counts, .dst_offsets = PL_AT(m->me * m->ranks, 0),
			.src_offsets = PL_AT(0, 0), .shape = PL_SHAPE(m->ranks, m->experts),
			.atomic = PLD_ATOMIC_ADD);
	pld_barrier(j->signal[0]);
}

/* Step 3 */
static void place(struct job *j)
{
	const struct moe *m = &j->m;

	for (int src = 0; src < m->ranks; src++)
		for (int64_t e = 0; e < m->experts; e++) {
			j->rows[e] += published(j, src, m->me, e);
			for (int dst = 0; src < m->me && dst < m->ranks; dst++)
				j->before[dst * m->experts + e] += published(j, src, dst, e);
		}
}

/* Row `from` of src into row `to` of peer's dst. */
static void put_row(pld_tensor dst, int peer, int64_t to, pl_tensor src, int64_t from)
{
	pld_put(dst, peer, src, .dst_offsets = PL_AT(to, 0), .src_offsets = PL_AT(from, 0),
		.shape = PL_SHAPE(1, pl_dim(src, 1)));
}

/* Step 4; before[] becomes each expert's cursor. */
static void dispatch(struct job *j)
{
	const struct moe *m = &j->m;

	for (int64_t r = 0; r < m->tokens * m->topk; r++) {
		int32_t expert = chosen(m)[r];
		int peer = (int)(expert / m->experts);
		int64_t row = expert % m->experts * m->slots + j->before[expert]++;

		put_row(j->recv_x, peer, row, j->x, r / m->topk);
		put_row(j->recv_weight, peer, row, j->weight, r);
		put_row(j->recv_route, peer, row, j->route, r);
	}
	pld_barrier(j->signal[1]);
}

/* Steps 5 and 6 of one row; the padding of a weight is zero. */
static void expert(struct job *j, int64_t row)
{
	double w = 0;

	for (int c = 0; c < MOE_PAD; c++)
		w += pl_read_float(j->recv_weight, PL_AT(row, c));
	pl_write(j->weight_out, PL_AT(row, 0), w);
	pl_write(j->from, PL_AT(row, 0), pl_read_int(j->recv_route, PL_AT(row, 0)));
	PL_SCOPE {
		pl_tile x = pl_load(j->recv_x, PL_AT(row, 0), PL_SHAPE(1, j->m.width));

		pl_store(x, PL_AT(row, 0), j->x_out);
		pl_store(pl_cast(pl_mul(pl_cast(x, PL_FP32), w), PL_BF16), PL_AT(row, 0), j->y);
	}
}

/* Step 7: the rows of an expert lie as the source ranks come, published() many of each. */
static void combine(struct job *j)
{
	const struct moe *m = &j->m;

	for (int64_t e = 0; e < m->experts; e++) {
		int64_t row = e * m->slots;

		for (int src = 0; src < m->ranks; src++)
			for (int32_t i = 0; i < published(j, src, m->me, e); i++, row++)
				put_row(j->routed, src, pl_read_int(j->from, PL_AT(row, 0)), j->y,
					row);
	}
	pld_barrier(j->signal[2]);
}

/* Step 8 for one token, k ascending. */
static void sum(struct job *j, int64_t token)
{
	PL_SCOPE {
		pl_tile acc = pl_full(PL_SHAPE(1, j->m.width), PL_FP32, 0);

		for (int64_t k = 0; k < j->m.topk; k++) {
			pl_tile y = pl_load(j->routed, PL_AT(token * j->m.topk + k, 0),
					    PL_SHAPE(1, j->m.width));

			acc = pl_add(acc, pl_cast(y, PL_FP32));
		}
		pl_store(acc, PL_AT(token, 0), j->out);
	}
}

static int body(void *arg)
{
	struct job *j = arg;
	struct moe *m = &j->m;
	struct moe_results got;
	pld_tensor bad;
	int status;

	if (args_done(j->args, &status))
		return status;
	m->me = pld_rank(pld_world());
	m->ranks = pld_nranks(pld_world());
	if (m->slots == 0) /* four times the average */
		m->slots = (4 * m->tokens * m->topk + m->experts - 1) / m->experts;
	if (moe_draw(m) && m->me == 0)
		args_fail(
			j->args,
			"%d ranks, %lld tokens to %lld experts each: no such choice for %lld "
			"experts of %lld slots; allowed: --topk up to all experts, --slots enough",
			m->ranks, (long long)m->tokens, (long long)m->topk,
			(long long)(m->ranks * m->experts), (long long)m->slots);
	pld_barrier(pld_world()); /* whoever has failed waits here for the end */
	make(j);
	fill(j);

	publish(j);
	place(j);
	dispatch(j);
	for (int64_t e = 0; e < m->experts; e++)
		for (int32_t i = 0; i < j->rows[e]; i++)
			expert(j, e * m->slots + i);
	combine(j);
	for (int64_t t = 0; t < m->tokens; t++)
		sum(j, t);

	got = (struct moe_results){ j->rows, pl_data(j->x_out), pl_data(j->weight_out),
				    pl_data(j->from), pl_data(j->out) };
	bad = pld_new_window(PL_SHAPE(1), PL_INT32);
	pl_write(bad, PL_AT(0), moe_check(m, &got));
	pld_allreduce(bad, .op = PLD_MAX);
	while (j->nmine)
		free(j->mine[--j->nmine]);
	free(m->expert);
	if (m->me == 0 && !pl_read_int(bad, PL_AT(0)))
		puts("OK");
	return (int)pl_read_int(bad, PL_AT(0));
}

int main(int argc, char **argv)
{
	struct job j = { .m = { .tokens = 32, .topk = 6, .width = 256, .experts = 8 } };
	const struct args_option options[] = {
		{ "--tokens", "tokens of a rank", &j.m.tokens, 1, 1 << 20 },
		{ "--topk", "experts that a token goes to", &j.m.topk, 1, 64 },
		{ "--width", "elements of a token", &j.m.width, 1, 1 << 20 },
		{ "--experts", "experts of a rank", &j.m.experts, 1, 4096 },
		{ "--slots", "rows an expert has room for, 0: 4 times the average", &j.m.slots, 0,
		  1 << 20 },
		{ NULL, NULL, NULL, 0, 0 },
	};
	struct args args = { .program = "moe_dispatch", .options = options };

	j.args = &args;
	args_read(&args, argc, argv);
	return pld_run(&(struct pld_config)PLD_CONFIG(.default_ndevices = 4), body, &j);
}
