/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks share: the bare scan that all is compared with, the best of several
 * runs, and the peak of the heap. */
#ifndef TFP_TESTS_BENCH_MEASURE_H
#define TFP_TESTS_BENCH_MEASURE_H

/* Reads every varint of every plane, line, event and stat of a capture and stores
 * nothing, so that no reader can be faster by much. Returns the bytes of the file. */
double bench_bare_scan(const char *path);
double bench_best_ms(void (*what)(void *context), void *context, int runs);
/* Most bytes on the heap at a time, beyond those from before. */
double bench_peak_bytes(void (*what)(void *context), void *context);

#endif
