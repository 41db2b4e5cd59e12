/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/op_rates.h"

/* The resource with the largest use so far. */
struct bottleneck {
	double use;
	struct tfp_op_rates *rates;
};

static void consider(struct bottleneck *b, const char *name, double use, double intensity)
{
	if (use <= b->use)
		return;
	b->use = use;
	b->rates->bound_by = name;
	b->rates->bound_intensity = intensity;
}

static void find_bottleneck(struct tfp_op_rates *r, const struct tfp_run_env *env)
{
	static const char *const onchip[] = {"CMEM Read", "CMEM Write", "VMEM Read", "VMEM Write"};
	const double *peaks = env->peaks.gigabytes_per_second;
	struct bottleneck b = {.rates = r};
	r->bound_by = "Unknown";
	consider(&b, "Compute", tfp_divide(r->flop_rate, env->peaks.teraflops * 1000),
		 r->intensity);
	consider(&b, "HBM", tfp_divide(r->hbm_bw, peaks[TFP_PEAK_HBM] * TFP_GIGA_TO_GIBI),
		 r->hbm_intensity);
	for (int i = 0; env->hardware == TFP_HW_TPU && i < 4; i++)
		consider(&b, onchip[i],
			 tfp_divide(r->onchip_bw[i],
				    peaks[TFP_PEAK_CMEM_READ + i] * TFP_GIGA_TO_GIBI),
			 r->onchip_intensity[i]);
	/* What goes through shared memory is not counted apart from what goes to HBM. */
	if (env->hardware == TFP_HW_GPU)
		consider(&b, "Shm/L1",
			 tfp_divide(r->hbm_bw, peaks[TFP_PEAK_SRAM_WRITE] * TFP_GIGA_TO_GIBI),
			 r->hbm_intensity);
}

struct tfp_op_rates tfp_op_rates(const struct tfp_op *op, const struct tfp_run_env *env)
{
	const struct tfp_device_metrics *device = op->device;
	double ns = (double)op->time_ps / 1e3, hbm = op->bytes_accessed, onchip[4] = {0};
	struct tfp_op_rates r = {
		.flop_rate = tfp_divide(op->flops, ns),
		.model_flop_rate = tfp_divide(op->model_flops, ns),
		.memory_bw = tfp_divide(op->bytes_accessed, ns) * TFP_GIGA_TO_GIBI,
		.intensity = tfp_divide(op->flops, op->bytes_accessed),
	};
	if (device && device->has_breakdown) {
		hbm = 0;
		for (int a = 0; a < TFP_ACCESS_COUNT; a++)
			hbm += device->bytes[TFP_SPACE_HBM][a];
		onchip[0] = device->bytes[TFP_SPACE_CMEM][TFP_ACCESS_READ];
		onchip[1] = device->bytes[TFP_SPACE_CMEM][TFP_ACCESS_WRITE];
		onchip[2] = device->bytes[TFP_SPACE_VMEM][TFP_ACCESS_READ];
		onchip[3] = device->bytes[TFP_SPACE_VMEM][TFP_ACCESS_WRITE];
	}
	r.hbm_bw = tfp_divide(hbm, ns) * TFP_GIGA_TO_GIBI;
	r.hbm_intensity = tfp_divide(op->flops, hbm);
	for (int i = 0; i < 4; i++) {
		r.onchip_bw[i] = tfp_divide(onchip[i], ns) * TFP_GIGA_TO_GIBI;
		r.onchip_intensity[i] = tfp_divide(op->flops, onchip[i]);
	}
	find_bottleneck(&r, env);
	return r;
}

const char *tfp_cost_by_name(const struct tfp_op *op)
{
	static const char *const names[] = {"", "profiler", "XLA", "ours"};
	if (!op->has_cost)
		return "unknown";
	return op->device ? names[op->device->cost_by] : "";
}
