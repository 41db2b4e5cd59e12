/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports on GPU kernels (kernel_stats.md): how often each ran, for how long,
 * with which launch dimensions, for which op, and whether on tensor cores.
 */
#ifndef TFP_ANALYSIS_OPS_KERNELS_H
#define TFP_ANALYSIS_OPS_KERNELS_H

#include "analysis/events/memo.h"
#include "analysis/ops/gpu_events.h"
#include "base/arena.h"
#include "base/str_map.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_kernel {
	struct tfp_str name, op_name, op_type; /* op parts "" when nothing names an op */
	bool op_is_tensor_core_eligible, uses_tensor_core;
	uint32_t registers, static_shared_bytes, dynamic_shared_bytes;
	uint32_t block[3], grid[3];
	float occupancy_percent; /* of the first event; not part of what is one kernel */
	uint64_t occurrences, total_ns, min_ns, max_ns;
	/* Of all occurrences. has_no_cost: of some nobody knows it, or the instruction's cost is
	 * shared with other kernels. */
	double flops, bytes;
	bool has_no_cost;
	uint32_t host; /* which of a session's hosts; 0 in the report of one */
};

struct tfp_kernels {
	struct tfp_kernel *kernels; /* by total_ns descending, ties by everything else
				     ascending */
	size_t count, room;
	struct tfp_str_map by_key;
	struct tfp_arena arena;
};

/* An empty report. It is made in three steps: add events, merge the reports of planes, sort. So
 * device_ops.c, which reads the same events, reads them once for both. */
void tfp_kernels_init(struct tfp_kernels *kernels);
/* Accepts zeroed memory. */
void tfp_kernels_release(struct tfp_kernels *kernels);
#define TFP_NO_KERNEL UINT32_MAX

/* Finds the kernel of an event, or adds it without occurrences. Sets its place in the list,
 * which holds until the list is sorted, or TFP_NO_KERNEL where tfp_kernel_of_event is false.
 * memo is for these kernels alone. false without memory. */
bool tfp_kernels_find(struct tfp_kernels *kernels, struct tfp_memo *memo,
		      const struct tfp_gpu_event *event, uint32_t *index);
/* Counts an event of a kernel that was found. */
void tfp_kernels_count(struct tfp_kernels *kernels, uint32_t index, uint64_t ns);
/* Adds what that event cost. */
void tfp_kernels_add_cost(struct tfp_kernels *kernels, uint32_t index, double flops, double bytes);
/* Adds kernels, both not sorted. false without memory. */
bool tfp_kernels_merge(struct tfp_kernels *to, const struct tfp_kernels *from);
/* Puts them in order; by_key is empty then, and nothing can be added. */
void tfp_kernels_sort(struct tfp_kernels *kernels);

/* The order of kernels, for qsort; total_ns first. */
int tfp_kernel_compare(const void *a, const void *b);

/* Adds the kernels of a host to those of other hosts, where they stay apart; to holds nothing
 * else, and is sorted when all are there. Texts are kept once. false without memory. */
bool tfp_kernels_add_host(struct tfp_kernels *to, const struct tfp_kernels *from, uint32_t host);

/* The kernel that one event shows; false when it is no kernel, or shorter than 1 ns. Texts are
 * the capture's; counts are those of the one event. */
bool tfp_kernel_of_event(const struct tfp_gpu_event *event, struct tfp_kernel *kernel);

/* Whether a kernel of that name runs on tensor cores, and whether an op of that
 * name could (tables of kernel_stats_utils.cc, in kernel_stats.md). */
bool tfp_kernel_uses_tensor_core(struct tfp_str kernel_name);
bool tfp_op_is_tensor_core_eligible(struct tfp_str op_name);

#endif
