/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the makers of groups of raw captures share (XProf's group_events.cc and
 * preprocess_xplane.cc, as preprocess.md B, C and D1 describe them): grouping.c has
 * the whole and owns everything, grouping_read.c reads a line, grouping_links.c connects
 * lines, grouping_roots.c finds roots and passes their groups down, grouping_eager.c says
 * what was executed eagerly. Nobody else includes this.
 *
 * An event's parents are the event that it is nested in on its thread, and the
 * producers that it is a consumer of, elsewhere. A root passes its group to
 * everything below it. Nothing here is a graph of objects: nesting is one
 * index an event, and only the few events that connect threads are lists.
 */
#ifndef TFP_ANALYSIS_GROUPING_GROUPING_PARTS_H
#define TFP_ANALYSIS_GROUPING_GROUPING_PARTS_H

#include "analysis/events/runtime_events.h"
#include "analysis/events/schema.h"
#include "analysis/events/stat_columns.h"
#include "analysis/grouping/groups.h"
#include "base/alloc.h"
#include "base/sort.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NO_PARENT UINT32_MAX
#define ASYNC     (UINT32_MAX - 1) /* neither has a parent nor is one */
#define NO_LAUNCH UINT32_MAX

/* How far an event's ancestors are followed; more than any program nests. */
#define ANCESTORS_MAX 65536u

enum {
	PRODUCER_TYPE,
	PRODUCER_ID,
	CONSUMER_TYPE,
	CONSUMER_ID,
	PROCESS_ID,
	ROOT_LEVEL,
	IS_ASYNC,
	STEP_ID,
	ITER_NUM,
	STEP_NUM,
	GRAPH_TYPE,
	IS_FUNC,
	REQUEST_ID,
	QUEUE_ADDR,
	DEVICE_ORDINAL,
	QUEUE_ID,
	RUN_ID,
	CORE_TYPE,
	WANTED
};

/* Their names, all of them in the set linked of struct tfp_line_stats. */
extern const char *const tfp_grouping_stats[WANTED];

/* What the stats of an event say; numbers by place in tfp_grouping_stats. */
struct tfp_raw_facts {
	uint32_t present; /* bits */
	int64_t number[WANTED];
	struct tfp_str graph_type;
};

static inline bool has(const struct tfp_raw_facts *f, int name)
{
	return f->present & 1u << name;
}

/* An event, by the number of its line over all planes. */
struct tfp_raw_ref {
	uint32_t line, event;
};

/* The same as one number, in the same order. */
static inline uint64_t place_of(struct tfp_raw_ref ref)
{
	return (uint64_t)ref.line << 32 | ref.event;
}

static inline struct tfp_raw_ref event_at(uint64_t place)
{
	return (struct tfp_raw_ref){(uint32_t)(place >> 32), (uint32_t)place};
}

/* Connections that older names and stats stand for; kinds above the profiler's own. */
enum { TO_GET_NEXT = 1000, TO_GET_NEXT_OPTIONAL, TO_EXECUTOR };

/* Bit in the key of a producer or consumer: of several producers the last is the parent. */
#define LAST_PRODUCER_ONLY ((uint64_t)1)

struct tfp_raw_root {
	struct tfp_raw_ref ref;
	int64_t level, start_ps;
};

/* An executor's run of a function, which may be an iteration of a loop. */
struct tfp_raw_iteration {
	int64_t id, iter;
	int64_t start_ps;
	struct tfp_raw_ref ref;
};

struct tfp_raw_list {
	void *items;
	size_t count, room;
};

struct tfp_raw_line {
	const struct tfp_plane *plane;
	const struct tfp_line *line;
	struct tfp_line_groups *groups;
	const struct tfp_schema *schema;
	const uint8_t *types; /* enum tfp_runtime_event, by event metadata */
	const struct tfp_line_stats *stats;
	uint32_t number;
	bool is_host, is_gpu, is_tpu;
	bool has_regions; /* and names of regions */
	bool has_ops;     /* and of ops */
	/* Of a TPU's plane: the line whose events stand for all that happens under them
	 * (its number, NO_PARENT where there is none), and the device's number on the
	 * line of modules, else -1. */
	uint32_t grouping_line;
	int64_t device_ordinal;
	bool has_process; /* the plane says which process it is of */
	int64_t process;
	/* By event; NULL where none has a parent, as on lines of TPUs. */
	uint32_t *parent;
	/* By event, until all groups are known; NULL on lines of TPUs that take theirs from
	 * the grouping line. */
	int32_t *group;
	/* enum tfp_eager by event: what an EagerExecute passes on to those below it, NULL
	 * where there is none; and what every event has from above. */
	uint8_t *eager, *above;
	bool is_marked; /* above is there */
	/* Found on this line, then joined into those of all lines. Producers and consumers are
	 * struct tfp_pair of a key and a place. */
	struct tfp_raw_list producers, consumers, roots, iterations, data_ids, eager_roots;
	/* Events with correlation ids are launches where this is the host, kernels
	 * elsewhere, and numbered over all lines: the number of this line's first one. */
	uint32_t first_correlated;
	uint64_t first_event; /* of all events of lines with kernels, how many come before */
};

struct tfp_raw {
	const struct tfp_capture *capture;
	struct tfp_groups *groups;
	struct tfp_raw_line *lines;
	size_t line_count;
	struct tfp_schema *schemas; /* by plane */
	uint8_t **types;            /* by plane */
	struct tfp_raw_list producers, consumers, roots, iterations, data_ids;
	/* By number of the kernel: that of its launch, or NO_LAUNCH. */
	uint32_t *launch_of;
	/* By number of the launch, and one more: where its kernels begin in kernels, which has
	 * their places among all events of lines with kernels. NULL without kernels. */
	uint32_t *kernels_at, *kernels;
	uint32_t launch_count, kernel_count;
	/* Lines with kernels, and with launches, ascending. */
	uint32_t *kernel_lines, *launch_lines;
	size_t kernel_line_count, launch_line_count;
	/* struct tfp_pair of places: of other links, sorted by that end, then by the other. */
	struct tfp_raw_list by_parent, by_child;
	size_t *parents_at, *children_at; /* by line: where its links begin; one more */
	struct tfp_raw_list group_roots;  /* struct tfp_raw_ref, of the groups made */
	struct tfp_raw_list group_links;  /* struct tfp_group_link */
	size_t group_room;
	bool has_eager;
	atomic_bool no_memory;
};

static inline bool push(struct tfp_raw_list *list, const void *item, size_t size)
{
	if (list->count == list->room && !tfp_grow(&list->items, &list->room, size))
		return false;
	memcpy((char *)list->items + list->count++ * size, item, size);
	return true;
}

static inline void drop(struct tfp_raw_list *list)
{
	tfp_free(list->items);
	*list = (struct tfp_raw_list){0};
}

static inline void sort(struct tfp_raw_list *list, size_t size,
			int (*compare)(const void *a, const void *b))
{
	if (list->count)
		qsort(list->items, list->count, size, compare);
}

static inline int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static inline int compare_ref(struct tfp_raw_ref a, struct tfp_raw_ref b)
{
	return compare_u64(place_of(a), place_of(b));
}

static inline enum tfp_runtime_event type_at(const struct tfp_raw_line *l, size_t event)
{
	return (enum tfp_runtime_event)l->types[tfp_event_meta_index(l->line, event)];
}

/* The line has them. */
static inline int32_t *group_at(const struct tfp_raw *raw, struct tfp_raw_ref ref)
{
	return &raw->lines[ref.line].group[ref.event];
}

static inline uint32_t parent_of(const struct tfp_raw_line *l, size_t event)
{
	return l->parent ? l->parent[event] : NO_PARENT;
}

/* For tfp_pool_for: what a line says, and how its events nest. Sets no_memory. */
void tfp_grouping_read_line(void *raw, size_t line);
void tfp_grouping_facts(const struct tfp_raw_line *l, size_t event, struct tfp_raw_facts *f);

/* The functions below are false without memory. */

/* Producers with consumers, launches with kernels. */
bool tfp_grouping_connect(struct tfp_raw *raw, struct tfp_pool *pool);
bool tfp_grouping_add_link(struct tfp_raw *raw, struct tfp_raw_ref from, struct tfp_raw_ref to);
/* After the last link: by_parent and by_child can be asked. */
bool tfp_grouping_finish_links(struct tfp_raw *raw);
/* Where the links of an event begin, as a child or as a parent, or where they
 * would: among those of its line. Those of launches and kernels are not there. */
size_t tfp_grouping_first_link(const struct tfp_raw *raw, struct tfp_raw_ref ref, bool child);

/* Walks the events that an event is a consumer of, or (children) the producer of: links and
 * launches together, in the order of the file.
 *
 *     struct tfp_raw_walk w = tfp_grouping_walk(raw, ref, true);
 *     while (tfp_grouping_next(raw, &w, &other)) ...
 */
struct tfp_raw_walk {
	const struct tfp_pair *link, *last_link;
	uint64_t key;
	const uint32_t *kernel, *last_kernel; /* of a launch */
	bool has_launch;
	uint64_t launch; /* of a kernel: a place */
};
struct tfp_raw_walk tfp_grouping_walk(const struct tfp_raw *raw, struct tfp_raw_ref ref,
				      bool children);
/* The same where it is known where the event's links begin, or would. */
struct tfp_raw_walk tfp_grouping_walk_from(const struct tfp_raw *raw, struct tfp_raw_ref ref,
					   bool children, size_t first_link);
bool tfp_grouping_next(const struct tfp_raw *raw, struct tfp_raw_walk *w, struct tfp_raw_ref *ref);
/* The launch of an event that is a kernel, or NO_LAUNCH. */
uint32_t tfp_grouping_launch_of(const struct tfp_raw *raw, struct tfp_raw_ref ref);

/* Finds the roots and gives everything below each its group. Finishes links on its way. */
bool tfp_grouping_of_roots(struct tfp_raw *raw);

/* Which ops and kernels were executed eagerly; for those lines that have any. */
bool tfp_grouping_eager(struct tfp_raw *raw, struct tfp_pool *pool);

#endif
