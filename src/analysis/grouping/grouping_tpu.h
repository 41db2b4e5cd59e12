/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of a TPU's lines in raw captures (XProf's GroupTpuXPlaneEvents;
 * preprocess.md C1 and C3). For grouping.c.
 *
 * One line of a core or SparseCore groups all others: its steps, or, where it has
 * none, its modules. An event that overlaps one of its events is of that event's
 * group.
 */
#ifndef TFP_ANALYSIS_GROUPING_GROUPING_TPU_H
#define TFP_ANALYSIS_GROUPING_GROUPING_TPU_H

#include "analysis/grouping/groups.h"

#define TFP_TPU_PREFIX "/device:TPU:"

/* Place of the line that groups the others of a core's or SparseCore's plane, or
 * SIZE_MAX: the plane is none, or has neither steps nor modules. */
size_t tfp_tpu_grouping_line(const struct tfp_plane *plane);

/* The number in /device:TPU:<n>, or -1. */
int64_t tfp_tpu_ordinal(struct tfp_str name);

/* lines: of the plane; the grouping line's groups are made, the others have no column
 * yet. Gives the events of the other lines their groups, and
 * notes which steps carry the group's name. Leaves other planes alone.
 * false without memory. */
bool tfp_group_tpu_lines(const struct tfp_plane *plane, struct tfp_line_groups *lines);

#endif
