/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a plane in order of time, over its lines.
 */
#ifndef TFP_ANALYSIS_TIMELINE_DERIVED_SORT_H
#define TFP_ANALYSIS_TIMELINE_DERIVED_SORT_H

#include "analysis/timeline/derived_plane.h"
#include "store/capture.h"

/* An event of some line of the plane. */
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

#endif
