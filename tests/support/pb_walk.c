/* SPDX-License-Identifier: Apache-2.0 */
#include "pb_walk.h"

#include <string.h>

struct pb_walk pb_walk(const void *bytes, size_t size)
{
	struct pb_walk w = {.at = bytes};

	w.end = size > 0 ? w.at + size : w.at;
	return w;
}

static uint64_t varint(struct pb_walk *w)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte;

		if (w->at == w->end)
			break;
		byte = *w->at++;
		value |= (uint64_t)(byte & 0x7f) << (shift < 64 ? shift : 63);
		if (byte < 0x80)
			return value;
	}
	w->bad = true;
	return 0;
}

static uint64_t fixed(struct pb_walk *w, unsigned bytes)
{
	uint64_t value = 0;

	if ((size_t)(w->end - w->at) < bytes) {
		w->bad = true;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)*w->at++ << (8 * i);
	return value;
}

bool pb_next(struct pb_walk *w)
{
	uint64_t key;

	if (w->bad || w->at == w->end)
		return false;
	key = varint(w);
	w->field = (uint32_t)(key >> 3);
	w->wire = key & 7;
	w->data = NULL;
	w->size = 0;
	w->value = 0;
	if (w->field == 0)
		w->bad = true;
	switch (w->wire) {
	case 0:
		w->value = varint(w);
		break;
	case 1:
		w->value = fixed(w, 8);
		break;
	case 2:
		w->value = varint(w);
		if (w->value > (uint64_t)(w->end - w->at)) {
			w->bad = true;
			break;
		}
		w->data = w->at;
		w->size = (size_t)w->value;
		w->at += w->size;
		break;
	case 5:
		w->value = fixed(w, 4);
		break;
	default:
		w->bad = true;
	}
	return !w->bad;
}

struct pb_walk pb_inside(const struct pb_walk *w)
{
	return pb_walk(w->data, w->size);
}

bool pb_good(const struct pb_walk *w)
{
	return !w->bad && w->at == w->end;
}

double pb_double(const struct pb_walk *w)
{
	double value;

	memcpy(&value, &w->value, sizeof(value));
	return value;
}
