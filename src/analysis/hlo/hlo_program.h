/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled program: an HLO module as XLA wrote it (hlo.proto: HloProto, HloModuleProto), with
 * its instructions and computations in arrays and the links between them by index.
 *
 * Names and everything that is seldom asked for stay in the bytes: an instruction knows where
 * its message is, and tfp_hlo_details reads the rest of it.
 *
 *     struct tfp_hlo_program program;
 *     status = tfp_hlo_program_init(&program, bytes, err);
 *     for (uint32_t i = 0; i < program.instruction_count; i++)
 *             for (uint32_t o = 0; o < program.instructions[i].operand_count; o++)
 *                     ... tfp_hlo_operand(&program, i, o) ...
 *     tfp_hlo_program_release(&program);
 *
 * Operands come before their users, within a computation, and called computations before those
 * that call them: XLA writes modules so, and reads no others. What is read here keeps to it, so
 * that neither walk can go in circles.
 */
#ifndef TFP_ANALYSIS_HLO_HLO_PROGRAM_H
#define TFP_ANALYSIS_HLO_HLO_PROGRAM_H

#include "analysis/hlo/hlo_opcode.h"
#include "analysis/hlo/hlo_shape.h"

#define TFP_HLO_NONE UINT32_MAX

struct tfp_hlo_op {
	struct tfp_str name;
	struct tfp_str opcode_name; /* as in the file: it may be none of ours */
	struct tfp_str message;     /* the HloInstructionProto */
	uint32_t shape;             /* index in shapes */
	uint32_t computation;
	uint32_t first_operand, operand_count; /* in operands */
	uint32_t first_called, called_count;   /* in called */
	uint32_t first_control, control_count; /* in controls: what has to be done before it */
	uint32_t first_user, user_count;       /* in users: each user once, ascending */
	int64_t id;      /* by which the file names it; unique in its computation */
	uint32_t number; /* of a parameter, or which part of a tuple it takes */
	uint8_t opcode;  /* enum tfp_hlo_opcode */
};

struct tfp_hlo_computation {
	struct tfp_str name;
	struct tfp_str message; /* the HloComputationProto */
	int64_t id;
	uint32_t first, count; /* its instructions, beside one another */
	uint32_t root;         /* index of an instruction */
	bool is_fused;         /* some fusion calls it */
};

struct tfp_hlo_program {
	struct tfp_str name;
	struct tfp_hlo_op *instructions; /* owned, as are all lists */
	uint32_t instruction_count;
	struct tfp_hlo_computation *computations;
	uint32_t computation_count;
	uint32_t entry; /* index of a computation */
	uint32_t *operands, *called, *controls, *users;
	struct tfp_hlo_shapes shapes;
	struct tfp_arena arena;           /* lists of the shapes */
	size_t link_count;                /* operands together */
	struct tfp_str stack_frame_index; /* the StackFrameIndexProto, or "" */
	struct tfp_str proto, module;     /* the HloProto, and its HloModuleProto */
};

/* Reads an HloProto; the bytes are borrowed for as long as the program lives. Released by the
 * caller in any case. TFP_BAD_INPUT for bytes that are no module, or one that XLA would not
 * read: ids that nothing has, operands that come after their users. */
enum tfp_status tfp_hlo_program_init(struct tfp_hlo_program *program, struct tfp_str bytes,
				     struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_hlo_program_release(struct tfp_hlo_program *program);

/* What it takes of the heap. */
uint64_t tfp_hlo_program_heap_bytes(const struct tfp_hlo_program *program);

/* The index of an operand's instruction. */
static inline uint32_t tfp_hlo_operand(const struct tfp_hlo_program *program, uint32_t instruction,
				       uint32_t number)
{
	return program->operands[program->instructions[instruction].first_operand + number];
}

static inline const struct tfp_hlo_shape *tfp_hlo_shape_of(const struct tfp_hlo_program *program,
							   uint32_t instruction)
{
	return &program->shapes.list[program->instructions[instruction].shape];
}

/* The index of a called computation. */
static inline uint32_t tfp_hlo_called(const struct tfp_hlo_program *program, uint32_t instruction,
				      uint32_t number)
{
	return program->called[program->instructions[instruction].first_called + number];
}

/* What an asynchronous operation stands for: the root of the computation that its start calls,
 * when that has only parameters besides; else TFP_HLO_NONE. XLA prints it as that. */
uint32_t tfp_hlo_wrapped(const struct tfp_hlo_program *program, uint32_t instruction);

struct tfp_hlo_dimension {
	int64_t size, stride, padding_low, padding_high, window_dilation, base_dilation;
};

struct tfp_hlo_list {
	int64_t values[TFP_HLO_RANK_MAX];
	size_t count;
};

/* What an instruction says besides; absent fields are as XLA takes them (0, or 1 for counts of
 * groups and dilations). tfp_hlo_metadata is apart: who wants one does not want the other. */
struct tfp_hlo_details {
	struct tfp_str fusion_kind, custom_call_target, backend_config;
	struct tfp_hlo_list dimensions, fft_length;
	struct tfp_hlo_list lhs_contracting;
	struct tfp_hlo_dimension window[TFP_HLO_RANK_MAX];
	size_t window_rank;
	struct {
		int64_t input_batch, input_feature, kernel_input_feature, kernel_output_feature;
		int64_t output_batch, output_feature;
		struct tfp_hlo_list input_spatial, kernel_spatial, output_spatial;
	} convolution;
	int64_t feature_group_count, batch_group_count;
	int64_t largest_replica_group; /* participants; 0 where no groups are named */
};

/* Reads an instruction's message. TFP_BAD_INPUT when it is damaged, or a list in it has more
 * than TFP_HLO_RANK_MAX entries. */
enum tfp_status tfp_hlo_details(const struct tfp_hlo_op *op, struct tfp_hlo_details *details,
				struct tfp_error *err) TFP_CHECK;

/* Where an instruction comes from (xla_data.proto: OpMetadata). Texts are the file's bytes, and
 * numbers 0, where nothing is said. */
struct tfp_hlo_metadata {
	struct tfp_str op_type, op_name, source_file, deduplicated_name, scheduling_name;
	int32_t source_line, source_end_line, source_column, source_end_column;
	int64_t stack_frame; /* number of a frame */
};

/* Damage ends the reading, as everywhere in what is printed. */
struct tfp_hlo_metadata tfp_hlo_metadata(const struct tfp_hlo_op *op);

/* Where in the source of the program an instruction comes from. */
struct tfp_hlo_source {
	struct tfp_str file; /* the file's bytes, or the stack's; "" where nothing is known */
	int32_t line;
	struct tfp_str stack; /* "file:line:column\n" for each frame, innermost first; or "" */
};

/* Frames of a module, in arrays. */
struct tfp_hlo_frames {
	struct tfp_hlo_frame {
		struct tfp_str file, function;
		int32_t line, column;
		uint32_t parent; /* number of another, from 1 on; 0: none */
		bool is_empty;   /* nothing is known of it: a stack ends there */
	} * list;                /* owned; frame number n is list[n - 1] */
	uint32_t count;
};

enum tfp_status tfp_hlo_frames_init(struct tfp_hlo_frames *frames,
				    const struct tfp_hlo_program *program,
				    struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_hlo_frames_release(struct tfp_hlo_frames *frames);

/* A stack has at most so many frames here: parents may go in circles. */
#define TFP_HLO_STACK_MAX 256

/* By the innermost frame of an instruction's stack, else by its metadata, as XProf does
 * (hlo_module_utils.cc, GetSourceInfo). The stack's text is the arena's. false without memory. */
bool tfp_hlo_source_of(const struct tfp_hlo_frames *frames, const struct tfp_hlo_op *op,
		       struct tfp_arena *arena, struct tfp_hlo_source *source);

/* The order in which XLA visits a computation's instructions (HloComputation::Accept): from
 * what has no users, then from the root, depth first, operands before users. order has room
 * for all of them. Sums of 32-bit floats depend on it. TFP_NO_MEMORY. */
enum tfp_status tfp_hlo_visit_order(const struct tfp_hlo_program *program, uint32_t computation,
				    uint32_t *order, struct tfp_error *err) TFP_CHECK;

#endif
