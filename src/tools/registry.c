#include "tools/tool.h"

#include <string.h>

extern const struct tfp_tool tfp_overview_page;
extern const struct tfp_tool tfp_input_pipeline_analyzer;
extern const struct tfp_tool tfp_framework_op_stats;
extern const struct tfp_tool tfp_kernel_stats;
extern const struct tfp_tool tfp_memory_profile;
extern const struct tfp_tool tfp_pod_viewer;
extern const struct tfp_tool tfp_tf_data_bottleneck_analysis;
extern const struct tfp_tool tfp_trace_viewer;

const struct tfp_tool *const tfp_tools[] = {
	&tfp_overview_page,      &tfp_input_pipeline_analyzer,
	&tfp_framework_op_stats, &tfp_trace_viewer,
	&tfp_kernel_stats,       &tfp_memory_profile,
	&tfp_pod_viewer,         &tfp_tf_data_bottleneck_analysis,
};
const size_t tfp_tool_count = sizeof(tfp_tools) / sizeof(tfp_tools[0]);

extern const struct tfp_tool tfp_smart_suggestion;

/* What only XProf's clients ask for: it has no page. */
static const struct tfp_tool *const peer_tools[] = {&tfp_smart_suggestion};

static bool is_name(const char *name, const char *asked, size_t size)
{
	return name && strlen(name) == size && memcmp(name, asked, size) == 0;
}

static bool is_called(const struct tfp_tool *tool, const char *asked, size_t size)
{
	if (is_name(tool->name, asked, size))
		return true;
	for (size_t i = 0; i < sizeof(tool->aliases) / sizeof(tool->aliases[0]); i++) {
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
	for (size_t i = 0; i < tfp_tool_count; i++) {
		if (is_called(tfp_tools[i], name, size))
			return tfp_tools[i];
	}
	for (size_t i = 0; i < sizeof(peer_tools) / sizeof(peer_tools[0]); i++) {
		if (is_called(peer_tools[i], name, size))
			return peer_tools[i];
	}
	return NULL;
}
