/*
 * Which of the stats that a reader wants a stat is, without comparing names in
 * a loop over events: a table per plane, made once, from the keys that the
 * file uses to the reader's own enum. Also what planes and lines are by name
 * and number (xplane.md 3 and 4).
 */
#ifndef TFP_ANALYSIS_SCHEMA_H
#define TFP_ANALYSIS_SCHEMA_H

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
 * record of their own: their ids lie in a window from 0xdeadbeef as a signed 32-bit number
 * on (trace_utils.h). */
bool tfp_line_is_derived(const struct tfp_line *line);

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
