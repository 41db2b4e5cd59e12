/* SPDX-License-Identifier: Apache-2.0 */
#include "http/recording_request.h"

#include "base/alloc.h"
#include "base/number.h"
#include "wire/json_reader.h"

#include <stdio.h>
#include <string.h>

static enum tfp_status bad_field(const char *name, const char *what, struct tfp_error *err)
{
	return tfp_fail(err, TFP_BAD_QUERY, "%s must be %s", name, what);
}

/* One field of the request by name, from JSON or from an address. */
struct fields {
	const json_t *json;
	const struct tfp_query *query;
};

static const char *text_field(const struct fields *f, const char *name)
{
	if (f->json)
		return json_string_value(json_object_get(f->json, name));
	return tfp_query_get(f->query, name);
}

/* Leaves *out when the field is not there. */
static enum tfp_status number_field(const struct fields *f, const char *name, uint32_t max,
				    uint32_t *out, struct tfp_error *err)
{
	const json_t *value = f->json ? json_object_get(f->json, name) : NULL;
	char what[64];
	snprintf(what, sizeof(what), "a whole number from 0 to %u", max);
	if (value && !json_is_null(value)) {
		json_int_t n = json_integer_value(value);
		if (!json_is_integer(value) || n < 0 || n > (json_int_t)max)
			return bad_field(name, what, err);
		*out = (uint32_t)n;
		return TFP_OK;
	}
	const char *text = f->json ? NULL : tfp_query_get(f->query, name);
	if (!text || !text[0])
		return TFP_OK;
	uint64_t n;
	if (!tfp_number(text, max, &n))
		return bad_field(name, what, err);
	*out = (uint32_t)n;
	return TFP_OK;
}

static enum tfp_status add_setting(struct tfp_recording_options *o, const char *key, json_t *value,
				   struct tfp_error *err)
{
	char number[32];
	const char *text = json_string_value(value);
	if (json_is_integer(value)) {
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(value));
		text = number;
	} else if (json_is_boolean(value)) {
		text = json_is_true(value) ? "true" : "false";
	}
	if (!text)
		return bad_field("an option's value", "a string, a whole number or a boolean", err);
	return tfp_recording_add_setting(o, key, strlen(key), text, err);
}

static enum tfp_status read_options(const struct fields *f, struct tfp_recording_options *o,
				    struct tfp_error *err)
{
	const char *addresses = text_field(f, "service_addr"), *name = text_field(f, "session");
	const char *workers = text_field(f, "worker_list"), *tpu = text_field(f, "is_tpu_name");
	json_t *settings = f->json ? json_object_get(f->json, "options") : NULL;
	tfp_recording_options_init(o);
	if ((workers && workers[0]) || (tpu && strcmp(tpu, "true") == 0)) {
		tfp_fail(err, TFP_BAD_QUERY, "names of Cloud TPUs are not resolved here");
		tfp_error_set_hint(err, "give the workers' addresses, as IP:8466,...");
		return TFP_BAD_QUERY;
	}
	if (!addresses)
		return bad_field("service_addr", "a string with the addresses", err);
	enum tfp_status status = tfp_targets_parse(o->targets, &o->target_count, addresses, err);
	const struct {
		const char *name;
		uint32_t max, *out;
	} numbers[] = {
		{"duration", TFP_RECORDING_DURATION_MAX_MS, &o->duration_ms},
		{"delay", TFP_RECORDING_DURATION_MAX_MS, &o->delay_ms},
		{"num_retry", TFP_RECORDING_RETRIES_MAX, &o->retries},
		{"host_tracer_level", TFP_TRACER_LEVEL_MAX, &o->host_level},
		{"device_tracer_level", TFP_TRACER_LEVEL_MAX, &o->device_level},
		{"python_tracer_level", TFP_TRACER_LEVEL_MAX, &o->python_level},
	};
	for (size_t i = 0; status == TFP_OK && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		status = number_field(f, numbers[i].name, numbers[i].max, numbers[i].out, err);
	if (name)
		tfp_run_name_clean(name, o->session);
	if (settings && !json_is_null(settings)) {
		const char *key;
		json_t *value;
		if (status == TFP_OK && !json_is_object(settings))
			status = bad_field("options", "an object", err);
		json_object_foreach(settings, key, value)
		{
			if (status == TFP_OK)
				status = add_setting(o, key, value, err);
		}
	}
	return status == TFP_OK ? tfp_recording_options_check(o, err) : status;
}

static enum tfp_status new_options(struct tfp_recording_options **out, const struct fields *f,
				   struct tfp_error *err)
{
	struct tfp_recording_options *o = tfp_malloc(sizeof(*o));
	*out = NULL;
	if (!o)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a capture");
	enum tfp_status status = read_options(f, o, err);
	if (status == TFP_OK)
		*out = o;
	else
		tfp_free(o);
	return status;
}

static enum tfp_status parse_body(const char *body, size_t size, json_t **out,
				  struct tfp_error *err)
{
	json_error_t why;
	enum tfp_status status = tfp_json_read(body, size, JSON_REJECT_DUPLICATES, out, &why, err);
	if (status != TFP_OK || json_is_object(*out))
		return status;
	if (*out)
		tfp_fail(err, TFP_BAD_QUERY, "the body must be a JSON object");
	else
		tfp_fail(err, TFP_BAD_QUERY, "the body is not JSON: %s", why.text);
	json_decref(*out);
	*out = NULL;
	return TFP_BAD_QUERY;
}

enum tfp_status tfp_recording_request_body(struct tfp_recording_options **out, const char *body,
					   size_t size, struct tfp_error *err)
{
	json_t *request;
	*out = NULL;
	enum tfp_status status = parse_body(body, size, &request, err);
	if (status != TFP_OK)
		return status;
	const struct fields f = {.json = request};
	status = new_options(out, &f, err);
	json_decref(request);
	return status;
}

enum tfp_status tfp_recording_request_query(struct tfp_recording_options **out,
					    const struct tfp_query *query, struct tfp_error *err)
{
	const struct fields f = {.query = query};
	return new_options(out, &f, err);
}

enum tfp_status tfp_recording_request_id(uint64_t *out, const char *body, size_t size,
					 struct tfp_error *err)
{
	json_t *request;
	*out = 0;
	enum tfp_status status = parse_body(body, size, &request, err);
	if (status != TFP_OK)
		return status;
	const json_t *id = json_object_get(request, "id");
	if (json_is_integer(id))
		*out = (uint64_t)json_integer_value(id);
	json_decref(request);
	return TFP_OK;
}
