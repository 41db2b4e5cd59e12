/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The derived line of a GPU that holds its steps.
 */
#ifndef TFP_ANALYSIS_TIMELINE_DERIVED_STEPS_H
#define TFP_ANALYSIS_TIMELINE_DERIVED_STEPS_H

#include "analysis/timeline/derived_plane.h"
#include "analysis/timeline/derived_source.h"

/* Nothing where the capture has no groups. */
enum tfp_status tfp_derive_steps(struct tfp_derived_plane *out,
				 const struct tfp_derived_source *source,
				 struct tfp_error *err) TFP_CHECK;

#endif
