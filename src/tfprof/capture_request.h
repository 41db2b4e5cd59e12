/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody asks of the views of a run's captures: the parameters of the tool tfprof, with
 * the words of the original's options.
 *
 *     struct tfp_capture_request request;
 *     status = tfp_capture_request_init(&request, query, &err);
 *     ...
 *     tfp_capture_request_release(&request);          in any case
 */
#ifndef TFP_TFPROF_CAPTURE_REQUEST_H
#define TFP_TFPROF_CAPTURE_REQUEST_H

#include "session/query.h"
#include "tfprof/capture_view.h"

/* An amount as the answers name it. */
struct tfp_quantity {
	const char *id, *label, *unit;
	enum tfp_amount amount;
};

#define TFP_QUANTITIES 13
extern const struct tfp_quantity tfp_quantities[TFP_QUANTITIES];

enum tfp_capture_output {
	TFP_CAPTURE_JSON,
	TFP_CAPTURE_PPROF,
	TFP_CAPTURE_FOLDED,
	TFP_CAPTURE_CSV,
	TFP_CAPTURE_TEXT,
	TFP_CAPTURE_TIMELINE,
};

/* Most nodes of an answer. */
#define TFP_CAPTURE_NODES_MAX 1000000u
#define TFP_CAPTURE_NODES     "100000"
#define TFP_CAPTURE_SELECT    "micros,accelerator_micros,cpu_micros,occurrence,float_ops"

struct tfp_capture_request {
	struct tfp_capture_choice choice;
	struct tfp_view_options options; /* those of all views, but for their step and output */
	bool selected[TFP_QUANTITIES];
	bool device, op_types, input_shapes; /* selected for text */
	enum tfp_capture_output output;
	const struct tfp_quantity *quantity; /* of outputs that have one */
	const struct tfp_quantity *order;    /* NULL: by name */
	uint64_t limit;
	struct tfp_capture_wanted wanted;
	/* The node whose details are asked for, by the labels on the way from the root. */
	bool has_path;
	char **path; /* owned, as its texts are */
	size_t path_count;
};

/* TFP_BAD_QUERY names the parameter. Texts of the query must outlive it. */
enum tfp_status tfp_capture_request_init(struct tfp_capture_request *request,
					 const struct tfp_query *query,
					 struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_capture_request_release(struct tfp_capture_request *request);

#endif
