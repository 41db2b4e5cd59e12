/* SPDX-License-Identifier: Apache-2.0 */
/* OpLogProto: what Python knows of nodes. */
#include "tfprof/messages.h"
#include "tfprof/sources.h"

struct entry {
	struct tfp_str name;
	int64_t float_ops;
	struct tfp_span code;
	bool has_code;
};

static bool read_entry(struct tfp_span message, struct entry *e)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	uint32_t tag;
	*e = (struct entry){.name = {"", 0}};
	while (tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(1, TFP_PB_BYTES):
			tfp_read_text(&c, &e->name);
			break;
		case TFP_PB_TAG(2, TFP_PB_VARINT):
			tfp_pb_int64(&c, &e->float_ops);
			break;
		case TFP_PB_TAG(4, TFP_PB_BYTES):
			e->has_code = tfp_read_span(&c, &e->code);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	return !c.damage;
}

static bool apply(struct tfp_profile *p, struct tfp_span message)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	struct entry e;
	uint32_t tag;
	if (!read_entry(message, &e))
		return false;
	struct tfp_profile_node *node = tfp_profile_find(p, e.name);
	if (!node)
		return true;
	while (tfp_pb_next(&c, &tag)) {
		struct tfp_str type;
		if (tag != TFP_PB_TAG(3, TFP_PB_BYTES))
			tfp_pb_skip(&c, tag);
		else if (tfp_read_text(&c, &type) && !tfp_profile_add_type(p, node, type))
			return false;
	}
	if (e.float_ops)
		node->float_ops = e.float_ops;
	p->has_traces |= e.has_code;
	return !e.has_code || node->has_frames || tfp_frames_read(p, node, e.code);
}

static bool add_text(struct tfp_profile *p, struct tfp_span message)
{
	struct tfp_map_entry entry;
	if (!tfp_map_entry_read(message, &entry))
		return false;
	const char *data = entry.value.data ? (const char *)entry.value.data : "";
	return tfp_profile_add_text(p, entry.number_key, (struct tfp_str){data, entry.value.size});
}

/* Texts first: stacks refer to them. */
enum tfp_status tfp_op_log_read(struct tfp_profile *p, struct tfp_span bytes, struct tfp_error *err)
{
	for (uint32_t field = 2; field >= 1; field--) {
		struct tfp_pb_cursor c = tfp_pb_cursor(bytes.data, bytes.size);
		uint32_t tag;
		while (tfp_pb_next(&c, &tag)) {
			const uint8_t *at = c.at;
			struct tfp_span span;
			if (tag != TFP_PB_TAG(field, TFP_PB_BYTES)) {
				tfp_pb_skip(&c, tag);
				continue;
			}
			if (!tfp_read_span(&c, &span) ||
			    (field == 2 ? add_text(p, span) : apply(p, span)))
				continue;
			tfp_fail(err, TFP_BAD_INPUT, "an entry of the log cannot be read");
			tfp_error_set_offset(err, (uint64_t)(at - bytes.data));
			return TFP_BAD_INPUT;
		}
		if (c.damage) {
			tfp_fail(err, TFP_BAD_INPUT, "no log of operations: %s",
				 tfp_pb_damage_text(c.damage));
			tfp_error_set_offset(err, (uint64_t)(c.damage_at - bytes.data));
			return TFP_BAD_INPUT;
		}
		if (field == 2)
			tfp_profile_sort_texts(p);
	}
	return TFP_OK;
}
