/* The time, as numbers. */
#ifndef TFP_BASE_CLOCK_H
#define TFP_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds that only go forward, from an arbitrary start. */
int64_t tfp_clock_monotonic_ns(void);

#endif
