/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TF stats: how the time of hosts and devices divides among ops
 * (docs/tools/framework_op_stats.md).
 */
#include "analysis/events/op_name.h"
#include "analysis/ops/device_ops.h"
#include "analysis/ops/host_ops.h"
#include "analysis/ops/op_rates.h"
#include "base/alloc.h"
#include "session/summary.h"
#include "tools/instances.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PEERS_LIMIT 500

#define FIRST_COLUMNS                                                                              \
	{"rank", "Rank", TFP_CELL_NUMBER}, {"host_or_device", "Host/device", TFP_CELL_TEXT},       \
		{"type", "Operation Type", TFP_CELL_TEXT},                                         \
		{"operation", "Operation Name", TFP_CELL_TEXT},                                    \
		{"occurrences", "#Occurrences", TFP_CELL_NUMBER},                                  \
		{"total_time", "Total time (us)", TFP_CELL_NUMBER},                                \
		{"avg_time", "Avg. time (us)", TFP_CELL_NUMBER},                                   \
		{"total_self_time", "Total self-time (us)", TFP_CELL_NUMBER},                      \
		{"avg_self_time", "Avg. self-time (us)", TFP_CELL_NUMBER},                         \
		{"device_total_self_time_percent", "Total self-time on Device (%)",                \
		 TFP_CELL_NUMBER},                                                                 \
		{"device_cumulative_total_self_time_percent",                                      \
		 "Cumulative total-self time on Device (%)", TFP_CELL_NUMBER},                     \
		{"host_total_self_time_percent", "Total self-time on Host (%)", TFP_CELL_NUMBER},  \
		{"Host_cumulative_total_self_time_percent",                                        \
		 "Cumulative total-self time on Host (%)", TFP_CELL_NUMBER},                       \
		{"measured_flop_rate", "Normalized FLOP Rate (FLOPs/s)", TFP_CELL_NUMBER},         \
		{"model_flop_rate", "Model FLOP Rate (GFLOP/s)", TFP_CELL_NUMBER},                 \
		{"measured_memory_bw", "Measured Memory BW (GBytes/Sec)", TFP_CELL_NUMBER},        \
	{                                                                                          \
		"operational_intensity", "Operational Intensity (FLOPs/Byte)", TFP_CELL_NUMBER     \
	}

#define LAST_COLUMNS                                                                               \
	{"bound_by", "Bound by", TFP_CELL_TEXT},                                                   \
	{                                                                                          \
		"eager", "Execution mode", TFP_CELL_TEXT                                           \
	}

static const struct tfp_column gpu_columns[] = {
	FIRST_COLUMNS,
	{"gpu_tensorcore_utilization", "GPU TensorCore utilization", TFP_CELL_NUMBER},
	LAST_COLUMNS,
};

static const struct tfp_column other_columns[] = {FIRST_COLUMNS, LAST_COLUMNS};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* How much of an op's kernel time ran on tensor cores, by op name. */
struct tensor_cores {
	struct tfp_str_map by_name;
	uint64_t (*ns)[2]; /* all, and on tensor cores */
};

struct writer {
	struct tfp_table *table;
	const struct tfp_op_stats *stats;
	const struct tensor_cores *tensor_cores;
	bool with_idle, has_tensor_core_column;
	uint64_t limit;
	double rank, device_cumulative, host_cumulative;
	bool is_training;
};

static bool read_tensor_cores(struct tensor_cores *t, const struct tfp_kernels *kernels)
{
	size_t n = 0;
	*t = (struct tensor_cores){.ns = tfp_calloc(kernels->count, sizeof(*t->ns))};
	if (!t->ns)
		return false;
	for (size_t i = 0; i < kernels->count; i++) {
		const struct tfp_kernel *k = &kernels->kernels[i];
		uint32_t at =
			tfp_str_map_add(&t->by_name, k->op_name.data, k->op_name.size, (uint32_t)n);
		if (at == TFP_STR_MAP_NONE)
			return false;
		n += at == n;
		t->ns[at][0] += k->total_ns;
		t->ns[at][1] += k->uses_tensor_core ? k->total_ns : 0;
	}
	return true;
}

static void release_tensor_cores(struct tensor_cores *t)
{
	tfp_str_map_release(&t->by_name);
	tfp_free(t->ns);
}

static double tensor_core_share(const struct writer *w, const struct tfp_op *op)
{
	uint32_t at = tfp_str_map_find(&w->tensor_cores->by_name, op->name.data, op->name.size);
	if (at == TFP_STR_MAP_NONE)
		return 0;
	return tfp_divide((double)w->tensor_cores->ns[at][1], (double)w->tensor_cores->ns[at][0]);
}

static void add_text(struct tfp_table *t, struct tfp_str s)
{
	tfp_table_add_text(t, s.data, s.size);
}

static void add_roofline(const struct writer *w, const struct tfp_op *op, bool device)
{
	struct tfp_table *t = w->table;
	bool known = !device || op->has_cost;
	struct tfp_op_rates r = {.bound_by = "Unknown"};
	if (device && known)
		r = tfp_op_rates(op, &w->stats->env);
	if (known) {
		tfp_table_add_number(t, r.flop_rate);
		tfp_table_add_number(t, r.model_flop_rate);
		tfp_table_add_number(t, r.memory_bw);
		tfp_table_add_number(t, r.intensity);
	} else {
		for (int i = 0; i < 4; i++)
			tfp_table_add_absent(t);
	}
	if (w->has_tensor_core_column)
		tfp_table_add_number(t, device ? tensor_core_share(w, op) : 0);
	if (known)
		tfp_table_add_text(t, r.bound_by, strlen(r.bound_by));
	else
		tfp_table_add_absent(t);
}

static void add_row(struct writer *w, const struct tfp_op *op, bool device, double total_us)
{
	struct tfp_table *t = w->table;
	double n = (double)op->occurrences, time_us = (double)op->time_ps / 1e6;
	double self_us = (double)op->self_time_ps / 1e6;
	double share = tfp_divide(self_us, total_us);
	if (device)
		w->device_cumulative += share;
	else
		w->host_cumulative += share;
	tfp_table_add_number(t, ++w->rank);
	tfp_table_add_text(t, device ? "Device" : "Host", device ? 6 : 4);
	add_text(t, op->category);
	add_text(t, op->name);
	tfp_table_add_number(t, n);
	tfp_table_add_number(t, time_us);
	tfp_table_add_number(t, tfp_divide(time_us, n));
	tfp_table_add_number(t, self_us);
	tfp_table_add_number(t, tfp_divide(self_us, n));
	tfp_table_add_number(t, device ? share : 0);
	tfp_table_add_number(t, device ? w->device_cumulative : 0);
	tfp_table_add_number(t, device ? 0 : share);
	tfp_table_add_number(t, device ? 0 : w->host_cumulative);
	add_roofline(w, op, device);
	if (op->is_eager)
		tfp_table_add_text(t, "Eager", 5);
	else
		tfp_table_add_text(t, "Function", 8);
	w->is_training |= tfp_op_is_gradient(op->name, op->category);
}

/* Returns how many rows there would be without a limit; -1 without memory. The limit
 * counts IDLE even where it is then left out, as the peers' does. */
static int64_t add_rows(struct writer *w, const struct tfp_op_db *db, bool device)
{
	uint32_t *order = tfp_op_db_sorted(db);
	double total_us = (double)(w->with_idle ? db->total_time_ps : db->total_op_time_ps) / 1e6;
	int64_t rows = 0;
	if (!order)
		return -1;
	for (size_t i = 0; i < db->count; i++) {
		const struct tfp_op *op = &db->ops[order[i]];
		if (!w->with_idle && tfp_op_is_idle(op))
			continue;
		rows++;
		if (w->limit == 0 || i < w->limit)
			add_row(w, op, device, total_us);
	}
	tfp_free(order);
	return rows;
}

static bool write_table(struct tfp_table *table, const struct tfp_op_stats *stats,
			const struct tfp_op_db *framework_ops,
			const struct tensor_cores *tensor_cores, bool with_idle, uint64_t limit)
{
	bool gpu = strstr(stats->env.device_type, "GPU") != NULL;
	struct writer w = {.table = table,
			   .stats = stats,
			   .tensor_cores = tensor_cores,
			   .with_idle = with_idle,
			   .has_tensor_core_column = gpu,
			   .limit = limit};
	char number[32];
	tfp_table_init(table, gpu ? gpu_columns : other_columns,
		       gpu ? COUNT(gpu_columns) : COUNT(other_columns));
	int64_t device = add_rows(&w, framework_ops, true);
	int64_t host = add_rows(&w, &stats->host_ops, false);
	if (device < 0 || host < 0)
		return false;
	tfp_table_set_property(table, "task_type", w.is_training ? "Training" : "Inference");
	tfp_table_set_property(table, "architecture_type", "Unknown");
	tfp_table_set_property(table, "device_type", stats->env.device_type);
	snprintf(number, sizeof(number), "%" PRId64, device + host);
	tfp_table_set_property(table, "rows_total", number);
	return !tfp_table_failed(table);
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_op_stats stats = {0};
	struct tfp_op_db framework_ops = {0};
	struct tensor_cores tensor_cores = {0};
	uint64_t limit;
	enum tfp_status status = tfp_query_get_count(query, "limit", PEERS_LIMIT, &limit, err);
	if (status == TFP_OK)
		status = tfp_session_summary(session, &stats, err);
	if (status != TFP_OK)
		goto out;
	tfp_op_db_init(&framework_ops);
	bool ok = tfp_op_db_by_framework_op(&stats.device.ops, &framework_ops) &&
		  read_tensor_cores(&tensor_cores, &stats.kernels);
	for (int excluded = 0; ok && excluded < 2; excluded++)
		ok = write_table(&answer->tables[answer->table_count++], &stats, &framework_ops,
				 &tensor_cores, !excluded, limit);
	if (!ok)
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the table of ops");
out:
	release_tensor_cores(&tensor_cores);
	tfp_op_db_release(&framework_ops);
	tfp_op_stats_release(&stats);
	return status;
}

/* ---- instances ---- */

struct wanted {
	struct tfp_str name, type;
	bool device;
	const struct tfp_session *session;
	const char *host;
	struct tfp_instances all;
};

static bool same(struct tfp_str a, struct tfp_str b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static void visit(void *context, const struct tfp_plane *plane, const struct tfp_line *line,
		  size_t event, struct tfp_str name, struct tfp_str type)
{
	struct wanted *w = context;
	if (same(name, w->name) && same(type, w->type))
		tfp_instances_add(&w->all, w->host, plane, line, event);
}

static enum tfp_status add_instances(void *context, struct tfp_capture *capture, const char *host,
				     struct tfp_pool *pool, struct tfp_error *err)
{
	struct wanted *w = context;
	const struct tfp_hlo_modules *modules;
	enum tfp_status status = TFP_OK;
	w->host = host;
	if (w->device)
		status = tfp_hlo_modules_get(capture, pool, &modules, err);
	if (status == TFP_OK)
		status = w->device ? tfp_device_op_events(capture, modules, visit, w, err)
				   : tfp_host_op_events(capture, visit, w, err);
	if (status == TFP_OK)
		status = tfp_instances_locate(&w->all, w->session, capture, host, err);
	return status;
}

static enum tfp_status instances(const struct tfp_session *session, const struct tfp_query *query,
				 struct tfp_buf *json, struct tfp_error *err)
{
	const char *where = tfp_query_get(query, "where");
	const char *type = tfp_query_get(query, "type"), *name = tfp_query_get(query, "name");
	if (!where || !name || !type ||
	    (strcmp(where, "host") != 0 && strcmp(where, "device") != 0))
		return tfp_fail(err, TFP_BAD_QUERY,
				"where=host or where=device, type= and name= are needed");
	struct wanted w = {.name = {name, strlen(name)},
			   .type = {type, strlen(type)},
			   .device = strcmp(where, "device") == 0,
			   .session = session};
	enum tfp_status status = tfp_session_each(session, add_instances, &w, err);
	if (status == TFP_OK)
		status = tfp_instances_on_clock(&w.all, session, err);
	if (status == TFP_OK)
		status = tfp_instances_write(&w.all, json, err);
	tfp_instances_release(&w.all);
	return status;
}

const struct tfp_tool tfp_framework_op_stats = {
	.name = "framework_op_stats",
	.aliases = {"tf_stats", "tensorflow_stats"},
	.title = "TF stats",
	.summary = "How the time of hosts and devices is divided among operations.",
	.place = 30,
	.key = 't',
	.filter = "Filter operations",
	.scope = TFP_HOSTS_BOTH,
	.needs = TFP_NEEDS_HOST | TFP_NEEDS_DEVICE,
	.without = "The capture holds neither host threads nor devices, so there are no ops.",
	.parameters =
		{
			TFP_TAKES(COUNT, "limit", "500",
				  "How many rows a table keeps for the host and for the "
				  "devices each; 0 for all."),
		},
	.render = render,
	.instances = instances,
	.row_parameters =
		{
			TFP_TAKES_ONE_OF("where", NULL, "Where it ran.", "host", "device"),
			TFP_TAKES(TEXT, "type", NULL, "The operation's type."),
			TFP_TAKES(TEXT, "name", NULL, "The operation's name."),
		},
};
