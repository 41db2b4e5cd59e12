/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a ProfileResponse: whole and in pieces it means the same, and it
 * means what another parser of protobuf makes of it. The first byte is the size
 * of the pieces. */
#include "fuzz.h"

#include "remote/profile_response.h"
#include "wire/pb_cursor.h"

#include <stdbool.h>
#include <string.h>

struct collected {
	uint8_t *bytes;
	size_t size, room;
};

static enum tfp_status collect(void *context, const void *bytes, size_t size, struct tfp_error *err)
{
	struct collected *c = context;
	(void)err;
	/* Never more than there was. */
	MUST(size <= c->room - c->size);
	memcpy(c->bytes + c->size, bytes, size);
	c->size += size;
	return TFP_OK;
}

static enum tfp_status parse(struct tfp_profile_response *r, struct collected *c,
			     const uint8_t *data, size_t size, size_t piece)
{
	struct tfp_error err;
	enum tfp_status status = TFP_OK;
	c->size = 0;
	tfp_error_init(&err);
	tfp_profile_response_init(r, collect, c);
	for (size_t at = 0; at < size && status == TFP_OK; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		status = tfp_profile_response_feed(r, data + at, n, &err);
	}
	if (status == TFP_OK)
		status = tfp_profile_response_end(r, &err);
	MUST(status == TFP_OK || status == TFP_BAD_INPUT);
	MUST(c->size == r->capture_bytes);
	if (status != TFP_OK)
		MUST(err.status == status && err.message[0] != '\0');
	return status;
}

/* Field 8 by the reader of captures, in a message without field 6: it is to be
 * the same, where that reader has no complaint. */
static void compare(const struct tfp_profile_response *r, const struct collected *c,
		    const uint8_t *data, size_t size)
{
	struct tfp_pb_cursor cursor = tfp_pb_cursor(data, size);
	size_t at = 0;
	bool empty = false;
	uint32_t tag;
	while (tfp_pb_next(&cursor, &tag)) {
		const uint8_t *bytes;
		size_t n;
		uint64_t number;
		switch (tag) {
		case TFP_PB_TAG(6, TFP_PB_BYTES):
			return;
		case TFP_PB_TAG(7, TFP_PB_VARINT):
			if (tfp_pb_varint(&cursor, &number))
				empty = number != 0;
			break;
		case TFP_PB_TAG(8, TFP_PB_BYTES):
			if (tfp_pb_bytes(&cursor, &bytes, &n)) {
				MUST(n <= c->size - at);
				MUST(n == 0 || memcmp(c->bytes + at, bytes, n) == 0);
				at += n;
			}
			break;
		default:
			tfp_pb_skip(&cursor, tag);
		}
	}
	MUST(!cursor.damage);
	MUST(at == c->size && empty == r->empty_trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	size_t piece = data[0] % 64 + 1;
	data++;
	size--;
	struct collected whole = {malloc(size + 1), 0, size}, cut = {malloc(size + 1), 0, size};
	struct tfp_profile_response a, b;
	enum tfp_status status = parse(&a, &whole, data, size, size + 1);
	MUST(parse(&b, &cut, data, size, piece) == status);
	MUST(a.empty_trace == b.empty_trace && a.other_data == b.other_data);
	MUST(whole.size == cut.size && memcmp(whole.bytes, cut.bytes, cut.size) == 0);
	if (status == TFP_OK)
		compare(&a, &whole, data, size);
	free(whole.bytes);
	free(cut.bytes);
	return 0;
}
