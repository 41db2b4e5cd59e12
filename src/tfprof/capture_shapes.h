/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shapes in an instruction as XLA prints it:
 * `%dot.3 = f32[8,4]{1,0} dot(f32[8,16]{1,0} %a, f32[16,4]{1,0} %b), lhs_contracting_dims={1}`.
 */
#ifndef TFP_TFPROF_CAPTURE_SHAPES_H
#define TFP_TFPROF_CAPTURE_SHAPES_H

#include "store/capture.h"

#include <stdbool.h>
#include <stddef.h>

/* Most inputs that are told. */
#define TFP_SHAPES_MAX 64

struct tfp_shapes {
	struct tfp_str output; /* of the expression's bytes */
	struct tfp_str inputs[TFP_SHAPES_MAX];
	size_t count;
};

/* False for texts of another form, and for operands that are printed without their shapes. */
bool tfp_shapes_read(struct tfp_str expression, struct tfp_shapes *shapes);

#endif
