/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: when each began, how long it took, and what its time went to.
 *
 *     for (size_t s = 0; s < steps->count; s++)
 *             for (size_t c = 0; c < steps->steps[s].core_count; c++)
 *                     ... tfp_step_core(steps, s, c)->type_ps[TFP_STEP_HOST_COMPUTE] ...
 *
 * All times are picoseconds. Of every core of a GPU or CPU step the sum of
 * type_ps is duration_ps, to the picosecond; of a TPU core the sum of tpu_ps is.
 * The steps of a capture come from capture_steps.h, those of several hosts from
 * steps_combine.h.
 */
#ifndef TFP_ANALYSIS_STEPS_STEPS_H
#define TFP_ANALYSIS_STEPS_STEPS_H

#include "analysis/steps/step_kinds.h"
#include "base/arena.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_step_copies {
	uint64_t count, time_ps, bytes; /* bytes: 0 where the file does not say */
};

/* The part of a step that a core did. GPU and CPU steps have one core, number
 * 1, that stands for the host and all of its devices; TPU cores are numbered as
 * their planes. */
struct tfp_core_step {
	uint32_t core; /* on its host */
	uint32_t host; /* which of a session's hosts; 0 in the steps of one */
	/* Where hosts are combined: the step's place among those of its host. */
	uint32_t host_step;
	bool is_tpu;
	int64_t begin_ps; /* by the capture's clock */
	int64_t duration_ps;
	uint64_t type_ps[TFP_STEP_EVENT_COUNT];
	uint64_t tpu_ps[TFP_TPU_PART_COUNT];
};

/* The core that stands for a host and its GPUs. */
#define TFP_HOST_CORE 1

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

void tfp_steps_init(struct tfp_steps *steps);
/* Accepts zeroed memory. */
void tfp_steps_release(struct tfp_steps *steps);

/* Adds a step without cores, to be followed by its cores. name is copied. NULL without
 * memory. */
struct tfp_step *tfp_steps_add(struct tfp_steps *steps, uint32_t number, struct tfp_str name);
/* Adds a core to the step that was added last. false without memory. */
bool tfp_steps_add_core(struct tfp_steps *steps, const struct tfp_core_step *core);
/* Copies the name to module. false without memory. */
bool tfp_steps_set_module(struct tfp_steps *steps, struct tfp_str name);
/* The heap memory of steps, itself included. */
uint64_t tfp_steps_bytes(const struct tfp_steps *steps);

/* Number of a core that is unique in a run: host * 1000 + core. */
uint64_t tfp_step_core_id(const struct tfp_core_step *core);

static inline const struct tfp_core_step *tfp_step_core(const struct tfp_steps *steps, size_t step,
							size_t core)
{
	return &steps->cores[steps->steps[step].first_core + core];
}

/* Sums of type_ps by category. */
void tfp_step_categories(const struct tfp_core_step *core,
			 uint64_t category_ps[TFP_STEP_CATEGORY_COUNT]);

/* The time of the core that took longest in the step. */
int64_t tfp_step_time_ps(const struct tfp_steps *steps, size_t step);

#endif
