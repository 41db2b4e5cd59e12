/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/recording_options.h"

#include <string.h>

/* The largest message that gRPC can frame. */
#define ANSWER_MAX UINT32_MAX

void tfp_recording_options_init(struct tfp_recording_options *options)
{
	/* The levels are those that the peers' profilers have without options. */
	*options = (struct tfp_recording_options){
		.duration_ms = 1000, .host_level = 2, .device_level = 1, .max_bytes = ANSWER_MAX};
}

enum tfp_status tfp_recording_options_check(const struct tfp_recording_options *o,
					    struct tfp_error *err)
{
	if (o->duration_ms == 0 || o->duration_ms > TFP_RECORDING_DURATION_MAX_MS)
		return tfp_fail(err, TFP_BAD_QUERY,
				"the duration must be from 1 to %u milliseconds",
				TFP_RECORDING_DURATION_MAX_MS);
	if (o->delay_ms > TFP_RECORDING_DURATION_MAX_MS)
		return tfp_fail(err, TFP_BAD_QUERY, "the delay is at most %u milliseconds",
				TFP_RECORDING_DURATION_MAX_MS);
	if (o->retries > TFP_RECORDING_RETRIES_MAX)
		return tfp_fail(err, TFP_BAD_QUERY, "at most %u retries",
				TFP_RECORDING_RETRIES_MAX);
	if (o->host_level > TFP_TRACER_LEVEL_MAX || o->device_level > TFP_TRACER_LEVEL_MAX ||
	    o->python_level > TFP_TRACER_LEVEL_MAX)
		return tfp_fail(err, TFP_BAD_QUERY, "a tracer's level is from 0 to %u",
				TFP_TRACER_LEVEL_MAX);
	return TFP_OK;
}

enum tfp_status tfp_recording_add_setting(struct tfp_recording_options *o, const char *key,
					  size_t key_size, const char *value, struct tfp_error *err)
{
	if (o->setting_count == TFP_SETTINGS_MAX)
		return tfp_fail(err, TFP_BAD_QUERY, "more than %u further options",
				TFP_SETTINGS_MAX);
	if (key_size == 0 || key_size > TFP_SETTING_KEY_MAX)
		return tfp_fail(err, TFP_BAD_QUERY,
				"the name of a further option has 1 to %u letters",
				TFP_SETTING_KEY_MAX);
	if (strlen(value) > TFP_SETTING_TEXT_MAX)
		return tfp_fail(err, TFP_BAD_QUERY, "the value of option %.*s is too long",
				(int)key_size, key);
	struct tfp_setting *s = &o->settings[o->setting_count++];
	memcpy(s->key, key, key_size);
	s->key[key_size] = '\0';
	memcpy(s->value, value, strlen(value) + 1);
	return TFP_OK;
}
