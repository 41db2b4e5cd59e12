/* SPDX-License-Identifier: Apache-2.0 */
/* A view of captures in other forms: for pprof and speedscope, for flame graph scripts, to read. */
#ifndef TFP_TFPROF_CAPTURE_OUTPUT_H
#define TFP_TFPROF_CAPTURE_OUTPUT_H

#include "base/buf.h"
#include "tfprof/capture_answer.h"

/* perftools.profiles.Profile, gzipped: a sample for each row with a part of its own, of its runs
 * and of the request's quantity (times in nanoseconds). Rows are functions; in the code view
 * frames have their file and line. */
enum tfp_status tfp_capture_pprof(const struct tfp_capture_view *view,
				  const struct tfp_capture_request *request,
				  const struct tfp_capture_rows *rows, struct tfp_buf *out,
				  struct tfp_error *err) TFP_CHECK;
/* Boxes for chrome://tracing and Perfetto: each row as long as its total of the request's
 * quantity (times: microseconds), its children below it one after the other. */
void tfp_capture_timeline(const struct tfp_capture_view *view,
			  const struct tfp_capture_request *request,
			  const struct tfp_capture_rows *rows, struct tfp_buf *out);
/* "a;b;c 17" for each row with a part of its own, in whole numbers (times: nanoseconds). */
void tfp_capture_folded(const struct tfp_capture_view *view,
			const struct tfp_capture_request *request,
			const struct tfp_capture_rows *rows, struct tfp_buf *out);
/* The original's table: a legend, then a row for each node with its own part and its total. */
void tfp_capture_text(const struct tfp_capture_view *view,
		      const struct tfp_capture_request *request,
		      const struct tfp_capture_rows *rows, struct tfp_buf *out);

#endif
