/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/pb_cursor.h"

#define MAX_GROUP_DEPTH 32u

void tfp_pb_stop(struct tfp_pb_cursor *c, enum tfp_pb_damage damage, const uint8_t *at)
{
	if (c->damage == TFP_PB_SOUND) {
		c->damage = damage;
		c->damage_at = at;
	}
	c->at = c->end;
}

static bool stop(struct tfp_pb_cursor *c, enum tfp_pb_damage damage, const uint8_t *at)
{
	tfp_pb_stop(c, damage, at);
	return false;
}

/* Eight bytes at once: the end of a varint is its first byte below 0x80, and the seven
 * bits of each are pushed together in three steps. false where it is longer. */
static inline bool short_varint(struct tfp_pb_cursor *c, uint64_t *value)
{
	uint64_t word;
	memcpy(&word, c->at, sizeof(word));
	uint64_t ends = ~word & UINT64_C(0x8080808080808080);
	if (ends == 0)
		return false;
	word &= (ends ^ (ends - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
	*value = tfp_pb_join_sevens(word);
	c->at += (__builtin_ctzll(ends) >> 3) + 1;
	return true;
}

bool tfp_pb_long_varint(struct tfp_pb_cursor *c, uint64_t *value)
{
	const uint8_t *p = c->at;
	uint64_t v = 0;
	if (c->end - p >= 8 && short_varint(c, value))
		return true;
	for (unsigned shift = 0; shift < 70; shift += 7, p++) {
		if (p == c->end)
			return stop(c, TFP_PB_CUT, c->at);
		v |= (uint64_t)(*p & 0x7f) << shift;
		if (*p < 0x80) {
			/* The tenth byte has room for one bit. */
			if (shift == 63 && *p > 1)
				break;
			c->at = p + 1;
			*value = v;
			return true;
		}
	}
	return stop(c, TFP_PB_LONG_VARINT, c->at);
}

bool tfp_pb_long_tag(struct tfp_pb_cursor *c, uint32_t *tag)
{
	const uint8_t *start = c->at;
	uint64_t value;
	if (!tfp_pb_varint(c, &value))
		return false;
	if (value > UINT32_MAX || value < 8 || (value & 7) > 5)
		return stop(c, TFP_PB_BAD_TAG, start);
	*tag = (uint32_t)value;
	return true;
}

static bool skip_value(struct tfp_pb_cursor *c, uint32_t tag)
{
	const uint8_t *data;
	uint64_t value;
	size_t size;
	switch (TFP_PB_WIRE(tag)) {
	case TFP_PB_VARINT:
		return tfp_pb_varint(c, &value);
	case TFP_PB_BYTES:
		return tfp_pb_bytes(c, &data, &size);
	case TFP_PB_FIXED64:
	case TFP_PB_FIXED32:
		size = TFP_PB_WIRE(tag) == TFP_PB_FIXED64 ? 8 : 4;
		if ((size_t)(c->end - c->at) < size)
			return stop(c, TFP_PB_CUT, c->at);
		c->at += size;
		return true;
	default:
		return stop(c, TFP_PB_BAD_GROUP, c->at);
	}
}

bool tfp_pb_skip(struct tfp_pb_cursor *c, uint32_t tag)
{
	uint32_t open[MAX_GROUP_DEPTH];
	unsigned depth = 0;
	for (;;) {
		if (TFP_PB_WIRE(tag) == TFP_PB_GROUP_BEGIN) {
			if (depth == MAX_GROUP_DEPTH)
				return stop(c, TFP_PB_BAD_GROUP, c->at);
			open[depth++] = TFP_PB_FIELD(tag);
		} else if (TFP_PB_WIRE(tag) == TFP_PB_GROUP_END) {
			if (depth == 0 || open[--depth] != TFP_PB_FIELD(tag))
				return stop(c, TFP_PB_BAD_GROUP, c->at);
		} else if (!skip_value(c, tag)) {
			return false;
		}
		if (depth == 0)
			return true;
		if (!tfp_pb_next(c, &tag))
			return stop(c, TFP_PB_CUT, c->at);
	}
}

bool tfp_pb_next_int64(struct tfp_pb_cursor *c, uint32_t tag, struct tfp_pb_numbers *n,
		       int64_t *value)
{
	const bool begun = n->begun;
	const uint8_t *data;
	size_t size;
	n->begun = true;
	if (TFP_PB_WIRE(tag) != TFP_PB_BYTES)
		return !begun && tfp_pb_int64(c, value);
	if (!begun) {
		if (!tfp_pb_bytes(c, &data, &size))
			return false;
		n->rest = tfp_pb_cursor(data, size);
	}
	if (n->rest.at == n->rest.end)
		return false;
	if (tfp_pb_int64(&n->rest, value))
		return true;
	return stop(c, n->rest.damage, n->rest.damage_at);
}

const char *tfp_pb_damage_text(enum tfp_pb_damage damage)
{
	switch (damage) {
	case TFP_PB_SOUND:
		break;
	case TFP_PB_CUT:
		return "the data ends in the middle of a value";
	case TFP_PB_LENGTH:
		return "a length goes beyond the end of its message";
	case TFP_PB_LONG_VARINT:
		return "a number is longer than any 64-bit number";
	case TFP_PB_BAD_TAG:
		return "a field has an impossible number or type";
	case TFP_PB_BAD_GROUP:
		return "a group of fields is not closed as it was opened";
	}
	return "sound";
}
