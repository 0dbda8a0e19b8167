/* atomic.c - adding arrays atomically, element by element, for every dtype. */
#include "config.h"

#include <stdatomic.h>

#include "pldi_half.h"
#include "pldi_rma.h"

/* ---- one element ----------------------------------------------------------------------------- */

/*
 * All relaxed: an addition commutes with those of other ranks and carries nothing; the notify after
 * it is the release that a reader's wait pairs with.
 */
#define ADD_INTEGER(cell, type, add)                                                               \
	atomic_fetch_add_explicit((_Atomic type *)(cell), (type)(add), memory_order_relaxed)

/*
 * The sum is computed from the value seen and stored only if that is still there.  A NaN compares
 * by its bits, so it does not loop.
 */
static inline void add_float(_Atomic uint32_t *cell, float add)
{
	uint32_t seen = atomic_load_explicit(cell, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(cell, &seen,
						      pldi_bits32(pldi_float32(seen) + add),
						      memory_order_relaxed, memory_order_relaxed))
		continue;
}

static inline void add_double(_Atomic uint64_t *cell, double add)
{
	uint64_t seen = atomic_load_explicit(cell, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(cell, &seen,
						      pldi_bits64(pldi_float64(seen) + add),
						      memory_order_relaxed, memory_order_relaxed))
		continue;
}

static inline void add_fp16(_Atomic uint16_t *cell, float add)
{
	uint16_t seen = atomic_load_explicit(cell, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(cell, &seen,
						      pldi_fp32_to_fp16(pldi_fp16_to_fp32(seen) +
									add),
						      memory_order_relaxed, memory_order_relaxed))
		continue;
}

static inline void add_bf16(_Atomic uint16_t *cell, float add)
{
	uint16_t seen = atomic_load_explicit(cell, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(cell, &seen,
						      pldi_fp32_to_bf16(pldi_bf16_to_fp32(seen) +
									add),
						      memory_order_relaxed, memory_order_relaxed))
		continue;
}

/* ---- runs ------------------------------------------------------------------------------------ */

#define ADD_FP64(type, d, s) add_double((_Atomic uint64_t *)(d), s)
#define ADD_FP32(type, d, s) add_float((_Atomic uint32_t *)(d), s)
#define ADD_FP16(type, d, s) add_fp16((_Atomic uint16_t *)(d), pldi_fp16_to_fp32(s))
#define ADD_BF16(type, d, s) add_bf16((_Atomic uint16_t *)(d), pldi_bf16_to_fp32(s))
#define ADD_INT8(type, d, s) ADD_INTEGER(d, type, s)
#define ADD_INT16(type, d, s) ADD_INTEGER(d, type, s)
#define ADD_INT32(type, d, s) ADD_INTEGER(d, type, s)
#define ADD_INT64(type, d, s) ADD_INTEGER(d, type, s)
#define ADD_UINT8(type, d, s) ADD_INTEGER(d, type, s)
#define ADD_UINT16(type, d, s) ADD_INTEGER(d, type, s)
#define ADD_UINT32(type, d, s) ADD_INTEGER(d, type, s)
#define ADD_UINT64(type, d, s) ADD_INTEGER(d, type, s)

#define PLDI_DTYPE(name, type, class, codec, compute)                                              \
	static void run_##name(void *dst, const void *src, int64_t n, void *arg)                   \
	{                                                                                          \
		const char *s = src;                                                               \
		type *d = dst, add;                                                                \
                                                                                                   \
		(void)arg;                                                                         \
		for (int64_t i = 0; i < n; i++) {                                                  \
			memcpy(&add, s + i * (int64_t)sizeof(add),                                 \
			       sizeof(add)); /* any alignment */                                   \
			ADD_##name(type, &d[i], add);                                              \
		}                                                                                  \
	}
#include "dtypes.def"
#undef PLDI_DTYPE

void pldi_rma_add(const struct pldi_runs *r, pl_dtype dtype, void *dst, const void *src)
{
	static pldi_run_fn *const run[] = {
#define PLDI_DTYPE(name, type, class, codec, compute) [PL_##name] = run_##name,
#include "dtypes.def"
#undef PLDI_DTYPE
	};

	pldi_runs_each(r, dst, src, run[dtype], NULL);
}
