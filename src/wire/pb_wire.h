/* SPDX-License-Identifier: Apache-2.0 */
/* The types of fields in protobuf's wire format, for readers and writers. */
#ifndef TFP_WIRE_PB_WIRE_H
#define TFP_WIRE_PB_WIRE_H

enum tfp_pb_wire {
	TFP_PB_VARINT = 0,
	TFP_PB_FIXED64 = 1,
	TFP_PB_BYTES = 2,
	TFP_PB_GROUP_BEGIN = 3, /* groups left protobuf in 2008: readers skip them */
	TFP_PB_GROUP_END = 4,
	TFP_PB_FIXED32 = 5,
};

#endif
