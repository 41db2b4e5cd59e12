/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fields TensorFlow's messages have: enough to tell whether bytes are such a message, and to
 * read their text form.
 */
#ifndef TFP_TFPROF_MESSAGE_RULES_H
#define TFP_TFPROF_MESSAGE_RULES_H

#include "base/error.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tfp_field_kind {
	TFP_FIELD_INT32,
	TFP_FIELD_INT64,
	TFP_FIELD_UINT32,
	TFP_FIELD_UINT64,
	TFP_FIELD_BOOL,
	TFP_FIELD_ENUM,
	TFP_FIELD_FLOAT,
	TFP_FIELD_DOUBLE,
	TFP_FIELD_STRING, /* UTF-8 */
	TFP_FIELD_BYTES,
	TFP_FIELD_MESSAGE,
};

struct tfp_enum_word {
	const char *word;
	int32_t number;
};

struct tfp_field_rule {
	const char *name;
	uint32_t number;
	enum tfp_field_kind kind;
	bool repeated;
	const struct tfp_message_rule *message; /* of a message */
	const struct tfp_enum_word *words;      /* of an enum, up to a word that is NULL */
};

struct tfp_message_rule {
	const char *name;
	const struct tfp_field_rule *fields; /* at most 64 */
	size_t count;
};

extern const struct tfp_message_rule tfp_graph_def_rule, tfp_run_metadata_rule, tfp_op_log_rule,
	tfp_profile_proto_rule;

/* Most messages inside one another; protobuf's own limit. */
#define TFP_MESSAGE_DEPTH 100

/* The field of that number or name, or NULL. */
const struct tfp_field_rule *tfp_field_by_number(const struct tfp_message_rule *rule,
						 uint32_t number);
const struct tfp_field_rule *tfp_field_by_name(const struct tfp_message_rule *rule,
					       struct tfp_str name);

/* Whether bytes are a message of that kind, as protobuf's own parser decides: all that is known
 * inside is sound, strings are UTF-8. TFP_BAD_INPUT with the byte. */
enum tfp_status tfp_message_check(const struct tfp_message_rule *rule, struct tfp_span bytes,
				  struct tfp_error *err) TFP_CHECK;

#endif
