/*
 * What the events of a capture say about its steps: spans of host and GPU
 * events by kind, markers, copies; parts of TPU steps. Lists are for steps.c alone.
 */
#ifndef TFP_ANALYSIS_STEP_EVENTS_H
#define TFP_ANALYSIS_STEP_EVENTS_H

#include "analysis/executions.h"
#include "analysis/groups.h"
#include "analysis/schema.h"
#include "analysis/stat_columns.h"
#include "analysis/steps.h"

struct tfp_step_marker {
	int64_t begin_ps, end_ps;
	uint32_t group;
	bool is_named; /* the event carries the step's name */
};

struct tfp_step_copy_event {
	uint32_t group;
	enum tfp_step_copy kind;
	uint64_t time_ps, bytes;
};

/* Events of a line, from first to last, without one of another group among them that counts.
 * Their spans are made when their group is looked at: all spans together would take a quarter
 * of what the capture does. */
struct tfp_step_run {
	uint32_t group, first, last;
	uint32_t count; /* of those that count, at least 1 */
};

/* Of one line. Lists are owned. */
struct tfp_line_steps {
	struct tfp_step_run *runs; /* ascending by group, then by event; but for a TPU's host */
	size_t run_count, run_room;
	uint64_t *root_stages;       /* a bit for each event; NULL: none is one */
	uint8_t *types_by_kind;      /* of a GPU's events, where their shapes matter */
	struct tfp_step_span *spans; /* of a TPU's host, ascending by group */
	size_t span_count, span_room;
	struct tfp_step_marker *markers;
	size_t marker_count, marker_room;
	struct tfp_step_copy_event *copies;
	size_t copy_count, copy_room;
};

/* A TPU core's part of a step. */
struct tfp_tpu_step {
	uint32_t group;
	bool has_marker;
	int64_t begin_ps, end_ps;
	uint64_t part_ps[TFP_TPU_PART_COUNT]; /* self times; IDLE is 0 */
};

/* Of one plane. Owned. */
struct tfp_plane_steps {
	size_t plane;
	enum tfp_plane_kind kind;
	struct tfp_line_steps *lines;    /* as the plane's; derived ones stay empty */
	struct tfp_step_marker *markers; /* of a GPU's steps */
	size_t marker_count, marker_room;
	struct tfp_tpu_step *tpu; /* ascending by group */
	size_t tpu_count, tpu_room;
	bool has_infeed; /* some HLO op of the TPU takes data in */
	/* For the spans of runs. */
	const struct tfp_capture *capture;
	const struct tfp_line_groups *groups;  /* by line */
	const struct tfp_line_stats *stats;    /* by line; NULL where no GPU is */
	const struct tfp_group_column **group; /* by line of a GPU */
	struct tfp_group_column *filled;       /* those of it that are not the groups' own */
	struct tfp_step_host_name *names;      /* of a host, by metadata */
	bool has_shapes;                       /* of a GPU, that decide about types */
	uint8_t *types;                        /* of a GPU, by metadata: where no shape decides */
};

/* wanted: by group, whether host events of it count; NULL: all. stats: of the host's or the
 * GPU's lines; NULL for a host without GPUs, none of whose events are launches of kernels.
 * by_runs: runs are wanted, else spans. executions: whose steps the groups are, where they are
 * not marked ones: then no event is a marker; NULL otherwise. Reads one plane in the pool's
 * threads. false without memory. What out is made from must outlive it. */
bool tfp_step_events_of_gpu(const struct tfp_capture *capture, const struct tfp_groups *groups,
			    const struct tfp_executions *executions,
			    const struct tfp_line_stats *stats, struct tfp_pool *pool,
			    struct tfp_plane_steps *out);
bool tfp_step_events_of_host(const struct tfp_capture *capture, const struct tfp_groups *groups,
			     const struct tfp_executions *executions, const bool *wanted,
			     const struct tfp_line_stats *stats, bool by_runs,
			     struct tfp_pool *pool, struct tfp_plane_steps *out);
/* The spans of a run of a line, which are count at most; returns how many. Those that lie in
 * or touch one another are one. */
size_t tfp_step_spans_of_run(const struct tfp_plane_steps *steps, size_t line,
			     const struct tfp_step_run *run, struct tfp_step_span *spans);
bool tfp_step_events_of_tpu(const struct tfp_capture *capture, const struct tfp_groups *groups,
			    const struct tfp_executions *executions, struct tfp_plane_steps *out);
void tfp_plane_steps_release(const struct tfp_capture *capture, struct tfp_plane_steps *steps);

/* Kind of an event of a GPU's stream; shape: its stat, or "". */
enum tfp_step_event tfp_step_type_of_gpu_event(struct tfp_str name, struct tfp_str shape);
/* Kind of a host event that is neither marker nor excluded. */
enum tfp_step_event tfp_step_type_of_host_event(struct tfp_str name, bool has_gpu,
						bool has_correlation_id);
/* What a TPU does in an op, by the op's stat hlo_category ("" for none). */
enum tfp_tpu_part tfp_tpu_part_of_category(struct tfp_str category);

#endif
