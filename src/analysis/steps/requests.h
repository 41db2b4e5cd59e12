/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to a model that is served: how long each took, and how much of that
 * the device computed and data went to it and back (inference_stats.cc and
 * compute_inference_latency.cc of XProf; docs/tools/overview_page.md, "[4] Inference latency").
 *
 * A request is a group of events (groups.h) with an event that stands for
 * one: BatchingSessionRun where there are any, else TfrtModelRun, else
 * ServingModelRun, else SessionRun and RunGraph; further what the program itself
 * marked as a request. It lasts from the first to the last of the group's
 * events on the host, and until the batches that answer it are done.
 *
 * Picoseconds.
 */
#ifndef TFP_ANALYSIS_STEPS_REQUESTS_H
#define TFP_ANALYSIS_STEPS_REQUESTS_H

#include "store/capture.h"

#include <stddef.h>
#include <stdint.h>

/* Moments count once, for computing before copying; total = host + device + communication. */
struct tfp_request {
	uint64_t total_ps, device_ps, communication_ps;
};

struct tfp_requests {
	struct tfp_request *list; /* in the order of their groups */
	size_t count;
};

/* Of a capture; computed once. */
enum tfp_status tfp_requests_get(struct tfp_capture *capture, struct tfp_pool *pool,
				 const struct tfp_requests **out, struct tfp_error *err) TFP_CHECK;

#endif
