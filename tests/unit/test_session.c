#include "testing.h"

#include "tools/session.h"

static const struct tfp_capture_file hosts[] = {{.host = "a"}, {.host = "b"}, {.host = "c"}};
static const struct tfp_run run = {.name = "train/1", .hosts = hosts, .host_count = 3};

static void test_all_hosts(void **state)
{
	static const char *const all[] = {NULL, "", TFP_ALL_HOSTS};
	struct tfp_session session;
	struct tfp_error err;
	(void)state;
	for (size_t i = 0; i < COUNT(all); i++) {
		assert_int_equal(tfp_session_init(&session, NULL, NULL, &run, all[i], &err),
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
	assert_int_equal(tfp_session_init(&session, NULL, NULL, &run, "b", &err), TFP_OK);
	assert_ptr_equal(session.hosts, &hosts[1]);
	assert_int_equal(session.host_count, 1);
}

static void test_no_such_host(void **state)
{
	struct tfp_session session;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_session_init(&session, NULL, NULL, &run, "B", &err), TFP_NOT_FOUND);
	assert_non_null(strstr(err.message, "B"));
	assert_non_null(strstr(err.message, "train/1"));
	assert_non_null(strstr(err.hint, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_hosts),
		cmocka_unit_test(test_one_host),
		cmocka_unit_test(test_no_such_host),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
