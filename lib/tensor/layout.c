/* layout.c - the process's table of layouts: equal ones are one object, made once, never freed. */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "pldi_dtype.h"
#include "pldi_tensor.h"

/*
 * An open hash table of fixed size, at most half full.  An entry goes from NULL to a layout once,
 * under the lock; so readers need none, and a reader that misses looks again under the lock.
 * It is 4 MiB of address space, of which pages are used as entries are.
 */
enum { MOST = 262144, SLOTS = 2 * MOST };
static _Atomic(const struct pldi_layout *) slots[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int used;

static uint64_t mix(uint64_t h, int64_t v)
{
	h = (h ^ (uint64_t)v) * 0x9e3779b97f4a7c15;
	return h ^ h >> 29;
}

static size_t hash(const struct pl_layout *l)
{
	uint64_t h = mix((uint64_t)l->ndim, (int64_t)l->dtype);

	for (int i = 0; i < l->ndim; i++)
		h = mix(mix(h, l->dim[i]), l->stride[i]);
	return (size_t)(h >> 32) % SLOTS;
}

static int equal(const struct pl_layout *a, const struct pl_layout *b)
{
	if (a->ndim != b->ndim || a->dtype != b->dtype)
		return 0;
	for (int i = 0; i < a->ndim; i++)
		if (a->dim[i] != b->dim[i] || a->stride[i] != b->stride[i])
			return 0;
	return 1;
}

/* The layout equal to l, or NULL and in *at the free slot where it belongs. */
static const struct pl_layout *find(const struct pl_layout *l, size_t *at)
{
	for (size_t i = hash(l);; i = (i + 1) % SLOTS) {
		/* acquire: pairs with the release in insert(); its fields are seen */
		const struct pldi_layout *e = atomic_load_explicit(&slots[i], memory_order_acquire);

		if (!e) {
			*at = i;
			return NULL;
		}
		if (equal(&e->pub, l))
			return &e->pub;
	}
}

static const struct pl_layout *insert(const struct pldi_layout *l, const char *call,
				      const char *where)
{
	const struct pl_layout *found;
	struct pldi_layout *copy = NULL;
	int exist;
	size_t at;

	pthread_mutex_lock(&lock);
	found = find(&l->pub, &at);
	if (!found && used < MOST) {
		copy = malloc(sizeof(*copy));
		if (copy) {
			*copy = *l;
			used++;
			/* release: pairs with the acquire in find() */
			atomic_store_explicit(&slots[at], copy, memory_order_release);
			found = &copy->pub;
		}
	}
	exist = used;
	pthread_mutex_unlock(&lock);
	if (!found)
		pldi_fail(PL_ENOMEM, call, where,
			  "no room for another layout of a tensor: %d exist, at most %d can; use "
			  "fewer different shapes",
			  exist, MOST);
	return found;
}

/* l with its dimensions in place: the rest of it, then the one object; inner ones first. */
static const struct pl_layout *intern(struct pldi_layout *l, const char *call, const char *where)
{
	const struct pl_layout *found;
	int64_t expect = 1;
	size_t at;

	found = find(&l->pub, &at);
	if (found)
		return found;

	l->packed = 1;
	l->pub.count = 1;
	for (int i = l->pub.ndim - 1; i >= 0; i--) {
		l->packed &= l->pub.stride[i] == expect;
		expect *= l->pub.dim[i] ? l->pub.dim[i] : 1;
		l->pub.count *= l->pub.dim[i];
	}
	for (int i = 0; i < l->pub.ndim && l->pub.count; i++) {
		const int64_t reach = (l->pub.dim[i] - 1) * l->pub.stride[i];

		*(reach < 0 ? &l->low_off : &l->high_off) += reach;
	}
	if (l->pub.ndim > 1) {
		pl_dims shape = { l->pub.ndim - 1, { 0 } };

		for (int i = 0; i < shape.n; i++)
			shape.d[i] = l->pub.dim[i + 1];
		l->pub.inner =
			pldi_layout_strided(l->pub.dtype, &shape, l->pub.stride + 1, call, where);
		if (!l->pub.inner)
			return NULL;
	}
	return insert(l, call, where);
}

/* Fills dims of *l; a shape and a dtype that can be. */
static int describe(struct pldi_layout *l, pl_dtype dtype, const pl_dims *shape,
		    int64_t packed_stride[PL_MAX_DIMS], int *empty, const char *call,
		    const char *where)
{
	const struct pldi_dtype *d = pldi_dtype(dtype);
	char text[PLDI_DIMS_TEXT];
	int64_t step = 1, bytes;

	if (!d->bytes) {
		pldi_fail(PL_EINVAL, call, where, "dtype %d is no pl_dtype", (int)dtype);
		return -1;
	}
	if (!shape || shape->n < 1 || shape->n > PL_MAX_DIMS) {
		pldi_fail(PL_EINVAL, call, where, "a shape of %lld dimensions, 1 to %d are allowed",
			  shape ? (long long)shape->n : 0, PL_MAX_DIMS);
		return -1;
	}
	l->pub.ndim = (int32_t)shape->n;
	l->pub.dtype = dtype;
	l->pub.elem_bytes = d->bytes;
	*empty = 0;
	for (int i = l->pub.ndim - 1; i >= 0; i--) {
		l->pub.dim[i] = shape->d[i];
		packed_stride[i] = step;
		*empty |= shape->d[i] == 0;
		if (shape->d[i] < 0) {
			pldi_fail(PL_EINVAL, call, where, "shape %s has a negative extent",
				  pldi_dims_text(shape, text));
			return -1;
		}
		/* an empty tensor too: its strides must be numbers, its rows may have elements */
		if (__builtin_mul_overflow(step, shape->d[i] ? shape->d[i] : 1, &step) ||
		    __builtin_mul_overflow(step, l->pub.elem_bytes, &bytes)) {
			pldi_fail(PL_EINVAL, call, where,
				  "shape %s of %s has more than INT64_MAX bytes",
				  pldi_dims_text(shape, text), d->name);
			return -1;
		}
	}
	return 0;
}

const struct pl_layout *pldi_layout_packed(pl_dtype dtype, const pl_dims *shape, const char *call,
					   const char *where)
{
	struct pldi_layout l = { .packed = 0 };
	int empty;

	if (describe(&l, dtype, shape, l.pub.stride, &empty, call, where))
		return NULL;
	return intern(&l, call, where);
}

const struct pl_layout *pldi_layout_strided(pl_dtype dtype, const pl_dims *shape,
					    const int64_t *stride, const char *call,
					    const char *where)
{
	struct pldi_layout l = { .packed = 0 };
	int64_t packed_stride[PL_MAX_DIMS], reach, low = 0, high = 0, bytes;
	char text[PLDI_DIMS_TEXT];
	int empty;

	if (describe(&l, dtype, shape, packed_stride, &empty, call, where))
		return NULL;
	for (int i = 0; i < l.pub.ndim; i++) {
		l.pub.stride[i] = empty || l.pub.dim[i] == 1 ? packed_stride[i] : stride[i];
		if (empty)
			continue;
		/* so that no check needs to ask whether an offset overflows */
		if (__builtin_mul_overflow(l.pub.dim[i] - 1, l.pub.stride[i], &reach) ||
		    __builtin_add_overflow(reach < 0 ? low : high, reach,
					   reach < 0 ? &low : &high) ||
		    __builtin_mul_overflow(low, l.pub.elem_bytes, &bytes) ||
		    __builtin_mul_overflow(high, l.pub.elem_bytes, &bytes)) {
			pldi_fail(PL_EINVAL, call, where,
				  "shape %s with stride %lld in dimension %d spans more than "
				  "INT64_MAX bytes",
				  pldi_dims_text(shape, text), (long long)l.pub.stride[i], i);
			return NULL;
		}
	}
	return intern(&l, call, where);
}

void pldi_layout_dead(struct pldi_layout *l, const char *text)
{
	*l = (struct pldi_layout){ .dead_text = text };
}
