/* t_npy_write.c - writing .npy: what is in the file, what cannot be written; paths of no file. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "npy.h"

#define ROWS(t) ((int)(sizeof(t) / sizeof((t)[0])))
#define MAGIC "\x93NUMPY"

static char file[] = "/tmp/t_npy_write.XXXXXX"; /* one for the whole program, rewritten */

static const struct {
	pl_dtype dtype;
	pl_dims dims;
	const char *header; /* its beginning, on a little-endian machine */
} written[] = {
	{ PL_FP32,
	  { 3, { 2, 1, 3 } },
	  "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 3), } " },
	{ PL_INT8, { 1, { 6 } }, "{'descr': '|i1', 'fortran_order': False, 'shape': (6,), } " },
	{ PL_UINT64,
	  { 2, { 3, 0 } },
	  "{'descr': '<u8', 'fortran_order': False, 'shape': (3, 0), } " },
	{ PL_FP16, { 0, { 0 } }, "{'descr': '<f2', 'fortran_order': False, 'shape': (), } " },
	{ PL_INT16,
	  { 7, { 1, 2, 1, 1, 1, 1, 3 } },
	  "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 2, 1, 1, 1, 1, 3), } " },
};

START_TEST(writes)
{
	static const char data[48] = "an array that is long enough for every row here";
	size_t elem = pl_dtype_bytes(written[_i].dtype), len;
	unsigned char buf[512];
	struct npy_error why = { "" };
	struct npy a;
	FILE *f;

	ck_assert_msg(!npy_write(file, written[_i].dtype, &written[_i].dims, data, &why), "%s",
		      why.text);
	f = fopen(file, "rb");
	ck_assert(fread(buf, 1, 10, f) == 10 && !memcmp(buf, MAGIC "\x01\x00", 8));
	len = buf[8] | (size_t)buf[9] << 8;
	ck_assert_msg((10 + len) % 64 == 0, "data begins at %zu", 10 + len);
	ck_assert(fread(buf, 1, len, f) == len && buf[len - 1] == '\n');
	ck_assert_msg(!memcmp(buf, written[_i].header, strlen(written[_i].header)), "%.*s",
		      (int)len, (char *)buf);
	fclose(f);

	ck_assert_msg(npy_read(file, &a, &why) == 0, "%s", why.text);
	ck_assert(a.dtype == written[_i].dtype && a.dims.n == written[_i].dims.n);
	ck_assert(!memcmp(a.data, data, (size_t)a.count * elem));
	npy_free(&a);
}
END_TEST

START_TEST(cannot_write)
{
	struct npy_error why = { "" };
	const pl_dims one = { 1, { 1 } };

	ck_assert_int_eq(npy_write(file, PL_BF16, &one, "xx", &why), -1);
	ck_assert_msg(strstr(why.text, "no .npy dtype for") != NULL, "%s", why.text);
	ck_assert_int_eq(npy_write("/nowhere/x.npy", PL_FP32, &one, "xxxx", &why), -1);
	ck_assert_msg(strstr(why.text, "cannot create: ") != NULL, "%s", why.text);
	if (access("/dev/full", W_OK) == 0) {
		ck_assert_int_eq(npy_write("/dev/full", PL_FP32, &one, "xxxx", &why), -1);
		ck_assert_msg(strstr(why.text, strerror(ENOSPC)) != NULL, "%s", why.text);
	}
}
END_TEST

START_TEST(refuses_what_is_no_file)
{
	struct npy_error why = { "" };
	struct npy a;

	ck_assert_int_eq(npy_read("/tmp", &a, &why), -1);
	ck_assert_msg(strstr(why.text, strerror(EISDIR)) != NULL, "%s", why.text);
	ck_assert_int_eq(npy_read("/nowhere/x.npy", &a, &why), -1);
	ck_assert_msg(strstr(why.text, strerror(ENOENT)) != NULL, "%s", why.text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("npy_write");
	TCase *tc = tcase_create("npy_write");
	SRunner *r = srunner_create(s);
	int failed, fd = mkstemp(file);

	if (fd < 0 || close(fd))
		return 1;
	tcase_add_loop_test(tc, writes, 0, ROWS(written));
	tcase_add_test(tc, cannot_write);
	tcase_add_test(tc, refuses_what_is_no_file);
	suite_add_tcase(s, tc);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	unlink(file);
	return failed != 0;
}
