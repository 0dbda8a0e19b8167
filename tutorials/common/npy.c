/*
 * npy.c - reading and writing numpy's .npy files.
 *
 *	\x93NUMPY  major minor  header length  header  data
 *	6 bytes    1     1      2 or 4 bytes           packed elements
 *
 * The length is little-endian, of 2 bytes in version 1.0 and of 4 from 2.0 on; 3.0 only allows
 * UTF-8 in field names, which no file that we take has.
 */
#include "npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npy_header.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6
#define MAX_HEADER (1 << 20) /* bytes; seven dimensions need 250, the rest is padding */

/* n bytes into to, or why not: of what is what they are. */
static int read_bytes(FILE *f, void *to, size_t n, const char *what, struct npy_error *why)
{
	size_t got;

	errno = 0;
	got = fread(to, 1, n, f);
	if (got == n)
		return 0;
	if (ferror(f))
		return npy_fail(why, "cannot read: %s", strerror(errno));
	return npy_fail(why, "truncated: %zu bytes of %s, %zu needed", got, what, n);
}

/* Everything before the data. */
static int read_header(FILE *f, struct npy_header *h, struct npy_error *why)
{
	unsigned char start[MAGIC_BYTES + 2], b[4] = { 0 };
	size_t len;
	char *text;
	int rc;

	if (read_bytes(f, start, sizeof(start), "magic and version", why))
		return -1;
	if (memcmp(start, MAGIC, MAGIC_BYTES))
		return npy_fail(why,
				"not an .npy file: begins with %02x %02x %02x %02x %02x %02x, not "
				"with 93 4e 55 4d 50 59 (\\x93NUMPY)",
				start[0], start[1], start[2], start[3], start[4], start[5]);
	if (start[6] < 1 || start[6] > 3 || start[7] != 0)
		return npy_fail(why, "format version %d.%d, allowed: 1.0, 2.0, 3.0", start[6],
				start[7]);
	if (read_bytes(f, b, start[6] == 1 ? 2 : 4, "header length", why))
		return -1;
	len = b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
	if (len > MAX_HEADER)
		return npy_fail(why, "header of %zu bytes, up to %d allowed", len, MAX_HEADER);
	text = malloc(len + 1);
	if (!text)
		return npy_fail(why, "no memory for a header of %zu bytes", len);
	rc = read_bytes(f, text, len, "header", why);
	if (!rc)
		rc = npy_parse_header(text, len, h, why);
	free(text);
	return rc;
}

/* Elements and bytes of h.  Neither may pass INT64_MAX, or SIZE_MAX where that is less. */
static int count_bytes(const struct npy_header *h, int64_t *count, size_t *bytes,
		       struct npy_error *why)
{
	int64_t elem = (int64_t)pl_dtype_bytes(h->dtype), most;
	struct npy_shape s;

	most = (uint64_t)INT64_MAX > SIZE_MAX ? (int64_t)(SIZE_MAX / 2) : INT64_MAX;
	most /= elem;
	*count = 1;
	for (int i = 0; i < h->dims.n; i++)
		if (h->dims.d[i] == 0)
			*count = 0;
	for (int i = 0; i < h->dims.n && *count; i++) {
		if (h->dims.d[i] > most / *count)
			return npy_fail(why, "shape %s is more than %lld elements of %lld bytes",
					npy_shape_text(&h->dims, &s), (long long)most,
					(long long)elem);
		*count *= h->dims.d[i];
	}
	*bytes = (size_t)(*count * elem);
	return 0;
}

/*
 * Compares the bytes that should follow with the bytes that do, so that a wrong shape in a small
 * file asks for no memory.  A pipe cannot say: there the read finds out.
 */
static int check_size(FILE *f, size_t bytes, struct npy_error *why)
{
	long at = ftell(f), end;

	if (at < 0 || fseek(f, 0, SEEK_END))
		return 0;
	end = ftell(f);
	if (end < 0 || fseek(f, at, SEEK_SET))
		return npy_fail(why, "cannot find its size: %s", strerror(errno));
	if ((size_t)(end - at) < bytes)
		return npy_fail(why, "truncated: %ld bytes of data, %zu needed", end - at, bytes);
	if ((size_t)(end - at) > bytes)
		return npy_fail(why, "%zu bytes behind the data, none allowed",
				(size_t)(end - at) - bytes);
	return 0;
}

static void swap_bytes(unsigned char *p, int64_t count, size_t elem)
{
	for (; count > 0; count--, p += elem)
		for (size_t i = 0; i < elem / 2; i++) {
			unsigned char b = p[i];

			p[i] = p[elem - 1 - i];
			p[elem - 1 - i] = b;
		}
}

/* `to` in row-major order from `from`, where the first index is fastest. */
static void from_fortran(unsigned char *to, const unsigned char *from, const pl_dims *dims,
			 int64_t count, size_t elem)
{
	int64_t stride[PL_MAX_DIMS], at[PL_MAX_DIMS] = { 0 }, off = 0;
	int n = (int)dims->n;

	for (int i = 0; i < n; i++)
		stride[i] = i ? stride[i - 1] * dims->d[i - 1] : 1;
	for (; count > 0; count--, to += elem) {
		memcpy(to, from + (size_t)off * elem, elem);
		for (int i = n - 1; i >= 0; i--) {
			off += stride[i];
			if (++at[i] < dims->d[i])
				break;
			off -= stride[i] * at[i];
			at[i] = 0;
		}
	}
}

/* The data behind h, ordered as struct npy promises. */
static int read_data(FILE *f, const struct npy_header *h, struct npy *a, struct npy_error *why)
{
	size_t bytes = 0, elem = pl_dtype_bytes(h->dtype);
	void *data, *turned;

	if (count_bytes(h, &a->count, &bytes, why) || check_size(f, bytes, why))
		return -1;
	data = malloc(bytes + 1); /* never malloc(0), which may be NULL */
	if (!data)
		return npy_fail(why, "no memory for %zu bytes", bytes);
	if (read_bytes(f, data, bytes, "data", why))
		goto free_data;
	if (fgetc(f) != EOF) {
		npy_fail(why, "bytes behind the data, none allowed");
		goto free_data;
	}
	if (h->swapped)
		swap_bytes(data, a->count, elem);
	if (h->fortran && h->dims.n > 1) {
		turned = malloc(bytes + 1);
		if (!turned) {
			npy_fail(why, "no memory for %zu bytes", bytes);
			goto free_data;
		}
		from_fortran(turned, data, &h->dims, a->count, elem);
		free(data);
		data = turned;
	}
	a->data = data;
	return 0;

free_data:
	free(data);
	return -1;
}

int npy_read(const char *file, struct npy *a, struct npy_error *why)
{
	struct npy_header h = { .dims = { .n = 0 } };
	struct npy read;
	FILE *f = fopen(file, "rb");
	int rc;

	if (!f)
		return npy_fail(why, "cannot open: %s", strerror(errno));
	rc = read_header(f, &h, why);
	if (!rc)
		rc = read_data(f, &h, &read, why);
	fclose(f);
	if (rc)
		return -1;
	read.dtype = h.dtype;
	read.dims = h.dims;
	*a = read;
	return 0;
}

void npy_free(struct npy *a)
{
	free(a->data);
	a->data = NULL;
}

const char *npy_shape_text(const pl_dims *dims, struct npy_shape *s)
{
	size_t at = (size_t)snprintf(s->text, sizeof(s->text), "(");

	for (int i = 0; i < dims->n; i++)
		at += (size_t)snprintf(s->text + at, sizeof(s->text) - at, i ? ", %lld" : "%lld",
				       (long long)dims->d[i]);
	snprintf(s->text + at, sizeof(s->text) - at, dims->n == 1 ? ",)" : ")");
	return s->text;
}

/* Seven dimensions of 19 digits are far from the 65535 bytes where version 2.0 would be needed. */
int npy_write(const char *file, pl_dtype dtype, const pl_dims *dims, const void *data,
	      struct npy_error *why)
{
	static const unsigned char start[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };
	const char *descr = npy_descr(dtype);
	size_t elem = pl_dtype_bytes(dtype), n = 1, len;
	struct npy_shape s;
	char header[512], order;
	FILE *f;
	int bad;

	if (!descr)
		return npy_fail(why, "no .npy dtype for %s", pl_dtype_name(dtype));
	for (int i = 0; i < dims->n; i++)
		n *= (size_t)dims->d[i];
	order = elem == 1 ? '|' : npy_little_endian() ? '<' : '>';
	snprintf(header, sizeof(header), "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
		 order, descr, npy_shape_text(dims, &s));
	/* Blanks and a newline up to a multiple of 64, so that data in a mapped file is aligned. */
	len = (sizeof(start) + 2 + strlen(header) + 1 + 63) / 64 * 64 - sizeof(start) - 2;

	f = fopen(file, "wb");
	if (!f)
		return npy_fail(why, "cannot create: %s", strerror(errno));
	errno = 0;
	fwrite(start, 1, sizeof(start), f);
	fputc((int)(len & 255), f);
	fputc((int)(len >> 8), f);
	fprintf(f, "%-*s\n", (int)len - 1, header);
	fwrite(data, elem, n, f);
	bad = ferror(f);
	if (fclose(f) || bad)
		return npy_fail(why, "cannot write: %s", strerror(errno));
	return 0;
}
