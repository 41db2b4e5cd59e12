/* SPDX-License-Identifier: Apache-2.0 */
/* The view of code as a profile that pprof reads (perftools.profiles.Profile, gzipped). */
#ifndef TFP_TFPROF_PPROF_OUTPUT_H
#define TFP_TFPROF_PPROF_OUTPUT_H

#include "tfprof/options.h"
#include "tfprof/tree.h"

/* What is selected must be one amount: else that is told on standard error, and false. */
bool tfp_pprof_allows(const struct tfp_view_options *o);
/* A sample for each node that a displayed line made, with the way that leads there. */
enum tfp_status tfp_pprof_write(const struct tfp_tree *t, const struct tfp_view_options *o,
				struct tfp_error *err) TFP_CHECK;

#endif
