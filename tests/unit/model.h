/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of models, composed from the text form of TensorFlow's messages. */
#ifndef TFP_TESTS_UNIT_MODEL_H
#define TFP_TESTS_UNIT_MODEL_H

#include "testing.h"

#include "base/alloc.h"
#include "tfprof/message_rules.h"
#include "tfprof/sources.h"
#include "tfprof/text_message.h"

/* The wire form, which the profile keeps. */
static inline struct tfp_span wire_of(struct tfp_profile *p, const struct tfp_message_rule *rule,
				      const char *text)
{
	struct tfp_buf out;
	struct tfp_error err;
	struct tfp_span bytes = {NULL, 0};
	tfp_buf_init(&out, 1 << 20);
	if (tfp_text_message(rule, text, strlen(text), &out, &err) != TFP_OK)
		fail_msg("%s", err.message);
	tfp_buf_text(&out);
	bytes.data = (const uint8_t *)tfp_buf_take(&out, &bytes.size);
	assert_int_equal(tfp_profile_keep(p, (void *)(uintptr_t)bytes.data, &err), TFP_OK);
	assert_int_equal(tfp_message_check(rule, bytes, &err), TFP_OK);
	return bytes;
}

static inline void add_graph(struct tfp_profile *p, const char *text)
{
	struct tfp_error err;
	assert_int_equal(tfp_graph_def_read(p, wire_of(p, &tfp_graph_def_rule, text), &err),
			 TFP_OK);
}

static inline void add_run(struct tfp_profile *p, int64_t step, const char *text)
{
	struct tfp_error err;
	bool present;
	assert_int_equal(tfp_run_metadata_read(p, step, wire_of(p, &tfp_run_metadata_rule, text),
					       &present, &err),
			 TFP_OK);
	assert_true(present);
}

static inline void finish(struct tfp_profile *p)
{
	struct tfp_error err;
	assert_int_equal(tfp_profile_finish(p, &err), TFP_OK);
}

#endif
