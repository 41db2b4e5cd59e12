/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/clock.h"
#include "trace/text_match.h"

static bool matches(const char *pattern, bool expression, bool minds_case, const char *text)
{
	struct tfp_text_pattern *p;
	struct tfp_error err;
	if (tfp_text_pattern_new(&p, pattern, expression, minds_case, &err) != TFP_OK)
		fail_msg("%s", err.message);
	struct tfp_text_matcher *m = tfp_text_matcher_new(p);
	assert_non_null(m);
	bool found = tfp_text_matches(m, text, strlen(text));
	tfp_text_matcher_free(m);
	tfp_text_pattern_free(p);
	return found;
}

static void test_words(void **state)
{
	(void)state;
	assert_true(matches("MatMul", false, true, "model/MatMul:MatMul"));
	assert_false(matches("matmul", false, true, "model/MatMul"));
	assert_true(matches("matmul", false, false, "model/MatMul"));
	assert_false(matches("MatMul", false, true, "MatMu"));
	assert_false(matches("a", false, true, ""));
	/* Nothing in a word is an expression. */
	assert_true(matches("a.c(", false, false, "xA.C(y"));
	assert_false(matches("a.c", false, false, "abc"));
	assert_true(matches("ärger", false, false, "großer ÄRGER"));
}

/* Never false where a text matches that lies among other bytes. */
static void test_bytes_that_may_hold_it(void **state)
{
	static const char *const words[] = {"a",  "ab",     "kisses", "float32", "Ärger", "x_y",
					    "sk", "fusion", "a.c(",   "MATMUL",  "é",     "k1s2k3"};
	static const char *const texts[] = {
		"A",      "xAb", "\u212aisses",      "Ki\u017fse\u017f", "FLOAT32",
		"äRGER",  "X_Y", "SK \u212a",        "fu\u017fion",      "A.C(",
		"matmul", "É",   "k1\u017f2\u212a3",
	};
	(void)state;
	for (size_t w = 0; w < COUNT(words) * 2; w++) {
		struct tfp_text_pattern *p;
		struct tfp_error err;
		size_t held = 0;
		assert_int_equal(tfp_text_pattern_new(&p, words[w / 2], false, w % 2, &err),
				 TFP_OK);
		struct tfp_text_matcher *m = tfp_text_matcher_new(p);
		for (size_t t = 0; t < COUNT(texts); t++) {
			for (size_t before = 0; before < 200; before++) {
				char bytes[512];
				size_t size = strlen(texts[t]);
				memset(bytes, 0xfe, sizeof(bytes));
				memcpy(bytes + before, texts[t], size);
				bool may =
					tfp_text_may_lie_in(p, bytes, before + size + before % 3);
				assert_true(may || !tfp_text_matches(m, texts[t], size));
				held += may;
			}
		}
		/* And of use: one text of all of these has it. */
		if (strcmp(words[w / 2], "float32") == 0)
			assert_int_equal(held, 200);
		tfp_text_matcher_free(m);
		tfp_text_pattern_free(p);
	}
}

static void test_expressions(void **state)
{
	(void)state;
	assert_true(matches("^gemm_[0-9]+$", true, true, "gemm_64"));
	assert_false(matches("^gemm_[0-9]+$", true, true, "gemm_64x"));
	assert_false(matches("^gemm", true, true, "GEMM"));
	assert_true(matches("^gemm", true, false, "GEMM"));
	assert_true(matches("conv|gemm", true, true, "a gemm"));
}

static void test_bad_expressions_say_where(void **state)
{
	static const struct {
		const char *pattern;
		uint64_t offset;
	} cases[] = {{"(", 1}, {"ab[", 3}, {"a)", 1}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tfp_text_pattern *p;
		struct tfp_error err;
		assert_int_equal(tfp_text_pattern_new(&p, cases[i].pattern, true, false, &err),
				 TFP_BAD_QUERY);
		assert_null(p);
		assert_int_equal(err.offset, cases[i].offset);
		assert_true(strlen(err.message) > 20);
	}
}

static void test_refused(void **state)
{
	struct tfp_text_pattern *p;
	struct tfp_error err;
	char longer[1200];
	(void)state;
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(tfp_text_pattern_new(&p, "", false, false, &err), TFP_BAD_QUERY);
	assert_int_equal(tfp_text_pattern_new(&p, longer, false, true, &err), TFP_BAD_QUERY);
	assert_int_equal(tfp_text_pattern_new(&p, "\\C", true, true, &err), TFP_BAD_QUERY);
}

/* Would take 2^40 steps. */
static void test_gives_up(void **state)
{
	struct tfp_text_pattern *p;
	struct tfp_error err;
	const char *text = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac";
	(void)state;
	assert_int_equal(tfp_text_pattern_new(&p, "^(a+)+$", true, true, &err), TFP_OK);
	struct tfp_text_matcher *m = tfp_text_matcher_new(p);
	assert_false(tfp_text_matches(m, text, strlen(text)));
	assert_int_equal(tfp_text_matcher_gave_up(m), 1);
	assert_true(tfp_text_matches(m, text, strlen(text) - 1));
	assert_int_equal(tfp_text_matcher_gave_up(m), 1);
	assert_false(tfp_text_matcher_failed(m));
	tfp_text_matcher_free(m);
	tfp_text_pattern_free(p);
}

static void test_any_bytes(void **state)
{
	struct tfp_text_pattern *p;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_text_pattern_new(&p, "ab", false, false, &err), TFP_OK);
	struct tfp_text_matcher *m = tfp_text_matcher_new(p);
	assert_true(tfp_text_matches(m,
				     "\xff\xfe"
				     "AB\x80",
				     5));
	assert_false(tfp_text_matches(m, NULL, 0));
	assert_false(tfp_text_matches(m, "\0a\0b", 4));
	tfp_text_matcher_free(m);
	tfp_text_pattern_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_bytes_that_may_hold_it),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_bad_expressions_say_where),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_gives_up),
		cmocka_unit_test(test_any_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
