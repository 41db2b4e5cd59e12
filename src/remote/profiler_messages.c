/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/profiler_messages.h"

#include "profiler_service.pb-c.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EVENTS 1000000u

/* Only TPU runtimes look at these; "xplane.pb" is what is wanted. */
static char *const tools[] = {
	"trace_viewer",   "op_profile",    "input_pipeline", "kernel_stats",     "memory_viewer",
	"memory_profile", "overview_page", "pod_viewer",     "tensorflow_stats", "xplane.pb"};

static enum tfp_status pack(struct tfp_buf *out, const ProtobufCMessage *message,
			    struct tfp_error *err)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	char *to = tfp_buf_reserve(out, size);
	if (!to)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a request");
	out->size += protobuf_c_message_pack(message, (uint8_t *)to);
	return TFP_OK;
}

static void set_value(Tfp__Profiler__Setting *to, const char *text)
{
	char *end;
	tfp__profiler__setting__init(to);
	errno = 0;
	long long number = strtoll(text, &end, 10);
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
		to->kind_case = TFP__PROFILER__SETTING__KIND_BOOL_VALUE;
		to->bool_value = text[0] == 't';
	} else if (errno == 0 && *end == '\0' && strchr("-0123456789", text[0]) &&
		   text[0] != '\0') {
		to->kind_case = TFP__PROFILER__SETTING__KIND_INT64_VALUE;
		to->int64_value = number;
	} else {
		to->kind_case = TFP__PROFILER__SETTING__KIND_STRING_VALUE;
		to->string_value = (char *)(uintptr_t)text;
	}
}

enum tfp_status tfp_encode_profile_request(struct tfp_buf *out,
					   const struct tfp_profile_request *request,
					   struct tfp_error *err)
{
	/* protobuf-c's fields are not const; it does not write to them. */
	Tfp__Profiler__Setting values[TFP_SETTINGS_MAX];
	Tfp__Profiler__SettingEntry entries[TFP_SETTINGS_MAX], *pointers[TFP_SETTINGS_MAX];
	Tfp__Profiler__ProfileOptions options = TFP__PROFILER__PROFILE_OPTIONS__INIT;
	Tfp__Profiler__ProfileRequest message = TFP__PROFILER__PROFILE_REQUEST__INIT;
	size_t count = request->setting_count < TFP_SETTINGS_MAX ? request->setting_count
								 : TFP_SETTINGS_MAX;
	for (size_t i = 0; i < count; i++) {
		set_value(&values[i], request->settings[i].value);
		tfp__profiler__setting_entry__init(&entries[i]);
		entries[i].key = (char *)(uintptr_t)request->settings[i].key;
		entries[i].value = &values[i];
		pointers[i] = &entries[i];
	}
	/* With version 0 the program ignores nearly all that follows. */
	options.version = 1;
	options.include_dataset_ops = true;
	options.enable_hlo_proto = true;
	options.host_tracer_level = request->host_level;
	options.device_tracer_level = request->device_level;
	options.python_tracer_level = request->python_level;
	options.start_timestamp_ns = request->start_ns;
	options.duration_ms = request->duration_ms;
	options.repository_path = (char *)(uintptr_t)request->logdir;
	options.n_advanced_configuration = count;
	options.advanced_configuration = pointers;

	message.duration_ms = request->duration_ms;
	message.max_events = MAX_EVENTS;
	message.n_tools = sizeof(tools) / sizeof(tools[0]);
	message.tools = (char **)(uintptr_t)tools;
	message.opts = &options;
	message.repository_root = (char *)(uintptr_t)request->folder;
	message.session_id = (char *)(uintptr_t)request->session;
	message.host_name = (char *)(uintptr_t)request->host_name;
	message.emit_xspace = true;
	return pack(out, &message.base, err);
}

enum tfp_status tfp_encode_terminate_request(struct tfp_buf *out, const char *session,
					     struct tfp_error *err)
{
	Tfp__Profiler__TerminateRequest message = TFP__PROFILER__TERMINATE_REQUEST__INIT;
	message.session_id = (char *)(uintptr_t)session;
	return pack(out, &message.base, err);
}

enum tfp_status tfp_encode_monitor_request(struct tfp_buf *out, uint64_t duration_ms, int level,
					   struct tfp_error *err)
{
	Tfp__Profiler__MonitorRequest message = TFP__PROFILER__MONITOR_REQUEST__INIT;
	message.duration_ms = duration_ms;
	message.monitoring_level = level;
	message.timestamp = true;
	return pack(out, &message.base, err);
}

enum tfp_status tfp_decode_monitor_response(const void *bytes, size_t size, struct tfp_buf *text,
					    struct tfp_error *err)
{
	Tfp__Profiler__MonitorResponse *message =
		tfp__profiler__monitor_response__unpack(NULL, size, bytes);
	if (!message)
		return tfp_fail(err, TFP_BAD_INPUT, "the answer is not a MonitorResponse");
	tfp_buf_add(text, message->data.data, message->data.len);
	tfp__profiler__monitor_response__free_unpacked(message, NULL);
	return tfp_buf_failed(text) ? tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer")
				    : TFP_OK;
}
