/* pldi_ops.h - arithmetic on arrays, element by element, for every dtype. */
#ifndef PLDI_OPS_H
#define PLDI_OPS_H

#include <pl/tensor.h>

enum pldi_op { PLDI_ADD, PLDI_SUB, PLDI_MUL, PLDI_MAX, PLDI_MIN, PLDI_OPS };

/* out = a op b, n elements, by pl_add's rules; aligned arrays, out overlaps neither. */
typedef void pldi_op_fn(void *restrict out, const void *a, const void *b, size_t n);

/* The loop of an operation; t is a dtype. */
pldi_op_fn *pldi_op(enum pldi_op op, pl_dtype t);

#endif
