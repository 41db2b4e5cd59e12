/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/pb_writer.h"

#include <string.h>

size_t tfp_pb_varint_size(uint64_t value)
{
	size_t size = 1;

	while (value >= 0x80) {
		value >>= 7;
		size++;
	}
	return size;
}

static size_t encode_varint(char *out, uint64_t value)
{
	size_t n = 0;

	while (value >= 0x80) {
		out[n++] = (char)(unsigned char)((value & 0x7f) | 0x80);
		value >>= 7;
	}
	out[n++] = (char)(unsigned char)value;
	return n;
}

static size_t encode_key(char *out, uint32_t field, enum tfp_pb_wire wire)
{
	return encode_varint(out, ((uint64_t)field << 3) | (uint64_t)wire);
}

void tfp_pb_put_varint(struct tfp_buf *b, uint64_t value)
{
	char *out = tfp_buf_reserve(b, TFP_PB_VARINT_MAX);

	if (out)
		b->size += encode_varint(out, value);
}

void tfp_pb_key(struct tfp_buf *b, uint32_t field, enum tfp_pb_wire wire)
{
	char *out = tfp_buf_reserve(b, TFP_PB_VARINT_MAX);

	if (out)
		b->size += encode_key(out, field, wire);
}

void tfp_pb_put_uint(struct tfp_buf *b, uint32_t field, uint64_t value)
{
	char *out = tfp_buf_reserve(b, (size_t)2 * TFP_PB_VARINT_MAX);
	size_t n;

	if (!out)
		return;
	n = encode_key(out, field, TFP_PB_VARINT);
	n += encode_varint(out + n, value);
	b->size += n;
}

void tfp_pb_put_int(struct tfp_buf *b, uint32_t field, int64_t value)
{
	tfp_pb_put_uint(b, field, (uint64_t)value);
}

void tfp_pb_put_double(struct tfp_buf *b, uint32_t field, double value)
{
	char *out = tfp_buf_reserve(b, TFP_PB_VARINT_MAX + 8);
	uint64_t bits;
	size_t n;

	if (!out)
		return;
	memcpy(&bits, &value, sizeof(bits));
	n = encode_key(out, field, TFP_PB_FIXED64);
	for (unsigned i = 0; i < 8; i++)
		out[n++] = (char)(unsigned char)(bits >> (8 * i));
	b->size += n;
}

void tfp_pb_put_bytes(struct tfp_buf *b, uint32_t field, const void *bytes, size_t size)
{
	tfp_pb_key(b, field, TFP_PB_BYTES);
	tfp_pb_put_varint(b, size);
	if (size > 0)
		tfp_buf_add(b, bytes, size);
}

void tfp_pb_put_text(struct tfp_buf *b, uint32_t field, const char *text)
{
	tfp_pb_put_bytes(b, field, text, strlen(text));
}

size_t tfp_pb_begin(struct tfp_buf *b, uint32_t field)
{
	char *out = tfp_buf_reserve(b, TFP_PB_VARINT_MAX + 1);

	if (!out)
		return 0;
	/* One byte for the length: enough for nearly every message there is. */
	b->size += encode_key(out, field, TFP_PB_BYTES) + 1;
	return b->size;
}

void tfp_pb_end(struct tfp_buf *b, size_t mark)
{
	size_t size, extra;

	if (tfp_buf_failed(b))
		return;
	size = b->size - mark;
	extra = tfp_pb_varint_size(size) - 1;
	if (extra > 0) {
		if (!tfp_buf_reserve(b, extra))
			return;
		memmove(b->data + mark + extra, b->data + mark, size);
		b->size += extra;
	}
	encode_varint(b->data + mark - 1, size);
}
