/* SPDX-License-Identifier: Apache-2.0 */
/* The view of operations: a row for each kind of op, in a list. */
#ifndef TFP_TFPROF_OP_ROWS_H
#define TFP_TFPROF_OP_ROWS_H

#include "base/buf.h"
#include "tfprof/options.h"
#include "tfprof/profile.h"
#include "tfprof/tree.h"

struct tfp_op_row {
	struct tfp_str op;
	struct tfp_node_group group;
	int64_t own[TFP_AMOUNT_COUNT];
	int64_t total[TFP_AMOUNT_COUNT]; /* of this row and those below it */
	bool accounted;
};

struct tfp_op_rows {
	struct tfp_op_row *rows; /* owned; by op */
	size_t count, room;
	struct tfp_op_row **shown; /* owned; what the last command shows, in order */
	size_t shown_count;
	int64_t total[TFP_AMOUNT_COUNT]; /* of all rows, or of those that are shown */
	bool built;
};

enum tfp_status tfp_op_rows_build(struct tfp_op_rows *r, const struct tfp_profile *p,
				  struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_op_rows_release(struct tfp_op_rows *r);
/* Makes `shown`. */
enum tfp_status tfp_op_rows_show(struct tfp_op_rows *r, const struct tfp_view_options *o,
				 struct tfp_filters *f, struct tfp_error *err) TFP_CHECK;
/* The table of what is shown. */
void tfp_op_rows_write(const struct tfp_op_rows *r, const struct tfp_view_options *o,
		       struct tfp_buf *out);

#endif
