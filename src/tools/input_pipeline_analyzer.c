/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input pipeline: whether the program waits for its input, and what the input
 * spends its time on (docs/tools/input_pipeline_analyzer.md).
 */
#include "base/alloc.h"
#include "tools/step_table.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Columns that depend on the number of steps live as long as the table. */
static char *kept_number(struct tfp_table *t, size_t number)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%zu", number);
	return tfp_arena_strndup(&t->arena, text, (size_t)n);
}

static void worst_core_name(const struct tfp_run_summary *run, size_t step, char *out, size_t size)
{
	struct tfp_tpu_step_view view;
	tfp_tpu_step_view(&run->steps, step, TFP_EVERY_HOST, &view);
	const struct tfp_core_step *core = tfp_step_core(&run->steps, step, view.worst_core);
	const char *host = run->hostnames[core->host];
	snprintf(out, size, "%s:%" PRIu32, host ? host : "unknown", core->core);
}

/* Which core waited longest for its input, by step. Steps are columns, as the peers have
 * it. */
static void core_table(struct tfp_table *t, const struct tfp_run_summary *run)
{
	size_t steps = run->steps.count;
	tfp_table_init(t, NULL, 0);
	if (!tfp_is_tpu_run(run))
		return;
	struct tfp_column *columns =
		tfp_arena_zalloc(&t->arena, steps + 1, sizeof(struct tfp_column));
	if (!columns) {
		t->failed = true;
		return;
	}
	columns[0] = (struct tfp_column){"index", "Index", TFP_CELL_TEXT};
	for (size_t s = 0; s < steps; s++) {
		char *number = kept_number(t, s);
		if (!number) {
			t->failed = true;
			return;
		}
		columns[s + 1] = (struct tfp_column){number, number, TFP_CELL_TEXT};
	}
	t->columns = columns;
	t->column_count = steps + 1;
	tfp_table_add_text(t, "Step number", 11);
	for (size_t s = 0; s < steps; s++) {
		char text[24];
		int n = snprintf(text, sizeof(text), "%" PRIu32, run->steps.steps[s].number);
		tfp_table_add_text(t, text, (size_t)n);
	}
	tfp_table_add_text(t, "Core name", 9);
	for (size_t s = 0; s < steps; s++) {
		char text[300];
		worst_core_name(run, s, text, sizeof(text));
		tfp_table_add_text(t, text, strlen(text));
	}
}

static const struct tfp_column op_columns[] = {
	{"opName", "Input Op", TFP_CELL_TEXT},
	{"count", "Count", TFP_CELL_NUMBER},
	{"timeInMs", "Total Time (in ms)", TFP_CELL_NUMBER},
	{"timeInPercent", "Total Time (as % of total input-processing time)", TFP_CELL_NUMBER},
	{"selfTimeInMs", "Total Self Time (in ms)", TFP_CELL_NUMBER},
	{"selfTimeInPercent", "Total Self Time (as % of total input-processing time)",
	 TFP_CELL_NUMBER},
	{"category", "Category", TFP_CELL_TEXT},
};

static void add_op(struct tfp_table *t, const struct tfp_op *op, enum tfp_input_category category,
		   double all_ops_us)
{
	const char *text = tfp_input_category_name(category);
	double time_us = (double)op->time_ps / 1e6, self_us = (double)op->self_time_ps / 1e6;
	tfp_table_add_text(t, op->name.data, op->name.size);
	tfp_table_add_number(t, (double)op->occurrences);
	tfp_table_add_number(t, time_us / 1e3);
	tfp_table_add_number(t, tfp_safe_divide(time_us, all_ops_us));
	tfp_table_add_number(t, self_us / 1e3);
	tfp_table_add_number(t, tfp_safe_divide(self_us, all_ops_us));
	tfp_table_add_text(t, text, strlen(text));
}

static void op_table(struct tfp_table *t, const struct tfp_run_summary *run)
{
	const struct tfp_op_db *db = &run->stats.host_ops;
	const struct tfp_input_times *times = &run->input;
	uint32_t *order = tfp_op_db_sorted(db);
	tfp_table_init(t, op_columns, COUNT(op_columns));
	if (!order) {
		t->failed = true;
		return;
	}
	for (size_t i = 0; i < db->count; i++) {
		const struct tfp_op *op = &db->ops[order[i]];
		enum tfp_input_category category = tfp_input_category(op->name, op->category);
		if (category != TFP_INPUT_NONE)
			add_op(t, op, category, times->all_ops_us);
	}
	tfp_free(order);
	tfp_set_property(t, "enqueue_us", "%.3f", times->enqueue_us);
	tfp_set_property(t, "demanded_file_read_us", "%.3f", times->demanded_read_us);
	tfp_set_property(t, "advanced_file_read_us", "%.3f", times->advanced_read_us);
	tfp_set_property(t, "preprocessing_us", "%.3f", times->preprocessing_us);
	/* Misspelt by the peers; clients know it so. */
	tfp_set_property(t, "unclassified_nonequeue_us", "%.3f", times->unclassified_us);
}

static const struct tfp_column advice_columns[] = {{"link", "link", TFP_CELL_TEXT}};

static void advice_table(struct tfp_table *t)
{
	static const char dataset[] = "https://www.tensorflow.org/api_docs/python/tf/data/Dataset";
	static const char reader[] = "https://www.tensorflow.org/api_docs/python/tf/data/"
				     "TFRecordDataset#class_tfrecorddataset";
	char text[700];
	tfp_table_init(t, advice_columns, COUNT(advice_columns));
#define ADD(...)                                                                                   \
	do {                                                                                       \
		int n = snprintf(text, sizeof(text), __VA_ARGS__);                                 \
		tfp_table_add_text(t, text, (size_t)n);                                            \
	} while (0)
	ADD("Enqueuing data: fewer and larger chunks of input cost less than many small ones.");
	ADD("Preprocessing: raise num_parallel_calls of "
	    "<a href=\"%s#map\" target=\"_blank\">Dataset.map</a>, or preprocess the data once, "
	    "before training.",
	    dataset);
	ADD("Reading files in advance: tune the size of "
	    "<a href=\"%s#prefetch\" target=\"_blank\">prefetch</a>, cycle_length of "
	    "<a href=\"%s#interleave\" target=\"_blank\">interleave</a> and buffer_size of "
	    "<a href=\"%s\" target=\"_blank\">the reader</a>.",
	    dataset, dataset, reader);
	ADD("Reading files on demand: read them in advance, with "
	    "<a href=\"%s#prefetch\" target=\"_blank\">prefetch</a>, "
	    "<a href=\"%s#interleave\" target=\"_blank\">interleave</a> and the buffer of "
	    "<a href=\"%s\" target=\"_blank\">the reader</a>.",
	    dataset, dataset, reader);
	ADD("Other reading or preprocessing: where the program does not use it yet, the "
	    "<a href=\"https://www.tensorflow.org/programmers_guide/datasets\" "
	    "target=\"_blank\">tf.data API</a> can do it in parallel with the computation.");
#undef ADD
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_run_summary run;
	enum tfp_status status = tfp_run_summary(session, query, &run, err);
	if (status == TFP_OK) {
		core_table(&answer->tables[answer->table_count++], &run);
		tfp_step_table(&answer->tables[answer->table_count++], &run);
		op_table(&answer->tables[answer->table_count++], &run);
		advice_table(&answer->tables[answer->table_count++]);
		tfp_diagnostics_table(&answer->tables[answer->table_count++], &run, false);
	}
	tfp_run_summary_release(&run);
	return status;
}

const struct tfp_tool tfp_input_pipeline_analyzer = {
	.name = "input_pipeline_analyzer",
	.aliases = {"input_pipeline"},
	.title = "Input pipeline",
	.summary = "Whether the program waits for its input, and where the input time goes.",
	.place = 20,
	.key = 'i',
	.filter = "Filter input operations",
	.shows_steps = true,
	.scope = TFP_HOSTS_BOTH,
	.parameters =
		{
			TFP_TAKES_ONE_OF(
				"step_source", "marked",
				"Which steps count: those that the program marked or, if it "
				"marked none, the executions of its module.",
				"marked", "module"),
			TFP_TAKES(TEXT, "steps_of", NULL,
				  "The host whose steps and verdict are shown: its name, or "
				  "slowest. Default: the first host."),
		},
	.render = render,
};
