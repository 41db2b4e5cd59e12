/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The derived lines of a TensorCore.
 */
#ifndef TFP_ANALYSIS_TIMELINE_DERIVED_TPU_H
#define TFP_ANALYSIS_TIMELINE_DERIVED_TPU_H

#include "analysis/timeline/derived_plane.h"
#include "analysis/timeline/derived_source.h"

/* Name scopes, framework ops, source lines and copies to the host's memory. */
enum tfp_status tfp_derive_tpu(struct tfp_derived_plane *out,
			       const struct tfp_derived_source *source,
			       struct tfp_error *err) TFP_CHECK;

#endif
