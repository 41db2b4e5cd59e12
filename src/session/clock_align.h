/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosts of a run on one clock, and its zero: the earliest event that is shown, on any
 * host, whichever hosts are chosen. Hosts whose files all say when the profile began are
 * put on the clock of the earliest; else each has its own, and its first event is at 0.
 */
#ifndef TFP_SESSION_CLOCK_ALIGN_H
#define TFP_SESSION_CLOCK_ALIGN_H

#include "analysis/timeline/tracks.h"

#include <stdbool.h>
#include <stdint.h>

/* Shifts are kept within this, so that times of a damaged file stay within 2^62. */
#define TFP_CLOCK_SHIFT_MAX (INT64_C(1) << 61)

struct tfp_host_clock {
	bool known; /* the host's file could be read */
	struct tfp_capture_start start;
	int64_t offset_ps; /* of its clock against the earliest host's */
	__int128 shift_ps; /* add it to the host's times to have them from the run's zero */
};

/* Of all hosts together. */
struct tfp_common_clock {
	bool aligned;
	uint64_t earliest_ns; /* since 1970, where they are aligned */
	bool any;             /* there are events; the earliest begins at: */
	__int128 begin_ps;    /* by the clock of the earliest host; 0 where they are not aligned */
};

static inline int64_t tfp_clamp_ps(__int128 ps, int64_t low, int64_t high)
{
	return ps < low ? low : ps > high ? high : (int64_t)ps;
}

/* Fills in offset_ps and shift_ps of each host. */
struct tfp_common_clock tfp_clock_align(struct tfp_host_clock *hosts, size_t count);

#endif
