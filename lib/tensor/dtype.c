/* dtype.c - the table of dtypes, and single numbers as elements. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pldi_dtype.h"

static const struct pldi_dtype dtypes[] = {
#define PLDI_DTYPE(name, type, class, codec, compute)                                              \
	[PL_##name] = { #name, sizeof(type), PLDI_##class },
#include "dtypes.def"
#undef PLDI_DTYPE
};

static const struct pldi_dtype unknown = { "unknown pl_dtype", 0, PLDI_UNKNOWN };

const struct pldi_dtype *pldi_dtype(pl_dtype t)
{
	const size_t i = (size_t)t;

	return i < sizeof(dtypes) / sizeof(dtypes[0]) && dtypes[i].bytes ? &dtypes[i] : &unknown;
}

size_t pl_dtype_bytes(pl_dtype t)
{
	return pldi_dtype(t)->bytes;
}

const char *pl_dtype_name(pl_dtype t)
{
	return pldi_dtype(t)->name;
}

/* Largest number of an integer dtype. */
static uint64_t most(const struct pldi_dtype *d)
{
	const int bits = 8 * d->bytes - (d->class == PLDI_SIGNED);

	return bits > 0 ? UINT64_MAX >> (64 - bits) : 0;
}

int pldi_elem_from_int(pl_dtype t, int64_t v, void *elem)
{
	const struct pldi_dtype *d = pldi_dtype(t);
	_Alignas(8) char image[8];

	if (d->class == PLDI_SIGNED && (v > (int64_t)most(d) || v < -(int64_t)most(d) - 1))
		return -1;
	if (d->class == PLDI_UNSIGNED && (v < 0 || (uint64_t)v > most(d)))
		return -1;
	pldi_cast(t, image, PL_INT64, &v, 1);
	memcpy(elem, image, d->bytes);
	return 0;
}

int pldi_elem_from_float(pl_dtype t, double v, void *elem)
{
	const struct pldi_dtype *d = pldi_dtype(t);
	_Alignas(8) char image[8];
	double back;

	/* the cast saturates and truncates: only a whole number in range comes back as it was */
	pldi_cast(t, image, PL_FP64, &v, 1);
	pldi_cast(PL_FP64, &back, t, image, 1);
	if (d->class != PLDI_FLOAT) {
		/* 2^63 and 2^64 saturate to a number that rounds back to them */
		const double top = 2.0 * (double)(most(d) / 2 + 1);

		if (back != v || v >= top)
			return -1;
	}
	memcpy(elem, image, d->bytes);
	return 0;
}

double pldi_elem_float(pl_dtype t, const void *elem)
{
	_Alignas(8) char image[8];
	double v;

	memcpy(image, elem, pldi_dtype(t)->bytes);
	pldi_cast(PL_FP64, &v, t, image, 1);
	return v;
}

int pldi_elem_int(pl_dtype t, const void *elem, int64_t *v)
{
	_Alignas(8) char image[8];

	memcpy(image, elem, pldi_dtype(t)->bytes);
	pldi_cast(PL_INT64, v, t, image, 1);
	return t == PL_UINT64 && *v < 0 ? -1 : 0;
}

const char *pldi_dtype_range(pl_dtype t, char *text, size_t text_bytes)
{
	const struct pldi_dtype *d = pldi_dtype(t);

	if (d->class == PLDI_SIGNED)
		snprintf(text, text_bytes, "%s holds whole numbers from %" PRId64 " to %" PRIu64,
			 d->name, -(int64_t)most(d) - 1, most(d));
	else
		snprintf(text, text_bytes, "%s holds whole numbers from 0 to %" PRIu64, d->name,
			 most(d));
	return text;
}
