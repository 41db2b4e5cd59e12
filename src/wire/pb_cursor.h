/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading protobuf's wire format from bytes that nobody has checked.
 *
 * A cursor walks the fields of one message. Every read is bounds-checked; the
 * first thing that is wrong stops the cursor for good and is remembered with
 * its place, so that a loop ends by itself and its caller looks once:
 *
 *     struct tfp_pb_cursor c = tfp_pb_cursor(data, size);
 *     uint32_t tag;
 *     while (tfp_pb_next(&c, &tag)) {
 *             switch (tag) {
 *             case TFP_PB_TAG(1, TFP_PB_VARINT):
 *                     tfp_pb_varint(&c, &id);
 *                     break;
 *             default:
 *                     tfp_pb_skip(&c, tag);
 *             }
 *     }
 *     if (c.damage) ...
 *
 * Known fields under another wire type fall to the default as unknown ones do,
 * which is what protobuf's own parsers make of them.
 */
#ifndef TFP_WIRE_PB_CURSOR_H
#define TFP_WIRE_PB_CURSOR_H

#include "wire/pb_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TFP_PB_TAG(field, wire) (((uint32_t)(field) << 3) | (uint32_t)(wire))
#define TFP_PB_FIELD(tag)       ((tag) >> 3)
#define TFP_PB_WIRE(tag)        ((tag)&7u)

enum tfp_pb_damage {
	TFP_PB_SOUND = 0,
	TFP_PB_CUT,         /* the message ends inside a number or fixed value */
	TFP_PB_LENGTH,      /* a length goes beyond the end of the message */
	TFP_PB_LONG_VARINT, /* a varint of more than ten bytes, or of more than 64 bits */
	TFP_PB_BAD_TAG,     /* field number 0, wire type 6 or 7, a tag above 32 bits */
	TFP_PB_BAD_GROUP,   /* the end of a group that did not begin, or too deep */
};

struct tfp_pb_cursor {
	const uint8_t *at, *end;
	const uint8_t *damage_at; /* where damage was found, if any */
	enum tfp_pb_damage damage;
};

static inline struct tfp_pb_cursor tfp_pb_cursor(const uint8_t *data, size_t size)
{
	return (struct tfp_pb_cursor){data, data ? data + size : data, NULL, TFP_PB_SOUND};
}

/* Stops the cursor. */
void tfp_pb_stop(struct tfp_pb_cursor *c, enum tfp_pb_damage damage, const uint8_t *at);
/* The general case of tfp_pb_varint. */
bool tfp_pb_long_varint(struct tfp_pb_cursor *c, uint64_t *value);
/* The general case of tfp_pb_next. */
bool tfp_pb_long_tag(struct tfp_pb_cursor *c, uint32_t *tag);
/* Passes over the value of a tag just read. Nested groups: at most 32 deep. */
bool tfp_pb_skip(struct tfp_pb_cursor *c, uint32_t tag);
/* A sentence for a person. */
const char *tfp_pb_damage_text(enum tfp_pb_damage damage);

/* The next field's tag; false at the end, or when stopped. */
static inline bool tfp_pb_next(struct tfp_pb_cursor *c, uint32_t *tag)
{
	if (c->at == c->end)
		return false;
	uint8_t first = *c->at;
	if (first >= 0x80 || first < 8 || (first & 7) > 5)
		return tfp_pb_long_tag(c, tag);
	c->at++;
	*tag = first;
	return true;
}

static inline bool tfp_pb_varint(struct tfp_pb_cursor *c, uint64_t *value)
{
	if (c->at == c->end) {
		tfp_pb_stop(c, TFP_PB_CUT, c->at);
		return false;
	}
	uint8_t first = *c->at;
	if (first < 0x80) {
		c->at++;
		*value = first;
		return true;
	}
	return tfp_pb_long_varint(c, value);
}

/* The number in the bytes of a varint of at most eight, little end first, their uppermost
 * bits cleared. */
static inline uint64_t tfp_pb_join_sevens(uint64_t word)
{
	word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
	word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
	return (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* int64 and int32 fields: two's complement in 64 bits. */
static inline bool tfp_pb_int64(struct tfp_pb_cursor *c, int64_t *value)
{
	uint64_t bits;
	if (!tfp_pb_varint(c, &bits))
		return false;
	*value = (int64_t)bits;
	return true;
}

/* Strings, bytes and messages; *data points into the cursor's bytes. */
static inline bool tfp_pb_bytes(struct tfp_pb_cursor *c, const uint8_t **data, size_t *size)
{
	const uint8_t *start = c->at;
	uint64_t length;
	if (!tfp_pb_varint(c, &length))
		return false;
	if (length > (uint64_t)(c->end - c->at)) {
		tfp_pb_stop(c, TFP_PB_LENGTH, start);
		return false;
	}
	*data = c->at;
	*size = (size_t)length;
	c->at += length;
	return true;
}

/* The numbers behind one tag of a repeated int64 or int32 field. Zeroed for each tag. */
struct tfp_pb_numbers {
	struct tfp_pb_cursor rest; /* of a packed field */
	bool begun;
};

/* The next of them: one where the field is not packed, else any number; false at the end. What is
 * damaged stops the cursor.
 *
 *     struct tfp_pb_numbers n = {0};
 *     while (tfp_pb_next_int64(&c, tag, &n, &value)) */
bool tfp_pb_next_int64(struct tfp_pb_cursor *c, uint32_t tag, struct tfp_pb_numbers *n,
		       int64_t *value);

static inline bool tfp_pb_double(struct tfp_pb_cursor *c, double *value)
{
	if (c->end - c->at < 8) {
		tfp_pb_stop(c, TFP_PB_CUT, c->at);
		return false;
	}
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "doubles are read as they lie in memory; swap them for this machine"
#endif
	memcpy(value, c->at, 8);
	c->at += 8;
	return true;
}

#endif
