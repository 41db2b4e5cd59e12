/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of one host's capture that several dashboards share, and its
 * merge over the hosts of a run (op_stats.md 0 and 5).
 *
 *     const struct tfp_op_stats *stats;
 *     tfp_op_stats_get(capture, pool, &stats, &err);
 *
 *     struct tfp_op_stats all;
 *     tfp_op_stats_init(&all);
 *     for each host
 *             tfp_op_stats_merge(&all, stats, index, &err);
 *     tfp_op_stats_end(&all);
 */
#ifndef TFP_ANALYSIS_SUMMARY_OP_STATS_H
#define TFP_ANALYSIS_SUMMARY_OP_STATS_H

#include "analysis/events/run_env.h"
#include "analysis/ops/device_ops.h"
#include "analysis/ops/kernels.h"
#include "analysis/ops/op_db.h"
#include "analysis/ops/op_texts.h"

struct tfp_op_stats {
	struct tfp_run_env env;
	struct tfp_op_db host_ops;
	struct tfp_device_work device;
	struct tfp_kernels kernels;
	bool is_training;
};

/* Of a capture; computed once and kept with it. */
enum tfp_status tfp_op_stats_get(struct tfp_capture *capture, struct tfp_pool *pool,
				 const struct tfp_op_stats **out, struct tfp_error *err) TFP_CHECK;

/* The texts of its ops; computed once and kept with it. */
enum tfp_status tfp_op_texts_get(struct tfp_capture *capture, struct tfp_pool *pool,
				 const struct tfp_op_texts **out, struct tfp_error *err) TFP_CHECK;

/* An empty summary to merge into. */
void tfp_op_stats_init(struct tfp_op_stats *stats);
/* Accepts zeroed memory. */
void tfp_op_stats_release(struct tfp_op_stats *stats);
/* Adds a host. Kernels of different hosts stay apart, marked with index; env is
 * the first accelerated host's, with the devices of all. */
enum tfp_status tfp_op_stats_merge(struct tfp_op_stats *stats, const struct tfp_op_stats *host,
				   uint32_t index, struct tfp_error *err) TFP_CHECK;
/* All hosts are there: puts their kernels in order. */
void tfp_op_stats_end(struct tfp_op_stats *stats);

#endif
