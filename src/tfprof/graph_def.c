/* SPDX-License-Identifier: Apache-2.0 */
/* GraphDef and its nodes. */
#include "tfprof/messages.h"
#include "tfprof/sources.h"

#include <string.h>

/* "name", "name:2", "^name": the source, and which of its outputs. */
static void read_source(struct tfp_str text, struct tfp_node_input *input)
{
	const char *colon = text.size ? memchr(text.data, ':', text.size) : NULL;
	input->output = 0;
	if (colon) {
		const char *digit = text.data + text.size;
		uint64_t number = 0, unit = 1;
		/* With several colons (functions have them) the last number is the output. */
		while (digit > colon + 1 && digit[-1] >= '0' && digit[-1] <= '9' &&
		       unit <= 100000000) {
			number += unit * (uint64_t)(*--digit - '0');
			unit *= 10;
		}
		input->output = (int64_t)number;
		text.size = (size_t)(colon - text.data);
	}
	if (text.size && text.data[0] == '^') {
		text.data++;
		text.size--;
	}
	input->name = text;
}

static bool read_outputs(struct tfp_profile *p, struct tfp_profile_node *node, struct tfp_span list)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(list.data, list.size);
	struct tfp_pb_cursor shapes = c;
	size_t count = 0;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		count += tag == TFP_PB_TAG(7, TFP_PB_BYTES);
		tfp_pb_skip(&c, tag);
	}
	if (c.damage)
		return false;
	node->outputs = tfp_arena_zalloc(&p->arena, count, sizeof(*node->outputs));
	node->output_count = 0;
	if (!node->outputs)
		return false;
	while (tfp_pb_next(&shapes, &tag)) {
		struct tfp_span shape;
		if (tag != TFP_PB_TAG(7, TFP_PB_BYTES)) {
			tfp_pb_skip(&shapes, tag);
			continue;
		}
		struct tfp_output_shape *out = &node->outputs[node->output_count];
		out->index = (int64_t)node->output_count++;
		if (tfp_read_span(&shapes, &shape) && !tfp_shape_read(p, shape, &out->shape))
			return false;
	}
	return true;
}

static bool read_attribute(struct tfp_profile *p, struct tfp_profile_node *node,
			   struct tfp_span message)
{
	struct tfp_map_entry entry;
	struct tfp_attribute value;
	if (!tfp_map_entry_read(message, &entry) || !tfp_attribute_read(entry.value, &value))
		return false;
	if (value.field == TFP_ATTR_SHAPE && tfp_str_equal(entry.key, "shape"))
		return tfp_shape_read(p, value.bytes, &node->shape);
	if (value.field == TFP_ATTR_LIST && tfp_str_equal(entry.key, "_output_shapes"))
		return read_outputs(p, node, value.bytes);
	return true;
}

/* Name and op, how many inputs there are, and whether the bytes are sound. */
static bool read_head(struct tfp_span message, struct tfp_str *name, struct tfp_str *op,
		      size_t *inputs)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	uint32_t tag;
	*name = *op = (struct tfp_str){"", 0};
	*inputs = 0;
	while (tfp_pb_next(&c, &tag)) {
		if (tag == TFP_PB_TAG(1, TFP_PB_BYTES)) {
			tfp_read_text(&c, name);
		} else if (tag == TFP_PB_TAG(2, TFP_PB_BYTES)) {
			tfp_read_text(&c, op);
		} else {
			*inputs += tag == TFP_PB_TAG(3, TFP_PB_BYTES);
			tfp_pb_skip(&c, tag);
		}
	}
	return !c.damage;
}

static enum tfp_status read_node(struct tfp_profile *p, struct tfp_span message,
				 struct tfp_error *err)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	struct tfp_str name, op;
	size_t inputs;
	uint32_t tag;
	if (!read_head(message, &name, &op, &inputs))
		return tfp_fail(err, TFP_BAD_INPUT, "a node of the graph is damaged");
	if (tfp_profile_find(p, name))
		return TFP_OK;
	struct tfp_profile_node *node = tfp_profile_add_node(p, name, op);
	if (node)
		node->inputs = tfp_arena_zalloc(&p->arena, inputs, sizeof(*node->inputs));
	if (!node || !node->inputs)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the graph");
	node->message = message;
	node->attribute_field = 5;
	while (tfp_pb_next(&c, &tag)) {
		struct tfp_span span;
		struct tfp_str text;
		if (tag == TFP_PB_TAG(3, TFP_PB_BYTES) && tfp_read_text(&c, &text)) {
			struct tfp_node_input *input = &node->inputs[node->input_count];
			input->index = (int64_t)node->input_count++;
			read_source(text, input);
		} else if (tag == TFP_PB_TAG(5, TFP_PB_BYTES) && tfp_read_span(&c, &span)) {
			if (!read_attribute(p, node, span))
				return tfp_fail(err, TFP_BAD_INPUT,
						"an attribute of node \"%.*s\" is damaged",
						(int)(name.size < 200 ? name.size : 200),
						name.data);
		} else {
			tfp_pb_skip(&c, tag);
		}
	}
	return TFP_OK;
}

enum tfp_status tfp_graph_def_read(struct tfp_profile *p, struct tfp_span bytes,
				   struct tfp_error *err)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(bytes.data, bytes.size);
	enum tfp_status status = TFP_OK;
	uint32_t tag;
	while (status == TFP_OK && tfp_pb_next(&c, &tag)) {
		struct tfp_span node;
		const uint8_t *at = c.at;
		if (tag != TFP_PB_TAG(1, TFP_PB_BYTES)) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		if (tfp_read_span(&c, &node))
			status = read_node(p, node, err);
		if (status != TFP_OK)
			tfp_error_set_offset(err, (uint64_t)(at - bytes.data));
	}
	if (status == TFP_OK && c.damage) {
		status = tfp_fail(err, TFP_BAD_INPUT, "no graph: %s", tfp_pb_damage_text(c.damage));
		tfp_error_set_offset(err, (uint64_t)(c.damage_at - bytes.data));
	}
	return status;
}
