/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing protobuf's wire format into a growable buffer. It knows fields and
 * lengths and no message types: generated code is for those.
 *
 *     struct tfp_buf b;
 *     tfp_buf_init(&b, 1 << 20);
 *     tfp_pb_put_text(&b, 2, "/host:CPU");
 *     size_t line = tfp_pb_begin(&b, 3);
 *     tfp_pb_put_int(&b, 1, -559038737);
 *     tfp_pb_end(&b, line);
 *     if (tfp_buf_failed(&b)) ...
 *
 * Every function writes its field, also when the value is the default that
 * proto3 leaves out: leaving it out is the caller's decision, because inside a
 * oneof it would change the meaning. Failures stay in the buffer
 * (tfp_buf_failed). Field numbers are 1 to 2^29-1 and not checked.
 */
#ifndef TFP_WIRE_PB_WRITER_H
#define TFP_WIRE_PB_WRITER_H

#include "base/buf.h"
#include "wire/pb_wire.h"

#include <stddef.h>
#include <stdint.h>

/* Most bytes of a varint. */
#define TFP_PB_VARINT_MAX 10

/* Bytes that a varint of this value takes, 1 to 10. */
size_t tfp_pb_varint_size(uint64_t value);
/* A varint alone, without a field. */
void tfp_pb_put_varint(struct tfp_buf *b, uint64_t value);
/* A field's key alone; what follows is the caller's. */
void tfp_pb_key(struct tfp_buf *b, uint32_t field, enum tfp_pb_wire wire);

/* uint64, uint32, bool and enum fields. */
void tfp_pb_put_uint(struct tfp_buf *b, uint32_t field, uint64_t value);
/* int64 and int32 fields: a negative number takes 10 bytes. */
void tfp_pb_put_int(struct tfp_buf *b, uint32_t field, int64_t value);
void tfp_pb_put_double(struct tfp_buf *b, uint32_t field, double value);
/* string and bytes fields, and messages that are encoded already. */
void tfp_pb_put_bytes(struct tfp_buf *b, uint32_t field, const void *bytes, size_t size);
void tfp_pb_put_text(struct tfp_buf *b, uint32_t field, const char *text);

/* A nested message: everything written between the two belongs to it. begin
 * returns the mark to hand to end; they nest like brackets. The length is
 * written in as few bytes as it needs, for which end may move the message's
 * bytes: for messages of megabytes, encode apart and use put_bytes. */
size_t tfp_pb_begin(struct tfp_buf *b, uint32_t field);
void tfp_pb_end(struct tfp_buf *b, size_t mark);

#endif
