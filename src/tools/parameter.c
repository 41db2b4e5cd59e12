/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/parameter.h"

#include "base/number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

size_t tfp_parameter_count(const struct tfp_parameter *list, size_t room)
{
	size_t count = 0;
	while (count < room && list[count].name)
		count++;
	return count;
}

const char *tfp_parameter_kind_name(enum tfp_parameter_kind kind)
{
	static const char *const names[] = {
		[TFP_PARAMETER_TEXT] = "text",       [TFP_PARAMETER_COUNT] = "count",
		[TFP_PARAMETER_INTEGER] = "integer", [TFP_PARAMETER_NUMBER] = "number",
		[TFP_PARAMETER_BOOLEAN] = "boolean", [TFP_PARAMETER_CHOICE] = "choice",
	};
	return names[kind];
}

static bool is_number(const char *text)
{
	char *end;
	double value = strtod(text, &end);
	return end != text && !*end && isfinite(value);
}

static bool is_boolean(const char *text)
{
	return strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0 ||
	       strcmp(text, "1") == 0 || strcmp(text, "0") == 0;
}

static bool is_choice(const struct tfp_parameter *p, const char *text)
{
	for (size_t i = 0; i < TFP_PARAMETER_VALUES && p->values[i]; i++) {
		if (strcmp(p->values[i], text) == 0)
			return true;
	}
	return false;
}

static bool is_value(const struct tfp_parameter *p, const char *text)
{
	uint64_t number;
	switch (p->kind) {
	case TFP_PARAMETER_COUNT:
		return tfp_number(text, UINT64_MAX, &number);
	case TFP_PARAMETER_INTEGER:
		return tfp_number(text + (text[0] == '-'), UINT64_MAX, &number);
	case TFP_PARAMETER_NUMBER:
		return is_number(text);
	case TFP_PARAMETER_BOOLEAN:
		return is_boolean(text);
	case TFP_PARAMETER_CHOICE:
		return is_choice(p, text);
	default:
		return true;
	}
}

/* "marked", or "module" */
static void list_values(const struct tfp_parameter *p, char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (size_t i = 0; i < TFP_PARAMETER_VALUES && p->values[i] && used < size; i++) {
		bool last = i + 1 == TFP_PARAMETER_VALUES || !p->values[i + 1];
		int n = snprintf(out + used, size - used, "%s\"%s\"",
				 i == 0 ? ""
				 : last ? " or "
					: ", ",
				 p->values[i]);
		used += n > 0 ? (size_t)n : 0;
	}
}

enum tfp_status tfp_parameter_check(const struct tfp_parameter *p, const char *value,
				    struct tfp_error *err)
{
	static const char *const is_not[] = {
		[TFP_PARAMETER_COUNT] = "is not a whole number from 0 on",
		[TFP_PARAMETER_INTEGER] = "is not a whole number",
		[TFP_PARAMETER_NUMBER] = "is not a number",
		[TFP_PARAMETER_BOOLEAN] = "is neither true nor false",
		[TFP_PARAMETER_CHOICE] = "is not known",
	};
	char values[200];
	if (!value[0] || is_value(p, value))
		return TFP_OK;
	tfp_fail(err, TFP_BAD_QUERY, "parameter %s: \"%.100s\" %s", p->name, value,
		 is_not[p->kind]);
	list_values(p, values, sizeof(values));
	if (values[0])
		tfp_error_set_hint(err, "it is %s. %s", values, p->sentence);
	else
		tfp_error_set_hint(err, "%s", p->sentence);
	return TFP_BAD_QUERY;
}
