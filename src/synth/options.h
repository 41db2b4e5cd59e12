/* SPDX-License-Identifier: Apache-2.0 */
/* What a made-up run shall be like. */
#ifndef TFP_SYNTH_OPTIONS_H
#define TFP_SYNTH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum tfp_synth_compression {
	TFP_SYNTH_PLAIN,
	TFP_SYNTH_GZIP, /* .xplane.pb.gz */
	TFP_SYNTH_ZSTD, /* .xplane.pb.zst */
};

#define TFP_SYNTH_HOSTS_MAX       256
#define TFP_SYNTH_DEVICES_MAX     16
#define TFP_SYNTH_STEPS_MAX       10000000
#define TFP_SYNTH_EVENTS_MAX      4000000
#define TFP_SYNTH_ALLOCATIONS_MAX 4000000
#define TFP_SYNTH_SAMPLES_MAX     256
#define TFP_SYNTH_LAYERS_MAX      2000

struct tfp_synth_options {
	unsigned hosts;           /* files; 1 to TFP_SYNTH_HOSTS_MAX */
	unsigned devices;         /* GPUs of each host; 1 to TFP_SYNTH_DEVICES_MAX */
	unsigned steps;           /* 1 to TFP_SYNTH_STEPS_MAX */
	unsigned events_per_step; /* about, of a host; at least some 400 a device */
	/* Further blocks of host memory that each step takes and gives back, on several
	 * threads: twice as many events, for the allocator "mklcpu". */
	unsigned allocations;
	unsigned counter_samples; /* of each GPU's counters in a step, at most TFP_SYNTH_SAMPLES_MAX
				   */
	/* When not 0, steps is chosen so that an uncompressed file comes near
	 * this many bytes. */
	uint64_t bytes;
	enum tfp_synth_compression compression;
	uint64_t seed;
	/* As TensorFlow 2.4 wrote captures: group_id, step_name and is_eager
	 * stats and derived lines are in the file already, kernels name their op
	 * in "annotation" and "level 0". Otherwise as today's profilers write:
	 * none of that, and the op in "tf_op". */
	bool grouped;
	/* Another program: a train step of a transformer that JAX has had compiled, with the
	 * program itself in the file. events_per_step, allocations, counter_samples, bytes and
	 * grouped are not for it. */
	bool jax;
	unsigned layers; /* of it; 1 to TFP_SYNTH_LAYERS_MAX */
	bool unrolled;   /* every layer has instructions of its own, instead of a loop */
	char run[128];   /* name of the run's folder */
};

/* One host, two devices, 30 steps of about 3000 events, uncompressed, seed 1. */
void tfp_synth_options_init(struct tfp_synth_options *o);
/* Four hosts with two devices each and 26 steps, less than 1.5 MB a file. */
void tfp_synth_options_demo(struct tfp_synth_options *o);
/* Of the compiled program: two hosts with two devices each, 12 steps of 6 layers. */
void tfp_synth_options_jax(struct tfp_synth_options *o);

/* The name of a host, as in its file and its capture: "worker-00". */
#define TFP_SYNTH_HOST_NAME_SIZE 32
void tfp_synth_host_name(unsigned host, char out[TFP_SYNTH_HOST_NAME_SIZE]);

#endif
