/*
 * Captures of a program that never ran: a data-parallel training run over
 * several hosts and GPUs, with everything in it that a dashboard can show. For
 * demonstrations, tests and benchmarks; not a model of any machine.
 *
 *     struct tfp_synth_options o;
 *     tfp_synth_options_demo(&o);
 *     if (tfp_synth_write(&o, "/tmp/logs", &err) != TFP_OK) ...
 *
 * The same options give the same bytes. The story they tell: steps of even
 * length at first, then a stretch (from 45 % to 65 % of the steps) in which
 * every host waits for its input, one retracing of the training function at a
 * third of the way, and, with two hosts or more, one host whose input pipeline
 * is slower than a step throughout, so that the others wait for it in their
 * reductions. The first device of every host keeps a block of each of the first
 * steps for good, as a program does that collects its history.
 */
#ifndef TFP_SYNTH_SYNTH_H
#define TFP_SYNTH_SYNTH_H

#include "base/error.h"

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
	char run[128]; /* name of the run's folder */
};

/* One host, two devices, 30 steps of about 3000 events, uncompressed, seed 1. */
void tfp_synth_options_init(struct tfp_synth_options *o);
/* Four hosts with two devices each and 26 steps, less than 1.5 MB a file. */
void tfp_synth_options_demo(struct tfp_synth_options *o);

/* The name of a host, as in its file and its capture: "worker-00". */
#define TFP_SYNTH_HOST_NAME_SIZE 32
void tfp_synth_host_name(unsigned host, char out[TFP_SYNTH_HOST_NAME_SIZE]);

/* Writes logdir/plugins/profile/<run>/<host>.xplane.pb for every host, and
 * makes the folders that are missing. A file appears under its name only when
 * it is complete, and replaces an older one; files of hosts before the one
 * that failed stay. Errors name the file: TFP_BAD_QUERY for options out of
 * their range, TFP_IO, TFP_NO_MEMORY. Memory does not depend on steps, unless
 * grouped, which names every step. */
enum tfp_status tfp_synth_write(const struct tfp_synth_options *o, const char *logdir,
				struct tfp_error *err) TFP_CHECK;

#endif
