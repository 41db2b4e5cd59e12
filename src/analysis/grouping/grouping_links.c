/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/grouping/grouping_parts.h"

/* Where so many producers and consumers share a key, everything would be connected with everything.
 * The peers leave such a key out, and so do we. */
#define CROWD 64u

bool tfp_grouping_add_link(struct tfp_raw *raw, struct tfp_raw_ref from, struct tfp_raw_ref to)
{
	const struct tfp_pair link = {place_of(from), place_of(to)};
	return link.key == link.value || push(&raw->by_parent, &link, sizeof(link));
}

static int by_value(const void *a, const void *b)
{
	const struct tfp_pair *x = a, *y = b;
	return compare_u64(x->value, y->value);
}

/* Pairs of one key by their values. Most keys have one at most. */
static void sort_runs(struct tfp_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count;) {
		size_t end = i + 1;
		bool sorted = true;
		for (; end < count && pairs[end].key == pairs[i].key; end++)
			sorted &= pairs[end - 1].value <= pairs[end].value;
		if (!sorted)
			qsort(pairs + i, end - i, sizeof(*pairs), by_value);
		i = end;
	}
}

static size_t run_length(const struct tfp_pair *pairs, size_t count)
{
	size_t n = 1;
	while (n < count && pairs[n].key == pairs[0].key)
		n++;
	return n;
}

/* Producers and consumers of one key: by context every producer is a parent of
 * every consumer, in the older ways the last producer is. */
static bool connect(struct tfp_raw *raw, const struct tfp_pair *p, size_t producers,
		    const struct tfp_pair *c, size_t consumers)
{
	bool last_only = p->key & LAST_PRODUCER_ONLY;
	if (!last_only && producers >= CROWD && consumers >= CROWD)
		return true;
	for (size_t i = 0; i < consumers; i++) {
		for (size_t j = last_only ? producers - 1 : 0; j < producers; j++) {
			if (!tfp_grouping_add_link(raw, event_at(p[j].value), event_at(c[i].value)))
				return false;
		}
	}
	return true;
}

static bool connect_ends(struct tfp_raw *raw)
{
	struct tfp_pair *p = raw->producers.items, *c = raw->consumers.items;
	size_t n = raw->producers.count, m = raw->consumers.count;
	bool ok = tfp_sort_pairs(p, n) && tfp_sort_pairs(c, m);
	if (ok)
		sort_runs(p, n);
	for (size_t i = 0, j = 0; ok && i < n && j < m;) {
		if (p[i].key < c[j].key) {
			i++;
		} else if (p[i].key > c[j].key) {
			j++;
		} else {
			size_t producers = run_length(p + i, n - i);
			size_t consumers = run_length(c + j, m - j);
			ok = connect(raw, p + i, producers, c + j, consumers);
			i += producers;
			j += consumers;
		}
	}
	drop(&raw->producers);
	drop(&raw->consumers);
	return ok;
}

/* ---- launches and kernels ---- */

/* Whether the events of a line with correlation ids are kernels. On a TPU those of the
 * grouping line speak for all. */
static bool has_kernels(const struct tfp_raw_line *l)
{
	return !l->is_host && l->stats->correlated.count > 0 &&
	       (!l->is_tpu || l->grouping_line == l->number);
}

static bool has_launches(const struct tfp_raw_line *l)
{
	return l->is_host && l->stats->correlated.count > 0;
}

/* Launches by their ids; of several with one id the last one. */
struct launches {
	uint64_t lowest, highest;
	uint32_t *by_id; /* from the lowest on, where ids lie close to each other; else NULL */
	struct tfp_pair *pairs; /* id and number, sorted */
	size_t pair_count;
};

/* Calls for each launch, in the order of their numbers. */
static void each_launch(const struct tfp_raw *raw,
			void (*see)(struct launches *all, uint64_t id, uint32_t number),
			struct launches *all)
{
	for (size_t i = 0; i < raw->line_count; i++) {
		const struct tfp_raw_line *l = &raw->lines[i];
		const struct tfp_event_set *set = &l->stats->correlated;
		size_t n = l->line->event_count;
		if (!has_launches(l))
			continue;
		uint32_t rank = 0;
		for (size_t e = tfp_event_set_next(set, 0, n); e != SIZE_MAX;
		     e = tfp_event_set_next(set, e + 1, n), rank++) {
			if (type_at(l, e) == TFP_EVENT_OTHER)
				see(all, tfp_correlation_at(l->stats, rank),
				    l->first_correlated + rank);
		}
	}
}

static void see_range(struct launches *all, uint64_t id, uint32_t number)
{
	(void)number;
	all->lowest = id < all->lowest ? id : all->lowest;
	all->highest = id > all->highest ? id : all->highest;
	all->pair_count++;
}

static void see_dense(struct launches *all, uint64_t id, uint32_t number)
{
	all->by_id[id - all->lowest] = number;
}

static void see_pair(struct launches *all, uint64_t id, uint32_t number)
{
	all->pairs[all->pair_count++] = (struct tfp_pair){id, number};
}

static bool list_launches(const struct tfp_raw *raw, struct launches *all)
{
	*all = (struct launches){.lowest = UINT64_MAX};
	each_launch(raw, see_range, all);
	size_t count = all->pair_count;
	if (count == 0)
		return true;
	uint64_t range = all->highest - all->lowest;
	if (range / 4 <= count) {
		all->by_id = tfp_reallocarray(NULL, range + 1, sizeof(*all->by_id));
		if (!all->by_id)
			return false;
		memset(all->by_id, 0xff, (range + 1) * sizeof(*all->by_id)); /* NO_LAUNCH */
		each_launch(raw, see_dense, all);
		return true;
	}
	all->pairs = tfp_reallocarray(NULL, count, sizeof(*all->pairs));
	all->pair_count = 0;
	if (!all->pairs)
		return false;
	each_launch(raw, see_pair, all);
	return tfp_sort_pairs(all->pairs, all->pair_count);
}

static uint32_t find_launch(const struct launches *all, uint64_t id)
{
	if (id < all->lowest || id > all->highest)
		return NO_LAUNCH;
	if (all->by_id)
		return all->by_id[id - all->lowest];
	size_t low = 0, high = all->pair_count; /* behind the last of this id */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (all->pairs[middle].key <= id)
			low = middle + 1;
		else
			high = middle;
	}
	return low && all->pairs[low - 1].key == id ? (uint32_t)all->pairs[low - 1].value
						    : NO_LAUNCH;
}

struct finding {
	const struct tfp_raw *raw;
	const struct launches *launches;
};

/* Every kernel is below the launch of its id. */
static void find_launches(void *context, size_t index)
{
	const struct finding *f = context;
	const struct tfp_raw_line *l = &f->raw->lines[f->raw->kernel_lines[index]];
	const struct tfp_event_set *set = &l->stats->correlated;
	size_t n = l->line->event_count;
	uint32_t rank = 0;
	for (size_t e = tfp_event_set_next(set, 0, n); e != SIZE_MAX;
	     e = tfp_event_set_next(set, e + 1, n), rank++)
		f->raw->launch_of[l->first_correlated + rank] =
			type_at(l, e) == TFP_EVENT_OTHER
				? find_launch(f->launches, tfp_correlation_at(l->stats, rank))
				: NO_LAUNCH;
}

/* Numbers launches and kernels; false where there are more than 32 bits can number. */
static bool number_correlated(struct tfp_raw *raw)
{
	uint64_t launches = 0, kernels = 0, events = 0;
	for (size_t i = 0; i < raw->line_count; i++) {
		struct tfp_raw_line *l = &raw->lines[i];
		l->first_event = events;
		if (has_launches(l)) {
			raw->launch_lines[raw->launch_line_count++] = (uint32_t)i;
			l->first_correlated = (uint32_t)launches;
			launches += l->stats->correlated.count;
		} else if (has_kernels(l)) {
			l->first_correlated = (uint32_t)kernels;
			kernels += l->stats->correlated.count;
			events += l->line->event_count;
			raw->kernel_lines[raw->kernel_line_count++] = (uint32_t)i;
		}
	}
	raw->launch_count = (uint32_t)launches;
	raw->kernel_count = (uint32_t)kernels;
	return launches < NO_LAUNCH && events < UINT32_MAX;
}

/* Lists the kernels of each launch. */
static bool list_kernels(struct tfp_raw *raw)
{
	size_t count = 0;
	raw->kernels_at = tfp_calloc((size_t)raw->launch_count + 2, sizeof(*raw->kernels_at));
	if (!raw->kernels_at)
		return false;
	/* While entries are placed, at[n + 1] is the next place of launch n. Afterwards it is where
	 * launch n + 1 begins. */
	uint32_t *at = raw->kernels_at;
	for (uint32_t k = 0; k < raw->kernel_count; k++) {
		if (raw->launch_of[k] != NO_LAUNCH) {
			at[raw->launch_of[k] + 2]++;
			count++;
		}
	}
	for (size_t n = 0; n < raw->launch_count; n++)
		at[n + 2] += at[n + 1];
	raw->kernels = tfp_reallocarray(NULL, count, sizeof(*raw->kernels));
	if (!raw->kernels)
		return false;
	for (size_t i = 0; i < raw->kernel_line_count; i++) {
		const struct tfp_raw_line *l = &raw->lines[raw->kernel_lines[i]];
		const struct tfp_event_set *set = &l->stats->correlated;
		size_t n = l->line->event_count;
		uint32_t kernel = l->first_correlated;
		for (size_t e = tfp_event_set_next(set, 0, n); e != SIZE_MAX;
		     e = tfp_event_set_next(set, e + 1, n), kernel++) {
			uint32_t launch = raw->launch_of[kernel];
			if (launch != NO_LAUNCH)
				raw->kernels[at[launch + 1]++] = (uint32_t)(l->first_event + e);
		}
	}
	return true;
}

static bool connect_kernels(struct tfp_raw *raw, struct tfp_pool *pool)
{
	struct launches launches = {0};
	raw->kernel_lines = tfp_reallocarray(NULL, raw->line_count, sizeof(*raw->kernel_lines));
	raw->launch_lines = tfp_reallocarray(NULL, raw->line_count, sizeof(*raw->launch_lines));
	if (!raw->kernel_lines || !raw->launch_lines || !number_correlated(raw))
		return false;
	if (raw->launch_count == 0 || raw->kernel_count == 0) {
		raw->launch_count = raw->kernel_count = 0;
		return true;
	}
	raw->launch_of = tfp_reallocarray(NULL, raw->kernel_count, sizeof(*raw->launch_of));
	bool ok = raw->launch_of && list_launches(raw, &launches);
	if (ok && launches.pair_count) {
		struct finding finding = {raw, &launches};
		tfp_pool_for(pool, raw->kernel_line_count, find_launches, &finding);
	} else if (ok) {
		memset(raw->launch_of, 0xff, raw->kernel_count * sizeof(*raw->launch_of));
	}
	tfp_free(launches.by_id);
	tfp_free(launches.pairs);
	return ok && list_kernels(raw);
}

bool tfp_grouping_connect(struct tfp_raw *raw, struct tfp_pool *pool)
{
	return connect_ends(raw) && connect_kernels(raw, pool);
}

static struct tfp_raw_ref kernel_at(const struct tfp_raw *raw, uint32_t event)
{
	size_t low = 0, high = raw->kernel_line_count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (raw->lines[raw->kernel_lines[middle]].first_event <= event)
			low = middle;
		else
			high = middle;
	}
	const struct tfp_raw_line *l = &raw->lines[raw->kernel_lines[low]];
	return (struct tfp_raw_ref){l->number, (uint32_t)(event - l->first_event)};
}

/* The place of a launch by its number. */
static uint64_t launch_place(const struct tfp_raw *raw, uint32_t launch)
{
	size_t low = 0, high = raw->launch_line_count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (raw->lines[raw->launch_lines[middle]].first_correlated <= launch)
			low = middle;
		else
			high = middle;
	}
	const struct tfp_raw_line *l = &raw->lines[raw->launch_lines[low]];
	return place_of((struct tfp_raw_ref){
		l->number, (uint32_t)tfp_event_set_at(&l->stats->correlated, l->line->event_count,
						      launch - l->first_correlated)});
}

uint32_t tfp_grouping_launch_of(const struct tfp_raw *raw, struct tfp_raw_ref ref)
{
	const struct tfp_raw_line *l = &raw->lines[ref.line];
	if (!raw->kernel_count || l->is_host ||
	    !tfp_event_set_has(&l->stats->correlated, ref.event) || !has_kernels(l))
		return NO_LAUNCH;
	return raw->launch_of[l->first_correlated +
			      tfp_event_set_rank(&l->stats->correlated, ref.event)];
}

struct tfp_raw_walk tfp_grouping_walk(const struct tfp_raw *raw, struct tfp_raw_ref ref,
				      bool children)
{
	return tfp_grouping_walk_from(raw, ref, children,
				      tfp_grouping_first_link(raw, ref, !children));
}

struct tfp_raw_walk tfp_grouping_walk_from(const struct tfp_raw *raw, struct tfp_raw_ref ref,
					   bool children, size_t first_link)
{
	const struct tfp_raw_list *links = children ? &raw->by_parent : &raw->by_child;
	struct tfp_raw_walk w = {.key = place_of(ref)};
	const struct tfp_raw_line *l = &raw->lines[ref.line];
	if (links->count) {
		w.link = (const struct tfp_pair *)links->items + first_link;
		w.last_link = (const struct tfp_pair *)links->items + links->count;
	}
	if (children && l->is_host && raw->kernels_at &&
	    tfp_event_set_has(&l->stats->correlated, ref.event)) {
		const uint32_t *at = raw->kernels_at + l->first_correlated +
				     tfp_event_set_rank(&l->stats->correlated, ref.event);
		w.kernel = raw->kernels + at[0];
		w.last_kernel = raw->kernels + at[1];
	} else if (!children) {
		uint32_t launch = tfp_grouping_launch_of(raw, ref);
		w.has_launch = launch != NO_LAUNCH;
		if (w.has_launch)
			w.launch = launch_place(raw, launch);
	}
	return w;
}

bool tfp_grouping_next(const struct tfp_raw *raw, struct tfp_raw_walk *w, struct tfp_raw_ref *ref)
{
	bool has_link = w->link != w->last_link && w->link->key == w->key;
	if (w->kernel != w->last_kernel) {
		*ref = kernel_at(raw, *w->kernel);
		if (!has_link || place_of(*ref) <= w->link->value) {
			w->kernel++;
			return true;
		}
	} else if (w->has_launch && (!has_link || w->launch <= w->link->value)) {
		*ref = event_at(w->launch);
		w->has_launch = false;
		return true;
	}
	if (has_link)
		*ref = event_at(w->link++->value);
	return has_link;
}

/* ---- other links ---- */

static size_t *lines_of(const struct tfp_raw *raw, const struct tfp_raw_list *links)
{
	size_t *at = tfp_calloc(raw->line_count + 1, sizeof(*at));
	const struct tfp_pair *link = links->items;
	size_t l = 0;
	for (size_t i = 0; at && i < links->count; i++) {
		while (l < raw->line_count && l <= event_at(link[i].key).line)
			at[l++] = i;
	}
	while (at && l <= raw->line_count)
		at[l++] = links->count;
	return at;
}

bool tfp_grouping_finish_links(struct tfp_raw *raw)
{
	size_t n = raw->by_parent.count;
	struct tfp_pair *up = raw->by_parent.items;
	struct tfp_pair *down = tfp_reallocarray(NULL, n, sizeof(*down));
	raw->by_child = (struct tfp_raw_list){down, n, n};
	if (!down || !tfp_sort_pairs(up, n))
		return false;
	sort_runs(up, n);
	for (size_t i = 0; i < n; i++)
		down[i] = (struct tfp_pair){up[i].value, up[i].key};
	/* This keeps the order of the upper ends, which is right already. */
	if (!tfp_sort_pairs(down, n))
		return false;
	raw->children_at = lines_of(raw, &raw->by_child);
	raw->parents_at = lines_of(raw, &raw->by_parent);
	return raw->children_at && raw->parents_at;
}

size_t tfp_grouping_first_link(const struct tfp_raw *raw, struct tfp_raw_ref ref, bool child)
{
	const struct tfp_pair *links = child ? raw->by_child.items : raw->by_parent.items;
	const size_t *at = child ? raw->children_at : raw->parents_at;
	size_t low = at[ref.line], high = at[ref.line + 1];
	const uint64_t place = place_of(ref);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (links[middle].key < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
