/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/grouping/grouping_parts.h"
#include "base/progress.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- passing groups down ---- */

/* The event is of another group already: that one is below this one. */
static bool note_below(struct tfp_raw *raw, int32_t group, struct tfp_raw_ref ref)
{
	int32_t other = *group_at(raw, ref);
	struct tfp_group_link link = {(uint32_t)group, (uint32_t)other};
	const struct tfp_group_link *links = raw->group_links.items;
	size_t n = raw->group_links.count;
	if (other == group ||
	    (n && links[n - 1].above == link.above && links[n - 1].below == link.below))
		return true;
	return push(&raw->group_links, &link, sizeof(link));
}

/* Gives an event and what is nested in it to a group, as far as it has none, and
 * queues the consumers of what was new. */
static bool take_subtree(struct tfp_raw *raw, struct tfp_raw_ref ref, int32_t group,
			 struct tfp_raw_list *queue)
{
	const struct tfp_raw_line *l = &raw->lines[ref.line];
	const struct tfp_pair *links = raw->by_parent.items;
	const bool launches = l->is_host && raw->kernels_at;
	size_t next = tfp_grouping_first_link(raw, ref, false);
	uint32_t taken = UINT32_MAX; /* an event of another group, while in it */
	for (uint32_t i = ref.event; i < l->line->event_count; i++) {
		if (i > ref.event) {
			uint32_t parent = parent_of(l, i);
			if (parent == ASYNC)
				continue;
			if (parent == NO_PARENT || parent < ref.event)
				break;
		}
		struct tfp_raw_ref here = {ref.line, i};
		if (l->group[i] != TFP_NO_GROUP) {
			if (taken != UINT32_MAX && parent_of(l, i) >= taken)
				continue;
			taken = i;
			if (!note_below(raw, group, here))
				return false;
			continue;
		}
		l->group[i] = group;
		while (next < raw->by_parent.count && links[next].key < place_of(here))
			next++;
		if (!(next < raw->by_parent.count && links[next].key == place_of(here)) &&
		    !(launches && tfp_event_set_has(&l->stats->correlated, i)))
			continue;
		struct tfp_raw_walk walk = tfp_grouping_walk_from(raw, here, true, next);
		struct tfp_raw_ref below;
		while (tfp_grouping_next(raw, &walk, &below)) {
			if (!push(queue, &below, sizeof(below)))
				return false;
		}
	}
	return true;
}

static bool propagate(struct tfp_raw *raw, struct tfp_raw_ref root, int32_t group)
{
	struct tfp_raw_list queue = {0};
	bool ok = push(&queue, &root, sizeof(root));
	for (size_t at = 0; ok && at < queue.count && tfp_goes_on(at); at++) {
		struct tfp_raw_ref ref = ((const struct tfp_raw_ref *)queue.items)[at];
		ok = *group_at(raw, ref) == TFP_NO_GROUP ? take_subtree(raw, ref, group, &queue)
							 : note_below(raw, group, ref);
	}
	tfp_free(queue.items);
	return ok;
}

/* Events on the way up, nearest first; each once, as there can be many ways from one to
 * another. */
struct ancestors {
	struct tfp_raw_list queue; /* struct tfp_raw_ref */
	uint32_t *slots;           /* by hash: place in the queue, counted from 1; 0 is empty */
	size_t slot_count;         /* a power of two, or 0: there are few, and no slots */
};

/* So many are compared one by one. */
#define FEW_ANCESTORS 16u

static uint32_t *slot_of(const struct ancestors *a, struct tfp_raw_ref ref)
{
	const struct tfp_raw_ref *list = a->queue.items;
	size_t i = tfp_hash_u64(place_of(ref)) & (a->slot_count - 1);
	while (a->slots[i] && compare_ref(list[a->slots[i] - 1], ref) != 0)
		i = (i + 1) & (a->slot_count - 1);
	return &a->slots[i];
}

static bool more_slots(struct ancestors *a)
{
	const struct tfp_raw_ref *list = a->queue.items;
	size_t count = a->slot_count ? a->slot_count * 2 : (size_t)4 * FEW_ANCESTORS;
	uint32_t *slots = tfp_calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	tfp_free(a->slots);
	a->slots = slots;
	a->slot_count = count;
	for (size_t i = 0; i < a->queue.count; i++)
		*slot_of(a, list[i]) = (uint32_t)i + 1;
	return true;
}

static bool add_ancestor(struct ancestors *a, struct tfp_raw_ref ref)
{
	const struct tfp_raw_ref *list = a->queue.items;
	size_t n = a->queue.count;
	if (n >= ANCESTORS_MAX)
		return true;
	if (n < FEW_ANCESTORS) {
		for (size_t i = 0; i < n; i++) {
			if (compare_ref(list[i], ref) == 0)
				return true;
		}
		return push(&a->queue, &ref, sizeof(ref));
	}
	if (n * 2 >= a->slot_count && !more_slots(a))
		return false;
	uint32_t *slot = slot_of(a, ref);
	if (*slot)
		return true;
	*slot = (uint32_t)n + 1;
	return push(&a->queue, &ref, sizeof(ref));
}

/* Calls see with the event and then its ancestors, nearest first, until see returns false. */
static bool each_ancestor(const struct tfp_raw *raw, struct tfp_raw_ref start,
			  bool (*see)(const struct tfp_raw *raw, struct tfp_raw_ref ref,
				      void *context),
			  void *context)
{
	struct ancestors all = {0};
	bool ok = add_ancestor(&all, start);
	for (size_t at = 0; ok && at < all.queue.count; at++) {
		struct tfp_raw_ref ref = ((const struct tfp_raw_ref *)all.queue.items)[at];
		if (!see(raw, ref, context))
			break;
		uint32_t parent = parent_of(&raw->lines[ref.line], ref.event);
		if (parent < ASYNC)
			ok = add_ancestor(&all, (struct tfp_raw_ref){ref.line, parent});
		struct tfp_raw_walk walk = tfp_grouping_walk(raw, ref, false);
		struct tfp_raw_ref above;
		while (ok && tfp_grouping_next(raw, &walk, &above))
			ok = add_ancestor(&all, above);
	}
	tfp_free(all.queue.items);
	tfp_free(all.slots);
	return ok;
}

static int by_ref(const void *a, const void *b)
{
	return compare_ref(((const struct tfp_raw_root *)a)->ref,
			   ((const struct tfp_raw_root *)b)->ref);
}

static const struct tfp_raw_root *root_at(const struct tfp_raw *raw, struct tfp_raw_ref ref)
{
	const struct tfp_raw_root key = {.ref = ref};
	return raw->roots.count ? bsearch(&key, raw->roots.items, raw->roots.count,
					  sizeof(struct tfp_raw_root), by_ref)
				: NULL;
}

struct rival {
	struct tfp_raw_ref self;
	int64_t level;
	bool found;
};

static bool see_rival(const struct tfp_raw *raw, struct tfp_raw_ref ref, void *context)
{
	struct rival *r = context;
	const struct tfp_raw_root *root = compare_ref(ref, r->self) ? root_at(raw, ref) : NULL;
	r->found = root && root->level == r->level;
	return !r->found;
}

struct naming {
	bool has_iter, has_type, has_step;
	int64_t iter, step;
	struct tfp_str type;
};

static bool see_name(const struct tfp_raw *raw, struct tfp_raw_ref ref, void *context)
{
	struct naming *n = context;
	struct tfp_raw_facts f;
	tfp_grouping_facts(&raw->lines[ref.line], ref.event, &f);
	if (!n->has_type && has(&f, GRAPH_TYPE)) {
		n->has_type = true;
		n->type = f.graph_type;
	}
	if (!n->has_iter && has(&f, ITER_NUM)) {
		n->has_iter = true;
		n->iter = f.number[ITER_NUM];
	}
	if (!n->has_step && has(&f, STEP_NUM)) {
		n->has_step = true;
		n->step = f.number[STEP_NUM];
	}
	return !n->has_type || !n->has_iter || !n->has_step;
}

/* The root was inferred, not marked by the program: it shows no step name. */
static bool is_implicit(enum tfp_runtime_event type)
{
	return type == TFP_EVENT_FUNCTION_RUN || type == TFP_EVENT_SESSION_RUN ||
	       type == TFP_EVENT_RUN_GRAPH || type == TFP_EVENT_EXECUTOR_PROCESS;
}

static bool is_implicit_event(const struct tfp_raw_line *l, uint32_t event)
{
	return l->is_tpu || is_implicit(type_at(l, event));
}

static bool name_group(struct tfp_raw *raw, struct tfp_raw_ref ref, int32_t group)
{
	struct tfp_raw_line *l = &raw->lines[ref.line];
	struct naming n = {0};
	char number[32];
	if (!each_ancestor(raw, ref, see_name, &n))
		return false;
	struct tfp_str text = {"", 0};
	if (n.has_type)
		text = n.type;
	else if (!is_implicit_event(l, ref.event))
		text = tfp_event_meta(l->plane, l->line, ref.event)->name;
	int64_t value = n.has_iter ? n.iter : n.has_step ? n.step : group;
	int digits = snprintf(number, sizeof(number), "%s%" PRId64, text.size ? " " : "", value);
	char *name = tfp_arena_alloc(&raw->groups->arena, text.size + (size_t)digits);
	if (!name)
		return false;
	if (text.size)
		memcpy(name, text.data, text.size);
	memcpy(name + text.size, number, (size_t)digits);
	raw->groups->groups[group].name = (struct tfp_str){name, text.size + (size_t)digits};
	return true;
}

/* group: the next number, or one that there is. */
static bool make_group(struct tfp_raw *raw, struct tfp_raw_ref root, int32_t group)
{
	struct tfp_groups *groups = raw->groups;
	if (!TFP_GROW(groups->groups, (size_t)group, raw->group_room))
		return false;
	if ((size_t)group == groups->group_count)
		groups->groups[groups->group_count++] = (struct tfp_group){{"", 0}};
	return push(&raw->group_roots, &root, sizeof(root)) && propagate(raw, root, group) &&
	       name_group(raw, root, group);
}

static bool new_group(struct tfp_raw *raw, struct tfp_raw_ref root)
{
	size_t group = raw->groups->group_count;
	return group < INT32_MAX && make_group(raw, root, (int32_t)group);
}

/* ---- which roots there are ---- */

static bool is_data_id(const struct tfp_raw *raw, int64_t id)
{
	const int64_t *ids = raw->data_ids.items;
	for (size_t i = 0; i < raw->data_ids.count; i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

static int by_iteration(const void *a, const void *b)
{
	const struct tfp_raw_iteration *x = a, *y = b;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->iter != y->iter)
		return x->iter < y->iter ? -1 : 1;
	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	return compare_ref(x->ref, y->ref);
}

static int by_start(const void *a, const void *b)
{
	const struct tfp_raw_iteration *x = a, *y = b;
	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	return compare_ref(x->ref, y->ref);
}

/* Iterations of TensorFlow 1's loops: in each the earliest run is the root and
 * the others are below it. firsts: the roots, in order of time. */
static bool find_loops(struct tfp_raw *raw, struct tfp_raw_list *firsts)
{
	sort(&raw->iterations, sizeof(struct tfp_raw_iteration), by_iteration);
	const struct tfp_raw_iteration *all = raw->iterations.items;
	for (size_t i = 0; i < raw->iterations.count;) {
		size_t end = i;
		bool loops = false;
		while (end < raw->iterations.count && all[end].id == all[i].id)
			loops |= all[end++].iter != 0;
		loops = loops && !is_data_id(raw, all[i].id);
		for (size_t j = i; loops && j < end;) {
			size_t first = j;
			if (!push(firsts, &all[first], sizeof(*all)))
				return false;
			while (++j < end && all[j].iter == all[first].iter) {
				if (!tfp_grouping_add_link(raw, all[first].ref, all[j].ref))
					return false;
			}
		}
		i = end;
	}
	sort(firsts, sizeof(struct tfp_raw_iteration), by_start);
	return true;
}

static bool group_loops(struct tfp_raw *raw, const struct tfp_raw_list *firsts)
{
	const struct tfp_raw_iteration *all = firsts->items;
	for (size_t i = 0; i < firsts->count; i++) {
		if (!new_group(raw, all[i].ref))
			return false;
	}
	return true;
}

static int by_level(const void *a, const void *b)
{
	const struct tfp_raw_root *x = a, *y = b;
	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	return compare_ref(x->ref, y->ref);
}

/* Whether a root has no group yet, nor a root of its level above it. */
static bool needs_group(const struct tfp_raw *raw, struct tfp_raw_ref ref, int64_t level,
			bool *needs)
{
	struct rival rival = {ref, level, false};
	*needs = false;
	if (*group_at(raw, ref) != TFP_NO_GROUP)
		return true;
	if (!each_ancestor(raw, ref, see_rival, &rival))
		return false;
	*needs = !rival.found;
	return true;
}

static bool group_roots(struct tfp_raw *raw)
{
	size_t n = raw->roots.count;
	struct tfp_raw_root *order = tfp_reallocarray(NULL, n, sizeof(*order));
	bool ok = order != NULL;
	sort(&raw->roots, sizeof(struct tfp_raw_root), by_ref);
	if (ok && n) {
		memcpy(order, raw->roots.items, n * sizeof(*order));
		qsort(order, n, sizeof(*order), by_level);
	}
	for (size_t i = 0; ok && i < n; i++) {
		struct tfp_raw_line *l = &raw->lines[order[i].ref.line];
		bool needs = false;
		struct tfp_raw_facts f;
		tfp_grouping_facts(l, order[i].ref.event, &f);
		if (has(&f, STEP_ID) && is_data_id(raw, f.number[STEP_ID]))
			continue;
		ok = needs_group(raw, order[i].ref, order[i].level, &needs);
		if (ok && needs)
			ok = new_group(raw, order[i].ref);
	}
	tfp_free(order);
	return ok;
}

static bool is_core(const struct tfp_raw_line *l)
{
	return l->grouping_line == l->number && tfp_plane_kind(l->plane->name) == TFP_PLANE_TPU;
}

/* Where nothing of the host reaches any core, the events of each core's grouping line are
 * its steps, counted on every core from the same number on. */
static bool group_cores(struct tfp_raw *raw)
{
	size_t first = raw->groups->group_count;
	bool needs = true;
	for (size_t l = 0; needs && l < raw->line_count; l++) {
		for (uint32_t i = 0;
		     needs && is_core(&raw->lines[l]) && i < raw->lines[l].line->event_count; i++) {
			if (!needs_group(raw, (struct tfp_raw_ref){(uint32_t)l, i}, 0, &needs))
				return false;
		}
	}
	for (size_t l = 0; needs && l < raw->line_count; l++) {
		size_t group = first;
		for (uint32_t i = 0; is_core(&raw->lines[l]) && i < raw->lines[l].line->event_count;
		     i++) {
			struct tfp_raw_ref ref = {(uint32_t)l, i};
			bool takes;
			if (!needs_group(raw, ref, 0, &takes))
				return false;
			if (takes &&
			    (group >= INT32_MAX || !make_group(raw, ref, (int32_t)group++)))
				return false;
		}
	}
	return true;
}

static int by_place(const void *a, const void *b)
{
	return compare_ref(*(const struct tfp_raw_ref *)a, *(const struct tfp_raw_ref *)b);
}

/* Roots show their group's name, unless they were inferred. */
static bool note_named(struct tfp_raw *raw)
{
	const struct tfp_raw_ref *roots = raw->group_roots.items;
	sort(&raw->group_roots, sizeof(struct tfp_raw_ref), by_place);
	for (size_t i = 0; i < raw->group_roots.count; i++) {
		struct tfp_raw_line *l = &raw->lines[roots[i].line];
		struct tfp_line_groups *g = l->groups;
		if (is_implicit_event(l, roots[i].event))
			continue;
		uint32_t *list = tfp_reallocarray(g->named, g->named_count + 1, sizeof(*list));
		if (!list)
			return false;
		g->named = list;
		g->named[g->named_count++] = roots[i].event;
	}
	return true;
}

bool tfp_grouping_of_roots(struct tfp_raw *raw)
{
	struct tfp_raw_list firsts = {0};
	bool ok = find_loops(raw, &firsts) && tfp_grouping_finish_links(raw);
	if (ok)
		ok = firsts.count ? group_loops(raw, &firsts) : group_roots(raw);
	tfp_free(firsts.items);
	return ok && group_cores(raw) && note_named(raw);
}
