/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/step_work.h"

#include <string.h>

bool tfp_category_has_inner_ops(struct tfp_str category)
{
	return tfp_str_equal(category, "call") || tfp_str_equal(category, "conditional") ||
	       tfp_str_equal(category, "while") || tfp_str_equal(category, "megacore fusion");
}

static bool has_word(struct tfp_str text, const char *word)
{
	return text.size && memmem(text.data, text.size, word, strlen(word));
}

bool tfp_category_is_feed(struct tfp_str category)
{
	return has_word(category, "infeed") || has_word(category, "outfeed");
}

void tfp_work_add_cost(struct tfp_work_sum *sum, const struct tfp_work_sum *cost, double times)
{
	if (!cost->has_cost)
		return;
	sum->has_cost = true;
	sum->flops += cost->flops * times;
	sum->model_flops += cost->model_flops * times;
	sum->bytes_accessed += cost->bytes_accessed * times;
	if (!cost->has_breakdown)
		return;
	sum->has_breakdown = true;
	for (int s = 0; s < TFP_SPACE_COUNT; s++) {
		for (int a = 0; a < TFP_ACCESS_COUNT; a++)
			sum->bytes[s][a] += cost->bytes[s][a] * times;
	}
}

uint64_t tfp_step_work_op_time(const struct tfp_step_work *step, bool with_others)
{
	return step->parts[TFP_WORK_OPS].self_time_ps + step->parts[TFP_WORK_FEEDS].self_time_ps +
	       (with_others ? step->parts[TFP_WORK_OTHERS].self_time_ps : 0);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void tfp_step_work_end_device(struct tfp_step_work *steps, size_t count)
{
	bool any = false;
	for (size_t s = 0; s < count; s++)
		any |= tfp_step_work_op_time(&steps[s], true) > 0;
	for (size_t s = 0; any && s < count; s++) {
		uint64_t duration = steps[s].duration_ps;
		steps[s].peers_time_ps = larger(duration, tfp_step_work_op_time(&steps[s], false));
		steps[s].whole_time_ps = larger(duration, tfp_step_work_op_time(&steps[s], true));
	}
}

void tfp_step_work_add(struct tfp_step_work *to, const struct tfp_step_work *from)
{
	to->peers_time_ps += from->peers_time_ps;
	to->whole_time_ps += from->whole_time_ps;
	for (int p = 0; p < TFP_WORK_PARTS; p++) {
		to->parts[p].self_time_ps += from->parts[p].self_time_ps;
		to->parts[p].time_ps += from->parts[p].time_ps;
		tfp_work_add_cost(&to->parts[p], &from->parts[p], 1);
	}
}
