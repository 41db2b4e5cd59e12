/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the events of allocators are read: as columns in the order of the file, with their texts
 * numbered. For the files memory_*.c alone; others include memory_events.h.
 */
#ifndef TFP_ANALYSIS_MEMORY_MEMORY_PARTS_H
#define TFP_ANALYSIS_MEMORY_MEMORY_PARTS_H

#include "analysis/grouping/groups.h"
#include "analysis/memory/memory_events.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/str_map.h"

#include <stdatomic.h>

#define TFP_MEMORY_NO_STEP (-1)

/* Fails for want of memory; returns TFP_NO_MEMORY. */
enum tfp_status tfp_memory_exhausted(struct tfp_error *err);

/* The sum, or the limit that it would pass. */
static inline int64_t tfp_memory_add(int64_t a, int64_t b)
{
	int64_t sum;
	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

/* Labels and ids of allocators, each once. */
struct tfp_memory_names {
	struct tfp_arena arena;
	struct tfp_str_map label_map, id_map;
	struct tfp_memory_label *labels;
	size_t label_count, label_room;
	struct tfp_str *ids;
	size_t id_count, id_room;
	struct tfp_buf key;
};

void tfp_memory_names_init(struct tfp_memory_names *n);
/* The labels, the ids and their texts stay, if kept. */
void tfp_memory_names_release(struct tfp_memory_names *n, bool kept);
/* Both copy what they have not, and return its number, or TFP_STR_MAP_NONE without memory. */
uint32_t tfp_memory_add_id(struct tfp_memory_names *n, struct tfp_str id);
uint32_t tfp_memory_add_label(struct tfp_memory_names *n, const struct tfp_memory_label *label);

/* All events, line after line, in the order of the file. */
struct tfp_memory_columns {
	int64_t *time, *used, *allocation, *requested, *address, *step;
	uint32_t *label, *line, *event;
	uint32_t *allocator; /* gone when the events are sorted by it */
	uint8_t *activity;
	uint8_t *is_null; /* allocations that got no address or no bytes */
};

struct tfp_memory_line;  /* its events, in the order of the file */
struct tfp_memory_piece; /* some events, read in one go */

/* Zero but for plane and schema before it is used. */
struct tfp_memory_reader {
	const struct tfp_plane *plane;
	size_t plane_index;
	const struct tfp_schema *schema;
	bool on_one_clock; /* times are from the first line's start, not the own's: */
	int64_t origin_ps;
	const struct tfp_groups *groups; /* NULL: the capture brings its own along */
	uint8_t *kinds;                  /* by event metadata: enum tfp_memory_activity or 0 */
	struct tfp_memory_line *lines;
	struct tfp_memory_columns c;
	size_t count;
	struct tfp_memory_piece *pieces;
	size_t piece_count;
	struct tfp_memory_names names; /* of all pieces */
	atomic_bool no_memory;
};

/* Reads all events of the plane into r->c and their texts into r->names; r->count is 0 where there
 * are none. Sets the clocks of memory. After a failure too r is to be released, and names, which
 * are the caller's. */
enum tfp_status tfp_memory_read(struct tfp_memory_reader *r, struct tfp_capture *capture,
				struct tfp_pool *pool, struct tfp_memory *memory,
				struct tfp_error *err) TFP_CHECK;
/* All but names. */
void tfp_memory_reader_release(struct tfp_memory_reader *r);
/* The stats of events of allocators, for a reader and for tfp_memory_state_at. */
enum tfp_status tfp_memory_schema_init(struct tfp_schema *schema, const struct tfp_plane *plane,
				       struct tfp_error *err) TFP_CHECK;

#endif
