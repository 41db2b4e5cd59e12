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
};

/* An instruction without indentation and line end; of a text longer than most bytes only as
 * many are appended. Not written: metadata, domains, statistics, configurations of infeeds. */
void tfp_hlo_write_op(const struct tfp_hlo_program *program, uint32_t instruction, unsigned flags,
		      size_t most, struct tfp_buf *out);

/* A ShapeProto; tuples within tuples are followed TFP_HLO_TUPLE_DEPTH_MAX deep. */
void tfp_hlo_write_shape(struct tfp_str message, struct tfp_buf *out);

/* The values of a LiteralProto that is an array; writing ends when out has end bytes. What
 * cannot be read is written as "{...}", as XLA writes what it leaves out. */
void tfp_hlo_write_literal(struct tfp_str message, size_t end, struct tfp_buf *out);

#endif
