/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: the compiled programs of a run, and what of the devices' time each took
 * (docs/tools/modules.md).
 */
#include "base/alloc.h"
#include "tools/module_list.h"
#include "tools/program_ops.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct tfp_tool tfp_modules;

static const struct tfp_column columns[] = {
	{"module", "Module", TFP_CELL_TEXT},
	{"program_id", "Program id", TFP_CELL_TEXT},
	{"instructions", "Instructions", TFP_CELL_NUMBER},
	{"instructions_run", "Instructions that ran", TFP_CELL_NUMBER},
	{"executions", "Executions", TFP_CELL_NUMBER},
	{"time_us", "Device time (us)", TFP_CELL_NUMBER},
	{"time_share", "Share of device time", TFP_CELL_NUMBER},
	{"hosts", "Hosts", TFP_CELL_NUMBER},
};

struct row {
	uint64_t id;
	const struct tfp_program *program; /* NULL: it ran, but the file does not have it */
	uint64_t time_ps, run;
	uint64_t executions;
	bool has_executions;
};

static int by_id(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->time_ps != y->time_ps)
		return x->time_ps > y->time_ps ? -1 : 1;
	return by_id(a, b);
}

static struct row *find_row(struct row *rows, size_t count, uint64_t id)
{
	const struct row key = {.id = id};
	return count ? bsearch(&key, rows, count, sizeof(*rows), by_id) : NULL;
}

/* Programs with what ran of them. Those of TPUs that ran may lack in the file. */
static struct row *collect(const struct tfp_program_ops *ops, size_t *count)
{
	const struct tfp_op_texts *texts = &ops->texts;
	struct row *rows = tfp_calloc(texts->program_count + ops->count + 1, sizeof(*rows));
	size_t n = texts->program_count;
	if (!rows)
		return NULL;
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct row){.id = texts->programs[i].id, .program = &texts->programs[i]};
	for (size_t i = 0; i < ops->count; i++) {
		const struct tfp_op *op = ops->list[i];
		if (tfp_op_origin(op) != TFP_ORIGIN_INSTRUCTION)
			continue;
		struct row *row = find_row(rows, n, op->module_id);
		if (!row) {
			size_t at = n++;
			for (; at > 0 && rows[at - 1].id > op->module_id; at--)
				rows[at] = rows[at - 1];
			rows[at] = (struct row){.id = op->module_id};
			row = &rows[at];
		}
		row->time_ps += op->self_time_ps;
		row->run++;
	}
	*count = n;
	return rows;
}

/* Programs of one id are one here, whatever hosts call them. */
static void add_executions(struct row *rows, size_t count, const struct tfp_module_list *list)
{
	for (size_t i = 0; i < count; i++)
		rows[i].has_executions = true;
	for (size_t i = 0; i < list->count; i++) {
		const struct tfp_listed_module *module = &list->modules[i];
		struct row *row = find_row(rows, count, module->program_id);
		if (!row)
			continue;
		row->executions += module->executions;
		row->has_executions &= module->has_executions || !module->has_time;
	}
}

static void add_row(struct tfp_table *t, const struct row *row, const struct tfp_program_ops *ops)
{
	char id[24];
	snprintf(id, sizeof(id), "%" PRIu64, row->id);
	if (row->program)
		tfp_table_add_text(t, row->program->name.data, row->program->name.size);
	else
		tfp_table_add_absent(t);
	tfp_table_add_text(t, id, strlen(id));
	if (row->program)
		tfp_table_add_number(t, (double)row->program->instructions);
	else
		tfp_table_add_absent(t);
	tfp_table_add_number(t, (double)row->run);
	if (row->has_executions && row->executions)
		tfp_table_add_number(t, (double)row->executions);
	else
		tfp_table_add_absent(t);
	/* A program that no event names may have run nonetheless. */
	if (row->run) {
		tfp_table_add_number(t, (double)row->time_ps / 1e6);
		tfp_table_add_number(t,
				     tfp_divide((double)row->time_ps, (double)ops->busy_time_ps));
	} else {
		tfp_table_add_absent(t);
		tfp_table_add_absent(t);
	}
	if (row->program)
		tfp_table_add_number(t, row->program->hosts);
	else
		tfp_table_add_absent(t);
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_program_ops ops;
	struct tfp_module_list list = {0};
	/* Peaks and what belongs to no program are nothing to the list. */
	const struct tfp_query nothing = {NULL, 0};
	struct row *rows = NULL;
	size_t count = 0;
	enum tfp_status status = tfp_program_ops(session, &nothing, &ops, err);
	(void)query;
	if (status == TFP_OK)
		status = tfp_module_list_init(&list, session, err);
	if (status == TFP_OK) {
		struct tfp_table *t = &answer->tables[answer->table_count++];
		answer->bare = true;
		tfp_table_init(t, columns, sizeof(columns) / sizeof(columns[0]));
		rows = collect(&ops, &count);
		if (rows)
			add_executions(rows, count, &list);
		if (rows && count)
			qsort(rows, count, sizeof(*rows), by_time);
		for (size_t i = 0; rows && i < count; i++)
			add_row(t, &rows[i], &ops);
		tfp_program_ops_properties(&ops, t);
		if (!rows || tfp_table_failed(t))
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the list of modules");
	}
	tfp_free(rows);
	tfp_module_list_release(&list);
	tfp_program_ops_release(&ops);
	return status;
}

const struct tfp_tool tfp_modules = {
	.name = "modules",
	.title = "Modules",
	.summary = "The compiled programs of the run, and the time that each took.",
	.place = 38,
	.filter = "Filter modules",
	.scope = TFP_HOSTS_BOTH,
	.takes_hosts = true,
	.needs = TFP_NEEDS_PROGRAM,
	.without = "The capture holds no compiled program.",
	.render = render,
};
