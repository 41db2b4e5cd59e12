/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the names of a capture's operations say: the scopes in which an operation lies, and for
 * which pass it runs.
 *
 * JAX writes the functions that made an operation into its name: `jit(step)/transpose(jvp(Mlp))/
 * dot_general` is the backward pass of what Mlp does. A part is a transformation (jit, pjit, jvp,
 * transpose, vmap, pmap, remat, checkpoint, custom_jvp, custom_vjp, shard_map) of what stands in
 * its brackets; `rematted_computation` is what is computed a second time.
 */
#ifndef TFP_TFPROF_CAPTURE_PATH_H
#define TFP_TFPROF_CAPTURE_PATH_H

#include "store/capture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What lies deeper is one part. */
#define TFP_PATH_PARTS_MAX 128u

struct tfp_path {
	struct tfp_str parts[TFP_PATH_PARTS_MAX]; /* of the name that was read */
	size_t count;                             /* at least 1 */
};

/* The parts of `a/b/c`; a slash within brackets divides nothing. strip: parts without their
 * transformations, and without those that are nothing besides. */
void tfp_path_read(struct tfp_str name, bool strip, struct tfp_path *path);
/* The parts of a parameter's name, `params['Dense_0']['kernel']`: params, Dense_0, kernel. */
void tfp_path_read_parameter(struct tfp_str name, struct tfp_path *path);

/* TFP_FORWARD, TFP_BACKWARD, TFP_REMATERIALISED (tree.h) of an operation: backward below
 * `transpose(`, or a TensorFlow scope of gradients; forward below `jvp(` otherwise; computed again
 * below `rematted_computation`, or where XLA called the instruction so. */
uint8_t tfp_path_passes(struct tfp_str name, struct tfp_str type, struct tfp_str instruction);

#endif
