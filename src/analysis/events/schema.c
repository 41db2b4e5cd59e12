/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/events/schema.h"

#include "base/alloc.h"

#include <string.h>

enum tfp_status tfp_schema_init(struct tfp_schema *schema, const struct tfp_plane *plane,
				const char *const *names, size_t count, struct tfp_error *err)
{
	schema->plane = plane;
	schema->wanted = tfp_calloc(plane->stat_meta_count, 1);
	if (!schema->wanted)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a table of stats");
	for (size_t n = 0; n < count; n++) {
		for (size_t i = 1; i < plane->stat_meta_count; i++) {
			if (tfp_str_equal(plane->stat_metas[i].name, names[n]))
				schema->wanted[i] = (uint8_t)(n + 1);
		}
	}
	return TFP_OK;
}

void tfp_schema_release(struct tfp_schema *schema)
{
	tfp_free(schema->wanted);
	*schema = (struct tfp_schema){0};
}

bool tfp_schema_has(const struct tfp_schema *schema, size_t name)
{
	return memchr(schema->wanted, (int)(name + 1), schema->plane->stat_meta_count) != NULL;
}

bool tfp_schema_has_any(const struct tfp_schema *schema)
{
	for (size_t i = 0; i < schema->plane->stat_meta_count; i++) {
		if (schema->wanted[i])
			return true;
	}
	return false;
}

struct tfp_str tfp_stats_text(const struct tfp_plane *plane, struct tfp_stat_iter stats, int64_t id)
{
	struct tfp_str text = {"", 0};
	struct tfp_stat stat;
	while (tfp_stat_next(&stats, &stat)) {
		if (stat.metadata_id == id)
			tfp_stat_text(plane, &stat, &text);
	}
	return text;
}

bool tfp_line_is_derived(const struct tfp_line *line)
{
	int32_t id = (int32_t)(uint32_t)(uint64_t)line->id;
	return id >= TFP_LINE_STEPS && id < TFP_LINE_DERIVED_END;
}

static size_t skip_digits(struct tfp_str s, size_t i)
{
	while (i < s.size && s.data[i] >= '0' && s.data[i] <= '9')
		i++;
	return i;
}

/* `<n> SparseCore <m>` or `<n> SparseCore <letters> <m>`. */
static bool is_sparse_core(struct tfp_str s)
{
	static const char word[] = " SparseCore ";
	const size_t n = sizeof(word) - 1;
	size_t i = skip_digits(s, 0);
	if (i == 0 || s.size - i < n || memcmp(s.data + i, word, n) != 0)
		return false;
	i += n;
	size_t letters = i;
	while (i < s.size &&
	       ((s.data[i] >= 'a' && s.data[i] <= 'z') || (s.data[i] >= 'A' && s.data[i] <= 'Z')))
		i++;
	if (i > letters && (i == s.size || s.data[i++] != ' '))
		return false;
	return i < s.size && skip_digits(s, i) == s.size;
}

enum tfp_plane_kind tfp_plane_kind(struct tfp_str name)
{
	static const char tpu[] = "/device:TPU:";
	const size_t n = sizeof(tpu) - 1;
	if (tfp_str_equal(name, "/host:CPU"))
		return TFP_PLANE_HOST;
	if (tfp_str_equal(name, "/host:metadata"))
		return TFP_PLANE_METADATA;
	if (tfp_str_starts(name, "/device:GPU:"))
		return TFP_PLANE_GPU;
	if (tfp_str_starts(name, tpu) && skip_digits(name, n) == name.size)
		return TFP_PLANE_TPU;
	if (tfp_str_starts(name, tpu) &&
	    is_sparse_core((struct tfp_str){name.data + n, name.size - n}))
		return TFP_PLANE_SPARSE_CORE;
	return TFP_PLANE_OTHER;
}

/* IsHostPlane and IsDevicePlane of xplane_utils.cc. */
static bool is_grouping_plane(struct tfp_str name)
{
	static const char *const prefixes[] = {
		"/host:CPU",       "Host CPUs",
		"/host:tfstreamz", "/host:metadata",
		"Syscalls",        "/host:python-tracer",
		"/host:CUPTI",     "/host:__ScopeRangeCallStack__",
		"/device",         "#Chip",
		"/custom:",
	};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (tfp_str_starts(name, prefixes[i]))
			return true;
	}
	return false;
}

bool tfp_capture_is_grouped(const struct tfp_capture *capture)
{
	for (size_t p = 0; p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		if (is_grouping_plane(plane->name) &&
		    tfp_plane_stat_id(plane, "group_id") == INT64_MIN)
			return false;
	}
	return true;
}
