/* SPDX-License-Identifier: Apache-2.0 */
/* All that is known of one node of a view of captures, as a document (docs/tools/tfprof.md). */
#ifndef TFP_TFPROF_CAPTURE_DETAILS_H
#define TFP_TFPROF_CAPTURE_DETAILS_H

#include "base/json_writer.h"
#include "tfprof/capture_request.h"

/* Of the node that request->path leads to, in a view that is shown. TFP_NOT_FOUND when there is
 * none. */
enum tfp_status tfp_capture_details_write(const struct tfp_capture_view *view,
					  const struct tfp_capture_request *request,
					  struct tfp_json *j, struct tfp_error *err) TFP_CHECK;

#endif
