/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What devices did in each step: sums over ops, for the program's points in a roofline
 * (XProf's hlo_metrics_db of a step; op_stats_to_roofline_model.cc takes only sums of it, so
 * only sums are kept: some hundred bytes a step, whatever the number of ops).
 *
 * Times are picoseconds of devices: two devices that work for the same second are two seconds.
 */
#ifndef TFP_ANALYSIS_OPS_STEP_WORK_H
#define TFP_ANALYSIS_OPS_STEP_WORK_H

#include "analysis/ops/op_db.h"

/* The place of what belongs to no step. */
#define TFP_NO_WORK UINT32_MAX

/* Which ops a sum is of. */
enum tfp_work_part {
	TFP_WORK_OPS,    /* instructions, and ops that a framework named */
	TFP_WORK_FEEDS,  /* of these infeed and outfeed, which are not in TFP_WORK_OPS */
	TFP_WORK_OTHERS, /* what XProf takes for idle time: of no known program, or of no op */
	TFP_WORK_PARTS
};

struct tfp_work_sum {
	uint64_t self_time_ps; /* of all ops */
	uint64_t time_ps;      /* with what they called */
	/* Of those that hold no others, and whose cost is known. */
	bool has_cost;
	double flops, model_flops, bytes_accessed;
	bool has_breakdown;
	double bytes[TFP_SPACE_COUNT][TFP_ACCESS_COUNT];
};

struct tfp_step_work {
	uint32_t number;          /* the step's, as in struct tfp_step */
	int64_t begin_ps, end_ps; /* over all cores of the host */
	uint64_t duration_ps;     /* of the core that took longest */
	/* Of all devices that take part in steps: of each the step's duration, or where ops take
	 * longer the time of ops: those of TFP_WORK_OPS and _FEEDS, and all. */
	uint64_t peers_time_ps, whole_time_ps;
	struct tfp_work_sum parts[TFP_WORK_PARTS];
};

/* Categories whose numbers contain those of other ops (xla_op_utils.h, MayHaveInnerOps). */
bool tfp_category_has_inner_ops(struct tfp_str category);
/* Infeed and outfeed (xla_op_utils.h, IsInfeedOrOutfeed). */
bool tfp_category_is_feed(struct tfp_str category);

/* Adds the cost of an op times a number; nothing where it is not known. */
void tfp_work_add_cost(struct tfp_work_sum *sum, const struct tfp_work_sum *cost, double times);

/* A device's sums are complete: adds its time to each step, where it did something in any. */
void tfp_step_work_end_device(struct tfp_step_work *steps, size_t count);
/* Adds the numbers of another device or host to a step, which keeps its own name and place. */
void tfp_step_work_add(struct tfp_step_work *to, const struct tfp_step_work *from);

/* Self time of a step's ops, with or without those that XProf does not know. */
uint64_t tfp_step_work_op_time(const struct tfp_step_work *step, bool with_others);

#endif
