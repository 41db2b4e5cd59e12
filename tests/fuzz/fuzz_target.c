/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a list of addresses, and as one of rules: what is accepted is fit
 * for a URL and a file name, and is read back as itself. */
#include "fuzz.h"

#include "remote/target.h"

#include <stdbool.h>
#include <string.h>

static bool only(const char *text, const char *letters)
{
	return text[0] && text[strspn(text, letters)] == '\0';
}

static void check(const struct tfp_target *t)
{
	static const char host[] = "abcdefghijklmnopqrstuvwxyz0123456789.-_:";
	struct tfp_target again;
	struct tfp_target_rule rule;
	struct tfp_error err;
	size_t count;
	char stem[sizeof(t->text)];
	MUST(t->port > 0);
	MUST(only(t->host, host));
	MUST(tfp_target_parse(&again, t->text, strlen(t->text), &err) == TFP_OK);
	MUST(strcmp(again.text, t->text) == 0 && strcmp(again.host, t->host) == 0);
	MUST(again.port == t->port);
	MUST(tfp_target_rules_parse(&rule, &count, t->text, &err) == TFP_OK);
	MUST(tfp_target_allowed(t, &rule, count));
	rule.port ^= 1;
	MUST(rule.port == 0 || !tfp_target_allowed(t, &rule, count));
	tfp_target_file_stem(t, stem);
	MUST(!strchr(stem, '/') && stem[0] != '.' && stem[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tfp_target targets[TFP_TARGETS_MAX];
	static struct tfp_target_rule rules[TFP_TARGET_RULES_MAX];
	struct tfp_target one;
	struct tfp_error err;
	size_t count;
	char *text = malloc(size + 1);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	/* Without the terminator: bytes of any kind. */
	if (tfp_target_parse(&one, (const char *)data, size, &err) == TFP_OK)
		check(&one);
	else
		MUST(err.status == TFP_BAD_QUERY && err.message[0] && err.hint[0]);
	if (tfp_targets_parse(targets, &count, text, &err) == TFP_OK) {
		MUST(count > 0 && count <= TFP_TARGETS_MAX);
		for (size_t i = 0; i < count; i++)
			check(&targets[i]);
	}
	if (tfp_target_rules_parse(rules, &count, text, &err) == TFP_OK)
		MUST(count > 0 && count <= TFP_TARGET_RULES_MAX);
	free(text);
	return 0;
}
