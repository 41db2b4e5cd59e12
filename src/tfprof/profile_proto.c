/* SPDX-License-Identifier: Apache-2.0 */
/* ProfileProto: the original's own format, which holds all of the other messages. */
#include "tfprof/messages.h"
#include "tfprof/sources.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* A node by the id that others know it by. */
struct known {
	int64_t id;
	size_t place;
	struct tfp_profile_node *node;
};

struct reader {
	struct tfp_profile *p;
	struct known *known; /* owned; by id once all nodes are there */
	size_t count, room;
};

static enum tfp_status bad(struct tfp_error *err, const char *what)
{
	return tfp_fail(err, TFP_BAD_INPUT, "%s cannot be read", what);
}

static int by_id(const void *a, const void *b)
{
	const struct known *x = a, *y = b;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* Of several of one id the last: an entry of a map replaces those before. */
static struct tfp_profile_node *find(const struct reader *r, int64_t id)
{
	size_t from = 0, to = r->count;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (r->known[middle].id <= id)
			from = middle + 1;
		else
			to = middle;
	}
	return from > 0 && r->known[from - 1].id == id ? r->known[from - 1].node : NULL;
}

/* Repeated int64: packed, or each by itself. *count is how many were there; at most max are
 * stored. */
static bool read_ints(struct tfp_span message, uint32_t field, int64_t *values, size_t max,
		      size_t *count)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	uint32_t tag;
	*count = 0;
	while (tfp_pb_next(&c, &tag)) {
		struct tfp_span packed;
		int64_t value;
		if (tag == TFP_PB_TAG(field, TFP_PB_VARINT)) {
			if (tfp_pb_int64(&c, &value) && (*count)++ < max)
				values[*count - 1] = value;
		} else if (tag == TFP_PB_TAG(field, TFP_PB_BYTES) && tfp_read_span(&c, &packed)) {
			struct tfp_pb_cursor in = tfp_pb_cursor(packed.data, packed.size);
			while (in.at != in.end && tfp_pb_int64(&in, &value)) {
				if ((*count)++ < max)
					values[*count - 1] = value;
			}
			if (in.damage)
				return false;
		} else {
			tfp_pb_skip(&c, tag);
		}
	}
	return !c.damage;
}

static bool read_shape(struct tfp_profile *p, struct tfp_span message, uint32_t field,
		       struct tfp_shape *shape)
{
	size_t count;
	if (!read_ints(message, field, NULL, 0, &count))
		return false;
	shape->rank = count;
	shape->dims = tfp_arena_zalloc(&p->arena, count, sizeof(*shape->dims));
	return shape->dims && read_ints(message, field, shape->dims, count, &count);
}

/* A map's value: the times of a device. */
static bool add_times(struct tfp_profile *p, struct tfp_exec *exec, struct tfp_span message,
		      bool accelerator)
{
	struct tfp_map_entry entry;
	struct tfp_interval interval = {.accelerator = accelerator};
	uint32_t tag;
	if (!tfp_map_entry_read(message, &entry) ||
	    !tfp_profile_device(p, entry.key, &interval.device))
		return false;
	struct tfp_pb_cursor c = tfp_pb_cursor(entry.value.data, entry.value.size);
	while (tfp_pb_next(&c, &tag)) {
		struct tfp_span tuple;
		int64_t pair[2] = {0, 0};
		size_t count;
		if (tag != TFP_PB_TAG(1, TFP_PB_BYTES)) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		if (!tfp_read_span(&c, &tuple) || !read_ints(tuple, 1, pair, 2, &count))
			return false;
		interval.start_us = pair[0];
		interval.duration_us = pair[1];
		if (!tfp_profile_add_interval(p, exec, &interval))
			return false;
	}
	return !c.damage;
}

static bool add_memory(struct tfp_profile *p, struct tfp_exec *exec, struct tfp_span message)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	int64_t values[11] = {0};
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		uint32_t field = TFP_PB_FIELD(tag);
		if (TFP_PB_WIRE(tag) == TFP_PB_VARINT && field < 11)
			tfp_pb_int64(&c, &values[field]);
		else
			tfp_pb_skip(&c, tag);
	}
	exec->accelerator_persistent_bytes =
		tfp_wrap_add(exec->accelerator_persistent_bytes, values[5]);
	exec->requested_bytes = tfp_wrap_add(exec->requested_bytes, values[6]);
	exec->peak_bytes = tfp_wrap_add(exec->peak_bytes, values[7]);
	exec->residual_bytes = tfp_wrap_add(exec->residual_bytes, values[8]);
	exec->output_bytes = tfp_wrap_add(exec->output_bytes, values[9]);
	return !c.damage && tfp_profile_add_bytes(p, &exec->in_use, values[1], values[10]);
}

static bool add_allocation(struct tfp_profile *p, struct tfp_exec *exec, struct tfp_span message)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	int64_t values[3] = {0};
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		uint32_t field = TFP_PB_FIELD(tag);
		if (TFP_PB_WIRE(tag) == TFP_PB_VARINT && field < 3)
			tfp_pb_int64(&c, &values[field]);
		else
			tfp_pb_skip(&c, tag);
	}
	return !c.damage && tfp_profile_add_bytes(p, &exec->allocations, values[1], values[2]);
}

static bool read_exec(struct tfp_profile *p, struct tfp_exec *exec, struct tfp_span message)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	bool good = true;
	uint32_t tag;
	while (good && tfp_pb_next(&c, &tag)) {
		struct tfp_span span;
		switch (tag) {
		case TFP_PB_TAG(1, TFP_PB_VARINT):
			tfp_pb_int64(&c, &exec->runs);
			break;
		case TFP_PB_TAG(2, TFP_PB_VARINT):
			tfp_pb_int64(&c, &exec->start_us);
			break;
		case TFP_PB_TAG(3, TFP_PB_VARINT):
			tfp_pb_int64(&c, &exec->end_us);
			break;
		case TFP_PB_TAG(4, TFP_PB_BYTES):
		case TFP_PB_TAG(5, TFP_PB_BYTES):
			if (tfp_read_span(&c, &span))
				good = add_times(p, exec, span, TFP_PB_FIELD(tag) == 4);
			break;
		case TFP_PB_TAG(7, TFP_PB_BYTES):
			if (tfp_read_span(&c, &span))
				good = add_memory(p, exec, span);
			break;
		case TFP_PB_TAG(11, TFP_PB_BYTES):
			if (tfp_read_span(&c, &span))
				good = add_allocation(p, exec, span);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	return good && !c.damage;
}

static bool add_exec(struct tfp_profile *p, struct tfp_profile_node *node, struct tfp_span message)
{
	struct tfp_map_entry entry;
	if (!tfp_map_entry_read(message, &entry))
		return false;
	struct tfp_exec *exec = tfp_profile_exec(p, node, entry.number_key);
	return exec && read_exec(p, exec, entry.value);
}

static bool add_output(struct tfp_profile *p, struct tfp_profile_node *node,
		       struct tfp_span message)
{
	struct tfp_map_entry entry;
	struct tfp_output_shape *out = &node->outputs[node->output_count];
	if (!tfp_map_entry_read(message, &entry))
		return false;
	node->output_count++;
	out->index = entry.number_key;
	return read_shape(p, entry.value, 1, &out->shape);
}

/* Fields of one entry each. */
static bool read_field(struct tfp_profile *p, struct tfp_profile_node *node, uint32_t field,
		       struct tfp_span span)
{
	struct tfp_str text = {(const char *)span.data, span.size};
	switch (field) {
	case 5:
		return tfp_profile_add_type(p, node, text);
	case 6:
		node->device = text;
		return true;
	case 7:
		node->has_host = text.size != 0;
		return true;
	case 10:
		node->frame_count = 0;
		return tfp_frames_read(p, node, span);
	case 12:
		return add_exec(p, node, span);
	case 15:
		return add_output(p, node, span);
	default:
		return true;
	}
}

static bool read_node(struct tfp_profile *p, struct tfp_profile_node *node, struct tfp_span message)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	uint32_t tag;
	node->message = message;
	node->attribute_field = 11;
	/* What is stored is all: the op is no type by itself. */
	node->type_list = NULL;
	node->type_count = 0;
	if (!read_shape(p, message, 4, &node->shape))
		return false;
	while (tfp_pb_next(&c, &tag)) {
		struct tfp_span span;
		if (tag == TFP_PB_TAG(8, TFP_PB_VARINT)) {
			tfp_pb_int64(&c, &node->float_ops);
		} else if (TFP_PB_WIRE(tag) == TFP_PB_BYTES && TFP_PB_FIELD(tag) != 4) {
			if (tfp_read_span(&c, &span) &&
			    !read_field(p, node, TFP_PB_FIELD(tag), span))
				return false;
		} else {
			tfp_pb_skip(&c, tag);
		}
	}
	tfp_outputs_sort(node);
	return !c.damage;
}

/* Makes the node; what counts up is counted, so that there is room. */
static bool add_node(struct reader *r, struct tfp_span message)
{
	struct tfp_profile *p = r->p;
	struct tfp_map_entry entry;
	struct tfp_str name = {"", 0}, op = {"", 0};
	size_t inputs = 0, outputs = 0;
	uint32_t tag;
	if (!tfp_map_entry_read(message, &entry) || !TFP_GROW(r->known, r->count, r->room))
		return false;
	struct tfp_pb_cursor c = tfp_pb_cursor(entry.value.data, entry.value.size);
	while (tfp_pb_next(&c, &tag)) {
		if (tag == TFP_PB_TAG(1, TFP_PB_BYTES)) {
			tfp_read_text(&c, &name);
		} else if (tag == TFP_PB_TAG(9, TFP_PB_BYTES)) {
			tfp_read_text(&c, &op);
		} else {
			inputs += tag == TFP_PB_TAG(2, TFP_PB_BYTES);
			outputs += tag == TFP_PB_TAG(15, TFP_PB_BYTES);
			tfp_pb_skip(&c, tag);
		}
	}
	struct tfp_profile_node *node = c.damage ? NULL : tfp_profile_find(p, name);
	if (!node && !c.damage) {
		node = tfp_profile_add_node(p, name, op);
		if (node) {
			node->inputs = tfp_arena_zalloc(&p->arena, inputs, sizeof(*node->inputs));
			node->outputs =
				tfp_arena_zalloc(&p->arena, outputs, sizeof(*node->outputs));
		}
		if (!node || !node->inputs || !node->outputs || !read_node(p, node, entry.value))
			return false;
	}
	r->known[r->count] = (struct known){entry.number_key, r->count, node};
	r->count++;
	return node != NULL;
}

static int by_index(const void *a, const void *b)
{
	const struct tfp_node_input *x = a, *y = b;
	return (x->index > y->index) - (x->index < y->index);
}

/* Which output of a source an input is: by the source's id. */
static bool read_sources(const struct reader *r, struct tfp_profile_node *node, int64_t *outputs)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(node->message.data, node->message.size);
	struct tfp_map_entry entry;
	struct tfp_span span;
	uint32_t tag;
	for (size_t i = 0; i < node->input_count; i++)
		outputs[node->inputs[i].node->index] = -1;
	while (tfp_pb_next(&c, &tag)) {
		if (tag != TFP_PB_TAG(14, TFP_PB_BYTES)) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		if (!tfp_read_span(&c, &span) || !tfp_map_entry_read(span, &entry))
			return false;
		const struct tfp_profile_node *source = find(r, entry.number_key);
		if (source)
			outputs[source->index] = entry.number_value;
	}
	for (size_t i = 0; i < node->input_count; i++)
		node->inputs[i].output = outputs[node->inputs[i].node->index];
	return !c.damage;
}

/* Inputs whose node is missing, at which the original stops, are left out. */
static bool read_inputs(const struct reader *r, struct tfp_profile_node *node, int64_t *outputs)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(node->message.data, node->message.size);
	struct tfp_map_entry entry;
	struct tfp_span span;
	size_t count = 0, kept = 0;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		if (tag != TFP_PB_TAG(2, TFP_PB_BYTES)) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		if (!tfp_read_span(&c, &span) || !tfp_map_entry_read(span, &entry))
			return false;
		struct tfp_profile_node *source = find(r, entry.number_value);
		if (source)
			node->inputs[count++] =
				(struct tfp_node_input){entry.number_key, source->name, source, -1};
	}
	if (count)
		qsort(node->inputs, count, sizeof(*node->inputs), by_index);
	for (size_t i = 0; i < count; i++) {
		if (kept && node->inputs[kept - 1].index == node->inputs[i].index)
			kept--;
		node->inputs[kept++] = node->inputs[i];
	}
	node->input_count = kept;
	return !c.damage && read_sources(r, node, outputs);
}

static bool read_inputs_of_all(struct reader *r)
{
	struct tfp_profile *p = r->p;
	int64_t *outputs = tfp_calloc(p->count ? p->count : 1, sizeof(*outputs));
	bool good = outputs != NULL;
	if (r->count)
		qsort(r->known, r->count, sizeof(*r->known), by_id);
	for (size_t i = 0; good && i < p->count; i++)
		good = read_inputs(r, p->nodes[i], outputs);
	tfp_free(outputs);
	return good;
}

static bool add_text(struct tfp_profile *p, struct tfp_span message)
{
	struct tfp_map_entry entry;
	if (!tfp_map_entry_read(message, &entry))
		return false;
	const char *data = entry.value.data ? (const char *)entry.value.data : "";
	return tfp_profile_add_text(p, entry.number_key, (struct tfp_str){data, entry.value.size});
}

static bool add_steps(struct tfp_profile *p, struct tfp_span packed)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(packed.data, packed.size);
	int64_t step;
	while (c.at != c.end && tfp_pb_int64(&c, &step)) {
		if (!tfp_profile_add_step(p, step))
			return false;
	}
	return !c.damage;
}

/* Texts come first, because call stacks refer to them; nodes are read with them. */
static enum tfp_status read_all(struct reader *r, struct tfp_span bytes, bool texts,
				struct tfp_error *err)
{
	struct tfp_profile *p = r->p;
	struct tfp_pb_cursor c = tfp_pb_cursor(bytes.data, bytes.size);
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		struct tfp_span span;
		uint64_t number;
		int64_t step;
		if (texts ? tag != TFP_PB_TAG(4, TFP_PB_BYTES)
			  : tag == TFP_PB_TAG(4, TFP_PB_BYTES)) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		switch (tag) {
		case TFP_PB_TAG(1, TFP_PB_BYTES):
			if (tfp_read_span(&c, &span) && !add_node(r, span))
				return bad(err, "a node of the profile");
			break;
		case TFP_PB_TAG(2, TFP_PB_VARINT):
			if (tfp_pb_varint(&c, &number))
				p->has_traces = number != 0;
			break;
		case TFP_PB_TAG(3, TFP_PB_VARINT):
			if (tfp_pb_int64(&c, &step) && !tfp_profile_add_step(p, step))
				return bad(err, "a step");
			break;
		case TFP_PB_TAG(3, TFP_PB_BYTES):
			if (tfp_read_span(&c, &span) && !add_steps(p, span))
				return bad(err, "the list of steps");
			break;
		case TFP_PB_TAG(4, TFP_PB_BYTES):
			if (tfp_read_span(&c, &span) && !add_text(p, span))
				return bad(err, "a text of the profile");
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	if (c.damage) {
		tfp_fail(err, TFP_BAD_INPUT, "no profile: %s", tfp_pb_damage_text(c.damage));
		tfp_error_set_offset(err, (uint64_t)(c.damage_at - bytes.data));
		return TFP_BAD_INPUT;
	}
	return TFP_OK;
}

enum tfp_status tfp_profile_proto_read(struct tfp_profile *p, struct tfp_span bytes,
				       struct tfp_error *err)
{
	struct reader r = {.p = p};
	if (p->count)
		return tfp_fail(err, TFP_BAD_INPUT, "a ProfileProto is read alone");
	enum tfp_status status = read_all(&r, bytes, true, err);
	tfp_profile_sort_texts(p);
	if (status == TFP_OK)
		status = read_all(&r, bytes, false, err);
	if (status == TFP_OK && !read_inputs_of_all(&r))
		status = bad(err, "the edges of the graph");
	tfp_free(r.known);
	return status;
}
