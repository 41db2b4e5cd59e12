/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each instruction of a program costs: operations, and bytes that it reads and writes.
 * Two analyses exist, as in XLA, and both are made:
 *
 * - the generic one (xla/service/hlo_cost_analysis.cc);
 * - the one for GPUs that XProf uses (xprof/utils/xprof_gpu_cost_analysis.cc on top of
 *   xla/service/gpu/model/gpu_hlo_cost_analysis.cc), whose "flops" of elementwise operations are
 *   clock cycles.
 *
 * Their sums are 32-bit floats, so ours are: what people compare has to come out the same.
 * docs/reference/hlo_cost.md has every rule, with a worked example.
 */
#ifndef TFP_ANALYSIS_HLO_HLO_COST_H
#define TFP_ANALYSIS_HLO_HLO_COST_H

#include "analysis/hlo/hlo_program.h"

enum tfp_hlo_cost_source {
	TFP_HLO_COST_XLA,     /* by XLA's rules */
	TFP_HLO_COST_OURS,    /* XLA knows nothing, shapes tell */
	TFP_HLO_COST_UNKNOWN, /* nobody knows: a custom call, or what holds one and nothing else */
};

/* In whole operations and bytes; -1 where the analysis says that it does not know. */
struct tfp_hlo_cost {
	int64_t flops, transcendentals, bytes; /* the generic analysis */
	int64_t gpu_flops;                     /* XProf's model flops */
	int64_t gpu_device_flops;              /* the same, less for inputs of 8 and 4 bits */
	int64_t gpu_bytes, gpu_bytes_read, gpu_bytes_written; /* the last two: of main memory */
	uint8_t source;                                       /* enum tfp_hlo_cost_source */
};

/* An entry for each instruction of the program; the caller frees the list (tfp_free).
 * TFP_BAD_INPUT when an instruction lacks what its operation needs, such as an operand. */
enum tfp_status tfp_hlo_cost_analyse(const struct tfp_hlo_program *program,
				     struct tfp_hlo_cost **costs, struct tfp_error *err) TFP_CHECK;

#endif
