/* SPDX-License-Identifier: Apache-2.0 */
/* Where results go: standard output, which may be a terminal, and files. */
#ifndef TFP_TFPROF_OUTPUT_H
#define TFP_TFPROF_OUTPUT_H

#include "base/buf.h"
#include "base/error.h"

/* Control characters that names bring along are shown as '?' on a terminal; elsewhere bytes stay
 * as they are. A reader that has seen enough is no failure. */
enum tfp_status tfp_print(struct tfp_buf *text, struct tfp_error *err) TFP_CHECK;
/* false, with the original's text for why in reason ("Not found: F; No such file or directory"),
 * when the file cannot be written. */
bool tfp_write_file(const char *path, const void *bytes, size_t size, char *reason,
		    size_t reason_size);
/* The original's word for an errno: "Not found", "Permission denied", ... */
const char *tfp_errno_kind(int error);

#endif
