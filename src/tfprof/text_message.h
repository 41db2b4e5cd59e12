/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf's text form ("name: 3 shape { dim { size: 2 } }") made into its wire form, so that one
 * reader does for both.
 */
#ifndef TFP_TFPROF_TEXT_MESSAGE_H
#define TFP_TFPROF_TEXT_MESSAGE_H

#include "base/buf.h"
#include "tfprof/message_rules.h"

/* Appends the message to out. As protobuf's own parser it refuses fields that the rule does not
 * have, and a second value of a field that is not repeated. TFP_BAD_INPUT with the byte and, in
 * the message, the line. */
enum tfp_status tfp_text_message(const struct tfp_message_rule *rule, const char *text, size_t size,
				 struct tfp_buf *out, struct tfp_error *err) TFP_CHECK;

#endif
