/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ops of a table (op_db.h) took in each step: cells by op and step, beside the table
 * and by its numbers.
 *
 *     struct tfp_op_steps steps = {0};
 *     tfp_op_steps_add(&steps, op, step, duration_ps, self_ps);
 *     for (size_t i = 0; i < steps.count; i++)
 *             ... steps.cells[i] ...
 *     tfp_op_steps_release(&steps);
 *
 * Times are picoseconds. Over all of an op's cells they sum up to those of the table.
 */
#ifndef TFP_ANALYSIS_OPS_OP_STEPS_H
#define TFP_ANALYSIS_OPS_OP_STEPS_H

#include "analysis/ops/op_db.h"

#define TFP_NO_STEP (-1)

struct tfp_op_step {
	uint32_t op;  /* of the table */
	int32_t step; /* a group's id, or TFP_NO_STEP */
	uint64_t occurrences, time_ps, self_time_ps;
};

struct tfp_op_steps {
	struct tfp_op_step *cells; /* owned; in the order in which they came up */
	size_t count, room;
	uint32_t *slots; /* cells by op and step, + 1; 0: free */
	size_t slot_count;
};

/* Accepts zeroed memory. */
void tfp_op_steps_release(struct tfp_op_steps *steps);
/* An occurrence of an op. false without memory. */
bool tfp_op_steps_add(struct tfp_op_steps *steps, uint32_t op, int32_t step, uint64_t time_ps,
		      uint64_t self_time_ps);
/* What a cell of another table has, as of this op. false without memory. */
bool tfp_op_steps_add_cell(struct tfp_op_steps *steps, uint32_t op, const struct tfp_op_step *more);
/* Adds the cells of another table, all of whose ops are in this one. false without memory. */
bool tfp_op_steps_merge(struct tfp_op_steps *to, struct tfp_op_db *to_db,
			const struct tfp_op_steps *from, const struct tfp_op_db *from_db);
/* What they take of the heap. */
uint64_t tfp_op_steps_heap_bytes(const struct tfp_op_steps *steps);

#endif
