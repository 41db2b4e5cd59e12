/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/steps.h"

#include "base/alloc.h"

#include <string.h>

void tfp_steps_init(struct tfp_steps *steps)
{
	*steps = (struct tfp_steps){.module = {"", 0}};
	tfp_arena_init(&steps->arena, SIZE_MAX);
}

void tfp_steps_release(struct tfp_steps *steps)
{
	tfp_free(steps->steps);
	tfp_free(steps->cores);
	tfp_arena_release(&steps->arena);
	*steps = (struct tfp_steps){0};
}

uint64_t tfp_step_core_id(const struct tfp_core_step *core)
{
	return (uint64_t)core->host * 1000 + core->core;
}

void tfp_step_categories(const struct tfp_core_step *core,
			 uint64_t category_ps[TFP_STEP_CATEGORY_COUNT])
{
	memset(category_ps, 0, TFP_STEP_CATEGORY_COUNT * sizeof(*category_ps));
	for (unsigned t = 0; t < TFP_STEP_EVENT_COUNT; t++)
		category_ps[tfp_step_category_of((enum tfp_step_event)t)] += core->type_ps[t];
}

int64_t tfp_step_time_ps(const struct tfp_steps *steps, size_t step)
{
	int64_t longest = 0;
	for (size_t c = 0; c < steps->steps[step].core_count; c++) {
		int64_t time = tfp_step_core(steps, step, c)->duration_ps;
		if (longest < time)
			longest = time;
	}
	return longest;
}

static bool keep_text(struct tfp_steps *steps, struct tfp_str text, struct tfp_str *kept)
{
	*kept = (struct tfp_str){"", 0};
	if (text.size) {
		kept->data = tfp_arena_strndup(&steps->arena, text.data, text.size);
		kept->size = text.size;
	}
	return kept->data != NULL;
}

struct tfp_step *tfp_steps_add(struct tfp_steps *steps, uint32_t number, struct tfp_str name)
{
	if (!TFP_GROW(steps->steps, steps->count, steps->room))
		return NULL;
	struct tfp_str kept;
	if (!keep_text(steps, name, &kept))
		return NULL;
	struct tfp_step *step = &steps->steps[steps->count++];
	*step = (struct tfp_step){
		.number = number, .name = kept, .first_core = (uint32_t)steps->core_count};
	return step;
}

bool tfp_steps_add_core(struct tfp_steps *steps, const struct tfp_core_step *core)
{
	if (!TFP_GROW(steps->cores, steps->core_count, steps->core_room))
		return false;
	if (steps->core_count >= UINT32_MAX)
		return false;
	steps->cores[steps->core_count++] = *core;
	steps->steps[steps->count - 1].core_count++;
	return true;
}

bool tfp_steps_set_module(struct tfp_steps *steps, struct tfp_str name)
{
	return keep_text(steps, name, &steps->module);
}

uint64_t tfp_steps_bytes(const struct tfp_steps *steps)
{
	return sizeof(*steps) + steps->arena.bytes + steps->room * sizeof(*steps->steps) +
	       steps->core_room * sizeof(*steps->cores);
}
