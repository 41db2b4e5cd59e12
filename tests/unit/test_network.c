/* SPDX-License-Identifier: Apache-2.0 */
/* Where clients come from: addresses as RFC 4291 writes them. */
#include "addresses.h"
#include "testing.h"

#include "http/network.h"

static struct tfp_network network_of(const char *text)
{
	const struct sockaddr_storage address = address_of(text);
	return tfp_network_of((const struct sockaddr *)&address);
}

static void test_equal(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(address_pairs); i++) {
		const struct tfp_network a = network_of(address_pairs[i].a),
					 b = network_of(address_pairs[i].b);
		if (tfp_network_equal(&a, &b) != address_pairs[i].same)
			fail_msg("%s and %s", address_pairs[i].a ? address_pairs[i].a : "-",
				 address_pairs[i].b ? address_pairs[i].b : "-");
	}
}

static void test_local(void **state)
{
	static const struct {
		const char *text;
		bool local;
	} cases[] = {
		{"127.0.0.1", true},    {"127.1.2.3", true}, {"::ffff:127.0.0.1", true},
		{"::1", true},          {NULL, true},        {"128.0.0.1", false},
		{"192.0.2.127", false}, {"::2", false},      {"::127.0.0.1", false},
		{"fe80::1", false},     {"7f00::1", false},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct tfp_network n = network_of(cases[i].text);
		if (tfp_network_is_local(&n) != cases[i].local)
			fail_msg("%s", cases[i].text ? cases[i].text : "-");
	}
	const struct tfp_network none = tfp_network_of(NULL);
	assert_true(tfp_network_is_local(&none));
}

static void test_texts(void **state)
{
	static const char *const texts[] = {"192.0.2.1", "2001:db8::1", "::1"};
	char out[TFP_ADDRESS_TEXT];
	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		const struct sockaddr_storage a = address_of(texts[i]);
		assert_string_equal(tfp_address_text((const struct sockaddr *)&a, out), texts[i]);
	}
	const struct sockaddr_storage local = address_of(NULL);
	assert_string_equal(tfp_address_text((const struct sockaddr *)&local, out), "unix");
	assert_string_equal(tfp_address_text(NULL, out), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_local),
		cmocka_unit_test(test_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
