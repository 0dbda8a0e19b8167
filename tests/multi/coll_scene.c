/* coll_scene.c - running a scenario, and looking at what it left. */
#include "config.h"

#include <math.h>

#include "coll_scene.h"

/* ---- inputs and results ---------------------------------------------------------------------- */

double scene_ramp(const struct scene *g, int k, int r, int64_t i)
{
	(void)g;
	return 10000.0 * k + 100.0 * r + (double)i;
}

double scene_small(const struct scene *g, int k, int r, int64_t i)
{
	(void)g;
	(void)k;
	return 1 + 0.125 * r + 0.0625 * (double)(i % 5);
}

double scene_pairs(const struct scene *g, int k, int r, int64_t i)
{
	(void)g;
	return 100000.0 * k + 1000.0 * r + 100.0 * (double)(i / 64) + (double)(i % 64);
}

static double input(const struct scene *g, int k, int r, int64_t i)
{
	return g->row->input(g, k, r, i);
}

double scene_reduced(const struct scene *g, int r, int64_t i)
{
	int k;
	double v;

	(void)r;
	i = scene_at(g, i, &k);
	if (g->row->input == scene_ramp && g->row->op == PLD_SUM) /* in closed form */
		return g->n * (10000.0 * k + (double)i) + 50.0 * g->n * (g->n - 1);
	v = input(g, k, 0, i);
	for (int m = 1; m < g->n; m++) {
		const double x = input(g, k, m, i);

		switch (g->row->op) {
		case PLD_SUM:
			v += x;
			break;
		case PLD_PROD:
			v *= x;
			break;
		case PLD_MAX:
			v = x > v ? x : v;
			break;
		case PLD_MIN:
			v = x < v ? x : v;
			break;
		}
	}
	return v;
}

double scene_gathered(const struct scene *g, int r, int64_t i)
{
	int k;

	(void)r;
	i = scene_at(g, i, &k);
	return input(g, k, (int)(i / g->in_elems), i % g->in_elems);
}

double scene_root_0(const struct scene *g, int r, int64_t i)
{
	int k;

	(void)r;
	i = scene_at(g, i, &k);
	return input(g, k, 0, i);
}

double scene_next(const struct scene *g, int r, int64_t i)
{
	int k;

	i = scene_at(g, i, &k);
	return input(g, k, (r + 1) % g->n, i);
}

double scene_scattered(const struct scene *g, int r, int64_t i)
{
	int k;

	i = scene_at(g, i, &k);
	return g->n * (10000.0 * k + 64.0 * r + (double)i) + 50.0 * g->n * (g->n - 1);
}

double scene_exchanged(const struct scene *g, int r, int64_t i)
{
	int k;

	i = scene_at(g, i, &k);
	return input(g, k, (int)(i / 64), 64 * r + i % 64);
}

/* ---- running --------------------------------------------------------------------------------- */

static int64_t extent(int64_t n, int64_t d)
{
	if (d == SCENE_RING)
		return n > 1 ? 2 * (n - 1) : 1;
	if (d == SCENE_RINGS)
		return 2 * (n - 1) + 1;
	return d < 0 ? -d * n : d;
}

static pl_dims extents(const struct multi *m, pl_dims shape)
{
	for (int i = 0; i < shape.n; i++)
		shape.d[i] = extent(m->n, shape.d[i]);
	return shape;
}

static int64_t elements(const pl_dims *shape)
{
	int64_t n = 1;

	for (int i = 0; i < shape->n; i++)
		n *= shape->d[i];
	return n;
}

static pl_tensor new_slices(const struct scene *g, const pl_dims *slice)
{
	pl_dims shape = { slice->n + 2, { g->n, scene_rounds(g) } };

	memcpy(&shape.d[2], slice->d, sizeof(shape.d[0]) * (size_t)slice->n);
	return pld_host_tensor(&shape, g->row->dtype);
}

/* A slice of all rounds, element by element. */
static pl_tensor flat(const struct scene *g, pl_tensor t, int64_t elems)
{
	const size_t bytes = pl_dtype_bytes(g->row->dtype) * (size_t)(elems * scene_rounds(g));

	return pl_wrap((char *)pl_data(t) + bytes * (size_t)g->me,
		       PL_SHAPE(elems * scene_rounds(g)), g->row->dtype);
}

static void device(const struct scene *g)
{
	PLD_INCORE(g->row->kernel(g));
}

static void check_cells(const struct scene *g)
{
	const int32_t *cell = pl_data(pld_local(g->cells));

	pld_barrier(pld_world());
	for (int64_t i = 0; i < pl_count(pld_local(g->cells)); i++)
		expect_int(g->m, "cell", i, cell[i], 0);
}

static void host(struct scene *g)
{
	const struct scene_row *row = g->row;
	const pl_dims in = extents(g->m, row->in), out = extents(g->m, row->out);
	const pl_dims cells = extents(g->m, row->cells);

	g->a = pld_new_window(&in, row->dtype);
	g->b = pld_new_window(&out, row->dtype);
	g->more = pld_new_window(&out, row->dtype);
	g->cells = pld_new_window(&cells, PL_INT32);
	for (int r = 0; row->kernel && r < g->n; r++)
		PLD_DISPATCH(r, device(g));
	if (row->host)
		row->host(g);
	check_cells(g);
}

static void check_result(const struct scene *g)
{
	const pl_tensor y = flat(g, g->y, g->out_elems);
	const double most = g->row->tolerance;

	for (int64_t i = 0; i < pl_count(y); i++) {
		const double got = multi_read(y, PL_AT(i));
		double want = g->row->wanted(g, g->me, i);

		if (g->row->dtype == PL_FP16 && want >= 65520)
			want = INFINITY;
		if (!(got == want || fabs(got - want) <= most + most * fabs(want)))
			multi_fail(g->m, "y [%lld]: got %.9g, wanted %.9g", (long long)i, got,
				   want);
	}
}

void scene_run(const struct multi *m, const struct scene_row *row)
{
	const pl_dims in = extents(m, row->in), out = extents(m, row->out);
	struct scene g = { .row = row, .m = m, .n = m->n, .me = m->me };
	pl_tensor x;

	g.in_elems = elements(&in);
	g.out_elems = elements(&out);
	g.x = new_slices(&g, &in);
	g.y = new_slices(&g, &out);
	x = flat(&g, g.x, g.in_elems);
	for (int64_t i = 0; i < pl_count(x); i++) {
		const double v = row->input(&g, (int)(i / g.in_elems), m->me, i % g.in_elems);

		if (multi_is_float(row->dtype))
			pl_write(x, PL_AT(i), v);
		else
			pl_write(x, PL_AT(i), (int64_t)v);
	}
	expect_status(m, "PLD_HOST", PLD_HOST(host(&g)), PL_OK);
	check_result(&g);
	pld_host_free(g.y);
	pld_host_free(g.x);
}

void scene_run_all(const struct multi *m, const struct scene_row *rows, int n)
{
	for (int i = 0; i < n; i++) {
		struct multi row = *m;

		row.row = rows[i].name;
		scene_run(&row, &rows[i]);
	}
}
