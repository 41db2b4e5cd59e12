/*
 * A recording: several running programs are asked for a profile of the same
 * moment, and what they send becomes a run.
 *
 *     struct tfp_recording *r;
 *     tfp_recording_new(&r, &options, "/logs/plugins/profile", &err);
 *     tfp_recording_run(r, &err);            ... on a thread of its own
 *     tfp_recording_look(r, &progress);      ... on any other, meanwhile
 *     tfp_recording_cancel(r);
 *     tfp_recording_free(r);
 *
 * The rules (what is retried, how long is waited, what counts as success) are
 * in docs/capture.md.
 */
#ifndef TFP_REMOTE_RECORDING_H
#define TFP_REMOTE_RECORDING_H

#include "base/error.h"
#include "remote/grpc_unary.h"
#include "remote/profiler_messages.h"
#include "remote/run_folder.h"
#include "remote/target.h"

#include <stdbool.h>
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

enum tfp_recording_state {
	TFP_RECORDING_CONNECTING,
	TFP_RECORDING_ASKED, /* it waits, records or collects */
	TFP_RECORDING_RECEIVING,
	TFP_RECORDING_STORED,
	TFP_RECORDING_EMPTY,     /* it answered; nothing was traced */
	TFP_RECORDING_ELSEWHERE, /* it wrote to its own disk */
	TFP_RECORDING_FAILED,
	TFP_RECORDING_CANCELLED,
};

struct tfp_recording_host {
	char target[sizeof(((struct tfp_target *)0)->text)];
	enum tfp_recording_state state;
	uint64_t bytes;          /* of the capture, so far */
	enum tfp_grpc_code code; /* when it failed */
	bool busy;               /* somebody else is profiling it */
	char message[1024];      /* why, "" when all is well */
	char hint[384];
	char command[1400]; /* for a shell: how to fetch it, or "" */
	char file[320];     /* name in the run's folder, once stored */
};

struct tfp_recording_progress {
	bool done;
	enum tfp_status status; /* once done: TFP_OK when some program's profile is stored */
	char error[768], hint[384];
	char run[TFP_RUN_NAME_MAX + 1]; /* name of the folder */
	unsigned attempt;               /* from 1 */
	int64_t elapsed_ms;             /* of the attempt */
	size_t count;
	struct tfp_recording_host hosts[TFP_TARGETS_MAX];
};

struct tfp_recording;

void tfp_recording_options_init(struct tfp_recording_options *options);
/* A number out of its range: TFP_BAD_QUERY. */
enum tfp_status tfp_recording_options_check(const struct tfp_recording_options *options,
					    struct tfp_error *err) TFP_CHECK;
/* "KEY=VALUE". */
enum tfp_status tfp_recording_add_setting(struct tfp_recording_options *options, const char *key,
					  size_t key_size, const char *value,
					  struct tfp_error *err) TFP_CHECK;

/* Makes the run's folder, so that a read-only log directory is known before
 * anybody is asked. folder: absolute path of the folder with runs. Owned by the
 * caller. */
enum tfp_status tfp_recording_new(struct tfp_recording **out,
				  const struct tfp_recording_options *options, const char *folder,
				  struct tfp_error *err) TFP_CHECK;
/* Blocks until all have answered, or their time is over. TFP_OK when at least
 * one profile is stored; else what was wrong, in one sentence for all. Once. */
enum tfp_status tfp_recording_run(struct tfp_recording *r, struct tfp_error *err) TFP_CHECK;
/* Ends it soon: the programs are told to stop; what is stored already is kept.
 * Any thread. */
void tfp_recording_cancel(struct tfp_recording *r);
/* A copy of the present state. Any thread. */
void tfp_recording_look(struct tfp_recording *r, struct tfp_recording_progress *progress);
/* Not while it runs. Accepts NULL. */
void tfp_recording_free(struct tfp_recording *r);

/* "connecting", "asked", "receiving", "stored", "empty", "elsewhere", "failed", "cancelled" */
const char *tfp_recording_state_name(enum tfp_recording_state state);

/* What a program reports about itself while it runs (Monitor): only TPU runtimes
 * know how. text is appended to. */
enum tfp_status tfp_monitor(const struct tfp_target *target, uint32_t duration_ms, int level,
			    struct tfp_buf *text, struct tfp_error *err) TFP_CHECK;

#endif
