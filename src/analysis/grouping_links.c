#include "analysis/grouping_parts.h"

/* A group of so many producers and so many consumers connects everything with
 * everything: the peers leave it out, and so do we. */
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

/* Every kernel is below the launch of its id, the last one where there are more. */
static bool connect_kernels(struct tfp_raw *raw)
{
	struct tfp_pair *launches = raw->launches.items, *kernels = raw->kernels.items;
	size_t n = raw->launches.count, m = raw->kernels.count, i = 0;
	bool ok = tfp_sort_pairs(launches, n) && tfp_sort_pairs(kernels, m);
	for (size_t k = 0; ok && k < m; k++) {
		while (i < n && launches[i].key < kernels[k].key)
			i++;
		while (i + 1 < n && launches[i + 1].key == kernels[k].key)
			i++;
		if (i < n && launches[i].key == kernels[k].key)
			ok = tfp_grouping_add_link(raw, event_at(launches[i].value),
						   event_at(kernels[k].value));
	}
	/* They are as large as the links made of them. */
	drop(&raw->launches);
	drop(&raw->kernels);
	return ok;
}

bool tfp_grouping_connect(struct tfp_raw *raw)
{
	return connect_ends(raw) && connect_kernels(raw);
}

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
