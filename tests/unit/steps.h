/* SPDX-License-Identifier: Apache-2.0 */
/* Events with groups, and the steps that come of them. */
#ifndef TFP_TESTS_UNIT_STEPS_H
#define TFP_TESTS_UNIT_STEPS_H

#include "testing.h"

#include "analysis/steps/capture_steps.h"

static inline struct builder_stats *grouped(struct builder_line *line, const char *name,
					    int64_t begin, int64_t duration, int64_t group)
{
	struct builder_stats *e = builder_event(line, name, begin, duration);
	builder_stat_int(e, "group_id", group);
	return e;
}

static inline const struct tfp_steps *steps_of(const struct opened *o)
{
	const struct tfp_steps *steps;
	struct tfp_error err;
	if (tfp_steps_get(o->capture, NULL, &steps, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return steps;
}

#endif
