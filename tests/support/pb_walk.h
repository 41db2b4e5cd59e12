/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading protobuf's wire format the slow and obvious way, independent of
 * src/wire, to check what others wrote.
 *
 *     struct pb_walk w = pb_walk(bytes, size);
 *     while (pb_next(&w))
 *             if (w.field == 1) ... w.value, or pb_inside(&w)
 *     assert_true(pb_good(&w));
 */
#ifndef TFP_TESTS_SUPPORT_PB_WALK_H
#define TFP_TESTS_SUPPORT_PB_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pb_walk {
	const uint8_t *at, *end;
	bool bad;
	/* The field that pb_next found. */
	uint32_t field, wire;
	uint64_t value;      /* wire types 0, 1 and 5 */
	const uint8_t *data; /* wire type 2 */
	size_t size;
};

struct pb_walk pb_walk(const void *bytes, size_t size);
/* false at the end and at the first thing that is wrong. */
bool pb_next(struct pb_walk *w);
/* A walk through the message that was found. */
struct pb_walk pb_inside(const struct pb_walk *w);
/* Whether everything up to the end was well-formed. */
bool pb_good(const struct pb_walk *w);
/* value as a double. */
double pb_double(const struct pb_walk *w);

#endif
