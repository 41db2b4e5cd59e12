/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HLO modules that a capture carries in its /host:metadata plane, as far
 * as dashboards need them: which instruction is what (hlo_modules.md 1;
 * preprocess.md E). JAX and XLA programs name their ops only there.
 */
#ifndef TFP_ANALYSIS_HLO_HLO_MODULES_H
#define TFP_ANALYSIS_HLO_HLO_MODULES_H

#include "analysis/hlo/hlo_cost.h"
#include "base/arena.h"
#include "base/str_map.h"
#include "store/capture.h"

struct tfp_hlo_instruction {
	struct tfp_str name;
	struct tfp_str category;    /* as XProf's tables show it: "loop fusion", "custom-call" */
	struct tfp_str op_fullname; /* `op_name:op_type`, or "" when it has no metadata */
	struct tfp_str deduplicated_name;
	struct tfp_str source_file;
	int32_t source_line;
	/* NULL where nothing is known: no GPU in the capture, or a module that cannot be analysed.
	 */
	const struct tfp_hlo_cost *cost;
};

struct tfp_hlo_module {
	uint64_t program_id;
	struct tfp_str name;
	struct tfp_hlo_program program; /* instruction i here is instruction i there */
	const struct tfp_hlo_instruction *instructions;
	size_t instruction_count;
	struct tfp_str_map by_name;
	struct tfp_hlo_cost *costs; /* owned; NULL, or one for each instruction */
};

struct tfp_hlo_modules {
	struct tfp_hlo_module *modules; /* ascending by program_id */
	size_t module_count;
	size_t broken;    /* modules that could not be read, by us as by XLA */
	bool is_training; /* some instruction belongs to a backward pass */
	struct tfp_arena arena;
};

/* Of a capture; computed once. Names point into its bytes. Modules that cannot be read are left
 * out and counted. */
enum tfp_status tfp_hlo_modules_get(struct tfp_capture *capture, struct tfp_pool *pool,
				    const struct tfp_hlo_modules **out,
				    struct tfp_error *err) TFP_CHECK;

/* NULL when there is no such module. */
const struct tfp_hlo_module *tfp_hlo_module_find(const struct tfp_hlo_modules *modules,
						 uint64_t program_id);
/* NULL when there is no such module or instruction. */
const struct tfp_hlo_instruction *tfp_hlo_find(const struct tfp_hlo_modules *modules,
					       uint64_t program_id, struct tfp_str name);

/* Whether a text ends as in `name(1234)`, as modules are called where their program id is told;
 * if so, *id is the number. */
bool tfp_hlo_id_in_name(struct tfp_str name, uint64_t *id);

#endif
