/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What devices can do at most: operations a second, and bytes a second of each memory.
 * The one table of facts about devices; docs/reference/device_peaks.md has their sources.
 */
#ifndef TFP_ANALYSIS_EVENTS_DEVICE_PEAKS_H
#define TFP_ANALYSIS_EVENTS_DEVICE_PEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In XProf's order (op_metrics.proto: MemBwType). */
enum tfp_peak {
	TFP_PEAK_HBM, /* read and written together */
	TFP_PEAK_SRAM_READ,
	TFP_PEAK_SRAM_WRITE, /* on GPUs both are shared memory and first cache, together */
	TFP_PEAK_CMEM_READ,
	TFP_PEAK_CMEM_WRITE,
	TFP_PEAK_VMEM_READ,
	TFP_PEAK_VMEM_WRITE,
	TFP_PEAK_COUNT,
};

/* Of one device (of a TPU: one core as the profiler counts them). 0 is what nobody knows. */
struct tfp_peaks {
	double teraflops;
	double gigabytes_per_second[TFP_PEAK_COUNT];
	bool has_merged_vmem, has_megacore;
	char source[160]; /* a phrase: "the capture" */
};

/* Operations of an Nvidia multiprocessor in a cycle, the most of CUDA and tensor cores at 32
 * and 16 bits, by compute capability. Unknown ones count as the next older. */
double tfp_nvidia_flops_per_cycle(int64_t major, int64_t minor);
/* Bytes of its shared memory in a cycle. */
double tfp_nvidia_shared_bytes_per_cycle(int64_t major);
/* The same of an AMD compute unit, by the name of the chip in a model ("AMD GPU - gfx942");
 * false, with zeroes, for chips that are not in the table. */
bool tfp_amd_per_cycle(const char *model, double *flops, double *shared_bytes);
/* A TPU core by its type ("TPU v4"), for captures that do not say; false for unknown ones. */
bool tfp_tpu_peaks(const char *type, double *teraflops, double *hbm_gigabytes_per_second);

#endif
