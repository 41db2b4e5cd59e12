/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/graph_run.h"

#include "base/alloc.h"
#include "base/mapped_file.h"
#include "base/progress.h"
#include "tfprof/event_file.h"
#include "tfprof/float_ops.h"
#include "tfprof/message_rules.h"
#include "tfprof/sources.h"

#include <unistd.h>

#define PS_PER_US 1000000

struct tfp_graph_file {
	struct tfp_mapped_file mapped;
	struct tfp_event_file events;
	const struct tfp_capture_file *file;
};

/* ---- reading ---- */

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the graph run");
}

void tfp_graph_run_free(struct tfp_graph_run *graph)
{
	if (!graph)
		return;
	tfp_profile_release(&graph->profile);
	for (size_t i = 0; i < graph->file_count; i++) {
		tfp_event_file_release(&graph->files[i].events);
		tfp_mapped_file_release(&graph->files[i].mapped);
	}
	tfp_free(graph->files);
	tfp_free(graph);
}

/* Keeps the file if it has anything of a graph. */
static enum tfp_status open_file(struct tfp_graph_run *graph, struct tfp_logdir *dir,
				 const struct tfp_capture_file *file, struct tfp_error *err)
{
	struct tfp_graph_file *f = &graph->files[graph->file_count];
	struct tfp_file_identity identity;
	int fd;
	*f = (struct tfp_graph_file){.file = file};
	enum tfp_status status = tfp_logdir_open(dir, file, &fd, &identity, err);
	if (status != TFP_OK)
		return status;
	status = tfp_mapped_file_open(&f->mapped, fd, file->path, err);
	close(fd);
	if (status != TFP_OK)
		return status;
	struct tfp_span bytes = {f->mapped.data, f->mapped.size};
	status = tfp_event_file_read(&f->events, bytes, err);
	if (status == TFP_OK && (f->events.has_graph || f->events.count)) {
		graph->file_count++;
		return TFP_OK;
	}
	tfp_event_file_release(&f->events);
	tfp_mapped_file_release(&f->mapped);
	return status == TFP_BAD_INPUT ? TFP_OK : status;
}

static enum tfp_status read_graph(struct tfp_graph_run *graph, struct tfp_error *err)
{
	/* Nodes of two graphs would be taken for one. */
	for (size_t i = graph->file_count; i-- > 0;) {
		const struct tfp_graph_file *f = &graph->files[i];
		if (!f->events.has_graph)
			continue;
		enum tfp_status status =
			tfp_message_check(&tfp_graph_def_rule, f->events.graph, err);
		if (status == TFP_OK)
			status = tfp_graph_def_read(&graph->profile, f->events.graph, err);
		if (status != TFP_OK)
			tfp_error_set_file(err, f->file->path);
		return status;
	}
	return TFP_OK;
}

static enum tfp_status read_runs(struct tfp_graph_run *graph, const struct tfp_graph_file *f,
				 struct tfp_error *err)
{
	struct tfp_profile *p = &graph->profile;
	enum tfp_status status = TFP_OK;
	bool present;
	for (size_t i = 0; status == TFP_OK && i < f->events.count && tfp_goes_on(0); i++) {
		const struct tfp_event_run *run = &f->events.runs[i];
		int64_t step = run->step < 0 ? 0 : run->step;
		while (step < INT64_MAX && tfp_profile_has_step(p, step))
			step++;
		status = tfp_message_check(&tfp_run_metadata_rule, run->metadata, err);
		if (status == TFP_OK)
			status = tfp_run_metadata_read(p, step, run->metadata, &present, err);
	}
	if (status != TFP_OK)
		tfp_error_set_file(err, f->file->path);
	return status;
}

static void see_records(struct tfp_graph_run *graph)
{
	for (size_t i = 0; i < graph->profile.count; i++) {
		const struct tfp_profile_node *node = graph->profile.nodes[i];
		for (size_t e = 0; e < node->exec_count; e++) {
			const struct tfp_exec *exec = &node->execs[e];
			graph->has_accelerator |= exec->accelerator_us != 0;
			graph->has_memory |= exec->requested_bytes || exec->output_bytes ||
					     exec->peak_bytes || exec->residual_bytes;
		}
	}
}

static enum tfp_status read_files(struct tfp_graph_run *graph, const struct tfp_session *session,
				  struct tfp_error *err)
{
	size_t unknown;
	enum tfp_status status = read_graph(graph, err);
	for (size_t i = 0; status == TFP_OK && i < graph->file_count; i++)
		status = read_runs(graph, &graph->files[i], err);
	if (status == TFP_OK && tfp_cancelled())
		status = tfp_fail_cancelled(err);
	if (status == TFP_OK)
		status = tfp_profile_finish(&graph->profile, err);
	if (status != TFP_OK)
		return status;
	if (graph->profile.step_count == 0)
		return tfp_fail(err, TFP_NOT_FOUND,
				"the event files of \"%s\" hold no step of a graph",
				session->run->name);
	tfp_count_float_ops(&graph->profile, &unknown);
	see_records(graph);
	for (size_t i = 0; i < graph->file_count; i++) {
		if (tfp_mapped_file_was_cut(&graph->files[i].mapped))
			return tfp_fail(err, TFP_CHANGING, "%s was cut while it was read",
					graph->files[i].file->path);
	}
	return TFP_OK;
}

enum tfp_status tfp_graph_run_open(struct tfp_graph_run **out, const struct tfp_session *session,
				   struct tfp_error *err)
{
	struct tfp_logdir *dir = tfp_capture_cache_dir(session->cache);
	struct tfp_graph_run *graph = tfp_calloc(1, sizeof(*graph));
	enum tfp_status status = TFP_OK;
	*out = NULL;
	if (!graph)
		return no_memory(err);
	tfp_profile_init(&graph->profile);
	graph->files = tfp_calloc(session->host_count + 1, sizeof(*graph->files));
	if (!graph->files)
		status = no_memory(err);
	for (size_t i = 0; status == TFP_OK && i < session->host_count && tfp_goes_on(0); i++)
		status = open_file(graph, dir, &session->hosts[i], err);
	if (status == TFP_OK)
		status = read_files(graph, session, err);
	if (status == TFP_OK)
		*out = graph;
	else
		tfp_graph_run_free(graph);
	return status;
}

/* ---- amounts ---- */

int64_t tfp_graph_ps(int64_t us)
{
	int64_t ps;
	if (us <= 0)
		return 0;
	return __builtin_mul_overflow(us, PS_PER_US, &ps) ? INT64_MAX : ps;
}

static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void add(struct tfp_taken *taken, enum tfp_amount amount, int64_t value)
{
	taken->amounts[amount] = plus(taken->amounts[amount], value);
	taken->known |= TFP_AMOUNT_BIT(amount);
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void tfp_graph_node_add(const struct tfp_graph_run *graph, const struct tfp_profile_node *node,
			int64_t step, bool most, struct tfp_taken *taken)
{
	struct tfp_exec sum = {.runs = 0};
	int64_t parameters = tfp_profile_parameters(node), flops;
	add(taken, TFP_DEFINED, 1);
	if (parameters > 0)
		add(taken, TFP_PARAMETERS, parameters);
	if (node->exec_count == 0)
		return;
	for (size_t e = 0; e < node->exec_count; e++) {
		const struct tfp_exec *exec = &node->execs[e];
		if (step >= 0 && exec->step != graph->profile.steps[step])
			continue;
		sum.runs = plus(sum.runs, exec->runs);
		sum.accelerator_us = plus(sum.accelerator_us, exec->accelerator_us);
		sum.cpu_us = plus(sum.cpu_us, exec->cpu_us);
		sum.requested_bytes = plus(sum.requested_bytes, exec->requested_bytes);
		sum.output_bytes = plus(sum.output_bytes, exec->output_bytes);
		sum.peak_bytes = most ? larger(sum.peak_bytes, exec->peak_bytes)
				      : plus(sum.peak_bytes, exec->peak_bytes);
		sum.residual_bytes = most ? larger(sum.residual_bytes, exec->residual_bytes)
					  : plus(sum.residual_bytes, exec->residual_bytes);
	}
	add(taken, TFP_CPU_TIME, tfp_graph_ps(sum.cpu_us));
	if (graph->has_accelerator)
		add(taken, TFP_ACCELERATOR_TIME, tfp_graph_ps(sum.accelerator_us));
	add(taken, TFP_TOTAL_TIME,
	    plus(tfp_graph_ps(sum.cpu_us), tfp_graph_ps(sum.accelerator_us)));
	if (graph->has_memory) {
		add(taken, TFP_REQUESTED_BYTES, sum.requested_bytes);
		add(taken, TFP_PEAK_BYTES, sum.peak_bytes);
		add(taken, TFP_RESIDUAL_BYTES, sum.residual_bytes);
		add(taken, TFP_OUTPUT_BYTES, sum.output_bytes);
	}
	if (node->float_ops > 0)
		add(taken, TFP_FLOAT_OPS,
		    __builtin_mul_overflow(node->float_ops, sum.runs, &flops) ? INT64_MAX : flops);
}
