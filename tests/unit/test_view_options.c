/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "tfprof/name_match.h"
#include "tfprof/options.h"

static void check_line(const char *line, const char *message)
{
	struct tfp_view_options o;
	enum tfp_view_command command;
	struct tfp_error err = {.message = ""};
	assert_int_equal(tfp_view_options_init(&o, &err), TFP_OK);
	enum tfp_status status = tfp_view_options_line(&o, line, &command, &err);
	assert_int_equal(status, message ? TFP_BAD_QUERY : TFP_OK);
	if (message)
		assert_string_equal(err.message, message);
	tfp_view_options_release(&o);
}

/* The original's messages. */
static void test_mistakes(void **state)
{
	(void)state;
	check_line("scope", NULL);
	check_line("   ", NULL);
	check_line("  op   -max_depth  -5 ", NULL);
	check_line("Scope", "First string must be a valid command.");
	check_line("scope\t-step 1", "First string must be a valid command.");
	check_line("set foo", "Invalid option 'foo' value: ''");
	check_line("set -max_depth", "Invalid option '-max_depth' value: ''");
	check_line("set -max_depth +5", "Invalid option '-max_depth' value: '+5'");
	check_line("set -max_depth 0x10", "Invalid option '-max_depth' value: '0x10'");
	check_line("set -max_depth 2147483648", "Invalid option '-max_depth' value: '2147483648'");
	check_line("set -step 9223372036854775807", NULL);
	check_line("set -step 9223372036854775808",
		   "Invalid option '-step' value: '9223372036854775808'");
	check_line("op -select micros,nothing", "Invalid option '-select' value: 'micros,nothing'");
	check_line("op -select 'micros,,bytes'", NULL);
	check_line("op -order_by nothing", "Invalid option '-order_by' value: 'nothing'");
	check_line("op -account_displayed_op_only maybe",
		   "Invalid option '-account_displayed_op_only' value: 'maybe'");
	check_line("op -account_displayed_op_only YES -step 1", NULL);
	check_line("op -output foo:x", "E.g. Unknown output type: foo, Valid types: "
				       "file,none,pprof,stdout,timeline\n");
	check_line("op -output file", "Missing required output_options for file\n"
				      "E.g. -output file:outfile=...\n");
	check_line("op -output file:outfile=",
		   "Visualize format: -output timeline:key=value,key=value,...");
	check_line("op -output file:name=x", "Unrecognized options name for output_type: file\n");
	check_line("op -output none:outfile=x",
		   "Unrecognized options outfile for output_type: none\n");
}

static void test_table(void **state)
{
	struct tfp_view_options o;
	enum tfp_view_command command;
	struct tfp_error err;
	struct tfp_buf out;
	(void)state;
	tfp_buf_init(&out, 1 << 16);
	assert_int_equal(tfp_view_options_init(&o, &err), TFP_OK);
	assert_int_equal(
		tfp_view_options_line(&o,
				      "set -select \"micros,bytes,micros\" -hide_name_regexes "
				      "a,,b -output file:outfile=a=b -output none "
				      "-account_displayed_op_only -max_depth 3",
				      &command, &err),
		TFP_OK);
	assert_int_equal(command, TFP_VIEW_SET);
	tfp_view_options_write(&o, &out);
	assert_string_equal(tfp_buf_text(&out), "-max_depth                  3\n"
						"-min_bytes                  0\n"
						"-min_peak_bytes             0\n"
						"-min_residual_bytes         0\n"
						"-min_output_bytes           0\n"
						"-min_micros                 0\n"
						"-min_accelerator_micros     0\n"
						"-min_cpu_micros             0\n"
						"-min_params                 0\n"
						"-min_float_ops              0\n"
						"-min_occurrence             0\n"
						"-step                       -1\n"
						"-order_by                   name\n"
						"-account_type_regexes       .*\n"
						"-start_name_regexes         .*\n"
						"-trim_name_regexes          \n"
						"-show_name_regexes          .*\n"
						"-hide_name_regexes          a,b\n"
						"-account_displayed_op_only  true\n"
						"-select                     bytes,micros\n"
						"-output                     none:outfile=a=b\n");
	tfp_buf_release(&out);
	tfp_view_options_release(&o);
}

/* Python's option_builder.py. */
static void test_presets(void **state)
{
	struct tfp_view_options o;
	enum tfp_view_command command;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_view_options_init(&o, &err), TFP_OK);
	assert_int_equal(tfp_view_options_line(&o, "scope -preset time_and_memory", &command, &err),
			 TFP_OK);
	assert_int_equal(o.numbers[TFP_MAX_DEPTH], 10000);
	assert_int_equal(o.numbers[TFP_MIN_MICROS], 1);
	assert_int_equal(o.numbers[TFP_MIN_BYTES], 1);
	assert_string_equal(o.texts[TFP_ORDER_BY], "micros");
	assert_string_equal(o.texts[TFP_SELECT], "bytes,micros");
	assert_true(o.displayed_only && !o.count_flops);
	assert_int_equal(tfp_view_options_line(&o, "scope -preset float_operation", &command, &err),
			 TFP_OK);
	assert_int_equal(o.numbers[TFP_MIN_BYTES], 0);
	assert_int_equal(o.numbers[TFP_MIN_FLOAT_OPS], 1);
	assert_true(o.count_flops);
	assert_int_equal(tfp_view_options_line(&o, "scope -preset trainable_variables_parameter",
					       &command, &err),
			 TFP_OK);
	assert_string_equal(o.texts[TFP_ACCOUNT_TYPES], "_trainable_variables");
	assert_string_equal(o.texts[TFP_SELECT], "params");
	assert_int_equal(tfp_view_options_line(&o, "scope -preset none", &command, &err),
			 TFP_BAD_QUERY);
	tfp_view_options_release(&o);
}

static bool matches(const char *list, const char *name)
{
	struct tfp_name_match m;
	struct tfp_error err;
	assert_int_equal(tfp_name_match_init(&m, list, &err), TFP_OK);
	bool found = tfp_name_matches(&m, str_of(name));
	tfp_name_match_release(&m);
	return found;
}

/* As RE2::FullMatch. */
static void test_names(void **state)
{
	static const char *const foreign[] = {"(a)\\1",  "(?=a)a", "a(?!b)", "(?<=a)b", "a*+",
					      "a{2}+",   "(?>a)",  "(?R)",   "a\\K",    "(*FAIL)",
					      "a{1001}", "(",      "[",      "*a",      "a**"};
	(void)state;
	assert_true(matches(".*", "anything\nat all"));
	assert_false(matches(".*a", "b\na"));
	assert_true(matches("a|ab", "ab"));
	assert_false(matches("a", "ab"));
	assert_false(matches("a$", "a\n"));
	assert_true(matches("x,[a-c]+", "abc"));
	assert_true(matches("(?i)ABC", "abc"));
	assert_true(matches("(?P<n>a)b", "ab"));
	assert_true(matches("a.c", "a\xc3\xa4"
				   "c"));
	assert_true(matches("[(*?+]+", "(?+"));
	assert_false(matches("", ""));
	for (size_t i = 0; i < COUNT(foreign); i++)
		assert_false(matches(foreign[i], "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_presets),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
