/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HLO as text, as XLA prints it: instructions (HloInstruction::ToString), shapes with their
 * layouts (ShapeUtil::HumanStringWithLayout) and constants (Literal::ToStringWithoutShapeOneline).
 *
 *     tfp_hlo_write_op(&program, i, TFP_HLO_TEXT_OPERAND_SHAPES, 1000000, &buf);
 *     "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)"
 *
 * Names and texts are written byte by byte, as they are in the file. A failure shows in
 * tfp_buf_failed(out).
 */
#ifndef TFP_ANALYSIS_HLO_HLO_TEXT_H
#define TFP_ANALYSIS_HLO_HLO_TEXT_H

#include "analysis/hlo/hlo_program.h"
#include "base/buf.h"

enum tfp_hlo_text_flags {
	TFP_HLO_TEXT_OPERAND_SHAPES = 1,
	TFP_HLO_TEXT_BACKEND_CONFIG = 2,
	TFP_HLO_TEXT_LARGE_CONSTANTS = 4, /* of more than ten elements */
	/* As XLA reads it back: names without %, operands without counting marks, no order but
	 * that of values. */
	TFP_HLO_TEXT_SHORT = 8,
	TFP_HLO_TEXT_NO_CALLS = 16, /* without the computations that it calls */
};

/* An instruction without indentation and line end; of a text longer than most bytes only as
 * many are appended. Not written: metadata, statistics, the origins of values. */
void tfp_hlo_write_op(const struct tfp_hlo_program *program, uint32_t instruction, unsigned flags,
		      size_t most, struct tfp_buf *out);

/* ", backend_config=" and it, or nothing. */
void tfp_hlo_write_backend_config(const struct tfp_hlo_op *op, struct tfp_buf *out);
/* ", metadata={...}", or nothing; frame: the number of its stack frame, or 0. */
void tfp_hlo_write_metadata(const struct tfp_hlo_op *op, uint32_t frame, struct tfp_buf *out);
/* Its attributes without the computations that it calls, each after a line end. */
void tfp_hlo_write_attributes(const struct tfp_hlo_program *program, uint32_t instruction,
			      size_t most, struct tfp_buf *out);
/* ", frontend_attributes={...}" of a FrontendAttributes, or nothing when it has none. */
void tfp_hlo_write_frontend_attributes(struct tfp_str message, struct tfp_buf *out);
/* A text as it stands between quotes (absl::CEscape). */
void tfp_hlo_write_escaped(struct tfp_str text, struct tfp_buf *out);

/* A ShapeProto; tuples within tuples are followed TFP_HLO_TUPLE_DEPTH_MAX deep. */
void tfp_hlo_write_shape(struct tfp_str message, struct tfp_buf *out);
/* The same without layouts. */
void tfp_hlo_write_plain_shape(struct tfp_str message, struct tfp_buf *out);

/* The values of a LiteralProto that is an array; writing ends when out has end bytes. What
 * cannot be read is written as "{...}", as XLA writes what it leaves out. */
void tfp_hlo_write_literal(struct tfp_str message, size_t end, struct tfp_buf *out);

#endif
