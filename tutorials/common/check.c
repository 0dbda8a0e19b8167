/* check.c - a step's input, its result against the golden one, its cost against the formula. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "npy.h"

static int is_rank_0(void)
{
	return pld_rank(pld_world()) == 0;
}

static pl_dims dims_of(pl_tensor t)
{
	pl_dims d = { .n = pl_ndim(t) };

	for (int i = 0; i < pl_ndim(t); i++)
		d.d[i] = pl_dim(t, i);
	return d;
}

/* The next index of y in row-major order. */
static void step_index(pl_tensor y, pl_dims *at)
{
	for (int k = pl_ndim(y) - 1; k >= 0 && ++at->d[k] == pl_dim(y, k); k--)
		at->d[k] = 0;
}

static void fill_with_noise(pl_tensor x)
{
	int64_t slice = pl_dim(x, 0) ? pl_count(x) / pl_dim(x, 0) : 0;
	float *v = pl_data(x);

	for (int64_t r = 0; r < pl_dim(x, 0); r++)
		for (int64_t i = 0; i < slice; i++)
			*v++ = (float)((r * 7919 + i * 104729) % 2003 - 1001) / 256.0f;
}

static void fill_by(const struct tut *t, pl_tensor x, tut_value *formula)
{
	pl_dims at = { .n = pl_ndim(x) };
	float *v = pl_data(x);

	for (int64_t c = 0; c < pl_count(x); c++, step_index(x, &at))
		*v++ = (float)formula(t, at.d);
}

/* Ends the job: the other ranks would wait for an input that does not come. */
static void refuse(const struct tut *t, const char *file, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", t->step->name, file, why);
	pld_abort(2, NULL);
}

static void read_input(const struct tut *t, pl_tensor x)
{
	pl_dims need = dims_of(x);
	struct npy_shape has, wanted;
	struct npy_error why;
	char size[40] = "";
	struct npy a;

	if (npy_read(t->input, &a, &why)) {
		refuse(t, t->input, why.text);
		return;
	}
	if (a.dtype != PL_FP32 || a.dims.n != need.n ||
	    memcmp(a.dims.d, need.d, (size_t)need.n * sizeof(need.d[0]))) {
		if (t->step->size)
			snprintf(size, sizeof(size), ", with --size %lld", (long long)t->size);
		snprintf(why.text, sizeof(why.text),
			 "%s %s; allowed: %s %s, a row for each of the %d ranks%s",
			 npy_dtype_name(a.dtype), npy_shape_text(&a.dims, &has),
			 npy_dtype_name(PL_FP32), npy_shape_text(&need, &wanted),
			 pld_nranks(pld_world()), size);
		refuse(t, t->input, why.text);
	} else {
		memcpy(pl_data(x), a.data, (size_t)a.count * sizeof(float));
	}
	npy_free(&a);
}

pl_tensor tut_input_by(struct tut *t, const pl_dims *shape, tut_value *formula)
{
	t->x = pld_host_tensor(shape, PL_FP32);
	if (is_rank_0()) {
		if (t->input)
			read_input(t, t->x);
		else if (formula)
			fill_by(t, t->x, formula);
		else
			fill_with_noise(t->x);
	}
	return t->x;
}

pl_tensor tut_input(struct tut *t, const pl_dims *shape)
{
	return tut_input_by(t, shape, NULL);
}

static double element(pl_tensor y, const pl_dims *at)
{
	return pl_dtype_of(y) == PL_FP32 ? pl_read_float(y, at) : (double)pl_read_int(y, at);
}

/* "[2][0][17]" */
static const char *index_text(const pl_dims *at, char *s, size_t size)
{
	size_t n = 0;

	for (int k = 0; k < at->n; k++)
		n += (size_t)snprintf(s + n, size - n, "[%lld]", (long long)at->d[k]);
	return s;
}

/* All of y and of the golden, to be looked at as a whole; nothing when there is no room for it. */
static void explain_all(const struct tut *t, const char *name, pl_tensor y, tut_value *want,
			enum tut_how how)
{
	int64_t n = pl_dim(y, 0), count = pl_count(y), c = 0;
	double *got = malloc((size_t)count * sizeof(*got));
	double *wanted = malloc((size_t)count * sizeof(*wanted));
	struct explain e = { .step = t->step->name,
			     .name = name,
			     .dims = dims_of(y),
			     .len = count / n,
			     .got = got,
			     .want = wanted,
			     .how = how,
			     .repeat = t->repeat };

	if (!pl_is_null(t->x) && pl_dim(t->x, 0) == n) {
		e.x = pl_data(t->x);
		e.xlen = pl_count(t->x) / n;
		if (pl_ndim(t->x) > 2 && pl_dim(t->x, 1) == n)
			e.xrow = e.xlen / n;
	}
	if (got && wanted) {
		for (pl_dims at = { .n = pl_ndim(y) }; c < count; c++, step_index(y, &at)) {
			got[c] = element(y, &at);
			wanted[c] = want(t, at.d);
		}
		explain(&e, stderr);
	}
	free(got);
	free(wanted);
}

/* name: NULL, or which of the step's results. */
static int compare(const struct tut *t, const char *name, pl_tensor y, tut_value *want,
		   enum tut_how how)
{
	pl_dims at = { .n = pl_ndim(y) }, worst = at;
	double most = 0;
	int64_t wrong = 0;
	char s[PL_MAX_DIMS * 22];

	if (pl_dtype_of(y) != PL_FP32)
		how = TUT_EXACT;
	for (int64_t c = 0; c < pl_count(y); c++, step_index(y, &at)) {
		double off = explain_off_by(element(y, &at), want(t, at.d), how);

		wrong += off > 0;
		if (off > most) {
			most = off;
			worst = at;
		}
	}
	if (!wrong)
		return 0;
	fprintf(stderr,
		"%s: %s%s%s%s%sP = %d, rank %lld: maximum error %g at %s: got %.9g, wanted %.9g; "
		"%lld of %lld elements are wrong\n",
		t->step->name, t->mode ? "mode " : "", t->mode ? t->mode : "", t->mode ? ", " : "",
		name ? name : "", name ? ", " : "", pld_nranks(pld_world()), (long long)worst.d[0],
		most, index_text(&worst, s, sizeof(s)), element(y, &worst), want(t, worst.d),
		(long long)wrong, (long long)pl_count(y));
	explain_all(t, name, y, want, how);
	return 1;
}

int tut_check(struct tut *t, pl_tensor y, tut_value *want, enum tut_how how)
{
	pl_dims dims = dims_of(y);
	struct npy_error why;
	int failed;

	if (!is_rank_0())
		return 0;
	failed = compare(t, NULL, y, want, how);
	if (t->output && npy_write(t->output, pl_dtype_of(y), &dims, pl_data(y), &why)) {
		fprintf(stderr, "%s: %s: %s\n", t->step->name, t->output, why.text);
		failed = 1;
	}
	return failed;
}

int tut_check_too(struct tut *t, const char *name, pl_tensor y, tut_value *want, enum tut_how how)
{
	return is_rank_0() ? compare(t, name, y, want, how) : 0;
}

/* Rank 0: moved[r] is what the calls of rank r have moved since the job's start. */
static int report(const struct tut *t, pl_tensor moved, tut_bytes *formula)
{
	int n = pld_nranks(pld_world()), failed = 0;

	printf("cost: bytes moved by rank 0, 1, ..:");
	for (int r = 0; r < n; r++)
		printf(" %lld", (long long)(pl_read_int(moved, PL_AT(r)) / t->repeat));
	for (int r = 0; r < n && formula; r++)
		printf("%s %lld%s", r ? "" : " (formula:", (long long)formula(t, r),
		       r < n - 1 ? "" : ")");
	puts("");
	for (int r = 0; r < n && formula && !failed; r++) {
		const long long is = pl_read_int(moved, PL_AT(r));
		const long long wanted = formula(t, r) * t->repeat;

		if (is == wanted)
			continue;
		fprintf(stderr,
			"%s: %s%s%sP = %d, rank %d: its calls moved %lld bytes in %d uses of the "
			"kernel, wanted %lld\n",
			t->step->name, t->mode ? "mode " : "", t->mode ? t->mode : "",
			t->mode ? ", " : "", n, r, is, t->repeat, wanted);
		failed = 1;
	}
	return failed;
}

int tut_cost(struct tut *t, tut_bytes *formula)
{
	int me = pld_rank(pld_world()), failed = 0;
	struct pld_stats s;
	pl_tensor moved;

	pld_get_stats(&s); /* before the gathering, which is not the step's */
	moved = pld_host_tensor(PL_SHAPE(pld_nranks(pld_world())), PL_INT64);
	pl_write(moved, PL_AT(me), s.remote_bytes_read + s.remote_bytes_written);
	pld_barrier(pld_world());
	if (me == 0)
		failed = report(t, moved, formula);
	pld_host_free(moved);
	return failed;
}
