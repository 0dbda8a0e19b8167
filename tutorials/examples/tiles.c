/*
 * Example: computing on one rank.
 *
 * Read after: step 02.
 * Shows:    tensors over your own memory (pl_wrap), boxes of them (pl_slice), tiles in every
 *           dtype, loops whose last tile is only partly filled (valid_shape), and how a result
 *           outlives the tiles that made it (PL_SCOPE, pl_assign).
 * Run:      ./tiles
 * Prints:   OK
 */
#include <pld.h>
#include <stdio.h>

#define ROWS 3
#define COLS 10
#define WIDTH 4 /* of a tile: 10 columns are two full tiles and half a one */

/* Largest element of each column block, clipped to 0 .. 20, halved, as INT8. */
static void clip(pl_tensor x, pl_tensor y)
{
	pl_tile most = pl_full(PL_SHAPE(ROWS, WIDTH), PL_FP32, -1000);

	for (int64_t c = 0; c < COLS; c += WIDTH)
		PL_SCOPE { /* tiles made in here end with each turn; most was made outside */
			pl_tile t = pl_load(x, PL_AT(0, c), PL_SHAPE(ROWS, WIDTH),
					    .valid_shape = PL_SHAPE(ROWS, COLS - c));
			pl_tile low = pl_sub(pl_min(pl_max(t, 0), 20), 1);

			/* The valid part only: of the last tile two columns, not four. */
			pl_store(pl_cast(pl_mul(low, 0.5), PL_INT8), PL_AT(0, c), y);
			if (c + WIDTH <= COLS)
				pl_assign(most, pl_max(most, t));
		}
	pl_store(most, PL_AT(0, 0), pl_slice(x, PL_AT(0, 0), PL_SHAPE(ROWS, WIDTH)));
}

/* What every one of the dtypes holds of 3.25 after a cast and back. */
static int round_trip(void)
{
	static const pl_dtype kinds[] = { PL_FP64,  PL_FP16,  PL_BF16,	 PL_INT16,  PL_INT32,
					  PL_INT64, PL_UINT8, PL_UINT16, PL_UINT32, PL_UINT64 };
	int bad = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		PL_SCOPE {
			float back[1] = { 0 };
			pl_tile t = pl_cast(pl_full(PL_SHAPE(1), PL_FP32, 3.25), kinds[i]);
			int floats = kinds[i] == PL_FP64 || kinds[i] == PL_FP16 ||
				     kinds[i] == PL_BF16;

			pl_store(pl_cast(t, PL_FP32), PL_AT(0),
				 pl_wrap(back, PL_SHAPE(1), PL_FP32));
			if (back[0] != (floats ? 3.25f : 3.0f)) {
				printf("%s, %zu bytes: %g\n", pl_dtype_name(kinds[i]),
				       pl_dtype_bytes(kinds[i]), (double)back[0]);
				bad = 1;
			}
		}
	return bad;
}

static int body(void *arg)
{
	float x[ROWS][COLS], copy[ROWS][COLS];
	int8_t y[ROWS][COLS];
	pl_tensor tx = pl_wrap(x, PL_SHAPE(ROWS, COLS), PL_FP32);
	pl_tensor tcopy = pl_wrap(copy, PL_SHAPE(ROWS, COLS), PL_FP32);
	pl_tensor ty = pl_wrap(y, PL_SHAPE(ROWS, COLS), PL_INT8);
	int bad = pl_is_null(tx) || pl_count(tx) != ROWS * COLS || pl_dtype_of(ty) != PL_INT8 ||
		  pl_ndim(tx) != 2 || pl_data(tx) != x;

	(void)arg;
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLS; j++)
			pl_write(tx, PL_AT(i, j), 10.0 * i + j - 5);
	pl_copy(tcopy, tx);
	clip(tx, ty);
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLS; j++) {
			double v = copy[i][j] < 0 ? 0 : copy[i][j] > 20 ? 20 : copy[i][j];

			bad |= pl_read_int(ty, PL_AT(i, j)) != (int8_t)((v - 1) * 0.5);
		}
	/* The largest of columns j and j + 4 is the latter. */
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < WIDTH; j++)
			bad |= x[i][j] != copy[i][j + WIDTH];
	bad |= round_trip();
	if (bad)
		puts("wrong");
	else if (pld_rank(pld_world()) == 0)
		puts("OK");
	return bad;
}

int main(void)
{
	return pld_run(NULL, body, NULL);
}
