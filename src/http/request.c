/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request.h"

#include "base/number.h"
#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PEER_PREFIX "/data/plugin/profile"

static enum tfp_status decode(const char *text, size_t size, bool plus_is_blank,
			      struct tfp_arena *arena, const char **out, struct tfp_error *err)
{
	char *to = tfp_arena_alloc(arena, size + 1);
	size_t n = 0;
	if (!to)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
	for (size_t i = 0; i < size; i++) {
		char c = text[i];
		if (c == '%') {
			int high = i + 2 < size ? tfp_hex_digit(text[i + 1]) : -1;
			int low = i + 2 < size ? tfp_hex_digit(text[i + 2]) : -1;
			if (high < 0 || low < 0)
				return tfp_fail(err, TFP_BAD_QUERY,
						"a %% in the address is not followed by two "
						"hexadecimal digits");
			c = (char)(high * 16 + low);
			i += 2;
		} else if (c == '+' && plus_is_blank) {
			c = ' ';
		}
		if (c == '\0')
			return tfp_fail(err, TFP_BAD_QUERY, "a zero byte in the address");
		to[n++] = c;
	}
	to[n] = '\0';
	if (!tfp_utf8_valid(to, n))
		return tfp_fail(err, TFP_BAD_QUERY, "text in the address is not UTF-8");
	*out = to;
	return TFP_OK;
}

bool tfp_http_param_named(const char *param, size_t size, const char *name)
{
	size_t i = 0;
	for (; i < size && param[i] != '='; name++) {
		char c = param[i++];
		if (c == '%' && i + 1 < size && tfp_hex_digit(param[i]) >= 0 &&
		    tfp_hex_digit(param[i + 1]) >= 0) {
			c = (char)(tfp_hex_digit(param[i]) * 16 + tfp_hex_digit(param[i + 1]));
			i += 2;
		}
		if (!*name || c != *name)
			return false;
	}
	return *name == '\0';
}

static enum tfp_status parse_query(struct tfp_query *query, const char *text,
				   struct tfp_arena *arena, struct tfp_error *err)
{
	struct tfp_param *params = tfp_arena_alloc(arena, TFP_HTTP_PARAMS_MAX * sizeof(*params));
	if (!params)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
	query->params = params;
	while (*text) {
		size_t size = strcspn(text, "&");
		const char *equals = memchr(text, '=', size);
		size_t key_size = equals ? (size_t)(equals - text) : size;
		if (key_size) {
			if (query->count == TFP_HTTP_PARAMS_MAX)
				return tfp_fail(err, TFP_BAD_QUERY, "more than %u parameters",
						TFP_HTTP_PARAMS_MAX);
			struct tfp_param *p = &params[query->count++];
			const char *value = equals ? equals + 1 : text + size;
			enum tfp_status status = decode(text, key_size, true, arena, &p->key, err);
			if (status == TFP_OK)
				status = decode(value, (size_t)(text + size - value), true, arena,
						&p->value, err);
			if (status != TFP_OK)
				return status;
		}
		text += size + (text[size] == '&');
	}
	return TFP_OK;
}

const char *tfp_http_form_value(const char *body, const char *key, struct tfp_arena *arena)
{
	struct tfp_query query = {0};
	if (parse_query(&query, body, arena, NULL) != TFP_OK)
		return NULL;
	return tfp_query_get(&query, key);
}

/* Makes several slashes one: some clients put them together so. */
static void merge_slashes(char *path)
{
	char *to = path;
	for (const char *from = path; *from; from++) {
		if (*from != '/' || to == path || to[-1] != '/')
			*to++ = *from;
	}
	*to = '\0';
}

static const char *without_prefix(const char *path, const char *prefix)
{
	size_t size = strlen(prefix);
	if (strncmp(path, prefix, size) == 0 && (path[size] == '/' || path[size] == '\0'))
		return path + size;
	return path;
}

enum tfp_status tfp_http_target_parse(struct tfp_http_target *target, const char *uri,
				      const char *prefix, struct tfp_arena *arena,
				      struct tfp_error *err)
{
	const char *path;
	*target = (struct tfp_http_target){0};
	if (strlen(uri) > TFP_HTTP_URI_MAX)
		return tfp_fail(err, TFP_BAD_QUERY, "the address is longer than %u bytes",
				TFP_HTTP_URI_MAX);
	size_t path_size = strcspn(uri, "?");
	target->search = uri[path_size] ? uri + path_size + 1 : "";
	enum tfp_status status = decode(uri, path_size, false, arena, &path, err);
	if (status == TFP_OK)
		status = parse_query(&target->query, target->search, arena, err);
	if (status != TFP_OK)
		return status;

	merge_slashes((char *)(uintptr_t)path); /* the arena's */
	path = without_prefix(without_prefix(path, prefix), PEER_PREFIX);
	size_t size = strlen(path);
	if (size == 0 && path_size > 0) {
		const char *last = uri + path_size;
		while (last > uri && last[-1] != '/')
			last--;
		size_t n = (size_t)(uri + path_size - last);
		/* Relative: a proxy in front of us may have more prefixes. */
		size_t search = strlen(uri) - path_size;
		char *to = tfp_arena_alloc(arena, n + 1 + search + 1);
		if (!to)
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
		memcpy(to, last, n);
		to[n] = '/';
		memcpy(to + n + 1, uri + path_size, search + 1);
		target->redirect = to;
	}
	if (size > 1 && path[size - 1] == '/')
		path = tfp_arena_strndup(arena, path, size - 1);
	if (!path)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
	target->path = path[0] ? path : "/";
	return TFP_OK;
}

static const char *blanks(const char *p)
{
	return p + strspn(p, " \t");
}

enum tfp_http_encoding tfp_http_accepted_encoding(const char *header, unsigned offered)
{
	static const char *const names[] = {[TFP_HTTP_IDENTITY] = "identity",
					    [TFP_HTTP_GZIP] = "gzip",
					    [TFP_HTTP_ZSTD] = "zstd"};
	/* Without a q for it: identity is the last choice, the others are none. */
	double q[3] = {-1, -1, -1}, others = -1;
	enum tfp_http_encoding best = TFP_HTTP_IDENTITY;
	if (!header)
		return best;
	for (const char *p = header; *p;) {
		p = blanks(p);
		size_t item = strcspn(p, ","), name = strcspn(p, ",; \t");
		const char *parameter = memchr(p, ';', item);
		double quality = 1;
		if (parameter) {
			parameter = blanks(parameter + 1);
			if (strncasecmp(parameter, "q=", 2) == 0)
				quality = strtod(parameter + 2, NULL);
		}
		if (name == 1 && *p == '*')
			others = quality;
		if (name == 6 && strncasecmp(p, "x-gzip", 6) == 0)
			q[TFP_HTTP_GZIP] = quality;
		for (size_t i = 0; i < 3; i++) {
			if (strlen(names[i]) == name && strncasecmp(p, names[i], name) == 0)
				q[i] = quality;
		}
		p += item + (p[item] == ',');
	}
	double best_q = 0;
	for (int i = TFP_HTTP_ZSTD; i >= TFP_HTTP_IDENTITY; i--) {
		double quality = q[i] >= 0 ? q[i] : others;
		if ((offered & 1u << i) && quality > best_q) {
			best = (enum tfp_http_encoding)i;
			best_q = quality;
		}
	}
	return best;
}

bool tfp_http_etag_matches(const char *header, const char *etag)
{
	if (!header)
		return false;
	if (strncmp(etag, "W/", 2) == 0)
		etag += 2;
	size_t size = strlen(etag);
	for (const char *p = blanks(header); *p; p = blanks(p)) {
		if (*p == '*')
			return true;
		if (strncmp(p, "W/", 2) == 0)
			p += 2;
		if (strncmp(p, etag, size) == 0)
			return true;
		/* A tag may hold commas. */
		if (*p == '"') {
			p = strchr(p + 1, '"');
			if (!p)
				return false;
			p++;
		}
		p += strcspn(p, ",");
		p += *p == ',';
	}
	return false;
}
