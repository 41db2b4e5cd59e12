/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a model's nodes took: the tree model's material, whatever it was read from.
 *
 *     struct tfp_profile p;
 *     tfp_profile_init(&p);
 *     tfp_graph_def_read(&p, bytes, size, &err);     any of the sources
 *     tfp_profile_finish(&p, &err);                  once, after all of them
 *     for (i = 0; i < p.count; i++)
 *             tfp_profile_amounts(p.nodes[i], step, amounts);
 *     tfp_profile_release(&p);
 *
 * Names point into the bytes that were read; tfp_profile_keep makes such bytes the profile's.
 * Everything else lies in one arena. Times are microseconds because the files have these.
 */
#ifndef TFP_TFPROF_PROFILE_H
#define TFP_TFPROF_PROFILE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str_map.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is counted for a node. Times are microseconds of a profile, as the files have them, and
 * picoseconds of a capture (capture_work.h). */
enum tfp_amount {
	TFP_TOTAL_TIME, /* accelerator and cpu */
	TFP_ACCELERATOR_TIME,
	TFP_CPU_TIME,
	TFP_REQUESTED_BYTES,
	TFP_PEAK_BYTES,
	TFP_RESIDUAL_BYTES,
	TFP_OUTPUT_BYTES,
	TFP_PARAMETERS,
	TFP_FLOAT_OPS,
	TFP_RUNS,
	TFP_DEFINED, /* nodes: one each */
	/* Of captures alone. */
	TFP_MODEL_FLOPS,
	TFP_BYTES_ACCESSED,
	TFP_AMOUNT_COUNT,
};

#define TFP_STEP_MEAN (-1) /* of all steps in which a node ran */

struct tfp_device {
	struct tfp_str name; /* lower case */
	bool canonical;      /* .../device:gpu:0 and its like, no stream of it */
};

/* One time that a node ran, or a kernel of it. */
struct tfp_interval {
	struct tfp_interval *next;
	int64_t start_us, duration_us;
	uint32_t device; /* of tfp_profile.devices */
	bool accelerator;
};

/* A time and bytes: allocations, and what an allocator had given out. */
struct tfp_bytes_at {
	struct tfp_bytes_at *next;
	int64_t time_us, bytes;
};

struct tfp_bytes_list {
	struct tfp_bytes_at *first, *last;
};

/* A node in one step. */
struct tfp_exec {
	struct tfp_exec *next; /* until tfp_profile_finish */
	int64_t step, runs;
	int64_t start_us, end_us; /* the earliest, 0 if unknown; the latest */
	int64_t accelerator_us, cpu_us;
	int64_t requested_bytes, peak_bytes, residual_bytes, output_bytes;
	int64_t accelerator_persistent_bytes;
	struct tfp_interval *intervals, *last_interval; /* as they were recorded */
	struct tfp_bytes_list allocations;
	struct tfp_bytes_list in_use; /* of the accelerator's allocator */
};

struct tfp_shape {
	int64_t *dims; /* negative: unknown */
	size_t rank;   /* 0: nothing is known; a scalar is the shape 1, as the original has it */
};

struct tfp_node_input {
	int64_t index;
	struct tfp_str name;           /* of the source */
	struct tfp_profile_node *node; /* NULL when there is no such node */
	int64_t output;                /* of the source; -1: unknown */
};

struct tfp_output_shape {
	int64_t index;
	struct tfp_shape shape;
};

struct tfp_frame {
	struct tfp_str file, function;
	int32_t line, function_line;
};

struct tfp_type {
	struct tfp_type *next;
	struct tfp_str text;
};

struct tfp_profile_node {
	struct tfp_str name, op;
	size_t index; /* in tfp_profile.nodes */
	/* What the node can be accounted by: its op, its device, words of the log. Sorted, each
	 * once, after tfp_profile_finish. */
	struct tfp_str *types;
	size_t type_count;
	struct tfp_type *type_list;
	struct tfp_shape shape;        /* of a variable */
	struct tfp_node_input *inputs; /* by index */
	size_t input_count;
	struct tfp_output_shape *outputs; /* by index */
	size_t output_count;
	int64_t float_ops;        /* of one run */
	struct tfp_frame *frames; /* the call stack that made it, outermost first */
	size_t frame_count;
	bool has_frames;
	struct tfp_str device; /* canonical; size 0: none */
	bool has_host;
	/* The message it came from, and the field that holds its attributes; 0: none. */
	struct tfp_span message;
	uint32_t attribute_field;
	struct tfp_exec *execs; /* by step, after tfp_profile_finish */
	size_t exec_count;
	struct tfp_exec *exec_list, *last_exec;
	bool covered; /* a record came for it when it was there already */
};

struct tfp_profile {
	struct tfp_profile_node **nodes; /* by name, after tfp_profile_finish; owned */
	size_t count, room;
	struct tfp_str_map by_name;
	struct tfp_device *devices; /* owned */
	size_t device_count, device_room;
	struct tfp_str_map by_device;
	int64_t *steps; /* ascending; owned */
	size_t step_count, step_room;
	struct tfp_id_text *texts; /* that call stacks refer to; by id; owned */
	size_t text_count, text_room;
	size_t covered;
	bool has_traces;     /* there are call stacks */
	bool misses_streams; /* work of accelerators was scheduled, and nobody timed it */
	struct tfp_kept *kept;
	struct tfp_arena arena;
};

void tfp_profile_init(struct tfp_profile *p);
/* Accepts zeroed memory. */
void tfp_profile_release(struct tfp_profile *p);
/* Takes over bytes of the heap (tfp_free) that names point into; they are freed at once when
 * that fails. */
enum tfp_status tfp_profile_keep(struct tfp_profile *p, void *bytes,
				 struct tfp_error *err) TFP_CHECK;

/* ---- for sources ---- */

/* The node of that name, or NULL. */
struct tfp_profile_node *tfp_profile_find(const struct tfp_profile *p, struct tfp_str name);
/* A new node, with its op as its first type; NULL without memory, or if the name is taken. */
struct tfp_profile_node *tfp_profile_add_node(struct tfp_profile *p, struct tfp_str name,
					      struct tfp_str op);
/* These return false without memory. */
bool tfp_profile_add_type(struct tfp_profile *p, struct tfp_profile_node *node,
			  struct tfp_str type);
bool tfp_profile_add_step(struct tfp_profile *p, int64_t step);
/* *device: the number of the device, which is new if need be. The name is copied in lower case. */
bool tfp_profile_device(struct tfp_profile *p, struct tfp_str name, uint32_t *device);
bool tfp_profile_add_interval(struct tfp_profile *p, struct tfp_exec *exec,
			      const struct tfp_interval *interval);
bool tfp_profile_add_bytes(struct tfp_profile *p, struct tfp_bytes_list *list, int64_t time_us,
			   int64_t bytes);
/* The node in that step, as the last that was added or else new; NULL without memory. */
struct tfp_exec *tfp_profile_exec(struct tfp_profile *p, struct tfp_profile_node *node,
				  int64_t step);
/* A text that call stacks can refer to; the first of an id counts. */
bool tfp_profile_add_text(struct tfp_profile *p, int64_t id, struct tfp_str text);
/* The text of an id, or size 0 and data NULL. Texts must be sorted: tfp_profile_sort_texts. */
struct tfp_str tfp_profile_text(const struct tfp_profile *p, int64_t id);
void tfp_profile_sort_texts(struct tfp_profile *p);
/* Sorts nodes by name, types, and what they did by step, and finds the nodes of inputs. */
enum tfp_status tfp_profile_finish(struct tfp_profile *p, struct tfp_error *err) TFP_CHECK;

/* ---- for views ---- */

bool tfp_profile_has_step(const struct tfp_profile *p, int64_t step);
/* Share of nodes that a record came for, of those there are; 0 of none. */
double tfp_profile_coverage(const struct tfp_profile *p);
/* What a node took in a step, or in the mean of its steps: each amount is divided by itself and
 * rounded down, so that the total can be one more than its parts. Sums that overflow wrap. */
void tfp_profile_amounts(const struct tfp_profile_node *node, int64_t step,
			 int64_t amounts[TFP_AMOUNT_COUNT]);
/* The node in exactly that step, or NULL. */
const struct tfp_exec *tfp_profile_exec_at(const struct tfp_profile_node *node, int64_t step);
/* The shape of an input; rank 0 when unknown. */
struct tfp_shape tfp_profile_input_shape(const struct tfp_node_input *input);
/* Elements of a variable's shape; 0 without one, or if a dimension is unknown. */
int64_t tfp_profile_parameters(const struct tfp_profile_node *node);
bool tfp_str_contains(struct tfp_str text, const char *word);
/* Sum that wraps. */
static inline int64_t tfp_wrap_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

#endif
