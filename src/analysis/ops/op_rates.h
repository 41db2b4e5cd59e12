/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a device op computed and moved bytes, and which resource binds it (XProf's
 * op_metrics_to_record.h, SetRooflineMetrics). One set of formulas for every table that has
 * such columns.
 */
#ifndef TFP_ANALYSIS_OPS_OP_RATES_H
#define TFP_ANALYSIS_OPS_OP_RATES_H

#include "analysis/events/run_env.h"
#include "analysis/ops/op_db.h"

/* Rates in GFLOP/s and GiB/s over the op's total time, intensities in FLOP/byte. 0 where an
 * op has nothing of a kind; whether the cost is known at all, op->has_cost says. */
struct tfp_op_rates {
	double flop_rate, model_flop_rate;
	double memory_bw; /* all bytes */
	/* By memory; without a breakdown all bytes are HBM's. Of CMEM and VMEM reads and writes
	 * apart, in the order of enum tfp_peak from TFP_PEAK_CMEM_READ on. */
	double hbm_bw, onchip_bw[TFP_PEAK_COUNT - TFP_PEAK_CMEM_READ];
	double intensity, hbm_intensity, onchip_intensity[TFP_PEAK_COUNT - TFP_PEAK_CMEM_READ];
	const char *bound_by;   /* "Compute", "HBM", "Shm/L1", "CMEM Read", ..., "Unknown" */
	double bound_intensity; /* FLOP/byte of what binds */
};

struct tfp_op_rates tfp_op_rates(const struct tfp_op *op, const struct tfp_run_env *env);

/* tsl's SafeDivide: nothing divided by (nearly) nothing is nothing. */
static inline double tfp_divide(double a, double b)
{
	return b > -1e-10 && b < 1e-10 ? 0 : a / b;
}

#define TFP_GIGA_TO_GIBI (1e9 / (1024.0 * 1024.0 * 1024.0))

/* How tables say who knows the cost of an op: "profiler", "XLA", "ours", or "unknown" where
 * nobody does; "" for sums of ops, and for what costs nothing. */
const char *tfp_cost_by_name(const struct tfp_op *op);

#endif
