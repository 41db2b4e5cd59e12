/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Framework ops on derived lines: what the event of an op is called and which scopes
 * its name says it lies in (derived_timeline.cc, ProcessTfOpEvent). Captures have few
 * ops and many events, so each op's name is taken apart once.
 */
#ifndef TFP_ANALYSIS_TIMELINE_DERIVED_OPS_H
#define TFP_ANALYSIS_TIMELINE_DERIVED_OPS_H

#include "analysis/timeline/derived_plane.h"

struct tfp_derived_ops {
	struct tfp_derived_plane *plane;
	struct tfp_memo *memo;      /* place in list, by address of the text */
	struct tfp_str_map by_text; /* the same */
	struct tfp_derived_op *list;
	uint32_t count;
	size_t room;
	uint32_t *scopes; /* numbers of names */
	size_t scope_count, scope_room;
};

#define TFP_DERIVED_NO_OP UINT32_MAX

/* plane is kept; failures are noted there. */
void tfp_derived_ops_init(struct tfp_derived_ops *ops, struct tfp_derived_plane *plane);
void tfp_derived_ops_release(struct tfp_derived_ops *ops);

/* The op of this full name, which must live as long as ops; TFP_DERIVED_NO_OP when
 * something failed. */
uint32_t tfp_derived_op(struct tfp_derived_ops *ops, struct tfp_str fullname);
/* Adds its event, and the scopes in its name above it. */
void tfp_derive_framework_op(const struct tfp_derived_ops *ops, uint32_t op,
			     struct tfp_derived_line *scope_line, struct tfp_derived_line *op_line,
			     struct tfp_derived_span span, int32_t group);

#endif
