/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows: which event led to which (launch to kernel, producer to consumer;
 * preprocess.md B3, trace_events.md 1, XFlow). Where the file brings flows
 * along as stats they are taken from there, else they are made from correlation
 * ids and context ids.
 */
#ifndef TFP_ANALYSIS_TIMELINE_FLOWS_H
#define TFP_ANALYSIS_TIMELINE_FLOWS_H

#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

enum tfp_flow_direction { TFP_FLOW_NONE, TFP_FLOW_IN, TFP_FLOW_OUT, TFP_FLOW_BOTH };

/* One event's part in a flow. */
struct tfp_flow_end {
	uint64_t id;
	uint32_t plane, line; /* of the capture, or of its derived lines */
	uint32_t event;
	uint8_t category; /* context_types.cc */
	uint8_t direction;
	bool derived;
};

struct tfp_flows {
	struct tfp_flow_end *ends; /* ascending by (derived, plane, line, event) */
	uint32_t *by_id; /* indexes of ends, ascending by (id, direction out first, start) */
	size_t count;
};

/* Of a capture; computed once and kept with it. */
enum tfp_status tfp_flows_get(struct tfp_capture *capture, struct tfp_pool *pool,
			      const struct tfp_flows **out, struct tfp_error *err) TFP_CHECK;

/* Only the flows that one event of the capture's own lines has a part in, with all of their
 * ends. In a large capture this takes a fraction of the time and memory of tfp_flows_get. The
 * caller frees them with tfp_flows_free. */
enum tfp_status tfp_flows_near(struct tfp_capture *capture, struct tfp_pool *pool, uint32_t plane,
			       uint32_t line, uint32_t event, struct tfp_flows **out,
			       struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_flows_free(struct tfp_flows *flows);

/* The ends at one event: *count of them from the one returned on. */
const struct tfp_flow_end *tfp_flows_of_event(const struct tfp_flows *flows, bool derived,
					      uint32_t plane, uint32_t line, uint32_t event,
					      size_t *count);
/* The ends of one flow: *count indexes of ends from the one returned on. */
const uint32_t *tfp_flows_of_id(const struct tfp_flows *flows, uint64_t id, size_t *count);

/* "gpu_launch", or "" for a category without a name. */
const char *tfp_flow_category_name(unsigned category);

#endif
