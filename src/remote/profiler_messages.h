/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small messages of tensorflow.ProfilerService as bytes: what the peers'
 * own client sends, field for field. Generated code does the encoding.
 */
#ifndef TFP_REMOTE_PROFILER_MESSAGES_H
#define TFP_REMOTE_PROFILER_MESSAGES_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

#define TFP_SETTINGS_MAX     32u
#define TFP_SETTING_KEY_MAX  64u
#define TFP_SETTING_TEXT_MAX 256u

/* An option that only the program's profiler knows. "true" and "false" are sent
 * as booleans, whole numbers as numbers, everything else as text. */
struct tfp_setting {
	char key[TFP_SETTING_KEY_MAX + 1];
	char value[TFP_SETTING_TEXT_MAX + 1];
};

struct tfp_profile_request {
	uint64_t duration_ms;
	uint64_t start_ns; /* since 1970; 0: at once */
	unsigned host_level, device_level, python_level;
	const struct tfp_setting *settings;
	size_t setting_count;
	/* Where a program puts a profile that it does not send. */
	const char *logdir, *folder, *session, *host_name;
};

/* Each writes into an initialised buffer; TFP_NO_MEMORY only. */
enum tfp_status tfp_encode_profile_request(struct tfp_buf *out,
					   const struct tfp_profile_request *request,
					   struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_encode_terminate_request(struct tfp_buf *out, const char *session,
					     struct tfp_error *err) TFP_CHECK;
/* level: 1, or 2 for more. */
enum tfp_status tfp_encode_monitor_request(struct tfp_buf *out, uint64_t duration_ms, int level,
					   struct tfp_error *err) TFP_CHECK;
/* Appends the text of a MonitorResponse, unchanged. TFP_BAD_INPUT when it is not one. */
enum tfp_status tfp_decode_monitor_response(const void *bytes, size_t size, struct tfp_buf *text,
					    struct tfp_error *err) TFP_CHECK;

#endif
