/* SPDX-License-Identifier: Apache-2.0 */
#include "http/page.h"

#include "base/error.h"
#include "http/assets.h"

#include <string.h>

#define SIGN_IN "/sign_in.html" /* served in place of others only */

static const struct tfp_asset *find_asset(const char *path)
{
	for (size_t i = 0; i < tfp_asset_count; i++) {
		if (strcmp(tfp_assets[i].path, path) == 0)
			return &tfp_assets[i];
	}
	return NULL;
}

bool tfp_page_is_open(const char *path)
{
	static const char *const open[] = {"/healthz", "/sign_in.css", "/sign_in.js", "/theme.js",
					   "/icon.svg"};
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
		if (strcmp(open[i], path) == 0)
			return true;
	}
	return false;
}

bool tfp_page_sign_in(const char *why, struct tfp_reply *reply)
{
	static const char place[] = "{{why}}";
	const struct tfp_asset *asset = find_asset(SIGN_IN);
	const char *text = asset ? (const char *)asset->data : NULL;
	const char *at = text ? memmem(text, asset->size, place, sizeof(place) - 1) : NULL;
	if (!at)
		return false;
	tfp_buf_clear(&reply->body);
	tfp_buf_add(&reply->body, text, (size_t)(at - text));
	tfp_buf_puts(&reply->body, why);
	at += sizeof(place) - 1;
	tfp_buf_add(&reply->body, at, (size_t)(text + asset->size - at));
	reply->content_type = asset->content_type;
	return true;
}

void tfp_page_answer(const struct tfp_http_target *target,
		     const struct tfp_http_conditions *conditions, struct tfp_reply *reply)
{
	const char *path = strcmp(target->path, "/") == 0 ? "/index.html" : target->path;
	struct tfp_error err;
	if (target->redirect) {
		reply->status = 308;
		reply->location = target->redirect;
		reply->content_type = "text/plain; charset=utf-8";
		return;
	}
	const struct tfp_asset *asset = find_asset(path);
	if (asset && strcmp(path, SIGN_IN) != 0) {
		tfp_reply_asset(reply, asset, conditions->accept_encoding,
				conditions->if_none_match);
		return;
	}
	tfp_fail(&err, TFP_NOT_FOUND, "there is nothing at \"%s\"", target->path);
	tfp_error_set_hint(&err, "the page is at /, the API is described in docs/api.md");
	tfp_reply_error(reply, &err);
}
