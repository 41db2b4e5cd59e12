/* SPDX-License-Identifier: Apache-2.0 */
/* Looking up ops in a table of metrics. */
#ifndef TFP_TESTS_UNIT_OPS_H
#define TFP_TESTS_UNIT_OPS_H

#include "testing.h"

#include "analysis/ops/op_db.h"

static inline const struct tfp_op *find_op(const struct tfp_op_db *db, uint64_t module_id,
					   const char *name)
{
	for (size_t i = 0; i < db->count; i++) {
		if (db->ops[i].module_id == module_id && tfp_str_equal(db->ops[i].name, name))
			return &db->ops[i];
	}
	fail_msg("there is no op \"%s\"", name);
	return NULL;
}

struct expected_op {
	uint64_t module_id;
	const char *name, *category;
	uint64_t occurrences, time_ps, self_time_ps;
};

static inline void assert_ops(const struct tfp_op_db *db, const struct expected_op *expected,
			      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tfp_op *op = find_op(db, expected[i].module_id, expected[i].name);
		assert_str(op->category, expected[i].category);
		if (op->occurrences != expected[i].occurrences ||
		    op->time_ps != expected[i].time_ps ||
		    op->self_time_ps != expected[i].self_time_ps)
			fail_msg("%s: %d times, %d ps, self %d ps", expected[i].name,
				 (int)op->occurrences, (int)op->time_ps, (int)op->self_time_ps);
	}
	assert_int_equal(db->count, count);
}

#define ASSERT_OPS(db, ...)                                                                        \
	assert_ops(db, (const struct expected_op[]){__VA_ARGS__},                                  \
		   COUNT(((const struct expected_op[]){__VA_ARGS__})))

#endif
