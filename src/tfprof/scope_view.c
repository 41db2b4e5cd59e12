/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes: a tree by the parts of names. */
#include "tfprof/views.h"

#include <stdlib.h>
#include <string.h>

/* Names of more parts than this have the rest as one. */
#define LEVELS_MAX 1000

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the scopes");
}

/* The name's scope: what is before its last '/'. False for names of the top. */
static bool scope_of(struct tfp_str name, struct tfp_str *scope)
{
	size_t last = SIZE_MAX, levels = 0;
	for (const char *at = name.data, *end = name.data + name.size;
	     name.size && levels < LEVELS_MAX && (at = memchr(at, '/', (size_t)(end - at)));
	     at++, levels++)
		last = (size_t)(at - name.data);
	*scope = (struct tfp_str){name.data, last == SIZE_MAX ? 0 : last};
	return last != SIZE_MAX;
}

/* Nodes and the scopes that no node stands for, the root left out. */
static bool add_names(struct tfp_tree *t, struct tfp_str_map *names, const struct tfp_profile *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct tfp_str name = p->nodes[i]->name;
		struct tfp_tree_node *node = tfp_tree_add(t, name);
		if (!node || tfp_str_map_add(names, name.data, name.size,
					     (uint32_t)(t->count - 1)) == TFP_STR_MAP_NONE)
			return false;
		node->node = p->nodes[i];
	}
	for (size_t i = 0; i < p->count; i++) {
		struct tfp_str name = p->nodes[i]->name;
		while (scope_of(name, &name)) {
			if (tfp_str_map_find(names, name.data, name.size) != TFP_STR_MAP_NONE)
				break;
			struct tfp_tree_node *node = tfp_tree_add(t, name);
			if (!node || tfp_str_map_add(names, name.data, name.size,
						     (uint32_t)(t->count - 1)) == TFP_STR_MAP_NONE)
				return false;
			node->type = (struct tfp_str){"_kTFScopeParent", 15};
		}
	}
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct tfp_tree_node *const *x = a, *const *y = b;
	return tfp_str_compare((*x)->name, (*y)->name);
}

enum tfp_status tfp_scope_build(struct tfp_tree *t, const struct tfp_profile *p,
				struct tfp_error *err)
{
	struct tfp_str_map names = {0};
	enum tfp_status status = tfp_tree_init(t, TFP_TREE_SCOPE, err);
	if (status != TFP_OK)
		return status;
	tfp_tree_root(t)->type = (struct tfp_str){"_kTFScopeParent", 15};
	bool good = add_names(t, &names, p);
	tfp_str_map_release(&names);
	names = (struct tfp_str_map){0};
	qsort(t->nodes + 1, t->count - 1, sizeof(struct tfp_tree_node *), by_name);
	for (size_t i = 1; good && i < t->count; i++)
		good = tfp_str_map_add(&names, t->nodes[i]->name.data, t->nodes[i]->name.size,
				       (uint32_t)i) != TFP_STR_MAP_NONE;
	for (size_t i = 1; good && i < t->count; i++) {
		struct tfp_tree_node *parent = tfp_tree_root(t);
		struct tfp_str scope;
		if (scope_of(t->nodes[i]->name, &scope))
			parent = t->nodes[tfp_str_map_find(&names, scope.data, scope.size)];
		good = tfp_tree_add_child(parent, t->nodes[i]);
	}
	tfp_str_map_release(&names);
	return good ? TFP_OK : no_memory(err);
}
