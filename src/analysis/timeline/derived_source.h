/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the derived lines of a plane are made from; see derived_lines.h for what they are,
 * and preprocess.md D for the rules.
 */
#ifndef TFP_ANALYSIS_TIMELINE_DERIVED_SOURCE_H
#define TFP_ANALYSIS_TIMELINE_DERIVED_SOURCE_H

#include "analysis/events/stat_columns.h"
#include "analysis/grouping/groups.h"
#include "analysis/hlo/hlo_modules.h"
#include "analysis/timeline/derived_launches.h"
#include "store/capture.h"

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

#endif
