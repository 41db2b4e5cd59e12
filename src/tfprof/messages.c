/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/messages.h"

#include <stdlib.h>
#include <string.h>

bool tfp_read_span(struct tfp_pb_cursor *c, struct tfp_span *span)
{
	return tfp_pb_bytes(c, &span->data, &span->size);
}

bool tfp_read_text(struct tfp_pb_cursor *c, struct tfp_str *text)
{
	const uint8_t *data;
	if (!tfp_pb_bytes(c, &data, &text->size))
		return false;
	text->data = (const char *)data;
	return true;
}

bool tfp_map_entry_read(struct tfp_span message, struct tfp_map_entry *entry)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	uint32_t tag;
	*entry = (struct tfp_map_entry){.key = {"", 0}};
	while (tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(1, TFP_PB_BYTES):
			tfp_read_text(&c, &entry->key);
			break;
		case TFP_PB_TAG(1, TFP_PB_VARINT):
			tfp_pb_int64(&c, &entry->number_key);
			break;
		case TFP_PB_TAG(2, TFP_PB_BYTES):
			tfp_read_span(&c, &entry->value);
			break;
		case TFP_PB_TAG(2, TFP_PB_VARINT):
			tfp_pb_int64(&c, &entry->number_value);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	return !c.damage;
}

/* ---- shapes ---- */

bool tfp_dimension_read(struct tfp_span message, int64_t *size)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	uint32_t tag;
	*size = 0;
	while (tfp_pb_next(&c, &tag)) {
		if (tag == TFP_PB_TAG(1, TFP_PB_VARINT))
			tfp_pb_int64(&c, size);
		else
			tfp_pb_skip(&c, tag);
	}
	return !c.damage;
}

bool tfp_shape_read(struct tfp_profile *p, struct tfp_span message, struct tfp_shape *shape)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	struct tfp_pb_cursor dims = c;
	uint64_t unknown = 0;
	size_t count = 0;
	uint32_t tag;
	*shape = (struct tfp_shape){NULL, 0};
	while (tfp_pb_next(&c, &tag)) {
		count += tag == TFP_PB_TAG(2, TFP_PB_BYTES);
		if (tag == TFP_PB_TAG(3, TFP_PB_VARINT))
			tfp_pb_varint(&c, &unknown);
		else
			tfp_pb_skip(&c, tag);
	}
	if (c.damage)
		return false;
	if (count == 0 && unknown)
		return true;
	shape->dims = tfp_arena_zalloc(&p->arena, count ? count : 1, sizeof(*shape->dims));
	if (!shape->dims)
		return false;
	if (count == 0) {
		shape->dims[shape->rank++] = 1;
		return true;
	}
	while (tfp_pb_next(&dims, &tag)) {
		struct tfp_span dimension;
		if (tag != TFP_PB_TAG(2, TFP_PB_BYTES))
			tfp_pb_skip(&dims, tag);
		else if (tfp_read_span(&dims, &dimension) &&
			 !tfp_dimension_read(dimension, &shape->dims[shape->rank++]))
			return false;
	}
	return true;
}

static int by_index(const void *a, const void *b)
{
	const struct tfp_output_shape *x = a, *y = b;
	return (x->index > y->index) - (x->index < y->index);
}

void tfp_outputs_sort(struct tfp_profile_node *node)
{
	size_t kept = 0;
	if (node->output_count)
		qsort(node->outputs, node->output_count, sizeof(*node->outputs), by_index);
	for (size_t i = 0; i < node->output_count; i++) {
		if (kept && node->outputs[kept - 1].index == node->outputs[i].index)
			kept--;
		node->outputs[kept++] = node->outputs[i];
	}
	node->output_count = kept;
}

/* ---- call stacks ---- */

static struct tfp_str text_of(const struct tfp_profile *p, struct tfp_str text, int64_t id)
{
	static const struct tfp_str unknown = {"unknown", 7};
	if (text.size)
		return text;
	text = tfp_profile_text(p, id);
	return text.data ? text : unknown;
}

static bool read_frame(const struct tfp_profile *p, struct tfp_span message,
		       struct tfp_frame *frame)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	int64_t line = 0, function_line = 0, file = 0, function = 0;
	uint32_t tag;
	*frame = (struct tfp_frame){.file = {"", 0}};
	while (tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(1, TFP_PB_BYTES):
			tfp_read_text(&c, &frame->file);
			break;
		case TFP_PB_TAG(2, TFP_PB_VARINT):
			tfp_pb_int64(&c, &line);
			break;
		case TFP_PB_TAG(3, TFP_PB_BYTES):
			tfp_read_text(&c, &frame->function);
			break;
		case TFP_PB_TAG(5, TFP_PB_VARINT):
			tfp_pb_int64(&c, &function_line);
			break;
		case TFP_PB_TAG(6, TFP_PB_VARINT):
			tfp_pb_int64(&c, &file);
			break;
		case TFP_PB_TAG(7, TFP_PB_VARINT):
			tfp_pb_int64(&c, &function);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	frame->line = (int32_t)line;
	frame->function_line = (int32_t)function_line;
	frame->file = text_of(p, frame->file, file);
	frame->function = text_of(p, frame->function, function);
	return !c.damage;
}

bool tfp_frames_read(struct tfp_profile *p, struct tfp_profile_node *node, struct tfp_span message)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	struct tfp_pb_cursor frames = c;
	size_t count = 0;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		count += tag == TFP_PB_TAG(1, TFP_PB_BYTES);
		tfp_pb_skip(&c, tag);
	}
	if (c.damage)
		return false;
	node->has_frames = true;
	node->frames = tfp_arena_zalloc(&p->arena, count, sizeof(*node->frames));
	if (!node->frames)
		return false;
	while (tfp_pb_next(&frames, &tag)) {
		struct tfp_span frame;
		if (tag != TFP_PB_TAG(1, TFP_PB_BYTES))
			tfp_pb_skip(&frames, tag);
		else if (tfp_read_span(&frames, &frame) &&
			 !read_frame(p, frame, &node->frames[node->frame_count++]))
			return false;
	}
	return true;
}

/* ---- attributes ---- */

bool tfp_attribute_read(struct tfp_span message, struct tfp_attribute *attribute)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	uint32_t tag;
	*attribute = (struct tfp_attribute){0};
	while (tfp_pb_next(&c, &tag)) {
		bool taken;
		switch (tag) {
		case TFP_PB_TAG(TFP_ATTR_LIST, TFP_PB_BYTES):
		case TFP_PB_TAG(TFP_ATTR_TEXT, TFP_PB_BYTES):
		case TFP_PB_TAG(TFP_ATTR_SHAPE, TFP_PB_BYTES):
		case TFP_PB_TAG(TFP_ATTR_TENSOR, TFP_PB_BYTES):
		case TFP_PB_TAG(TFP_ATTR_PLACEHOLDER, TFP_PB_BYTES):
		case TFP_PB_TAG(TFP_ATTR_FUNCTION, TFP_PB_BYTES):
			taken = tfp_read_span(&c, &attribute->bytes);
			break;
		case TFP_PB_TAG(TFP_ATTR_INT, TFP_PB_VARINT):
		case TFP_PB_TAG(TFP_ATTR_BOOL, TFP_PB_VARINT):
		case TFP_PB_TAG(TFP_ATTR_TYPE, TFP_PB_VARINT):
			taken = tfp_pb_int64(&c, &attribute->number);
			break;
		case TFP_PB_TAG(TFP_ATTR_FLOAT, TFP_PB_FIXED32):
			taken = tfp_pb_skip(&c, tag);
			break;
		default:
			/* Of another type it is no member. */
			tfp_pb_skip(&c, tag);
			taken = false;
		}
		if (taken)
			attribute->field = TFP_PB_FIELD(tag);
	}
	return !c.damage;
}

bool tfp_attribute_find(const struct tfp_profile_node *node, const char *name,
			struct tfp_attribute *attribute)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(node->message.data, node->message.size);
	bool found = false;
	uint32_t tag;
	while (node->attribute_field && tfp_pb_next(&c, &tag)) {
		struct tfp_map_entry entry;
		struct tfp_span span;
		if (tag != TFP_PB_TAG(node->attribute_field, TFP_PB_BYTES))
			tfp_pb_skip(&c, tag);
		else if (tfp_read_span(&c, &span) && tfp_map_entry_read(span, &entry) &&
			 tfp_str_equal(entry.key, name))
			found = tfp_attribute_read(entry.value, attribute);
	}
	return found;
}
