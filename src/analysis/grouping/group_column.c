/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/grouping/group_column.h"

#include "base/alloc.h"

#include <string.h>

bool tfp_group_writer_init(struct tfp_group_writer *w, struct tfp_group_column *column,
			   size_t events)
{
	size_t room = events / TFP_GROUPS_A_BLOCK + (events % TFP_GROUPS_A_BLOCK != 0);
	*w = (struct tfp_group_writer){.column = column, .room = room};
	column->blocks = tfp_reallocarray(NULL, room, sizeof(*column->blocks));
	return column->blocks != NULL;
}

static bool add_mixed(struct tfp_group_writer *w)
{
	struct tfp_group_column *c = w->column;
	if (c->mixed_count == w->mixed_room) {
		/* A quarter more, not twice as much: it can be as large as the line. */
		size_t room = w->mixed_room + w->mixed_room / 4 + 4;
		room = room < w->room ? room : w->room;
		int32_t *mixed = tfp_reallocarray(c->mixed, room, sizeof(w->block));
		if (!mixed)
			return false;
		c->mixed = mixed;
		w->mixed_room = room;
	}
	memcpy(c->mixed + c->mixed_count * TFP_GROUPS_A_BLOCK, w->block, sizeof(w->block));
	c->blocks[c->block_count++] = -2 - (int32_t)c->mixed_count++;
	return true;
}

bool tfp_group_writer_flush(struct tfp_group_writer *w)
{
	struct tfp_group_column *c = w->column;
	int32_t first = w->block[0];
	bool same = true;
	for (unsigned i = 1; i < w->count; i++)
		same &= w->block[i] == first;
	/* Nobody reads what is behind the line's end. */
	for (unsigned i = w->count; i < TFP_GROUPS_A_BLOCK; i++)
		w->block[i] = TFP_NO_GROUP;
	w->count = 0;
	w->any |= !same || first != TFP_NO_GROUP;
	if (!same)
		return add_mixed(w);
	c->blocks[c->block_count++] = first;
	return true;
}

bool tfp_group_writer_finish(struct tfp_group_writer *w)
{
	struct tfp_group_column *c = w->column;
	if (w->count && !tfp_group_writer_flush(w))
		return false;
	/* Where the work was given up. */
	while (c->block_count < w->room)
		c->blocks[c->block_count++] = TFP_NO_GROUP;
	if (!w->any)
		tfp_group_column_release(c);
	if (c->mixed) {
		int32_t *fitting = tfp_reallocarray(c->mixed, c->mixed_count, sizeof(w->block));
		c->mixed = fitting ? fitting : c->mixed;
	}
	return true;
}

uint64_t tfp_group_column_bytes(const struct tfp_group_column *column)
{
	return column->block_count * sizeof(*column->blocks) +
	       column->mixed_count * TFP_GROUPS_A_BLOCK * sizeof(*column->mixed);
}

void tfp_group_column_release(struct tfp_group_column *column)
{
	tfp_free(column->blocks);
	tfp_free(column->mixed);
	*column = (struct tfp_group_column){0};
}
