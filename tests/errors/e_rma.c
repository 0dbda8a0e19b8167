/* e_rma.c - wrong arguments of put, get, remote_load, remote_store; not a byte moves. */
#include "config.h"

#include "errors.h"

#define FILL 77

struct newer_put {
	struct pld_put_opts known;
	int64_t unknown;
};
struct newer_get {
	struct pld_get_opts known;
	int64_t unknown;
};

/* What the rows use. */
struct stage {
	pld_tensor w;	  /* (2, 8) of INT32 */
	pld_tensor f;	  /* (2, 8) of FP32 */
	pld_tensor sig;	  /* (4) of INT32 */
	pld_tensor apart; /* (4) of INT32, of a domain with the same ranks */
	int32_t mine[16];
	int n, last; /* last: of the ranks, '@' of texts */
};

static void peers(const struct stage *s, pl_tensor x, pl_tile tile)
{
	const int far[] = { -1, s->n, INT32_MAX, INT32_MIN };
	char text[80];

	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		snprintf(text, sizeof(text), "peer %d; the window's domain has ranks 0 to %d",
			 far[i], s->last);
		FAILS(pld_put(s->w, far[i], x), PL_EINVAL, "pld_put", text);
		FAILS(pld_get(x, far[i], s->w), PL_EINVAL, "pld_get", text);
		FAILS(pld_remote_load(s->w, far[i], PL_AT(0, 0), PL_SHAPE(1, 1)), PL_EINVAL,
		      "pld_remote_load", text);
		FAILS(pld_remote_store(tile, s->w, far[i], PL_AT(0, 0)), PL_EINVAL,
		      "pld_remote_store", text);
	}
}

static void shapes_and_dtypes(const struct stage *s, pl_tensor x)
{
	FAILS(pld_put(s->f, 0, x), PL_EINVAL, "pld_put", "src is INT32, dst is FP32");
	FAILS(pld_get(x, 0, s->f), PL_EINVAL, "pld_get", "src is FP32, dst is INT32");
	FAILS(pld_put(s->w, 0, pl_at(x, 0)), PL_EINVAL, "pld_put",
	      "src has shape (8), dst (2, 8); both need as many dimensions");
	FAILS(pld_put(s->w, 0, pl_at(x, 0), .dst_offsets = PL_AT(0, 0), .src_offsets = PL_AT(0),
		      .shape = PL_SHAPE(1, 8)),
	      PL_EINVAL, "pld_put", "src has shape (8), dst (2, 8); both need as many dimensions");
	FAILS(pld_put(s->w, 0, pl_slice(x, PL_AT(0, 0), PL_SHAPE(2, 7))), PL_EINVAL, "pld_put",
	      "src has shape (2, 7), dst (2, 8); without .shape and offsets they must be equal");
	FAILS(pld_get(pl_slice(x, PL_AT(0, 0), PL_SHAPE(1, 8)), 0, s->w), PL_EINVAL, "pld_get",
	      "src has shape (2, 8), dst (1, 8); without .shape and offsets they must be equal");
}

static void put_boxes(const struct stage *s, pl_tensor x)
{
	FAILS(pld_put(s->w, 0, x, .dst_offsets = PL_AT(0, 0)), PL_EINVAL, "pld_put",
	      ".dst_offsets given; allowed: all of .dst_offsets, .src_offsets, .shape, or none");
	FAILS(pld_put(s->w, 0, x, .src_offsets = PL_AT(0, 0), .shape = PL_SHAPE(1, 1)), PL_EINVAL,
	      "pld_put",
	      ".src_offsets .shape given; allowed: all of .dst_offsets, .src_offsets, .shape, or "
	      "none");
	FAILS(pld_put(s->w, 0, x, .dst_offsets = PL_AT(0, 8), .src_offsets = PL_AT(0, 0),
		      .shape = PL_SHAPE(1, 1)),
	      PL_EINVAL, "pld_put",
	      "dst: .dst_offsets, .shape: box of shape (1, 1) at (0, 8) outside shape (2, 8)");
	FAILS(pld_put(s->w, 0, x, .dst_offsets = PL_AT(0, 0), .src_offsets = PL_AT(1, 0),
		      .shape = PL_SHAPE(2, 1)),
	      PL_EINVAL, "pld_put",
	      "src: .src_offsets, .shape: box of shape (2, 1) at (1, 0) outside shape (2, 8)");
	FAILS(pld_put(s->w, 0, x, .dst_offsets = PL_AT(0, -1), .src_offsets = PL_AT(0, 0),
		      .shape = PL_SHAPE(1, 1)),
	      PL_EINVAL, "pld_put",
	      "dst: .dst_offsets, .shape: box of shape (1, 1) at (0, -1) outside shape (2, 8)");
	FAILS(pld_put(s->w, 0, x, .dst_offsets = PL_AT(0, 0), .src_offsets = PL_AT(0, 0),
		      .shape = PL_SHAPE(-1, 1)),
	      PL_EINVAL, "pld_put",
	      "dst: .dst_offsets, .shape: shape (-1, 1) has a negative extent");
	FAILS(pld_put(s->w, 0, x, .dst_offsets = PL_AT(0), .src_offsets = PL_AT(0, 0),
		      .shape = PL_SHAPE(1, 1)),
	      PL_EINVAL, "pld_put",
	      "dst: .dst_offsets, .shape: index (0) has 1 dimension, shape (2, 8) has 2");
	FAILS(pld_put(s->w, 0, x, .dst_offsets = PL_AT(0, 0), .src_offsets = PL_AT(0, 0),
		      .shape = PL_SHAPE(INT64_MAX, INT64_MAX)),
	      PL_EINVAL, "pld_put",
	      "dst: .dst_offsets, .shape: box of shape (9223372036854775807, "
	      "9223372036854775807) at (0, 0) outside shape (2, 8)");
	FAILS(pld_put(s->w, 0, x, .dst_offsets = PL_AT(1, INT64_MAX), .src_offsets = PL_AT(0, 0),
		      .shape = PL_SHAPE(1, 1)),
	      PL_EINVAL, "pld_put",
	      "dst: .dst_offsets, .shape: box of shape (1, 1) at (1, 9223372036854775807) "
	      "outside shape (2, 8)");
}

static void get_boxes(const struct stage *s, pl_tensor x)
{
	FAILS(pld_get(x, 0, s->w, .dst_offsets = PL_AT(0, 0), .src_offsets = PL_AT(0, 0)),
	      PL_EINVAL, "pld_get",
	      ".dst_offsets .src_offsets given; allowed: all of .dst_offsets, .src_offsets, "
	      ".shape, or none");
	FAILS(pld_get(x, 0, s->w, .dst_offsets = PL_AT(0, 0), .src_offsets = PL_AT(2, 0),
		      .shape = PL_SHAPE(1, 1)),
	      PL_EINVAL, "pld_get",
	      "src: .src_offsets, .shape: box of shape (1, 1) at (2, 0) outside shape (2, 8)");
	FAILS(pld_get(x, 0, s->w, .dst_offsets = PL_AT(0, 4), .src_offsets = PL_AT(0, 0),
		      .shape = PL_SHAPE(1, 5)),
	      PL_EINVAL, "pld_get",
	      "dst: .dst_offsets, .shape: box of shape (1, 5) at (0, 4) outside shape (2, 8)");
}

static void chunks_and_enums(const struct stage *s, pl_tensor x)
{
	FAILS(pld_put(s->w, 0, x, .chunk_rows = -1), PL_EINVAL, "pld_put",
	      "chunks of -1 rows and 0 columns; allowed: 0 (all) and more");
	FAILS(pld_get(x, 0, s->w, .chunk_cols = -4), PL_EINVAL, "pld_get",
	      "chunks of 0 rows and -4 columns; allowed: 0 (all) and more");
	FAILS(pld_put(s->w, 0, x, .pipeline = PLD_PIPELINE_ON), PL_EINVAL, "pld_put",
	      "PLD_PIPELINE_ON with chunks of 0 rows and 0 columns; it needs both");
	FAILS(pld_put(s->w, 0, x, .pipeline = PLD_PIPELINE_ON, .chunk_rows = 1), PL_EINVAL,
	      "pld_put", "PLD_PIPELINE_ON with chunks of 1 rows and 0 columns; it needs both");
	FAILS(pld_get(x, 0, s->w, .pipeline = PLD_PIPELINE_ON, .chunk_cols = 1), PL_EINVAL,
	      "pld_get", "PLD_PIPELINE_ON with chunks of 0 rows and 1 columns; it needs both");
	FAILS(pld_put(s->w, 0, x, .pipeline = (pld_pipeline)2), PL_EINVAL, "pld_put",
	      "pipeline is 2; allowed: PLD_PIPELINE_AUTO (0), PLD_PIPELINE_ON (1)");
	FAILS(pld_get(x, 0, s->w, .pipeline = (pld_pipeline)-1), PL_EINVAL, "pld_get",
	      "pipeline is -1; allowed: PLD_PIPELINE_AUTO (0), PLD_PIPELINE_ON (1)");
	FAILS(pld_put(s->w, 0, x, .atomic = (pld_atomic)2), PL_EINVAL, "pld_put",
	      "atomic is 2; allowed: PLD_ATOMIC_NONE (0), PLD_ATOMIC_ADD (1)");
}

/* From the own slice to the own slice. */
static void overlaps(const struct stage *s, int me)
{
	FAILS(pld_put(s->w, me, s->w), PL_EINVAL, "pld_put",
	      "dst and src overlap: shape (2, 8) at * and at *, peer is the caller");
	FAILS(pld_get(s->w, me, s->w), PL_EINVAL, "pld_get",
	      "dst and src overlap: shape (2, 8) at * and at *, peer is the caller");
	FAILS(pld_put(s->w, me, s->w, .dst_offsets = PL_AT(0, 2), .src_offsets = PL_AT(0, 0),
		      .shape = PL_SHAPE(2, 3), .atomic = PLD_ATOMIC_ADD),
	      PL_EINVAL, "pld_put",
	      "dst and src overlap: shape (2, 3) at * and at *, peer is the caller");
	FAILS(pld_get(pl_slice(s->w, PL_AT(0, 0), PL_SHAPE(2, 4)), me, s->w,
		      .dst_offsets = PL_AT(0, 0), .src_offsets = PL_AT(0, 3),
		      .shape = PL_SHAPE(2, 4)),
	      PL_EINVAL, "pld_get",
	      "dst and src overlap: shape (2, 4) at * and at *, peer is the caller");
	/* side by side, whose addresses from the first to the last interleave; and nothing */
	WORKS(pld_put(s->w, me, s->w, .dst_offsets = PL_AT(0, 4), .src_offsets = PL_AT(0, 0),
		      .shape = PL_SHAPE(2, 4)));
	WORKS(pld_get(s->w, me, s->w, .dst_offsets = PL_AT(0, 0), .src_offsets = PL_AT(1, 0),
		      .shape = PL_SHAPE(1, 8)));
	WORKS(pld_put(s->w, me, s->w, .dst_offsets = PL_AT(0, 0), .src_offsets = PL_AT(0, 0),
		      .shape = PL_SHAPE(0, 8)));
}

static void fused_signal(const struct stage *s, pl_tensor x)
{
	FAILS(pld_put(s->w, 0, x, .signal = s->f, .signal_at = PL_AT(0, 0)), PL_EINVAL, "pld_put",
	      "the signal is a window of FP32; a signal has INT32");
	FAILS(pld_put(s->w, 0, x, .signal = s->sig), PL_EINVAL, "pld_put",
	      ".signal_at: no index given");
	FAILS(pld_put(s->w, 0, x, .signal = s->sig, .signal_at = PL_AT(4)), PL_EINVAL, "pld_put",
	      ".signal_at: index (4) outside shape (4)");
	FAILS(pld_put(s->w, 0, x, .signal = s->sig, .signal_at = PL_AT(0, 0)), PL_EINVAL, "pld_put",
	      ".signal_at: index (0, 0) has 2 dimensions, shape (4) has 1");
	FAILS(pld_put(s->w, 0, x, .signal = s->sig, .signal_at = PL_AT(0),
		      .signal_op = (pld_notify_op)2),
	      PL_EINVAL, "pld_put", "op is 2; allowed: PLD_NOTIFY_ADD (0), PLD_NOTIFY_SET (1)");
	FAILS(pld_put(s->w, 0, x, .signal = s->apart, .signal_at = PL_AT(0)), PL_EINVAL, "pld_put",
	      ".signal is a window of another domain than dst: its peers have other numbers");
}

static void options(const struct stage *s, pl_tensor x)
{
	struct newer_put put = { { .size_ = sizeof(put) }, 9 };
	struct newer_get get = { { .size_ = sizeof(get) }, 9 };

	FAILS((pld_put)(s->w, 0, x, &(struct pld_put_opts){ .chunk_rows = 1 }, PL_WHERE), PL_EINVAL,
	      "pld_put",
	      "options without their size: size_ is 0; use the macro pld_put(..), or set size_ "
	      "to the struct's size");
	FAILS((pld_get)(x, 0, s->w, &(struct pld_get_opts){ .size_ = 7 }, PL_WHERE), PL_EINVAL,
	      "pld_get",
	      "options without their size: size_ is 7; use the macro pld_get(..), or set size_ "
	      "to the struct's size");
	FAILS((pld_put)(s->w, 0, x, &put.known, PL_WHERE), PL_EINVAL, "pld_put",
	      "options of * bytes with a value at byte *, this library knows *: the program is "
	      "newer than the library");
	FAILS((pld_get)(x, 0, s->w, &get.known, PL_WHERE), PL_EINVAL, "pld_get",
	      "options of * bytes with a value at byte *, this library knows *: the program is "
	      "newer than the library");
}

static void tiles(const struct stage *s, pl_tile tile)
{
	pl_tile half = pl_full(PL_SHAPE(1, 4), PL_FP16, 1);

	FAILS(pld_remote_load(s->w, 0, PL_AT(0, 5), PL_SHAPE(1, 4)), PL_EINVAL, "pld_remote_load",
	      "window: box of shape (1, 4) at (0, 5) outside shape (2, 8)");
	FAILS(pld_remote_load(s->w, 0, PL_AT(0), PL_SHAPE(4)), PL_EINVAL, "pld_remote_load",
	      "window: index (0) has 1 dimension, shape (2, 8) has 2");
	FAILS(pld_remote_load(s->w, 0, NULL, PL_SHAPE(1, 4)), PL_EINVAL, "pld_remote_load",
	      "window: no index given");
	FAILS(pld_remote_load(s->w, 0, PL_AT(0, 0), PL_SHAPE(1, -4)), PL_EINVAL, "pld_remote_load",
	      "window: shape (1, -4) has a negative extent");
	FAILS(pld_remote_load(s->w, 0, PL_AT(0, 9), PL_SHAPE(1, 4), .valid_shape = PL_SHAPE(1, 1)),
	      PL_EINVAL, "pld_remote_load",
	      "window: box of shape (1, 4) at (0, 9) outside shape (2, 8)");
	FAILS(pld_remote_load(s->w, 0, PL_AT(0, 0), PL_SHAPE(1, 4), .valid_shape = PL_SHAPE(-1, 1)),
	      PL_EINVAL, "pld_remote_load", "window: valid shape (-1, 1) has a negative extent");
	FAILS(pld_remote_store(half, s->w, 0, PL_AT(0, 0)), PL_EINVAL, "pld_remote_store",
	      "a tile of FP16 into a window of INT32; pl_cast converts");
	FAILS(pld_remote_store(tile, s->w, 0, PL_AT(1, 5)), PL_EINVAL, "pld_remote_store",
	      "window: box of shape (1, 4) at (1, 5) outside shape (2, 8)");
	FAILS(pld_remote_store(tile, s->sig, 0, PL_AT(0)), PL_EINVAL, "pld_remote_store",
	      "window: shape (1, 4) has 2 dimensions, shape (4) has 1");
	FAILS(pld_remote_store(tile, s->w, 0, PL_AT(0, 0), .atomic = (pld_atomic)-1), PL_EINVAL,
	      "pld_remote_store", "atomic is -1; allowed: PLD_ATOMIC_NONE (0), PLD_ATOMIC_ADD (1)");
	PL_SCOPE {
		tile = pl_full(PL_SHAPE(1, 4), PL_INT32, 1);
	}
	FAILS(pld_remote_store(tile, s->w, 0, PL_AT(0, 0)), PL_EINVAL, "pld_remote_store",
	      "tile is a tile whose scope has ended, or another thread's; pl_assign carries a "
	      "result out of a scope");
}

static void rows(int me, int n)
{
	pld_ctx other = pld_domain_split(pld_world(), 0, 0);
	struct stage s = { .n = n,
			   .last = n - 1,
			   .w = pld_new_window(PL_SHAPE(2, 8), PL_INT32),
			   .f = pld_new_window(PL_SHAPE(2, 8), PL_FP32),
			   .sig = pld_new_window(PL_SHAPE(4), PL_INT32),
			   .apart = pld_new_window(PL_SHAPE(4), PL_INT32, .domain = other) };
	pl_tensor x = pl_wrap(s.mine, PL_SHAPE(2, 8), PL_INT32);

	for (int i = 0; i < 16; i++)
		pl_write(s.w, PL_AT(i / 8, i % 8), FILL);
	pld_barrier(pld_world());
	PL_SCOPE {
		pl_tile tile = pl_full(PL_SHAPE(1, 4), PL_INT32, 5);

		peers(&s, x, tile);
		tiles(&s, tile);
	}
	shapes_and_dtypes(&s, x);
	put_boxes(&s, x);
	get_boxes(&s, x);
	chunks_and_enums(&s, x);
	overlaps(&s, me);
	fused_signal(&s, x);
	options(&s, x);
	pld_barrier(pld_world());
	for (int i = 0; i < 16; i++)
		HOLDS(pl_read_int(s.w, PL_AT(i / 8, i % 8)) == FILL && s.mine[i] == 0);
	for (int i = 0; i < 4; i++)
		HOLDS(pl_read_int(s.sig, PL_AT(i)) == 0 && pl_read_int(s.apart, PL_AT(i)) == 0);
	WORKS(pld_free_window(s.apart));
	WORKS(pld_domain_free(other));
}

int main(void)
{
	return errors_main(rows);
}
