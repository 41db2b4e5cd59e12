/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <time.h>

int64_t tfp_clock_monotonic_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t tfp_clock_file_ns(struct timespec t)
{
	const int64_t most = INT64_C(9000000000);
	int64_t seconds = t.tv_sec;
	if (seconds > most)
		seconds = most;
	else if (seconds < -most)
		seconds = -most;
	return seconds * 1000000000 + t.tv_nsec;
}
