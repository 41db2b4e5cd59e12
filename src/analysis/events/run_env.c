/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/events/run_env.h"

#include "analysis/events/schema.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum {
	VENDOR,
	DEVICE_NAME,
	CC_MAJOR,
	CC_MINOR,
	CLOCK_RATE,
	CORE_COUNT,
	MEMORY_BANDWIDTH,
	TYPE_STRING,
	PEAK_TERAFLOPS,
	PEAK_HBM,
	PEAK_SRAM_READ,
	PEAK_SRAM_WRITE,
	PEAK_CMEM_READ,
	PEAK_CMEM_WRITE,
	PEAK_VMEM_READ,
	PEAK_VMEM_WRITE,
	HAS_MERGED_VMEM,
	HAS_MEGACORE,
	WANTED
};

static const char *const names[WANTED] = {
	[VENDOR] = "device_vendor",
	[DEVICE_NAME] = "gpu_device_name",
	[CC_MAJOR] = "compute_cap_major",
	[CC_MINOR] = "compute_cap_minor",
	[CLOCK_RATE] = "clock_rate",
	[CORE_COUNT] = "core_count",
	[MEMORY_BANDWIDTH] = "memory_bandwidth",
	[TYPE_STRING] = "device_type_string",
	[PEAK_TERAFLOPS] = "peak_teraflops_per_second",
	[PEAK_HBM] = "peak_hbm_bw_gigabytes_per_second",
	[PEAK_SRAM_READ] = "peak_sram_rd_bw_gigabytes_per_second",
	[PEAK_SRAM_WRITE] = "peak_sram_wr_bw_gigabytes_per_second",
	[PEAK_CMEM_READ] = "peak_cmem_rd_bw_gigabytes_per_second",
	[PEAK_CMEM_WRITE] = "peak_cmem_wr_bw_gigabytes_per_second",
	[PEAK_VMEM_READ] = "peak_vmem_rd_bw_gigabytes_per_second",
	[PEAK_VMEM_WRITE] = "peak_vmem_wr_bw_gigabytes_per_second",
	[HAS_MERGED_VMEM] = "has_merged_vmem",
	[HAS_MEGACORE] = "has_megacore",
};

/* The stats of a device plane that say what it is. */
struct caps {
	struct tfp_str vendor, device_name, type_string;
	int64_t major, minor;
	double clock_khz, cores, memory_bytes_per_second;
	struct tfp_peaks peaks; /* as the file has them */
};

static void take(struct caps *caps, int name, const struct tfp_plane *plane,
		 const struct tfp_stat *stat)
{
	int64_t number;
	switch (name) {
	case VENDOR:
		tfp_stat_text(plane, stat, &caps->vendor);
		break;
	case DEVICE_NAME:
		tfp_stat_text(plane, stat, &caps->device_name);
		break;
	case TYPE_STRING:
		tfp_stat_text(plane, stat, &caps->type_string);
		break;
	case CC_MAJOR:
		tfp_stat_int(stat, &caps->major);
		break;
	case CC_MINOR:
		tfp_stat_int(stat, &caps->minor);
		break;
	case CLOCK_RATE:
		tfp_stat_double(stat, &caps->clock_khz);
		break;
	case CORE_COUNT:
		tfp_stat_double(stat, &caps->cores);
		break;
	case MEMORY_BANDWIDTH:
		tfp_stat_double(stat, &caps->memory_bytes_per_second);
		break;
	case PEAK_TERAFLOPS:
		tfp_stat_double(stat, &caps->peaks.teraflops);
		break;
	case PEAK_HBM:
	case PEAK_SRAM_READ:
	case PEAK_SRAM_WRITE:
	case PEAK_CMEM_READ:
	case PEAK_CMEM_WRITE:
	case PEAK_VMEM_READ:
	case PEAK_VMEM_WRITE:
		tfp_stat_double(stat, &caps->peaks.gigabytes_per_second[name - PEAK_HBM]);
		break;
	case HAS_MERGED_VMEM:
		caps->peaks.has_merged_vmem = tfp_stat_int(stat, &number) && number;
		break;
	case HAS_MEGACORE:
		caps->peaks.has_megacore = tfp_stat_int(stat, &number) && number;
		break;
	default:
		break;
	}
}

static struct caps read_caps(const struct tfp_plane *plane)
{
	const struct tfp_str none = {"", 0};
	struct caps caps = {.vendor = none, .device_name = none, .type_string = none};
	struct tfp_stat_iter it = tfp_plane_stats(plane);
	struct tfp_stat stat;
	while (tfp_stat_next(&it, &stat)) {
		uint32_t index = tfp_id_map_find(&plane->stat_meta_ids, stat.metadata_id);
		for (int n = 0; n < WANTED; n++) {
			if (tfp_str_equal(plane->stat_metas[index].name, names[n]))
				take(&caps, n, plane, &stat);
		}
	}
	return caps;
}

static const char *nvidia_model(const struct caps *caps)
{
	switch (caps->major) {
	case 2:
		return "Nvidia GPU (Fermi)";
	case 3:
		return "Nvidia GPU (Kepler)";
	case 5:
		return "Nvidia GPU (Maxwell)";
	case 6:
		return "Nvidia GPU (Pascal)";
	case 7:
		return caps->minor < 5 ? "Nvidia GPU (Volta)" : "Nvidia GPU (Turing)";
	case 8:
		return caps->minor < 9 ? "Nvidia GPU (Ampere)" : "Nvidia GPU (Ada Lovelace)";
	case 9:
		return "Nvidia GPU (Hopper)";
	case 10:
		return "Nvidia GPU (Blackwell)";
	default:
		return "Nvidia GPU";
	}
}

static size_t hex_digits(const char *p, size_t n)
{
	size_t i = 0;
	while (i < n && ((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
		i++;
	return i;
}

static void amd_model(const struct caps *caps, char *out, size_t size)
{
	struct tfp_str name = caps->device_name;
	if (tfp_str_starts(name, "gfx")) {
		size_t digits = hex_digits(name.data + 3, name.size - 3);
		if (digits >= 3 && digits < 16) {
			snprintf(out, size, "AMD GPU - gfx%.*s", (int)digits, name.data + 3);
			return;
		}
	}
	if (caps->major == 9 && caps->minor == 4)
		snprintf(out, size, "AMD GPU - gfx942");
	else if (caps->major == 9 && caps->minor == 5)
		snprintf(out, size, "AMD GPU - gfx950");
	else if (caps->major == 9)
		snprintf(out, size, "AMD GPU - gfx-9XX series");
	else if (caps->major == 10)
		snprintf(out, size, "AMD GPU - gfx-10XX series");
	else if (caps->major == 11)
		snprintf(out, size, "AMD GPU - gfx-11XX series");
	else
		snprintf(out, size, "AMD GPU");
}

static void gpu_model(const struct caps *caps, char *out, size_t size)
{
	if (tfp_str_equal(caps->vendor, "AMD"))
		amd_model(caps, out, size);
	else if (tfp_str_equal(caps->vendor, "Nvidia"))
		snprintf(out, size, "%s", nvidia_model(caps));
	else if (caps->vendor.size == 0 && caps->major > 0)
		/* Files before 2021 name no vendor; there was only one then. */
		snprintf(out, size, "%s", nvidia_model(caps));
	else
		snprintf(out, size, "GPU");
}

static void gpu_peaks(const struct caps *caps, const char *model, struct tfp_peaks *peaks)
{
	double clock_ghz = caps->clock_khz / 1e6, flops = 0, shared_bytes = 0;
	bool is_amd = tfp_str_equal(caps->vendor, "AMD"), known = true;
	const double *given = caps->peaks.gigabytes_per_second;
	if (is_amd) {
		known = tfp_amd_per_cycle(model, &flops, &shared_bytes);
	} else {
		flops = tfp_nvidia_flops_per_cycle(caps->major, caps->minor);
		shared_bytes = tfp_nvidia_shared_bytes_per_cycle(caps->major);
	}
	*peaks = (struct tfp_peaks){.teraflops = caps->peaks.teraflops};
	if (caps->peaks.teraflops > 0)
		snprintf(peaks->source, sizeof(peaks->source), "the capture");
	else if (!known)
		snprintf(peaks->source, sizeof(peaks->source),
			 "no table has this chip; memory: the capture");
	else
		snprintf(peaks->source, sizeof(peaks->source),
			 "cores and clock of the capture, %g operations a core and cycle", flops);
	if (caps->peaks.teraflops <= 0)
		peaks->teraflops = caps->cores * clock_ghz * flops / 1000;
	double shared = caps->cores * shared_bytes * clock_ghz;
	peaks->gigabytes_per_second[TFP_PEAK_HBM] = caps->memory_bytes_per_second / 1e9;
	for (int p = TFP_PEAK_SRAM_READ; p <= TFP_PEAK_SRAM_WRITE; p++)
		peaks->gigabytes_per_second[p] = given[p] > 0 ? given[p] : shared;
}

static void tpu_peaks(const struct caps *caps, const char *type, struct tfp_peaks *peaks)
{
	double *hbm = &peaks->gigabytes_per_second[TFP_PEAK_HBM];
	*peaks = caps->peaks;
	snprintf(peaks->source, sizeof(peaks->source), "the capture");
	if (peaks->teraflops > 0 || *hbm > 0)
		return;
	bool known = tfp_tpu_peaks(type, &peaks->teraflops, hbm);
	snprintf(peaks->source, sizeof(peaks->source), "%s",
		 known ? "Google Cloud's documentation of this TPU"
		       : "the capture does not say, no table has this TPU");
}

/* A text for a fixed array: UTF-8, cut between characters. */
static void put_text(char *out, size_t size, struct tfp_str s)
{
	size_t n = tfp_utf8_prefix(s.data, s.size < size ? s.size : size - 1);
	if (n)
		memcpy(out, s.data, n);
	out[n] = '\0';
}

static void model_of(enum tfp_plane_kind kind, const struct caps *caps, char *out, size_t size)
{
	if (kind == TFP_PLANE_GPU)
		gpu_model(caps, out, size);
	else if (kind == TFP_PLANE_TPU && caps->type_string.size)
		put_text(out, size, caps->type_string);
	else
		snprintf(out, size, "%s", kind == TFP_PLANE_TPU ? "TPU" : "");
}

void tfp_device_type(const struct tfp_plane *plane, char *out, size_t size)
{
	struct caps caps = read_caps(plane);
	model_of(tfp_plane_kind(plane->name), &caps, out, size);
}

void tfp_run_env(const struct tfp_capture *capture, struct tfp_run_env *env)
{
	const struct tfp_plane *first[2] = {NULL, NULL};
	uint32_t count[2] = {0, 0};
	*env = (struct tfp_run_env){.hardware = TFP_HW_CPU, .device_type = "CPU"};
	put_text(env->hostname, sizeof(env->hostname),
		 capture->hostname_count ? capture->hostnames[0]
					 : (struct tfp_str){"localhost", 9});
	for (size_t p = 0; p < capture->plane_count; p++) {
		enum tfp_plane_kind kind = tfp_plane_kind(capture->planes[p].name);
		if (kind != TFP_PLANE_GPU && kind != TFP_PLANE_TPU)
			continue;
		size_t which = kind == TFP_PLANE_GPU;
		if (!first[which])
			first[which] = &capture->planes[p];
		count[which]++;
	}
	if (first[0]) {
		struct caps caps = read_caps(first[0]);
		env->hardware = TFP_HW_TPU;
		env->device_count = count[0];
		model_of(TFP_PLANE_TPU, &caps, env->device_type, sizeof(env->device_type));
		tpu_peaks(&caps, env->device_type, &env->peaks);
	} else if (first[1]) {
		struct caps caps = read_caps(first[1]);
		env->hardware = TFP_HW_GPU;
		env->device_count = count[1];
		model_of(TFP_PLANE_GPU, &caps, env->device_type, sizeof(env->device_type));
		gpu_peaks(&caps, env->device_type, &env->peaks);
	}
}

int64_t tfp_profile_start_ns(const struct tfp_plane *plane)
{
	int64_t id = tfp_plane_stat_id(plane, "profile_start_time"), value = 0;
	struct tfp_stat_iter it;
	struct tfp_stat stat;
	if (id == INT64_MIN)
		return 0;
	it = tfp_plane_stats(plane);
	while (tfp_stat_next(&it, &stat)) {
		if (stat.metadata_id == id && !tfp_stat_int(&stat, &value))
			value = 0;
	}
	return value > 0 ? value : 0;
}
