/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that the made-up JAX run executes: a train step of a transformer,
 * compiled by XLA for GPUs, and the kernels it launches. Layers are a loop in
 * the program (as jax.lax.scan makes them), or unrolled, one after the other;
 * the backward pass computes activations once more instead of keeping them.
 *
 *     struct tfp_synth_train_step t;
 *     if (tfp_synth_train_step_init(&t, &options, err) == TFP_OK) ...
 *     tfp_synth_train_step_release(&t);
 *
 * A kernel's time follows from what its instruction computes and moves: so many
 * operations and bytes as an H100 does at a usual share of its peaks.
 */
#ifndef TFP_SYNTH_TRAIN_STEP_H
#define TFP_SYNTH_TRAIN_STEP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfp_synth_train_options {
	unsigned layers;   /* from 1 on */
	bool unrolled;     /* layers one after the other, each with instructions of its own */
	unsigned replicas; /* devices that sum their gradients */
};

enum tfp_synth_stream { STREAM_COMPUTE, STREAM_COLLECTIVE, STREAM_COUNT };

/* A kernel that an instruction launches. Texts are the step's. */
struct tfp_synth_kernel_work {
	const char *hlo_op, *op_name, *kernel;
	const char *details; /* the text of "kernel_details" */
	double occupancy;    /* percent */
	unsigned block;
	enum tfp_synth_stream stream;
	bool after_collectives; /* begins when all reductions have ended */
	int64_t ns;             /* nominal */
};

struct tfp_synth_train_step {
	struct tfp_arena arena;
	const char *module; /* "jit_train_step" */
	uint64_t program_id;
	struct tfp_buf proto; /* HloProto */
	struct tfp_synth_kernel_work *works;
	size_t work_count, work_room;
	uint32_t *order; /* launches of a step in order, indexes of works */
	size_t order_count, order_room;
	int64_t ns; /* of the compute stream, without waiting */
};

/* Caller's memory. */
enum tfp_status tfp_synth_train_step_init(struct tfp_synth_train_step *t,
					  const struct tfp_synth_train_options *o,
					  struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_synth_train_step_release(struct tfp_synth_train_step *t);

#endif
