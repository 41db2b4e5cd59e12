/* SPDX-License-Identifier: Apache-2.0 */
/* XProf's document of a memory profile, in protobuf's JSON form. */
#ifndef TFP_TOOLS_MEMORY_DOCUMENT_H
#define TFP_TOOLS_MEMORY_DOCUMENT_H

#include "analysis/memory/memory_events.h"
#include "base/buf.h"
#include "base/error.h"
#include "store/capture.h"

/* Appends it to json: of all of the capture's allocators, or of one alone. memory is the
 * capture's. Times are as XProf has them. */
enum tfp_status tfp_memory_document(const struct tfp_capture *capture,
				    const struct tfp_memory *memory,
				    const struct tfp_allocator *only, struct tfp_buf *json,
				    struct tfp_error *err) TFP_CHECK;

#endif
