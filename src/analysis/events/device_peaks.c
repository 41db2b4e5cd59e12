/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/events/device_peaks.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

double tfp_nvidia_flops_per_cycle(int64_t major, int64_t minor)
{
	/* XProf, cuda_type_utils.cc */
	static const struct {
		int major, minor;
		double flops;
	} table[] = {{10, 0, 8192}, {9, 0, 4096}, {8, 9, 1024}, {8, 6, 1024},
		     {8, 0, 2048},  {7, 5, 1024}, {7, 0, 1024}, {6, 1, 256},
		     {6, 0, 256},   {5, 0, 256},  {3, 0, 384},  {2, 0, 64}};
	for (size_t i = 0; i < COUNT(table); i++) {
		if (major > table[i].major || (major == table[i].major && minor >= table[i].minor))
			return table[i].flops;
	}
	return table[COUNT(table) - 1].flops;
}

double tfp_nvidia_shared_bytes_per_cycle(int64_t major)
{
	return major <= 2 ? 64 : 256;
}

bool tfp_amd_per_cycle(const char *model, double *flops, double *shared_bytes)
{
	/* XProf, rocm_type_utils.cc */
	static const struct {
		const char *name;
		double flops, shared_bytes;
	} table[] = {{"gfx908", 1024, 128},
		     {"gfx90a", 1024, 128},
		     {"gfx942", 2048, 128},
		     {"gfx950", 4096, 256}};
	*flops = *shared_bytes = 0;
	for (size_t i = 0; i < COUNT(table); i++) {
		if (strstr(model, table[i].name)) {
			*flops = table[i].flops;
			*shared_bytes = table[i].shared_bytes;
		}
	}
	return *flops > 0;
}

bool tfp_tpu_peaks(const char *type, double *teraflops, double *hbm_gigabytes_per_second)
{
	/* Google Cloud's documentation gives them for a chip. Chips of v2, v3 and 7x have two
	 * cores, of v4 and v5 two that work as one. */
	static const struct {
		const char *type;
		double teraflops, hbm;
	} table[] = {
		{"TPU v2", 23, 350},       {"TPU v3", 61.5, 450}, {"TPU v4", 275, 1200},
		{"TPU v5 Lite", 197, 819}, {"TPU v5", 459, 2765}, {"TPU v6 Lite", 918, 1640},
	};
	for (size_t i = 0; i < COUNT(table); i++) {
		if (strcmp(type, table[i].type) == 0) {
			*teraflops = table[i].teraflops;
			*hbm_gigabytes_per_second = table[i].hbm;
			return true;
		}
	}
	return false;
}
