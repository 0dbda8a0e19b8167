/* e_memory.c - wrong arguments of the calls that make, view and free shared memory. */
#include "config.h"

#include "errors.h"

#define BUFFER "pld_alloc_window_buffer"

/* An options struct of a program that is newer than the library. */
struct newer_alloc {
	struct pld_alloc_args known;
	int64_t unknown; /* no padding behind it */
};
struct newer_window {
	struct pld_window_opts known;
	int64_t unknown; /* no padding behind it */
};

static pld_buffer alloc_newer(int unknown, const char *where)
{
	const struct newer_alloc a = { { .where_ = where, .bytes = 64, .size_ = sizeof(a) },
				       unknown };

	return (pld_alloc_window_buffer)(&a.known);
}

static void alloc_arguments(void)
{
	FAILS(pld_alloc_window_buffer(.bytes = -1), PL_EINVAL, BUFFER, "-1 bytes");
	FAILS(pld_alloc_window_buffer(.dtype = PL_FP32), PL_EINVAL, BUFFER,
	      "dtype FP32 without a shape; allowed: shape and dtype, or .bytes alone");
	FAILS(pld_alloc_window_buffer(PL_SHAPE(4, 4), PL_FP32, .bytes = 64), PL_EINVAL, BUFFER,
	      "a shape and 64 bytes; allowed: shape and dtype, or .bytes alone");
	FAILS(pld_alloc_window_buffer(PL_SHAPE(4)), PL_EINVAL, BUFFER, "dtype 0 is no pl_dtype");
	FAILS(pld_alloc_window_buffer(PL_SHAPE(4), (pl_dtype)5), PL_EINVAL, BUFFER,
	      "dtype 5 is no pl_dtype");
	FAILS(pld_alloc_window_buffer(PL_SHAPE(4, -1), PL_FP32), PL_EINVAL, BUFFER,
	      "shape (4, -1) has a negative extent");
	FAILS(pld_alloc_window_buffer(PL_SHAPE(1LL << 32, 1LL << 32), PL_FP32), PL_EINVAL, BUFFER,
	      "shape (4294967296, 4294967296) of FP32 has more than INT64_MAX bytes");
	FAILS(pld_alloc_window_buffer(.bytes = 64, .keep = (pld_keep)2), PL_EINVAL, BUFFER,
	      "keep is 2; allowed: PLD_KEEP_HOST, PLD_KEEP_JOB");
	FAILS((pld_alloc_window_buffer)(&(struct pld_alloc_args){ .where_ = PL_WHERE,
								  .bytes = 64 }),
	      PL_EINVAL, BUFFER,
	      "options without their size: size_ is 0; use the macro "
	      "pld_alloc_window_buffer(..), or set size_ to the struct's size");
	FAILS(alloc_newer(1, PL_WHERE), PL_EINVAL, BUFFER,
	      "options of * bytes with a value at byte *, this library knows *: the program is "
	      "newer than the library");
	WORKS(pld_free_window_buffer(alloc_newer(0, PL_WHERE)));
}

static void new_window_arguments(void)
{
	FAILS(pld_new_window(.bytes = 64), PL_EINVAL, "pld_new_window",
	      "no shape; 64 bytes alone make a buffer (pld_alloc_window_buffer), not a window");
	FAILS(pld_new_window(PL_SHAPE(1, 1, 1, 1, 1, 1, 1), PL_INT8), PL_EINVAL, "pld_new_window",
	      "7 dimensions; a window has 1 to 6");
	FAILS(pld_new_window(PL_SHAPE(4), PL_INT8, .keep = (pld_keep)-1), PL_EINVAL,
	      "pld_new_window", "keep is -1; allowed: PLD_KEEP_HOST, PLD_KEEP_JOB");
	FAILS(pld_new_window(&(pl_dims){ 0, { 0 } }, PL_INT8), PL_EINVAL, "pld_new_window",
	      "a shape of 0 dimensions, 1 to 7 are allowed");
	FAILS((pld_new_window)(&(struct pld_alloc_args){ .where_ = PL_WHERE, .size_ = 8 }),
	      PL_EINVAL, "pld_new_window",
	      "options without their size: size_ is 8; use the macro pld_new_window(..), or set "
	      "size_ to the struct's size");
}

static void window_arguments(pld_buffer b)
{
	struct newer_window newer = { { .size_ = sizeof(newer) }, 7 };

	FAILS(pld_window(b, PL_SHAPE(1, 1, 1, 1, 1, 1, 1), PL_INT8), PL_EINVAL, "pld_window",
	      "7 dimensions; a window has 1 to 6");
	FAILS(pld_window(b, PL_SHAPE(4), PL_FP32, .offset_bytes = -4), PL_EINVAL, "pld_window",
	      "offset of -4 bytes is not a multiple >= 0 of the 4 of an element");
	FAILS(pld_window(b, PL_SHAPE(4), PL_FP32, .offset_bytes = 6), PL_EINVAL, "pld_window",
	      "offset of 6 bytes is not a multiple >= 0 of the 4 of an element");
	FAILS(pld_window(b, PL_SHAPE(17), PL_FP32), PL_EINVAL, "pld_window",
	      "a view of 68 bytes at byte 0 of a buffer of 64 bytes");
	FAILS(pld_window(b, PL_SHAPE(4, 4), PL_FP32, .offset_bytes = 4), PL_EINVAL, "pld_window",
	      "a view of 64 bytes at byte 4 of a buffer of 64 bytes");
	FAILS(pld_window(b, PL_SHAPE(0), PL_FP32, .offset_bytes = 68), PL_EINVAL, "pld_window",
	      "a view of 0 bytes at byte 68 of a buffer of 64 bytes");
	FAILS(pld_window(b, PL_SHAPE(1), PL_FP64, .offset_bytes = INT64_MAX - 7), PL_EINVAL,
	      "pld_window",
	      "a view of 8 bytes at byte 9223372036854775800 of a buffer of 64 bytes");
	FAILS(pld_window(b, PL_SHAPE(4), (pl_dtype)99), PL_EINVAL, "pld_window",
	      "dtype 99 is no pl_dtype");
	FAILS(pld_window(b, NULL, PL_FP32), PL_EINVAL, "pld_window",
	      "a shape of 0 dimensions, 1 to 7 are allowed");
	FAILS((pld_window)(b, PL_SHAPE(4), PL_FP32, &(struct pld_window_opts){ 0 }, PL_WHERE),
	      PL_EINVAL, "pld_window",
	      "options without their size: size_ is 0; use the macro pld_window(..), or set "
	      "size_ to the struct's size");
	FAILS((pld_window)(b, PL_SHAPE(4), PL_FP32, &newer.known, PL_WHERE), PL_EINVAL,
	      "pld_window",
	      "options of * bytes with a value at byte *, this library knows *: the program is "
	      "newer than the library");
	newer.unknown = 0;
	WORKS((pld_window)(b, PL_SHAPE(4), PL_FP32, &newer.known, PL_WHERE));
	WORKS(pld_window(b, PL_SHAPE(0), PL_FP32, .offset_bytes = 64));
}

static void view_arguments(pld_tensor w)
{
	pld_tensor row = pl_at(w, 0);

	FAILS(pl_at(w, 2), PL_EINVAL, "pl_at", "index 2 of 2");
	FAILS(pl_at(w, -1), PL_EINVAL, "pl_at", "index -1 of 2");
	FAILS(pl_at(row, 0), PL_EINVAL, "pl_at", "a tensor of 1 dimension; at least 2");
	FAILS(pl_slice(w, PL_AT(0, 1), PL_SHAPE(1, 8)), PL_EINVAL, "pl_slice",
	      "tensor: box of shape (1, 8) at (0, 1) outside shape (2, 8)");
	FAILS(pl_slice(w, PL_AT(0), PL_SHAPE(1, 8)), PL_EINVAL, "pl_slice",
	      "tensor: index (0) has 1 dimension, shape (2, 8) has 2");
	FAILS(pl_slice(w, PL_AT(0, 0), NULL), PL_EINVAL, "pl_slice", "tensor: no shape given");
	FAILS(pl_slice(w, PL_AT(0, 0), PL_SHAPE(1, -1)), PL_EINVAL, "pl_slice",
	      "tensor: shape (1, -1) has a negative extent");
}

static void host_arguments(void)
{
	int32_t mine[4];
	pl_tensor t = pld_host_tensor(PL_SHAPE(2, 2), PL_INT32);

	FAILS(pld_host_tensor(PL_SHAPE(4), (pl_dtype)0), PL_EINVAL, "pld_host_tensor",
	      "dtype 0 is no pl_dtype");
	FAILS(pld_host_tensor(PL_SHAPE(-4), PL_INT32), PL_EINVAL, "pld_host_tensor",
	      "shape (-4) has a negative extent");
	FAILS(pld_host_free(pl_wrap(mine, PL_SHAPE(4), PL_INT32)), PL_EINVAL, "pld_host_free",
	      "the tensor is not what pld_host_tensor returned, or has been freed");
	FAILS(pld_host_free(pl_at(t, 1)), PL_EINVAL, "pld_host_free",
	      "the tensor is not what pld_host_tensor returned, or has been freed");
	WORKS(pld_host_free(t));
	FAILS(pld_host_free(t), PL_EINVAL, "pld_host_free",
	      "the tensor is not what pld_host_tensor returned, or has been freed");
}

/* Buffers and views once they are freed. */
static void freed(void)
{
	pld_buffer b = pld_alloc_window_buffer(.bytes = 64);
	pld_tensor v = pld_window(b, PL_SHAPE(2, 8), PL_INT32), row = pl_at(v, 1);
	pld_tensor part = pl_slice(v, PL_AT(0, 0), PL_SHAPE(2, 2));
	pl_tile tile;

	place(PL_WHERE), pld_free_window_buffer(b);
	FAILS(pld_free_window_buffer(b), PL_EINVAL, "pld_free_window_buffer",
	      "the buffer was freed at @");
	FAILS(pld_window(b, PL_SHAPE(4), PL_INT8), PL_EINVAL, "pld_window",
	      "the buffer was freed at @");
	FAILS(pld_free_window(v), PL_EINVAL, "pld_free_window", "window: window freed at @");
	FAILS(pld_free_window(row), PL_EINVAL, "pld_free_window", "window: window freed at @");
	FAILS(pld_all(v), PL_EINVAL, "pld_all", "window: window freed at @");
	FAILS(pl_at(v, 0), PL_EINVAL, "pl_at", "tensor: window freed at @");
	FAILS(pl_slice(v, PL_AT(0), PL_SHAPE(1)), PL_EINVAL, "pl_slice",
	      "tensor: window freed at @");
	FAILS(pld_put(part, 0, part), PL_EINVAL, "pld_put", "dst: window freed at @");
	FAILS(pld_get(part, 0, part), PL_EINVAL, "pld_get", "src: window freed at @");
	FAILS(pld_notify(v, 0, PL_AT(0, 0), 1, PLD_NOTIFY_ADD), PL_EINVAL, "pld_notify",
	      "signal: window freed at @");
	FAILS(pld_wait(v, PL_AT(0, 0), 1, PLD_WAIT_GE), PL_EINVAL, "pld_wait",
	      "signal: window freed at @");
	FAILS(pld_test(v, PL_AT(0, 0), 1, PLD_WAIT_GE), PL_EINVAL, "pld_test",
	      "signal: window freed at @");
	FAILS(pld_barrier(v), PL_EINVAL, "pld_barrier", "signal: window freed at @");
	FAILS(pld_remote_load(v, 0, PL_AT(0, 0), PL_SHAPE(1, 1)), PL_EINVAL, "pld_remote_load",
	      "window: window freed at @");
	FAILS(pl_load(v, PL_AT(0, 0), PL_SHAPE(1, 1)), PL_EINVAL, "pl_load",
	      "t: window freed at @");
	FAILS(pl_read_int(v, PL_AT(0, 0)) ? PL_OK : (int)pl_last_error()->status, PL_EINVAL,
	      "pl_read_int", "t: window freed at @");
	PL_SCOPE {
		tile = pl_full(PL_SHAPE(1, 1), PL_INT32, 1);
		FAILS(pld_remote_store(tile, v, 0, PL_AT(0, 0)), PL_EINVAL, "pld_remote_store",
		      "window: window freed at @");
		FAILS(pl_store(tile, PL_AT(0, 0), v), PL_EINVAL, "pl_store",
		      "t: window freed at @");
	}
	place(PL_WHERE), v = pld_new_window(PL_SHAPE(4), PL_INT32), row = v;
	place(PL_WHERE), pld_free_window(v);
	FAILS(pld_free_window(row), PL_EINVAL, "pld_free_window", "window: window freed at @");
}

static void rows(int me, int n)
{
	pld_buffer b = pld_alloc_window_buffer(.bytes = 64);
	pld_tensor w = pld_window(b, PL_SHAPE(2, 8), PL_INT32);

	(void)me, (void)n;
	alloc_arguments();
	new_window_arguments();
	window_arguments(b);
	view_arguments(w);
	host_arguments();
	WORKS(pld_free_window(w));
	freed();
}

int main(void)
{
	return errors_main(rows);
}
