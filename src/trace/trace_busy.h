/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long anything ran on some tracks: moments at which several events run count
 * once, whether they nest, overlap or lie on different tracks.
 *
 *     ok = tfp_trace_busy(tracks, count, from_ps, to_ps, pool, &busy_ps);
 */
#ifndef TFP_TRACE_TRACE_BUSY_H
#define TFP_TRACE_TRACE_BUSY_H

#include "trace/trace.h"

/* Of from_ps..to_ps by the trace's time. Counters do not count. False without memory. */
bool tfp_trace_busy(const struct tfp_trace_track *tracks, size_t count, int64_t from_ps,
		    int64_t to_ps, struct tfp_pool *pool, int64_t *busy_ps);

#endif
