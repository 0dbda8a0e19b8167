/* net.h - the network of train_dp, on one rank: softmax(w2 tanh(w1 x + b1) + b2). */
#ifndef NET_H
#define NET_H

#include <stdint.h>

struct net {
	int64_t inputs, hidden, classes, weights;
	double *w;	    /* [weights]: w1 [inputs][hidden], b1, w2 [hidden][classes], b2 */
	double *h, *dh, *p; /* of one row: hidden layer, its gradient, probabilities */
};

/* Sets weights and makes the arrays; inputs, hidden and classes are given.  0, or -1: no memory. */
int net_make(struct net *n);
void net_free(struct net *n);

/* The class of a row that the network thinks it is. */
int64_t net_guess(struct net *n, const double *x);

/* Adds the gradient of a row of that class to g[0 .. weights - 1]; returns its loss. */
double net_learn(struct net *n, const double *x, int64_t class, double *g);

#endif
