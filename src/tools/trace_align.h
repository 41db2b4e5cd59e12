/*
 * Hosts on one clock. Those whose files all say when the profile began are put on the
 * clock of the earliest; else each has its own, from 0.
 */
#ifndef TFP_TOOLS_TRACE_ALIGN_H
#define TFP_TOOLS_TRACE_ALIGN_H

#include "analysis/tracks.h"

#include <stdbool.h>
#include <stdint.h>

/* Shifts are kept within this, so that times of a damaged file stay within 2^62. */
#define TFP_TRACE_SHIFT_MAX (INT64_C(1) << 61)

struct tfp_host_clock {
	bool known; /* the host's file could be read */
	uint64_t profile_start_ns, event_count;
	int64_t begin_ps, end_ps; /* of its events */
	int64_t offset_ps;        /* found: add it to the host's times */
};

/* Of all hosts together. */
struct tfp_common_clock {
	bool aligned;
	uint64_t earliest_ns; /* since 1970, where they are aligned */
	bool any;             /* there are events; the earliest begin and the latest end: */
	__int128 begin_ps, end_ps;
};

static inline struct tfp_host_clock tfp_host_clock(const struct tfp_tracks *tracks)
{
	return (struct tfp_host_clock){true,
				       tracks->profile_start_ns,
				       tracks->event_count,
				       tracks->begin_ps,
				       tracks->end_ps,
				       0};
}

static inline int64_t tfp_clamp_ps(__int128 ps, int64_t low, int64_t high)
{
	return ps < low ? low : ps > high ? high : (int64_t)ps;
}

/* Fills in the offsets. */
struct tfp_common_clock tfp_align_hosts(struct tfp_host_clock *hosts, size_t count);

#endif
