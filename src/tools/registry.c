/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tool.h"

#include <stdio.h>
#include <string.h>

/* Made of the folder by scripts/list_structs.py, in no order that matters. */
extern const struct tfp_tool *const tfp_every_tool[];
extern const size_t tfp_every_tool_count;

/* Parameters of every tool, and those that XProf's clients may send to any tool. The latter are
 * no errors, unlike a misspelt parameter. */
static const char *const of_everybody[] = {
	"run",
	"tag",
	"tool",
	"host",
	"hosts",
	"token",
	"_", /* a number that keeps caches from answering, as JavaScript libraries send it */
	"tq",
	"tqx",
	"session_path",
	"run_path",
	"bypass_cache",
	"refresh_suggestion",
	"use_saved_result",
	"device_type",
	"enable_legacy_dcn",
	"format",
	"graph_width",
	"group_by",
	"memory_space",
	"merge_fusion",
	"module_name",
	"mpmd_pipeline_view",
	"mpmd_single_device_per_stage",
	"node_name",
	"op_profile_limit",
	"program_id",
	"search_metadata",
	"show_metadata",
	"symbol_id",
	"symbol_type",
	"timeline_noise",
	"type",
	"view_memory_allocation_timeline",
};

static bool is_name(const char *name, const char *asked, size_t size)
{
	return name && strlen(name) == size && memcmp(name, asked, size) == 0;
}

static bool is_called(const struct tfp_tool *tool, const char *asked, size_t size)
{
	if (is_name(tool->name, asked, size))
		return true;
	for (size_t i = 0; i < TFP_TOOL_ALIASES; i++) {
		if (is_name(tool->aliases[i], asked, size))
			return true;
	}
	return false;
}

const struct tfp_tool *tfp_tool_find(const char *name)
{
	size_t size = strlen(name);
	if (size && name[size - 1] == '^')
		size--;
	for (size_t i = 0; i < tfp_every_tool_count; i++) {
		if (is_called(tfp_every_tool[i], name, size))
			return tfp_every_tool[i];
	}
	return NULL;
}

const struct tfp_tool *tfp_tool_next(const struct tfp_tool *tool)
{
	const struct tfp_tool *next = NULL;
	unsigned after = tool ? tool->place : 0;
	for (size_t i = 0; i < tfp_every_tool_count; i++) {
		const struct tfp_tool *one = tfp_every_tool[i];
		if (one->place > after && (!next || one->place < next->place))
			next = one;
	}
	return next;
}

static const struct tfp_parameter *find_in(const struct tfp_parameter *list, size_t room,
					   const char *name)
{
	for (size_t i = 0; i < room && list[i].name; i++) {
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	}
	return NULL;
}

static bool is_of_any_tool(const char *name)
{
	for (size_t i = 0; i < tfp_every_tool_count; i++) {
		const struct tfp_tool *tool = tfp_every_tool[i];
		if (find_in(tool->parameters, TFP_TOOL_PARAMETERS, name) ||
		    find_in(tool->row_parameters, TFP_ROW_PARAMETERS, name))
			return true;
	}
	return false;
}

static bool is_of_everybody(const char *name)
{
	for (size_t i = 0; i < sizeof(of_everybody) / sizeof(of_everybody[0]); i++) {
		if (strcmp(of_everybody[i], name) == 0)
			return true;
	}
	return false;
}

static enum tfp_status unknown(const struct tfp_tool *tool, const char *name, struct tfp_error *err)
{
	char names[760] = "no parameters besides run, tag and host";
	size_t used = 0;
	for (size_t i = 0; i < TFP_TOOL_PARAMETERS && tool->parameters[i].name; i++) {
		int n = snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
				 tool->parameters[i].name);
		used += n > 0 ? (size_t)n : 0;
		if (used >= sizeof(names))
			break;
	}
	tfp_fail(err, TFP_BAD_QUERY, "%s has no parameter \"%.100s\"", tool->name, name);
	tfp_error_set_hint(err, "it takes %s", names);
	return TFP_BAD_QUERY;
}

enum tfp_status tfp_tool_check(const struct tfp_tool *tool, const struct tfp_query *query,
			       struct tfp_error *err)
{
	for (size_t i = 0; i < query->count; i++) {
		const struct tfp_param *given = &query->params[i];
		const struct tfp_parameter *own =
			find_in(tool->parameters, TFP_TOOL_PARAMETERS, given->key);
		if (!own && !is_of_everybody(given->key) && !is_of_any_tool(given->key))
			return unknown(tool, given->key, err);
		/* Of several with the same name the first counts. */
		if (own && tfp_query_get(query, own->name) == given->value) {
			enum tfp_status status = tfp_parameter_check(own, given->value, err);
			if (status != TFP_OK)
				return status;
		}
	}
	return TFP_OK;
}
