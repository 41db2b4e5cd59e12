/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of raw captures (XProf's grouping, preprocess.md C): made from nesting on a
 * thread, from producers and consumers on different threads, from launches and
 * kernels.
 */
#ifndef TFP_ANALYSIS_GROUPING_GROUPING_H
#define TFP_ANALYSIS_GROUPING_GROUPING_H

#include "analysis/grouping/groups.h"

/* Fills in groups that are new and empty. */
enum tfp_status tfp_group_raw(struct tfp_capture *capture, struct tfp_pool *pool,
			      struct tfp_groups *groups, struct tfp_error *err) TFP_CHECK;

#endif
