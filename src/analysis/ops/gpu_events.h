/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the stats of events on a GPU's streams: one place for the rules that op metrics,
 * kernel reports and lists of instances follow
 * (tf2_and_xprof.md, "stat that names the op of a GPU event").
 *
 *     struct tfp_gpu_reader reader;
 *     tfp_gpu_reader_init(&reader, plane, modules, &err);
 *     for each line of the plane that is not derived, for each event i:
 *             tfp_gpu_event_read(&reader, line, i, &event);
 *     tfp_gpu_reader_release(&reader);
 */
#ifndef TFP_ANALYSIS_OPS_GPU_EVENTS_H
#define TFP_ANALYSIS_OPS_GPU_EVENTS_H

#include "analysis/events/schema.h"
#include "analysis/hlo/hlo_modules.h"
#include "store/capture.h"

struct tfp_gpu_reader {
	const struct tfp_plane *plane;
	const struct tfp_hlo_modules *modules;
	struct tfp_schema schema;
};

struct tfp_gpu_event {
	struct tfp_str name;           /* of the kernel or copy */
	int64_t start_ps, duration_ps; /* start from the line's origin */
	/* `path/op:Type` by the stats tf_op, `level 0`, annotation, in that order,
	 * or "". */
	struct tfp_str op_fullname;
	struct tfp_str hlo_op; /* innermost, or "" */
	struct tfp_str hlo_module;
	uint64_t program_id;
	/* What hlo_op is, or NULL when the file does not have it. */
	const struct tfp_hlo_instruction *instruction;
	struct tfp_str kernel_details, equation; /* or "" */
	bool is_eager;
	bool has_tf_op;            /* op_fullname is by that stat */
	bool is_in_graph;          /* a graph of kernels was launched, and it with it */
	bool has_flops, has_bytes; /* counted by the profiler */
	double flops, bytes_accessed;
};

enum tfp_status tfp_gpu_reader_init(struct tfp_gpu_reader *reader, const struct tfp_plane *plane,
				    const struct tfp_hlo_modules *modules,
				    struct tfp_error *err) TFP_CHECK;
void tfp_gpu_reader_release(struct tfp_gpu_reader *reader);

void tfp_gpu_event_read(const struct tfp_gpu_reader *reader, const struct tfp_line *line, size_t i,
			struct tfp_gpu_event *event);

/* The framework op that an event counts for: `path/op:Type` of its HLO
 * instruction ("" when that has none), else of its own stats, else the bare
 * name of an HLO instruction that the file does not have, else "". */
struct tfp_str tfp_gpu_event_op(const struct tfp_gpu_event *event);

#endif
