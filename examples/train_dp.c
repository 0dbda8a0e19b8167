/*
 * Example: data-parallel training.
 *
 * A network with one hidden layer learns to read digits.  All ranks have the same weights.  Each
 * computes the gradient over its part of the batch; the sum of the gradients, which is that of the
 * whole batch, is the only thing that ranks tell each other; then all take the same step.
 *
 *	             batch = rows of the file
 *	     rank 0 | rank 1 | rank 2 | rank 3
 *	        |        |        |        |       gradient of my rows, and their loss
 *	        +--------+---+----+--------+       pld_allreduce: the sum, on every rank
 *	        |        |        |        |       weights -= rate * sum
 *
 * An allreduce gives the same bits everywhere, so the weights stay the same without ever being
 * sent: after each epoch the ranks compare a hash of theirs.
 *
 * Cost:     per batch one allreduce of (weights + 1) FP64, 19 KiB by default
 * Run:      pldrun -n 4 ./train_dp digits.csv
 *           digits.csv: numbers with commas between, the last one of a line is its class.  The one
 *           here is from Debian's python3-sklearn; README.md says more.
 * Prints:   the loss of each epoch; accuracy on every sixth row, which is not trained on; how long
 *           it took; OK if the accuracy is what --least says and no rank ever disagreed.
 *           tests/examples/train.py computes the same losses with numpy.
 */
#define _POSIX_C_SOURCE 200809L
#include <pld.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "csv.h"
#include "net.h"

#define MOMENTUM 0.9

struct job {
	struct args *args;
	int64_t hidden, epochs, batch, permille, least; /* options */
	pl_tensor data;					/* [rows, inputs + 1], one for all ranks */
	struct net net;
	double *speed;	       /* [weights]: momentum of each */
	pld_tensor gradient;   /* [weights + 1], the last one is the loss */
	pld_tensor hash, hits; /* [ranks, 2] and [1] */
};

static const double *row_of(const struct job *j, int64_t row)
{
	return (const double *)pl_data(j->data) + row * (j->net.inputs + 1);
}

static int64_t class_of(const struct job *j, const double *x)
{
	return (int64_t)x[j->net.inputs];
}

/* The row that is number i of those trained on, or tested with: every sixth. */
static int64_t train_row(int64_t i)
{
	return i / 5 * 6 + i % 5;
}
static int64_t test_row(int64_t i)
{
	return i * 6 + 5;
}

/* One step on the training rows first .. first + n - 1; returns their loss. */
static double step(struct job *j, int64_t first, int64_t n)
{
	int me = pld_rank(pld_world()), ranks = pld_nranks(pld_world());
	double *g = pl_data(pld_local(j->gradient));
	double rate = (double)j->permille / 1000 / (double)n;

	memset(g, 0, (size_t)(j->net.weights + 1) * sizeof(*g));
	for (int64_t i = first + n * me / ranks; i < first + n * (me + 1) / ranks; i++) {
		const double *x = row_of(j, train_row(i));

		g[j->net.weights] += net_learn(&j->net, x, class_of(j, x), g);
	}
	pld_allreduce(j->gradient);
	for (int64_t k = 0; k < j->net.weights; k++) {
		j->speed[k] = MOMENTUM * j->speed[k] - rate * g[k];
		j->net.w[k] += j->speed[k];
	}
	return g[j->net.weights];
}

/* Bits of the loss and a hash of all weights (FNV-1a): 0 when every rank has the same ones. */
static int differ(struct job *j, double loss)
{
	const unsigned char *b = (const unsigned char *)j->net.w;
	uint64_t mine[2] = { 0, UINT64_C(14695981039346656037) };
	const uint64_t *all = pl_data(pld_local(j->hash));

	memcpy(&mine[0], &loss, sizeof(loss));
	for (size_t i = 0; i < (size_t)j->net.weights * sizeof(*j->net.w); i++)
		mine[1] = (mine[1] ^ b[i]) * UINT64_C(1099511628211);
	pld_allgather(pl_wrap(mine, PL_SHAPE(1, 2), PL_UINT64), j->hash);
	for (int r = 0; r < pld_nranks(pld_world()); r++)
		if (memcmp(all + 2 * r, mine, sizeof(mine)) != 0) {
			fprintf(stderr, "train_dp: ranks %d and %d have different weights\n",
				pld_rank(pld_world()), r);
			return 1;
		}
	return 0;
}

/* How many of the n test rows are recognised. */
static int64_t count_hits(struct job *j, int64_t n)
{
	int me = pld_rank(pld_world()), ranks = pld_nranks(pld_world());
	int64_t hits = 0;

	for (int64_t i = n * me / ranks; i < n * (me + 1) / ranks; i++) {
		const double *x = row_of(j, test_row(i));

		hits += net_guess(&j->net, x) == class_of(j, x);
	}
	pl_write(j->hits, PL_AT(0), hits);
	pld_allreduce(j->hits);
	return pl_read_int(j->hits, PL_AT(0));
}

static void make(struct job *j)
{
	j->data = csv_read(j->args, &j->net.classes);
	j->net.inputs = pl_dim(j->data, 1) - 1;
	j->net.hidden = j->hidden;
	if (net_make(&j->net) || !(j->speed = calloc((size_t)j->net.weights, sizeof(double))))
		args_fail(j->args, "no memory for %lld weights", (long long)j->net.weights);
	j->gradient = pld_new_window(PL_SHAPE(j->net.weights + 1), PL_FP64);
	j->hash = pld_new_window(PL_SHAPE(pld_nranks(pld_world()), 2), PL_UINT64);
	j->hits = pld_new_window(PL_SHAPE(1), PL_INT64);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int body(void *arg)
{
	struct job *j = arg;
	int64_t tests, trains, hits;
	int is_rank_0 = pld_rank(pld_world()) == 0, status;
	double start;

	if (args_done(j->args, &status))
		return status;
	make(j);
	tests = pl_dim(j->data, 0) / 6;
	trains = pl_dim(j->data, 0) - tests;
	start = now();
	for (int64_t e = 0; e < j->epochs; e++) {
		double loss = 0;

		for (int64_t i = 0; i < trains; i += j->batch)
			loss += step(j, i, trains - i < j->batch ? trains - i : j->batch);
		if (differ(j, loss))
			return 1;
		if (is_rank_0)
			printf("epoch %lld: loss %.17g\n", (long long)e + 1, loss / (double)trains);
	}
	start = now() - start;
	hits = count_hits(j, tests);
	net_free(&j->net);
	free(j->speed);
	if (!is_rank_0)
		return hits * 100 < tests * j->least;
	printf("accuracy %.1f %%: %lld of %lld; at least %lld %%\n",
	       100 * (double)hits / (double)(tests ? tests : 1), (long long)hits, (long long)tests,
	       (long long)j->least);
	printf("%.3f s of training on %d ranks\n", start, pld_nranks(pld_world()));
	puts(hits * 100 < tests * j->least ? "not learned" : "OK");
	return hits * 100 < tests * j->least;
}

int main(int argc, char **argv)
{
	struct job j = { .hidden = 32, .epochs = 30, .batch = 200, .permille = 300, .least = 95 };
	const struct args_option options[] = {
		{ "--hidden", "cells of the hidden layer", &j.hidden, 1, 10000 },
		{ "--epochs", "how often all rows are seen", &j.epochs, 0, 1000000 },
		{ "--batch", "rows of a step, of all ranks together", &j.batch, 1, 1000000 },
		{ "--rate", "how far a step goes, in thousandths", &j.permille, 1, 10000 },
		{ "--least", "accuracy that is enough, in percent", &j.least, 0, 100 },
		{ NULL, NULL, NULL, 0, 0 },
	};
	struct args args = { .program = "train_dp",
			     .file_help =
				     "numbers with commas between, the last of a line its class",
			     .file_needed = 1,
			     .options = options };

	j.args = &args;
	args_read(&args, argc, argv);
	return pld_run(&(struct pld_config)PLD_CONFIG(.default_ndevices = 4), body, &j);
}
