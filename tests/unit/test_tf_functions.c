/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of tf.functions: their own time, and how often each was traced. */
#include "testing.h"

#include "analysis/ops/tf_functions.h"

static void test_functions(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *l = builder_line(builder_plane(b, 0, "/host:CPU"), 0, "python", 0);
	const struct tfp_functions *f;
	struct tfp_error err;
	(void)state;
	builder_stat_str(builder_event(l, "outer", 0, 100), "tf_function_call", "notTraced-nonXla");
	struct builder_stats *e = builder_event(l, "inner", 20, 40);
	builder_stat_str(e, "tf_function_call", "traced-nonXla");
	builder_stat_int(e, "tracing_count", 3);
	builder_stat_str(builder_event(l, "inner", 100, 10), "tf_function_call", "eager");
	builder_event(l, "no function", 110, 10);
	struct opened o = open_built(b);
	assert_int_equal(tfp_functions_get(o.capture, NULL, &f, &err), TFP_OK);
	assert_int_equal(f->count, 2);
	for (size_t i = 0; i < f->count; i++) {
		const struct tfp_function *x = &f->list[i];
		if (tfp_str_equal(x->name, "outer")) {
			assert_int_equal(x->self_ps[TFP_FUNCTION_NOT_TRACED], 60);
			assert_double(tfp_function_expensive_percent(x), 0);
		} else {
			assert_int_equal(x->calls[TFP_FUNCTION_TRACED], 1);
			assert_int_equal(x->self_ps[TFP_FUNCTION_TRACED], 40);
			assert_int_equal(x->self_ps[TFP_FUNCTION_EAGER], 10);
			assert_int_equal(x->tracing_count, 3);
			assert_double(tfp_function_expensive_percent(x), 100);
		}
	}
	close_built(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
