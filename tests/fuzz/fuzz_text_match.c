/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as what is searched for: the first byte says how, the first line is the
 * expression, the others are what it is looked for in. */
#include "fuzz.h"

#include "trace/text_match.h"

#include <stdlib.h>
#include <string.h>

static void match(const char *pattern_text, bool expression, bool minds_case, const char *texts,
		  size_t size)
{
	struct tfp_text_pattern *pattern;
	struct tfp_error err;
	enum tfp_status status =
		tfp_text_pattern_new(&pattern, pattern_text, expression, minds_case, &err);
	if (status != TFP_OK) {
		MUST(status == TFP_BAD_QUERY && err.message[0]);
		MUST(err.offset == TFP_NO_OFFSET || err.offset <= strlen(pattern_text));
		return;
	}
	struct tfp_text_matcher *matcher = tfp_text_matcher_new(pattern);
	MUST(matcher);
	uint64_t asked = 0;
	for (size_t at = 0; at < size && asked < 32; asked++) {
		const char *end = memchr(texts + at, '\n', size - at);
		size_t n = end ? (size_t)(end - texts) - at : size - at;
		bool found = tfp_text_matches(matcher, texts + at, n);
		/* A word is found where it stands. */
		if (!expression && minds_case)
			MUST(found ==
			     (memmem(texts + at, n, pattern_text, strlen(pattern_text)) != NULL));
		at += n + 1;
	}
	MUST(tfp_text_matcher_gave_up(matcher) <= asked);
	MUST(!tfp_text_matcher_failed(matcher));
	tfp_text_matcher_free(matcher);
	tfp_text_pattern_free(pattern);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	const char *text = (const char *)data + 1;
	size_t rest = size - 1;
	const char *end = memchr(text, '\n', rest);
	size_t n = end ? (size_t)(end - text) : rest;
	/* Not strndup, which a strict address sanitizer lets read a string only. */
	char *pattern = calloc(n + 1, 1);
	MUST(pattern);
	memcpy(pattern, text, n);
	match(pattern, data[0] & 1, data[0] & 2, end ? end + 1 : "", end ? rest - n - 1 : 0);
	free(pattern);
	return 0;
}
