/* net.c - the network of train_dp, on one rank. */
#include "net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the parts of w begin. */
static int64_t at_b1(const struct net *n)
{
	return n->inputs * n->hidden;
}
static int64_t at_w2(const struct net *n)
{
	return at_b1(n) + n->hidden;
}
static int64_t at_b2(const struct net *n)
{
	return at_w2(n) + n->hidden * n->classes;
}

/* Weights from -1 to 1, divided by the root of how many are summed up; biases 0. */
int net_make(struct net *n)
{
	uint64_t s = 1;

	n->weights = at_b2(n) + n->classes;
	n->w = calloc((size_t)n->weights, sizeof(*n->w));
	n->h = calloc((size_t)n->hidden, sizeof(*n->h));
	n->dh = calloc((size_t)n->hidden, sizeof(*n->dh));
	n->p = calloc((size_t)n->classes, sizeof(*n->p));
	if (!n->w || !n->h || !n->dh || !n->p)
		return -1;
	for (int64_t k = 0; k < at_b2(n); k++) {
		double fan = sqrt((double)(k < at_b1(n) ? n->inputs : n->hidden));

		if (k >= at_b1(n) && k < at_w2(n))
			continue;
		s = s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); /* MMIX */
		n->w[k] = ((double)(s >> 11) / 4503599627370496.0 - 1) / fan;	       /* 2^52 */
	}
	return 0;
}

void net_free(struct net *n)
{
	free(n->w);
	free(n->h);
	free(n->dh);
	free(n->p);
}

/* Into h and p. */
static void forward(struct net *n, const double *x)
{
	const double *w2 = n->w + at_w2(n);
	double most, sum = 0;

	memcpy(n->h, n->w + at_b1(n), (size_t)n->hidden * sizeof(double));
	for (int64_t i = 0; i < n->inputs; i++)
		for (int64_t k = 0; k < n->hidden; k++)
			n->h[k] += x[i] * n->w[i * n->hidden + k];
	memcpy(n->p, n->w + at_b2(n), (size_t)n->classes * sizeof(double));
	for (int64_t k = 0; k < n->hidden; k++) {
		n->h[k] = tanh(n->h[k]);
		for (int64_t c = 0; c < n->classes; c++)
			n->p[c] += n->h[k] * w2[k * n->classes + c];
	}
	most = n->p[0];
	for (int64_t c = 1; c < n->classes; c++)
		most = n->p[c] > most ? n->p[c] : most;
	for (int64_t c = 0; c < n->classes; c++)
		sum += n->p[c] = exp(n->p[c] - most);
	for (int64_t c = 0; c < n->classes; c++)
		n->p[c] /= sum;
}

int64_t net_guess(struct net *n, const double *x)
{
	int64_t best = 0;

	forward(n, x);
	for (int64_t c = 1; c < n->classes; c++)
		best = n->p[c] > n->p[best] ? c : best;
	return best;
}

double net_learn(struct net *n, const double *x, int64_t class, double *g)
{
	const double *w2 = n->w + at_w2(n);
	double loss;

	forward(n, x);
	loss = -log(n->p[class]);
	n->p[class] -= 1; /* now the gradient of the loss by the output */
	for (int64_t k = 0; k < n->hidden; k++) {
		double sum = 0;

		for (int64_t c = 0; c < n->classes; c++) {
			g[at_w2(n) + k * n->classes + c] += n->h[k] * n->p[c];
			sum += w2[k * n->classes + c] * n->p[c];
		}
		n->dh[k] = sum * (1 - n->h[k] * n->h[k]);
		g[at_b1(n) + k] += n->dh[k];
	}
	for (int64_t c = 0; c < n->classes; c++)
		g[at_b2(n) + c] += n->p[c];
	for (int64_t i = 0; i < n->inputs; i++)
		for (int64_t k = 0; k < n->hidden; k++)
			g[i * n->hidden + k] += x[i] * n->dh[k];
	return loss;
}
