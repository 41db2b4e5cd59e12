/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the name of an operation says: `path/to/op:Type` (xplane.md 7; source:
 * tsl/profiler/utils/tf_op_utils.cc of XProf's time).
 */
#ifndef TFP_ANALYSIS_EVENTS_OP_NAME_H
#define TFP_ANALYSIS_EVENTS_OP_NAME_H

#include "store/capture.h"

#include <stdbool.h>

enum tfp_op_category {
	TFP_OP_UNKNOWN, /* no operation's name */
	TFP_OP_TENSORFLOW,
	TFP_OP_JAX,
	TFP_OP_TF_DATA,
	TFP_OP_MEMCPY_H2D,
	TFP_OP_MEMCPY_D2H,
	TFP_OP_MEMCPY_D2D,
	TFP_OP_MEMCPY_H2H,
};

struct tfp_op_name {
	enum tfp_op_category category;
	struct tfp_str name, type; /* parts of the text, or constants; type "" when there is none */
};

/* Never fails: what is no operation is TFP_OP_UNKNOWN with the whole text as
 * name. */
struct tfp_op_name tfp_op_name_parse(struct tfp_str fullname);

/* Whether the op belongs to a backward pass (model_tracker.cc): a TensorFlow
 * op within a scope `gradient_tape` or `gradients...`, a JAX op (or one
 * without type) below `transpose(...`. */
bool tfp_op_is_gradient(struct tfp_str name, struct tfp_str type);

#endif
