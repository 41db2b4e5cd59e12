/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What allocators had in use, as a counter for each of them beside the events: bytes after each
 * allocation and deallocation (memory_events.h). The counter of an allocator whose id names a
 * device (`GPU_0_bfc`, `gpu_async_0`; a number alone is a TPU's) lies with that device's lines if
 * the capture has any, all others with the host's.
 *
 *     struct tfp_derived_memory memory;
 *     tfp_derived_memory_get(capture, pool, &memory, &err);
 *     for each plane
 *             tfp_derive_memory(&out, &memory, plane, &err);
 *     tfp_derived_memory_release(&memory);
 */
#ifndef TFP_ANALYSIS_TIMELINE_DERIVED_MEMORY_H
#define TFP_ANALYSIS_TIMELINE_DERIVED_MEMORY_H

#include "analysis/memory/memory_events.h"
#include "analysis/timeline/derived_plane.h"

/* What stands before an allocator's id in the name that its counter is shown by. */
#define TFP_DERIVED_MEMORY_PREFIX "Memory "

struct tfp_derived_memory {
	const struct tfp_memory *memory; /* by origin_ps */
	/* By the capture's clock. No sample lies before it: what happened earlier is one sample
	 * of what was in use at this time, because no timeline begins before its events. */
	int64_t begin_ps;
	uint32_t *first; /* owned; by plane: 1 + its first allocator, or 0. NULL: no counters */
	uint32_t *next;  /* owned; by allocator: 1 + the next of its plane, or 0 */
};

/* A capture without events on its timeline has no counters either. After a failure out can be
 * released, too. */
enum tfp_status tfp_derived_memory_get(struct tfp_capture *capture, struct tfp_pool *pool,
				       struct tfp_derived_memory *out,
				       struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_derived_memory_release(struct tfp_derived_memory *memory);

/* Adds one line with the counters of a plane of the capture, if it has any. */
enum tfp_status tfp_derive_memory(struct tfp_derived_plane *out,
				  const struct tfp_derived_memory *memory, size_t plane,
				  struct tfp_error *err) TFP_CHECK;

#endif
