/* SPDX-License-Identifier: Apache-2.0 */
/* The overview's findings, for XProf's clients: a list of sentences, which they take for HTML. */
#include "base/json_writer.h"
#include "tools/tool.h"

#include <string.h>

/* Properties of the overview: the finding, and its class where it may be harmless. */
static const struct {
	const char *rule, *text, *class;
} rules[] = {
	{"DeviceActivity", "device_statement", "device_state"},
	{"InputPipeline", "statement", "bottleneck"},
	{"KernelLaunch", "kernel_launch_statement", "kernel_launch_bottleneck"},
	{"AllOtherTime", "all_other_statement", "all_other_bottleneck"},
	{"DeviceCollectives", "device_collectives_statement", "device_collectives_bottleneck"},
	{"Output", "output_statement", NULL},
	{"TfFunction", "tf_function_statement", NULL},
	{"EagerExecution", "eager_statement", NULL},
	{"OutsideCompilation", "outside_compilation_statement", NULL},
	{"Precision", "precision_statement", NULL},
};

static const char *find_property(const struct tfp_answer *overview, const char *key)
{
	for (size_t i = 0; i < overview->table_count; i++) {
		const char *value = tfp_table_property(&overview->tables[i], key);
		if (value[0])
			return value;
	}
	return "";
}

/* An input that is no bottleneck is no finding either, nor is a device at work. */
static bool is_harmless(const char *class)
{
	return strcmp(class, "busy") == 0 || strcmp(class, "device") == 0 ||
	       strcmp(class, "no") == 0 || strcmp(class, "unknown") == 0;
}

/* As text of HTML. */
static void add_html(struct tfp_buf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c == '&')
			tfp_buf_puts(out, "&amp;");
		else if (c == '<')
			tfp_buf_puts(out, "&lt;");
		else if (c == '>')
			tfp_buf_puts(out, "&gt;");
		else if (c == '"')
			tfp_buf_puts(out, "&quot;");
		else
			tfp_buf_putc(out, c < ' ' ? ' ' : (char)c);
	}
}

static bool put_suggestion(struct tfp_json *j, const char *rule, const char *text)
{
	struct tfp_buf html;
	tfp_buf_init(&html, SIZE_MAX / 2);
	add_html(&html, text);
	bool ok = !tfp_buf_failed(&html);
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "ruleName", rule);
	tfp_json_set_text(j, "suggestionText", tfp_buf_text(&html), html.size);
	tfp_json_end_object(j);
	tfp_buf_release(&html);
	return ok;
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	/* Of several hosts the slowest one's, as on our page. */
	const char *source = tfp_query_get(query, "step_source");
	const struct tfp_param params[] = {{"steps_of", "slowest"}, {"step_source", source}};
	const struct tfp_query slowest = {params, source ? 2 : 1};
	struct tfp_answer overview;
	struct tfp_json j;
	tfp_answer_init(&overview);
	enum tfp_status status =
		tfp_tool_find("overview_page")->render(session, &slowest, &overview, err);
	tfp_json_init(&j, &answer->json);
	tfp_json_begin_object(&j);
	tfp_json_begin_array_of(&j, "suggestions");
	for (size_t i = 0; status == TFP_OK && i < sizeof(rules) / sizeof(rules[0]); i++) {
		const char *text = find_property(&overview, rules[i].text);
		const char *class = rules[i].class ? find_property(&overview, rules[i].class) : "";
		if (!text[0] || is_harmless(class))
			continue;
		if (!put_suggestion(&j, rules[i].rule, text))
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the suggestions");
	}
	tfp_json_end_array(&j);
	tfp_json_end_object(&j);
	if (status == TFP_OK)
		status = tfp_json_finish(&j, err);
	tfp_answer_release(&overview);
	return status;
}

const struct tfp_tool tfp_smart_suggestion = {
	.name = "smart_suggestion",
	.title = "Smart suggestion",
	.summary = "What the overview found, for XProf's clients.",
	.scope = TFP_HOSTS_BOTH,
	.peer_scope = TFP_HOSTS_ALL,
	.parameters =
		{
			TFP_TAKES_ONE_OF(
				"step_source", "marked",
				"Which steps count: those that the program marked or, if it "
				"marked none, the executions of its module.",
				"marked", "module"),
		},
	.render = render,
};
