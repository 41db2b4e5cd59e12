/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operations of a run's captures took, all hosts together: the second material of the
 * tree model, beside profile.h.
 *
 *     struct tfp_capture_work work;
 *     status = tfp_capture_work_init(&work, session, &wanted, &err);
 *     for (size_t i = 0; i < work.count; i++)
 *             tfp_unit_add(&work, &work.units[i], step, &taken);
 *     tfp_capture_work_release(&work);                in any case
 *
 * A unit is an instruction of a program, a kernel of an operation that no program knows, an
 * operation of the host, a kernel that belongs to no operation, a parameter of a program, or what
 * an operation did with memory. Times are picoseconds; their sums over units are those of the
 * tables of op_stats.h. Texts are the work's.
 */
#ifndef TFP_TFPROF_CAPTURE_WORK_H
#define TFP_TFPROF_CAPTURE_WORK_H

#include "analysis/ops/op_steps.h"
#include "session/session.h"
#include "tfprof/tree.h"

enum tfp_unit_kind {
	TFP_UNIT_DEVICE,  /* an op of a device */
	TFP_UNIT_UNNAMED, /* a kernel or copy that belongs to no op */
	TFP_UNIT_HOST,
	TFP_UNIT_PARAMETER,
	TFP_UNIT_MEMORY,
	TFP_UNIT_NODE, /* of a graph run (graph_run.h) */
};

struct tfp_graph_run;

#define TFP_UNIT_NONE UINT32_MAX

struct tfp_unit {
	enum tfp_unit_kind kind;
	struct tfp_str name; /* of the instruction, kernel or op */
	uint64_t program_id;
	struct tfp_str op, type; /* the framework's op that it counts for, as in TF stats */
	struct tfp_str category;
	struct tfp_str expression, source_file, source_stack; /* as in op_texts.h */
	int32_t source_line;
	uint8_t origin; /* enum tfp_op_origin */
	uint8_t flags;  /* enum tfp_taken_flag */
	bool has_cost, has_output;
	uint64_t occurrences, self_ps;
	double flops, model_flops, bytes_accessed; /* of all occurrences */
	int64_t output_bytes;                      /* of one */
	int64_t parameters;
	int64_t requested_bytes, peak_bytes, residual_bytes;
	uint32_t first_cell, cell_count;     /* in cells */
	uint32_t first_device;               /* in uses, + 1; 0: none */
	const struct tfp_profile_node *node; /* of a graph run */
};

struct tfp_unit_device {
	uint32_t device; /* in devices */
	uint32_t next;   /* in uses, + 1 */
};

/* An instruction of a program that ran, with what feeds it; others of the same program by their
 * places. */
struct tfp_captured_instruction {
	struct tfp_str name;
	const uint32_t *feeds; /* operands, and roots of what it calls */
	uint32_t feed_count;
	bool is_fused; /* within a fusion, or an operand's function: part of another */
	uint32_t unit; /* TFP_UNIT_NONE: it did not run */
};

struct tfp_captured_program {
	uint64_t id;
	struct tfp_str name;
	struct tfp_captured_instruction *instructions; /* NULL: nobody asked */
	uint32_t count;
	uint32_t root;
};

struct tfp_capture_step {
	struct tfp_str name; /* "train 12", or "" */
};

struct tfp_capture_wanted {
	bool graph;                     /* instructions of programs */
	const char *parameters_regexes; /* NULL: TFP_PARAMETERS_RULE */
};

/* Names of entry parameters that count as the model's: not the optimizer's state. */
#define TFP_PARAMETERS_RULE                                                                        \
	"((train_)?state(\\.|\\['))?(params|param|parameters|variables|weights)([.\\['/].*)?"

struct tfp_capture_work {
	struct tfp_unit *units; /* owned, as all lists */
	size_t count, room;
	struct tfp_str_map by_key;
	struct tfp_op_steps cells; /* of units, sorted by unit and step */
	struct tfp_capture_step *steps;
	size_t step_count, step_room;
	struct tfp_str_map by_step;
	struct tfp_str *devices; /* "host plane" */
	size_t device_count, device_room;
	struct tfp_str_map by_device;
	struct tfp_unit_device *uses;
	size_t use_count, use_room;
	struct tfp_captured_program *programs;
	size_t program_count, program_room;
	struct tfp_graph_run *graph; /* owned; NULL of captures */
	struct tfp_name_match parameters;
	bool has_devices, has_host, has_memory, by_module, any_instruction;
	size_t parameter_count; /* entry parameters that the rule found */
	struct tfp_arena arena;
};

/* TFP_BAD_QUERY for expressions that are none. */
enum tfp_status tfp_capture_work_init(struct tfp_capture_work *work,
				      const struct tfp_session *session,
				      const struct tfp_capture_wanted *wanted,
				      struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_capture_work_release(struct tfp_capture_work *work);

/* For other sources of work: before all and after all. */
enum tfp_status tfp_work_begin(struct tfp_capture_work *work,
			       const struct tfp_capture_wanted *wanted,
			       struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_work_finish(struct tfp_capture_work *work, struct tfp_error *err) TFP_CHECK;
/* These return NULL, false and TFP_STR_MAP_NONE without memory. */
/* Finds a unit, or makes it with all else empty. It holds until the next call. */
struct tfp_unit *tfp_work_unit(struct tfp_capture_work *work, enum tfp_unit_kind kind,
			       uint64_t program_id, struct tfp_str name);
bool tfp_work_device(struct tfp_capture_work *work, struct tfp_unit *unit, const char *host,
		     struct tfp_str plane);
/* The number of the step of that name. */
uint32_t tfp_work_step(struct tfp_capture_work *work, struct tfp_str name, size_t place);

/* Which part of the capture: all of it, the mean of its steps, or a step from 0 on. The amounts
 * of the mean are those of all steps together: tfp_capture_divisor of them. */
#define TFP_CAPTURE_ALL  (-2)
#define TFP_CAPTURE_MEAN (-1)

/* By what amounts are to be divided. */
double tfp_capture_divisor(const struct tfp_capture_work *work, int64_t step,
			   enum tfp_amount amount);
/* Adds what a unit took, but for runs: these are the op's, of which units are parts. */
void tfp_unit_add(const struct tfp_capture_work *work, const struct tfp_unit *unit, int64_t step,
		  struct tfp_taken *taken);
/* Its occurrences in a step. */
uint64_t tfp_unit_runs(const struct tfp_capture_work *work, const struct tfp_unit *unit,
		       int64_t step);
/* NULL when there is none. */
const struct tfp_captured_program *tfp_capture_program(const struct tfp_capture_work *work,
						       uint64_t id);
/* The unit of that identity, or TFP_UNIT_NONE. */
uint32_t tfp_unit_find(const struct tfp_capture_work *work, enum tfp_unit_kind kind,
		       uint64_t program_id, struct tfp_str name);

#endif
