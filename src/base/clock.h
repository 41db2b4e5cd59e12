/* SPDX-License-Identifier: Apache-2.0 */
/* The time, as numbers. */
#ifndef TFP_BASE_CLOCK_H
#define TFP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds that only go forward, from an arbitrary start. */
int64_t tfp_clock_monotonic_ns(void);

/* A file's time in nanoseconds since 1970. Seconds beyond what fits (the years 1684 and
 * 2255) count as the last that does: file systems keep what they are told. */
int64_t tfp_clock_file_ns(struct timespec t);

#endif
