/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tool can be asked besides run and host. A tool lists its parameters in its struct
 * (tool.h); from the list come the check of a query, the options of `tfprof TOOL` with their
 * help, the table in docs/tools/<tool>.md, and /tools for the page.
 */
#ifndef TFP_TOOLS_PARAMETER_H
#define TFP_TOOLS_PARAMETER_H

#include "base/error.h"
#include "session/query.h"

#include <stdbool.h>
#include <stddef.h>

enum tfp_parameter_kind {
	TFP_PARAMETER_TEXT,
	TFP_PARAMETER_COUNT,   /* a whole number from 0 on */
	TFP_PARAMETER_INTEGER, /* a whole number */
	TFP_PARAMETER_NUMBER,
	TFP_PARAMETER_BOOLEAN, /* true, false, 1 or 0 */
	TFP_PARAMETER_CHOICE,  /* one of values */
};

#define TFP_PARAMETER_VALUES 12

struct tfp_parameter {
	/* As in a query, with its unit: from_ps. An option of tfprof has dashes: --from-ps. */
	const char *name;
	enum tfp_parameter_kind kind;
	const char *values[TFP_PARAMETER_VALUES]; /* of a choice; NULL where there are fewer */
	const char *fallback; /* what counts without it, as a value; NULL: the sentence says it */
	const char *sentence; /* what it does; ends with a full stop */
};

/* A parameter in a tool's list, by the kind's last word: TFP_TAKES(COUNT, "limit", "500", "…"). */
#define TFP_TAKES(kind, name, fallback, sentence)                                                  \
	{                                                                                          \
		name, TFP_PARAMETER_##kind, {NULL}, fallback, sentence                             \
	}
#define TFP_TAKES_ONE_OF(name, fallback, sentence, ...)                                            \
	{                                                                                          \
		name, TFP_PARAMETER_CHOICE, {__VA_ARGS__}, fallback, sentence                      \
	}

/* The first count of list, or those before one without a name. */
size_t tfp_parameter_count(const struct tfp_parameter *list, size_t room);
/* "count", "text" and so on. */
const char *tfp_parameter_kind_name(enum tfp_parameter_kind kind);
/* Whether the text can be a value of the parameter; an empty one always can. TFP_BAD_QUERY names
 * the parameter and says what it takes. */
enum tfp_status tfp_parameter_check(const struct tfp_parameter *parameter, const char *value,
				    struct tfp_error *err) TFP_CHECK;

#endif
