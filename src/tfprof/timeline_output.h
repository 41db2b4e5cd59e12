/* SPDX-License-Identifier: Apache-2.0 */
/* A view as a trace for chrome://tracing. */
#ifndef TFP_TFPROF_TIMELINE_OUTPUT_H
#define TFP_TFPROF_TIMELINE_OUTPUT_H

#include "tfprof/options.h"
#include "tfprof/profile.h"
#include "tfprof/tree.h"

/* Scopes and lines of code have no time of their own: a box for each row, as long as its total,
 * its children side by side below it. */
enum tfp_status tfp_timeline_of_tree(const struct tfp_tree *t, const struct tfp_view_options *o,
				     struct tfp_error *err) TFP_CHECK;
/* When nodes of the graph ran in a step, on which device, what went from device to device, and
 * what the devices' allocators had given out. */
enum tfp_status tfp_timeline_of_graph(const struct tfp_tree *t, const struct tfp_profile *p,
				      const struct tfp_view_options *o,
				      struct tfp_error *err) TFP_CHECK;

#endif
