#include "tools/tool.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Most bytes of one answer. */
#define MAX_ANSWER ((size_t)1 << 30)
/* States of files that are tried before it is given up. */
#define STATES_MAX 3

const char *tfp_query_get(const struct tfp_query *query, const char *key)
{
	for (size_t i = 0; i < query->count; i++) {
		if (strcmp(query->params[i].key, key) == 0)
			return query->params[i].value;
	}
	return NULL;
}

enum tfp_status tfp_query_get_count(const struct tfp_query *query, const char *key,
				    uint64_t fallback, uint64_t *value, struct tfp_error *err)
{
	const char *text = tfp_query_get(query, key);
	*value = fallback;
	if (!text)
		return TFP_OK;
	/* strtoull takes blanks and signs. */
	size_t digits = strspn(text, "0123456789");
	errno = 0;
	unsigned long long n = digits ? strtoull(text, NULL, 10) : 0;
	if (digits == 0 || text[digits] != '\0' || errno != 0)
		return tfp_fail(err, TFP_BAD_QUERY,
				"parameter %s: \"%.100s\" is not a whole number from 0 on", key,
				text);
	*value = n;
	return TFP_OK;
}

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
	if (answer->table_count == 0 || answer->json.size) {
		tfp_buf_add(out, answer->json.data, answer->json.size);
	} else {
		for (size_t i = 0; i < answer->table_count; i++) {
			if (!answer->bare)
				tfp_buf_putc(out, i == 0 ? '[' : ',');
			tfp_table_write_json(&answer->tables[i], out);
		}
		if (!answer->bare)
			tfp_buf_putc(out, ']');
	}
	return tfp_buf_failed(out) ? no_memory(err) : TFP_OK;
}

enum tfp_status tfp_answer_write_csv(const struct tfp_answer *answer, struct tfp_buf *out,
				     struct tfp_error *err)
{
	if (failed(answer))
		return no_memory(err);
	if (answer->table_count == 0)
		return tfp_fail(err, TFP_BAD_QUERY, "this tool has no table to write as CSV");
	tfp_table_write_csv(&answer->tables[0], out);
	return tfp_buf_failed(out) ? no_memory(err) : TFP_OK;
}

/* Tells one state of a host's file from another. */
static uint64_t state_of(const struct tfp_session *session, size_t host)
{
	struct tfp_logdir *dir = tfp_capture_cache_dir(session->cache);
	struct tfp_file_identity id = {0};
	int fd;
	if (tfp_logdir_open(dir, &session->hosts[host], &fd, &id, NULL) == TFP_OK)
		close(fd);
	const uint64_t numbers[] = {id.device, id.inode, id.bytes, (uint64_t)id.modified_ns};
	return tfp_hash_bytes(numbers, sizeof(numbers), 1);
}

/* Looks at all files. How many are in another state than in states, where the new ones are
 * put; first: the first of them. */
static size_t look_at_states(const struct tfp_session *session, uint64_t *states, size_t *first)
{
	size_t changed = 0;
	for (size_t i = session->host_count; i-- > 0;) {
		uint64_t now = state_of(session, i);
		if (now == states[i])
			continue;
		states[i] = now;
		*first = i;
		changed++;
	}
	return changed;
}

static enum tfp_status fail_changing(const struct tfp_session *session, size_t changed,
				     size_t first, struct tfp_error *err)
{
	const struct tfp_capture_file *file = &session->hosts[first];
	if (changed == 1)
		tfp_fail(err, TFP_CHANGING, "file %s of run %s is still being written", file->name,
			 session->run->name);
	else
		tfp_fail(err, TFP_CHANGING,
			 "file %s and %zu more of run %s are still being written", file->name,
			 changed - 1, session->run->name);
	tfp_error_set_file(err, file->path);
	if (changed < session->run->host_count)
		tfp_error_set_hint(err, "it will open when that is complete; hosts whose files are "
					"complete can be chosen meanwhile");
	else
		tfp_error_set_hint(err, "it will open when that is complete");
	return TFP_CHANGING;
}

/* Tools take one part of an answer after the other, from summaries and captures, and a file
 * that is replaced in between would give parts of two captures. */
static enum tfp_status render_one_state(const struct tfp_tool *tool,
					const struct tfp_session *session,
					const struct tfp_query *query, struct tfp_answer *answer,
					struct tfp_error *err)
{
	uint64_t *states = tfp_calloc(session->host_count, sizeof(*states));
	size_t first = 0, changed = 0;
	enum tfp_status status = TFP_OK;
	if (!states)
		return no_memory(err);
	look_at_states(session, states, &first);
	for (int attempts = 0; attempts < STATES_MAX; attempts++) {
		status = tool->render(session, query, answer, err);
		changed = look_at_states(session, states, &first);
		/* An error may be that of a file that was not there as a whole. */
		if (changed == 0 || status == TFP_CANCELLED || status == TFP_NO_MEMORY)
			break;
		tfp_answer_release(answer);
		tfp_answer_init(answer);
	}
	tfp_free(states);
	if (changed == 0 || status == TFP_CANCELLED || status == TFP_NO_MEMORY)
		return status;
	return fail_changing(session, changed, first, err);
}

enum tfp_status tfp_tool_render(const struct tfp_tool *tool, const struct tfp_session *session,
				const struct tfp_query *query, struct tfp_answer *answer,
				struct tfp_error *err)
{
	if (session->host_count > 1 && !(tool->scope & TFP_HOSTS_ALL)) {
		tfp_fail(err, TFP_BAD_QUERY, "%s shows one host at a time", tool->name);
		tfp_error_set_hint(err, "name one as host, for example \"%s\"",
				   session->hosts[0].host);
		return TFP_BAD_QUERY;
	}
	return render_one_state(tool, session, query, answer, err);
}

const char *tfp_tool_reason(const struct tfp_tool *tool, const struct tfp_run_traits *traits)
{
	return tool->reason && !traits->unreadable ? tool->reason(traits) : NULL;
}
