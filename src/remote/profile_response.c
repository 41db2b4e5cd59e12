/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/profile_response.h"

#include "wire/pb_cursor.h"

#include <inttypes.h>
#include <string.h>

#define TOOL_DATA    TFP_PB_TAG(6, TFP_PB_BYTES)
#define EMPTY_TRACE  TFP_PB_TAG(7, TFP_PB_VARINT)
#define XSPACE       TFP_PB_TAG(8, TFP_PB_BYTES)
#define ENTRY_NAME   TFP_PB_TAG(1, TFP_PB_BYTES)
#define ENTRY_DATA   TFP_PB_TAG(2, TFP_PB_BYTES)
#define CAPTURE_NAME "xplane.pb"

void tfp_profile_response_init(struct tfp_profile_response *r,
			       enum tfp_status (*sink)(void *context, const void *bytes,
						       size_t size, struct tfp_error *err),
			       void *context)
{
	*r = (struct tfp_profile_response){.sink = sink, .context = context};
}

static enum tfp_status damaged(const struct tfp_profile_response *r, const char *what,
			       struct tfp_error *err)
{
	tfp_fail(err, TFP_BAD_INPUT, "the answer is not a profile: %s at byte %" PRIu64, what,
		 r->at);
	return TFP_BAD_INPUT;
}

/* An entry of field 6 ends where its length says. */
static void leave_entry(struct tfp_profile_response *r)
{
	if (!r->in_entry || r->entry_left > 0)
		return;
	r->in_entry = false;
	r->other_data += !r->entry_is_capture;
}

static enum tfp_status begin_value(struct tfp_profile_response *r, struct tfp_error *err)
{
	if (r->number > UINT32_MAX || TFP_PB_FIELD((uint32_t)r->number) == 0)
		return damaged(r, "a field without a number", err);
	r->tag = (uint32_t)r->number;
	r->number = r->digits = 0;
	switch (TFP_PB_WIRE(r->tag)) {
	case TFP_PB_VARINT:
		r->state = TFP_PR_VARINT;
		return TFP_OK;
	case TFP_PB_BYTES:
		r->state = TFP_PR_LENGTH;
		return TFP_OK;
	case TFP_PB_FIXED64:
	case TFP_PB_FIXED32:
		r->left = TFP_PB_WIRE(r->tag) == TFP_PB_FIXED64 ? 8 : 4;
		r->state = TFP_PR_SKIP;
		if (r->in_entry && r->left > r->entry_left)
			return damaged(r, "a field that is longer than what it is in", err);
		return TFP_OK;
	default:
		return damaged(r, "an unknown kind of field", err);
	}
}

/* What to do with a field of known length. */
static enum tfp_status begin_bytes(struct tfp_profile_response *r, struct tfp_error *err)
{
	uint64_t size = r->number;
	r->number = r->digits = 0;
	if (size > (uint64_t)INT64_MAX || (r->in_entry && size > r->entry_left))
		return damaged(r, "a field that is longer than what it is in", err);
	r->left = size;
	r->state = TFP_PR_SKIP;
	if (!r->in_entry && r->tag == TOOL_DATA) {
		r->in_entry = true;
		r->entry_left = size;
		r->entry_is_capture = false;
		r->name_size = 0;
		r->state = TFP_PR_TAG;
		leave_entry(r);
		return TFP_OK;
	}
	if (!r->in_entry && r->tag == XSPACE && r->source != TFP_PR_TOOL_DATA) {
		r->source = TFP_PR_XSPACE;
		r->state = TFP_PR_CAPTURE;
	} else if (r->in_entry && r->tag == ENTRY_NAME) {
		r->name_size = 0;
		r->state = TFP_PR_NAME;
	} else if (r->in_entry && r->tag == ENTRY_DATA && r->source == TFP_PR_NOTHING &&
		   r->name_size == strlen(CAPTURE_NAME) &&
		   memcmp(r->name, CAPTURE_NAME, r->name_size) == 0) {
		r->source = TFP_PR_TOOL_DATA;
		r->entry_is_capture = true;
		r->state = TFP_PR_CAPTURE;
	}
	if (size == 0)
		r->state = TFP_PR_TAG;
	return TFP_OK;
}

/* One more byte of a varint: a tag, a value or a length. */
static enum tfp_status feed_number(struct tfp_profile_response *r, uint8_t byte,
				   struct tfp_error *err)
{
	if (r->digits == 9 && byte > 1)
		return damaged(r, "a number of more than 64 bits", err);
	r->number |= (uint64_t)(byte & 0x7f) << (7 * r->digits);
	r->digits++;
	r->at++;
	if (r->in_entry) {
		if (r->entry_left == 0)
			return damaged(r, "a field that is longer than what it is in", err);
		r->entry_left--;
	}
	if (byte >= 0x80)
		return r->in_entry && r->entry_left == 0
			       ? damaged(r, "a field that is longer than what it is in", err)
			       : TFP_OK;
	switch (r->state) {
	case TFP_PR_TAG: {
		enum tfp_status status = begin_value(r, err);
		if (status == TFP_OK && r->in_entry && r->entry_left == 0)
			return damaged(r, "a field without a value", err);
		return status;
	}
	case TFP_PR_LENGTH: {
		enum tfp_status status = begin_bytes(r, err);
		leave_entry(r);
		return status;
	}
	default:
		if (!r->in_entry && r->tag == EMPTY_TRACE)
			r->empty_trace = r->number != 0;
		r->number = r->digits = 0;
		r->state = TFP_PR_TAG;
		leave_entry(r);
		return TFP_OK;
	}
}

static enum tfp_status feed_bytes(struct tfp_profile_response *r, const uint8_t *bytes, size_t size,
				  struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	if (r->state == TFP_PR_CAPTURE) {
		status = r->sink(r->context, bytes, size, err);
		r->capture_bytes += size;
	} else if (r->state == TFP_PR_NAME) {
		for (size_t i = 0; i < size && r->name_size < sizeof(r->name); i++)
			r->name[r->name_size++] = (char)bytes[i];
	}
	r->at += size;
	r->left -= size;
	if (r->in_entry)
		r->entry_left -= size;
	if (r->left == 0) {
		r->state = TFP_PR_TAG;
		leave_entry(r);
	}
	return status;
}

enum tfp_status tfp_profile_response_feed(struct tfp_profile_response *r, const void *bytes,
					  size_t size, struct tfp_error *err)
{
	const uint8_t *at = bytes, *end = at + size;
	enum tfp_status status = TFP_OK;
	while (at < end && status == TFP_OK) {
		if (r->state <= TFP_PR_LENGTH) {
			status = feed_number(r, *at++, err);
		} else {
			size_t n =
				(size_t)(end - at) < r->left ? (size_t)(end - at) : (size_t)r->left;
			status = feed_bytes(r, at, n, err);
			at += n;
		}
	}
	return status;
}

enum tfp_status tfp_profile_response_end(const struct tfp_profile_response *r,
					 struct tfp_error *err)
{
	if (r->state != TFP_PR_TAG || r->digits || r->in_entry)
		return damaged(r, "it ends in the middle of a field", err);
	return TFP_OK;
}
