/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Roofline: how near each op came to what the device can do (docs/tools/roofline_model.md).
 */
#include "base/buf.h"
#include "base/utf8.h"
#include "session/summary.h"
#include "tools/program_ops.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

extern const struct tfp_tool tfp_roofline_model;

#define PEERS_LIMIT "1000"
#define PEERS_ROWS  1000
#define STEPS_LIMIT "1000"
#define STEPS_ROWS  1000

#define FIRST_COLUMNS                                                                              \
	{"step", "Step", TFP_CELL_TEXT}, {"rank", "Rank", TFP_CELL_NUMBER},                        \
		{"category", "Category", TFP_CELL_TEXT},                                           \
		{"operation", "Operation", TFP_CELL_TEXT},                                         \
		{"occurrences", "# Occurrences", TFP_CELL_NUMBER},                                 \
		{"total_time", "Total Time (us)", TFP_CELL_NUMBER},                                \
		{"avg_time", "Avg. time (us)", TFP_CELL_NUMBER},                                   \
		{"total_self_time", "Total self time (us)", TFP_CELL_NUMBER},                      \
		{"avg_self_time", "Avg. self time (us)", TFP_CELL_NUMBER},                         \
		{"total_self_time_percent", "Total self time (%)", TFP_CELL_NUMBER},               \
	{                                                                                          \
		"cumulative_total_self_time_percent", "Cumulative total self time (%)",            \
			TFP_CELL_NUMBER                                                            \
	}

#define RATE_COLUMNS                                                                               \
	{"measured_flop_rate", "Normalized FLOP Rate (GFLOP/s)", TFP_CELL_NUMBER},                 \
		{"model_flop_rate", "Model FLOP Rate (GFLOP/s)", TFP_CELL_NUMBER},                 \
		{"measured_memory_bw", "Memory BW (GiB/s)", TFP_CELL_NUMBER},                      \
	{                                                                                          \
		"hbm_bw", "HBM BW (GiB/s)", TFP_CELL_NUMBER                                        \
	}

#define INTENSITY_COLUMNS                                                                          \
	{"operational_intensity", "Operational Intensity (FLOP/Byte)", TFP_CELL_NUMBER},           \
	{                                                                                          \
		"hbm_operational_intensity", "HBM Operational Intensity (FLOP/Byte)",              \
			TFP_CELL_NUMBER                                                            \
	}

#define LAST_COLUMNS                                                                               \
	{"bottleneck_operational_intensity", "Bottleneck Operational Intensity (FLOP/Byte)",       \
	 TFP_CELL_NUMBER},                                                                         \
		{"bound_by", "Bound by", TFP_CELL_TEXT},                                           \
		{"total_time_per_core", "Total Time per core (us)", TFP_CELL_NUMBER},              \
		{"total_time_in_percentage", "Total Time (%)", TFP_CELL_NUMBER},                   \
		{"optimal_flop_rate", "Optimal FLOP Rate (GFLOP/s)", TFP_CELL_NUMBER},             \
		{"roofline_efficiency", "Roofline efficiency (%)", TFP_CELL_NUMBER},               \
		{"compute_efficiency", "FLOP Rate / Peak (%)", TFP_CELL_NUMBER},                   \
		{"max_mem_bw_utilization",                                                         \
		 "Max memory BW utilization (among supported memories) (%)", TFP_CELL_NUMBER},     \
		{"include_infeed_outfeed", "Include Infeed/Outfeed", TFP_CELL_BOOLEAN},            \
		{"hlo_module_id", "Program ID", TFP_CELL_TEXT},                                    \
		{"source_info", "Source Info", TFP_CELL_TEXT},                                     \
		{"provenance", "Framework op name", TFP_CELL_TEXT},                                \
	{                                                                                          \
		"cost_source", "Cost known from", TFP_CELL_TEXT                                    \
	}

static const struct tfp_column gpu_columns[] = {
	FIRST_COLUMNS,
	RATE_COLUMNS,
	{"vmem_write_bw", "SHM/L1 BW (GiB/s)", TFP_CELL_NUMBER},
	INTENSITY_COLUMNS,
	{"vmem_write_operational_intensity", "SHM/L1 Operational Intensity (FLOP/Byte)",
	 TFP_CELL_NUMBER},
	LAST_COLUMNS,
};

static const struct tfp_column other_columns[] = {
	FIRST_COLUMNS,
	{"dma_stall_percent", "%time stalled by DMA", TFP_CELL_NUMBER},
	RATE_COLUMNS,
	{"cmem_read_bw", "CMEM Read BW (GiB/s)", TFP_CELL_NUMBER},
	{"cmem_write_bw", "CMEM Write BW (GiB/s)", TFP_CELL_NUMBER},
	{"vmem_read_bw", "VMEM Read BW (GiB/s)", TFP_CELL_NUMBER},
	{"vmem_write_bw", "VMEM Write BW (GiB/s)", TFP_CELL_NUMBER},
	INTENSITY_COLUMNS,
	{"cmem_read_operational_intensity", "CMEM Read Operational Intensity (FLOP/Byte)",
	 TFP_CELL_NUMBER},
	{"cmem_write_operational_intensity", "CMEM Write Operational Intensity (FLOP/Byte)",
	 TFP_CELL_NUMBER},
	{"vmem_read_operational_intensity", "VMEM Read Operational Intensity (FLOP/Byte)",
	 TFP_CELL_NUMBER},
	{"vmem_write_operational_intensity", "VMEM Write Operational Intensity (FLOP/Byte)",
	 TFP_CELL_NUMBER},
	LAST_COLUMNS,
};

static const struct tfp_column diagnostic_columns[] = {
	{"severity", "Severity", TFP_CELL_TEXT},
	{"message", "Message", TFP_CELL_TEXT},
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Which peaks a device's roofline has lines for, as XProf draws them. */
struct roofs {
	double flop_rate;                 /* GFLOP/s */
	double bandwidth[TFP_PEAK_COUNT]; /* GiB/s; 0: no line */
	bool has_cmem, has_merged_vmem;
};

struct writer {
	struct tfp_table *table;
	const struct tfp_program_ops *ops;
	struct roofs roofs;
	bool is_gpu, with_feeds; /* infeed and outfeed */
	uint64_t total_ps;
};

static struct roofs roofs_of(const struct tfp_run_env *env)
{
	const double *peaks = env->peaks.gigabytes_per_second;
	struct roofs r = {.flop_rate = env->peaks.teraflops * 1000};
	r.bandwidth[TFP_PEAK_HBM] = peaks[TFP_PEAK_HBM] * TFP_GIGA_TO_GIBI;
	if (env->hardware == TFP_HW_GPU) {
		/* XProf keeps shared memory where TPUs have their VMEM. */
		r.has_merged_vmem = true;
		r.bandwidth[TFP_PEAK_VMEM_READ] = peaks[TFP_PEAK_SRAM_READ] * TFP_GIGA_TO_GIBI;
		r.bandwidth[TFP_PEAK_VMEM_WRITE] = peaks[TFP_PEAK_SRAM_WRITE] * TFP_GIGA_TO_GIBI;
		return r;
	}
	r.has_cmem = peaks[TFP_PEAK_CMEM_READ] > 0 || peaks[TFP_PEAK_CMEM_WRITE] > 0;
	r.has_merged_vmem = env->peaks.has_merged_vmem;
	int first = r.has_cmem ? TFP_PEAK_CMEM_READ : TFP_PEAK_VMEM_READ;
	for (int p = first; (r.has_cmem || r.has_merged_vmem) && p < first + 2; p++)
		r.bandwidth[p] = peaks[p] * TFP_GIGA_TO_GIBI;
	return r;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* What of the roofs an op uses: the fraction of the flop rate, and the largest of a memory. */
static void measure_use(const struct writer *w, const struct tfp_op_rates *r, double *compute,
			double *memory)
{
	*compute = tfp_divide(r->flop_rate, w->roofs.flop_rate);
	*memory = tfp_divide(r->hbm_bw, w->roofs.bandwidth[TFP_PEAK_HBM]);
	for (int i = 0; i < 4; i++)
		*memory = larger(*memory, tfp_divide(r->onchip_bw[i],
						     w->roofs.bandwidth[TFP_PEAK_CMEM_READ + i]));
}

static void add_string(struct tfp_table *t, const char *s)
{
	tfp_table_add_text(t, s, strlen(s));
}

static void add_known(struct tfp_table *t, bool known, double value)
{
	if (known)
		tfp_table_add_number(t, value);
	else
		tfp_table_add_absent(t);
}

static void add_rates(const struct writer *w, const struct tfp_op *op, const struct tfp_op_rates *r)
{
	struct tfp_table *t = w->table;
	int first = w->is_gpu ? 3 : 0; /* of the memories on the chip that have columns */
	add_known(t, op->has_cost, r->flop_rate);
	add_known(t, op->has_cost, r->model_flop_rate);
	add_known(t, op->has_cost, r->memory_bw);
	add_known(t, op->has_cost, r->hbm_bw);
	/* XProf counts nothing for the shared memory of GPUs: 0, whatever an op costs. */
	for (int i = first; i < 4; i++)
		add_known(t, op->has_cost || w->is_gpu, r->onchip_bw[i]);
	add_known(t, op->has_cost, r->intensity);
	add_known(t, op->has_cost, r->hbm_intensity);
	for (int i = first; i < 4; i++)
		add_known(t, op->has_cost || w->is_gpu, r->onchip_intensity[i]);
	add_known(t, op->has_cost, r->bound_intensity);
	if (op->has_cost)
		add_string(t, r->bound_by);
	else
		tfp_table_add_absent(t);
}

/* Ranks and shares of a row; the program's has none. Times are shown divided by the number of
 * steps that the row is the average of. */
struct place {
	double rank, share, cumulative, steps;
};

static void add_record(const struct writer *w, const char *step, const struct tfp_op *op,
		       const struct place *place)
{
	struct tfp_table *t = w->table;
	const struct tfp_op_text *text = tfp_program_ops_text(w->ops, op);
	struct tfp_op_rates r = tfp_op_rates(op, &w->ops->stats.env);
	double n = (double)op->occurrences, time_us = (double)op->time_ps / 1e6 / place->steps;
	double self_us = (double)op->self_time_ps / 1e6 / place->steps, compute, memory;
	char id[24];
	measure_use(w, &r, &compute, &memory);
	snprintf(id, sizeof(id), "%" PRIu64, op->module_id);
	add_string(t, step);
	tfp_table_add_number(t, place->rank);
	tfp_table_add_text(t, op->category.data, op->category.size);
	tfp_table_add_text(t, op->name.data, op->name.size);
	tfp_table_add_number(t, n);
	tfp_table_add_number(t, time_us);
	tfp_table_add_number(t, tfp_divide(time_us, n));
	tfp_table_add_number(t, self_us);
	tfp_table_add_number(t, tfp_divide(self_us, n));
	tfp_table_add_number(t, place->share);
	tfp_table_add_number(t, place->cumulative);
	if (!w->is_gpu)
		tfp_table_add_number(t, op->device ? tfp_divide((double)op->device->dma_stall_ps,
								(double)op->time_ps)
						   : 0);
	add_rates(w, op, &r);
	tfp_table_add_number(t, tfp_divide(time_us, w->ops->stats.env.device_count));
	tfp_table_add_number(t, tfp_divide((double)op->time_ps, (double)w->total_ps));
	double efficiency = larger(compute, memory);
	add_known(t, op->has_cost, tfp_divide(r.flop_rate, efficiency));
	add_known(t, op->has_cost, efficiency);
	add_known(t, op->has_cost, compute);
	add_known(t, op->has_cost, memory);
	tfp_table_add_boolean(t, w->with_feeds);
	add_string(t, id);
	tfp_program_ops_add_source(t, text);
	tfp_table_add_text(t, op->provenance.data, op->provenance.size);
	add_string(t, tfp_cost_by_name(op));
}

static bool is_feed(const struct tfp_op *op)
{
	return tfp_category_is_feed(op->category);
}

/* The program as an op, without cost. */
static struct tfp_op whole_program(uint64_t time_ps, struct tfp_device_metrics *device)
{
	const struct tfp_str name = {"Program", 7};
	*device = (struct tfp_device_metrics){.origin = TFP_ORIGIN_NONE};
	return (struct tfp_op){.name = name,
			       .category = name,
			       .provenance = {"", 0},
			       .occurrences = 1,
			       .time_ps = time_ps,
			       .device = device};
}

/* All ops as one. Costs that nobody knows are left out, and unknown_cost_time_us says for how much
 * time; the sum is unknown when all are. */
static void add_program(struct writer *w)
{
	struct tfp_device_metrics device;
	struct tfp_op all = whole_program(w->total_ps, &device);
	bool any = false;
	for (size_t i = 0; i < w->ops->count; i++) {
		const struct tfp_op *op = w->ops->list[i];
		if (tfp_category_has_inner_ops(op->category) || (!w->with_feeds && is_feed(op)))
			continue;
		any = true;
		if (!op->has_cost)
			continue;
		all.has_cost = true;
		all.flops += op->flops;
		all.model_flops += op->model_flops;
		all.bytes_accessed += op->bytes_accessed;
		if (op->device)
			tfp_device_metrics_add(&device, op->device);
	}
	all.has_cost |= !any; /* nothing ran, which costs nothing */
	device.origin = TFP_ORIGIN_NONE;
	device.cost_by = TFP_COST_BY_NOBODY;
	device.dma_stall_ps = 0; /* XProf's program has none */
	add_record(w, "Total", &all, &(struct place){.steps = 1});
}

/* Adds what a step spent on a kind of ops to the program. */
static void add_part(struct tfp_op *all, const struct tfp_work_sum *sum)
{
	struct tfp_device_metrics more = {.has_breakdown = sum->has_breakdown};
	memcpy(more.bytes, sum->bytes, sizeof(more.bytes));
	all->has_cost |= sum->has_cost;
	all->flops += sum->flops;
	all->model_flops += sum->model_flops;
	all->bytes_accessed += sum->bytes_accessed;
	tfp_device_metrics_add(all->device, &more);
}

/* The program in a step, or in the average of so many. */
static void add_step(struct writer *w, const char *name, const struct tfp_step_work *step,
		     size_t steps)
{
	const struct tfp_work_sum *feeds = &step->parts[TFP_WORK_FEEDS];
	struct tfp_device_metrics device;
	uint64_t all_ps = w->ops->has_others ? step->whole_time_ps : step->peers_time_ps;
	uint64_t without = w->with_feeds ? 0 : feeds->time_ps;
	struct tfp_op all = whole_program(all_ps > without ? all_ps - without : 0, &device);
	uint64_t op_time = tfp_step_work_op_time(step, w->ops->has_others);
	add_part(&all, &step->parts[TFP_WORK_OPS]);
	if (w->with_feeds)
		add_part(&all, feeds);
	else
		op_time -= feeds->self_time_ps;
	if (w->ops->has_others)
		add_part(&all, &step->parts[TFP_WORK_OTHERS]);
	all.has_cost |= op_time == 0; /* nothing ran, which costs nothing */
	w->total_ps = all.time_ps;
	add_record(w, name, &all, &(struct place){.steps = (double)steps});
}

/* A row for the average, and one for each step in which devices did something. XProf has rows of
 * zeros for others. */
static void add_steps(struct writer *w, uint64_t limit)
{
	const struct tfp_step_works *works = &w->ops->works;
	struct tfp_step_work sum = {0};
	size_t count = 0;
	for (size_t s = 0; s < works->count; s++) {
		if (tfp_step_work_op_time(&works->list[s], w->ops->has_others) == 0)
			continue;
		tfp_step_work_add(&sum, &works->list[s]);
		count++;
	}
	if (count)
		add_step(w, "Average", &sum, count);
	uint64_t written = 0;
	for (size_t s = 0; s < works->count && (limit == 0 || written < limit); s++) {
		const struct tfp_step_work *step = &works->list[s];
		char name[16];
		if (tfp_step_work_op_time(step, w->ops->has_others) == 0)
			continue;
		snprintf(name, sizeof(name), "%" PRIu32, step->number);
		add_step(w, name, step, 1);
		written++;
	}
}

static void add_ops(struct writer *w, uint64_t limit)
{
	struct place place = {.steps = 1};
	/* XProf's thousand counts what is then left out, and IDLE. */
	uint64_t seen = 0;
	for (size_t i = 0; i < w->ops->count && (limit == 0 || seen < limit); i++) {
		const struct tfp_op *op = w->ops->list[i];
		seen++;
		if (!w->with_feeds && is_feed(op))
			continue;
		place.rank++;
		place.share = tfp_divide((double)op->self_time_ps, (double)w->total_ps);
		place.cumulative += place.share;
		add_record(w, "Total", op, &place);
	}
}

static void set_roof(struct tfp_table *t, const char *key, double value)
{
	char text[40];
	snprintf(text, sizeof(text), "%.6g", value);
	tfp_table_set_property(t, key, text);
}

/* FLOP/byte from which on computing binds. */
static double ridge(const struct roofs *r, enum tfp_peak peak)
{
	return tfp_divide(r->flop_rate, r->bandwidth[peak] / TFP_GIGA_TO_GIBI);
}

static void set_properties(const struct writer *w)
{
	static const struct {
		enum tfp_peak peak;
		const char *bandwidth, *ridge;
	} roofs[] = {
		{TFP_PEAK_HBM, "peak_hbm_bw", "hbm_ridge_point"},
		{TFP_PEAK_VMEM_WRITE, "peak_vmem_write_bw", "vmem_write_ridge_point"},
		{TFP_PEAK_VMEM_READ, "peak_vmem_read_bw", "vmem_read_ridge_point"},
		{TFP_PEAK_CMEM_READ, "peak_cmem_read_bw", "cmem_read_ridge_point"},
		{TFP_PEAK_CMEM_WRITE, "peak_cmem_write_bw", "cmem_write_ridge_point"},
	};
	struct tfp_table *t = w->table;
	set_roof(t, "peak_flop_rate", w->roofs.flop_rate);
	for (size_t i = 0; i < (w->is_gpu ? 2 : COUNT(roofs)); i++) {
		set_roof(t, roofs[i].bandwidth, w->roofs.bandwidth[roofs[i].peak]);
		set_roof(t, roofs[i].ridge, ridge(&w->roofs, roofs[i].peak));
	}
	tfp_program_ops_properties(w->ops, t);
	if (w->is_gpu)
		return;
	tfp_table_set_property(t, "megacore", w->ops->stats.env.peaks.has_megacore ? "1" : "0");
	tfp_table_set_property(t, "has_cmem", w->roofs.has_cmem ? "1" : "0");
	tfp_table_set_property(t, "has_merged_vmem", w->roofs.has_merged_vmem ? "1" : "0");
	double normalized = 0, self = 0;
	for (size_t i = 0; i < w->ops->count; i++) {
		const struct tfp_op *op = w->ops->list[i];
		self += (double)op->self_time_ps;
		if (op->device)
			normalized +=
				(double)op->self_time_ps *
				tfp_divide((double)op->device->normalized_ps, (double)op->time_ps);
	}
	set_roof(t, "time_scale_multiplier", tfp_divide(normalized, self));
}

static uint64_t feed_time(const struct tfp_program_ops *ops)
{
	uint64_t time = 0;
	for (size_t i = 0; i < ops->count; i++)
		time += is_feed(ops->list[i]) ? ops->list[i]->time_ps : 0;
	return time;
}

/* Steps by what they are, and what could stand in for them. */
static void set_steps(const struct writer *w)
{
	const struct tfp_step_works *works = &w->ops->works;
	char text[24];
	struct tfp_buf name;
	snprintf(text, sizeof(text), "%zu", works->count);
	tfp_table_set_property(w->table, "steps_total", text);
	if (works->module_steps) {
		snprintf(text, sizeof(text), "%" PRIu32, works->module_steps);
		tfp_table_set_property(w->table, "module_steps", text);
	}
	if (works->module.size == 0)
		return;
	tfp_buf_init(&name, (size_t)1 << 16);
	tfp_utf8_repair(&name, works->module.data,
			works->module.size < 10000 ? works->module.size : 10000);
	tfp_table_set_property(w->table, "step_source", "module");
	tfp_table_set_property(w->table, "step_module", tfp_buf_text(&name));
	w->table->failed |= tfp_buf_failed(&name);
	tfp_buf_release(&name);
}

struct limits {
	uint64_t ops, steps; /* rows of each half; 0: all */
};

static void write_table(struct tfp_table *t, const struct tfp_program_ops *ops,
			const struct limits *limits)
{
	const struct tfp_run_env *env = &ops->stats.env;
	struct writer w = {.table = t,
			   .ops = ops,
			   .roofs = roofs_of(env),
			   .is_gpu = strstr(env->device_type, "GPU") != NULL};
	bool has_roof = env->hardware == TFP_HW_GPU || env->hardware == TFP_HW_TPU;
	tfp_table_init(t, w.is_gpu ? gpu_columns : other_columns,
		       w.is_gpu ? COUNT(gpu_columns) : COUNT(other_columns));
	for (int pass = 0; has_roof && pass < 2; pass++) {
		w.with_feeds = pass == 0;
		uint64_t feeds = w.with_feeds ? 0 : feed_time(ops);
		w.total_ps = ops->total_time_ps > feeds ? ops->total_time_ps - feeds : 0;
		add_program(&w);
		add_ops(&w, limits->ops);
		add_steps(&w, limits->steps);
	}
	set_properties(&w);
	set_steps(&w);
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_program_ops ops;
	struct limits limits;
	enum tfp_status status = tfp_query_get_count(query, "limit", PEERS_ROWS, &limits.ops, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "step_limit", STEPS_ROWS, &limits.steps, err);
	if (status != TFP_OK)
		return status;
	status = tfp_program_ops_of_steps(session, query, &ops, err);
	if (status == TFP_OK) {
		struct tfp_table *t = &answer->tables[answer->table_count++];
		write_table(t, &ops, &limits);
		struct tfp_table *d = &answer->tables[answer->table_count++];
		tfp_table_init(d, diagnostic_columns, COUNT(diagnostic_columns));
		if (tfp_table_failed(t) || tfp_table_failed(d))
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the roofline");
	}
	tfp_program_ops_release(&ops);
	return status;
}

const struct tfp_tool tfp_roofline_model = {
	.name = "roofline_model",
	.title = "Roofline",
	.summary = "How near each operation came to what the device can do.",
	.place = 37,
	.key = 'l',
	.filter = "Filter operations",
	.scope = TFP_HOSTS_BOTH,
	.takes_hosts = true,
	.needs = TFP_NEEDS_DEVICE,
	.without = "No device was captured, so there is nothing to hold against its peaks.",
	.parameters =
		{
			TFP_TAKES(COUNT, "limit", PEERS_LIMIT,
				  "How many operations each half of the table keeps; 0 for all."),
			TFP_TAKES(COUNT, "step_limit", STEPS_LIMIT,
				  "How many steps each half of the table keeps; 0 for all."),
			TFP_TAKES_ONE_OF(
				"step_source", "marked",
				"Which steps count: those that the program marked or, if it "
				"marked none, the executions of its module.",
				"marked", "module"),
			TFP_PROGRAM_OPS_PARAMETERS,
		},
	.render = render,
};
