/*
 * Metrics of operations: how often each ran and for how long, on the host's
 * threads or on the devices (XProf's OpMetricsDb; op_stats.md 1, 2, 5).
 *
 * Times are picoseconds. An op is identified by (module id, name); its texts
 * are owned by the table.
 */
#ifndef TFP_ANALYSIS_OP_DB_H
#define TFP_ANALYSIS_OP_DB_H

#include "base/arena.h"
#include "base/str_map.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

#define TFP_OP_IDLE "IDLE"

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

/* The op of that identity, made (zeroed but for it) if need be; NULL without
 * memory. The pointer holds until the next call. */
struct tfp_op *tfp_op_db_enter(struct tfp_op_db *db, uint64_t module_id, struct tfp_str name);
/* A copy of a text that lives as long as the table; data is NULL without memory. */
struct tfp_str tfp_op_db_text(struct tfp_op_db *db, struct tfp_str text);

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
