/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/grouping/grouping_parts.h"

/* What an event inherits: YES or NO by the nearest EagerExecute above it, else NO. */
static uint8_t eager_above(const struct tfp_raw *raw, struct tfp_raw_ref ref)
{
	for (unsigned hops = 0; hops < ANCESTORS_MAX; hops++) {
		const struct tfp_raw_line *l = &raw->lines[ref.line];
		if (l->eager && l->eager[ref.event] != TFP_EAGER_UNKNOWN)
			return l->eager[ref.event];
		struct tfp_raw_walk walk = tfp_grouping_walk(raw, ref, false);
		struct tfp_raw_ref above;
		if (tfp_grouping_next(raw, &walk, &above))
			ref = above;
		else if (parent_of(l, ref.event) < ASYNC)
			ref.event = parent_of(l, ref.event);
		else
			break;
	}
	return TFP_EAGER_NO;
}

/* Spreads every EagerExecute of a line over what is nested in it, inner ones last. */
static void spread_eager(void *context, size_t index)
{
	struct tfp_raw *raw = context;
	struct tfp_raw_line *l = &raw->lines[index];
	const uint32_t(*roots)[2] = l->eager_roots.items;
	size_t n = l->line->event_count;
	if (l->eager_roots.count == 0)
		return;
	l->eager = tfp_calloc(n, 1);
	if (!l->eager) {
		atomic_store(&raw->no_memory, true);
		return;
	}
	for (size_t r = 0; r < l->eager_roots.count; r++) {
		uint8_t value = roots[r][1] ? TFP_EAGER_YES : TFP_EAGER_NO;
		for (uint32_t i = roots[r][0]; i < n; i++) {
			uint32_t parent = parent_of(l, i);
			if (i > roots[r][0] && parent == ASYNC)
				continue;
			if (i > roots[r][0] && (parent == NO_PARENT || parent < roots[r][0]))
				break;
			l->eager[i] = value;
		}
	}
}

/* Whether the event says how it was executed: ops do, and kernels that something launched. */
static bool says_eager(const struct tfp_raw_line *l, size_t event, bool consumes)
{
	enum tfp_runtime_event type = type_at(l, event);
	return type == TFP_EVENT_TF_OP ||
	       (consumes && type == TFP_EVENT_OTHER && !l->is_host && !l->is_tpu);
}

/* What is above the producer of an event, known already where its line was marked. */
static uint8_t above_producer(const struct tfp_raw *raw, struct tfp_raw_ref producer)
{
	const struct tfp_raw_line *l = &raw->lines[producer.line];
	/* In this order: another thread may be at work on a line that is not marked yet. */
	return l->is_marked && l->above ? l->above[producer.event] : eager_above(raw, producer);
}

static uint8_t above_first_producer(const struct tfp_raw *raw, struct tfp_raw_ref ref)
{
	struct tfp_raw_walk walk = tfp_grouping_walk(raw, ref, false);
	struct tfp_raw_ref producer;
	return tfp_grouping_next(raw, &walk, &producer) ? above_producer(raw, producer)
							: TFP_EAGER_NO;
}

/* Down the line everything has what its parent has, unless it is a consumer: then its
 * producer decides. */
static bool mark_line(const struct tfp_raw *raw, struct tfp_raw_line *l)
{
	const struct tfp_pair *links = raw->by_child.items;
	size_t at = raw->children_at[l->number], end = raw->children_at[l->number + 1];
	for (size_t i = 0; i < l->line->event_count; i++) {
		uint8_t value = TFP_EAGER_NO;
		const struct tfp_raw_ref here = {l->number, (uint32_t)i};
		while (at < end && event_at(links[at].key).event < i)
			at++;
		bool consumes = (at < end && event_at(links[at].key).event == i) ||
				tfp_grouping_launch_of(raw, here) != NO_LAUNCH;
		if (l->above) {
			if (l->eager && l->eager[i] != TFP_EAGER_UNKNOWN)
				value = l->eager[i];
			else if (consumes)
				value = above_first_producer(raw, here);
			else if (parent_of(l, i) < ASYNC)
				value = l->above[parent_of(l, i)];
			l->above[i] = value;
		}
		if (!says_eager(l, i, consumes))
			continue;
		if (!l->groups->eager)
			l->groups->eager = tfp_calloc(TFP_EAGER_BYTES(l->line->event_count), 1);
		if (!l->groups->eager)
			return false;
		tfp_set_eager(l->groups->eager, i, (enum tfp_eager)value);
	}
	return true;
}

static void mark_eager(struct tfp_raw *raw, struct tfp_raw_line *l)
{
	size_t n = l->line->event_count;
	/* Most lines of TPUs know of no ops of the framework. */
	if (n == 0 || (l->is_tpu && !l->has_ops))
		return;
	l->above = raw->has_eager ? tfp_malloc(n) : NULL;
	if ((raw->has_eager && !l->above) || !mark_line(raw, l))
		atomic_store(&raw->no_memory, true);
}

static void mark_host(void *context, size_t index)
{
	struct tfp_raw *raw = context;
	if (raw->lines[index].is_host)
		mark_eager(raw, &raw->lines[index]);
}

static void mark_device(void *context, size_t index)
{
	struct tfp_raw *raw = context;
	if (!raw->lines[index].is_host)
		mark_eager(raw, &raw->lines[index]);
}

bool tfp_grouping_eager(struct tfp_raw *raw, struct tfp_pool *pool)
{
	tfp_pool_for(pool, raw->line_count, spread_eager, raw);
	/* Kernels ask for what their launches have. */
	tfp_pool_for(pool, raw->line_count, mark_host, raw);
	for (size_t l = 0; l < raw->line_count; l++)
		raw->lines[l].is_marked = raw->lines[l].is_host;
	tfp_pool_for(pool, raw->line_count, mark_device, raw);
	return !atomic_load(&raw->no_memory);
}
