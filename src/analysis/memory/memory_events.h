/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What allocators did: every MemoryAllocation and MemoryDeallocation of the
 * host plane, allocator by allocator in columns, so that what was in use at
 * any time is a walk over numbers (memory_profile.md; sources: xprof's
 * xplane_to_memory_profile.cc, tsl's bfc_allocator.cc).
 *
 *     const struct tfp_memory *memory;
 *     tfp_memory_get(capture, pool, &memory, &err);
 *     const struct tfp_allocator *a = &memory->allocators[0];
 *     tfp_memory_moment_of_peak(memory, a, &moment);
 *     tfp_memory_alive(memory, a, &moment, TFP_MEMORY_STEP, &alive, &err);
 *     tfp_memory_rows_release(&alive);
 *
 * Times are picoseconds. tfp_memory_get and tfp_memory_on_clock_get differ in their zero.
 */
#ifndef TFP_ANALYSIS_MEMORY_MEMORY_EVENTS_H
#define TFP_ANALYSIS_MEMORY_MEMORY_EVENTS_H

#include "analysis/events/schema.h"
#include "base/arena.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

#define TFP_MEMORY_NONE UINT32_MAX

enum tfp_memory_activity { TFP_MEMORY_ALLOCATION = 1, TFP_MEMORY_DEALLOCATION = 2 };

/* The purpose of memory. Texts are any bytes and may be empty. */
struct tfp_memory_label {
	struct tfp_str op, region, data_type, shape;
	/* Place in the order of op, region, data type, shape, bytewise; equal
	 * only for equal texts. */
	uint32_t rank;
};

/* The allocator's own figures after an event. */
struct tfp_memory_state {
	int64_t stack_bytes, heap_bytes, free_bytes, peak_bytes;
	double fragmentation; /* 0 to 1 */
};

struct tfp_allocator {
	struct tfp_str id;
	/* The events, ascending by time, otherwise in the order of the file. */
	size_t count;
	const int64_t *time_ps;
	const int64_t *used_bytes; /* stack and heap after the event */
	const int64_t *allocation_bytes, *requested_bytes;
	const int64_t *address;
	const int64_t *step;     /* UpdateStepId's: also where no group is known */
	const uint32_t *label;   /* of a deallocation that of what it frees, if known */
	const uint32_t *next;    /* the next event with that address, or TFP_MEMORY_NONE */
	const uint32_t *line;    /* of the host plane */
	const uint32_t *event;   /* of the line */
	const uint8_t *activity; /* enum tfp_memory_activity */
	uint64_t allocations, deallocations;

	bool has_peak; /* false where memory in use was never 0 or more */
	/* The event with most memory in use. Of several the last in the file's
	 * order, which need not be the last in time. */
	uint32_t peak;
	int64_t peak_step;           /* step of the last in time of them */
	int64_t lifetime_peak_bytes; /* as the last event of the file has it */
	bool knows_free;             /* some event says that memory is free */
	uint64_t failed;             /* allocations that got nothing */
	uint32_t first_failed;       /* the first of them, or TFP_MEMORY_NONE */
};

struct tfp_memory {
	const struct tfp_plane *plane;    /* NULL: the capture has no host plane */
	struct tfp_allocator *allocators; /* ascending by id, bytewise */
	size_t allocator_count;
	struct tfp_memory_label *labels;
	size_t label_count;
	uint32_t unused_label, stack_label; /* of what no allocation stands for */
	int64_t origin_ps;  /* where the first line with events starts, by the capture's clock */
	bool clocks_differ; /* other lines with events start elsewhere */

	struct tfp_schema schema;
	void *columns[11]; /* behind the allocators' */
	struct tfp_arena arena;
};

/* Of a capture; computed once and kept with it. Times are as XProf has them: from the start of
 * the event's own line. */
enum tfp_status tfp_memory_get(struct tfp_capture *capture, struct tfp_pool *pool,
			       const struct tfp_memory **out, struct tfp_error *err) TFP_CHECK;
/* The same with times from origin_ps on, on which lines that start elsewhere agree. Where there are
 * none of those it is the same as the other. */
enum tfp_status tfp_memory_on_clock_get(struct tfp_capture *capture, struct tfp_pool *pool,
					const struct tfp_memory **out,
					struct tfp_error *err) TFP_CHECK;

/* Reads what the allocator said after event i, from the capture's bytes. */
void tfp_memory_state_at(const struct tfp_memory *memory, const struct tfp_allocator *a, size_t i,
			 struct tfp_memory_state *state);

/* ---- what is in use at a time ---- */

struct tfp_memory_moment {
	int64_t time_ps;
	size_t end; /* events before this one have happened */
	int64_t step;
	struct tfp_memory_state state;
};

/* As XProf has it: at the peak's time every event of that picosecond has happened, the
 * figures are those of the peak itself. false when the allocator has no peak. */
bool tfp_memory_moment_of_peak(const struct tfp_memory *memory, const struct tfp_allocator *a,
			       struct tfp_memory_moment *moment);
/* After the last event at or before time_ps; false when there is none. */
bool tfp_memory_moment_at(const struct tfp_memory *memory, const struct tfp_allocator *a,
			  int64_t time_ps, struct tfp_memory_moment *moment);

enum tfp_memory_scope {
	TFP_MEMORY_STEP, /* events of the moment's step alone count, as in XProf */
	TFP_MEMORY_ALL,  /* all events before the moment */
};

/* Equal allocations in use. */
struct tfp_memory_row {
	int64_t allocation_bytes, requested_bytes; /* of each */
	uint32_t label;
	uint32_t first; /* the earliest's event; TFP_MEMORY_NONE where none stands for it */
	uint64_t occurrences;
};

struct tfp_memory_rows {
	struct tfp_memory_row *rows; /* owned; largest first (MetadataComparator) */
	size_t count;
	int64_t unused_bytes; /* in use without an allocation in scope; a row where above 0 */
	int64_t stack_bytes;  /* a row where above 0 */
};

enum tfp_status tfp_memory_alive(const struct tfp_memory *memory, const struct tfp_allocator *a,
				 const struct tfp_memory_moment *moment,
				 enum tfp_memory_scope scope, struct tfp_memory_rows *out,
				 struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_memory_rows_release(struct tfp_memory_rows *rows);

/* ---- fewer events, the peaks kept ---- */

/* XProf's choice of at most max events for its timeline: boxes of equally many events,
 * of each the one with most memory in use, the earliest of equals. The caller frees the
 * indexes (tfp_free); NULL without memory. */
uint32_t *tfp_memory_sample(const struct tfp_allocator *a, size_t max, size_t *count);
/* For drawing from from_ps to to_ps: all events, or, where they are more than max, of
 * each of max / 4 equal stretches of time the first, lowest, highest and last by memory
 * in use; and the events next to the window. max: at least 4. As above. */
uint32_t *tfp_memory_outline(const struct tfp_allocator *a, int64_t from_ps, int64_t to_ps,
			     size_t max, size_t *count);

/* All that the allocator has; saturates. */
static inline int64_t tfp_memory_capacity_bytes(const struct tfp_memory_state *s)
{
	int64_t sum;
	if (__builtin_add_overflow(s->stack_bytes, s->heap_bytes, &sum) ||
	    __builtin_add_overflow(sum, s->free_bytes, &sum))
		return INT64_MAX;
	return sum;
}

/* Whether a row stands for memory that was in use without an allocation in scope. */
static inline bool tfp_memory_row_is_unused(const struct tfp_memory *memory,
					    const struct tfp_memory_row *row)
{
	return row->label == memory->unused_label;
}

#endif
