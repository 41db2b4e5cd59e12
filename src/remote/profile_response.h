/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a ProfileResponse as it arrives, piece by piece, and hands on the capture inside it, byte
 * for byte. It keeps nothing but a few numbers.
 *
 * The capture is field 8 (new servers), or the data of an entry of field 6
 * called "xplane.pb" (TPU runtimes). Field 7 says that nothing was traced.
 * If field 8 comes more than once, its parts are handed on one after the other.
 *
 *     struct tfp_profile_response r;
 *     tfp_profile_response_init(&r, write_to_file, &file);
 *     while (...)
 *             tfp_profile_response_feed(&r, bytes, size, &err);
 *     tfp_profile_response_end(&r, &err);
 */
#ifndef TFP_REMOTE_PROFILE_RESPONSE_H
#define TFP_REMOTE_PROFILE_RESPONSE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfp_profile_response {
	/* Found so far. */
	bool empty_trace;       /* field 7 */
	uint64_t capture_bytes; /* handed on */
	unsigned other_data;    /* entries of field 6 that are no capture */

	/* The parser's own. */
	enum tfp_status (*sink)(void *context, const void *bytes, size_t size,
				struct tfp_error *err);
	void *context;
	enum {
		TFP_PR_TAG,
		TFP_PR_VARINT,
		TFP_PR_LENGTH,
		TFP_PR_SKIP,
		TFP_PR_NAME,
		TFP_PR_CAPTURE
	} state;
	enum { TFP_PR_NOTHING, TFP_PR_XSPACE, TFP_PR_TOOL_DATA } source; /* of the capture */
	uint64_t number; /* varint that is being read */
	unsigned digits; /* bytes of it so far */
	uint32_t tag;
	uint64_t left; /* bytes of the value */
	bool in_entry; /* inside an entry of field 6 */
	uint64_t entry_left;
	bool entry_is_capture;
	char name[16]; /* of the entry; longer ones are none that we know */
	size_t name_size;
	uint64_t at; /* bytes read */
};

/* sink takes bytes of the capture, in order. */
void tfp_profile_response_init(struct tfp_profile_response *r,
			       enum tfp_status (*sink)(void *context, const void *bytes,
						       size_t size, struct tfp_error *err),
			       void *context);
/* TFP_BAD_INPUT, with the byte, when it is not protobuf; or the sink's error. */
enum tfp_status tfp_profile_response_feed(struct tfp_profile_response *r, const void *bytes,
					  size_t size, struct tfp_error *err) TFP_CHECK;
/* TFP_BAD_INPUT when the message ends in the middle of a field. */
enum tfp_status tfp_profile_response_end(const struct tfp_profile_response *r,
					 struct tfp_error *err) TFP_CHECK;

#endif
