/*
 * Derived lines of devices' planes; see derived_lines.h for what and why, and
 * preprocess.md D for the rules.
 */
#ifndef TFP_ANALYSIS_DERIVED_DEVICE_H
#define TFP_ANALYSIS_DERIVED_DEVICE_H

#include "analysis/derived_plane.h"
#include "analysis/groups.h"
#include "analysis/hlo_modules.h"
#include "analysis/stat_columns.h"
#include "store/capture.h"

/* Ids of derived lines (trace_utils.h): 0xdeadbeef as a signed 32-bit number and on. */
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
};

struct tfp_derived_source {
	const struct tfp_capture *capture;
	const struct tfp_plane *plane;
	size_t plane_index;
	const struct tfp_groups *groups;
	const struct tfp_hlo_modules *modules;
	const struct tfp_derived_launches *launches;
	const struct tfp_line_stats *stats; /* of a GPU, by line */
	size_t device_index;                /* among the planes of GPUs, in the file's order */
};

/* Steps, launch statistics, and for each stream name scopes, framework ops, XLA
 * modules and ops, source lines. */
enum tfp_status tfp_derive_gpu(struct tfp_derived_plane *out,
			       const struct tfp_derived_source *source,
			       struct tfp_error *err) TFP_CHECK;
/* Name scopes, framework ops, source lines and copies to the host's memory of a
 * TensorCore. */
enum tfp_status tfp_derive_tpu(struct tfp_derived_plane *out,
			       const struct tfp_derived_source *source,
			       struct tfp_error *err) TFP_CHECK;

/* What both need: an event of some line of the plane, for sorting over lines. */
struct tfp_derived_ref {
	struct tfp_derived_span span;
	uint32_t line, event;
};

/* All events of one line (only), or of all lines of the plane, derived ones on request, by
 * begin, then by duration (shorter first: GetSortedEvents). Freed with tfp_free; NULL without
 * memory. */
struct tfp_derived_ref *tfp_derived_sorted(const struct tfp_plane *plane,
					   const struct tfp_line *only, bool with_derived,
					   size_t *count);

/* Whether that is the order of the line itself: no two events begin at once. */
bool tfp_derived_is_sorted(const struct tfp_line *line);

/* The same order over all lines of a plane that are not derived, without a list of the events;
 * only of events with one begin and one end it keeps no order.
 *
 *     if (tfp_derived_merge_init(&merge, plane))
 *             while (tfp_derived_merge_next(&merge, &ref)) ...
 *     tfp_derived_merge_release(&merge);
 */
struct tfp_derived_merge {
	const struct tfp_plane *plane;
	struct tfp_derived_head
		*heads; /* a heap: the line whose next event comes first is on top */
	size_t count;
};
/* false without memory. */
bool tfp_derived_merge_init(struct tfp_derived_merge *merge, const struct tfp_plane *plane);
bool tfp_derived_merge_next(struct tfp_derived_merge *merge, struct tfp_derived_ref *ref);
void tfp_derived_merge_release(struct tfp_derived_merge *merge);

static inline struct tfp_derived_span tfp_derived_span_of(const struct tfp_line *line, size_t i)
{
	struct tfp_derived_span span;
	span.begin_ps = tfp_event_start_ps(line, i);
	if (__builtin_add_overflow(span.begin_ps, tfp_event_duration_ps(line, i), &span.end_ps))
		span.end_ps = INT64_MAX;
	return span;
}

#endif
