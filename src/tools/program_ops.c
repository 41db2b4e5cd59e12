/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/program_ops.h"

#include "base/alloc.h"
#include "session/given_peaks.h"
#include "session/summary.h"
#include "tools/run_summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the operations of programs");
}

struct merging {
	struct tfp_program_ops *ops;
	struct tfp_step_works *works; /* by place; NULL where no steps are asked for */
};

static enum tfp_status merge(void *context, size_t place, const struct tfp_host_summary *host,
			     struct tfp_error *err)
{
	struct merging *m = context;
	struct tfp_program_ops *ops = m->ops;
	if (!host)
		return TFP_OK;
	if (m->works && !tfp_step_works_copy(&m->works[place], host->step_works))
		return no_memory(err);
	if (!tfp_op_texts_merge(&ops->texts, host->op_texts))
		return no_memory(err);
	return tfp_op_stats_merge(&ops->stats, host->op_stats, (uint32_t)place, err);
}

/* ---- peaks ---- */

static bool take_peak(const struct tfp_query *query, const char *name, double *peak)
{
	const char *text = tfp_query_get(query, name);
	if (!text || !text[0])
		return false;
	*peak = strtod(text, NULL); /* a number: tfp_tool_check saw it */
	return true;
}

static void take_peaks(const struct tfp_query *query, struct tfp_run_env *env)
{
	struct tfp_peaks *peaks = &env->peaks;
	double *rates = peaks->gigabytes_per_second, sram;
	bool any = take_peak(query, "peak_tflops", &peaks->teraflops);
	any |= take_peak(query, "peak_hbm_gbs", &rates[TFP_PEAK_HBM]);
	if (take_peak(query, "peak_sram_gbs", &sram)) {
		rates[TFP_PEAK_SRAM_READ] = rates[TFP_PEAK_SRAM_WRITE] = sram;
		if (env->hardware == TFP_HW_TPU)
			rates[TFP_PEAK_VMEM_READ] = rates[TFP_PEAK_VMEM_WRITE] = sram;
		any = true;
	}
	if (!any)
		return;
	char before[sizeof(peaks->source)];
	memcpy(before, peaks->source, sizeof(before));
	snprintf(peaks->source, sizeof(peaks->source), "what was asked for, else %.*s", 120,
		 before);
}

/* ---- the list ---- */

static bool is_listed(const struct tfp_program_ops *ops, const struct tfp_op *op)
{
	enum tfp_op_origin origin = tfp_op_origin(op);
	if (tfp_op_is_idle(op))
		return false;
	return ops->has_others || origin == TFP_ORIGIN_INSTRUCTION ||
	       origin == TFP_ORIGIN_FRAMEWORK;
}

static int by_self_time(const void *a, const void *b)
{
	const struct tfp_op *x = *(const struct tfp_op *const *)a;
	const struct tfp_op *y = *(const struct tfp_op *const *)b;
	if (x->self_time_ps != y->self_time_ps)
		return x->self_time_ps > y->self_time_ps ? -1 : 1;
	int order = tfp_str_compare(x->name, y->name);
	if (order)
		return order;
	return x->module_id < y->module_id ? -1 : x->module_id > y->module_id;
}

static bool make_list(struct tfp_program_ops *ops)
{
	const struct tfp_device_work *work = &ops->stats.device;
	const struct tfp_op_db *dbs[] = {&work->ops, &work->unnamed};
	ops->list = tfp_calloc(work->ops.count + work->unnamed.count + 1, sizeof(*ops->list));
	if (!ops->list)
		return false;
	for (size_t d = 0; d < 2; d++) {
		for (size_t i = 0; i < dbs[d]->count; i++) {
			const struct tfp_op *op = &dbs[d]->ops[i];
			if (!is_listed(ops, op))
				continue;
			ops->list[ops->count++] = op;
			ops->op_time_ps += op->self_time_ps;
			if (!op->has_cost)
				ops->no_cost_time_ps += op->self_time_ps;
		}
	}
	qsort(ops->list, ops->count, sizeof(*ops->list), by_self_time);
	return true;
}

static void measure(struct tfp_program_ops *ops, bool *any_instruction)
{
	const struct tfp_device_work *work = &ops->stats.device;
	const struct tfp_op_db *dbs[] = {&work->ops, &work->unnamed};
	*any_instruction = false;
	for (size_t d = 0; d < 2; d++) {
		for (size_t i = 0; i < dbs[d]->count; i++) {
			const struct tfp_op *op = &dbs[d]->ops[i];
			bool known = tfp_op_origin(op) == TFP_ORIGIN_INSTRUCTION;
			if (tfp_op_is_idle(op))
				continue;
			*any_instruction |= known;
			ops->busy_time_ps += op->self_time_ps;
			ops->no_hlo_time_ps += known ? 0 : op->self_time_ps;
		}
	}
	ops->has_devices = work->ops.count + work->unnamed.count > 0;
}

static bool is_true(const char *text)
{
	return text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

/* Of all hosts; parts: with the work in steps, or without. */
static enum tfp_status read_hosts(const struct tfp_session *session, unsigned parts,
				  struct tfp_program_ops *out, struct tfp_error *err)
{
	struct merging m = {.ops = out};
	enum tfp_status status;
	parts |= TFP_SUMMARY_OPS | TFP_SUMMARY_PROGRAMS;
	if (!(parts & TFP_SUMMARY_ANY_WORK))
		return tfp_session_summaries(session, parts, merge, &m, err);
	m.works = tfp_calloc(session->host_count + 1, sizeof(*m.works));
	if (!m.works)
		return no_memory(err);
	for (size_t h = 0; h < session->host_count; h++)
		m.works[h].absent = true;
	status = tfp_session_summaries(session, parts, merge, &m, err);
	if (status == TFP_OK)
		status = tfp_step_works_combine(m.works, session->host_count, &out->works, err);
	for (size_t h = 0; h < session->host_count; h++)
		tfp_step_works_release(&m.works[h]);
	tfp_free(m.works);
	return status;
}

static enum tfp_status make(const struct tfp_session *session, const struct tfp_query *query,
			    unsigned parts, struct tfp_program_ops *out, struct tfp_error *err)
{
	bool any_instruction;
	enum tfp_status status = read_hosts(session, parts, out, err);
	if (status != TFP_OK)
		return status;
	tfp_op_stats_end(&out->stats);
	tfp_given_peaks_apply(session->peaks, &out->stats.env);
	take_peaks(query, &out->stats.env);
	measure(out, &any_instruction);
	const char *others = tfp_query_get(query, "others");
	out->has_others = others && others[0] ? is_true(others) : !any_instruction;
	if (!make_list(out))
		return no_memory(err);
	out->total_time_ps =
		out->has_others ? out->stats.device.whole_time_ps : out->stats.device.peers_time_ps;
	if (out->total_time_ps < out->op_time_ps)
		out->total_time_ps = out->op_time_ps;
	return TFP_OK;
}

static void init(struct tfp_program_ops *ops)
{
	*ops = (struct tfp_program_ops){0};
	tfp_op_stats_init(&ops->stats);
	tfp_op_texts_init(&ops->texts);
}

enum tfp_status tfp_program_ops(const struct tfp_session *session, const struct tfp_query *query,
				struct tfp_program_ops *out, struct tfp_error *err)
{
	init(out);
	return make(session, query, 0, out, err);
}

enum tfp_status tfp_program_ops_of_steps(const struct tfp_session *session,
					 const struct tfp_query *query, struct tfp_program_ops *out,
					 struct tfp_error *err)
{
	bool by_module;
	init(out);
	enum tfp_status status = tfp_steps_by_module(query, &by_module, err);
	if (status != TFP_OK)
		return status;
	return make(session, query, by_module ? TFP_SUMMARY_MODULE_WORK : TFP_SUMMARY_WORK, out,
		    err);
}

void tfp_program_ops_release(struct tfp_program_ops *ops)
{
	tfp_step_works_release(&ops->works);
	tfp_free(ops->list);
	tfp_op_texts_release(&ops->texts);
	tfp_op_stats_release(&ops->stats);
	*ops = (struct tfp_program_ops){0};
}

const struct tfp_op_text *tfp_program_ops_text(const struct tfp_program_ops *ops,
					       const struct tfp_op *op)
{
	static const struct tfp_op_text none = {.deduplicated_name = {"", 0},
						.expression = {"", 0},
						.source_file = {"", 0},
						.source_stack = {"", 0}};
	const struct tfp_op_text *text = NULL;
	if (tfp_op_origin(op) == TFP_ORIGIN_INSTRUCTION)
		text = tfp_op_texts_find(&ops->texts, op->module_id, op->name);
	return text ? text : &none;
}

struct tfp_op tfp_program_ops_idle(const struct tfp_program_ops *ops)
{
	uint64_t idle = ops->total_time_ps - ops->op_time_ps;
	const struct tfp_str name = {TFP_OP_IDLE, strlen(TFP_OP_IDLE)};
	return (struct tfp_op){.name = name,
			       .category = name,
			       .provenance = {"", 0},
			       .time_ps = idle,
			       .self_time_ps = idle,
			       .has_cost = true};
}

static void set_time(struct tfp_table *table, const char *key, uint64_t ps)
{
	char text[40];
	snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, ps / 1000000, ps % 1000000);
	tfp_table_set_property(table, key, text);
}

/* Nothing where it is not known. */
static void set_peak(struct tfp_table *table, const char *key, double value)
{
	char text[32];
	snprintf(text, sizeof(text), "%.10g", value);
	tfp_table_set_property(table, key, value > 0 ? text : "");
}

void tfp_program_ops_properties(const struct tfp_program_ops *ops, struct tfp_table *table)
{
	const struct tfp_peaks *peaks = &ops->stats.env.peaks;
	tfp_table_set_property(table, "device_type", ops->stats.env.device_type);
	tfp_table_set_property(table, "peaks_source", peaks->source);
	set_peak(table, "peak_tflops", peaks->teraflops);
	set_peak(table, "peak_hbm_gbs", peaks->gigabytes_per_second[TFP_PEAK_HBM]);
	set_time(table, "total_time_us", ops->total_time_ps);
	set_time(table, "busy_time_us", ops->busy_time_ps);
	set_time(table, "no_hlo_time_us", ops->no_hlo_time_ps);
	set_time(table, "unknown_cost_time_us", ops->no_cost_time_ps);
}

static void put_escaped(struct tfp_buf *out, struct tfp_str s)
{
	for (size_t i = 0; i < s.size; i++) {
		switch (s.data[i]) {
		case '&':
			tfp_buf_puts(out, "&amp;");
			break;
		case '<':
			tfp_buf_puts(out, "&lt;");
			break;
		case '>':
			tfp_buf_puts(out, "&gt;");
			break;
		case '\'':
			tfp_buf_puts(out, "&#39;");
			break;
		case '"':
			tfp_buf_puts(out, "&quot;");
			break;
		default:
			tfp_buf_putc(out, s.data[i]);
		}
	}
}

void tfp_program_ops_add_source(struct tfp_table *table, const struct tfp_op_text *text)
{
	struct tfp_buf html;
	if (text->source_file.size == 0 || text->source_line == -1) {
		tfp_table_add_text(table, "", 0);
		return;
	}
	tfp_buf_init(&html, (size_t)1 << 24);
	tfp_buf_puts(&html, "<div class='source-info-cell' title='");
	put_escaped(&html, text->source_stack);
	tfp_buf_puts(&html, "'>");
	put_escaped(&html, text->source_file);
	tfp_buf_printf(&html, ":%" PRId32 "</div>", text->source_line);
	if (tfp_buf_failed(&html))
		table->failed = true;
	else
		tfp_table_add_text(table, html.data, html.size);
	tfp_buf_release(&html);
}

void tfp_program_ops_add_place(struct tfp_table *t, struct tfp_str file, int32_t line)
{
	struct tfp_buf place;
	tfp_buf_init(&place, (size_t)1 << 20);
	if (file.size) {
		tfp_buf_add(&place, file.data, file.size);
		tfp_buf_printf(&place, ":%" PRId32, line);
	}
	if (tfp_buf_failed(&place))
		t->failed = true;
	else
		tfp_table_add_text(t, place.data, place.size);
	tfp_buf_release(&place);
}
