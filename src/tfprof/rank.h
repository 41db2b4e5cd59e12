/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting rows as the original does, ties included.
 *
 * It sorts with C++'s std::sort, which leaves equal elements in no order that anybody promises;
 * but with one library it is always the same, and tables with equal rows (all those that take no
 * time) are ordered by it. So the steps are those of GCC's library: quicksort by the median of
 * three, down to sixteen elements, heapsort where that goes too deep, and insertion at the end.
 */
#ifndef TFP_TFPROF_RANK_H
#define TFP_TFPROF_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As tfp_sort_indexes (base/sort.h) but for ties. before must be a strict weak order. */
uint32_t *tfp_rank_indexes(size_t count,
			   bool (*before)(const void *context, uint32_t a, uint32_t b),
			   const void *context);

#endif
