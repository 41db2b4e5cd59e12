/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The groups of a capture, as a fact that is kept with it.
 *
 *     const struct tfp_groups *groups;
 *     tfp_groups_get(capture, pool, &groups, &err);
 *     int32_t group = tfp_group_of(groups, p, l, i);
 *
 * Captures of TensorFlow 2.2 to 2.1x carry group ids in the file. Newer ones are
 * raw, and their groups are made here (grouping.h).
 */
#ifndef TFP_ANALYSIS_GROUPING_CAPTURE_GROUPS_H
#define TFP_ANALYSIS_GROUPING_CAPTURE_GROUPS_H

#include "analysis/grouping/groups.h"

enum tfp_status tfp_groups_get(struct tfp_capture *capture, struct tfp_pool *pool,
			       const struct tfp_groups **out, struct tfp_error *err) TFP_CHECK;

#endif
