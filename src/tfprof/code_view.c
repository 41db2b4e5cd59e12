/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of code: a tree of call stacks. */
#include "tfprof/views.h"

#include "base/alloc.h"
#include "tfprof/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES ((size_t)1 << 20)
#define FUNCTION_MAX   20 /* names of that length are cut */

struct builder {
	struct tfp_tree *tree;
	struct tfp_profile *profile;
	struct tfp_str_map lines; /* parent's number and name, to a line's number in the tree */
	struct tfp_buf key;
};

/* The gradient of which node it is, by its name: what is between "gradients/" and "_grad/",
 * wherever they are. */
static bool is_gradient(struct tfp_str name, struct tfp_str *forward)
{
	static const char before[] = "gradients/", behind[] = "_grad/";
	const char *from = name.size ? memmem(name.data, name.size, before, strlen(before)) : NULL;
	const char *to = name.size ? memmem(name.data, name.size, behind, strlen(behind)) : NULL;
	if (!from || !to)
		return false;
	from += strlen(before);
	if (from == to)
		return false;
	/* In the wrong order all of the rest is taken. */
	forward->data = from;
	forward->size = (size_t)((to > from ? to : name.data + name.size) - from);
	return true;
}

static void put_name(struct tfp_buf *out, const struct tfp_frame *frame, bool gradient)
{
	const char *slash =
		frame->file.size ? memrchr(frame->file.data, '/', frame->file.size) : NULL;
	struct tfp_str base = frame->file, function = frame->function;
	if (slash) {
		base.data = slash + 1;
		base.size -= (size_t)(slash + 1 - frame->file.data);
	}
	tfp_put_str(out, base);
	tfp_buf_printf(out, ":%" PRId32 ":", frame->line);
	if (function.size < FUNCTION_MAX) {
		tfp_put_str(out, function);
	} else {
		tfp_buf_add(out, function.data, FUNCTION_MAX - 3);
		tfp_buf_puts(out, "...");
	}
	if (gradient)
		tfp_buf_puts(out, " (gradient)");
}

/* The line of that frame below a parent, which is new if need be; NULL without memory. */
static struct tfp_tree_node *line_below(struct builder *b, uint32_t *place,
					const struct tfp_frame *frame, bool gradient)
{
	struct tfp_tree_node *parent = b->tree->nodes[*place];
	tfp_buf_clear(&b->key);
	tfp_buf_add(&b->key, place, sizeof(*place));
	put_name(&b->key, frame, gradient);
	if (tfp_buf_failed(&b->key))
		return NULL;
	uint32_t found = tfp_str_map_find(&b->lines, b->key.data, b->key.size);
	if (found != TFP_STR_MAP_NONE) {
		*place = found;
		return b->tree->nodes[found];
	}
	char *copy = tfp_arena_strndup(&b->profile->arena, b->key.data, b->key.size);
	if (!copy || b->tree->count >= TFP_STR_MAP_NONE - 1)
		return NULL;
	struct tfp_tree_node *line = tfp_tree_add(
		b->tree, (struct tfp_str){copy + sizeof(*place), b->key.size - sizeof(*place)});
	if (!line)
		return NULL;
	line->frame = frame;
	line->gradient = gradient;
	*place = (uint32_t)(b->tree->count - 1);
	if (!tfp_tree_add_child(parent, line) ||
	    tfp_str_map_add(&b->lines, copy, b->key.size, *place) == TFP_STR_MAP_NONE)
		return NULL;
	return line;
}

/* The line in which a stack ends. */
static struct tfp_tree_node *line_of(struct builder *b, const struct tfp_profile_node *node,
				     bool gradient)
{
	struct tfp_tree_node *line = NULL;
	uint32_t place = 0;
	for (size_t i = 0; i < node->frame_count; i++) {
		line = line_below(b, &place, &node->frames[i], gradient);
		if (!line)
			return NULL;
	}
	return line;
}

struct gradient {
	struct tfp_str forward;
	const struct tfp_profile_node *node;
};

static int by_forward(const void *a, const void *b)
{
	const struct gradient *x = a, *y = b;
	int order = tfp_str_compare(x->forward, y->forward);
	if (order)
		return order;
	return (x->node->index > y->node->index) - (x->node->index < y->node->index);
}

/* Nodes are sorted by name. */
static const struct tfp_profile_node *find(const struct tfp_profile *p, struct tfp_str name)
{
	size_t from = 0, to = p->count;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (tfp_str_compare(p->nodes[middle]->name, name) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from < p->count && tfp_str_compare(p->nodes[from]->name, name) == 0 ? p->nodes[from]
										   : NULL;
}

static bool add_gradients(struct builder *b, const struct gradient *list, size_t count)
{
	size_t lost = 0;
	for (size_t i = 0, next; i < count; i = next) {
		const struct tfp_profile_node *forward = find(b->profile, list[i].forward);
		struct tfp_str ignored;
		struct tfp_tree_node *line = NULL;
		for (next = i;
		     next < count && tfp_str_compare(list[next].forward, list[i].forward) == 0;)
			next++;
		if (!forward || !forward->frame_count || is_gradient(forward->name, &ignored)) {
			lost++;
			continue;
		}
		line = line_of(b, forward, true);
		for (size_t j = i; line && j < next; j++) {
			if (!tfp_node_group_add(&line->group, list[j].node))
				return false;
		}
		if (!line)
			return false;
	}
	if (lost)
		fprintf(stderr, "%zu gradient nodes not accounted\n", lost);
	return true;
}

enum tfp_status tfp_code_build(struct tfp_tree *t, struct tfp_profile *p, struct tfp_error *err)
{
	struct builder b = {.tree = t, .profile = p};
	struct gradient *gradients = NULL;
	size_t count = 0, room = 0;
	enum tfp_status status = tfp_tree_init(t, TFP_TREE_CODE, err);
	bool good = status == TFP_OK;
	tfp_buf_init(&b.key, NAME_MAX_BYTES);
	for (size_t i = 0; good && i < p->count; i++) {
		struct tfp_profile_node *node = p->nodes[i];
		struct tfp_str forward;
		if (!node->frame_count)
			continue;
		if (is_gradient(node->name, &forward)) {
			good = TFP_GROW(gradients, count, room);
			if (good)
				gradients[count++] = (struct gradient){forward, node};
			continue;
		}
		struct tfp_tree_node *line = line_of(&b, node, false);
		good = line && tfp_node_group_add(&line->group, node);
	}
	if (good && count)
		qsort(gradients, count, sizeof(*gradients), by_forward);
	good = good && add_gradients(&b, gradients, count);
	for (size_t i = 0; good && i < t->count; i++)
		good = tfp_node_group_finish(&t->nodes[i]->group);
	tfp_free(gradients);
	tfp_str_map_release(&b.lines);
	tfp_buf_release(&b.key);
	return good ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for the lines of code");
}
