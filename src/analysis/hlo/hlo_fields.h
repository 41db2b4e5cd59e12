/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of HLO's messages picked one at a time, for what is asked seldom. Each walks the
 * message; what is damaged reads as if it ended there. Theirs alone who print HLO or read its
 * metadata.
 */
#ifndef TFP_ANALYSIS_HLO_HLO_FIELDS_H
#define TFP_ANALYSIS_HLO_HLO_FIELDS_H

#include "base/buf.h"
#include "store/capture.h"
#include "wire/pb_cursor.h"

static inline struct tfp_pb_cursor tfp_hlo_walk(struct tfp_str message)
{
	return tfp_pb_cursor((const uint8_t *)message.data, message.size);
}

static inline struct tfp_str tfp_hlo_bytes(struct tfp_pb_cursor *c)
{
	const uint8_t *data;
	size_t size;
	if (!tfp_pb_bytes(c, &data, &size))
		return (struct tfp_str){"", 0};
	return (struct tfp_str){(const char *)data, size};
}

/* The next text or message of a field, in their order; false when there are no more. */
static inline bool tfp_hlo_next(struct tfp_pb_cursor *c, uint32_t field, struct tfp_str *value)
{
	uint32_t tag;
	while (tfp_pb_next(c, &tag)) {
		if (tag == TFP_PB_TAG(field, TFP_PB_BYTES)) {
			*value = tfp_hlo_bytes(c);
			return !c->damage;
		}
		tfp_pb_skip(c, tag);
	}
	return false;
}

/* The last text or message of a field; false, with value empty, when there is none. */
static inline bool tfp_hlo_field(struct tfp_str message, uint32_t field, struct tfp_str *value)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(message);
	struct tfp_str found;
	bool any = false;
	*value = (struct tfp_str){"", 0};
	while (tfp_hlo_next(&c, field, &found)) {
		*value = found;
		any = true;
	}
	return any;
}

/* The last number of a field, or what stands for an absent one. */
static inline int64_t tfp_hlo_number(struct tfp_str message, uint32_t field, int64_t absent)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(message);
	int64_t value = absent, found;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		if (tag != TFP_PB_TAG(field, TFP_PB_VARINT))
			tfp_pb_skip(&c, tag);
		else if (tfp_pb_int64(&c, &found))
			value = found;
	}
	return value;
}

/* All numbers of a repeated field, packed or not. */
struct tfp_hlo_numbers {
	struct tfp_pb_cursor message, packed;
	uint32_t field;
};

static inline struct tfp_hlo_numbers tfp_hlo_numbers(struct tfp_str message, uint32_t field)
{
	return (struct tfp_hlo_numbers){tfp_hlo_walk(message), tfp_pb_cursor(NULL, 0), field};
}

static inline bool tfp_hlo_next_number(struct tfp_hlo_numbers *n, int64_t *value)
{
	uint32_t tag;
	for (;;) {
		if (n->packed.at != n->packed.end && !n->packed.damage)
			return tfp_pb_int64(&n->packed, value);
		if (!tfp_pb_next(&n->message, &tag))
			return false;
		if (tag == TFP_PB_TAG(n->field, TFP_PB_VARINT))
			return tfp_pb_int64(&n->message, value);
		if (tag == TFP_PB_TAG(n->field, TFP_PB_BYTES))
			n->packed = tfp_hlo_walk(tfp_hlo_bytes(&n->message));
		else
			tfp_pb_skip(&n->message, tag);
	}
}

#endif
