/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "session/session.h"

static const struct tfp_capture_file hosts[] = {{.host = "a"}, {.host = "b"}, {.host = "c"}};
static const struct tfp_run run = {.name = "train/1", .hosts = hosts, .host_count = 3};

static void test_all_hosts(void **state)
{
	static const char *const all[] = {NULL, "", TFP_ALL_HOSTS};
	struct tfp_session session;
	struct tfp_error err;
	(void)state;
	for (size_t i = 0; i < COUNT(all); i++) {
		assert_int_equal(tfp_session_init(&session, NULL, NULL, NULL, &run, all[i], &err),
				 TFP_OK);
		assert_ptr_equal(session.hosts, hosts);
		assert_int_equal(session.host_count, 3);
		assert_ptr_equal(session.run, &run);
	}
}

static void test_one_host(void **state)
{
	struct tfp_session session;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_session_init(&session, NULL, NULL, NULL, &run, "b", &err), TFP_OK);
	assert_ptr_equal(session.hosts, &hosts[1]);
	assert_int_equal(session.host_count, 1);
}

static void test_no_such_host(void **state)
{
	struct tfp_session session;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_session_init(&session, NULL, NULL, NULL, &run, "B", &err),
			 TFP_NOT_FOUND);
	assert_non_null(strstr(err.message, "B"));
	assert_non_null(strstr(err.message, "train/1"));
	assert_non_null(strstr(err.hint, "a"));
}

static void test_chosen_hosts(void **state)
{
	static const char *const wrong[] = {"a,x", "", ",", "a,", "none"};
	struct tfp_capture_file chosen[3];
	struct tfp_session session;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_session_init(&session, NULL, NULL, NULL, &run, NULL, &err), TFP_OK);
	assert_int_equal(tfp_session_choose(&session, "c,a,c,a", chosen, &err), TFP_OK);
	assert_int_equal(session.host_count, 2);
	assert_string_equal(session.hosts[0].host, "c");
	assert_string_equal(session.hosts[1].host, "a");
	assert_int_equal(tfp_session_host_index(&session, session.hosts[0].host), 2);
	assert_int_equal(tfp_session_host_index(&session, session.hosts[1].host), 0);
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(tfp_session_choose(&session, wrong[i], chosen, &err),
				 TFP_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_hosts),
		cmocka_unit_test(test_one_host),
		cmocka_unit_test(test_no_such_host),
		cmocka_unit_test(test_chosen_hosts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
