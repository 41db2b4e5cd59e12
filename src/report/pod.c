/* SPDX-License-Identifier: Apache-2.0 */
/* The pod viewer: hosts, or cores of TPUs, beside each other. */
#include "report/reports.h"

#include "base/alloc.h"
#include "report/step_report.h"
#include "tools/run_summary.h"
#include "tools/step_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The answer's tables, by place: each step of each core, then messages and what is known of
 * the steps. */
enum { CELLS, DIAGNOSTICS, SOURCE };

/* In front of a column for each category of a step's time. */
enum { STEP, HOST, CORE, TIME, BOTTLENECK, FIRST_CATEGORY };

static const struct tfp_column cell_columns[] = {
	{"step", "Step", TFP_CELL_NUMBER},
	{"host", "Host", TFP_CELL_TEXT},
	{"core", "Core", TFP_CELL_NUMBER},
	{"time_us", "Time (us)", TFP_CELL_NUMBER},
	{"bottleneck", "Bottleneck", TFP_CELL_TEXT},
	{"device_compute_us", "Device compute (us)", TFP_CELL_NUMBER},
	{"device_to_device_us", "Device to device (us)", TFP_CELL_NUMBER},
	{"device_collectives_us", "Device collective communication (us)", TFP_CELL_NUMBER},
	{"host_compute_us", "Host compute (us)", TFP_CELL_NUMBER},
	{"kernel_launch_us", "Kernel launch (us)", TFP_CELL_NUMBER},
	{"input_us", "Input (us)", TFP_CELL_NUMBER},
	{"output_us", "Output (us)", TFP_CELL_NUMBER},
	{"compilation_us", "Compilation (us)", TFP_CELL_NUMBER},
	{"all_others_us", "All others (us)", TFP_CELL_NUMBER},
};

_Static_assert(COUNT(cell_columns) == FIRST_CATEGORY + TFP_STEP_CATEGORY_COUNT,
	       "a column for each category");

/* What a core's time goes to. The document has no parts of TPUs' steps, as XProf's has none;
 * they are known, and fit into the same categories. */
static void categories_of(const struct tfp_core_step *core,
			  uint64_t category_ps[TFP_STEP_CATEGORY_COUNT])
{
	tfp_step_categories(core, category_ps);
	if (!core->is_tpu)
		return;
	category_ps[TFP_STEP_DEVICE_COMPUTE] = core->tpu_ps[TFP_TPU_COMPUTE];
	category_ps[TFP_STEP_COLLECTIVES] = core->tpu_ps[TFP_TPU_ALL_REDUCE];
	category_ps[TFP_STEP_INPUT] = core->tpu_ps[TFP_TPU_INFEED];
	category_ps[TFP_STEP_OUTPUT] = core->tpu_ps[TFP_TPU_OUTFEED];
	category_ps[TFP_STEP_ALL_OTHERS] =
		core->tpu_ps[TFP_TPU_IDLE] + core->tpu_ps[TFP_TPU_HOST_TRANSFER];
}

static void add_core(struct tfp_table *t, const struct tfp_run_summary *run,
		     const struct tfp_step *step, const struct tfp_core_step *core)
{
	uint64_t category_ps[TFP_STEP_CATEGORY_COUNT];
	unsigned most = 0;
	categories_of(core, category_ps);
	for (unsigned c = 1; c < TFP_STEP_CATEGORY_COUNT; c++)
		most = category_ps[c] > category_ps[most] ? c : most;
	const char *host = tfp_step_host_name(&run->step_hosts, core->host);
	const char *category = tfp_step_category_name((enum tfp_step_category)most);
	tfp_table_add_number(t, step->number);
	tfp_table_add_text(t, host, strlen(host));
	tfp_table_add_number(t, core->core);
	tfp_table_add_number(t, (double)core->duration_ps / 1e6);
	tfp_table_add_text(t, category, strlen(category));
	for (unsigned c = 0; c < TFP_STEP_CATEGORY_COUNT; c++)
		tfp_table_add_number(t, (double)category_ps[c] / 1e6);
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_run_summary run;
	enum tfp_status status = tfp_run_summary(session, query, &run, err);
	if (status == TFP_OK) {
		struct tfp_table *cells = &answer->tables[answer->table_count++];
		tfp_table_init(cells, cell_columns, COUNT(cell_columns));
		for (size_t s = 0; s < run.steps.count; s++) {
			for (size_t c = 0; c < run.steps.steps[s].core_count; c++)
				add_core(cells, &run, &run.steps.steps[s],
					 tfp_step_core(&run.steps, s, c));
		}
		tfp_diagnostics_table(&answer->tables[answer->table_count++], &run, false);
		tfp_step_table(&answer->tables[answer->table_count++], &run);
		for (size_t i = 0; i < answer->table_count; i++) {
			if (tfp_table_failed(&answer->tables[i]))
				status = tfp_fail(err, TFP_NO_MEMORY,
						  "no memory for the steps of hosts");
		}
	}
	tfp_run_summary_release(&run);
	return status;
}

static double number(const struct tfp_table *t, size_t row, size_t column)
{
	double value = 0;
	return tfp_table_number(t, row, column, &value) ? value : 0;
}

/* One host, or core of a TPU. */
struct sum {
	size_t row; /* the first of its cells */
	double core, us, longest_us, category_us[TFP_STEP_CATEGORY_COUNT];
	struct tfp_text host;
	size_t steps;
};

static bool add_to_sum(struct sum *sums, size_t *count, size_t most, const struct tfp_table *t,
		       size_t row)
{
	struct tfp_text host;
	double core = number(t, row, CORE), us = number(t, row, TIME);
	size_t i = 0;
	if (!tfp_table_text(t, row, HOST, &host))
		return true;
	while (i < *count && !(sums[i].core == core && sums[i].host.size == host.size &&
			       memcmp(sums[i].host.data, host.data, host.size) == 0))
		i++;
	if (i == most)
		return false;
	if (i == *count)
		sums[(*count)++] = (struct sum){.row = row, .core = core, .host = host};
	sums[i].steps++;
	sums[i].us += us;
	sums[i].longest_us = us > sums[i].longest_us ? us : sums[i].longest_us;
	for (size_t c = 0; c < TFP_STEP_CATEGORY_COUNT; c++)
		sums[i].category_us[c] += number(t, row, FIRST_CATEGORY + c);
	return true;
}

static int slowest_first(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;
	double mine = x->us / (double)x->steps, other = y->us / (double)y->steps;
	if (mine != other)
		return mine < other ? 1 : -1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static const struct tfp_column host_columns[] = {
	{"host", "Host", TFP_CELL_TEXT},
	{"core", "Core", TFP_CELL_NUMBER},
	{"us", "Average step (us)", TFP_CELL_NUMBER},
	{"longest_us", "Longest step (us)", TFP_CELL_NUMBER},
	{"above", "Above the fastest", TFP_CELL_NUMBER},
	{"most", "Largest part", TFP_CELL_TEXT},
	{"share", "Share", TFP_CELL_NUMBER},
};

static void say_hosts(const struct tfp_report_source *source, struct tfp_report *r,
		      const struct tfp_table *cells, bool tpu)
{
	static const struct tfp_report_column shown[] = {
		{"host", "host", TFP_Q_NAME, 9, false, false},
		{"core", "core", TFP_Q_COUNT, 7, true, false},
		{"us", "average step", TFP_Q_US, 8, false, false},
		{"longest_us", "longest", TFP_Q_US, 6, false, false},
		{"above", "above the fastest", TFP_Q_SHARE, 5, true, false},
		{"most", "largest part", TFP_Q_TEXT, 4, false, false},
		{"share", "share", TFP_Q_SHARE, 3, false, false},
	};
	enum { SUMS = 4096 };
	size_t count = 0, rows = tfp_table_row_count(cells);
	struct tfp_table *t = &source->more->tables[source->more->table_count++];
	struct sum *sums = tfp_calloc(SUMS, sizeof(*sums));
	tfp_table_init(t, host_columns, COUNT(host_columns));
	if (!sums) {
		r->failed = true;
		return;
	}
	for (size_t i = 0; i < rows && add_to_sum(sums, &count, SUMS, cells, i); i++)
		;
	qsort(sums, count, sizeof(*sums), slowest_first);
	double fastest = count ? sums[count - 1].us / (double)sums[count - 1].steps : 0;
	for (size_t i = 0; i < count; i++) {
		const struct sum *s = &sums[i];
		size_t most = 0;
		for (size_t c = 1; c < TFP_STEP_CATEGORY_COUNT; c++)
			most = s->category_us[c] > s->category_us[most] ? c : most;
		const char *category = tfp_step_category_name((enum tfp_step_category)most);
		double mean = s->us / (double)s->steps;
		tfp_table_add_text(t, s->host.data, s->host.size);
		if (tpu)
			tfp_table_add_number(t, s->core);
		else
			tfp_table_add_absent(t);
		tfp_table_add_number(t, mean);
		tfp_table_add_number(t, s->longest_us);
		tfp_table_add_number(t, fastest > 0 ? mean / fastest - 1 : 0);
		tfp_table_add_text(t, category, strlen(category));
		tfp_table_add_number(t, s->us > 0 ? s->category_us[most] / s->us : 0);
	}
	tfp_free(sums);
	tfp_report_heading(r, tpu ? "Cores, the slowest first" : "Hosts, the slowest first");
	tfp_report_table(r, t, shown, COUNT(shown), "--limit 0");
}

static const struct tfp_column step_columns[] = {
	{"step", "Step", TFP_CELL_NUMBER},       {"us", "Longest (us)", TFP_CELL_NUMBER},
	{"host", "Slowest host", TFP_CELL_TEXT}, {"least_us", "Shortest (us)", TFP_CELL_NUMBER},
	{"most", "Largest part", TFP_CELL_TEXT},
};

/* The time of each step on the host or core where it took longest. */
static void say_steps(const struct tfp_report_source *source, struct tfp_report *r,
		      const struct tfp_table *cells)
{
	static const struct tfp_report_column shown[] = {
		{"step", "step", TFP_Q_COUNT, 9, false, false},
		{"us", "longest", TFP_Q_US, 8, false, false},
		{"host", "on", TFP_Q_NAME, 7, false, false},
		{"least_us", "shortest", TFP_Q_US, 6, false, false},
		{"most", "largest part", TFP_Q_TEXT, 5, false, false},
	};
	struct tfp_table *t = &source->more->tables[source->more->table_count++];
	size_t rows = tfp_table_row_count(cells);
	tfp_table_init(t, step_columns, COUNT(step_columns));
	/* The cells of a step follow one another. */
	for (size_t i = 0; i < rows;) {
		size_t longest = i, from = i;
		double step = number(cells, i, STEP), least = number(cells, i, TIME);
		for (; i < rows && number(cells, i, STEP) == step; i++) {
			double us = number(cells, i, TIME);
			longest = us > number(cells, longest, TIME) ? i : longest;
			least = us < least ? us : least;
		}
		struct tfp_text host = {"", 0}, most = {"", 0};
		bool named = tfp_table_text(cells, longest, HOST, &host) &&
			     tfp_table_text(cells, longest, BOTTLENECK, &most);
		if (!named || i == from)
			break;
		tfp_table_add_number(t, step);
		tfp_table_add_number(t, number(cells, longest, TIME));
		tfp_table_add_text(t, host.data, host.size);
		tfp_table_add_number(t, least);
		tfp_table_add_text(t, most.data, most.size);
	}
	tfp_report_heading(r, "Steps");
	tfp_report_table(r, t, shown, COUNT(shown), "--limit 0");
}

static enum tfp_status write(const struct tfp_report_source *source, struct tfp_report *r,
			     struct tfp_error *err)
{
	const struct tfp_table *t = source->answer->tables;
	const struct tfp_table *steps = &t[SOURCE];
	bool none = tfp_table_row_count(&t[CELLS]) == 0;
	(void)err;
	tfp_report_messages(r, &t[DIAGNOSTICS], none);
	tfp_report_step_source(r, steps);
	if (none) {
		tfp_report_no_steps(r, steps, "Hosts are compared by their steps.");
		return TFP_OK;
	}
	tfp_report_average_step(r, steps);
	/* The hosts of a verdict mean nothing without the verdict. */
	if (tfp_table_property(steps, "hosts_statement")[0])
		tfp_report_say(r, "%s", tfp_table_property(steps, "input_conclusion"));
	say_hosts(source, r, &t[CELLS], tfp_table_column(steps, "stepTimeMs") == TFP_NO_COLUMN);
	say_steps(source, r, &t[CELLS]);
	return TFP_OK;
}

const struct tfp_reporter tfp_report_pod = {.tool = "pod_viewer", .render = render, .write = write};
