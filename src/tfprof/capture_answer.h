/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view of captures as a document: the tree in columns, which a table that opens bit by bit and
 * a flame graph are both made of (docs/tools/tfprof.md).
 */
#ifndef TFP_TFPROF_CAPTURE_ANSWER_H
#define TFP_TFPROF_CAPTURE_ANSWER_H

#include "base/json_writer.h"
#include "tfprof/capture_request.h"

/* What is shown, parents before children, as an answer keeps it. */
struct tfp_capture_rows {
	struct tfp_tree_node **nodes; /* owned */
	uint32_t *parents;            /* owned; rows; UINT32_MAX of the root */
	uint32_t *cut;                /* owned; children that are left out, by row */
	size_t count;
	size_t shown; /* before any was left out */
};

/* At most limit rows of a view that is shown: those with the largest amount of the order, or with
 * the most time. Never a child without its parent. */
enum tfp_status tfp_capture_rows_init(struct tfp_capture_rows *rows,
				      const struct tfp_capture_view *view,
				      const struct tfp_capture_request *request,
				      struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_capture_rows_release(struct tfp_capture_rows *rows);

/* The document of a tree. session: whose hosts are named. */
void tfp_capture_answer_write(const struct tfp_capture_view *view,
			      const struct tfp_capture_request *request,
			      const struct tfp_capture_rows *rows,
			      const struct tfp_session *session, bool gave_up, struct tfp_json *j);

/* A number as documents have it: of times microseconds, exact; divided if it is of the mean. */
void tfp_capture_put_amount(struct tfp_json *j, const struct tfp_capture_view *view,
			    enum tfp_amount amount, int64_t value);
/* What a node has of its own; false: unknown. A scope that is no operation has nothing of its
 * own where its total is known. */
bool tfp_capture_own(const struct tfp_tree_node *node, enum tfp_amount amount, int64_t *value);
/* The enum tfp_taken_flag of a node, and 32 for an operation. */
unsigned tfp_capture_flags(const struct tfp_tree_node *node);
/* "(root)", or the label. */
struct tfp_str tfp_capture_label(const struct tfp_tree_node *node);

#endif
