/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole program as text, line by line, as XLA prints it (HloModule::ToString): short, in the
 * form that XLA reads back, or long, with all constants.
 *
 *     struct tfp_hlo_listing listing;
 *     status = tfp_hlo_listing_init(&listing, &program, TFP_HLO_LISTING_LONG, &err);
 *     for (uint64_t line = 0; line < listing.line_count; line++)
 *             tfp_hlo_listing_write(&listing, line, 4096, &buf);
 *     tfp_hlo_listing_release(&listing);
 *
 * Any line can be had without those before it: a program has a million of them.
 */
#ifndef TFP_ANALYSIS_HLO_HLO_LISTING_H
#define TFP_ANALYSIS_HLO_HLO_LISTING_H

#include "analysis/hlo/hlo_program.h"
#include "base/buf.h"
#include "base/sink.h"

enum tfp_hlo_listing_flags {
	TFP_HLO_LISTING_SHORT = 0,     /* as XLA reads it back */
	TFP_HLO_LISTING_NAMED = 1,     /* with % before names, and the shapes of computations */
	TFP_HLO_LISTING_CONSTANTS = 2, /* those of more than ten elements, too */
	TFP_HLO_LISTING_LONG = TFP_HLO_LISTING_NAMED | TFP_HLO_LISTING_CONSTANTS,
	TFP_HLO_LISTING_METADATA = 4, /* of each instruction, with the tables of stacks */
};

struct tfp_hlo_listing {
	const struct tfp_hlo_program *program; /* borrowed, and outlives the listing */
	unsigned flags;
	uint64_t line_count;
	struct tfp_buf head;  /* all that comes before the computations */
	uint64_t *head_lines; /* where each of its lines begins, and its end */
	uint64_t head_line_count;
	uint32_t *computations; /* those that are printed, in their order */
	uint64_t *first_lines;  /* of each of these */
	uint64_t *line_of;      /* of each computation its first line; UINT64_MAX: not printed */
	uint32_t computation_count;
	uint32_t *order;  /* instructions, computation by computation, as they are scheduled */
	uint32_t *places; /* of each instruction its place among its computation's */
	uint32_t *frames; /* with metadata: the number of each instruction's frame, or 0 */
};

/* Released by the caller in any case. TFP_NO_MEMORY. */
enum tfp_status tfp_hlo_listing_init(struct tfp_hlo_listing *listing,
				     const struct tfp_hlo_program *program, unsigned flags,
				     struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_hlo_listing_release(struct tfp_hlo_listing *listing);

/* What a line is of. */
struct tfp_hlo_line {
	uint32_t computation; /* TFP_HLO_NONE: of the head, or empty */
	uint32_t instruction; /* TFP_HLO_NONE: of none */
	bool is_cut;          /* there is more than was wanted */
};

/* Appends a line (which must be one) without its end; of a long one only most bytes. A failure
 * shows in tfp_buf_failed(out). */
struct tfp_hlo_line tfp_hlo_listing_write(const struct tfp_hlo_listing *listing, uint64_t line,
					  size_t most, struct tfp_buf *out);
/* The line of an instruction; UINT64_MAX when it is not printed (it is within an asynchronous
 * operation's computation, which XLA prints as one). */
uint64_t tfp_hlo_listing_line_of(const struct tfp_hlo_listing *listing, uint32_t instruction);

/* Writes all of it, piece after piece. */
enum tfp_status tfp_hlo_listing_write_all(const struct tfp_hlo_listing *listing,
					  const struct tfp_sink *sink,
					  struct tfp_error *err) TFP_CHECK;

#endif
