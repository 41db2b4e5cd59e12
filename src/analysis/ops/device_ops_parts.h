/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two kinds of devices have in common when their op metrics are made. For the files
 * device_ops*.c alone; others include device_ops.h.
 */
#ifndef TFP_ANALYSIS_OPS_DEVICE_OPS_PARTS_H
#define TFP_ANALYSIS_OPS_DEVICE_OPS_PARTS_H

#include "analysis/events/stat_columns.h"
#include "analysis/ops/device_ops.h"
#include "analysis/ops/op_steps.h"
#include "analysis/ops/step_work.h"

/* A device while it is read. */
struct tfp_plane_ops {
	const struct tfp_plane *plane;
	const struct tfp_line_groups *groups; /* by line; NULL: the stats tell */
	const struct tfp_line_stats *stats;   /* by line of a GPU */
	bool is_tpu;
	bool has_ops; /* a GPU beside TPU cores has kernels only */
	/* What is done in each step, added to beside work; NULL: nobody asks. */
	struct tfp_step_work *works;
	const uint32_t *step_of_group;
	size_t group_count;
	struct tfp_device_work work;
	struct tfp_kernels kernels;
	/* What ops take in each step, of work.ops and work.unnamed; NULL: nobody asks. */
	struct tfp_op_steps *steps, *unnamed_steps;
	enum tfp_status status;
	struct tfp_error error;
};

/* The span of all events by their offsets; the origins of lines play no part
 * there, by the peers' rule. */
struct tfp_ops_span {
	int64_t first_ps, last_ps;
};

static inline void tfp_ops_span_widen(struct tfp_ops_span *span, int64_t begin_ps, int64_t end_ps)
{
	if (begin_ps < span->first_ps)
		span->first_ps = begin_ps;
	if (end_ps > span->last_ps)
		span->last_ps = end_ps;
}

/* The place in works of an event's group; TFP_NO_WORK for an event of none. */
static inline uint32_t tfp_plane_work(const struct tfp_plane_ops *p, size_t line, size_t event)
{
	int32_t group = p->works ? tfp_group_in(&p->groups[line].group, event) : TFP_NO_GROUP;
	return group >= 0 && (size_t)group < p->group_count ? p->step_of_group[group] : TFP_NO_WORK;
}

/* Adds the idle time: what no op takes of the span. false without memory. */
bool tfp_device_ops_finish(struct tfp_device_work *work, const struct tfp_ops_span *span);

/* Copies both texts to a new op. false without memory. */
bool tfp_device_op_texts(struct tfp_op_db *db, struct tfp_op *op, struct tfp_str category,
			 struct tfp_str provenance);

enum tfp_status tfp_device_ops_no_memory(struct tfp_error *err);

/* Fill p->work, and of a GPU p->kernels. The status is returned, and p->error written. */
enum tfp_status tfp_device_ops_of_gpu(struct tfp_plane_ops *p,
				      const struct tfp_hlo_modules *modules);
enum tfp_status tfp_device_ops_of_tpu(struct tfp_plane_ops *p);

/* The visitor of tfp_device_op_events. */
struct tfp_op_visit {
	void (*call)(void *context, const struct tfp_plane *plane, const struct tfp_line *line,
		     size_t event, struct tfp_str name, struct tfp_str type);
	void *context;
};

enum tfp_status tfp_device_visit_gpu(const struct tfp_plane *plane,
				     const struct tfp_hlo_modules *modules,
				     const struct tfp_op_visit *visit, struct tfp_error *err);
enum tfp_status tfp_device_visit_tpu(const struct tfp_plane *plane,
				     const struct tfp_op_visit *visit, struct tfp_error *err);

#endif
