/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording asks several running programs for a profile of the same moment, and makes a run of
 * what they send.
 *
 *     struct tfp_recording *r;
 *     tfp_recording_new(&r, &options, "/logs/plugins/profile", &err);
 *     tfp_recording_run(r, &err);            ... on a thread of its own
 *     tfp_recording_look(r, &progress);      ... on any other, meanwhile
 *     tfp_recording_cancel(r);
 *     tfp_recording_free(r);
 *
 * docs/capture.md has the rules: what is tried again, how long it waits, what counts as success.
 */
#ifndef TFP_REMOTE_RECORDING_H
#define TFP_REMOTE_RECORDING_H

#include "base/error.h"
#include "remote/grpc_unary.h"
#include "remote/recording_options.h"
#include "remote/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	bool busy;               /* another client is profiling it */
	char message[1024];      /* why, "" when all is well */
	char hint[768];
	char command[1400]; /* a shell command that fetches the profile, or "" */
	char file[320];     /* name in the run's folder, once stored */
};

struct tfp_recording_progress {
	bool done;
	enum tfp_status status; /* once done: TFP_OK when some program's profile is stored */
	char error[768], hint[768];
	char run[TFP_RUN_NAME_MAX + 1]; /* name of the folder */
	unsigned attempt;               /* from 1 */
	int64_t elapsed_ms;             /* of the attempt */
	size_t count;
	struct tfp_recording_host hosts[TFP_TARGETS_MAX];
};

struct tfp_recording;

/* Makes the run's folder, so that a log directory that cannot be written is noticed before any
 * program is asked. folder: absolute path of the folder with runs. Owned by the caller. */
enum tfp_status tfp_recording_new(struct tfp_recording **out,
				  const struct tfp_recording_options *options, const char *folder,
				  struct tfp_error *err) TFP_CHECK;
/* Blocks until all programs have answered, or their time is over. TFP_OK when at least one profile
 * is stored; else an error that sums up what was wrong. Call it once. */
enum tfp_status tfp_recording_run(struct tfp_recording *r, struct tfp_error *err) TFP_CHECK;
/* Ends it soon: tells the programs to stop, and keeps profiles that are stored. Any thread. */
void tfp_recording_cancel(struct tfp_recording *r);
/* Copies the present state. Any thread. */
void tfp_recording_look(struct tfp_recording *r, struct tfp_recording_progress *progress);
/* Not while tfp_recording_run runs. Accepts NULL. */
void tfp_recording_free(struct tfp_recording *r);

/* "connecting", "asked", "receiving", "stored", "empty", "elsewhere", "failed", "cancelled" */
const char *tfp_recording_state_name(enum tfp_recording_state state);

#endif
