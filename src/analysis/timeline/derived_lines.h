/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines that no profiler wrote: steps, XLA modules and ops, framework ops, name
 * scopes, source lines and launch statistics, made from the stats of events
 * (preprocess.md D, derived_timeline.cc), and counters of the memory in use
 * (derived_memory.h).
 *
 * They are a capture of their own, so that the same code walks their lines, names
 * and stats:
 *
 *     const struct tfp_capture *derived;
 *     tfp_derived_lines_get(capture, pool, &derived, &err);
 *     for (size_t p = 0; p < derived->plane_count; p++)
 *             ... derived->planes[p] adds lines to the plane of capture with this id and name ...
 */
#ifndef TFP_ANALYSIS_TIMELINE_DERIVED_LINES_H
#define TFP_ANALYSIS_TIMELINE_DERIVED_LINES_H

#include "store/capture.h"

/* Of a capture; computed once and kept with it. *out is never NULL and may have
 * no planes. Its lines' clock is the capture's. A line that the file brings
 * along already is not derived again; of a grouped capture there are counters alone. */
enum tfp_status tfp_derived_lines_get(struct tfp_capture *capture, struct tfp_pool *pool,
				      const struct tfp_capture **out,
				      struct tfp_error *err) TFP_CHECK;

/* XProf shows each stream of a GPU with its derived lines after it, and numbers
 * the rows of a plane for that. The row of a line of the file, or 0 where it has its own. */
int64_t tfp_derived_row_of(const struct tfp_capture *derived, const struct tfp_plane *plane,
			   const struct tfp_line *line);

#endif
