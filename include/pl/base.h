/* pl/base.h - plumbing of both vocabularies: export mark, caller's place, optional arguments. */
#ifndef PL_BASE_H
#define PL_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PL_API __attribute__((visibility("default")))
#else
#define PL_API
#endif

#ifdef __cplusplus
#define PL_BEGIN_DECLS extern "C" {
#define PL_END_DECLS }
#define PL_OPTS_SIZE_(tag) = sizeof(tag) /* in C++ an options struct knows its size by itself */
#else
#define PL_BEGIN_DECLS
#define PL_END_DECLS
#define PL_OPTS_SIZE_(tag)
#endif

#define PL_STR2_(x) #x
#define PL_STR_(x) PL_STR2_(x)
#define PL_CAT2_(a, b) a##b
#define PL_CAT_(a, b) PL_CAT2_(a, b)

/*
 * "file:line" of the caller: one pointer to a string literal, the last argument of every call
 * that can fail or block.  The macros of the same name as a function add it.
 */
#define PL_WHERE __FILE__ ":" PL_STR_(__LINE__)

/*
 * PL_PICKn_(args): _PLAIN_ when there are exactly n arguments, _OPTS_ when there are more (up to
 * 24), _TOO_FEW_ARGUMENTS_ when there are fewer: how a call takes options after its arguments.
 */
#define PL_25TH_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, ...) y
#define PL_PICK1_(...)                                                                             \
	PL_25TH_(__VA_ARGS__, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_,      \
		 _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_,   \
		 _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _PLAIN_, ~)
#define PL_PICK2_(...)                                                                             \
	PL_25TH_(__VA_ARGS__, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_,      \
		 _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_,   \
		 _OPTS_, _OPTS_, _OPTS_, _OPTS_, _PLAIN_, _TOO_FEW_ARGUMENTS_, ~)
#define PL_PICK3_(...)                                                                             \
	PL_25TH_(__VA_ARGS__, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_,      \
		 _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_,   \
		 _OPTS_, _OPTS_, _OPTS_, _PLAIN_, _TOO_FEW_ARGUMENTS_, _TOO_FEW_ARGUMENTS_, ~)
#define PL_PICK4_(...)                                                                             \
	PL_25TH_(__VA_ARGS__, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_,      \
		 _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_, _OPTS_,   \
		 _OPTS_, _OPTS_, _PLAIN_, _TOO_FEW_ARGUMENTS_, _TOO_FEW_ARGUMENTS_,                \
		 _TOO_FEW_ARGUMENTS_, ~)

#endif
