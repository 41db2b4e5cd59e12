/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The derived lines of a GPU.
 */
#ifndef TFP_ANALYSIS_TIMELINE_DERIVED_GPU_H
#define TFP_ANALYSIS_TIMELINE_DERIVED_GPU_H

#include "analysis/timeline/derived_plane.h"
#include "analysis/timeline/derived_source.h"

/* Steps, launch statistics, and for each stream name scopes, framework ops, XLA
 * modules and ops, source lines. */
enum tfp_status tfp_derive_gpu(struct tfp_derived_plane *out,
			       const struct tfp_derived_source *source,
			       struct tfp_error *err) TFP_CHECK;

#endif
