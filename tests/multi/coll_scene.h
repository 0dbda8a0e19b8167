/*
 * coll_scene.h - the reference's scenarios of collectives: inputs and results are host tensors, a
 * slice for each rank; windows, signal and levels are set up around what a scenario does.
 */
#ifndef COLL_SCENE_H
#define COLL_SCENE_H

#include "multi.h"

#include <stdbool.h>

/* Extents: P, k P, 2 (P - 1) but at least 1, and 2 (P - 1) + 1, P being the number of ranks. */
enum { SCENE_P = -1, SCENE_RING = -1000, SCENE_RINGS = -1001 };
#define SCENE_TIMES_P(k) (-(k))

struct scene;

struct scene_row {
	const char *name;
	pl_dtype dtype;
	pl_dims in, out; /* of a rank's slice of x and of y, and of the windows a and b */
	pl_dims cells;
	/* Element i of rank r's input in round k. */
	double (*input)(const struct scene *g, int k, int r, int64_t i);
	/* On every device, in core; or, where there is none, what the host does. */
	void (*kernel)(const struct scene *g);
	void (*host)(struct scene *g);
	/* Element i of what rank r must have in y. */
	double (*wanted)(const struct scene *g, int r, int64_t i);
	double tolerance; /* relative and absolute; 0: equal */
	int rounds;	  /* x and y have that many slices a rank; 0: one */
	pld_op op;
	pld_mode mode;
	int number; /* whatever it needs to be told */
};

struct scene {
	const struct scene_row *row;
	const struct multi *m;
	int n, me;
	int64_t in_elems, out_elems; /* of a slice */
	pl_tensor x, y;		     /* [P, rounds, slice] */
	pld_tensor a, b, cells;
	pld_tensor more; /* of b's shape, for scenarios with a buffer a round */
};

/* Everything of a row, then: what is in y is as wanted, and all cells are 0. */
void scene_run(const struct multi *m, const struct scene_row *row);

/* Rows of a table, each by its name. */
void scene_run_all(const struct multi *m, const struct scene_row *rows, int n);

static inline int scene_rounds(const struct scene *g)
{
	return g->row->rounds ? g->row->rounds : 1;
}

/* The own slices of x and y for round k. */
static inline pl_tensor scene_x(const struct scene *g, int k)
{
	return pl_at(pl_at(g->x, g->me), k);
}
static inline pl_tensor scene_y(const struct scene *g, int k)
{
	return pl_at(pl_at(g->y, g->me), k);
}

/* ---- inputs of semantics 4 ------------------------------------------------------------------- */

/* 100 r + i, and 10000 more each round */
double scene_ramp(const struct scene *g, int k, int r, int64_t i);
/* 1 + r / 8 + (i % 5) / 16 */
double scene_small(const struct scene *g, int k, int r, int64_t i);
/* 1000 r + 100 d + j for element j of row d of 64, and 100000 more each round */
double scene_pairs(const struct scene *g, int k, int r, int64_t i);

/* ---- results --------------------------------------------------------------------------------- */

/* i counts on over the rounds.  What remains of it, and the round. */
static inline int64_t scene_at(const struct scene *g, int64_t i, int *k)
{
	*k = (int)(i / g->out_elems);
	return i % g->out_elems;
}

double scene_reduced(const struct scene *g, int r, int64_t i);	 /* by the row's op */
double scene_gathered(const struct scene *g, int r, int64_t i);	 /* slices in order */
double scene_root_0(const struct scene *g, int r, int64_t i);	 /* what rank 0 has */
double scene_next(const struct scene *g, int r, int64_t i);	 /* what r + 1 has */
double scene_scattered(const struct scene *g, int r, int64_t i); /* the sum of chunk r */
double scene_exchanged(const struct scene *g, int r, int64_t i); /* row r of all */

#endif
