/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which group every event belongs to: the step or the request that it was done
 * for. capture_groups.h gets the groups of a capture.
 */
#ifndef TFP_ANALYSIS_GROUPING_GROUPS_H
#define TFP_ANALYSIS_GROUPING_GROUPS_H

#include "analysis/grouping/group_column.h"
#include "base/arena.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known of the execution of an event. Only ops and kernels are ever
 * YES or NO. */
enum tfp_eager { TFP_EAGER_UNKNOWN, TFP_EAGER_NO, TFP_EAGER_YES };

struct tfp_group {
	/* "train 12": what the root event is called and its number; "" when the
	 * group has no name. Any bytes; owned by the groups or the capture. */
	struct tfp_str name;
};

/* Events of the group above lead to events of the one below, which had a group before:
 * a request to the batch that answers it. Known for raw captures only. */
struct tfp_group_link {
	uint32_t above, below;
};

/* A thread of a pool works for somebody from an event's start on until end_ps, on the
 * line's clock as start_ps is. */
struct tfp_region {
	uint32_t event;
	int64_t end_ps;
};

struct tfp_line_groups {
	struct tfp_group_column group; /* by event */
	uint8_t *eager;                /* see tfp_eager_in; NULL: unknown for all */
	/* Events that carry the step's name: the roots of groups that somebody
	 * marked (stat step_name), ascending. */
	uint32_t *named;
	size_t named_count;
	struct tfp_region *regions; /* of raw captures, ascending by event */
	size_t region_count;
};

struct tfp_groups {
	struct tfp_group *groups; /* by group id */
	size_t group_count;
	struct tfp_group_link *links; /* ascending by above, then below; each once */
	size_t link_count;
	struct tfp_line_groups **planes; /* [plane][line] */
	size_t plane_count;
	bool from_file; /* the capture was grouped when it was written */
	struct tfp_arena arena;
};

static inline int32_t tfp_group_of(const struct tfp_groups *groups, size_t plane, size_t line,
				   size_t event)
{
	return tfp_group_in(&groups->planes[plane][line].group, event);
}

/* What the events of a line say has two bits each. */
#define TFP_EAGER_BYTES(events) ((events) / 4 + 1)

static inline enum tfp_eager tfp_eager_in(const struct tfp_line_groups *groups, size_t event)
{
	return groups->eager ? (enum tfp_eager)(groups->eager[event / 4] >> event % 4 * 2 & 3)
			     : TFP_EAGER_UNKNOWN;
}

/* For the makers of groups: eager is there, and zeroed. */
static inline void tfp_set_eager(uint8_t *eager, size_t event, enum tfp_eager value)
{
	unsigned shift = event % 4 * 2;
	eager[event / 4] =
		(uint8_t)((eager[event / 4] & ~(3u << shift)) | (unsigned)value << shift);
}

static inline enum tfp_eager tfp_eager_of(const struct tfp_groups *groups, size_t plane,
					  size_t line, size_t event)
{
	return tfp_eager_in(&groups->planes[plane][line], event);
}

/* Whether the event carries its group's name (the stat step_name). */
bool tfp_event_is_named(const struct tfp_groups *groups, size_t plane, size_t line, size_t event);

/* Without any group, and without columns; NULL without memory. free accepts NULL. */
struct tfp_groups *tfp_groups_new(const struct tfp_capture *capture);
void tfp_groups_free(struct tfp_groups *groups);

/* The heap memory of the groups of this capture, themselves included. */
uint64_t tfp_groups_bytes(const struct tfp_groups *groups, const struct tfp_capture *capture);

#endif
