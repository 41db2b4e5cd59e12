/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/grouping/groups.h"

#include "base/alloc.h"

static bool allocate(const struct tfp_capture *capture, struct tfp_groups *groups)
{
	groups->planes = tfp_calloc(capture->plane_count, sizeof(struct tfp_line_groups *));
	if (!groups->planes)
		return false;
	groups->plane_count = capture->plane_count;
	for (size_t p = 0; p < capture->plane_count; p++) {
		size_t count = capture->planes[p].line_count;
		groups->planes[p] = tfp_calloc(count + 1, sizeof(struct tfp_line_groups));
		if (!groups->planes[p])
			return false;
		groups->planes[p][count].named_count = SIZE_MAX;
	}
	return true;
}

struct tfp_groups *tfp_groups_new(const struct tfp_capture *capture)
{
	struct tfp_groups *groups = tfp_calloc(1, sizeof(*groups));
	if (!groups)
		return NULL;
	tfp_arena_init(&groups->arena, SIZE_MAX);
	if (allocate(capture, groups))
		return groups;
	tfp_groups_free(groups);
	return NULL;
}

void tfp_groups_free(struct tfp_groups *groups)
{
	if (!groups)
		return;
	for (size_t p = 0; groups->planes && p < groups->plane_count; p++) {
		struct tfp_line_groups *lines = groups->planes[p];
		/* The list of a plane ends with a line of no groups and no names. */
		for (size_t l = 0; lines && lines[l].named_count != SIZE_MAX; l++) {
			tfp_group_column_release(&lines[l].group);
			tfp_free(lines[l].eager);
			tfp_free(lines[l].named);
			tfp_free(lines[l].regions);
		}
		tfp_free(lines);
	}
	tfp_free(groups->planes);
	tfp_free(groups->groups);
	tfp_free(groups->links);
	tfp_arena_release(&groups->arena);
	tfp_free(groups);
}

uint64_t tfp_groups_bytes(const struct tfp_groups *groups, const struct tfp_capture *capture)
{
	uint64_t bytes =
		sizeof(*groups) + groups->arena.bytes + groups->link_count * sizeof(*groups->links);
	for (size_t p = 0; p < capture->plane_count; p++) {
		for (size_t l = 0; l < capture->planes[p].line_count; l++) {
			const struct tfp_line_groups *g = &groups->planes[p][l];
			size_t n = capture->planes[p].lines[l].event_count;
			bytes += sizeof(*g) + g->named_count * sizeof(*g->named) +
				 g->region_count * sizeof(*g->regions);
			bytes += tfp_group_column_bytes(&g->group) +
				 (g->eager ? TFP_EAGER_BYTES(n) : 0);
		}
	}
	return bytes;
}

bool tfp_event_is_named(const struct tfp_groups *groups, size_t plane, size_t line, size_t event)
{
	const struct tfp_line_groups *g = &groups->planes[plane][line];
	size_t low = 0, high = g->named_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (g->named[middle] < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low < g->named_count && g->named[low] == event;
}
