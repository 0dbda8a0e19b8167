/* copy.c - plain copies between mappings: cached, or past the caches when they are long. */
#include "config.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "pldi_rma.h"

/*
 * From here on a copy evicts more than it helps: 3/8 of a last-level cache of 32 MiB.  The C
 * library has a threshold of its own, but takes a virtual machine's word for the cache's size.
 */
#define PAST_CACHES_BYTES (12 << 20)

#if defined(__SSE2__)
/* Non-temporal stores: the source is read through the caches, the destination is not. */
static void copy_past_caches(char *dst, const char *src, size_t n)
{
	size_t head = -(uintptr_t)dst % sizeof(__m128i);

	memcpy(dst, src, head);
	dst += head;
	src += head;
	n -= head;
	for (; n >= 4 * sizeof(__m128i); n -= 4 * sizeof(__m128i)) {
		const __m128i *s = (const __m128i *)(const void *)src;
		__m128i *d = (__m128i *)(void *)dst;
		__m128i a = _mm_loadu_si128(s), b = _mm_loadu_si128(s + 1);
		__m128i c = _mm_loadu_si128(s + 2), e = _mm_loadu_si128(s + 3);

		_mm_stream_si128(d, a);
		_mm_stream_si128(d + 1, b);
		_mm_stream_si128(d + 2, c);
		_mm_stream_si128(d + 3, e);
		src += 4 * sizeof(__m128i);
		dst += 4 * sizeof(__m128i);
	}
	memcpy(dst, src, n);
	/* plain code of the caller may follow, and takes ordinary stores to be in order */
	_mm_sfence();
}
#else
static void copy_past_caches(char *dst, const char *src, size_t n)
{
	memcpy(dst, src, n);
}
#endif

static void copy_run(void *dst, const void *src, int64_t n, void *arg)
{
	copy_past_caches(dst, src, (size_t)(n * *(const int64_t *)arg));
}

void pldi_rma_copy(const struct pldi_runs *r, void *dst, const void *src)
{
	int64_t elem_bytes = r->elem_bytes;

	if (r->run_elems * elem_bytes < PAST_CACHES_BYTES)
		pldi_runs_copy(r, dst, src);
	else
		pldi_runs_each(r, dst, src, copy_run, &elem_bytes);
}
