/* csv.h - the data set of train_dp. */
#ifndef CSV_H
#define CSV_H

#include <pld.h>

#include "args.h"

/*
 * csv_read - the file of the command line as one FP64 tensor [rows, columns] for all ranks.  A line
 * is numbers with commas between; the last one is the line's class, a whole number; all other
 * columns are divided by the largest number among them.  *classes: 1 + the largest class.  Rank 0
 * reads and ends the job, with file and line, when it cannot.  Collective over the world.
 */
pl_tensor csv_read(const struct args *a, int64_t *classes);

#endif
