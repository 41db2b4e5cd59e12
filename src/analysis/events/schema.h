/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the keys that a file gives to stats to a reader's own enum: a table for
 * each plane, made once, so that a loop over events compares numbers and no names.
 * Also kinds of planes and lines, by name and number (xplane.md 3 and 4).
 */
#ifndef TFP_ANALYSIS_EVENTS_SCHEMA_H
#define TFP_ANALYSIS_EVENTS_SCHEMA_H

#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_schema {
	const struct tfp_plane *plane;
	uint8_t *wanted; /* by index of stat metadata: 0, or index in the list of names + 1 */
};

/* names: count texts, at most 255. */
enum tfp_status tfp_schema_init(struct tfp_schema *schema, const struct tfp_plane *plane,
				const char *const *names, size_t count,
				struct tfp_error *err) TFP_CHECK;
void tfp_schema_release(struct tfp_schema *schema);
/* Whether the plane knows a stat of that place in the list at all. */
bool tfp_schema_has(const struct tfp_schema *schema, size_t name);
/* Whether it knows any of them. */
bool tfp_schema_has_any(const struct tfp_schema *schema);

/* Place of the stat in the list of names, or -1. */
static inline int tfp_schema_of(const struct tfp_schema *schema, const struct tfp_stat *stat)
{
	const struct tfp_id_map *ids = &schema->plane->stat_meta_ids;
	return (int)schema->wanted[tfp_id_map_find(ids, stat->metadata_id)] - 1;
}

/* The next stat that is in the list of names: its place there, or -1 at the end. */
static inline int tfp_schema_next(const struct tfp_schema *schema, struct tfp_stat_iter *it,
				  struct tfp_stat *stat)
{
	return (int)tfp_stat_next_of(it, &schema->plane->stat_meta_ids, schema->wanted, stat) - 1;
}

/* Derived lines are made by a profiler or viewer from other lines, and are no
 * record of their own. Their ids lie in a window from 0xdeadbeef as a signed 32-bit number
 * on (trace_utils.h). */
enum {
	TFP_LINE_STEPS = -559038737,
	TFP_LINE_LAUNCH_STATS,
	TFP_LINE_NAME_SCOPE,
	TFP_LINE_FRAMEWORK_OPS,
	TFP_LINE_XLA_MODULES,
	TFP_LINE_XLA_OPS,
	TFP_LINE_OVERHEAD,
	TFP_LINE_SOURCE,
	TFP_LINE_HOST_OFFLOAD, /* 41 rows */
	TFP_LINE_HOST_OFFLOAD_END = TFP_LINE_HOST_OFFLOAD + 41,
	TFP_LINE_STREAMS = TFP_LINE_STEPS + 290, /* six ids for each stream */
	TFP_LINE_STREAMS_END = TFP_LINE_STREAMS + 100,
	TFP_LINE_DERIVED_END = TFP_LINE_STEPS + 390, /* after the highest kind known */
};

bool tfp_line_is_derived(const struct tfp_line *line);

/* The last text among the stats whose key in the file is id, "" where there is none. */
struct tfp_str tfp_stats_text(const struct tfp_plane *plane, struct tfp_stat_iter stats,
			      int64_t id);

enum tfp_plane_kind {
	TFP_PLANE_OTHER,
	TFP_PLANE_HOST,        /* exactly /host:CPU */
	TFP_PLANE_METADATA,    /* exactly /host:metadata */
	TFP_PLANE_GPU,         /* /device:GPU:... */
	TFP_PLANE_TPU,         /* /device:TPU:<n>, a TensorCore */
	TFP_PLANE_SPARSE_CORE, /* /device:TPU:<n> SparseCore <m>, also with a word before <m> */
};

enum tfp_plane_kind tfp_plane_kind(struct tfp_str name);

/* Whether events of this capture carry group ids already: every host and
 * device plane knows the stat `group_id` (IsXSpaceGrouped). */
bool tfp_capture_is_grouped(const struct tfp_capture *capture);

#endif
