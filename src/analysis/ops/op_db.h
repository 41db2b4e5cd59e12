/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of operations: how often each ran and for how long, on the host's
 * threads or on the devices (XProf's OpMetricsDb; op_stats.md 1, 2, 5).
 *
 * Times are picoseconds. An op is identified by (module id, name); its texts
 * are owned by the table.
 */
#ifndef TFP_ANALYSIS_OPS_OP_DB_H
#define TFP_ANALYSIS_OPS_OP_DB_H

#include "base/arena.h"
#include "base/str_map.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

#define TFP_OP_IDLE "IDLE"

/* Where the name of a device's op comes from. */
enum tfp_op_origin {
	TFP_ORIGIN_NONE,        /* IDLE, and ops that no device ran */
	TFP_ORIGIN_INSTRUCTION, /* of a program that the file has; on TPUs, that the profiler had */
	TFP_ORIGIN_FRAMEWORK,   /* the stat tf_op */
	TFP_ORIGIN_OTHER,       /* another stat, or a program that the file does not have */
	TFP_ORIGIN_UNNAMED,     /* a kernel or copy for which nothing names an op */
};

/* Who knows what an op costs. */
enum tfp_cost_by {
	TFP_COST_BY_NOBODY,
	TFP_COST_BY_PROFILER, /* counted while the program ran */
	TFP_COST_BY_XLA,      /* by XLA's rules (hlo_cost.h) */
	TFP_COST_BY_US,       /* XLA knows nothing, shapes tell */
};

/* The memories that XProf tells apart (op_metrics.proto: PerformanceInfo). */
enum tfp_space {
	TFP_SPACE_HBM,
	TFP_SPACE_CMEM,
	TFP_SPACE_VMEM,
	TFP_SPACE_OTHER,
	TFP_SPACE_COUNT,
};
enum tfp_access { TFP_ACCESS_UNKNOWN, TFP_ACCESS_READ, TFP_ACCESS_WRITE, TFP_ACCESS_COUNT };

/* Cores of TPUs. */
enum tfp_core { TFP_CORE_NONE, TFP_CORE_TENSOR, TFP_CORE_SPARSE };

/* What only ops of devices have; summed over occurrences. */
struct tfp_device_metrics {
	uint8_t origin, cost_by, core; /* enums above */
	bool has_breakdown;            /* bytes by memory are known */
	uint64_t normalized_ps;        /* the time at the clock that is usual; 0: not known */
	uint64_t dma_stall_ps;
	double bytes[TFP_SPACE_COUNT][TFP_ACCESS_COUNT];
};

struct tfp_op {
	uint64_t module_id; /* HLO program, or 0 */
	struct tfp_str name, category;
	struct tfp_str provenance; /* `path/op:Type` of the framework, or "" */
	bool is_eager;
	uint64_t occurrences;
	uint64_t time_ps, self_time_ps;
	/* Whether flops and bytes are known: no number is not 0. */
	bool has_cost;
	double flops, model_flops, bytes_accessed; /* summed over occurrences */
	struct tfp_device_metrics *device;         /* the table's; NULL where there are none */
};

struct tfp_op_db {
	struct tfp_op *ops;
	size_t count, room;
	uint64_t total_time_ps;    /* of the windows in which ops were seen, idle time included */
	uint64_t total_op_time_ps; /* sum of self times without idle */
	struct tfp_str_map by_key;
	struct tfp_arena arena;
};

void tfp_op_db_init(struct tfp_op_db *db);
/* Accepts zeroed memory. */
void tfp_op_db_release(struct tfp_op_db *db);

/* Finds the op of that identity, or adds it with all else zeroed. NULL without
 * memory. The pointer holds until the next call. */
struct tfp_op *tfp_op_db_enter(struct tfp_op_db *db, uint64_t module_id, struct tfp_str name);
/* A copy of a text that lives as long as the table; data is NULL without memory. */
struct tfp_str tfp_op_db_text(struct tfp_op_db *db, struct tfp_str text);

/* The op's device metrics, made (zeroed) if need be; NULL without memory. */
struct tfp_device_metrics *tfp_op_db_device(struct tfp_op_db *db, struct tfp_op *op);
/* The origin of an op; TFP_ORIGIN_NONE without device metrics. */
enum tfp_op_origin tfp_op_origin(const struct tfp_op *op);
/* Adds numbers of another op; kinds are taken where there are none. */
void tfp_device_metrics_add(struct tfp_device_metrics *to, const struct tfp_device_metrics *from);

/* Adds time_ps to the op IDLE, once per thread or device (AddIdleOp). false without memory. */
bool tfp_op_db_add_idle(struct tfp_op_db *db, uint64_t time_ps);

/* Adds every op of from, and the totals (op_metrics_db_combiner.cc: times, flops,
 * bytes and occurrences are summed, is_eager ORed, texts taken where empty). */
bool tfp_op_db_merge(struct tfp_op_db *db, const struct tfp_op_db *from);

/* Indexes of the ops by self time descending, ties by name ascending
 * (SortedOpMetricsDb). count entries, the caller's (tfp_free); NULL without memory. */
uint32_t *tfp_op_db_sorted(const struct tfp_op_db *db);

bool tfp_op_is_idle(const struct tfp_op *op);

/* The framework op that a device op belongs to: name and type of its provenance, or its
 * own name and "Unknown". */
void tfp_framework_op(struct tfp_str provenance, struct tfp_str op_name, struct tfp_str *name,
		      struct tfp_str *type);

/* Device ops by the framework op that they belong to
 * (CreateTfMetricsDbFromDeviceOpMetricsDb): occurrences are the largest of an op's
 * parts, everything else is summed. out is initialised by the caller. */
bool tfp_op_db_by_framework_op(const struct tfp_op_db *device, struct tfp_op_db *out);

#endif
