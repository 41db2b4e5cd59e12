/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/op_steps.h"

#include "base/alloc.h"

#define SLOTS_MIN 256u

void tfp_op_steps_release(struct tfp_op_steps *steps)
{
	tfp_free(steps->cells);
	tfp_free(steps->slots);
	*steps = (struct tfp_op_steps){0};
}

uint64_t tfp_op_steps_heap_bytes(const struct tfp_op_steps *steps)
{
	return steps->room * sizeof(*steps->cells) + steps->slot_count * sizeof(*steps->slots);
}

/* Its slot, or the free one where it belongs. slot_count is a power of two. */
static uint32_t *find_slot(const struct tfp_op_steps *steps, uint32_t op, int32_t step)
{
	uint64_t hash = ((uint64_t)op << 32 | (uint32_t)step) * UINT64_C(0x9E3779B97F4A7C15);
	size_t mask = steps->slot_count - 1, at = (size_t)(hash >> 32) & mask;
	while (steps->slots[at]) {
		const struct tfp_op_step *cell = &steps->cells[steps->slots[at] - 1];
		if (cell->op == op && cell->step == step)
			break;
		at = (at + 1) & mask;
	}
	return &steps->slots[at];
}

static bool grow_slots(struct tfp_op_steps *steps)
{
	size_t count = steps->slot_count ? 2 * steps->slot_count : SLOTS_MIN;
	uint32_t *slots = tfp_calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	tfp_free(steps->slots);
	steps->slots = slots;
	steps->slot_count = count;
	for (size_t i = 0; i < steps->count; i++)
		*find_slot(steps, steps->cells[i].op, steps->cells[i].step) = (uint32_t)i + 1;
	return true;
}

static struct tfp_op_step *cell_of(struct tfp_op_steps *steps, uint32_t op, int32_t step)
{
	/* Half of the slots stay free. */
	if (2 * (steps->count + 1) > steps->slot_count && !grow_slots(steps))
		return NULL;
	uint32_t *slot = find_slot(steps, op, step);
	if (*slot)
		return &steps->cells[*slot - 1];
	if (steps->count >= UINT32_MAX - 1 || !TFP_GROW(steps->cells, steps->count, steps->room))
		return NULL;
	steps->cells[steps->count] = (struct tfp_op_step){.op = op, .step = step};
	*slot = (uint32_t)++steps->count;
	return &steps->cells[steps->count - 1];
}

bool tfp_op_steps_add(struct tfp_op_steps *steps, uint32_t op, int32_t step, uint64_t time_ps,
		      uint64_t self_time_ps)
{
	struct tfp_op_step *cell = cell_of(steps, op, step < 0 ? TFP_NO_STEP : step);
	if (!cell)
		return false;
	cell->occurrences++;
	cell->time_ps += time_ps;
	cell->self_time_ps += self_time_ps;
	return true;
}

bool tfp_op_steps_add_cell(struct tfp_op_steps *steps, uint32_t op, const struct tfp_op_step *more)
{
	struct tfp_op_step *cell = cell_of(steps, op, more->step);
	if (!cell)
		return false;
	cell->occurrences += more->occurrences;
	cell->time_ps += more->time_ps;
	cell->self_time_ps += more->self_time_ps;
	return true;
}

bool tfp_op_steps_merge(struct tfp_op_steps *to, struct tfp_op_db *to_db,
			const struct tfp_op_steps *from, const struct tfp_op_db *from_db)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct tfp_op *named = &from_db->ops[from->cells[i].op];
		struct tfp_op *op = tfp_op_db_enter(to_db, named->module_id, named->name);
		if (!op || !tfp_op_steps_add_cell(to, (uint32_t)(op - to_db->ops), &from->cells[i]))
			return false;
	}
	return true;
}
