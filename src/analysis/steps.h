/*
 * Steps: when each began, how long it took, and what its time went to
 * (op_stats.md 3 to 5; where TensorFlow 2.x and XProf differ,
 * tf2_and_xprof.md decides).
 *
 *     const struct tfp_steps *steps;
 *     tfp_steps_get(capture, pool, &steps, &err);
 *     for (size_t s = 0; s < steps->count; s++)
 *             for (size_t c = 0; c < steps->steps[s].core_count; c++)
 *                     ... tfp_step_core(steps, s, c)->type_ps[TFP_STEP_HOST_COMPUTE] ...
 *
 * All times are picoseconds. Of every core of a GPU or CPU step the sum of
 * type_ps is duration_ps, to the picosecond; of a TPU core the sum of tpu_ps is.
 * Only sums leave this file: lists of events live while a capture is read.
 */
#ifndef TFP_ANALYSIS_STEPS_H
#define TFP_ANALYSIS_STEPS_H

#include "base/arena.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

/* What a moment of a step is spent on (event_span.h). Where several things
 * happen at once, the greater one counts. */
enum tfp_step_event {
	TFP_STEP_UNKNOWN,
	TFP_STEP_HOST_COMPUTE,
	TFP_STEP_HOST_COMPILE,
	TFP_STEP_HOST_TO_HOST,
	TFP_STEP_HOST_TO_DEVICE,
	TFP_STEP_HOST_PREPARE, /* launches kernels */
	TFP_STEP_DEVICE_COLLECTIVES,
	TFP_STEP_HOST_WAIT_INPUT,
	TFP_STEP_DEVICE_TO_DEVICE,
	TFP_STEP_DEVICE_TO_HOST,
	TFP_STEP_DEVICE_COMPUTE_32,
	TFP_STEP_DEVICE_COMPUTE_16,
	TFP_STEP_EVENT_COUNT
};

/* What the pages show, in the order of the pod viewer's ids 1 to 9. */
enum tfp_step_category {
	TFP_STEP_DEVICE_COMPUTE,
	TFP_STEP_BETWEEN_DEVICES,
	TFP_STEP_COLLECTIVES,
	TFP_STEP_ON_HOST,
	TFP_STEP_KERNEL_LAUNCH,
	TFP_STEP_INPUT,
	TFP_STEP_OUTPUT,
	TFP_STEP_COMPILATION,
	TFP_STEP_ALL_OTHERS,
	TFP_STEP_CATEGORY_COUNT
};

/* What a TPU core's time goes to, by the categories of its HLO ops. */
enum tfp_tpu_part {
	TFP_TPU_COMPUTE,
	TFP_TPU_INFEED,
	TFP_TPU_OUTFEED,
	TFP_TPU_HOST_TRANSFER,
	TFP_TPU_ALL_REDUCE,
	TFP_TPU_IDLE,
	TFP_TPU_PART_COUNT
};

enum tfp_step_copy { TFP_COPY_H2D, TFP_COPY_D2H, TFP_COPY_D2D, TFP_COPY_COUNT };

struct tfp_step_copies {
	uint64_t count, time_ps, bytes; /* bytes: 0 where the file does not say */
};

/* The part of a step that a core did. GPU and CPU steps have one core, number
 * 1, that stands for the host and all of its devices; TPU cores are numbered as
 * their planes. */
struct tfp_core_step {
	uint32_t core; /* on its host */
	uint32_t host; /* which of a session's hosts; 0 in the steps of one */
	bool is_tpu;
	int64_t begin_ps; /* by the capture's clock */
	int64_t duration_ps;
	uint64_t type_ps[TFP_STEP_EVENT_COUNT];
	uint64_t tpu_ps[TFP_TPU_PART_COUNT];
};

struct tfp_step {
	uint32_t number;                 /* the group's; 0 to n-1 where hosts are combined */
	struct tfp_str name;             /* "train 12", or "" */
	uint32_t first_core, core_count; /* in cores */
	struct tfp_step_copies copies[TFP_COPY_COUNT];
};

struct tfp_steps {
	struct tfp_step *steps; /* ascending by number */
	size_t count, room;
	struct tfp_core_step *cores; /* step after step */
	size_t core_count, core_room;
	/* Of all grouped device events, in steps or not. */
	uint64_t compute_16_ps, compute_32_ps;
	bool has_device;         /* the capture has a GPU or TPU plane */
	bool has_groups;         /* some event belongs to a group */
	bool absent;             /* could not be read: takes no part where hosts are combined */
	bool intersection_empty; /* hosts have steps, but none that they share */
	/* Where steps are executions of an XLA module: which. "" where they are marked. */
	struct tfp_str module;
	/* Where there are no marked steps: how many executions could stand in for them. */
	uint32_t module_steps;
	struct tfp_arena arena; /* names */
};

/* Of a capture; computed once and kept with it. */
enum tfp_status tfp_steps_get(struct tfp_capture *capture, struct tfp_pool *pool,
			      const struct tfp_steps **out, struct tfp_error *err) TFP_CHECK;

/* The same with executions of an XLA module as steps, 0 to n-1, each up to the next one's
 * begin (executions.h). What begins in that time on a device or on the host belongs to
 * the step, as far as it lies in it. None where no module repeats. */
enum tfp_status tfp_steps_get_by_module(struct tfp_capture *capture, struct tfp_pool *pool,
					const struct tfp_steps **out,
					struct tfp_error *err) TFP_CHECK;

void tfp_steps_init(struct tfp_steps *steps);
/* Accepts zeroed memory. */
void tfp_steps_release(struct tfp_steps *steps);
/* to is initialised by the caller. false without memory. */
bool tfp_steps_copy(struct tfp_steps *to, const struct tfp_steps *from);

/* The steps that all hosts have, aligned so that they overlap most
 * (step_intersection.cc): the chief is the host whose steps take least time in all;
 * every other host is shifted against it. One host: a copy, numbers kept. Hosts
 * without an accelerator are left out when another has one, and hosts whose steps are
 * executions of another module than the first one's. host numbers are places in hosts. out is
 * initialised by the caller. */
enum tfp_status tfp_steps_combine(const struct tfp_steps *hosts, size_t host_count,
				  struct tfp_steps *out, struct tfp_error *err) TFP_CHECK;

/* Number of a core that is unique in a run: host * 1000 + core. */
uint64_t tfp_step_core_id(const struct tfp_core_step *core);

static inline const struct tfp_core_step *tfp_step_core(const struct tfp_steps *steps, size_t step,
							size_t core)
{
	return &steps->cores[steps->steps[step].first_core + core];
}

/* HOST_TO_HOST belongs to none of the peers' categories; here it counts as all others,
 * so that the categories add up to the step. */
enum tfp_step_category tfp_step_category_of(enum tfp_step_event type);
/* Sums of type_ps by category. */
void tfp_step_categories(const struct tfp_core_step *core,
			 uint64_t category_ps[TFP_STEP_CATEGORY_COUNT]);
/* "Device compute", ... */
const char *tfp_step_category_name(enum tfp_step_category category);

/* Longest of the step's cores, and the span from first begin to last end. */
int64_t tfp_step_time_ps(const struct tfp_steps *steps, size_t step);

/* ---- building blocks, for steps.c and its tests ---- */

struct tfp_step_span {
	int64_t begin_ps, end_ps; /* end >= begin */
	uint32_t group;
	uint8_t type; /* enum tfp_step_event */
};

/* What the time between begin and end is spent on, given spans of one group in any
 * order, which may overlap (ToNonOverlappedEvents). Adds to in_step the time within
 * [step_begin, step_end] by type, to everywhere all time, and sets seen for
 * every type that had a segment, if only one of no length. The peers' way with spans of no
 * length is kept: such a span's end comes before its beginning, so its type
 * goes on until something greater ends or another span of its type does. spans are
 * reordered. false without memory. */
bool tfp_step_sweep(struct tfp_step_span *spans, size_t count, int64_t step_begin, int64_t step_end,
		    uint64_t in_step[TFP_STEP_EVENT_COUNT],
		    uint64_t everywhere[TFP_STEP_EVENT_COUNT], bool seen[TFP_STEP_EVENT_COUNT]);

#endif
