/* SPDX-License-Identifier: Apache-2.0 */
#include "session/clock_align.h"

struct tfp_common_clock tfp_clock_align(struct tfp_host_clock *hosts, size_t count)
{
	struct tfp_common_clock all = {.aligned = true, .earliest_ns = UINT64_MAX};
	for (size_t h = 0; h < count; h++) {
		if (!hosts[h].known)
			continue;
		all.aligned &= hosts[h].start.profile_start_ns != 0;
		if (hosts[h].start.profile_start_ns < all.earliest_ns)
			all.earliest_ns = hosts[h].start.profile_start_ns;
	}
	for (size_t h = 0; h < count; h++) {
		struct tfp_host_clock *host = &hosts[h];
		if (!host->known)
			continue;
		if (all.aligned)
			host->offset_ps = tfp_clamp_ps(
				((__int128)host->start.profile_start_ns - all.earliest_ns) * 1000,
				0, TFP_CLOCK_SHIFT_MAX);
		if (!host->start.any)
			continue;
		__int128 begin = (__int128)host->start.begin_ps + host->offset_ps;
		if (all.aligned && (!all.any || begin < all.begin_ps))
			all.begin_ps = begin;
		all.any = true;
	}
	for (size_t h = 0; h < count; h++)
		hosts[h].shift_ps = all.aligned ? hosts[h].offset_ps - all.begin_ps
						: -(__int128)hosts[h].start.begin_ps;
	return all;
}
