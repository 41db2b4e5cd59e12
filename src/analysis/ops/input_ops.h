/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input ops: which ops of the host feed the program, and how the host's input time is
 * divided among five kinds of work (docs/tools/input_pipeline_analyzer.md; IsInputOp,
 * CategorizeInputOp, GenerateHostResult).
 */
#ifndef TFP_ANALYSIS_OPS_INPUT_OPS_H
#define TFP_ANALYSIS_OPS_INPUT_OPS_H

#include "analysis/ops/op_db.h"

enum tfp_input_category {
	TFP_INPUT_NONE, /* no input op */
	TFP_INPUT_ENQUEUE,
	TFP_INPUT_DEMANDED_READ,
	TFP_INPUT_ADVANCED_READ,
	TFP_INPUT_PREPROCESSING,
	TFP_INPUT_UNKNOWN,
	TFP_INPUT_CATEGORY_COUNT
};

/* The category of a host op, by its name and type. */
enum tfp_input_category tfp_input_category(struct tfp_str name, struct tfp_str type);
/* "Enqueue", ...; "" for none. */
const char *tfp_input_category_name(enum tfp_input_category category);

/* Microseconds. */
struct tfp_input_times {
	double enqueue_us, demanded_read_us, advanced_read_us, preprocessing_us, unclassified_us;
	double all_ops_us; /* self time of all input ops: base of the table's percentages */
};

/* Sums up the self times of the table's input ops by category. enqueue_ratio: the share of the
 * host's input time that goes to enqueuing data, 0 where it is not known. Where it is known and
 * some op enqueues, the other categories are scaled so that enqueuing has that share, and the
 * time that no op accounts for is unclassified. Otherwise all times stay as measured. */
void tfp_input_times(const struct tfp_op_db *host_ops, double enqueue_ratio,
		     struct tfp_input_times *out);
bool tfp_uses_tf_data(const struct tfp_input_times *times);

#endif
