/* SPDX-License-Identifier: Apache-2.0 */
/* What unit tests share: cmocka with its headers, and captures composed with
 * the builder, opened. */
#ifndef TFP_TESTS_UNIT_TESTING_H
#define TFP_TESTS_UNIT_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/capture.h"
#include "support/xspace_builder.h"

struct opened {
	uint8_t *bytes;
	size_t size;
	struct tfp_capture *capture;
};

/* Takes the builder. The test fails when the capture cannot be opened. */
static inline struct opened open_built(struct builder *b)
{
	struct opened o = {0};
	struct tfp_error err;
	o.bytes = builder_bytes(b, &o.size);
	builder_free(b);
	if (tfp_capture_from_bytes(&o.capture, o.bytes, o.size, "built", NULL, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return o;
}

static inline void close_built(struct opened *o)
{
	tfp_capture_unref(o->capture);
	free(o->bytes);
}

static inline struct tfp_str str_of(const char *text)
{
	return (struct tfp_str){text, strlen(text)};
}

static inline void assert_str(struct tfp_str s, const char *expected)
{
	if (!tfp_str_equal(s, expected))
		fail_msg("\"%.*s\" is not \"%s\"", (int)s.size, s.data, expected);
}

/* cmocka's own has a tolerance of a float's digits. */
static inline void assert_double(double actual, double expected)
{
	double scale = expected < 0 ? -expected : expected;
	double difference = actual > expected ? actual - expected : expected - actual;
	if (!(difference <= 1e-12 * scale))
		fail_msg("%.17g is not %.17g", actual, expected);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
