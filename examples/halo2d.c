/*
 * Example: heat in a plate, a stencil in two dimensions.
 *
 * Each rank has a strip of rows.  A step makes each point from itself and its four neighbours, so a
 * rank needs the row above its strip and the row below: the halo, which the neighbours put there.
 *
 *	     rank r - 1  | last row |--.  .--> halo below
 *	                               |  |
 *	                 halo above <--'  '--| first row |   rank r
 *
 * One call sends a row and tells: pld_put with .signal.  There is no barrier in the loop: a rank
 * waits for its two neighbours only, until its cell for each counts a row for every step.
 *
 * Two copies of the strip, old and new, take turns.  Can a fast neighbour overwrite a halo row that
 * I still read?  Its row of step k + 2 goes where that of step k was.  It makes step k + 2 only
 * after it has my row of step k + 1, and I send that only after I have read the halo of step k.
 *
 * The edge of the plate keeps its temperature.  With fewer rows than ranks some have no rows; the
 * neighbour is then the next one that has.
 *
 * Cost:     two rows of 8 * columns bytes a rank and step, and as many waits
 * Run:      pldrun -n 4 ./halo2d --rows 500 --columns 700 --steps 100
 *           pldrun -n 4 ./halo2d plate.npy        (FP64, 2 dimensions: starts with this plate)
 * Prints:   a hash of the plate, the same for any number of ranks, and OK if each point has the
 *           bits that one rank alone computes.  --dump 1 writes the plate to halo2d.npy.
 */
#include <pld.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tutorials/common/npy.h"
#include "args.h"

enum { ABOVE, BELOW };

struct job {
	struct args *args;
	int64_t rows, columns, steps, dump; /* options; a file has its own size */
	int me, ranks;
	pl_tensor plate;     /* [rows, columns]: the start, then the result; one for all ranks */
	pld_tensor strip[2]; /* [halo, rows of a rank, halo][columns] */
	pld_tensor sent;     /* [2]: rows that came from above, from below */
};

/* The first row of a rank. */
static int64_t first(const struct job *j, int rank)
{
	return j->rows * rank / j->ranks;
}

static double *row(pl_tensor t, int64_t i)
{
	return (double *)pl_data(t) + i * pl_dim(t, 1);
}

/*
 * A new row from the old one; sums in this order.  The serial run uses it too: what is checked is
 * what the ranks tell each other, and tests/examples/halo.py checks the arithmetic.
 */
static void step_row(double *to, const double *above, const double *old, const double *below,
		     int64_t columns)
{
	to[0] = old[0];
	to[columns - 1] = old[columns - 1];
	for (int64_t c = 1; c < columns - 1; c++)
		to[c] = old[c] + 0.2 * (above[c] + below[c] + old[c - 1] + old[c + 1] - 4 * old[c]);
}

/* The next rank in direction by (-1, 1) that has rows; -1: the plate ends here. */
static int neighbour(const struct job *j, int by)
{
	int r = j->me + by;

	while (r >= 0 && r < j->ranks && first(j, r) == first(j, r + 1))
		r += by;
	return r < j->ranks ? r : -1;
}

/* My first and last row of `strip` to the neighbours' halos. */
static void send(const struct job *j, pld_tensor strip)
{
	int64_t n = first(j, j->me + 1) - first(j, j->me);
	int above = neighbour(j, -1), below = neighbour(j, 1);

	if (above >= 0)
		pld_put(strip, above, strip,
			.dst_offsets = PL_AT(first(j, above + 1) - first(j, above) + 1, 0),
			.src_offsets = PL_AT(1, 0), .shape = PL_SHAPE(1, j->columns),
			.signal = j->sent, .signal_at = PL_AT(BELOW));
	if (below >= 0)
		pld_put(strip, below, strip, .dst_offsets = PL_AT(0, 0), .src_offsets = PL_AT(n, 0),
			.shape = PL_SHAPE(1, j->columns), .signal = j->sent,
			.signal_at = PL_AT(ABOVE));
}

/* Until the halos of this step, the how manieth that are sent, are there. */
static void receive(const struct job *j, int64_t how_many)
{
	if (neighbour(j, -1) >= 0)
		pld_wait(j->sent, PL_AT(ABOVE), (int32_t)how_many, PLD_WAIT_GE);
	if (neighbour(j, 1) >= 0)
		pld_wait(j->sent, PL_AT(BELOW), (int32_t)how_many, PLD_WAIT_GE);
}

/* Each rank's strip of the plate, all steps, and back. */
static void run(struct job *j)
{
	int64_t from = first(j, j->me), n = first(j, j->me + 1) - from;
	pl_tensor mine;

	if (n == 0)
		return;
	mine = pl_slice(j->plate, PL_AT(from, 0), PL_SHAPE(n, j->columns));
	pl_copy(pl_slice(j->strip[0], PL_AT(1, 0), PL_SHAPE(n, j->columns)), mine);
	for (int64_t k = 0; k < j->steps; k++) {
		pl_tensor old = pld_local(j->strip[k % 2]), new = pld_local(j->strip[(k + 1) % 2]);

		send(j, j->strip[k % 2]);
		receive(j, k + 1);
		for (int64_t i = 1; i <= n; i++) {
			if (from + i - 1 == 0 || from + i - 1 == j->rows - 1)
				memcpy(row(new, i), row(old, i), (size_t)j->columns * 8);
			else
				step_row(row(new, i), row(old, i - 1), row(old, i), row(old, i + 1),
					 j->columns);
		}
	}
	pl_copy(mine, pl_slice(j->strip[j->steps % 2], PL_AT(1, 0), PL_SHAPE(n, j->columns)));
}

/* The whole plate at once: start becomes the result. */
static void run_alone(const struct job *j, pl_tensor start, pl_tensor other)
{
	for (int64_t k = 0; k < j->steps; k++) {
		memcpy(pl_data(other), pl_data(start), (size_t)pl_count(start) * 8);
		for (int64_t i = 1; i < j->rows - 1; i++)
			step_row(row(start, i), row(other, i - 1), row(other, i), row(other, i + 1),
				 j->columns);
	}
}

/* Rank 0.  Bits, so that -0 is not 0 and a NaN is itself. */
static int check(const struct job *j, pl_tensor want)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (int64_t i = 0; i < pl_count(want); i++) {
		double got = row(j->plate, 0)[i], w = row(want, 0)[i];
		uint64_t bits;

		if (memcmp(&got, &w, sizeof(got)) != 0) {
			fprintf(stderr, "halo2d: row %lld, column %lld: got %.17g, wanted %.17g\n",
				(long long)(i / j->columns), (long long)(i % j->columns), got, w);
			return 1;
		}
		memcpy(&bits, &got, sizeof(bits));
		hash = (hash ^ bits) * UINT64_C(1099511628211);
	}
	printf("%lld x %lld, %lld steps: %016llx\n", (long long)j->rows, (long long)j->columns,
	       (long long)j->steps, (unsigned long long)hash);
	return 0;
}

/* A cold plate with a hot upper edge, a warm left one and a heater in the middle. */
static void heat(const struct job *j)
{
	for (int64_t i = 0; i < j->rows; i++)
		for (int64_t c = 0; c < j->columns; c++)
			row(j->plate, i)[c] = i == 0   ? 100
					      : c == 0 ? 1.0 / (double)(i + 1)
					      : i == j->rows / 2 && c == j->columns / 2 ? 1000
											: 0;
}

/* Rank 0: the file's plate, and its size for all ranks. */
static void read_plate(struct job *j, struct npy *a)
{
	struct npy_error why;

	if (npy_read(j->args->file, a, &why))
		args_fail(j->args, "%s: %s", j->args->file, why.text);
	if (a->dtype != PL_FP64 || a->dims.n != 2 || a->count == 0)
		args_fail(j->args,
			  "%s: %s in %d dimensions, %lld elements; allowed: float64 in 2, "
			  "not empty",
			  j->args->file, npy_dtype_name(a->dtype), (int)a->dims.n,
			  (long long)a->count);
	j->rows = a->dims.d[0];
	j->columns = a->dims.d[1];
}

static void make(struct job *j)
{
	pld_tensor size = pld_new_window(PL_SHAPE(2), PL_INT64);
	struct npy a = { .data = NULL };
	int64_t *s = pl_data(pld_local(size)), most;

	if (j->me == 0 && j->args->file)
		read_plate(j, &a);
	s[0] = j->rows;
	s[1] = j->columns;
	pld_broadcast(size);
	j->rows = s[0];
	j->columns = s[1];
	j->plate = pld_host_tensor(PL_SHAPE(j->rows, j->columns), PL_FP64);
	if (a.data) {
		memcpy(pl_data(j->plate), a.data, (size_t)a.count * 8);
		npy_free(&a);
	} else if (j->me == 0) {
		heat(j);
	}
	most = (j->rows + j->ranks - 1) / j->ranks;
	for (int i = 0; i < 2; i++)
		j->strip[i] = pld_new_window(PL_SHAPE(most + 2, j->columns), PL_FP64);
	j->sent = pld_new_window(PL_SHAPE(2), PL_INT32);
	pld_barrier(pld_world()); /* the plate is there */
}

static int body(void *arg)
{
	struct job *j = arg;
	pl_tensor want = { 0 }, other = { 0 };
	struct npy_error why;
	int bad = 0, status;

	if (args_done(j->args, &status))
		return status;
	j->me = pld_rank(pld_world());
	j->ranks = pld_nranks(pld_world());
	make(j);
	if (j->me == 0) {
		pl_dims shape = *PL_SHAPE(j->rows, j->columns);
		void *two = malloc((size_t)pl_count(j->plate) * 16);

		if (!two)
			args_fail(j->args, "no memory for two plates");
		want = pl_wrap(two, &shape, PL_FP64);
		other = pl_wrap((char *)two + pl_count(j->plate) * 8, &shape, PL_FP64);
		pl_copy(want, j->plate);
	}
	pld_barrier(pld_world()); /* before the strips of others come back */
	run(j);
	pld_barrier(pld_world());
	if (j->me != 0)
		return 0;
	run_alone(j, want, other);
	bad = check(j, want);
	if (j->dump && npy_write("halo2d.npy", PL_FP64, PL_SHAPE(j->rows, j->columns),
				 pl_data(j->plate), &why))
		args_fail(j->args, "halo2d.npy: %s", why.text);
	free(pl_data(want));
	if (!bad)
		puts("OK");
	return bad;
}

int main(int argc, char **argv)
{
	struct job j = { .rows = 61, .columns = 47, .steps = 100 };
	const struct args_option options[] = {
		{ "--rows", "of the plate", &j.rows, 1, 1000000 },
		{ "--columns", "of the plate", &j.columns, 1, 1000000 },
		{ "--steps", "in time", &j.steps, 0, 1000000 },
		{ "--dump", "1: write the plate to halo2d.npy", &j.dump, 0, 1 },
		{ NULL, NULL, NULL, 0, 0 },
	};
	struct args args = { .program = "halo2d",
			     .file_help = "a plate to start with, float64 in 2 dimensions, .npy",
			     .options = options };

	j.args = &args;
	args_read(&args, argc, argv);
	return pld_run(&(struct pld_config)PLD_CONFIG(.default_ndevices = 4), body, &j);
}
