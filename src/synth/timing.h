/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When everything in a step happens on one host: the clockwork behind the
 * events. Steps are asked for in order, because a step starts where the one
 * before it ended; apart from that every duration is a function of seed, host,
 * step and position, so that the same clock reset gives the same steps again.
 * All times are ns since the start of the profile.
 *
 *     tfp_synth_clock_init(&c, o, m, host, err)
 *     for (s = 0; s < o->steps; s++)
 *             tfp_synth_clock_step(&c, s);   then read c.step
 *     tfp_synth_clock_reset(&c);
 *     tfp_synth_clock_release(&c);
 */
#ifndef TFP_SYNTH_TIMING_H
#define TFP_SYNTH_TIMING_H

#include "base/error.h"
#include "synth/model.h"
#include "synth/options.h"

#include <stdbool.h>
#include <stdint.h>

/* Elements of the input pipeline that are ready ahead of the step. */
#define TFP_SYNTH_PREFETCHED  2
#define TFP_SYNTH_BUCKETS_MAX 8

struct tfp_synth_span {
	int64_t start, ns;
};

/* A call of the driver and what it started on the device. */
struct tfp_synth_launch {
	struct tfp_synth_span call, work;
};

struct tfp_synth_device_step {
	struct tfp_synth_span *ops;    /* on the host, by position in the model's order */
	struct tfp_synth_launch *uses; /* of all ops, in the same order */
	struct tfp_synth_launch input; /* copy to the device */
	struct tfp_synth_launch loss;  /* copy to the host */
	int64_t end;                   /* of all its work */
};

struct tfp_synth_step {
	unsigned number;
	int64_t start;
	int64_t trace_ns;    /* spent on retracing the function, or 0 */
	int64_t function;    /* when the traced function is called */
	int64_t get_next;    /* the step asks for its input */
	int64_t input_ready; /* and has it */
	int64_t devices_end;
	int64_t end; /* of the step on the Python thread */
	/* An element that the input pipeline makes meanwhile; none if ns is 0. */
	struct tfp_synth_span produced;
	unsigned produced_element;
	struct tfp_synth_device_step *devices;
};

/* Microseconds that the Python thread needs after the devices. */
#define TFP_SYNTH_TAIL_NS INT64_C(560000)

struct tfp_synth_clock {
	const struct tfp_synth_options *o;
	const struct tfp_synth_model *m;
	unsigned host;
	uint64_t key;
	struct tfp_synth_step step;
	/* The same on all hosts, but for rounding: */
	int64_t common_start;  /* of the next step */
	int64_t *produced_end; /* [host][element % (PREFETCHED + 1)] */
	int64_t nominal_end;   /* of a device's work after its input is ready */
	int64_t nominal_reduce[TFP_SYNTH_BUCKETS_MAX];
	int64_t reduce_ready[TFP_SYNTH_BUCKETS_MAX]; /* this step, slowest host */
	struct tfp_synth_span *op_memory;
	struct tfp_synth_launch *use_memory;
};

/* o and m stay the caller's and must outlive the clock. */
enum tfp_status tfp_synth_clock_init(struct tfp_synth_clock *c, const struct tfp_synth_options *o,
				     const struct tfp_synth_model *m, unsigned host,
				     struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_synth_clock_release(struct tfp_synth_clock *c);
/* Back to before step 0. */
void tfp_synth_clock_reset(struct tfp_synth_clock *c);
/* Works out step number, the next in order, into c->step. */
void tfp_synth_clock_step(struct tfp_synth_clock *c, unsigned number);

#endif
