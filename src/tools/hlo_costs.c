/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HLO costs: what every instruction of a program costs by both of XLA's analyses
 * (docs/tools/hlo_costs.md).
 */
#include "analysis/hlo/hlo_modules.h"
#include "analysis/hlo/hlo_text.h"
#include "base/alloc.h"
#include "base/progress.h"
#include "session/summary.h"
#include "tools/program_choice.h"
#include "tools/program_ops.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a shape or an expression that are shown. */
#define TEXT_MOST 1000
#define DOTS      "..."

static const struct tfp_column columns[] = {
	{"program_id", "Program id", TFP_CELL_TEXT}, /* a double has fewer digits */
	{"module", "Module", TFP_CELL_TEXT},
	{"computation", "Computation", TFP_CELL_TEXT},
	{"comp_kind", "Kind of computation", TFP_CELL_TEXT},
	{"instruction", "Instruction", TFP_CELL_TEXT},
	{"opcode", "Opcode", TFP_CELL_TEXT},
	{"category", "Category", TFP_CELL_TEXT},
	{"xla_flops", "Flops", TFP_CELL_NUMBER},
	{"xla_transcendentals", "Transcendentals", TFP_CELL_NUMBER},
	{"xla_bytes", "Bytes", TFP_CELL_NUMBER},
	{"gpu_flops_model", "GPU model flops", TFP_CELL_NUMBER},
	{"gpu_flops_device", "GPU device flops", TFP_CELL_NUMBER},
	{"gpu_bytes", "GPU bytes", TFP_CELL_NUMBER},
	{"gpu_bytes_read_hbm", "GPU bytes read from HBM", TFP_CELL_NUMBER},
	{"gpu_bytes_written_hbm", "GPU bytes written to HBM", TFP_CELL_NUMBER},
	{"shape", "Shape", TFP_CELL_TEXT},
	{"cost_source", "Cost known from", TFP_CELL_TEXT},
	{"op_name", "Op name", TFP_CELL_TEXT},
	{"expression", "Expression", TFP_CELL_TEXT},
	{"source", "Source", TFP_CELL_TEXT},
	{"source_stack", "Source stack", TFP_CELL_TEXT},
};

static const char *const sources[] = {
	[TFP_HLO_COST_XLA] = "XLA",
	[TFP_HLO_COST_OURS] = "ours",
	[TFP_HLO_COST_UNKNOWN] = "unknown",
};

/* ---- the table ---- */

struct writer {
	struct tfp_table *table;
	struct tfp_program_choice choice;
	uint64_t limit;      /* of rows; 0: none */
	struct tfp_buf text; /* has room for TEXT_MOST bytes and dots */
	bool fused;          /* instructions inside of fusions are listed, too */
	bool found;
	size_t rows, by_us, unknown, inside;
	/* Of the program that was found. */
	const struct tfp_hlo_module *module;
	const struct tfp_hlo_cost *costs; /* NULL: the analysis failed */
	struct tfp_hlo_frames frames;
};

static void add_str(struct tfp_table *t, struct tfp_str text)
{
	tfp_table_add_text(t, text.data, text.size);
}

/* What was written, with dots where it was cut. */
static void add_written(struct writer *w)
{
	size_t size = w->text.size;
	if (tfp_buf_failed(&w->text)) {
		memcpy(w->text.data + size, DOTS, strlen(DOTS));
		size += strlen(DOTS);
	}
	tfp_table_add_text(w->table, w->text.data, size);
	tfp_buf_clear(&w->text);
}

static void add_count(struct tfp_table *t, bool known, int64_t value)
{
	if (known && value >= 0)
		tfp_table_add_number(t, (double)value);
	else
		tfp_table_add_absent(t);
}

static void add_cost(struct tfp_table *t, const struct tfp_hlo_cost *cost)
{
	bool ours = cost->source == TFP_HLO_COST_OURS, known = cost->source != TFP_HLO_COST_UNKNOWN;
	/* Of what the generic analysis does not know it says so in its flops alone. */
	bool generic = known && !(ours && cost->flops < 0);
	add_count(t, generic, cost->flops);
	add_count(t, generic, cost->transcendentals);
	add_count(t, generic, cost->bytes);
	add_count(t, known, cost->gpu_flops);
	add_count(t, known, cost->gpu_device_flops);
	add_count(t, known, cost->gpu_bytes);
	add_count(t, known, cost->gpu_bytes_read);
	add_count(t, known, cost->gpu_bytes_written);
}

static void add_source(struct writer *w, const struct tfp_hlo_op *op)
{
	struct tfp_hlo_source source;
	struct tfp_arena arena; /* of one stack: the table has its own copy */
	tfp_arena_init(&arena, SIZE_MAX);
	if (tfp_hlo_source_of(&w->frames, op, &arena, &source)) {
		tfp_program_ops_add_place(w->table, source.file, source.line);
		add_str(w->table, source.stack);
	} else {
		w->table->failed = true;
	}
	tfp_arena_release(&arena);
}

static void add_row(struct writer *w, uint32_t i)
{
	static const struct tfp_hlo_cost unknown = {.source = TFP_HLO_COST_UNKNOWN};
	const struct tfp_hlo_program *p = &w->module->program;
	const struct tfp_hlo_op *op = &p->instructions[i];
	const struct tfp_hlo_computation *in = &p->computations[op->computation];
	const struct tfp_hlo_cost *cost = w->costs ? &w->costs[i] : &unknown;
	const char *source = sources[cost->source];
	w->by_us += cost->source == TFP_HLO_COST_OURS;
	w->unknown += cost->source == TFP_HLO_COST_UNKNOWN;
	if (w->rows++ >= w->limit && w->limit)
		return;
	struct tfp_table *t = w->table;
	char id[24];
	int size = snprintf(id, sizeof(id), "%" PRIu64, w->choice.id);
	const char *kind = op->computation == p->entry ? "entry"
			   : in->is_fused              ? "fusion"
						       : "other";
	tfp_table_add_text(t, id, (size_t)size);
	add_str(t, w->module->name);
	add_str(t, in->name);
	tfp_table_add_text(t, kind, strlen(kind));
	add_str(t, op->name);
	add_str(t, op->opcode_name);
	add_str(t, w->module->instructions[i].category);
	add_cost(t, cost);
	tfp_hlo_write_shape(tfp_hlo_shape_of(p, i)->message, &w->text);
	add_written(w);
	tfp_table_add_text(t, source, strlen(source));
	add_str(t, w->module->instructions[i].op_fullname);
	tfp_hlo_write_op(p, i, 0, TEXT_MOST, &w->text);
	add_written(w);
	add_source(w, op);
}

/* The entry computation's first: they are what runs. */
static bool add_rows(struct writer *w)
{
	const struct tfp_hlo_program *p = &w->module->program;
	for (uint32_t n = 0; n <= p->computation_count; n++) {
		uint32_t c = n == 0 ? p->entry : n - 1;
		const struct tfp_hlo_computation *in = &p->computations[c];
		if (n > 0 && c == p->entry)
			continue;
		w->inside += in->is_fused ? in->count : 0;
		if (in->is_fused && !w->fused)
			continue;
		for (uint32_t i = in->first; i < in->first + in->count; i++) {
			if (!tfp_goes_on(i))
				return false;
			add_row(w, i);
		}
	}
	return true;
}

static void set_count(struct tfp_table *t, const char *key, size_t count)
{
	char number[24];
	snprintf(number, sizeof(number), "%zu", count);
	tfp_table_set_property(t, key, number);
}

static enum tfp_status add_program(struct writer *w, struct tfp_error *err)
{
	struct tfp_hlo_cost *own = NULL;
	struct tfp_error problem;
	enum tfp_status status = TFP_OK;
	tfp_error_init(&problem);
	w->costs = w->module->costs;
	/* Captures of GPUs have them made, unless they cannot be. */
	if (!w->costs) {
		status = tfp_hlo_cost_analyse(&w->module->program, &own, &problem);
		w->costs = own;
	}
	if (status == TFP_BAD_INPUT) {
		tfp_table_set_property(w->table, "problem", problem.message);
		status = TFP_OK;
	}
	if (status != TFP_OK && err)
		*err = problem;
	if (status == TFP_OK)
		status = tfp_hlo_frames_init(&w->frames, &w->module->program, err);
	if (status == TFP_OK && !add_rows(w))
		status = tfp_fail_cancelled(err);
	tfp_hlo_frames_release(&w->frames);
	tfp_free(own);
	if (status != TFP_OK)
		return status;
	set_count(w->table, "rows_total", w->rows);
	set_count(w->table, "unknown_total", w->unknown);
	set_count(w->table, "ours_total", w->by_us);
	set_count(w->table, "fused_total", w->inside);
	return TFP_OK;
}

static enum tfp_status look_at_host(void *context, struct tfp_capture *capture, const char *host,
				    struct tfp_pool *pool, struct tfp_error *err)
{
	struct writer *w = context;
	const struct tfp_hlo_modules *modules;
	(void)host;
	if (w->found)
		return TFP_OK;
	enum tfp_status status = tfp_hlo_modules_get(capture, pool, &modules, err);
	if (status != TFP_OK)
		return status;
	w->module = tfp_chosen_module(&w->choice, modules);
	w->found = w->module != NULL;
	return w->found ? add_program(w, err) : TFP_OK;
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct writer w = {.table = &answer->tables[answer->table_count++]};
	const char *fused = tfp_query_get(query, "fused");
	w.fused = !fused || !*fused || strcmp(fused, "true") == 0 || strcmp(fused, "1") == 0;
	answer->bare = true;
	tfp_table_init(w.table, columns, sizeof(columns) / sizeof(columns[0]));
	enum tfp_status status = tfp_query_get_count(query, "limit", 0, &w.limit, err);
	if (status == TFP_OK)
		status = tfp_choose_program(session, query, NULL, &w.choice, err);
	if (status != TFP_OK || !w.choice.any)
		return status;
	/* Memory first, so that a text that does not fit is known to be too long. */
	tfp_buf_init(&w.text, TEXT_MOST + strlen(DOTS));
	if (!tfp_buf_reserve(&w.text, w.text.ceiling))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the costs of a program");
	w.text.ceiling = TEXT_MOST;
	status = tfp_session_each(session, look_at_host, &w, err);
	tfp_buf_release(&w.text);
	if (status == TFP_OK && !w.found)
		return tfp_no_such_program(&w.choice, err);
	if (status == TFP_OK && tfp_table_failed(w.table))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the costs of a program");
	return status;
}

const struct tfp_tool tfp_hlo_costs = {
	.name = "hlo_costs",
	.title = "HLO costs",
	.summary = "What every instruction of a compiled program costs, by XLA's two analyses.",
	.place = 39,
	.filter = "Filter instructions",
	.scope = TFP_HOSTS_BOTH,
	.takes_hosts = true,
	.needs = TFP_NEEDS_PROGRAM,
	.without = "The capture holds no compiled program.",
	.parameters =
		{
			TFP_TAKES(COUNT, "program_id", NULL,
				  "The program's number. Default: the program with the most "
				  "device time, or the only one."),
			TFP_TAKES(TEXT, "module_name", NULL,
				  "The program's name, with or without its number: "
				  "jit_step(17). program_id wins over it."),
			TFP_TAKES(BOOLEAN, "fused", "true",
				  "Whether to list the instructions inside fusions. The cost of a "
				  "fusion includes theirs."),
			TFP_TAKES(COUNT, "limit", "0", "How many rows the table keeps; 0 for all."),
		},
	.render = render,
};
