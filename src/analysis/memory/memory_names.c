/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/memory_parts.h"
#include "base/alloc.h"

void tfp_memory_names_init(struct tfp_memory_names *n)
{
	*n = (struct tfp_memory_names){0};
	tfp_arena_init(&n->arena, SIZE_MAX);
	tfp_buf_init(&n->key, SIZE_MAX / 2);
}

void tfp_memory_names_release(struct tfp_memory_names *n, bool kept)
{
	tfp_str_map_release(&n->label_map);
	tfp_str_map_release(&n->id_map);
	tfp_buf_release(&n->key);
	if (kept)
		return;
	tfp_free(n->labels);
	tfp_free(n->ids);
	tfp_arena_release(&n->arena);
}

uint32_t tfp_memory_add_id(struct tfp_memory_names *n, struct tfp_str id)
{
	uint32_t found = tfp_str_map_find(&n->id_map, id.data, id.size);
	if (found != TFP_STR_MAP_NONE)
		return found;
	if (!TFP_GROW(n->ids, n->id_count, n->id_room))
		return TFP_STR_MAP_NONE;
	const char *copy = tfp_arena_strndup(&n->arena, id.data, id.size);
	if (!copy)
		return TFP_STR_MAP_NONE;
	n->ids[n->id_count] = (struct tfp_str){copy, id.size};
	found = tfp_str_map_add(&n->id_map, copy, id.size, (uint32_t)n->id_count);
	if (found != TFP_STR_MAP_NONE)
		n->id_count++;
	return found;
}

/* Four texts as one key: their sizes, then their bytes. */
static bool make_key(struct tfp_buf *key, const struct tfp_memory_label *l)
{
	const struct tfp_str *texts[] = {&l->op, &l->region, &l->data_type, &l->shape};
	tfp_buf_clear(key);
	for (int i = 0; i < 4; i++)
		tfp_buf_add(key, &texts[i]->size, sizeof(texts[i]->size));
	for (int i = 0; i < 4; i++)
		tfp_buf_add(key, texts[i]->data, texts[i]->size);
	return !tfp_buf_failed(key);
}

static struct tfp_str take_text(const char **at, size_t size)
{
	struct tfp_str text = {*at, size};
	*at += size;
	return text;
}

uint32_t tfp_memory_add_label(struct tfp_memory_names *n, const struct tfp_memory_label *label)
{
	if (!make_key(&n->key, label))
		return TFP_STR_MAP_NONE;
	uint32_t found = tfp_str_map_find(&n->label_map, n->key.data, n->key.size);
	if (found != TFP_STR_MAP_NONE)
		return found;
	if (!TFP_GROW(n->labels, n->label_count, n->label_room))
		return TFP_STR_MAP_NONE;
	const char *copy = tfp_arena_strndup(&n->arena, n->key.data, n->key.size);
	if (!copy)
		return TFP_STR_MAP_NONE;
	const char *at = copy + 4 * sizeof(label->op.size);
	struct tfp_memory_label *own = &n->labels[n->label_count];
	own->op = take_text(&at, label->op.size);
	own->region = take_text(&at, label->region.size);
	own->data_type = take_text(&at, label->data_type.size);
	own->shape = take_text(&at, label->shape.size);
	own->rank = 0;
	found = tfp_str_map_add(&n->label_map, copy, n->key.size, (uint32_t)n->label_count);
	if (found != TFP_STR_MAP_NONE)
		n->label_count++;
	return found;
}
