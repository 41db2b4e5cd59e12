/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What device ops are, in words: the expression of each instruction that ran, where in the
 * source it comes from, what a fusion is made of; and the programs that a capture has. Apart
 * from the metrics (op_db.h) because only the dashboards of programs show them, and they are
 * many.
 */
#ifndef TFP_ANALYSIS_OPS_OP_TEXTS_H
#define TFP_ANALYSIS_OPS_OP_TEXTS_H

#include "analysis/hlo/hlo_modules.h"
#include "analysis/ops/op_db.h"
#include "base/arena.h"
#include "base/str_map.h"

/* XProf cuts expressions there. */
#define TFP_EXPRESSION_MAX 1000000

/* Fusions lie at most so deep in one another here. */
#define TFP_OP_PART_DEPTH_MAX 32u

/* An instruction within a fusion. */
struct tfp_op_part {
	uint32_t depth; /* 1: of the op itself; those of the one before are one deeper */
	struct tfp_str name, category, provenance, expression;
};

/* The op of that identity (op_db.h); texts are "" where nothing is known. */
struct tfp_op_text {
	uint64_t module_id;
	struct tfp_str name, deduplicated_name, expression, source_file, source_stack;
	int32_t source_line;
	/* On TPUs, where XProf shows them. Owned by the list. */
	const struct tfp_op_part *parts;
	uint32_t part_count;
};

struct tfp_program {
	uint64_t id;
	struct tfp_str name;
	uint64_t instructions;
	uint32_t hosts; /* that have it */
};

struct tfp_op_texts {
	struct tfp_op_text *list;
	size_t count, room;
	struct tfp_program *programs; /* ascending by id */
	size_t program_count, program_room;
	struct tfp_str_map by_key;
	struct tfp_arena arena;
};

void tfp_op_texts_init(struct tfp_op_texts *texts);
/* Accepts zeroed memory. */
void tfp_op_texts_release(struct tfp_op_texts *texts);
/* What it takes of the heap. */
uint64_t tfp_op_texts_heap_bytes(const struct tfp_op_texts *texts);

/* Those of the ops that are instructions. texts is initialised by the caller; the capture must
 * outlive it. */
enum tfp_status tfp_op_texts_make(struct tfp_op_texts *texts, const struct tfp_capture *capture,
				  const struct tfp_hlo_modules *modules,
				  const struct tfp_op_db *ops, struct tfp_error *err) TFP_CHECK;

/* The entry of an op, made if need be; NULL without memory. It holds until the next call. */
struct tfp_op_text *tfp_op_texts_enter(struct tfp_op_texts *texts, uint64_t module_id,
				       struct tfp_str name);
/* NULL when there is none. */
const struct tfp_op_text *tfp_op_texts_find(const struct tfp_op_texts *texts, uint64_t module_id,
					    struct tfp_str name);
/* The program of that id, made at its place if need be; NULL without memory. */
struct tfp_program *tfp_op_texts_program(struct tfp_op_texts *texts, uint64_t id,
					 struct tfp_str name);
/* NULL when there is none. */
const struct tfp_program *tfp_op_texts_find_program(const struct tfp_op_texts *texts, uint64_t id);

/* Adds another host's: texts are taken where there are none. false without memory. */
bool tfp_op_texts_merge(struct tfp_op_texts *to, const struct tfp_op_texts *from);

#endif
