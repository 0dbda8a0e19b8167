/*
 * boxes.c - put, get, remote_load and remote_store of random boxes, byte for byte.
 *
 * A round: every rank fills its slice, moves one box to or from the rank `shift` further on, and
 * compares all bytes of its slice (and of what it pulled) with a serial model.  A round's plan
 * follows from (round, rank), so each rank knows what was done to its slice and with what data.
 * Windows have 1 to 6 dimensions and any dtype, local tensors any order, gaps and signs of strides.
 */
#include "config.h"

#include "multi.h"
#include "pldi_tensor.h"

#define BYTES 12000	  /* of a slice: the largest view and the largest offset */
#define SPARE_BYTES 20000 /* of one in the sparse region */
#define LOCAL_BYTES (1 << 20)
#define ROUNDS 400

enum op { PUT, GET, REMOTE_LOAD, REMOTE_STORE, OPS };
static const char *const op_names[] = { "put", "get", "remote_load", "remote_store" };

struct plan {
	enum op op;
	pl_dtype dtype;
	int64_t elem_bytes, offset_bytes;
	pl_dims window, at, shape; /* the view; the box in it */
	pl_dims local, from;	   /* the local tensor; the box in it */
	int64_t stride[PL_MAX_DIMS], first, local_elems;
	int whole; /* no boxes given */
	int chunk_rows, chunk_cols;
	pld_pipeline pipeline;
};

/* ---- plans ----------------------------------------------------------------------------------- */

/* A box of the window, and a larger local shape that holds it. */
static void plan_box(struct plan *p, uint64_t *random)
{
	static const int64_t most[] = { 0, 300, 24, 9, 6, 4, 3 };
	int n = 1 + (int)multi_pick(random, 6);

	p->window.n = p->at.n = p->shape.n = p->local.n = p->from.n = n;
	p->whole = multi_pick(random, 4) == 0;
	for (int i = 0; i < n; i++) {
		int64_t dim = multi_pick(random, 20) ? 1 + multi_pick(random, most[n]) : 0;
		int64_t extent = multi_pick(random, 3) ? 1 + multi_pick(random, dim + 1) : dim;

		if (extent > dim || p->whole)
			extent = dim;
		p->window.d[i] = dim;
		p->shape.d[i] = extent;
		p->at.d[i] = p->whole ? 0 : multi_pick(random, dim - extent + 1);
		p->from.d[i] = p->whole ? 0 : multi_pick(random, 3);
		p->local.d[i] = p->from.d[i] + extent + (p->whole ? 0 : multi_pick(random, 3));
	}
}

/* Strides: dimensions nested in any order, with gaps, forwards or backwards; or packed. */
static void plan_strides(struct plan *p, uint64_t *random)
{
	int n = (int)p->local.n, order[PL_MAX_DIMS], packed = multi_pick(random, 2) == 0;
	int64_t step = 1;

	for (int i = 0; i < n; i++)
		order[i] = n - 1 - i;
	for (int i = n - 1; !packed && i > 0; i--) {
		int k = (int)multi_pick(random, i + 1), kept = order[i];

		order[i] = order[k];
		order[k] = kept;
	}
	p->first = 0;
	for (int i = 0; i < n; i++) {
		int dim = order[i];
		int64_t extent = p->local.d[dim] ? p->local.d[dim] : 1;

		if (!packed && multi_pick(random, 3) == 0)
			step += multi_pick(random, 3);
		p->stride[dim] = step;
		if (!packed && multi_pick(random, 4) == 0) {
			p->stride[dim] = -step;
			p->first += step * (extent - 1);
		}
		step *= extent;
	}
	p->local_elems = step;
}

static struct plan plan_of(int round, int rank)
{
	uint64_t random = multi_seed(11, (uint64_t)round, (uint64_t)rank);
	struct plan p = { .op = (enum op)multi_pick(&random, OPS),
			  .dtype = multi_dtypes[multi_pick(&random, MULTI_DTYPES)] };

	p.elem_bytes = (int64_t)pl_dtype_bytes(p.dtype);
	p.offset_bytes = multi_pick(&random, 100) * p.elem_bytes;
	do {
		plan_box(&p, &random);
		plan_strides(&p, &random);
	} while (p.local_elems * p.elem_bytes > LOCAL_BYTES);
	if (multi_pick(&random, 2)) {
		p.chunk_rows = (int)multi_pick(&random, 12);
		p.chunk_cols = (int)multi_pick(&random, 12);
		if (p.chunk_rows && p.chunk_cols)
			p.pipeline = (pld_pipeline)multi_pick(&random, 2);
	}
	return p;
}

/* ---- the serial model ------------------------------------------------------------------------ */

/* What memory holds before a round. */
static void fill(char *to, size_t bytes, uint64_t what, int round, int rank)
{
	uint64_t random = multi_seed(what, (uint64_t)round, (uint64_t)rank);

	for (size_t i = 0; i < bytes; i++)
		to[i] = (char)multi_random(&random);
}

/* Moves the box between a slice and local memory, element by element. */
static void model(const struct plan *p, char *slice, char *local, int to_slice)
{
	int n = (int)p->window.n;
	int64_t count = 1;

	for (int i = 0; i < n; i++)
		count *= p->shape.d[i];
	for (int64_t k = 0; k < count; k++) {
		int64_t rest = k, row_major = 1, in_slice = 0, in_local = p->first;
		char *s, *l;

		for (int i = n - 1; i >= 0; i--) {
			int64_t index = rest % p->shape.d[i];

			rest /= p->shape.d[i];
			in_slice += (p->at.d[i] + index) * row_major;
			row_major *= p->window.d[i];
			in_local += (p->from.d[i] + index) * p->stride[i];
		}
		s = slice + p->offset_bytes + in_slice * p->elem_bytes;
		l = local + in_local * p->elem_bytes;
		memcpy(to_slice ? s : l, to_slice ? l : s, (size_t)p->elem_bytes);
	}
}

/* ---- the calls ------------------------------------------------------------------------------- */

static pl_tensor local_tensor(const struct plan *p, char *memory)
{
	return (pl_tensor){ memory + p->first * p->elem_bytes,
			    pldi_layout_strided(p->dtype, &p->local, p->stride, "test", PL_WHERE) };
}

static void call(const struct plan *p, pld_tensor w, int peer, pl_tensor local)
{
	switch (p->op) {
	case PUT:
		if (p->whole)
			pld_put(w, peer, local, .chunk_rows = p->chunk_rows,
				.chunk_cols = p->chunk_cols, .pipeline = p->pipeline);
		else
			pld_put(w, peer, local, .dst_offsets = &p->at, .src_offsets = &p->from,
				.shape = &p->shape, .chunk_rows = p->chunk_rows,
				.chunk_cols = p->chunk_cols, .pipeline = p->pipeline);
		break;
	case GET:
		if (p->whole)
			pld_get(local, peer, w, .chunk_rows = p->chunk_rows,
				.chunk_cols = p->chunk_cols, .pipeline = p->pipeline);
		else
			pld_get(local, peer, w, .dst_offsets = &p->from, .src_offsets = &p->at,
				.shape = &p->shape, .chunk_rows = p->chunk_rows,
				.chunk_cols = p->chunk_cols, .pipeline = p->pipeline);
		break;
	case REMOTE_LOAD:
		PL_SCOPE {
			pl_store(pld_remote_load(w, peer, &p->at, &p->shape), &p->from, local);
		}
		break;
	default:
		PL_SCOPE {
			pld_remote_store(pl_load(local, &p->from, &p->shape), w, peer, &p->at);
		}
	}
}

static void play(const struct multi *m, int round, pld_buffer buffer, char *own, size_t bytes,
		 char *scratch[3])
{
	uint64_t common = multi_seed(12, (uint64_t)round, 0);
	int shift = (int)multi_pick(&common, m->n), peer = (m->me + shift) % m->n;
	int other = (m->me + m->n - shift) % m->n; /* who works on my slice */
	struct plan p = plan_of(round, m->me), theirs = plan_of(round, other);
	size_t local_bytes = (size_t)(p.local_elems * p.elem_bytes);
	char *slice = scratch[0], *local = scratch[1], *wanted = scratch[2], what[64];

	fill(own, bytes, 21, round, m->me);
	fill(local, local_bytes, 22, round, m->me);
	memcpy(wanted, local, local_bytes);
	pld_barrier(pld_world());
	call(&p, pld_window(buffer, &p.window, p.dtype, .offset_bytes = p.offset_bytes), peer,
	     local_tensor(&p, local));
	if (p.op == GET || p.op == REMOTE_LOAD) {
		fill(slice, bytes, 21, round, peer);
		model(&p, slice, wanted, 0);
	}
	snprintf(what, sizeof(what), "round %d: local memory after %s", round, op_names[p.op]);
	expect_bytes(m, what, local, wanted, local_bytes);
	pld_barrier(pld_world());

	fill(slice, bytes, 21, round, m->me);
	if (theirs.op == PUT || theirs.op == REMOTE_STORE) {
		fill(local, (size_t)(theirs.local_elems * theirs.elem_bytes), 22, round, other);
		model(&theirs, slice, local, 1);
	}
	snprintf(what, sizeof(what), "round %d: slice after %s by rank %d", round,
		 op_names[theirs.op], other);
	expect_bytes(m, what, own, slice, bytes);
}

static void rounds(const struct multi *m, int first, size_t bytes)
{
	pld_buffer buffer = pld_alloc_window_buffer(.bytes = (int64_t)bytes);
	char *own = pld_ptr(pld_window(buffer, PL_SHAPE(1), PL_INT8), m->me);
	char *scratch[3];

	for (int i = 0; i < 3; i++)
		scratch[i] = malloc(LOCAL_BYTES);
	for (int round = first; round < first + ROUNDS; round++)
		play(m, round, buffer, own, bytes, scratch);
	for (int i = 0; i < 3; i++)
		free(scratch[i]);
	pld_free_window_buffer(buffer);
}

static void dense(const struct multi *m)
{
	rounds(m, 0, BYTES);
}

static void sparse(const struct multi *m)
{
	rounds(m, ROUNDS, SPARE_BYTES);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "small buffer", dense, 0 },
		{ "large buffer", sparse, 0 },
	};

	return multi_run("boxes", cases, ROWS(cases));
}
