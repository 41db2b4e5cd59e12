/* SPDX-License-Identifier: Apache-2.0 */
/* RunMetadata: what ran in a step, on which device, for how long, with how much memory. */
#include "tfprof/messages.h"
#include "tfprof/sources.h"

#include <string.h>

struct memory {
	int64_t total, peak, live, in_use;
	bool accelerator;
};

/* Sums of what a record has of memory. */
struct record {
	struct tfp_str name;
	int64_t start_us, end_rel_us;
	int64_t total_bytes, peak_bytes, live_bytes; /* of all allocators */
	int64_t in_use_bytes;                        /* the most of an accelerator's */
	int64_t output_bytes;
	int64_t temp_bytes, persistent_bytes;
};

static bool read_memory_stats(struct tfp_span message, struct record *r)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(1, TFP_PB_VARINT):
			tfp_pb_int64(&c, &r->temp_bytes);
			break;
		case TFP_PB_TAG(3, TFP_PB_VARINT):
			tfp_pb_int64(&c, &r->persistent_bytes);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	return !c.damage;
}

/* The message in a field, or false when there is none; *damage if it cannot be read. */
static bool find_message(struct tfp_span message, uint32_t field, struct tfp_span *found,
			 bool *damage)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	bool any = false;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		if (tag == TFP_PB_TAG(field, TFP_PB_BYTES))
			any |= tfp_read_span(&c, found);
		else
			tfp_pb_skip(&c, tag);
	}
	*damage |= c.damage != TFP_PB_SOUND;
	return any && !c.damage;
}

static bool read_output(struct tfp_span message, struct record *r)
{
	struct tfp_span tensor, allocation;
	bool damage = false;
	int64_t requested = 0, allocated = 0;
	uint32_t tag;
	if (!find_message(message, 3, &tensor, &damage) ||
	    !find_message(tensor, 4, &allocation, &damage))
		return !damage;
	struct tfp_pb_cursor c = tfp_pb_cursor(allocation.data, allocation.size);
	while (tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(1, TFP_PB_VARINT):
			tfp_pb_int64(&c, &requested);
			break;
		case TFP_PB_TAG(2, TFP_PB_VARINT):
			tfp_pb_int64(&c, &allocated);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	r->output_bytes =
		tfp_wrap_add(r->output_bytes, requested > allocated ? requested : allocated);
	return !c.damage;
}

static bool read_allocator(struct tfp_span message, struct memory *m)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	struct tfp_str name = {"", 0};
	uint32_t tag;
	*m = (struct memory){0};
	while (tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(1, TFP_PB_BYTES):
			tfp_read_text(&c, &name);
			break;
		case TFP_PB_TAG(2, TFP_PB_VARINT):
			tfp_pb_int64(&c, &m->total);
			break;
		case TFP_PB_TAG(3, TFP_PB_VARINT):
			tfp_pb_int64(&c, &m->peak);
			break;
		case TFP_PB_TAG(4, TFP_PB_VARINT):
			tfp_pb_int64(&c, &m->live);
			break;
		case TFP_PB_TAG(5, TFP_PB_VARINT):
			tfp_pb_int64(&c, &m->in_use);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	m->accelerator = tfp_str_contains(name, "GPU");
	return !c.damage;
}

static bool read_record(struct tfp_span message, struct record *r)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	bool good = true;
	uint32_t tag;
	*r = (struct record){.name = {"", 0}};
	while (good && tfp_pb_next(&c, &tag)) {
		struct tfp_span span;
		struct memory m;
		switch (tag) {
		case TFP_PB_TAG(1, TFP_PB_BYTES):
			tfp_read_text(&c, &r->name);
			break;
		case TFP_PB_TAG(2, TFP_PB_VARINT):
			tfp_pb_int64(&c, &r->start_us);
			break;
		case TFP_PB_TAG(4, TFP_PB_VARINT):
			tfp_pb_int64(&c, &r->end_rel_us);
			break;
		case TFP_PB_TAG(6, TFP_PB_BYTES):
			if (!tfp_read_span(&c, &span))
				break;
			good = read_allocator(span, &m);
			r->total_bytes = tfp_wrap_add(r->total_bytes, m.total);
			r->peak_bytes = tfp_wrap_add(r->peak_bytes, m.peak);
			r->live_bytes = tfp_wrap_add(r->live_bytes, m.live);
			if (m.accelerator && m.in_use > r->in_use_bytes)
				r->in_use_bytes = m.in_use;
			break;
		case TFP_PB_TAG(7, TFP_PB_BYTES):
			if (tfp_read_span(&c, &span))
				good = read_output(span, r);
			break;
		case TFP_PB_TAG(12, TFP_PB_BYTES):
			if (tfp_read_span(&c, &span))
				good = read_memory_stats(span, r);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	return good && !c.damage;
}

static bool add_allocation(struct tfp_profile *p, struct tfp_exec *exec, struct tfp_span message)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	int64_t time_us = 0, bytes = 0;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(1, TFP_PB_VARINT):
			tfp_pb_int64(&c, &time_us);
			break;
		case TFP_PB_TAG(2, TFP_PB_VARINT):
			tfp_pb_int64(&c, &bytes);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	return !c.damage && tfp_profile_add_bytes(p, &exec->allocations, time_us, bytes);
}

/* What an accelerator's allocator wrote down. The record was read before: it is sound. */
static bool add_allocations(struct tfp_profile *p, struct tfp_exec *exec, struct tfp_span record)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(record.data, record.size);
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		struct tfp_span allocator, allocation;
		struct memory m;
		if (tag != TFP_PB_TAG(6, TFP_PB_BYTES)) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		if (!tfp_read_span(&c, &allocator) || !read_allocator(allocator, &m) ||
		    !m.accelerator)
			continue;
		struct tfp_pb_cursor inner = tfp_pb_cursor(allocator.data, allocator.size);
		while (tfp_pb_next(&inner, &tag)) {
			if (tag != TFP_PB_TAG(6, TFP_PB_BYTES))
				tfp_pb_skip(&inner, tag);
			else if (tfp_read_span(&inner, &allocation) &&
				 !add_allocation(p, exec, allocation))
				return false;
		}
	}
	return true;
}

static bool add_times(struct tfp_profile *p, struct tfp_exec *exec, uint32_t device,
		      const struct record *r)
{
	/* What took less than a microsecond took one. */
	int64_t duration_us = r->end_rel_us ? r->end_rel_us : 1;
	int64_t end_us = tfp_wrap_add(r->start_us, duration_us);
	if (r->start_us <= 0)
		return true;
	if (exec->start_us <= 0 || r->start_us < exec->start_us)
		exec->start_us = r->start_us;
	if (end_us > exec->end_us)
		exec->end_us = end_us;
	bool accelerator = tfp_str_contains(p->devices[device].name, "stream:all");
	if (!accelerator && !p->devices[device].canonical)
		return true;
	exec->runs += !accelerator;
	const struct tfp_interval interval = {NULL, r->start_us, duration_us, device, accelerator};
	return tfp_profile_add_interval(p, exec, &interval);
}

static bool add_memory(struct tfp_profile *p, struct tfp_exec *exec, struct tfp_str device,
		       const struct record *r, struct tfp_span message)
{
	if (r->start_us <= 0)
		return true;
	int64_t kept = r->persistent_bytes, all = tfp_wrap_add(kept, r->temp_bytes);
	exec->output_bytes = tfp_wrap_add(exec->output_bytes, r->output_bytes);
	exec->residual_bytes =
		tfp_wrap_add(exec->residual_bytes, tfp_wrap_add(r->live_bytes, kept));
	exec->requested_bytes =
		tfp_wrap_add(exec->requested_bytes, tfp_wrap_add(r->total_bytes, all));
	exec->peak_bytes = tfp_wrap_add(exec->peak_bytes, tfp_wrap_add(r->peak_bytes, all));
	if (!tfp_str_contains(device, "cpu"))
		exec->accelerator_persistent_bytes =
			tfp_wrap_add(exec->accelerator_persistent_bytes, kept);
	return tfp_profile_add_bytes(p, &exec->in_use, tfp_wrap_add(r->start_us, r->end_rel_us),
				     r->in_use_bytes) &&
	       add_allocations(p, exec, message);
}

static bool add_record(struct tfp_profile *p, struct tfp_profile_node *node, int64_t step,
		       uint32_t device, const struct record *r, struct tfp_span message)
{
	struct tfp_str name = p->devices[device].name;
	if (p->devices[device].canonical) {
		/* The first device stays; what other devices recorded is not counted. */
		if (node->device.size && tfp_str_compare(node->device, name) != 0)
			return true;
		if (!node->device.size) {
			node->device = name;
			node->has_host = true;
			if (!tfp_profile_add_type(p, node, name))
				return false;
		}
	}
	struct tfp_exec *exec = tfp_profile_exec(p, node, step);
	if (!exec || !add_times(p, exec, device, r))
		return false;
	return tfp_str_compare(name, node->device) != 0 || add_memory(p, exec, name, r, message);
}

/* Names that stand for no node of the model. */
static bool is_left_out(struct tfp_str name)
{
	return tfp_str_equal(name, "RecvTensor") || tfp_str_equal(name, "_SOURCE") ||
	       tfp_str_contains(name, "MEMCPY");
}

static bool read_node_stats(struct tfp_profile *p, int64_t step, uint32_t device,
			    struct tfp_span message)
{
	struct record r;
	if (!read_record(message, &r))
		return false;
	const char *colon = r.name.size ? memchr(r.name.data, ':', r.name.size) : NULL;
	if (colon)
		r.name.size = (size_t)(colon - r.name.data);
	struct tfp_profile_node *node = tfp_profile_find(p, r.name);
	if (node) {
		p->covered += !node->covered;
		node->covered = true;
	} else if (is_left_out(r.name)) {
		return true;
	} else {
		node = tfp_profile_add_node(p, r.name, r.name);
	}
	return node && add_record(p, node, step, device, &r, message);
}

static bool read_device(struct tfp_profile *p, int64_t step, struct tfp_span message,
			bool *scheduled, bool *timed)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	struct tfp_pb_cursor nodes = c;
	struct tfp_str name = {"", 0};
	uint32_t tag, device;
	while (tfp_pb_next(&c, &tag)) {
		if (tag == TFP_PB_TAG(1, TFP_PB_BYTES))
			tfp_read_text(&c, &name);
		else
			tfp_pb_skip(&c, tag);
	}
	if (c.damage || !tfp_profile_device(p, name, &device))
		return false;
	name = p->devices[device].name;
	if (tfp_str_contains(name, "gpu") || tfp_str_contains(name, "sycl")) {
		*scheduled = true;
		*timed |= tfp_str_contains(name, "stream:all");
	}
	while (tfp_pb_next(&nodes, &tag)) {
		struct tfp_span span;
		if (tag != TFP_PB_TAG(2, TFP_PB_BYTES))
			tfp_pb_skip(&nodes, tag);
		else if (tfp_read_span(&nodes, &span) && !read_node_stats(p, step, device, span))
			return false;
	}
	return true;
}

static enum tfp_status read_steps(struct tfp_profile *p, int64_t step, struct tfp_span stats,
				  struct tfp_error *err)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(stats.data, stats.size);
	bool scheduled = false, timed = false;
	uint32_t tag;
	if (!tfp_profile_add_step(p, step))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the step");
	while (tfp_pb_next(&c, &tag)) {
		struct tfp_span device;
		if (tag != TFP_PB_TAG(1, TFP_PB_BYTES))
			tfp_pb_skip(&c, tag);
		else if (tfp_read_span(&c, &device) &&
			 !read_device(p, step, device, &scheduled, &timed))
			return tfp_fail(err, TFP_BAD_INPUT, "what a device ran cannot be read");
	}
	if (c.damage)
		return tfp_fail(err, TFP_BAD_INPUT, "what ran is damaged: %s",
				tfp_pb_damage_text(c.damage));
	p->misses_streams |= scheduled && !timed;
	return TFP_OK;
}

enum tfp_status tfp_run_metadata_read(struct tfp_profile *p, int64_t step, struct tfp_span bytes,
				      bool *present, struct tfp_error *err)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(bytes.data, bytes.size);
	enum tfp_status status = TFP_OK;
	uint32_t tag;
	*present = false;
	while (status == TFP_OK && tfp_pb_next(&c, &tag)) {
		struct tfp_span stats;
		const uint8_t *at = c.at;
		if (tag != TFP_PB_TAG(1, TFP_PB_BYTES)) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		if (!tfp_read_span(&c, &stats))
			break;
		*present = true;
		status = read_steps(p, step, stats, err);
		if (status != TFP_OK)
			tfp_error_set_offset(err, (uint64_t)(at - bytes.data));
	}
	if (status == TFP_OK && c.damage) {
		status = tfp_fail(err, TFP_BAD_INPUT, "no metadata of a run: %s",
				  tfp_pb_damage_text(c.damage));
		tfp_error_set_offset(err, (uint64_t)(c.damage_at - bytes.data));
	}
	return status;
}
