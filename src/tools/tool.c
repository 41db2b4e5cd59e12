/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tool.h"

#include "session/one_state.h"

/* Most bytes of one answer. */
#define MAX_ANSWER ((size_t)1 << 30)

static const char no_capture[] = "a graph run has no XPlane capture";
static const char no_capture_sentence[] = "A graph run has no XPlane capture.";

void tfp_answer_init(struct tfp_answer *answer)
{
	*answer = (struct tfp_answer){0};
	tfp_buf_init(&answer->json, MAX_ANSWER);
}

void tfp_answer_release(struct tfp_answer *answer)
{
	for (size_t i = 0; i < answer->table_count; i++)
		tfp_table_release(&answer->tables[i]);
	tfp_buf_release(&answer->json);
	answer->table_count = 0;
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
}

static bool failed(const struct tfp_answer *answer)
{
	for (size_t i = 0; i < answer->table_count; i++) {
		if (tfp_table_failed(&answer->tables[i]))
			return true;
	}
	return tfp_buf_failed(&answer->json);
}

enum tfp_status tfp_answer_write_json(const struct tfp_answer *answer, struct tfp_buf *out,
				      struct tfp_error *err)
{
	if (failed(answer))
		return no_memory(err);
	if (answer->file_type) {
		tfp_buf_add(out, answer->json.data, answer->json.size);
		return tfp_buf_failed(out) ? no_memory(err) : TFP_OK;
	}
	struct tfp_json j;
	tfp_json_init(&j, out);
	if (answer->table_count == 0 || answer->json.size) {
		tfp_json_add_raw(&j, answer->json.data, answer->json.size);
	} else if (answer->bare) {
		tfp_table_write_json(&answer->tables[0], &j);
	} else {
		tfp_json_begin_array(&j);
		for (size_t i = 0; i < answer->table_count; i++)
			tfp_table_write_json(&answer->tables[i], &j);
		tfp_json_end_array(&j);
	}
	return tfp_json_finish(&j, err);
}

enum tfp_status tfp_answer_write_csv(const struct tfp_answer *answer, enum tfp_csv_form form,
				     struct tfp_buf *out, struct tfp_error *err)
{
	if (failed(answer))
		return no_memory(err);
	if (answer->table_count == 0)
		return tfp_fail(err, TFP_BAD_QUERY, "this tool has no table to write as CSV");
	tfp_table_write_csv(&answer->tables[0], form, out);
	return tfp_buf_failed(out) ? no_memory(err) : TFP_OK;
}

struct rendering {
	const struct tfp_tool *tool;
	const struct tfp_session *session;
	const struct tfp_query *query;
	struct tfp_answer *answer;
};

static enum tfp_status render(void *context, struct tfp_error *err)
{
	struct rendering *r = context;
	bool document_only = r->answer->document_only;
	tfp_answer_release(r->answer);
	tfp_answer_init(r->answer);
	r->answer->document_only = document_only;
	return r->tool->render(r->session, r->query, r->answer, err);
}

static enum tfp_status check(const struct tfp_tool *tool, const struct tfp_session *session,
			     const struct tfp_query *query, struct tfp_error *err)
{
	enum tfp_status status = tfp_tool_check(tool, query, err);
	if (status == TFP_OK && session->host_count > 1 && !(tool->scope & TFP_HOSTS_ALL)) {
		tfp_fail(err, TFP_BAD_QUERY, "%s shows one host at a time", tool->name);
		tfp_error_set_hint(err, "name one as host, for example \"%s\"",
				   session->hosts[0].host);
		return TFP_BAD_QUERY;
	}
	if (status == TFP_OK && session->run->kind == TFP_RUN_GRAPH && !tool->takes_graph_runs)
		return tfp_fail(err, TFP_NOT_APPLICABLE, "%s has nothing to show: %s", tool->name,
				no_capture);
	return status;
}

bool tfp_tool_streams(const struct tfp_tool *tool, const struct tfp_query *query)
{
	return tool->streams && tool->streams(query);
}

enum tfp_status tfp_tool_stream(const struct tfp_tool *tool, const struct tfp_session *session,
				const struct tfp_query *query, struct tfp_answer_stream *out,
				struct tfp_error *err)
{
	enum tfp_status status = check(tool, session, query, err);
	*out = (struct tfp_answer_stream){0};
	return status == TFP_OK ? tool->stream(session, query, out, err) : status;
}

enum tfp_status tfp_tool_render(const struct tfp_tool *tool, const struct tfp_session *session,
				const struct tfp_query *query, struct tfp_answer *answer,
				struct tfp_error *err)
{
	enum tfp_status status = check(tool, session, query, err);
	if (status != TFP_OK)
		return status;
	struct rendering r = {tool, session, query, answer};
	return tfp_one_state(session, render, &r, err);
}

const char *tfp_tool_reason(const struct tfp_tool *tool, const struct tfp_run_traits *traits)
{
	if (traits->graph_run)
		return tool->takes_graph_runs ? NULL : no_capture_sentence;
	unsigned has = (traits->host_planes ? TFP_NEEDS_HOST : 0u) |
		       (traits->gpu_planes ? TFP_NEEDS_GPU : 0u) |
		       (traits->tpu_planes ? TFP_NEEDS_TPU : 0u) |
		       (traits->program_planes ? TFP_NEEDS_PROGRAM : 0u);
	return tool->needs && !(tool->needs & has) && !traits->unreadable ? tool->without : NULL;
}
