/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of kernels by the host, counted for each GPU and step ("Launch Stats"
 * of derived_timeline.cc). The host's events are gone through once for all GPUs.
 */
#ifndef TFP_ANALYSIS_TIMELINE_DERIVED_LAUNCHES_H
#define TFP_ANALYSIS_TIMELINE_DERIVED_LAUNCHES_H

#include "analysis/grouping/groups.h"
#include "analysis/timeline/derived_plane.h"

/* Of one device in one group. */
struct tfp_derived_launch {
	size_t device;
	int32_t group;
	struct tfp_derived_span span;
	uint64_t count, total_ps, longest_ps;
};

struct tfp_derived_launches {
	struct tfp_derived_launch *list; /* ascending by device, then group; each once */
	size_t count;
};

/* Of the devices below device_count; list is freed with tfp_free, whatever comes. */
enum tfp_status tfp_derived_launches_get(struct tfp_capture *capture,
					 const struct tfp_groups *groups, size_t device_count,
					 struct tfp_pool *pool, struct tfp_derived_launches *out,
					 struct tfp_error *err) TFP_CHECK;
void tfp_derive_launches(struct tfp_derived_plane *out, const struct tfp_groups *groups,
			 const struct tfp_derived_launches *launches, size_t device);

#endif
