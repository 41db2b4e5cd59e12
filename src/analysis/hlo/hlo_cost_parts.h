/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of hlo_cost share; theirs alone. hlo_cost.c has the walk and the rules by
 * opcode, hlo_cost_fusion.c fusions, hlo_cost_call.c custom calls, hlo_cost_window.c windows.
 */
#ifndef TFP_ANALYSIS_HLO_HLO_COST_PARTS_H
#define TFP_ANALYSIS_HLO_HLO_COST_PARTS_H

#include "analysis/hlo/hlo_cost.h"

/* "Properties" in XLA's code. */
struct tfp_hlo_props {
	float flops, transcendentals, bytes; /* the generic analysis */
	float gpu_flops, gpu_bytes, gpu_output;
};

/* What all fusions have in common that call a computation. */
struct tfp_hlo_fused {
	float gpu_flops, bytes, gpu_bytes;
	float output;               /* bytes written, all leaves */
	int64_t main_output;        /* of main memory */
	uint32_t parameter_count;   /* as the largest parameter's number tells */
	uint32_t *parameters;       /* instruction by number; TFP_HLO_NONE where there is none */
	int64_t *parameter_bytes;   /* what the GPU analysis reads of each */
	int64_t *parameter_main;    /* of main memory, where the parameter is a tuple */
	uint32_t gather_or_scatter; /* the first one, or TFP_HLO_NONE */
};

struct tfp_hlo_costing {
	const struct tfp_hlo_program *program;
	struct tfp_hlo_cost *costs;
	struct tfp_hlo_props *props;       /* by instruction */
	struct tfp_hlo_props *sums;        /* by computation */
	struct tfp_hlo_fused *fused;       /* by computation; for those that are */
	float *operand_bytes;              /* by link in program->operands: GPU analysis */
	int64_t *leaf_read, *leaf_written; /* by instruction: tuples' leaves in main memory */
	float *utilization;                /* by instruction, in fusions: GPU analysis */
	int64_t *read_bytes; /* by parameter and get-tuple-element: generic analysis */
	bool *overwritten;   /* dynamic-update-slice whose operand 0 is the output */
	struct tfp_arena arena;
	struct tfp_error *err;
};

/* An operand's shape. The number is in range: tfp_hlo_costing checked the opcode's needs. */
static inline const struct tfp_hlo_shape *
tfp_hlo_operand_shape(const struct tfp_hlo_program *p, uint32_t instruction, uint32_t number)
{
	return tfp_hlo_shape_of(p, tfp_hlo_operand(p, instruction, number));
}

/* The array, or a tuple's first part. */
const struct tfp_hlo_shape *tfp_hlo_real_output(const struct tfp_hlo_program *program,
						const struct tfp_hlo_shape *shape);

/* Whether each element of the result depends on the same element of each operand alone. */
bool tfp_hlo_is_elementwise(const struct tfp_hlo_program *program, uint32_t instruction);

/* The cost of a computation that fusions call, after its instructions are done. */
enum tfp_status tfp_hlo_cost_fused(struct tfp_hlo_costing *c, uint32_t computation) TFP_CHECK;
/* The cost of a fusion, from that. */
enum tfp_status tfp_hlo_cost_fusion(struct tfp_hlo_costing *c, uint32_t instruction) TFP_CHECK;
/* Sets the props of a gather or scatter; also for a fusion (`instruction`) that stands for it. */
void tfp_hlo_cost_gather(struct tfp_hlo_costing *c, uint32_t gather, uint32_t instruction);
void tfp_hlo_cost_scatter(struct tfp_hlo_costing *c, uint32_t scatter, uint32_t instruction);

enum tfp_status tfp_hlo_cost_custom_call(struct tfp_hlo_costing *c, uint32_t instruction,
					 const struct tfp_hlo_details *details) TFP_CHECK;

/* 2 x the multiplications of a matrix product; saturates. */
float tfp_hlo_dot_flops(const struct tfp_hlo_shape *lhs, const struct tfp_hlo_shape *out,
			const struct tfp_hlo_list *contracting);
/* The same of a convolution; negative when its dimensions make no sense or cannot be counted. */
float tfp_hlo_convolution_flops(const struct tfp_hlo_shape *lhs, const struct tfp_hlo_shape *rhs,
				const struct tfp_hlo_shape *out,
				const struct tfp_hlo_details *details);

#endif
