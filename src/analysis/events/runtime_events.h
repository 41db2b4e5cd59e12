/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of runtimes whose names say what they are: roots of steps, and ends of
 * connections between threads (preprocess.md B and C).
 */
#ifndef TFP_ANALYSIS_EVENTS_RUNTIME_EVENTS_H
#define TFP_ANALYSIS_EVENTS_RUNTIME_EVENTS_H

#include "store/capture.h"

enum tfp_runtime_event {
	TFP_EVENT_OTHER,
	TFP_EVENT_TF_OP, /* `<name>:<type>`: an op of TensorFlow */
	TFP_EVENT_TRACE_CONTEXT,
	TFP_EVENT_FUNCTION_RUN,
	TFP_EVENT_SESSION_RUN,
	TFP_EVENT_RUN_GRAPH,
	TFP_EVENT_EXECUTOR_PROCESS,
	TFP_EVENT_GET_NEXT,
	TFP_EVENT_GET_NEXT_OPTIONAL,
	TFP_EVENT_EAGER_EXECUTE,
	TFP_EVENT_CAPTURED_FUNCTION,
	TFP_EVENT_PROCESS_BATCH,
	TFP_EVENT_BATCHING_SESSION_RUN,
	TFP_EVENT_TPU_EXECUTE_OP,
	TFP_EVENT_ENQUEUE_REQUEST,
	TFP_EVENT_DEQUEUE_REQUEST,
	TFP_EVENT_ENQUEUE_PROGRAM,
	TFP_EVENT_COMPLETE_PROGRAM,
	TFP_EVENT_START_REGION, /* a thread of a pool begins to work for somebody */
	TFP_EVENT_STOP_REGION,
};

/* Kinds of connections that the profiler numbers (context_types.h), as far as
 * names stand for them. */
enum {
	TFP_CONTEXT_LEGACY = 1,
	TFP_CONTEXT_GPU_LAUNCH = 9,
	TFP_CONTEXT_TPU_STREAM = 11,
	TFP_CONTEXT_TPU_LAUNCH = 12,
	TFP_CONTEXT_THREADPOOL = 15,
	TFP_CONTEXT_COUNT = 18
};

/* Of the number of a run that the host knows, the device has these bits. */
#define TFP_RUN_ID_MASK ((UINT64_C(1) << 27) - 1)

enum tfp_runtime_event tfp_runtime_event_of(struct tfp_str name);

/* By event metadata, freed with tfp_free; NULL without memory. */
uint8_t *tfp_runtime_events_of(const struct tfp_plane *plane);

#endif
