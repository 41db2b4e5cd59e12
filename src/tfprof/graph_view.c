/* SPDX-License-Identifier: Apache-2.0 */
/* The graph: below a node its inputs. */
#include "tfprof/views.h"

#include "base/alloc.h"

enum tfp_status tfp_graph_build(struct tfp_tree *t, const struct tfp_profile *p,
				struct tfp_error *err)
{
	enum tfp_status status = tfp_tree_init(t, TFP_TREE_GRAPH, err);
	bool *feeds = tfp_calloc(p->count ? p->count : 1, sizeof(*feeds));
	bool good = status == TFP_OK && feeds;
	if (status == TFP_OK)
		tfp_tree_root(t)->type = (struct tfp_str){"_TFGraphParent", 14};
	for (size_t i = 0; good && i < p->count; i++) {
		struct tfp_tree_node *node = tfp_tree_add(t, p->nodes[i]->name);
		good = node != NULL;
		if (good)
			node->node = p->nodes[i];
	}
	for (size_t i = 0; good && i < p->count; i++) {
		const struct tfp_profile_node *node = p->nodes[i];
		for (size_t j = 0; good && j < node->input_count; j++) {
			const struct tfp_profile_node *source = node->inputs[j].node;
			if (!source)
				continue;
			feeds[source->index] = true;
			good = tfp_tree_add_child(t->nodes[1 + i], t->nodes[1 + source->index]);
		}
	}
	for (size_t i = 0; good && i < p->count; i++) {
		if (!feeds[i])
			good = tfp_tree_add_child(tfp_tree_root(t), t->nodes[1 + i]);
	}
	tfp_free(feeds);
	return good ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for the graph");
}
