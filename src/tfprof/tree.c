/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/tree.h"

#include "base/alloc.h"
#include "tfprof/rank.h"

#include <stdlib.h>
#include <string.h>

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the view");
}

/* ---- building ---- */

enum tfp_status tfp_tree_init(struct tfp_tree *t, enum tfp_tree_kind kind, struct tfp_error *err)
{
	*t = (struct tfp_tree){.kind = kind};
	return tfp_tree_add(t, (struct tfp_str){TFP_ROOT_NAME, strlen(TFP_ROOT_NAME)})
		       ? TFP_OK
		       : no_memory(err);
}

void tfp_tree_release(struct tfp_tree *t)
{
	for (size_t i = 0; i < t->count; i++) {
		tfp_node_group_release(&t->nodes[i]->group);
		tfp_free(t->nodes[i]->children);
		tfp_free(t->nodes[i]);
	}
	tfp_free(t->nodes);
	*t = (struct tfp_tree){0};
}

struct tfp_tree_node *tfp_tree_add(struct tfp_tree *t, struct tfp_str name)
{
	if (!TFP_GROW(t->nodes, t->count, t->room))
		return NULL;
	struct tfp_tree_node *node = tfp_calloc(1, sizeof(*node));
	if (node) {
		node->name = name;
		node->place = t->count;
		t->nodes[t->count++] = node;
	}
	return node;
}

bool tfp_tree_add_child(struct tfp_tree_node *parent, struct tfp_tree_node *child)
{
	if (!TFP_GROW(parent->children, parent->child_count, parent->child_room))
		return false;
	parent->children[parent->child_count++] = child;
	return true;
}

/* ---- groups ---- */

bool tfp_node_group_add(struct tfp_node_group *g, const struct tfp_profile_node *node)
{
	if (g->count && g->members[g->count - 1] == node)
		return true;
	if (!TFP_GROW(g->members, g->count, g->room))
		return false;
	g->members[g->count++] = node;
	return true;
}

static int by_index(const void *a, const void *b)
{
	const struct tfp_profile_node *const *x = a, *const *y = b;
	return ((*x)->index > (*y)->index) - ((*x)->index < (*y)->index);
}

bool tfp_node_group_finish(struct tfp_node_group *g)
{
	size_t kept = 0;
	if (g->count)
		qsort(g->members, g->count, sizeof(*g->members), by_index);
	for (size_t i = 0; i < g->count; i++) {
		if (kept == 0 || g->members[kept - 1] != g->members[i])
			g->members[kept++] = g->members[i];
	}
	g->count = kept;
	tfp_free(g->times);
	g->times = tfp_calloc(kept ? kept : 1, sizeof(*g->times));
	return g->times != NULL;
}

void tfp_node_group_release(struct tfp_node_group *g)
{
	tfp_free(g->members);
	tfp_free(g->times);
	*g = (struct tfp_node_group){0};
}

/* How many of the expressions match one of the node's types. */
static uint32_t times_picked(const struct tfp_profile_node *node, struct tfp_name_match *types)
{
	uint32_t times = 0;
	if (types->all)
		return 1;
	for (size_t i = 0; i < types->count; i++) {
		size_t j = 0;
		while (j < node->type_count && !tfp_name_matches_one(types, i, node->types[j]))
			j++;
		times += j < node->type_count;
	}
	return times;
}

void tfp_amounts_add(int64_t to[TFP_AMOUNT_COUNT], const int64_t more[TFP_AMOUNT_COUNT])
{
	for (int i = 0; i < TFP_AMOUNT_COUNT; i++)
		to[i] = tfp_wrap_add(to[i], more[i]);
}

bool tfp_node_group_account(struct tfp_node_group *g, struct tfp_name_match *types, int64_t step,
			    int64_t own[TFP_AMOUNT_COUNT])
{
	int64_t amounts[TFP_AMOUNT_COUNT];
	memset(own, 0, TFP_AMOUNT_COUNT * sizeof(*own));
	g->picked = 0;
	for (size_t i = 0; i < g->count; i++) {
		g->times[i] = times_picked(g->members[i], types);
		g->picked += g->times[i] > 0;
		if (g->times[i])
			tfp_profile_amounts(g->members[i], step, amounts);
		for (uint32_t n = 0; n < g->times[i]; n++)
			tfp_amounts_add(own, amounts);
	}
	return g->picked > 0 || types->all;
}

/* ---- filters ---- */

static enum tfp_status init_filters(struct tfp_filters *f, const struct tfp_view_options *o,
				    enum tfp_status (*init)(struct tfp_name_match *m,
							    const char *list,
							    struct tfp_error *err),
				    struct tfp_error *err)
{
	struct tfp_name_match *const lists[] = {&f->account, &f->start, &f->trim, &f->show,
						&f->hide};
	enum tfp_status status = TFP_OK;
	*f = (struct tfp_filters){0};
	for (int i = 0; status == TFP_OK && i < 5; i++)
		status = init(lists[i], o->texts[TFP_ACCOUNT_TYPES + i], err);
	if (status != TFP_OK)
		tfp_filters_release(f);
	return status;
}

enum tfp_status tfp_filters_init(struct tfp_filters *f, const struct tfp_view_options *o,
				 struct tfp_error *err)
{
	return init_filters(f, o, tfp_name_match_init, err);
}

enum tfp_status tfp_filters_init_strict(struct tfp_filters *f, const struct tfp_view_options *o,
					struct tfp_error *err)
{
	return init_filters(f, o, tfp_name_match_init_strict, err);
}

void tfp_filters_release(struct tfp_filters *f)
{
	tfp_name_match_release(&f->account);
	tfp_name_match_release(&f->start);
	tfp_name_match_release(&f->trim);
	tfp_name_match_release(&f->show);
	tfp_name_match_release(&f->hide);
}

const struct tfp_minimum tfp_minima[TFP_MINIMA] = {
	{TFP_MIN_BYTES, TFP_REQUESTED_BYTES},
	{TFP_MIN_PEAK_BYTES, TFP_PEAK_BYTES},
	{TFP_MIN_RESIDUAL_BYTES, TFP_RESIDUAL_BYTES},
	{TFP_MIN_OUTPUT_BYTES, TFP_OUTPUT_BYTES},
	{TFP_MIN_MICROS, TFP_TOTAL_TIME},
	{TFP_MIN_ACCELERATOR_MICROS, TFP_ACCELERATOR_TIME},
	{TFP_MIN_CPU_MICROS, TFP_CPU_TIME},
};

bool tfp_is_shown(const struct tfp_view_options *o, struct tfp_filters *f, struct tfp_str name,
		  const int64_t total[TFP_AMOUNT_COUNT], int64_t parameters, int64_t flops,
		  int64_t depth)
{
	for (size_t i = 0; i < TFP_MINIMA; i++) {
		if (total[tfp_minima[i].amount] < o->numbers[tfp_minima[i].number])
			return false;
	}
	return parameters >= o->numbers[TFP_MIN_PARAMS] && flops >= o->numbers[TFP_MIN_FLOAT_OPS] &&
	       depth <= o->numbers[TFP_MAX_DEPTH] && tfp_name_matches(&f->show, name) &&
	       !tfp_name_matches(&f->hide, name);
}

enum tfp_amount tfp_order_amount(const struct tfp_view_options *o)
{
	static const struct {
		const char *word;
		enum tfp_amount amount;
	} orders[] = {
		{"bytes", TFP_REQUESTED_BYTES},
		{"peak_bytes", TFP_PEAK_BYTES},
		{"residual_bytes", TFP_RESIDUAL_BYTES},
		{"output_bytes", TFP_OUTPUT_BYTES},
		{"micros", TFP_TOTAL_TIME},
		{"accelerator_micros", TFP_ACCELERATOR_TIME},
		{"cpu_micros", TFP_CPU_TIME},
		{"params", TFP_PARAMETERS},
		{"float_ops", TFP_FLOAT_OPS},
		{"occurrence", TFP_DEFINED},
		{"model_flops", TFP_MODEL_FLOPS},
		{"bytes_accessed", TFP_BYTES_ACCESSED},
	};
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		if (strcmp(o->texts[TFP_ORDER_BY], orders[i].word) == 0)
			return orders[i].amount;
	}
	return TFP_AMOUNT_COUNT;
}

/* ---- lists ---- */

static void keep(struct tfp_tree_node *parent, struct tfp_tree_node *first,
		 struct tfp_tree_node *last)
{
	if (!first)
		return;
	if (parent->kept_last)
		parent->kept_last->kept_next = first;
	else
		parent->kept_first = first;
	parent->kept_last = last;
	last->kept_next = NULL;
}

static void show(struct tfp_tree_node *parent, struct tfp_tree_node *first,
		 struct tfp_tree_node *last)
{
	if (!first)
		return;
	if (parent->shown_last)
		parent->shown_last->shown_next = first;
	else
		parent->shown_first = first;
	parent->shown_last = last;
	last->shown_next = NULL;
}

/* ---- account ---- */

static bool has_type(const struct tfp_tree_node *n, struct tfp_name_match *types)
{
	if (types->all)
		return true;
	for (size_t i = 0; n->taken && i < n->taken->type_count; i++) {
		if (tfp_name_matches(types, n->taken->types[i]))
			return true;
	}
	if (n->taken)
		return false;
	if (!n->node)
		return tfp_name_matches(types, n->type);
	for (size_t i = 0; i < n->node->type_count; i++) {
		if (tfp_name_matches(types, n->node->types[i]))
			return true;
	}
	return false;
}

/* What the capture tells of a node. */
static void take(struct tfp_tree_node *n)
{
	n->known_own = n->partial = 0;
	n->flags = 0;
	if (!n->taken)
		return;
	memcpy(n->own, n->taken->amounts, sizeof(n->own));
	n->known_own = n->taken->known;
	n->partial = n->taken->lacking;
	n->flags = n->taken->flags;
}

static void add_total(const struct tfp_tree *t, struct tfp_tree_node *n,
		      const struct tfp_tree_node *c)
{
	if (!t->captured) {
		tfp_amounts_add(n->total, c->total);
		return;
	}
	for (int i = 0; i < TFP_AMOUNT_COUNT; i++) {
		if (__builtin_add_overflow(n->total[i], c->total[i], &n->total[i]))
			n->total[i] = INT64_MAX;
	}
	n->known_total |= c->known_total;
	n->partial |= c->partial;
	n->flags |= c->flags;
}

static bool account_own(const struct tfp_tree *t, struct tfp_tree_node *n,
			const struct tfp_view_options *o, struct tfp_filters *f)
{
	if (t->kind == TFP_TREE_CODE)
		return tfp_node_group_account(&n->group, &f->account, o->numbers[TFP_STEP], n->own);
	if (n->node)
		tfp_profile_amounts(n->node, o->numbers[TFP_STEP], n->own);
	else
		memset(n->own, 0, sizeof(n->own));
	if (t->captured)
		take(n);
	else
		n->own[TFP_DEFINED] = 1;
	return has_type(n, &f->account);
}

/* All below it is accounted. */
static void account_node(const struct tfp_tree *t, struct tfp_tree_node *n,
			 const struct tfp_view_options *o, struct tfp_filters *f)
{
	n->accounted = account_own(t, n, o, f);
	if (!n->accounted && (t->kind == TFP_TREE_GRAPH || !n->kept_first)) {
		keep(n->parent, n->kept_first, n->kept_last);
		return;
	}
	if (t->captured && !n->accounted) {
		memset(n->own, 0, sizeof(n->own));
		n->known_own = n->partial = 0;
		n->flags = 0;
	}
	memcpy(n->total, n->own, sizeof(n->total));
	n->known_total = n->known_own;
	for (struct tfp_tree_node *c = n->kept_first; c; c = c->kept_next) {
		c->kept_parent = n;
		add_total(t, n, c);
	}
	keep(n->parent, n, n);
}

static void account(struct tfp_tree *t, const struct tfp_view_options *o, struct tfp_filters *f)
{
	struct tfp_tree_node *root = tfp_tree_root(t), *n = root;
	for (size_t i = 0; i < t->count; i++) {
		struct tfp_tree_node *each = t->nodes[i];
		each->visited = each->accounted = each->shown = false;
		each->next_child = 0;
		each->kept_first = each->kept_last = each->kept_next = NULL;
		each->shown_first = each->shown_last = each->shown_next = NULL;
	}
	root->parent = NULL;
	for (;;) {
		if (n->next_child < n->child_count) {
			struct tfp_tree_node *child = n->children[n->next_child++];
			if (!child->visited) {
				child->visited = true;
				child->parent = n;
				n = child;
			}
			continue;
		}
		if (n == root)
			break;
		account_node(t, n, o, f);
		n = n->parent;
	}
	/* The root is never accounted, whatever the types are. */
	memset(root->own, 0, sizeof(root->own));
	memset(root->total, 0, sizeof(root->total));
	root->own[TFP_DEFINED] = !t->captured;
	root->known_own = root->known_total = root->partial = 0;
	root->flags = 0;
	for (struct tfp_tree_node *c = root->kept_first; c; c = c->kept_next) {
		c->kept_parent = root;
		add_total(t, root, c);
	}
}

/* ---- start ---- */

/* The next of what is kept, without what is below n; NULL at the end. */
static struct tfp_tree_node *beside(struct tfp_tree_node *n, const struct tfp_tree_node *root)
{
	while (n != root && !n->kept_next)
		n = n->kept_parent;
	return n == root ? NULL : n->kept_next;
}

static bool start(struct tfp_tree *t, struct tfp_filters *f)
{
	struct tfp_tree_node *root = tfp_tree_root(t), **found = NULL;
	size_t count = 0, room = 0;
	bool good = true;
	if (f->start.all)
		return true;
	for (struct tfp_tree_node *n = root->kept_first; good && n;) {
		bool matches = tfp_name_matches(&f->start, n->name);
		if (matches) {
			good = TFP_GROW(found, count, room);
			if (good)
				found[count++] = n;
		}
		n = !matches && n->kept_first ? n->kept_first : beside(n, root);
	}
	root->kept_first = root->kept_last = NULL;
	for (size_t i = 0; good && i < count; i++) {
		found[i]->kept_parent = root;
		keep(root, found[i], found[i]);
	}
	tfp_free(found);
	return good;
}

/* ---- show ---- */

struct order {
	struct tfp_tree_node **nodes;
	enum tfp_amount amount;
	bool groups, captured;
};

static bool is_root(struct tfp_str name)
{
	return tfp_str_equal(name, TFP_ROOT_NAME);
}

/* The larger first, what is unknown last, otherwise by name. */
static bool is_before(const struct tfp_tree_node *x, const struct tfp_tree_node *y,
		      enum tfp_amount amount)
{
	if (amount == TFP_DEFINED)
		amount = TFP_RUNS;
	if (amount != TFP_AMOUNT_COUNT) {
		bool knows_x = x->known_total & TFP_AMOUNT_BIT(amount);
		bool knows_y = y->known_total & TFP_AMOUNT_BIT(amount);
		if (knows_x != knows_y)
			return knows_x;
		if (x->total[amount] != y->total[amount])
			return x->total[amount] > y->total[amount];
	}
	return tfp_str_compare(x->label, y->label) < 0;
}

static bool before(const void *context, uint32_t a, uint32_t b)
{
	const struct order *order = context;
	const struct tfp_tree_node *x = order->nodes[a], *y = order->nodes[b];
	if (is_root(x->name) || is_root(y->name))
		return is_root(x->name) && !is_root(y->name);
	if (order->captured)
		return is_before(x, y, order->amount);
	if (order->amount == TFP_DEFINED && order->groups)
		return x->group.picked > y->group.picked;
	if (order->amount == TFP_RUNS || order->amount == TFP_DEFINED ||
	    order->amount == TFP_AMOUNT_COUNT)
		return tfp_str_compare(x->name, y->name) < 0;
	return x->total[order->amount] > y->total[order->amount];
}

static bool sort_shown(const struct tfp_tree *t, struct tfp_tree_node *n, enum tfp_amount amount)
{
	struct order order = {NULL, amount, t->kind == TFP_TREE_CODE, t->captured};
	struct tfp_tree_node *each = n->shown_first;
	size_t count = 0, room = 0;
	if (!each || !each->shown_next)
		return true;
	for (; each; each = each->shown_next) {
		if (!TFP_GROW(order.nodes, count, room)) {
			tfp_free(order.nodes);
			return false;
		}
		order.nodes[count++] = each;
	}
	uint32_t *indexes = tfp_rank_indexes(count, before, &order);
	n->shown_first = n->shown_last = NULL;
	for (size_t i = 0; indexes && i < count; i++)
		show(n, order.nodes[indexes[i]], order.nodes[indexes[i]]);
	tfp_free(order.nodes);
	tfp_free(indexes);
	return indexes != NULL;
}

static bool should_show(const struct tfp_tree *t, const struct tfp_tree_node *n,
			const struct tfp_view_options *o, struct tfp_filters *f)
{
	bool code = t->kind == TFP_TREE_CODE;
	const int64_t *few = code || t->captured ? n->total : n->own;
	if (is_root(n->name))
		return true;
	return (code || few[TFP_RUNS] >= o->numbers[TFP_MIN_OCCURRENCE]) &&
	       tfp_is_shown(o, f, n->name, n->total, few[TFP_PARAMETERS], few[TFP_FLOAT_OPS],
			    (int64_t)n->depth);
}

/* Whether to go below the node, of which it is known now whether it is shown. */
static bool enters(const struct tfp_tree *t, struct tfp_tree_node *n,
		   const struct tfp_view_options *o, struct tfp_filters *f)
{
	bool ends = (int64_t)n->depth > o->numbers[TFP_MAX_DEPTH] ||
		    tfp_name_matches(&f->trim, n->name);
	/* Lines of code go with what is below them; not the root, at which the original stops. */
	bool left_out = ends && t->kind == TFP_TREE_CODE;
	n->shown = n == tfp_tree_root(t) || (!left_out && should_show(t, n, o, f));
	return !ends && n->kept_first;
}

static bool finish_shown(const struct tfp_tree *t, struct tfp_tree_node *n,
			 const struct tfp_view_options *o, enum tfp_amount amount)
{
	if (!n->shown) {
		if (n->kept_parent)
			show(n->kept_parent, n->shown_first, n->shown_last);
		n->shown_first = n->shown_last = NULL;
		return true;
	}
	if (o->displayed_only && t->kind != TFP_TREE_CODE) {
		memcpy(n->total, n->own, sizeof(n->total));
		n->known_total = n->known_own;
	}
	if (!sort_shown(t, n, amount))
		return false;
	for (struct tfp_tree_node *c = n->shown_first; c; c = c->shown_next) {
		c->shown_parent = n;
		if (o->displayed_only && t->kind != TFP_TREE_CODE)
			add_total(t, n, c);
	}
	if (n->kept_parent)
		show(n->kept_parent, n, n);
	return true;
}

enum tfp_status tfp_tree_show(struct tfp_tree *t, const struct tfp_view_options *o,
			      struct tfp_filters *f, struct tfp_error *err)
{
	struct tfp_tree_node *root = tfp_tree_root(t), *n = root;
	enum tfp_amount amount = tfp_order_amount(o);
	bool down = true;
	account(t, o, f);
	if (!start(t, f))
		return no_memory(err);
	root->kept_parent = root->shown_parent = root->kept_next = NULL;
	root->depth = 1;
	for (;;) {
		if (down && enters(t, n, o, f)) {
			n->kept_first->depth = n->depth + 1;
			n = n->kept_first;
			continue;
		}
		if (!finish_shown(t, n, o, amount))
			return no_memory(err);
		if (n == root)
			return TFP_OK;
		down = n->kept_next != NULL;
		if (down)
			n->kept_next->depth = n->depth;
		n = down ? n->kept_next : n->kept_parent;
	}
}

struct tfp_tree_node *tfp_tree_next(const struct tfp_tree_node *n)
{
	if (n->shown_first)
		return n->shown_first;
	while (n->shown_parent && !n->shown_next)
		n = n->shown_parent;
	return n->shown_parent ? n->shown_next : NULL;
}
