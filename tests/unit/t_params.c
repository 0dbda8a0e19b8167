/* t_params.c - strict parsing of numbers, of bytes, and of the PLD_* variables. */
#include "config.h"

#include <locale.h>
#include <stdio.h>

#include "pldi_params.h"
#include "unit.h"

static const struct {
	const char *name, *text;
	int rc;
	int64_t v;
} ints[] = {
	{ "zero", "0", 0, 0 },
	{ "negative", "-5", 0, -5 },
	{ "most", "9223372036854775807", 0, INT64_MAX },
	{ "least", "-9223372036854775808", 0, INT64_MIN },
	{ "over", "9223372036854775808", -1, 0 },
	{ "under", "-9223372036854775809", -1, 0 },
	{ "leading zeros", "007", 0, 7 },
	{ "empty", "", -1, 0 },
	{ "minus", "-", -1, 0 },
	{ "plus", "+5", -1, 0 },
	{ "space before", " 5", -1, 0 },
	{ "space after", "5 ", -1, 0 },
	{ "minus space", "- 5", -1, 0 },
	{ "hexadecimal", "0x10", -1, 0 },
	{ "fraction", "1.0", -1, 0 },
	{ "unit", "5us", -1, 0 },
};

START_TEST(parse_int)
{
	int64_t v = 42;
	const int rc = pldi_parse_int(ints[_i].text, INT64_MIN, INT64_MAX, &v);

	ck_assert_msg(rc == ints[_i].rc && v == (rc ? 42 : ints[_i].v), "%s: %d, %lld",
		      ints[_i].name, rc, (long long)v);
}
END_TEST

START_TEST(parse_int_range)
{
	int64_t v;

	ck_assert_int_eq(pldi_parse_int("3", 3, 5, &v), 0);
	ck_assert_int_eq(pldi_parse_int("5", 3, 5, &v), 0);
	ck_assert_int_eq(pldi_parse_int("2", 3, 5, &v), -1);
	ck_assert_int_eq(pldi_parse_int("6", 3, 5, &v), -1);
}
END_TEST

static const struct {
	const char *name, *text;
	int rc;
	int64_t v;
} sizes[] = {
	{ "plain", "4096", 0, 4096 },
	{ "zero", "0", 0, 0 },
	{ "K", "4K", 0, 4096 },
	{ "k", "4k", 0, 4096 },
	{ "M", "1M", 0, 1048576 },
	{ "G", "2G", 0, 2147483648 },
	{ "T", "1T", 0, 1099511627776 },
	{ "KB", "1KB", 0, 1024 },
	{ "kib", "1kib", 0, 1024 },
	{ "GiB", "1GiB", 0, 1073741824 },
	{ "fraction", "1.5K", 0, 1536 },
	{ "tenth", "0.1K", 0, 102 },
	{ "fraction of a byte", "1.9", 0, 1 },
	{ "most", "9223372036854775807", 0, INT64_MAX },
	{ "over", "9223372036854775808", -1, 0 },
	{ "over by unit", "8388608T", -1, 0 },
	{ "largest T", "8388607T", 0, 9223370937343148032 },
	{ "many digits",
	  "1"
	  "0000000000"
	  "0000000000"
	  "0000000000",
	  -1, 0 },
	{ "many zeros", "0.0000000000000000000000000000000000000001K", 0, 0 },
	{ "empty", "", -1, 0 },
	{ "unit alone", "K", -1, 0 },
	{ "negative", "-1", -1, 0 },
	{ "plus", "+1", -1, 0 },
	{ "space", " 1", -1, 0 },
	{ "space before unit", "1 K", -1, 0 },
	{ "hexadecimal", "0x10", -1, 0 },
	{ "exponent", "1e3", -1, 0 },
	{ "infinity", "inf", -1, 0 },
	{ "point alone", "1.", -1, 0 },
	{ "point first", ".5K", -1, 0 },
	{ "two points", "1.2.3", -1, 0 },
	{ "comma", "1,5K", -1, 0 },
	{ "B alone", "1B", -1, 0 },
	{ "two units", "1KK", -1, 0 },
	{ "unknown unit", "1X", -1, 0 },
	{ "text after", "1KBs", -1, 0 },
};

START_TEST(parse_bytes)
{
	int64_t v = 42;
	int rc;

	/* a locale whose decimal point is a comma changes nothing; without it this is no test */
	setlocale(LC_ALL, "de_DE.UTF-8");
	rc = pldi_parse_bytes(sizes[_i].text, &v);
	ck_assert_msg(rc == sizes[_i].rc && v == (rc ? 42 : sizes[_i].v), "%s: %d, %lld",
		      sizes[_i].name, rc, (long long)v);
}
END_TEST

/* Every variable of params.def: unset, at both ends, beyond them, and nonsense. */
START_TEST(variables)
{
	struct pldi_params p;
	char text[256], number[24];
	int count = 0;

	for (const struct pldi_param_info *i = pldi_param_table; i->name; i++, count++) {
		const int64_t *value = (const int64_t *)&p + count;
		const struct {
			int64_t v;
			int rc;
		} rows[] = {
			{ i->least, 0 }, { i->most, 0 }, { i->least - 1, -1 }, { i->most + 1, -1 }
		};

		ck_assert_int_eq(strncmp(i->name, "PLD_", 4), 0);
		unsetenv(i->name);
		ck_assert_int_eq(pldi_params_read(&p, text, sizeof(text)), 0);
		ck_assert_int_eq(*value, i->def);
		for (int k = 0; k < ROWS(rows); k++) {
			snprintf(number, sizeof(number), "%lld", (long long)rows[k].v);
			setenv(i->name, number, 1);
			ck_assert_msg(pldi_params_read(&p, text, sizeof(text)) == rows[k].rc,
				      "%s=%s", i->name, number);
			if (!rows[k].rc)
				ck_assert_int_eq(*value, rows[k].v);
		}
		setenv(i->name, "", 1);
		ck_assert_int_eq(pldi_params_read(&p, text, sizeof(text)), -1);
		setenv(i->name, "20us", 1);
		ck_assert_int_eq(pldi_params_read(&p, text, sizeof(text)), -1);
		ck_assert_ptr_nonnull(strstr(text, i->name));
		ck_assert_ptr_nonnull(strstr(text, "='20us' is not a whole number of "));
		ck_assert_ptr_nonnull(strstr(text, i->unit));
		unsetenv(i->name);
	}
	ck_assert_uint_eq((size_t)count, sizeof(p) / sizeof(int64_t));
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, parse_int, 0, ROWS(ints));
	tcase_add_test(tc, parse_int_range);
	tcase_add_loop_test(tc, parse_bytes, 0, ROWS(sizes));
	tcase_add_test(tc, variables);
}

int main(void)
{
	return unit_run("params", add);
}
