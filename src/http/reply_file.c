/* SPDX-License-Identifier: Apache-2.0 */
#include "http/reply_file.h"

#include "base/budget.h"
#include "session/given_peaks.h"

#include <inttypes.h>
#include <string.h>

#define KEY_MAX ((size_t)1 << 19)
/* A larger body is hardly read faster than it is made, and would drive out others. */
#define BODY_MAX ((size_t)16 << 20)

/* The types of answers that are kept. A reply points to these constants. */
static const char *const types[] = {
	"application/json",
	"text/csv; charset=utf-8",
};

#define TYPES (sizeof(types) / sizeof(types[0]))

/* Before the body in a file. */
struct head {
	uint32_t type; /* index into types */
	uint32_t name_size;
};

bool tfp_reply_file_key(const struct tfp_question *q, struct tfp_buf *key)
{
	tfp_buf_init(key, KEY_MAX);
	if (!tfp_question_pays_on_disk(q))
		return false;
	tfp_buf_printf(key, "answer\n%s?%s\n%s\n", q->target->path, q->target->search,
		       q->run->name);
	if (q->app->peaks)
		tfp_buf_printf(key, "peaks %016" PRIx64 "\n", tfp_given_peaks_stamp(q->app->peaks));
	for (size_t i = 0; i < q->run->host_count; i++) {
		tfp_buf_printf(key, "%s ", q->run->hosts[i].host);
		if (tfp_result_key_add_file(key, q->app->dir, &q->run->hosts[i], NULL) != TFP_OK)
			return false;
	}
	return !tfp_buf_failed(key);
}

static bool decode(const struct tfp_buf *bytes, struct tfp_reply *reply)
{
	struct head head;
	if (bytes->size < sizeof(head))
		return false;
	memcpy(&head, bytes->data, sizeof(head));
	if (head.type >= TYPES || head.name_size >= sizeof(reply->download) ||
	    head.name_size > bytes->size - sizeof(head))
		return false;
	const char *name = bytes->data + sizeof(head), *body = name + head.name_size;
	tfp_buf_add(&reply->body, body, bytes->size - sizeof(head) - head.name_size);
	if (tfp_buf_failed(&reply->body)) {
		tfp_buf_clear(&reply->body);
		return false;
	}
	reply->content_type = types[head.type];
	memcpy(reply->download, name, head.name_size);
	reply->download[head.name_size] = '\0';
	return true;
}

bool tfp_reply_file_read(const struct tfp_question *q, const struct tfp_buf *key,
			 struct tfp_reply *reply)
{
	struct tfp_buf bytes;
	/* An account of its own: without memory for this the answer is made anew, by a job that can
	 * wait. */
	struct tfp_account own = {0}, *before = tfp_account_enter(&own);
	tfp_buf_init(&bytes, sizeof(struct head) + sizeof(reply->download) + BODY_MAX);
	bool found = tfp_result_cache_get(q->app->results, key, &bytes) && decode(&bytes, reply);
	tfp_buf_release(&bytes);
	tfp_account_enter(before);
	return found;
}

void tfp_reply_file_write(const struct tfp_question *q, const struct tfp_buf *key,
			  const struct tfp_reply *reply)
{
	struct tfp_buf now, bytes;
	struct head head = {.name_size = (uint32_t)strlen(reply->download)};
	while (head.type < TYPES && strcmp(types[head.type], reply->content_type) != 0)
		head.type++;
	if (head.type == TYPES || reply->body.size > BODY_MAX)
		return;
	bool same = tfp_reply_file_key(q, &now) && tfp_buf_equal(&now, key);
	tfp_buf_release(&now);
	if (!same)
		return;
	struct tfp_account own = {0}, *before = tfp_account_enter(&own);
	tfp_buf_init(&bytes, sizeof(head) + head.name_size + BODY_MAX);
	tfp_buf_add(&bytes, &head, sizeof(head));
	tfp_buf_add(&bytes, reply->download, head.name_size);
	tfp_buf_add(&bytes, reply->body.data, reply->body.size);
	if (!tfp_buf_failed(&bytes))
		tfp_result_cache_put(q->app->results, key, &bytes);
	tfp_buf_release(&bytes);
	tfp_account_enter(before);
}
