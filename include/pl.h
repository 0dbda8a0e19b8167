/* pl.h - the local vocabulary: status, dtypes, tensors, tiles.  Knows nothing of ranks. */
#ifndef PL_H
#define PL_H

#include <pl/base.h>
#include <pl/status.h>
#include <pl/tensor.h>
#include <pl/tile.h>

#endif
