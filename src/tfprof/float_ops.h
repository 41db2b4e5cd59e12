/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating point operations of nodes, from the shapes of their inputs and outputs, by the
 * formulas that TensorFlow registers for them (tensorflow/python/profiler/internal/
 * flops_registry.py, tensorflow/python/ops/nn_ops.py).
 */
#ifndef TFP_TFPROF_FLOAT_OPS_H
#define TFP_TFPROF_FLOAT_OPS_H

#include "tfprof/profile.h"

/* Operations of one run of a node; false when there is no formula for its op, or a shape that it
 * needs is not known. */
bool tfp_float_ops(const struct tfp_profile_node *node, int64_t *flops);
/* Sets the flops of all nodes for which none are recorded. *unknown: nodes with a formula and
 * without the shapes for it. */
void tfp_count_float_ops(struct tfp_profile *p, size_t *unknown);

#endif
