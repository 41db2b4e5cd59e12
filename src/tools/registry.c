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

static bool is_name(const char *name, const char *asked, size_t size)
{
	return name && strlen(name) == size && memcmp(name, asked, size) == 0;
}

const struct tfp_tool *tfp_tool_find(const char *name)
{
	size_t size = strlen(name);
	if (size && name[size - 1] == '^')
		size--;
	for (size_t i = 0; i < tfp_tool_count; i++) {
		const struct tfp_tool *tool = tfp_tools[i];
		if (is_name(tool->name, name, size))
			return tool;
		for (size_t j = 0; j < sizeof(tool->aliases) / sizeof(tool->aliases[0]); j++) {
			if (is_name(tool->aliases[j], name, size))
				return tool;
		}
	}
	return NULL;
}
