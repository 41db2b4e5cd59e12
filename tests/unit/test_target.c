/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "remote/target.h"

#include <stdio.h>

static void assert_target(const char *text, const char *shown, const char *host, unsigned port)
{
	struct tfp_target t;
	struct tfp_error err;
	if (tfp_target_parse(&t, text, strlen(text), &err) != TFP_OK)
		fail_msg("%s: %s", text, err.message);
	assert_string_equal(t.text, shown);
	assert_string_equal(t.host, host);
	assert_int_equal(t.port, port);
}

static void test_addresses(void **state)
{
	(void)state;
	assert_target("localhost:6009", "localhost:6009", "localhost", 6009);
	assert_target(" grpc://10.0.0.2:8466 ", "10.0.0.2:8466", "10.0.0.2", 8466);
	assert_target("GRPC://Worker-1.Example:1/", "worker-1.example:1", "worker-1.example", 1);
	assert_target("[::1]:65535", "[::1]:65535", "::1", 65535);
	assert_target("grpc://[FE80:0:0::0001]:80", "[fe80::1]:80", "fe80::1", 80);
	assert_target("my_container:6009", "my_container:6009", "my_container", 6009);
}

static void test_what_is_no_address(void **state)
{
	static const char *const bad[] = {
		"",
		":6009",
		"localhost",
		"localhost:",
		"localhost:0",
		"localhost:65536",
		"localhost:6009x",
		"localhost:-1",
		"localhost:+80",
		"localhost: 80",
		"::1:6009",
		"[::1]",
		"[::1:6009",
		"[::1]6009",
		"[nonsense]:1",
		"[10.0.0.1]:1",
		"[]:1",
		"a/b:1",
		"http://a:1",
		"user@a:1",
		"a b:1",
		"a#b:1",
		"a?b:1",
		"a%20:1",
		"-o:1",
		".:1",
		"a\\b:1",
		"a:1:2",
		"grpc://",
		"grpc://grpc://a:1",
		"[fe80::1%eth0]:1",
		"a\nb:1",
		"localhost:000001",
		"grpc:a:1",
		"\xc3\xa9:1",
	};
	struct tfp_target t;
	struct tfp_error err;
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (tfp_target_parse(&t, bad[i], strlen(bad[i]), &err) != TFP_BAD_QUERY)
			fail_msg("\"%s\" was taken for %s", bad[i], t.text);
		assert_true(err.hint[0] != '\0');
	}
	/* A zero byte, and a name that is too long. */
	assert_int_equal(tfp_target_parse(&t, "a\0b:1", 5, &err), TFP_BAD_QUERY);
	assert_int_equal(tfp_target_parse(&t, "[::1\0x]:1", 9, &err), TFP_BAD_QUERY);
	char name[300];
	memset(name, 'a', sizeof(name));
	memcpy(name + 253, ":1", 2);
	assert_int_equal(tfp_target_parse(&t, name, 255, &err), TFP_OK);
	name[253] = 'a';
	memcpy(name + 254, ":1", 2);
	assert_int_equal(tfp_target_parse(&t, name, 256, &err), TFP_BAD_QUERY);
}

static void test_lists(void **state)
{
	struct tfp_target t[TFP_TARGETS_MAX];
	struct tfp_error err;
	size_t count;
	(void)state;
	assert_int_equal(tfp_targets_parse(t, &count, "grpc://a:1,grpc://b:2, [::1]:3 ,", &err),
			 TFP_OK);
	assert_int_equal(count, 3);
	assert_string_equal(t[1].text, "b:2");
	assert_string_equal(t[2].text, "[::1]:3");
	assert_int_equal(tfp_targets_parse(t, &count, " , ,", &err), TFP_BAD_QUERY);
	assert_int_equal(tfp_targets_parse(t, &count, "a:1,A:1", &err), TFP_BAD_QUERY);
	assert_int_equal(tfp_targets_parse(t, &count, "[::1]:3,[0:0::1]:3", &err), TFP_BAD_QUERY);
	assert_int_equal(tfp_targets_parse(t, &count, "a:1,b", &err), TFP_BAD_QUERY);
	char list[TFP_TARGETS_MAX * 8 + 16] = "";
	for (unsigned i = 1; i <= TFP_TARGETS_MAX; i++)
		sprintf(list + strlen(list), "a:%u,", i);
	assert_int_equal(tfp_targets_parse(t, &count, list, &err), TFP_OK);
	assert_int_equal(count, TFP_TARGETS_MAX);
	strcat(list, "a:999");
	assert_int_equal(tfp_targets_parse(t, &count, list, &err), TFP_BAD_QUERY);
}

static bool allowed(const char *rules_text, const char *address)
{
	struct tfp_target_rule rules[TFP_TARGET_RULES_MAX];
	struct tfp_target t;
	struct tfp_error err;
	size_t count;
	assert_int_equal(tfp_target_rules_parse(rules, &count, rules_text, &err), TFP_OK);
	assert_int_equal(tfp_target_parse(&t, address, strlen(address), &err), TFP_OK);
	return tfp_target_allowed(&t, rules, count);
}

static void test_rules(void **state)
{
	struct tfp_target_rule rules[TFP_TARGET_RULES_MAX];
	struct tfp_error err;
	size_t count;
	(void)state;
	assert_true(allowed("trainer", "trainer:1"));
	assert_true(allowed("a, Trainer:6009", "TRAINER:6009"));
	assert_false(allowed("trainer:6009", "trainer:6010"));
	assert_false(allowed("trainer", "trainer.evil:1"));
	assert_false(allowed("trainer", "trainer.:1"));
	assert_true(allowed("[::1]", "[0:0:0::1]:5"));
	assert_true(allowed("[::1]:5", "[::1]:5"));
	assert_false(allowed("127.0.0.1", "localhost:1"));
	/* Other ways to write 127.0.0.1. */
	assert_false(allowed("127.0.0.1", "127.1:1"));
	assert_false(allowed("127.0.0.1", "2130706433:1"));
	assert_int_equal(tfp_target_rules_parse(rules, &count, "", &err), TFP_BAD_QUERY);
	assert_int_equal(tfp_target_rules_parse(rules, &count, "a:", &err), TFP_BAD_QUERY);
	assert_int_equal(tfp_target_rules_parse(rules, &count, "*", &err), TFP_BAD_QUERY);
}

static void test_file_names(void **state)
{
	/* The peers' client makes 10.0.0.2_8466 of this address (capture notes). */
	static const char *const pairs[][2] = {{"10.0.0.2:8466", "10.0.0.2_8466"},
					       {"[::1]:6009", "__1_6009"},
					       {"a-b_c.d:1", "a-b_c.d_1"}};
	struct tfp_target t;
	struct tfp_error err;
	char stem[sizeof(t.text)];
	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		assert_int_equal(tfp_target_parse(&t, pairs[i][0], strlen(pairs[i][0]), &err),
				 TFP_OK);
		tfp_target_file_stem(&t, stem);
		assert_string_equal(stem, pairs[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),  cmocka_unit_test(test_what_is_no_address),
		cmocka_unit_test(test_lists),      cmocka_unit_test(test_rules),
		cmocka_unit_test(test_file_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
