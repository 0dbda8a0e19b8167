/* pldi_opts.h - reading an options struct of a program that is older or newer than this library. */
#ifndef PLDI_OPTS_H
#define PLDI_OPTS_H

#include <stddef.h>

#include <pl/status.h>

/*
 * Copies the options `from`, whose size_t size_ lies at size_at, to `to`, which this library knows
 * `known` bytes of; what an older program does not have is zero.  PL_EINVAL: size_ is 0 (the
 * struct was not made by the macro), or a newer program has set options that are unknown here.
 */
pl_status pldi_opts(void *to, size_t known, const void *from, size_t size_at, const char *call,
		    const char *where);

#endif
