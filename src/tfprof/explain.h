/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands above a table: a sentence for the view and for each column. On a terminal in our
 * words; a file that is written for other programs has the original's lines, byte for byte.
 */
#ifndef TFP_TFPROF_EXPLAIN_H
#define TFP_TFPROF_EXPLAIN_H

#include "base/buf.h"
#include "tfprof/options.h"

/* misses_streams: whether to warn that nobody timed the accelerators. */
void tfp_put_explanation(struct tfp_buf *out, enum tfp_view_command view,
			 const struct tfp_view_options *o, bool misses_streams);

#endif
