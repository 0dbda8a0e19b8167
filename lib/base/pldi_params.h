/* pldi_params.h - the PLD_* environment variables of params.def, parsed strictly, once. */
#ifndef PLDI_PARAMS_H
#define PLDI_PARAMS_H

#include <stddef.h>
#include <stdint.h>

struct pldi_params {
#define PLD_PARAM(name, def, least, most, unit, help) int64_t name;
#include "params.def"
#undef PLD_PARAM
};

struct pldi_param_info {
	const char *name; /* "PLD_SPIN_US" */
	int64_t def, least, most;
	const char *unit, *help;
};
extern const struct pldi_param_info pldi_param_table[]; /* ends with a NULL name */

/* Fills p from the environment.  0, or -1 with one line in text that names variable and range. */
int pldi_params_read(struct pldi_params *p, char *text, size_t text_bytes);

/* A whole number in decimal, nothing before or after it.  0, or -1: not one, or out of range. */
int pldi_parse_int(const char *s, int64_t least, int64_t most, int64_t *out);

/*
 * Bytes: a number >= 0, with a fraction or not, and K, M, G or T (powers of 1024, either case, a B
 * or iB after it allowed).  0, or -1: anything else, or more than INT64_MAX.
 */
int pldi_parse_bytes(const char *s, int64_t *out);

#endif
