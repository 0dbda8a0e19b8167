/* t_npy.c - reading .npy: files made by hand, good ones and broken ones, byte by byte. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npy.h"

#define ROWS(t) ((int)(sizeof(t) / sizeof((t)[0])))
#define MAGIC "\x93NUMPY"
#define GOOD "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n"

static char file[] = "/tmp/t_npy.XXXXXX"; /* one for the whole program, rewritten by each test */

static void write_file(const void *bytes, size_t n)
{
	FILE *f = fopen(file, "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert(fwrite(bytes, 1, n, f) == n && !fclose(f));
}

/* An .npy file of these parts in buf; its length. */
static size_t compose(unsigned char *buf, int major, const char *header, size_t len,
		      const char *data, size_t n)
{
	size_t at = 8, digits = major == 1 ? 2 : 4;

	memcpy(buf, MAGIC, 6);
	buf[6] = (unsigned char)major;
	buf[7] = 0;
	for (size_t i = 0; i < digits; i++)
		buf[at++] = (unsigned char)(len >> 8 * i);
	memcpy(buf + at, header, len);
	if (n)
		memcpy(buf + at + len, data, n);
	return at + len + n;
}

/* ---- good files ----------------------------------------------------------------------------- */

#define F4 "\x00\x00\x80\x3f\x00\x00\x00\xc0" /* 1.0f, -2.0f, little-endian */
#define BIG_F4 "\x3f\x80\x00\x00\xc0\x00\x00\x00"
#define SIX "\x01\x02\x03\x04\x05\x06"

static const struct {
	const char *name;
	int major;
	const char *header, *data;
	size_t bytes;
	pl_dtype dtype;
	pl_dims dims;
	const char *want; /* the elements, as on a little-endian machine */
} good[] = {
	{ "version 1", 1, GOOD, F4, 8, PL_FP32, { 1, { 2 } }, F4 },
	{ "version 2", 2, GOOD, F4, 8, PL_FP32, { 1, { 2 } }, F4 },
	{ "version 3", 3, GOOD, F4, 8, PL_FP32, { 1, { 2 } }, F4 },
	{ "keys in another order, double quotes",
	  1,
	  "{\"shape\": (2,), \"fortran_order\": False, \"descr\": \"<f4\"}",
	  F4,
	  8,
	  PL_FP32,
	  { 1, { 2 } },
	  F4 },
	{ "no space anywhere",
	  1,
	  "{'descr':'<f4','fortran_order':False,'shape':(2,)}",
	  F4,
	  8,
	  PL_FP32,
	  { 1, { 2 } },
	  F4 },
	{ "space everywhere",
	  1,
	  " {  'descr' :\t'<f4' ,\n'fortran_order' : False ,'shape' : ( 2 , ) , } \n\n",
	  F4,
	  8,
	  PL_FP32,
	  { 1, { 2 } },
	  F4 },
	{ "big-endian",
	  1,
	  "{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}",
	  BIG_F4,
	  8,
	  PL_FP32,
	  { 1, { 2 } },
	  F4 },
	{ "native by =",
	  1,
	  "{'descr': '=f4', 'fortran_order': False, 'shape': (2,)}",
	  F4,
	  8,
	  PL_FP32,
	  { 1, { 2 } },
	  F4 },
	{ "native by |",
	  1,
	  "{'descr': '|f4', 'fortran_order': False, 'shape': (2,)}",
	  F4,
	  8,
	  PL_FP32,
	  { 1, { 2 } },
	  F4 },
	{ "native by no letter",
	  1,
	  "{'descr': 'f4', 'fortran_order': False, 'shape': (2,)}",
	  F4,
	  8,
	  PL_FP32,
	  { 1, { 2 } },
	  F4 },
	{ "big-endian bytes are bytes",
	  1,
	  "{'descr': '>u1', 'fortran_order': False, 'shape': (2, 3)}",
	  SIX,
	  6,
	  PL_UINT8,
	  { 2, { 2, 3 } },
	  SIX },
	{ "Fortran order",
	  1,
	  "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3)}",
	  SIX,
	  6,
	  PL_INT8,
	  { 2, { 2, 3 } },
	  "\x01\x03\x05\x02\x04\x06" },
	{ "Fortran order, three dimensions",
	  1,
	  "{'descr': '|i1', 'fortran_order': True, 'shape': (1, 3, 2)}",
	  SIX,
	  6,
	  PL_INT8,
	  { 3, { 1, 3, 2 } },
	  "\x01\x04\x02\x05\x03\x06" },
	{ "Fortran order, big-endian",
	  1,
	  "{'descr': '>i2', 'fortran_order': True, 'shape': (1, 3)}",
	  SIX,
	  6,
	  PL_INT16,
	  { 2, { 1, 3 } },
	  "\x02\x01\x04\x03\x06\x05" },
	{ "Fortran order, one dimension",
	  1,
	  "{'descr': '|i1', 'fortran_order': True, 'shape': (6,)}",
	  SIX,
	  6,
	  PL_INT8,
	  { 1, { 6 } },
	  SIX },
	{ "trailing comma in shape",
	  1,
	  "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3,)}",
	  SIX,
	  6,
	  PL_UINT8,
	  { 2, { 2, 3 } },
	  SIX },
	{ "extents of Python 2",
	  1,
	  "{'descr': '|u1', 'fortran_order': False, 'shape': (2L, 3L)}",
	  SIX,
	  6,
	  PL_UINT8,
	  { 2, { 2, 3 } },
	  SIX },
	{ "no dimension",
	  1,
	  "{'descr': '<i2', 'fortran_order': False, 'shape': ()}",
	  SIX,
	  2,
	  PL_INT16,
	  { 0, { 0 } },
	  SIX },
	{ "no element",
	  1,
	  "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 0, 2)}",
	  "",
	  0,
	  PL_FP64,
	  { 3, { 3, 0, 2 } },
	  "" },
	{ "no element, others huge",
	  1,
	  "{'descr': '<f8', 'fortran_order': False, 'shape': (9000000000000000000, 0, 9000000)}",
	  "",
	  0,
	  PL_FP64,
	  { 3, { 9000000000000000000, 0, 9000000 } },
	  "" },
	{ "seven dimensions",
	  1,
	  "{'descr': '|i1', 'fortran_order': True, 'shape': (1, 1, 1, 1, 1, 2, 3)}",
	  SIX,
	  6,
	  PL_INT8,
	  { 7, { 1, 1, 1, 1, 1, 2, 3 } },
	  "\x01\x03\x05\x02\x04\x06" },
};

START_TEST(reads)
{
	unsigned char buf[512];
	struct npy_error why = { "" };
	struct npy a;
	size_t n = compose(buf, good[_i].major, good[_i].header, strlen(good[_i].header),
			   good[_i].data, good[_i].bytes);

	write_file(buf, n);
	ck_assert_msg(npy_read(file, &a, &why) == 0, "%s: %s", good[_i].name, why.text);
	ck_assert_msg(a.dtype == good[_i].dtype, "%s: dtype", good[_i].name);
	ck_assert_msg(a.dims.n == good[_i].dims.n, "%s: %d dimensions", good[_i].name,
		      (int)a.dims.n);
	for (int i = 0; i < a.dims.n; i++)
		ck_assert_msg(a.dims.d[i] == good[_i].dims.d[i], "%s: extent %d", good[_i].name, i);
	ck_assert_msg((size_t)a.count * pl_dtype_bytes(a.dtype) == good[_i].bytes, "%s: count",
		      good[_i].name);
	ck_assert_msg(!memcmp(a.data, good[_i].want, good[_i].bytes), "%s: elements",
		      good[_i].name);
	npy_free(&a);
}
END_TEST

/* ---- broken files --------------------------------------------------------------------------- */

#define SHAPE(s) "{'descr': '<f4', 'fortran_order': False, 'shape': " s ", }"
#define DESCR(s) "{'descr': " s ", 'fortran_order': False, 'shape': (2,), }"

static const struct {
	const char *name, *header;
	size_t data; /* bytes, of F4 twice */
	const char *says;
} broken[] = {
	{ "data one byte short", GOOD, 7, "truncated: 7 bytes of data, 8 needed" },
	{ "no data", GOOD, 0, "truncated: 0 bytes of data, 8 needed" },
	{ "one byte more", GOOD, 9, "1 bytes behind the data, none allowed" },
	{ "a byte for no element", SHAPE("(0,)"), 1, "1 bytes behind the data" },
	{ "structured", DESCR("[('a', '<f4'), ('b', '<i4')]"), 8,
	  "structured dtype, allowed: f8 f4" },
	{ "subarray", DESCR("('<f4', (2,))"), 8, "structured dtype" },
	{ "complex", DESCR("'<c8'"), 8, "dtype '<c8', allowed: f8 f4" },
	{ "bool", DESCR("'|b1'"), 8, "dtype '|b1'" },
	{ "object", DESCR("'|O'"), 8, "dtype '|O'" },
	{ "text", DESCR("'<U3'"), 8, "dtype '<U3'" },
	{ "date", DESCR("'<M8[ns]'"), 8, "dtype '<M8[ns]'" },
	{ "raw two bytes (bfloat16 of ml_dtypes)", DESCR("'<V2'"), 8, "dtype '<V2'" },
	{ "twelve-byte float", DESCR("'<f12'"), 8, "dtype '<f12'" },
	{ "no byte order known", DESCR("'!f4'"), 8, "dtype '!f4'" },
	{ "two byte orders", DESCR("'<>f4'"), 8, "dtype '<>f4'" },
	{ "long name", DESCR("'float32'"), 8, "dtype 'float32'" },
	{ "empty dtype", DESCR("''"), 8, "dtype '', allowed" },
	{ "endless dtype",
	  DESCR("'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
		"fffff'"),
	  8, "string of 67 letters" },
	{ "number for dtype", DESCR("4"), 8,
	  "header has '4' at byte 10, a quoted string expected" },
	{ "escape", DESCR("'<f\\x34'"), 8, "header has '\\'" },
	{ "newline in a string", DESCR("'<f4\n'"), 8, "header has byte 0x0a" },
	{ "string without end", "{'descr': '<f4", 8, "the end of a string of plain letters" },
	{ "quotes differ", "{'descr': '<f4\"", 8,
	  "header ends after 15 bytes, the end of a string" },
	{ "shape without tuple", SHAPE("2"), 8, "header has '2' at byte 50, '(' and a tuple" },
	{ "shape is a number in parentheses", SHAPE("(2)"), 8, "not a tuple like (2,)" },
	{ "shape is a list", SHAPE("[2]"), 8, "header has '['" },
	{ "negative extent", SHAPE("(-2,)"), 8, "header has '-'" },
	{ "fraction", SHAPE("(2.0,)"), 8, "header has '.'" },
	{ "plus sign", SHAPE("(+2,)"), 8, "header has '+'" },
	{ "comma alone", SHAPE("(,)"), 8, "header has ','" },
	{ "two commas", SHAPE("(2,,)"), 8, "header has ','" },
	{ "no comma", SHAPE("(2 1)"), 8, "header has '1'" },
	{ "word", SHAPE("(None,)"), 8, "header has 'N'" },
	{ "eight dimensions", SHAPE("(1, 1, 1, 1, 1, 1, 1, 2)"), 8, "more than 7 dimensions" },
	{ "extent of 2^63", SHAPE("(9223372036854775808,)"), 8, "larger than 9223372036854775807" },
	{ "extent of 30 digits", SHAPE("(999999999999999999999999999999,)"), 8, "is larger than" },
	{ "2^62 elements of 4 bytes", SHAPE("(4611686018427387904,)"), 8, "is more than" },
	{ "product beyond 2^63", SHAPE("(4294967296, 4294967296)"), 8, "is more than" },
	{ "product that wraps to 2", SHAPE("(2, 4294967296, 4294967296)"), 8, "is more than" },
	{ "a terabyte", SHAPE("(274877906944,)"), 8, "truncated: 8 bytes of data, 1099511627776" },
	{ "order is a number", "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", 8,
	  "header has '0' at byte 34, True or False" },
	{ "order in small letters", "{'descr': '<f4', 'fortran_order': false, 'shape': (2,), }", 8,
	  "True or False" },
	{ "order with a tail", "{'descr': '<f4', 'fortran_order': Falsey, 'shape': (2,), }", 8,
	  "header has 'y'" },
	{ "no descr", "{'fortran_order': False, 'shape': (2,), }", 8, "no key 'descr'" },
	{ "no fortran_order", "{'descr': '<f4', 'shape': (2,), }", 8, "no key 'fortran_order'" },
	{ "no shape", "{'descr': '<f4', 'fortran_order': False, }", 8, "no key 'shape'" },
	{ "no key", "{}", 8, "no key 'descr'" },
	{ "key twice", "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8,
	  "key 'descr' twice" },
	{ "key too many", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", 8,
	  "key 'x', allowed: descr, fortran_order, shape" },
	{ "key without quotes", "{descr: '<f4'}", 8, "a quoted string expected" },
	{ "no colon", "{'descr' '<f4'}", 8, "':' after a key expected" },
	{ "no comma between keys", "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", 8,
	  "',' or '}' expected" },
	{ "comma in front", "{, 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8,
	  "header has ','" },
	{ "no brace", "'descr': '<f4'", 8, "'{' expected" },
	{ "brace open", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", 8,
	  "header ends after 54 bytes" },
	{ "empty header", "", 8, "header ends after 0 bytes" },
	{ "blanks only", "    \n", 8, "header ends after 5 bytes" },
	{ "something behind the dictionary", GOOD "{}", 8, "nothing more after '}'" },
	{ "comment", "# descr\n" GOOD, 8, "header has '#'" },
};

START_TEST(refuses)
{
	unsigned char buf[512];
	struct npy_error why = { "" };
	struct npy a = { .count = -7 };
	size_t n = compose(buf, 1, broken[_i].header, strlen(broken[_i].header), F4 F4,
			   broken[_i].data);

	write_file(buf, n);
	ck_assert_msg(npy_read(file, &a, &why) == -1, "%s: accepted", broken[_i].name);
	ck_assert_msg(strstr(why.text, broken[_i].says), "%s: says: %s", broken[_i].name, why.text);
	ck_assert_msg(a.count == -7, "%s: output touched", broken[_i].name);
}
END_TEST

static const struct {
	const char *name;
	size_t at;
	unsigned char byte;
	const char *says;
} starts[] = {
	{ "wrong first byte", 0, 'N', "not an .npy file: begins with 4e 4e 55" },
	{ "wrong last letter", 5, 'y', "not with 93 4e 55 4d 50 59" },
	{ "version 0.0", 6, 0, "format version 0.0, allowed: 1.0, 2.0, 3.0" },
	{ "version 4.0", 6, 4, "format version 4.0" },
	{ "version 1.1", 7, 1, "format version 1.1" },
	{ "header longer than the file", 9, 1, "bytes of header" },
};

START_TEST(refuses_start)
{
	unsigned char buf[512];
	struct npy_error why = { "" };
	struct npy a;
	size_t n = compose(buf, 1, GOOD, strlen(GOOD), F4, 8);

	buf[starts[_i].at] = starts[_i].byte;
	write_file(buf, n);
	ck_assert_msg(npy_read(file, &a, &why) == -1, "%s: accepted", starts[_i].name);
	ck_assert_msg(strstr(why.text, starts[_i].says), "%s: says: %s", starts[_i].name, why.text);
}
END_TEST

START_TEST(refuses_huge_header)
{
	unsigned char buf[512];
	struct npy_error why = { "" };
	struct npy a;

	size_t n = compose(buf, 2, GOOD, strlen(GOOD), F4, 8);

	buf[11] = 0x7f; /* 2 GB of header */
	write_file(buf, n);
	ck_assert_int_eq(npy_read(file, &a, &why), -1);
	ck_assert_msg(strstr(why.text, "up to 1048576 allowed") != NULL, "%s", why.text);
}
END_TEST

/* Versions 2 and 3 exist for headers beyond 65535 bytes. */
START_TEST(reads_long_header)
{
	size_t len = 70000;
	char *header = malloc(len);
	unsigned char *buf = malloc(len + 64);
	struct npy_error why = { "" };
	struct npy a;

	memset(header, ' ', len);
	memcpy(header + len - strlen(GOOD), GOOD, strlen(GOOD));
	write_file(buf, compose(buf, 2, header, len, F4, 8));
	ck_assert_msg(npy_read(file, &a, &why) == 0, "%s", why.text);
	ck_assert(a.count == 2 && !memcmp(a.data, F4, 8));
	npy_free(&a);
	free(buf);
	free(header);
}
END_TEST

START_TEST(refuses_every_prefix)
{
	unsigned char buf[512];
	struct npy_error why;
	struct npy a;
	size_t n = compose(buf, 2, GOOD, strlen(GOOD), F4, 8);

	for (size_t i = 0; i < n; i++) {
		write_file(buf, i);
		ck_assert_msg(npy_read(file, &a, &why) == -1, "%zu of %zu bytes accepted", i, n);
		ck_assert_msg(strstr(why.text, "truncated"), "%zu bytes: %s", i, why.text);
	}
}
END_TEST

/* Any byte of the header wrong: an error or another array, never a crash or a wrong size. */
START_TEST(survives_any_byte)
{
	unsigned char buf[512];
	struct npy_error why;
	struct npy a;
	size_t n = compose(buf, 1, GOOD, strlen(GOOD), F4, 8);

	for (size_t at = 6; at < n - 8; at++) {
		unsigned char was = buf[at];

		for (int byte = 0; byte < 256; byte++) {
			buf[at] = (unsigned char)byte;
			write_file(buf, n);
			if (npy_read(file, &a, &why))
				continue;
			ck_assert_int_eq(a.count * (int64_t)pl_dtype_bytes(a.dtype), 8);
			npy_free(&a);
		}
		buf[at] = was;
	}
}
END_TEST

/* A pipe cannot say how long it is: the same errors, found while reading. */
static const struct {
	const char *name;
	size_t data;
	const char *says; /* NULL: read */
} pipes[] = {
	{ "whole", 8, NULL },
	{ "short", 5, "truncated: 5 bytes of data, 8 needed" },
	{ "long", 9, "bytes behind the data" },
};

START_TEST(reads_pipe)
{
	unsigned char buf[512];
	struct npy_error why = { "" };
	struct npy a;
	size_t n = compose(buf, 1, GOOD, strlen(GOOD), F4 F4, pipes[_i].data);
	char name[32];
	int p[2];

	ck_assert(!pipe(p) && write(p[1], buf, n) == (ssize_t)n && !close(p[1]));
	snprintf(name, sizeof(name), "/dev/fd/%d", p[0]);
	if (pipes[_i].says) {
		ck_assert_int_eq(npy_read(name, &a, &why), -1);
		ck_assert_msg(strstr(why.text, pipes[_i].says) != NULL, "%s: %s", pipes[_i].name,
			      why.text);
	} else {
		ck_assert_msg(npy_read(name, &a, &why) == 0, "%s: %s", pipes[_i].name, why.text);
		npy_free(&a);
	}
	close(p[0]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("npy");
	TCase *tc = tcase_create("npy");
	SRunner *r = srunner_create(s);
	int failed, fd = mkstemp(file);

	if (fd < 0 || close(fd))
		return 1;
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, reads, 0, ROWS(good));
	tcase_add_loop_test(tc, refuses, 0, ROWS(broken));
	tcase_add_loop_test(tc, refuses_start, 0, ROWS(starts));
	tcase_add_test(tc, refuses_huge_header);
	tcase_add_test(tc, reads_long_header);
	tcase_add_test(tc, refuses_every_prefix);
	tcase_add_test(tc, survives_any_byte);
	tcase_add_loop_test(tc, reads_pipe, 0, ROWS(pipes));
	suite_add_tcase(s, tc);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	unlink(file);
	return failed != 0;
}
