/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording is to be: which programs, how long, how much they trace.
 */
#ifndef TFP_REMOTE_RECORDING_OPTIONS_H
#define TFP_REMOTE_RECORDING_OPTIONS_H

#include "base/error.h"
#include "remote/profiler_messages.h"
#include "remote/run_folder.h"
#include "remote/target.h"

#include <stddef.h>
#include <stdint.h>

#define TFP_RECORDING_DURATION_MAX_MS 3600000u
#define TFP_RECORDING_RETRIES_MAX     100u
#define TFP_TRACER_LEVEL_MAX          3u

struct tfp_recording_options {
	struct tfp_target targets[TFP_TARGETS_MAX];
	size_t target_count;
	uint32_t duration_ms; /* 1 to TFP_RECORDING_DURATION_MAX_MS */
	uint32_t delay_ms;    /* until all begin, at most the same */
	unsigned retries;     /* when no program sent a profile */
	unsigned host_level, device_level, python_level;
	struct tfp_setting settings[TFP_SETTINGS_MAX];
	size_t setting_count;
	char session[TFP_RUN_NAME_MAX + 1]; /* "": the time */
	uint64_t max_bytes;                 /* of one program's answer */
	/* For tests and slow networks; 0 takes the defaults. */
	uint32_t grace_ms; /* for collecting, after the duration */
	uint32_t stall_ms;
};

/* One second, at the levels that the peers' profilers have without options; no program yet. */
void tfp_recording_options_init(struct tfp_recording_options *options);
/* A number out of its range: TFP_BAD_QUERY. */
enum tfp_status tfp_recording_options_check(const struct tfp_recording_options *options,
					    struct tfp_error *err) TFP_CHECK;
/* Adds a further option for the programs' profilers, passed on unchanged. TFP_BAD_QUERY when
 * there are too many, or when it is too long. */
enum tfp_status tfp_recording_add_setting(struct tfp_recording_options *options, const char *key,
					  size_t key_size, const char *value,
					  struct tfp_error *err) TFP_CHECK;

#endif
