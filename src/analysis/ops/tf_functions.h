/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of tf.functions: how many were traced again, ran eagerly or ran as they
 * should, and for how long (op_stats.md 8; xplane_to_tf_functions.cc).
 */
#ifndef TFP_ANALYSIS_OPS_TF_FUNCTIONS_H
#define TFP_ANALYSIS_OPS_TF_FUNCTIONS_H

#include "base/arena.h"
#include "base/str_map.h"
#include "store/capture.h"

enum tfp_function_mode {
	TFP_FUNCTION_OTHER,
	TFP_FUNCTION_EAGER,
	TFP_FUNCTION_TRACED,
	TFP_FUNCTION_NOT_TRACED,
	TFP_FUNCTION_CONCRETE,
	TFP_FUNCTION_MODE_COUNT
};

struct tfp_function {
	struct tfp_str name;
	uint64_t calls[TFP_FUNCTION_MODE_COUNT];
	uint64_t self_ps[TFP_FUNCTION_MODE_COUNT]; /* without functions called inside */
	int64_t tracing_count;                     /* the greatest that was seen */
};

struct tfp_functions {
	struct tfp_function *list;
	size_t count, room;
	struct tfp_str_map by_name;
	struct tfp_arena arena;
};

/* Of the host's threads. */
enum tfp_status tfp_functions_get(struct tfp_capture *capture, struct tfp_pool *pool,
				  const struct tfp_functions **out,
				  struct tfp_error *err) TFP_CHECK;

void tfp_functions_init(struct tfp_functions *functions);
/* Accepts zeroed memory. */
void tfp_functions_release(struct tfp_functions *functions);
/* false without memory. */
bool tfp_functions_merge(struct tfp_functions *to, const struct tfp_functions *from);

/* Percent of a function's time that went to tracing and eager execution. */
double tfp_function_expensive_percent(const struct tfp_function *function);

#endif
