/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/graph_work.h"

#include "base/alloc.h"
#include "base/progress.h"
#include "tfprof/capture_path.h"
#include "tfprof/graph_run.h"

#include <inttypes.h>
#include <stdio.h>

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the graph run");
}

static bool add_cells(struct tfp_capture_work *work, const struct tfp_profile_node *node,
		      uint32_t unit, uint8_t *flags)
{
	const struct tfp_profile *p = &work->graph->profile;
	for (size_t e = 0; e < node->exec_count; e++) {
		const struct tfp_exec *exec = &node->execs[e];
		size_t step = 0;
		while (step < p->step_count && p->steps[step] != exec->step)
			step++;
		struct tfp_op_step cell = {.step = (int32_t)step,
					   .occurrences = exec->runs > 0 ? (uint64_t)exec->runs : 0,
					   .self_time_ps =
						   (uint64_t)tfp_graph_ps(exec->accelerator_us) +
						   (uint64_t)tfp_graph_ps(exec->cpu_us)};
		cell.time_ps = cell.self_time_ps;
		work->units[unit].occurrences += cell.occurrences;
		work->units[unit].self_ps += cell.self_time_ps;
		*flags |= (exec->accelerator_us > 0 ? TFP_ON_DEVICE : 0) |
			  (exec->cpu_us > 0 ? TFP_ON_HOST : 0);
		if (step == p->step_count || !tfp_op_steps_add_cell(&work->cells, unit, &cell))
			return false;
	}
	return true;
}

static bool add_node(struct tfp_capture_work *work, const struct tfp_profile_node *node)
{
	const struct tfp_str nothing = {"", 0};
	struct tfp_unit *unit = tfp_work_unit(work, TFP_UNIT_NODE, 0, node->name);
	uint8_t flags = 0;
	if (!unit)
		return false;
	unit->node = node;
	unit->op = node->name;
	unit->type = node->op;
	unit->category = node->op;
	if (!add_cells(work, node, (uint32_t)(unit - work->units), &flags))
		return false;
	unit->flags = flags | tfp_path_passes(unit->op, unit->type, nothing);
	return node->device.size == 0 || tfp_work_device(work, unit, "", node->device);
}

/* The graph with what feeds each node. */
static bool add_program(struct tfp_capture_work *work, bool nodes)
{
	const struct tfp_profile *p = &work->graph->profile;
	if (!TFP_GROW(work->programs, work->program_count, work->program_room))
		return false;
	struct tfp_captured_program *to = &work->programs[work->program_count++];
	*to = (struct tfp_captured_program){.name = {"graph", 5}};
	if (!nodes)
		return true;
	to->instructions = tfp_arena_zalloc(&work->arena, p->count + 1, sizeof(*to->instructions));
	if (!to->instructions)
		return false;
	for (size_t i = 0; i < p->count && tfp_goes_on(i); i++) {
		const struct tfp_profile_node *node = p->nodes[i];
		uint32_t *feeds =
			tfp_arena_zalloc(&work->arena, node->input_count + 1, sizeof(*feeds));
		uint32_t count = 0;
		if (!feeds)
			return false;
		for (size_t n = 0; n < node->input_count; n++) {
			if (node->inputs[n].node)
				feeds[count++] = (uint32_t)node->inputs[n].node->index;
		}
		to->instructions[i] = (struct tfp_captured_instruction){.name = node->name,
									.feeds = feeds,
									.feed_count = count,
									.unit = TFP_UNIT_NONE};
	}
	to->count = (uint32_t)p->count;
	return true;
}

static bool add_steps(struct tfp_capture_work *work)
{
	const struct tfp_profile *p = &work->graph->profile;
	for (size_t s = 0; s < p->step_count; s++) {
		char number[24];
		int size = snprintf(number, sizeof(number), "%" PRId64, p->steps[s]);
		if (tfp_work_step(work, (struct tfp_str){number, (size_t)size}, s) != (uint32_t)s)
			return false;
	}
	return true;
}

static enum tfp_status fill(struct tfp_capture_work *work, const struct tfp_session *session,
			    const struct tfp_capture_wanted *wanted, struct tfp_error *err)
{
	enum tfp_status status = tfp_graph_run_open(&work->graph, session, err);
	if (status != TFP_OK)
		return status;
	const struct tfp_profile *p = &work->graph->profile;
	if (p->count >= UINT32_MAX)
		return tfp_fail(err, TFP_TOO_LARGE, "a graph of 2^32 nodes");
	work->has_host = true;
	work->has_devices = work->graph->has_accelerator;
	work->has_memory = work->graph->has_memory;
	work->any_instruction = true;
	bool ok = add_steps(work);
	for (size_t i = 0; ok && i < p->count && tfp_goes_on(i); i++) {
		ok = add_node(work, p->nodes[i]);
		work->parameter_count += ok && tfp_profile_parameters(p->nodes[i]) > 0;
	}
	return ok && add_program(work, wanted->graph) ? TFP_OK : no_memory(err);
}

enum tfp_status tfp_run_work_init(struct tfp_capture_work *work, const struct tfp_session *session,
				  const struct tfp_capture_wanted *wanted, struct tfp_error *err)
{
	if (session->run->kind != TFP_RUN_GRAPH)
		return tfp_capture_work_init(work, session, wanted, err);
	enum tfp_status status = tfp_work_begin(work, wanted, err);
	if (status == TFP_OK)
		status = fill(work, session, wanted, err);
	return status == TFP_OK ? tfp_work_finish(work, err) : status;
}
