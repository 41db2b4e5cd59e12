/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/capture_request.h"

#include "base/alloc.h"
#include "wire/json_reader.h"

#include <inttypes.h>
#include <string.h>

const struct tfp_quantity tfp_quantities[TFP_QUANTITIES] = {
	{"micros", "Total time", "us", TFP_TOTAL_TIME},
	{"accelerator_micros", "Accelerator time", "us", TFP_ACCELERATOR_TIME},
	{"cpu_micros", "CPU time", "us", TFP_CPU_TIME},
	{"occurrence_run", "Runs", "count", TFP_RUNS},
	{"occurrence_defined", "Defined", "count", TFP_DEFINED},
	{"bytes", "Requested bytes", "bytes", TFP_REQUESTED_BYTES},
	{"peak_bytes", "Peak bytes", "bytes", TFP_PEAK_BYTES},
	{"residual_bytes", "Residual bytes", "bytes", TFP_RESIDUAL_BYTES},
	{"output_bytes", "Output bytes", "bytes", TFP_OUTPUT_BYTES},
	{"float_ops", "Flops", "flops", TFP_FLOAT_OPS},
	{"model_flops", "Model flops", "flops", TFP_MODEL_FLOPS},
	{"bytes_accessed", "Bytes accessed", "bytes", TFP_BYTES_ACCESSED},
	{"params", "Parameters", "count", TFP_PARAMETERS},
};

/* "occurrence" selects both of its quantities, and orders by runs. */
static const char occurrence[] = "occurrence";

static bool is_word(const char *word, size_t size, const char *text)
{
	return strlen(text) == size && memcmp(word, text, size) == 0;
}

static const struct tfp_quantity *find_quantity(const char *word, size_t size)
{
	if (is_word(word, size, occurrence))
		return &tfp_quantities[3];
	for (size_t i = 0; i < TFP_QUANTITIES; i++) {
		if (is_word(word, size, tfp_quantities[i].id))
			return &tfp_quantities[i];
	}
	return NULL;
}

/* NULL, also of an empty value. */
static const char *get(const struct tfp_query *query, const char *name)
{
	const char *value = tfp_query_get(query, name);
	return value && *value ? value : NULL;
}

static enum tfp_status unknown_word(const char *name, const char *word, size_t size,
				    struct tfp_error *err)
{
	tfp_fail(err, TFP_BAD_QUERY, "parameter %s does not know '%.*s'", name,
		 (int)(size < 100 ? size : 100), word);
	tfp_error_set_hint(err, "words are micros, accelerator_micros, cpu_micros, occurrence, "
				"bytes, peak_bytes, residual_bytes, output_bytes, float_ops, "
				"model_flops, bytes_accessed, params");
	return TFP_BAD_QUERY;
}

static enum tfp_status read_select(struct tfp_capture_request *r, const struct tfp_query *query,
				   struct tfp_error *err)
{
	const char *list = get(query, "select"), *word;
	struct tfp_buf known;
	size_t size;
	tfp_buf_init(&known, 4096);
	if (!list)
		list = TFP_CAPTURE_SELECT;
	while ((word = tfp_next_word(&list, &size))) {
		const struct tfp_quantity *q = find_quantity(word, size);
		if (is_word(word, size, "device"))
			r->device = true;
		else if (is_word(word, size, "op_types"))
			r->op_types = true;
		else if (is_word(word, size, "input_shapes"))
			r->input_shapes = true;
		else if (q)
			r->selected[q - tfp_quantities] = true;
		else if (size)
			break;
		if (is_word(word, size, occurrence))
			r->selected[4] = true;
		/* What the tables explain. */
		for (size_t i = 0; i < TFP_SELECTABLE; i++) {
			if (is_word(word, size, tfp_selected_words[i]))
				tfp_buf_printf(&known, "%s,", tfp_selected_words[i]);
		}
	}
	enum tfp_status status = word ? unknown_word("select", word, size, err)
				      : tfp_view_options_set_text(&r->options, TFP_SELECT,
								  tfp_buf_text(&known), err);
	tfp_buf_release(&known);
	return status;
}

static enum tfp_status read_order(struct tfp_capture_request *r, const struct tfp_query *query,
				  struct tfp_error *err)
{
	const char *word = get(query, "order_by");
	if (!word)
		word = "micros";
	r->order = find_quantity(word, strlen(word));
	if (!r->order && strcmp(word, "name") != 0)
		return unknown_word("order_by", word, strlen(word), err);
	enum tfp_status status = tfp_view_options_set_text(
		&r->options, TFP_ORDER_BY,
		r->order && r->order->amount == TFP_RUNS ? occurrence : word, err);
	r->quantity = r->order ? r->order : &tfp_quantities[0];
	word = get(query, "output_quantity");
	if (status == TFP_OK && word) {
		r->quantity = find_quantity(word, strlen(word));
		if (!r->quantity)
			return unknown_word("output_quantity", word, strlen(word), err);
	}
	return status;
}

static enum tfp_status read_step(struct tfp_capture_request *r, const struct tfp_query *query,
				 struct tfp_error *err)
{
	const char *word = get(query, "step");
	r->choice.step = TFP_CAPTURE_ALL;
	if (!word || strcmp(word, "all") == 0)
		return TFP_OK;
	/* -1 as in the original. */
	if (strcmp(word, "mean") == 0 || strcmp(word, "-1") == 0) {
		r->choice.step = TFP_CAPTURE_MEAN;
		return TFP_OK;
	}
	if (tfp_view_integer(word, 0, INT32_MAX, &r->choice.step))
		return TFP_OK;
	return tfp_fail(err, TFP_BAD_QUERY,
			"parameter step takes all, mean or the number of a step, not '%.100s'",
			word);
}

static enum tfp_status read_numbers(struct tfp_capture_request *r, const struct tfp_query *query,
				    struct tfp_error *err)
{
	for (int i = 0; i < TFP_VIEW_NUMBERS; i++) {
		const char *value = get(query, tfp_view_number_words[i]);
		if (i == TFP_STEP || !value)
			continue;
		if (!tfp_view_integer(value, 0, INT64_MAX, &r->options.numbers[i]))
			return tfp_fail(err, TFP_BAD_QUERY,
					"parameter %s takes a whole number, not '%.100s'",
					tfp_view_number_words[i], value);
	}
	return tfp_query_get_count(query, "limit", 100000, &r->limit, err);
}

static enum tfp_status read_expressions(struct tfp_capture_request *r,
					const struct tfp_query *query, struct tfp_error *err)
{
	static const char *const names[] = {"account_type_regexes", "start_name_regexes",
					    "trim_name_regexes", "show_name_regexes",
					    "hide_name_regexes"};
	enum tfp_status status = TFP_OK;
	for (int i = 0; status == TFP_OK && i < 5; i++) {
		const char *value = get(query, names[i]);
		if (value)
			status = tfp_view_options_set_text(
				&r->options, (enum tfp_view_text)(TFP_ACCOUNT_TYPES + i), value,
				err);
	}
	r->wanted.parameters_regexes = get(query, "params_regexes");
	return status;
}

static bool is_true(const char *value)
{
	return value && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0);
}

static enum tfp_status bad_path(struct tfp_error *err)
{
	tfp_fail(err, TFP_BAD_QUERY, "parameter node takes a list of names as JSON");
	tfp_error_set_hint(err, "for example [\"train_step\",\"Dense_0\"], or [] for the root");
	return TFP_BAD_QUERY;
}

static enum tfp_status read_path(struct tfp_capture_request *r, const char *value,
				 struct tfp_error *err)
{
	json_t *list;
	r->has_path = true;
	enum tfp_status status = tfp_json_read(value, strlen(value), 0, &list, NULL, err);
	if (status != TFP_OK)
		return status;
	if (!list || !json_is_array(list)) {
		json_decref(list);
		return bad_path(err);
	}
	r->path = tfp_calloc(json_array_size(list) + 1, sizeof(*r->path));
	if (!r->path)
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
	for (size_t i = 0; status == TFP_OK && i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));
		if (!name)
			status = bad_path(err);
		else if (!(r->path[r->path_count] = tfp_strdup(name)))
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
		else
			r->path_count++;
	}
	json_decref(list);
	return status;
}

static enum tfp_status read_words(struct tfp_capture_request *r, const struct tfp_query *query,
				  struct tfp_error *err)
{
	static const char *const views[] = {"scope", "graph", "op", "code"};
	static const enum tfp_view_command commands[] = {TFP_VIEW_SCOPE, TFP_VIEW_GRAPH,
							 TFP_VIEW_OP, TFP_VIEW_CODE};
	static const char *const outputs[] = {"json", "pprof", "folded", "csv", "text", "timeline"};
	static const char *const wrappers[] = {"keep", "strip"};
	size_t view, output, strip;
	enum tfp_status status = tfp_query_get_word(query, "view", views, 4, &view, err);
	if (status == TFP_OK)
		status = tfp_query_get_word(query, "output", outputs, 6, &output, err);
	if (status == TFP_OK)
		status = tfp_query_get_word(query, "wrappers", wrappers, 2, &strip, err);
	if (status != TFP_OK)
		return status;
	const char *others = get(query, "others");
	r->choice.view = commands[view];
	r->choice.strip = strip == 1;
	r->choice.others_given = others != NULL;
	r->choice.others = is_true(others);
	r->output = (enum tfp_capture_output)output;
	r->options.displayed_only = is_true(get(query, "account_displayed_op_only"));
	r->wanted.graph = r->choice.view == TFP_VIEW_GRAPH;
	return TFP_OK;
}

enum tfp_status tfp_capture_request_init(struct tfp_capture_request *r,
					 const struct tfp_query *query, struct tfp_error *err)
{
	*r = (struct tfp_capture_request){0};
	enum tfp_status status = tfp_view_options_init(&r->options, err);
	if (status != TFP_OK)
		return status;
	r->options.numbers[TFP_MAX_DEPTH] = 10000;
	status = read_words(r, query, err);
	if (status == TFP_OK)
		status = read_select(r, query, err);
	if (status == TFP_OK)
		status = read_order(r, query, err);
	if (status == TFP_OK)
		status = read_step(r, query, err);
	if (status == TFP_OK)
		status = read_numbers(r, query, err);
	if (status == TFP_OK)
		status = read_expressions(r, query, err);
	const char *path = get(query, "node");
	if (status == TFP_OK && path)
		status = read_path(r, path, err);
	/* A download is whole. */
	if (r->output != TFP_CAPTURE_JSON && !get(query, "limit"))
		r->limit = TFP_CAPTURE_NODES_MAX;
	if (r->limit == 0 || r->limit > TFP_CAPTURE_NODES_MAX)
		r->limit = TFP_CAPTURE_NODES_MAX;
	return status;
}

void tfp_capture_request_release(struct tfp_capture_request *r)
{
	tfp_view_options_release(&r->options);
	for (size_t i = 0; i < r->path_count; i++)
		tfp_free(r->path[i]);
	tfp_free(r->path);
	*r = (struct tfp_capture_request){0};
}
