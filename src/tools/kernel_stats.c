/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel stats: every GPU kernel with its launch, its op and its time
 * (docs/tools/kernel_stats.md).
 */
#include "analysis/ops/op_rates.h"
#include "session/summary.h"
#include "tools/instances.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PEERS_LIMIT 1000

/* XProf's, and ours at the end. */
static const struct tfp_column columns[] = {
	{"rank", "Rank", TFP_CELL_NUMBER},
	{"kernel_name", "Kernel Name", TFP_CELL_TEXT},
	{"registers_per_thread", "Registers per thread", TFP_CELL_NUMBER},
	{"shmem_bytes", "Shared Mem bytes", TFP_CELL_NUMBER},
	{"block_dim", "Block dim", TFP_CELL_TEXT},
	{"grid_dim", "Grid dim", TFP_CELL_TEXT},
	{"occupancy_pct", "Theoretical Occupancy %", TFP_CELL_NUMBER},
	{"is_op_tensor_core_eligible", "Op is TensorCore eligible", TFP_CELL_BOOLEAN},
	{"is_kernel_using_tensor_core", "Kernel uses TensorCore", TFP_CELL_BOOLEAN},
	{"op_name", "Op Name", TFP_CELL_TEXT},
	{"occurrences", "Occurrences", TFP_CELL_NUMBER},
	{"total_duration_us", "Total Duration (μs)", TFP_CELL_NUMBER},
	{"avg_duration_us", "Avg Duration (μs)", TFP_CELL_NUMBER},
	{"min_duration_us", "Min Duration (μs)", TFP_CELL_NUMBER},
	{"max_duration_us", "Max Duration (μs)", TFP_CELL_NUMBER},
	{"op_type", "Op Type", TFP_CELL_TEXT},
	{"host", "Host", TFP_CELL_TEXT},
	{"flop_rate", "GFLOP/s", TFP_CELL_NUMBER},
	{"memory_bw", "Memory BW (GiB/s)", TFP_CELL_NUMBER},
	{"operational_intensity", "FLOP/Byte", TFP_CELL_NUMBER},
	{"bound_by", "Bound by", TFP_CELL_TEXT},
};

static void add_dimensions(struct tfp_table *t, const uint32_t d[3])
{
	char text[40];
	int n = snprintf(text, sizeof(text), "%" PRIu32 ",%" PRIu32 ",%" PRIu32, d[0], d[1], d[2]);
	tfp_table_add_text(t, text, (size_t)n);
}

/* Of what nobody knows there is nothing. */
static void add_rates(struct tfp_table *t, const struct tfp_kernel *k,
		      const struct tfp_run_env *env)
{
	const struct tfp_op op = {
		.time_ps = k->total_ns * 1000, .flops = k->flops, .bytes_accessed = k->bytes};
	struct tfp_op_rates r = tfp_op_rates(&op, env);
	if (k->has_no_cost) {
		for (int i = 0; i < 4; i++)
			tfp_table_add_absent(t);
		return;
	}
	tfp_table_add_number(t, r.flop_rate);
	tfp_table_add_number(t, r.memory_bw);
	tfp_table_add_number(t, r.intensity);
	tfp_table_add_text(t, r.bound_by, strlen(r.bound_by));
}

static void add_row(struct tfp_table *t, const struct tfp_kernel *k, size_t rank, const char *host,
		    const struct tfp_run_env *env)
{
	tfp_table_add_number(t, (double)rank);
	tfp_table_add_text(t, k->name.data, k->name.size);
	tfp_table_add_number(t, k->registers);
	tfp_table_add_number(t, (double)k->static_shared_bytes + k->dynamic_shared_bytes);
	add_dimensions(t, k->block);
	add_dimensions(t, k->grid);
	tfp_table_add_number(t, k->occupancy_percent);
	tfp_table_add_boolean(t, k->op_is_tensor_core_eligible);
	tfp_table_add_boolean(t, k->uses_tensor_core);
	tfp_table_add_text(t, k->op_name.data, k->op_name.size);
	tfp_table_add_number(t, (double)k->occurrences);
	tfp_table_add_number(t, (double)k->total_ns / 1000);
	/* Whole nanoseconds, as XProf gives it. */
	tfp_table_add_number(t, (double)(k->total_ns / k->occurrences) / 1000);
	tfp_table_add_number(t, (double)k->min_ns / 1000);
	tfp_table_add_number(t, (double)k->max_ns / 1000);
	tfp_table_add_text(t, k->op_type.data, k->op_type.size);
	tfp_table_add_text(t, host, strlen(host));
	add_rates(t, k, env);
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_op_stats stats = {0};
	uint64_t limit;
	char number[32];
	enum tfp_status status = tfp_query_get_count(query, "limit", PEERS_LIMIT, &limit, err);
	if (status == TFP_OK)
		status = tfp_session_summary(session, &stats, err);
	if (status == TFP_OK) {
		struct tfp_table *t = &answer->tables[answer->table_count++];
		answer->bare = true;
		tfp_table_init(t, columns, sizeof(columns) / sizeof(columns[0]));
		for (size_t i = 0; i < stats.kernels.count && (limit == 0 || i < limit); i++) {
			const struct tfp_kernel *k = &stats.kernels.kernels[i];
			add_row(t, k, i + 1, session->hosts[k->host].host, &stats.env);
		}
		tfp_table_set_property(t, "device_type", stats.env.device_type);
		snprintf(number, sizeof(number), "%zu", stats.kernels.count);
		tfp_table_set_property(t, "rows_total", number);
		if (tfp_table_failed(t))
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the table of kernels");
	}
	tfp_op_stats_release(&stats);
	return status;
}

/* ---- instances ---- */

struct wanted {
	const char *kernel, *name; /* NULL: any */
	const struct tfp_session *session;
	struct tfp_instances all;
};

static bool matches(const char *text, struct tfp_str s)
{
	return !text || tfp_str_equal(s, text);
}

static void add_line(struct wanted *w, const struct tfp_gpu_reader *reader,
		     const struct tfp_line *line, const char *host)
{
	for (size_t i = 0; i < line->event_count; i++) {
		struct tfp_gpu_event e;
		struct tfp_kernel k;
		tfp_gpu_event_read(reader, line, i, &e);
		if (matches(w->kernel, e.name) && tfp_kernel_of_event(&e, &k) &&
		    matches(w->name, k.op_name))
			tfp_instances_add(&w->all, host, reader->plane, line, i);
	}
}

static enum tfp_status add_instances(void *context, struct tfp_capture *capture, const char *host,
				     struct tfp_pool *pool, struct tfp_error *err)
{
	struct wanted *w = context;
	const struct tfp_hlo_modules *modules;
	enum tfp_status status = tfp_hlo_modules_get(capture, pool, &modules, err);
	for (size_t p = 0; status == TFP_OK && p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		struct tfp_gpu_reader reader;
		if (tfp_plane_kind(plane->name) != TFP_PLANE_GPU)
			continue;
		status = tfp_gpu_reader_init(&reader, plane, modules, err);
		for (size_t l = 0; status == TFP_OK && l < plane->line_count; l++) {
			if (!tfp_line_is_derived(&plane->lines[l]))
				add_line(w, &reader, &plane->lines[l], host);
		}
		tfp_gpu_reader_release(&reader);
	}
	if (status == TFP_OK)
		status = tfp_instances_locate(&w->all, w->session, capture, host, err);
	return status;
}

static enum tfp_status instances(const struct tfp_session *session, const struct tfp_query *query,
				 struct tfp_buf *json, struct tfp_error *err)
{
	struct wanted w = {.kernel = tfp_query_get(query, "kernel"),
			   .name = tfp_query_get(query, "name"),
			   .session = session};
	if (!w.kernel && !w.name)
		return tfp_fail(err, TFP_BAD_QUERY, "kernel= or name= is needed");
	enum tfp_status status = tfp_session_each(session, add_instances, &w, err);
	if (status == TFP_OK)
		status = tfp_instances_on_clock(&w.all, session, err);
	if (status == TFP_OK)
		status = tfp_instances_write(&w.all, json, err);
	tfp_instances_release(&w.all);
	return status;
}

const struct tfp_tool tfp_kernel_stats = {
	.name = "kernel_stats",
	.title = "Kernel stats",
	.summary = "Every GPU kernel with its launch, its operation and its time.",
	.place = 50,
	.key = 'k',
	.filter = "Filter kernels",
	.scope = TFP_HOSTS_BOTH,
	.needs = TFP_NEEDS_GPU,
	.without = "No GPU was recorded in this run, and only GPUs run kernels.",
	.parameters =
		{
			TFP_TAKES(COUNT, "limit", "1000",
				  "How many rows the table keeps; 0 for all."),
		},
	.render = render,
	.instances = instances,
	.row_parameters =
		{
			TFP_TAKES(TEXT, "kernel", NULL, "The kernel's name."),
			TFP_TAKES(TEXT, "name", NULL,
				  "The operation's name, which may be empty. One of the two is "
				  "enough."),
		},
};
