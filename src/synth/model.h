/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the made-up program computes in a step: a ResNet whose last stage feeds
 * a vision transformer, trained data-parallel in mixed precision. A list of
 * ops with the kernels they launch, what they allocate and when that is freed.
 * Sizes and durations are nominal; a step varies them.
 *
 *     struct tfp_synth_model m;
 *     if (tfp_synth_model_init(&m, seed, devices, events, err) == TFP_OK) ...
 *     tfp_synth_model_release(&m);
 */
#ifndef TFP_SYNTH_MODEL_H
#define TFP_SYNTH_MODEL_H

#include "base/arena.h"
#include "base/error.h"
#include "synth/kernels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tfp_synth_phase {
	PHASE_FORWARD,
	PHASE_BACKWARD,
	PHASE_REDUCE, /* gradients of a bucket, summed over all devices */
	PHASE_UPDATE,
	PHASE_COUNT
};

/* A launch by an op. */
struct tfp_synth_use {
	unsigned kernel; /* index of tfp_synth_kernel_at */
	unsigned grid[3];
	int64_t ns;
	uint64_t bytes; /* of a memset or a copy */
};

#define TFP_SYNTH_FREES_MAX    4
#define TFP_SYNTH_FAMILIES_MAX 40

struct tfp_synth_op {
	const char *name; /* without the replica: tfp_synth_model_op_name */
	const char *type;
	enum tfp_synth_phase phase;
	const char *arguments; /* "(half[64,56,56,64])" */
	const char *equation;  /* of an Einsum, or NULL */
	struct tfp_synth_use *uses;
	unsigned use_count;
	int64_t host_ns; /* on its thread, without the launches */
	/* Memory: 0 bytes for none. */
	int64_t bytes, requested, address;
	const char *region, *shape;
	int data_type;                       /* of TensorFlow's DataType */
	unsigned frees[TFP_SYNTH_FREES_MAX]; /* ops whose memory goes after this one */
	unsigned free_count;
	bool freed; /* by some op */
	int bucket; /* PHASE_REDUCE: which, else -1 */
	uint64_t reduce_bytes;
};

struct tfp_synth_model {
	struct tfp_arena arena;
	struct tfp_synth_op *ops;
	unsigned op_count, op_room;
	/* What runs in a step, in order: indexes of ops. Several micro-batches
	 * repeat the forward and backward ops. */
	uint32_t *order;
	uint32_t *thread_run; /* which stretch of uninterrupted execution */
	unsigned order_count;
	unsigned use_total; /* launches in a step of one device, reductions too */
	unsigned buckets;
	unsigned batch;
	int64_t resident_bytes; /* weights and optimizer state */
	int64_t step_bytes;     /* most that a step adds */
	uint64_t input_bytes;   /* of one device's batch */
	bool no_memory;
	uint64_t seed;
	unsigned family_next[TFP_SYNTH_FAMILIES_MAX]; /* turns of the kernels of a family */
};

/* Caller's memory. events: about how many a step of a host with that many
 * devices should have; the nearest model that is no smaller than one block. */
enum tfp_status tfp_synth_model_init(struct tfp_synth_model *m, uint64_t seed, unsigned devices,
				     unsigned events, struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_synth_model_release(struct tfp_synth_model *m);

/* The name of an op on a device, as a mirrored strategy spells it, into out. */
void tfp_synth_model_op_name(const struct tfp_synth_op *op, unsigned device, char *out,
			     size_t size);

#endif
