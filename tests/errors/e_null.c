/*
 * e_null.c - null tiles, tensors, windows and buffers: what they are born of reaches the end of the
 * chain, and a null handle that nobody's error made is an error itself.
 */
#include "config.h"

#include "errors.h"

static const pl_tensor no_tensor;
static const pld_tensor no_window;
static const pl_tile no_tile;
static const pld_buffer no_buffer;

/* Each in a thread that has had no error: the null argument is the error. */
static void null_dst(void)
{
	FAILS(pld_put(no_window, 0, no_tensor), PL_EINVAL, "pld_put", "dst is null");
}

static void null_src(void)
{
	pld_tensor w = pld_new_window(PL_SHAPE(4), PL_INT32);

	FAILS(pld_put(w, 0, no_tensor), PL_EINVAL, "pld_put", "src is null");
	WORKS(pld_free_window(w));
}

static void null_get_src(void)
{
	FAILS(pld_get(no_tensor, 0, no_window), PL_EINVAL, "pld_get", "src is null");
}

static void null_get_dst(void)
{
	pld_tensor w = pld_new_window(PL_SHAPE(4), PL_INT32);

	FAILS(pld_get(no_tensor, 0, w), PL_EINVAL, "pld_get", "dst is null");
	WORKS(pld_free_window(w));
}

static void null_remote_load(void)
{
	FAILS(pld_remote_load(no_window, 0, PL_AT(0), PL_SHAPE(1)), PL_EINVAL, "pld_remote_load",
	      "window is null");
}

static void null_remote_store(void)
{
	FAILS(pld_remote_store(no_tile, no_window, 0, PL_AT(0)), PL_EINVAL, "pld_remote_store",
	      "window is null");
}

static void null_tile(void)
{
	pld_tensor w = pld_new_window(PL_SHAPE(4), PL_INT32);

	FAILS(pld_remote_store(no_tile, w, 0, PL_AT(0)), PL_EINVAL, "pld_remote_store",
	      "tile is null");
	WORKS(pld_free_window(w));
}

static void null_notify(void)
{
	FAILS(pld_notify(no_window, 0, PL_AT(0), 1, PLD_NOTIFY_ADD), PL_EINVAL, "pld_notify",
	      "signal is null");
}

static void null_wait(void)
{
	FAILS(pld_wait(no_window, PL_AT(0), 1, PLD_WAIT_GE), PL_EINVAL, "pld_wait",
	      "signal is null");
}

static void null_wait_for(void)
{
	FAILS(pld_wait_for(no_window, PL_AT(0), 1, PLD_WAIT_GE, 0), PL_EINVAL, "pld_wait_for",
	      "signal is null");
}

static void null_test(void)
{
	FAILS(pld_test(no_window, PL_AT(0), 1, PLD_WAIT_GE), PL_EINVAL, "pld_test",
	      "signal is null");
}

static void null_wait_any(void)
{
	const struct pld_condition c = { no_window, NULL, 1, PLD_WAIT_GE };

	FAILS(pld_wait_any(&c, 1, 0), PL_EINVAL, "pld_wait_any", "signal is null");
}

static void null_barrier(void)
{
	FAILS(pld_barrier(no_window), PL_EINVAL, "pld_barrier", "signal is null");
}

static void null_window(void)
{
	FAILS(pld_window(no_buffer, PL_SHAPE(4), PL_INT32), PL_EINVAL, "pld_window",
	      "buffer is null");
}

static void null_free_buffer(void)
{
	FAILS(pld_free_window_buffer(no_buffer), PL_EINVAL, "pld_free_window_buffer",
	      "buffer is null");
}

static void null_free_window(void)
{
	FAILS(pld_free_window(no_window), PL_EINVAL, "pld_free_window", "window is null");
}

static void null_host_free(void)
{
	FAILS(pld_host_free(no_tensor), PL_EINVAL, "pld_host_free", "tensor is null");
}

static void null_all(void)
{
	FAILS(pld_all(no_window), PL_EINVAL, "pld_all", "window is null");
}

static void null_at(void)
{
	FAILS(pl_at(no_window, 0), PL_EINVAL, "pl_at", "tensor is null");
}

static void null_slice(void)
{
	FAILS(pl_slice(no_window, PL_AT(0), PL_SHAPE(1)), PL_EINVAL, "pl_slice", "tensor is null");
}

static void (*const nulls[])(void) = {
	null_dst,	   null_src,	   null_get_src, null_get_dst, null_remote_load,
	null_remote_store, null_tile,	   null_notify,	 null_wait,    null_wait_for,
	null_test,	   null_wait_any,  null_barrier, null_window,  null_free_buffer,
	null_free_window,  null_host_free, null_all,	 null_at,      null_slice,
};

/* Births of null handles, each of another status or text than the next. */
static void born_of_a_window(void)
{
	pld_tensor bad;

	FAILS(bad = pld_new_window(PL_SHAPE(4), (pl_dtype)7), PL_EINVAL, "pld_new_window",
	      "dtype 7 is no pl_dtype");
	bad = pld_new_window(PL_SHAPE(4), (pl_dtype)7);
	PASSES_ON(pl_at(bad, 0), PL_EINVAL);
	PASSES_ON(pl_slice(pl_at(bad, 0), PL_AT(0), PL_SHAPE(1)), PL_EINVAL);
	PASSES_ON(pl_load(bad, PL_AT(0), PL_SHAPE(1)), PL_EINVAL);
	PASSES_ON(pl_store(pl_add(pl_load(bad, PL_AT(0), PL_SHAPE(1)), 2), PL_AT(0), bad),
		  PL_EINVAL);
	PASSES_ON(pld_all(bad), PL_EINVAL);
	PASSES_ON(pld_put(bad, 0, bad), PL_EINVAL);
	PASSES_ON(pld_get(bad, 0, bad), PL_EINVAL);
	PASSES_ON(pld_notify(bad, 0, PL_AT(0), 1, PLD_NOTIFY_ADD), PL_EINVAL);
	PASSES_ON(pld_wait(bad, PL_AT(0), 1, PLD_WAIT_GE), PL_EINVAL);
	PASSES_ON(pld_barrier(bad), PL_EINVAL);
	PASSES_ON(pld_free_window(bad), PL_EINVAL);
	HOLDS(strcmp(pl_last_error()->call, "pld_new_window") == 0);
}

/* Of too much memory: PL_ENOMEM comes out at the end, not PL_EINVAL. */
static void born_of_memory(void)
{
	pld_buffer b = pld_alloc_window_buffer(.bytes = INT64_MAX);
	pld_tensor w = pld_window(b, PL_SHAPE(4), PL_INT32);

	HOLDS(pl_last_error()->status == PL_ENOMEM);
	PASSES_ON(w, PL_ENOMEM);
	PASSES_ON(pld_window(b, PL_SHAPE(4), PL_INT32), PL_ENOMEM);
	PASSES_ON(pld_free_window_buffer(b), PL_ENOMEM);
	PASSES_ON(pl_store(pl_mul(pld_remote_load(w, 0, PL_AT(0), PL_SHAPE(4)), 3), PL_AT(0), w),
		  PL_ENOMEM);
	PASSES_ON(pld_remote_store(pl_load(w, PL_AT(0), PL_SHAPE(4)), w, 0, PL_AT(0)), PL_ENOMEM);
	PASSES_ON(pld_put(w, 0, w), PL_ENOMEM);
	PASSES_ON(pld_host_free(pld_all(w)), PL_ENOMEM);
	FAILS(pld_wait_any(NULL, 0, 0), PL_EINVAL, "pld_wait_any", "0 conditions; at least 1");
}

/* In the middle of a chain: what comes after it does nothing. */
static void born_in_a_chain(int n)
{
	pld_tensor w = pld_new_window(PL_SHAPE(1, 8), PL_INT32);
	pl_tile t;
	char text[80];

	snprintf(text, sizeof(text), "peer %d; the window's domain has ranks 0 to %d", n, n - 1);
	pl_write(w, PL_AT(0, 3), 5);
	FAILS(pl_store(pl_add(pld_remote_load(w, n, PL_AT(0, 0), PL_SHAPE(1, 8)), 1), PL_AT(0, 0),
		       w),
	      PL_EINVAL, "pld_remote_load", text);
	t = pld_remote_load(w, 0, PL_AT(0, 0), PL_SHAPE(1, 9));
	PASSES_ON(pl_max(t, t), PL_EINVAL);
	PASSES_ON(pl_cast(pl_sub(t, 1), PL_INT64), PL_EINVAL);
	PASSES_ON(pld_remote_store(pl_min(t, 2), w, 0, PL_AT(0, 0)), PL_EINVAL);
	PASSES_ON(pl_store(t, PL_AT(0, 0), w), PL_EINVAL);
	HOLDS(pl_read_int(w, PL_AT(0, 3)) == 5);
	HOLDS(strcmp(pl_last_error()->text,
		     "window: box of shape (1, 9) at (0, 0) outside shape (1, 8)") == 0);
	WORKS(pld_free_window(w));
}

static void rows(int me, int n)
{
	(void)me;
	for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
		errors_fresh(nulls[i]);
	born_of_a_window();
	born_of_memory();
	PL_SCOPE {
		born_in_a_chain(n);
	}
}

int main(void)
{
	return errors_main(rows);
}
