/*
 * npy_header.c - the header of an .npy file: a Python dictionary with three keys, in any order,
 *
 *	{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1, 64), }
 *
 * Format: numpy.lib.format in numpy's manual, first proposed as NEP 1.  Stricter than Python where
 * Python would be lenient without a file needing it: no escapes in strings, no comments, no
 * expressions, no key twice.
 */
#include "npy_header.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ALLOWED_DTYPES "f8 f4 f2 i8 i4 i2 i1 u8 u4 u2 u1 with < > = or | before"

static const struct {
	const char *descr, *name;
	pl_dtype dtype;
} dtypes[] = {
	{ "f8", "float64", PL_FP64 },  { "f4", "float32", PL_FP32 },  { "f2", "float16", PL_FP16 },
	{ "i8", "int64", PL_INT64 },   { "i4", "int32", PL_INT32 },   { "i2", "int16", PL_INT16 },
	{ "i1", "int8", PL_INT8 },     { "u8", "uint64", PL_UINT64 }, { "u4", "uint32", PL_UINT32 },
	{ "u2", "uint16", PL_UINT16 }, { "u1", "uint8", PL_UINT8 },
};
#define NDTYPES (sizeof(dtypes) / sizeof(dtypes[0]))

enum key { DESCR, FORTRAN_ORDER, SHAPE, NKEYS };
static const char *const keys[NKEYS] = { "descr", "fortran_order", "shape" };

/* What is left to read. */
struct cursor {
	const char *start, *at, *end;
	struct npy_error *why;
};

int npy_fail(struct npy_error *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return -1;
}

const char *npy_descr(pl_dtype dtype)
{
	for (size_t i = 0; i < NDTYPES; i++)
		if (dtypes[i].dtype == dtype)
			return dtypes[i].descr;
	return NULL;
}

const char *npy_dtype_name(pl_dtype dtype)
{
	for (size_t i = 0; i < NDTYPES; i++)
		if (dtypes[i].dtype == dtype)
			return dtypes[i].name;
	return pl_dtype_name(dtype);
}

/* The header is not what `wanted` says. */
static int unexpected(const struct cursor *c, const char *wanted)
{
	int at = (int)(c->at - c->start);

	if (c->at == c->end)
		return npy_fail(c->why, "header ends after %d bytes, %s expected", at, wanted);
	if (*c->at < ' ' || *c->at > '~')
		return npy_fail(c->why, "header has byte 0x%02x at %d, %s expected",
				(unsigned char)*c->at, at, wanted);
	return npy_fail(c->why, "header has '%c' at byte %d, %s expected", *c->at, at, wanted);
}

static void skip_space(struct cursor *c)
{
	while (c->at < c->end && *c->at && strchr(" \t\r\n\f", *c->at))
		c->at++;
}

/* Skips space, then ch if it is next: 1, else 0. */
static int take(struct cursor *c, char ch)
{
	skip_space(c);
	if (c->at == c->end || *c->at != ch)
		return 0;
	c->at++;
	return 1;
}

/* A quoted string without escapes, less than size bytes long. */
static int take_string(struct cursor *c, char *s, size_t size)
{
	const char *from;
	char quote;

	skip_space(c);
	if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
		return unexpected(c, "a quoted string");
	quote = *c->at++;
	from = c->at;
	while (c->at < c->end && *c->at >= ' ' && *c->at <= '~' && *c->at != quote &&
	       *c->at != '\\')
		c->at++;
	if (c->at == c->end || *c->at != quote)
		return unexpected(c, "the end of a string of plain letters");
	if ((size_t)(c->at - from) >= size)
		return npy_fail(c->why,
				"header has a string of %d letters at byte %d, up to %d allowed",
				(int)(c->at - from), (int)(from - c->start), (int)size - 1);
	memcpy(s, from, (size_t)(c->at - from));
	s[c->at - from] = '\0';
	c->at++;
	return 0;
}

/* True or False, whole words. */
static int take_bool(struct cursor *c, int *value)
{
	static const char *const words[] = { "False", "True" };

	skip_space(c);
	for (int i = 0; i < 2; i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(c->end - c->at) >= n && !memcmp(c->at, words[i], n)) {
			c->at += n;
			*value = i;
			return 0;
		}
	}
	return unexpected(c, "True or False for 'fortran_order'");
}

/* One extent: digits, and the L that Python 2 put behind some. */
static int take_extent(struct cursor *c, int64_t *value)
{
	int64_t v = 0;

	skip_space(c);
	if (c->at == c->end || *c->at < '0' || *c->at > '9')
		return unexpected(c, "an extent of 'shape', a whole number from 0 up,");
	for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
		if (v > (INT64_MAX - (*c->at - '0')) / 10)
			return npy_fail(c->why, "an extent of 'shape' is larger than %lld",
					(long long)INT64_MAX);
		v = v * 10 + (*c->at - '0');
	}
	if (c->at < c->end && *c->at == 'L')
		c->at++;
	*value = v;
	return 0;
}

/* (), (3,), (3, 4), (3, 4,): a tuple, so one extent alone needs its comma. */
static int take_shape(struct cursor *c, pl_dims *dims)
{
	int comma = 0;

	if (!take(c, '('))
		return unexpected(c, "'(' and a tuple for 'shape'");
	dims->n = 0;
	while (!take(c, ')')) {
		if (dims->n && !comma)
			return unexpected(c, "',' or ')' in 'shape'");
		if (dims->n == PL_MAX_DIMS)
			return npy_fail(c->why, "more than %d dimensions, 0 to %d allowed",
					PL_MAX_DIMS, PL_MAX_DIMS);
		if (take_extent(c, &dims->d[dims->n++]))
			return -1;
		comma = take(c, ',');
	}
	if (dims->n == 1 && !comma)
		return npy_fail(c->why,
				"'shape' is a number in parentheses, not a tuple like (%lld,)",
				(long long)dims->d[0]);
	return 0;
}

int npy_little_endian(void)
{
	return *(const unsigned char *)&(const uint16_t){ 1 } == 1;
}

/* '<f4': byte order, kind, bytes.  '=', '|' and no letter at all mean this machine's order. */
static int take_descr(struct cursor *c, struct npy_header *h)
{
	char descr[64] = "";
	const char *type = descr;

	skip_space(c);
	if (c->at < c->end && (*c->at == '[' || *c->at == '('))
		return npy_fail(c->why, "structured dtype, allowed: " ALLOWED_DTYPES);
	if (take_string(c, descr, sizeof(descr)))
		return -1;
	if (*type && strchr("<>=|", *type))
		type++;
	for (size_t i = 0; i < NDTYPES; i++) {
		if (strcmp(type, dtypes[i].descr))
			continue;
		h->dtype = dtypes[i].dtype;
		h->swapped = descr[0] == (npy_little_endian() ? '>' : '<') && type[1] != '1';
		return 0;
	}
	return npy_fail(c->why, "dtype '%s', allowed: " ALLOWED_DTYPES, descr);
}

/* One "key: value" of the dictionary; seen: which keys came before. */
static int take_item(struct cursor *c, struct npy_header *h, int seen[NKEYS])
{
	char key[32] = "";
	int k = 0;

	if (take_string(c, key, sizeof(key)))
		return -1;
	while (k < NKEYS && strcmp(key, keys[k]))
		k++;
	if (k == NKEYS)
		return npy_fail(c->why, "header has key '%s', allowed: descr, fortran_order, shape",
				key);
	if (seen[k]++)
		return npy_fail(c->why, "header has key '%s' twice", key);
	if (!take(c, ':'))
		return unexpected(c, "':' after a key");
	if (k == DESCR)
		return take_descr(c, h);
	if (k == FORTRAN_ORDER)
		return take_bool(c, &h->fortran);
	return take_shape(c, &h->dims);
}

int npy_parse_header(const char *text, size_t len, struct npy_header *h, struct npy_error *why)
{
	struct cursor c = { text, text, text + len, why };
	int seen[NKEYS] = { 0 }, comma = 1;

	if (!take(&c, '{'))
		return unexpected(&c, "'{'");
	while (!take(&c, '}')) {
		if (!comma)
			return unexpected(&c, "',' or '}'");
		if (take_item(&c, h, seen))
			return -1;
		comma = take(&c, ',');
	}
	skip_space(&c);
	if (c.at != c.end)
		return unexpected(&c, "nothing more after '}'");
	for (int k = 0; k < NKEYS; k++)
		if (!seen[k])
			return npy_fail(why, "header has no key '%s'", keys[k]);
	return 0;
}
