/*
 * Operations that feed the program, and what the host's input time goes to
 * (input_pipeline.md 2; IsInputOp, CategorizeInputOp, GenerateHostResult).
 */
#ifndef TFP_ANALYSIS_INPUT_OPS_H
#define TFP_ANALYSIS_INPUT_OPS_H

#include "analysis/op_db.h"

enum tfp_input_category {
	TFP_INPUT_NONE, /* no input op */
	TFP_INPUT_ENQUEUE,
	TFP_INPUT_DEMANDED_READ,
	TFP_INPUT_ADVANCED_READ,
	TFP_INPUT_PREPROCESSING,
	TFP_INPUT_UNKNOWN,
	TFP_INPUT_CATEGORY_COUNT
};

/* By name and type of a host op. */
enum tfp_input_category tfp_input_category(struct tfp_str name, struct tfp_str type);
/* "Enqueue", ...; "" for none. */
const char *tfp_input_category_name(enum tfp_input_category category);

/* Microseconds. */
struct tfp_input_times {
	double enqueue_us, demanded_read_us, advanced_read_us, preprocessing_us, unclassified_us;
	double all_ops_us; /* self time of all input ops: base of the table's percentages */
};

/* enqueue_ratio: share of the time that the host spends enqueuing data, or 0 where
 * it is not known: then everything is taken as it was measured. */
void tfp_input_times(const struct tfp_op_db *host_ops, double enqueue_ratio,
		     struct tfp_input_times *out);
bool tfp_uses_tf_data(const struct tfp_input_times *times);

#endif
