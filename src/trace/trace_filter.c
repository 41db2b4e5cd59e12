/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_filter.h"

#include "base/alloc.h"
#include "base/number.h"
#include "trace/text_match.h"
#include "wire/json_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the proto, in its order. */
enum operator{ OP_EQ, OP_LT, OP_GT, OP_LE, OP_GE, OP_REGEX, OP_COUNT };

/* A text that is equal, or an expression that is found. */
struct expression {
	struct tfp_text_pattern *pattern;
	struct tfp_text_matcher *matcher;
};

struct bound {
	bool of_name, negation;
	enum operator op;
	double duration_ms;
	struct tfp_str text; /* of_name, without an expression; owned */
	struct expression expression;
};

struct expressions {
	struct expression *list;
	size_t count;
};

struct tfp_trace_filter {
	uint64_t *groups; /* ascending */
	size_t group_count;
	struct expressions processes, rows;
	struct bound *bounds;
	size_t bound_count;
	bool negation;
};

/* ---- steps ---- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static enum tfp_status read_groups(struct tfp_trace_filter *f, const char *text,
				   struct tfp_error *err)
{
	size_t room = 1;
	for (const char *c = text; *c; c++)
		room += *c == ',';
	f->groups = tfp_reallocarray(NULL, room, sizeof(*f->groups));
	if (!f->groups)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
	for (const char *at = text;; at++) {
		if (!tfp_number_begin(&at, &f->groups[f->group_count]) || (*at && *at != ',')) {
			tfp_fail(err, TFP_BAD_QUERY,
				 "selected_group_ids: \"%.50s\" is not a list of steps", text);
			tfp_error_set_hint(err, "such as 3,4: the arguments group_id of events");
			return TFP_BAD_QUERY;
		}
		f->group_count++;
		if (*at == '\0')
			break;
	}
	qsort(f->groups, f->group_count, sizeof(*f->groups), by_number);
	return TFP_OK;
}

/* ---- the configuration ---- */

static enum tfp_status wrong(const char *what, struct tfp_error *err)
{
	tfp_fail(err, TFP_BAD_QUERY, "trace_filter_config: %s", what);
	tfp_error_set_hint(err, "see docs/tools/trace_viewer.md for what it may hold");
	return TFP_BAD_QUERY;
}

/* Both spellings that protobuf's JSON has of a name; NULL for null, too. */
static json_t *field(const json_t *object, const char *camel, const char *snake)
{
	json_t *value = json_object_get(object, camel);
	if (!value)
		value = json_object_get(object, snake);
	return json_is_null(value) ? NULL : value;
}

static enum tfp_status read_bool(const json_t *value, const char *what, bool *out,
				 struct tfp_error *err)
{
	if (value && !json_is_boolean(value))
		return wrong(what, err);
	*out = json_is_true(value);
	return TFP_OK;
}

static enum tfp_status read_expression(const json_t *value, struct expression *out,
				       struct tfp_error *err)
{
	if (!json_is_string(value))
		return wrong("an expression must be a string", err);
	enum tfp_status status =
		tfp_text_pattern_new(&out->pattern, json_string_value(value), true, true, err);
	if (status != TFP_OK)
		return status;
	out->matcher = tfp_text_matcher_new(out->pattern);
	return out->matcher ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for an expression");
}

/* Zeroed room for the items of a list; NULL where there is no list. */
static enum tfp_status list_room(const json_t *array, size_t item_size, const char *what,
				 void **room, struct tfp_error *err)
{
	*room = NULL;
	if (!array)
		return TFP_OK;
	if (!json_is_array(array))
		return wrong(what, err);
	*room = tfp_calloc(json_array_size(array), item_size);
	return *room ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
}

static enum tfp_status read_expressions(const json_t *array, struct expressions *out,
					struct tfp_error *err)
{
	void *room;
	enum tfp_status status =
		list_room(array, sizeof(*out->list), "expressions are a list", &room, err);
	out->list = room;
	for (size_t i = 0; status == TFP_OK && i < json_array_size(array); i++)
		status = read_expression(json_array_get(array, i), &out->list[out->count++], err);
	return status;
}

static enum tfp_status read_operator(const json_t *value, enum operator* out, struct tfp_error *err)
{
	static const char *const names[OP_COUNT] = {"OP_EQ", "OP_LT", "OP_GT",
						    "OP_LE", "OP_GE", "OP_REGEX"};
	*out = OP_EQ;
	if (!value)
		return TFP_OK;
	for (unsigned op = 0; op < OP_COUNT; op++) {
		if ((json_is_string(value) && strcmp(json_string_value(value), names[op]) == 0) ||
		    (json_is_integer(value) && json_integer_value(value) == (json_int_t)op)) {
			*out = (enum operator)op;
			return TFP_OK;
		}
	}
	return wrong("opId is one of OP_EQ, OP_LT, OP_GT, OP_LE, OP_GE, OP_REGEX", err);
}

static enum tfp_status read_name_bound(const json_t *object, struct bound *b, struct tfp_error *err)
{
	const json_t *text = field(object, "strValue", "str_value");
	const json_t *regex = field(object, "regexValue", "regex_value");
	if (b->op != OP_EQ && b->op != OP_REGEX)
		return wrong("names are compared by OP_EQ or OP_REGEX", err);
	if (regex)
		return read_expression(regex, &b->expression, err);
	if (!json_is_string(text))
		return wrong("a name needs strValue or regexValue", err);
	if (b->op == OP_REGEX)
		return read_expression(text, &b->expression, err);
	b->text.size = json_string_length(text);
	char *copy = tfp_malloc(b->text.size + 1);
	if (!copy)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
	b->text.data = memcpy(copy, json_string_value(text), b->text.size + 1);
	return TFP_OK;
}

static enum tfp_status read_duration_bound(const json_t *object, struct bound *b,
					   struct tfp_error *err)
{
	static const char *const names[][2] = {{"doubleValue", "double_value"},
					       {"uintValue", "uint_value"},
					       {"intValue", "int_value"}};
	const json_t *value = NULL;
	if (b->op == OP_REGEX)
		return wrong("durations are numbers", err);
	for (size_t i = 0; !value && i < sizeof(names) / sizeof(names[0]); i++)
		value = field(object, names[i][0], names[i][1]);
	if (json_is_number(value)) {
		b->duration_ms = json_number_value(value);
	} else if (json_is_string(value)) { /* as protobuf writes 64-bit numbers */
		char *end;
		b->duration_ms = strtod(json_string_value(value), &end);
		if (end == json_string_value(value) || *end)
			return wrong("a duration is a number of milliseconds", err);
	} else {
		return wrong("a duration needs doubleValue, milliseconds", err);
	}
	return isfinite(b->duration_ms) ? TFP_OK : wrong("a duration is a finite number", err);
}

static enum tfp_status read_bound(const json_t *object, struct bound *b, struct tfp_error *err)
{
	const json_t *name = field(object, "fieldName", "field_name");
	enum tfp_status status = read_operator(field(object, "opId", "op_id"), &b->op, err);
	if (status == TFP_OK)
		status = read_bool(field(object, "negation", "negation"),
				   "negation is true or false", &b->negation, err);
	if (status != TFP_OK)
		return status;
	if (json_is_string(name) && strcmp(json_string_value(name), "name") == 0) {
		b->of_name = true;
		return read_name_bound(object, b, err);
	}
	if (json_is_string(name) && strcmp(json_string_value(name), "duration") == 0)
		return read_duration_bound(object, b, err);
	return wrong("events are chosen by fieldName name or duration", err);
}

static enum tfp_status read_bounds(const json_t *array, struct tfp_trace_filter *f,
				   struct tfp_error *err)
{
	void *room;
	enum tfp_status status =
		list_room(array, sizeof(*f->bounds), "traceEventFilters is a list", &room, err);
	f->bounds = room;
	for (size_t i = 0; status == TFP_OK && i < json_array_size(array); i++)
		status = read_bound(json_array_get(array, i), &f->bounds[f->bound_count++], err);
	return status;
}

static enum tfp_status read_document(const json_t *config, struct tfp_trace_filter *f,
				     struct tfp_error *err)
{
	const json_t *args = field(config, "traceEventArgFilters", "trace_event_arg_filters");
	if (!json_is_object(config))
		return wrong("it is a JSON object", err);
	if (args && (!json_is_array(args) || json_array_size(args)))
		return wrong("traceEventArgFilters are not offered", err);
	enum tfp_status status = read_expressions(field(config, "deviceRegexes", "device_regexes"),
						  &f->processes, err);
	if (status == TFP_OK)
		status = read_expressions(field(config, "resourceRegexes", "resource_regexes"),
					  &f->rows, err);
	if (status == TFP_OK)
		status = read_bounds(field(config, "traceEventFilters", "trace_event_filters"), f,
				     err);
	if (status == TFP_OK)
		status = read_bool(field(config, "negation", "negation"),
				   "negation is true or false", &f->negation, err);
	return status;
}

static enum tfp_status read_config(struct tfp_trace_filter *f, const char *text,
				   struct tfp_error *err)
{
	json_t *config;
	enum tfp_status status = tfp_json_read(text, strlen(text), 0, &config, NULL, err);
	if (status == TFP_OK)
		status = config ? read_document(config, f, err) : wrong("it is not JSON", err);
	json_decref(config);
	return status;
}

/* ---- the filter ---- */

static bool is_given(const char *text)
{
	return text && text[0];
}

enum tfp_status tfp_trace_filter_new(struct tfp_trace_filter **out, const char *groups,
				     const char *config, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	*out = NULL;
	if (!is_given(groups) && !is_given(config))
		return TFP_OK;
	struct tfp_trace_filter *f = tfp_calloc(1, sizeof(*f));
	if (!f)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
	if (is_given(groups))
		status = read_groups(f, groups, err);
	if (status == TFP_OK && is_given(config))
		status = read_config(f, config, err);
	if (status == TFP_OK &&
	    (f->group_count || f->processes.count || f->rows.count || f->bound_count))
		*out = f;
	else
		tfp_trace_filter_free(f);
	return status;
}

static void release_expression(struct expression *e)
{
	tfp_text_matcher_free(e->matcher);
	tfp_text_pattern_free(e->pattern);
}

static void release_expressions(struct expressions *e)
{
	for (size_t i = 0; i < e->count; i++)
		release_expression(&e->list[i]);
	tfp_free(e->list);
}

void tfp_trace_filter_free(struct tfp_trace_filter *f)
{
	if (!f)
		return;
	release_expressions(&f->processes);
	release_expressions(&f->rows);
	for (size_t i = 0; i < f->bound_count; i++) {
		release_expression(&f->bounds[i].expression);
		tfp_free((char *)(uintptr_t)f->bounds[i].text.data);
	}
	tfp_free(f->bounds);
	tfp_free(f->groups);
	tfp_free(f);
}

static bool any_matches(const struct expressions *e, struct tfp_str text)
{
	for (size_t i = 0; i < e->count; i++) {
		if (tfp_text_matches(e->list[i].matcher, text.data, text.size))
			return true;
	}
	return e->count == 0;
}

bool tfp_trace_filter_takes_row(const struct tfp_trace_filter *f, struct tfp_str process,
				const struct tfp_str *row)
{
	if (!f)
		return true;
	return any_matches(&f->processes, process) &&
	       (row ? any_matches(&f->rows, *row) : f->rows.count == 0);
}

static bool holds(const struct bound *b, struct tfp_str name, double duration_ms)
{
	if (b->of_name && b->expression.matcher)
		return tfp_text_matches(b->expression.matcher, name.data, name.size);
	if (b->of_name)
		return tfp_str_compare(b->text, name) == 0;
	switch (b->op) {
	case OP_LT:
		return duration_ms < b->duration_ms;
	case OP_GT:
		return duration_ms > b->duration_ms;
	case OP_LE:
		return duration_ms <= b->duration_ms;
	case OP_GE:
		return duration_ms >= b->duration_ms;
	default: /* to a nanosecond, as XProf has it */
		return fabs(duration_ms - b->duration_ms) < 1e-6;
	}
}

bool tfp_trace_filter_takes(const struct tfp_trace_filter *f, int64_t group, struct tfp_str name,
			    int64_t duration_ps)
{
	if (!f)
		return true;
	if (f->group_count) {
		uint64_t number = (uint64_t)group;
		if (group < 0 ||
		    !bsearch(&number, f->groups, f->group_count, sizeof(number), by_number))
			return false;
	}
	bool all = true;
	for (size_t i = 0; all && i < f->bound_count; i++)
		all = holds(&f->bounds[i], name, (double)duration_ps / 1e9) !=
		      f->bounds[i].negation;
	return f->bound_count == 0 || all != f->negation;
}

static void see(const struct expression *e, uint64_t *gave_up, bool *failed)
{
	if (!e->matcher)
		return;
	*gave_up += tfp_text_matcher_gave_up(e->matcher);
	*failed |= tfp_text_matcher_failed(e->matcher);
}

enum tfp_status tfp_trace_filter_check(const struct tfp_trace_filter *f, struct tfp_error *err)
{
	uint64_t gave_up = 0;
	bool failed = false;
	if (!f)
		return TFP_OK;
	for (size_t i = 0; i < f->processes.count; i++)
		see(&f->processes.list[i], &gave_up, &failed);
	for (size_t i = 0; i < f->rows.count; i++)
		see(&f->rows.list[i], &gave_up, &failed);
	for (size_t i = 0; i < f->bound_count; i++)
		see(&f->bounds[i].expression, &gave_up, &failed);
	if (failed)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for an expression");
	if (gave_up == 0)
		return TFP_OK;
	tfp_fail(err, TFP_TOO_LARGE, "trace_filter_config: an expression is too costly");
	tfp_error_set_hint(err, "repetitions within repetitions, such as (a+)+, are costly");
	return TFP_TOO_LARGE;
}
