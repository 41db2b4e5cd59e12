/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients send to record a profile: the JSON body of a POST, or the parameters of
 * XProf's GET. The fields are those of docs/api.md.
 */
#ifndef TFP_HTTP_RECORDING_REQUEST_H
#define TFP_HTTP_RECORDING_REQUEST_H

#include "base/error.h"
#include "remote/recording_options.h"
#include "tools/tool.h"

#include <stddef.h>
#include <stdint.h>

/* *out is freed with tfp_free. TFP_BAD_QUERY for a field that is not what it must be. */
enum tfp_status tfp_recording_request_body(struct tfp_recording_options **out, const char *body,
					   size_t size, struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_recording_request_query(struct tfp_recording_options **out,
					    const struct tfp_query *query,
					    struct tfp_error *err) TFP_CHECK;
/* The number in {"id": N}; 0, which no recording has, when there is none. */
enum tfp_status tfp_recording_request_id(uint64_t *out, const char *body, size_t size,
					 struct tfp_error *err) TFP_CHECK;

#endif
