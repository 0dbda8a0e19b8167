/* params.c - strict parsing of the PLD_* variables. */
#include "config.h"

#include <errno.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pldi_params.h"

const struct pldi_param_info pldi_param_table[] = {
#define PLD_PARAM(name, def, least, most, unit, help)                                              \
	{ "PLD_" #name, def, least, most, unit, help },
#include "params.def"
#undef PLD_PARAM
	{ NULL, 0, 0, 0, NULL, NULL }
};

int pldi_parse_int(const char *s, int64_t least, int64_t most, int64_t *out)
{
	const char *digits = *s == '-' ? s + 1 : s;
	char *end;
	long long v;

	if (!isdigit((unsigned char)*digits))
		return -1;
	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno || *end || v < least || v > most)
		return -1;
	*out = v;
	return 0;
}

/*
 * Not strtold: that reads a comma or a point as the program's locale says, and also signs,
 * exponents, hexadecimal and infinity.
 */
static const char *parse_decimal(const char *s, long double *v)
{
	long double part = 0, scale = 1;

	if (!isdigit((unsigned char)*s))
		return NULL;
	for (*v = 0; isdigit((unsigned char)*s); s++)
		*v = *v * 10 + (*s - '0');
	if (*s != '.')
		return s;
	if (!isdigit((unsigned char)*++s))
		return NULL;
	for (; isdigit((unsigned char)*s); s++) {
		part = part * 10 + (*s - '0');
		scale *= 10;
	}
	*v += part / scale;
	return s;
}

int pldi_parse_bytes(const char *s, int64_t *out)
{
	static const char units[] = "KMGT";
	long double v;
	const char *end = parse_decimal(s, &v);
	const char *unit;

	if (!end)
		return -1;
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		for (int i = 0; i <= unit - units; i++)
			v *= 1024;
		end++;
		if (strcasecmp(end, "b") == 0 || strcasecmp(end, "ib") == 0)
			end = "";
	}
	/* not >=: a number too long even for v is infinite, and its fraction may be no number */
	if (*end || !(v < 0x1p63L))
		return -1;
	*out = (int64_t)v;
	return 0;
}

int pldi_params_read(struct pldi_params *p, char *text, size_t text_bytes)
{
	int64_t *value = (int64_t *)p;

	for (const struct pldi_param_info *i = pldi_param_table; i->name; i++, value++) {
		const char *s = getenv(i->name);

		*value = i->def;
		if (s && pldi_parse_int(s, i->least, i->most, value)) {
			snprintf(text, text_bytes,
				 "%s='%s' is not a whole number of %s from %" PRId64 " to %" PRId64,
				 i->name, s, i->unit, i->least, i->most);
			return -1;
		}
	}
	return 0;
}
