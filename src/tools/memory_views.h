/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the memory profile (docs/tools/memory_profile.md). Each function initialises the
 * table, which the caller releases in any case, and reads from the query what the view takes.
 */
#ifndef TFP_TOOLS_MEMORY_VIEWS_H
#define TFP_TOOLS_MEMORY_VIEWS_H

#include "analysis/memory/memory_events.h"
#include "base/error.h"
#include "base/pool.h"
#include "session/query.h"
#include "store/capture.h"
#include "tools/data_table.h"

/* Makes times of an allocator's events, which count from some moment, the run's. */
struct tfp_memory_clock {
	__int128 shift_ps;
};

/* A row for each allocator. */
enum tfp_status tfp_memory_summary_table(struct tfp_table *t, const struct tfp_capture *capture,
					 const struct tfp_memory *memory,
					 struct tfp_memory_clock clock,
					 struct tfp_error *err) TFP_CHECK;
/* What an allocator had in use over time, in no more points than points= says. The table is empty
 * without an allocator (NULL), here and below. */
enum tfp_status tfp_memory_timeline_table(struct tfp_table *t, const struct tfp_memory *memory,
					  const struct tfp_allocator *a,
					  struct tfp_memory_clock clock,
					  const struct tfp_query *query,
					  struct tfp_error *err) TFP_CHECK;
/* What for, at one moment. */
enum tfp_status tfp_memory_breakdown_table(struct tfp_table *t, const struct tfp_memory *memory,
					   const struct tfp_allocator *a,
					   struct tfp_memory_clock clock,
					   const struct tfp_query *query,
					   struct tfp_error *err) TFP_CHECK;
/* The capture's steps. host_shift_ps makes its times the run's. */
enum tfp_status tfp_memory_steps_table(struct tfp_table *t, struct tfp_capture *capture,
				       __int128 host_shift_ps, struct tfp_pool *pool,
				       struct tfp_error *err) TFP_CHECK;

#endif
