/* SPDX-License-Identifier: Apache-2.0 */
#include "session/query.h"

#include "base/number.h"

#include <string.h>

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
	if (!tfp_number(text, UINT64_MAX, value))
		return tfp_fail(err, TFP_BAD_QUERY,
				"parameter %s: \"%.100s\" is not a whole number from 0 on", key,
				text);
	return TFP_OK;
}

enum tfp_status tfp_query_get_word(const struct tfp_query *query, const char *key,
				   const char *const *words, size_t count, size_t *found,
				   struct tfp_error *err)
{
	const char *text = tfp_query_get(query, key);
	*found = 0;
	if (!text)
		return TFP_OK;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(text, words[i]) == 0) {
			*found = i;
			return TFP_OK;
		}
	}
	tfp_fail(err, TFP_BAD_QUERY, "parameter %s: \"%.100s\" is not known", key, text);
	tfp_error_set_hint(err, "%s=%s, for example", key, words[count - 1]);
	return TFP_BAD_QUERY;
}
