/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON, read by jansson in memory of base/alloc. All reading goes through here; what comes out is
 * used by jansson's own functions and let go by json_decref().
 *
 *     status = tfp_json_read(text, size, 0, &json, &where, &err);
 *     if (status == TFP_OK && !json)
 *         complain(where.text);
 *
 * jansson does not look at every allocation of its own: without memory it leaves out bytes of a
 * text, or asserts. So the memory for the token at hand is set aside before reading begins. After
 * the first refusal the text ends there, and nothing of it is used.
 */
#ifndef TFP_WIRE_JSON_READER_H
#define TFP_WIRE_JSON_READER_H

#include "base/error.h"

#include <jansson.h>
#include <stddef.h>

/* flags: jansson's for decoding. *out is the caller's, and NULL when the text is not JSON; where
 * (may be NULL) then says why. TFP_NO_MEMORY is the only error, and *out is NULL. */
enum tfp_status tfp_json_read(const char *text, size_t size, size_t flags, json_t **out,
			      json_error_t *where, struct tfp_error *err) TFP_CHECK;

#endif
