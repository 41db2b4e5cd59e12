/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's capture while it is made: its planes and lines, the ids of all
 * names in them, and what changes from step to step. For host_names.c, which
 * fills in the names, and host.c, which writes the events.
 */
#ifndef TFP_SYNTH_HOST_STATE_H
#define TFP_SYNTH_HOST_STATE_H

#include "synth/model.h"
#include "synth/options.h"
#include "synth/space.h"
#include "synth/timing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFP_SYNTH_COMPUTE_THREADS 3 /* of a device */
#define TFP_SYNTH_MAP_THREADS     4 /* of the parallel map in the input pipeline */
#define TFP_SYNTH_SCRATCH_THREADS 4 /* that take and give host memory */
/* Where the lines of threads begin: with the profiler. */
#define TFP_SYNTH_HOST_LINES_NS INT64_C(24546)
#define TFP_SYNTH_COUNTERS      2  /* of a device */
#define TFP_SYNTH_SCOPES_MAX    12 /* nesting of an op's name, and a 0 */

/* An allocator's books. */
struct tfp_synth_allocator {
	uint32_t name; /* text on the host plane */
	int64_t limit, in_use, peak, resident, swing;
};

struct tfp_synth_scope {
	uint32_t name;
	int64_t start, end;
};

struct tfp_synth_device {
	struct tfp_synth_plane *plane;
	struct tfp_synth_line *threads[TFP_SYNTH_COMPUTE_THREADS], *collectives;
	struct tfp_synth_line *compute, *h2d, *d2h, *nccl;
	struct tfp_synth_line *steps, *scopes, *ops; /* grouped only */
	struct tfp_synth_line *counters;             /* NULL for none */
	uint32_t counter_names[TFP_SYNTH_COUNTERS], counter_stats[TFP_SYNTH_COUNTERS];
	struct tfp_synth_allocator memory;
	char context[16];
	/* By op: texts and names on the host plane, then on the device's. */
	uint32_t *host_name, *host_text, *host_path, *text;
	uint32_t *details; /* by use */
	uint32_t *kernels; /* by kernel; 0 where it never runs */
	uint32_t send_name, send_text, send_device_text, fetch_name, fetch_text, fetch_device_text;
	uint32_t input_details, host_input_details, loss_details, host_loss_details;
	uint32_t h2d_name, d2h_name, fetch_path;
	uint32_t eager_kernel, eager_details, eager_text;
	uint32_t *equations;      /* by op */
	uint32_t first_step_name; /* grouped: id of "0", then of "1", ... */
	/* Grouped only: names of an op's scopes, TFP_SYNTH_SCOPES_MAX each, 0 after the
	 * last, and of the op. */
	uint32_t *scope_names, *op_names;
};

/* Takes and gives of pinned memory in a step. They happen on several threads,
 * so that the books are kept apart from writing the events. */
enum { INPUT_TAKE, INPUT_GIVE, LOSS_TAKE, LOSS_GIVE, PINNED_KINDS };
struct tfp_synth_pinned {
	int64_t at, before; /* in use */
	unsigned device, kind;
};

struct tfp_synth_host {
	const struct tfp_synth_options *o;
	const struct tfp_synth_model *m;
	unsigned index;
	uint64_t key;
	struct tfp_synth_clock clock;
	struct tfp_synth_space space;
	struct tfp_synth_plane *plane; /* /host:CPU */
	struct tfp_synth_line *python, *executor, *get_next, *producer,
		*maps[TFP_SYNTH_MAP_THREADS];
	struct tfp_synth_line *map_executor, *event_manager;
	struct tfp_synth_line *scratch_threads[TFP_SYNTH_SCRATCH_THREADS];
	struct tfp_synth_device *devices;
	uint32_t *shapes, *arguments, *equations; /* texts on the host plane, by op */
	uint32_t *launches;                       /* names of the calls, by kernel */
	unsigned *first_use;                      /* by op, into details */
	struct tfp_synth_allocator pinned, scratch;
	struct tfp_synth_pinned *pinned_events; /* [device * PINNED_KINDS + kind] */
	struct tfp_synth_pinned **pinned_order; /* by time */
	uint32_t text_not_traced, text_traced, text_eager, text_function, text_assign, text_read,
		text_and, text_output, text_temp, text_dynamic, text_recv, text_bytes, text_scalar,
		text_eager_op, text_history, text_history_shape, text_scratch, text_scratch_shape;
	uint32_t eager_launch; /* name of the call */
	int64_t function_id;   /* of the step */
	char step_name[32];
	int64_t group; /* of the events being written, -1 for none */
	int64_t last;  /* end of the latest step */
	struct tfp_synth_scope *scopes, *op_events;
	size_t scope_count, scope_room, op_count, op_room;
};

/* Makes the planes but the last, their lines and all names. o, m, index and
 * key are set and the space is open; false: no memory. */
bool tfp_synth_host_set_up(struct tfp_synth_host *h);

#endif
