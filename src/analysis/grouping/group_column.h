/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which group each event of a line is of, as one number for a block of events wherever
 * they are all of one group, or of none. Devices run one step after the other, so that
 * most blocks are; on threads of a host many are of none.
 */
#ifndef TFP_ANALYSIS_GROUPING_GROUP_COLUMN_H
#define TFP_ANALYSIS_GROUPING_GROUP_COLUMN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFP_NO_GROUP (-1)

#define TFP_GROUPS_A_BLOCK 32u

/* Zeroed: no event is of any group. */
struct tfp_group_column {
	/* By block: the group of all its events, or TFP_NO_GROUP; or -2 - n, and they are
	 * in block n of mixed. NULL when no event of the line has a group. */
	int32_t *blocks;
	int32_t *mixed;
	size_t block_count, mixed_count; /* mixed_count: in blocks */
};

static inline int32_t tfp_group_in(const struct tfp_group_column *column, size_t event)
{
	if (!column->blocks)
		return TFP_NO_GROUP;
	int32_t block = column->blocks[event / TFP_GROUPS_A_BLOCK];
	if (block >= TFP_NO_GROUP)
		return block;
	return column
		->mixed[(size_t)(-2 - block) * TFP_GROUPS_A_BLOCK + event % TFP_GROUPS_A_BLOCK];
}

/* Fills a column, one event after the other. All blocks but the last can be read
 * meanwhile. */
struct tfp_group_writer {
	struct tfp_group_column *column;
	size_t room, mixed_room; /* in blocks */
	int32_t block[TFP_GROUPS_A_BLOCK];
	unsigned count; /* of events in block */
	bool any;
};

/* column: zeroed, the caller's also after a failure. These are false without memory. */
bool tfp_group_writer_init(struct tfp_group_writer *w, struct tfp_group_column *column,
			   size_t events) TFP_CHECK;
/* At most as many as were announced. */
bool tfp_group_writer_flush(struct tfp_group_writer *w) TFP_CHECK;
/* After the last event; those that did not come are of no group. */
bool tfp_group_writer_finish(struct tfp_group_writer *w) TFP_CHECK;

static inline bool tfp_group_writer_add(struct tfp_group_writer *w, int32_t group)
{
	w->block[w->count++] = group;
	return w->count < TFP_GROUPS_A_BLOCK || tfp_group_writer_flush(w);
}

uint64_t tfp_group_column_bytes(const struct tfp_group_column *column);
void tfp_group_column_release(struct tfp_group_column *column);

#endif
