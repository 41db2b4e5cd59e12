/* SPDX-License-Identifier: Apache-2.0 */
/* Who may be connected: decisions about clients without sockets (descriptor -1). */
#include "addresses.h"
#include "testing.h"

#include "base/clock.h"
#include "http/limits.h"

#include <time.h>

struct door {
	struct tfp_metrics *metrics;
	struct tfp_limits *limits;
	struct tfp_client *clients[256];
	size_t count;
};

static const char *no_route(unsigned route)
{
	(void)route;
	return "";
}

static struct tfp_limits_config patient(unsigned connections)
{
	struct tfp_limits_config config = tfp_limits_defaults();
	config.connections = connections;
	config.head_ms = config.body_ms = config.answer_ms = config.idle_ms = 3600000;
	return config;
}

static void open_door(struct door *d, const struct tfp_limits_config *config)
{
	struct tfp_error err;
	*d = (struct door){.metrics = tfp_metrics_new(no_route, 0)};
	assert_non_null(d->metrics);
	assert_int_equal(tfp_limits_new(&d->limits, config, d->metrics, &err), TFP_OK);
	/* Else this process may not have as many descriptors. */
	if (tfp_limits_connections(d->limits) != config->connections)
		skip();
}

static void close_door(struct door *d)
{
	for (size_t i = 0; i < d->count; i++)
		tfp_limits_leave(d->limits, d->clients[i]);
	tfp_limits_free(d->limits);
	tfp_metrics_free(d->metrics);
}

static bool admit(struct door *d, const char *from)
{
	const struct sockaddr_storage address = address_of(from);
	return tfp_limits_admit(d->limits, (const struct sockaddr *)&address);
}

/* As libmicrohttpd does: asks, and if it may, enters. */
static bool come(struct door *d, const char *from, enum tfp_phase phase)
{
	const struct sockaddr_storage address = address_of(from);
	const struct sockaddr *a = (const struct sockaddr *)&address;
	if (!tfp_limits_admit(d->limits, a))
		return false;
	struct tfp_client *c = tfp_limits_enter(d->limits, -1, a);
	assert_non_null(c);
	tfp_client_phase(d->limits, c, phase, 0);
	assert_true(d->count < COUNT(d->clients));
	d->clients[d->count++] = c;
	return true;
}

static int64_t count_of(const struct door *d, enum tfp_metric which)
{
	return tfp_metrics_get(d->metrics, which);
}

static void test_one_address_or_network(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(address_pairs); i++) {
		struct tfp_limits_config config = patient(20);
		struct door d;
		config.per_client = 1;
		open_door(&d, &config);
		assert_true(come(&d, address_pairs[i].a, TFP_PHASE_WORK));
		if (admit(&d, address_pairs[i].b) == address_pairs[i].same)
			fail_msg("%s and %s", address_pairs[i].a ? address_pairs[i].a : "-",
				 address_pairs[i].b ? address_pairs[i].b : "-");
		assert_int_equal(count_of(&d, TFP_METRIC_REFUSED_PER_CLIENT),
				 address_pairs[i].same);
		close_door(&d);
	}
}

static void test_places_of_an_address(void **state)
{
	static const char *const near[] = {"127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1",
					   NULL};
	struct tfp_limits_config config = patient(200);
	struct door d;
	(void)state;
	/* By default 64 from elsewhere, any number from this machine. */
	open_door(&d, &config);
	for (int i = 0; i < 64; i++)
		assert_true(come(&d, "192.0.2.1", TFP_PHASE_WORK));
	assert_false(come(&d, "192.0.2.1", TFP_PHASE_WORK));
	assert_true(come(&d, "192.0.2.2", TFP_PHASE_WORK));
	/* One that is between requests makes room for another of the same address. */
	tfp_client_phase(d.limits, d.clients[3], TFP_PHASE_IDLE, 0);
	assert_true(come(&d, "192.0.2.1", TFP_PHASE_WORK));
	assert_int_equal(count_of(&d, TFP_METRIC_CLOSED_FOR_ROOM), 1);
	assert_false(come(&d, "192.0.2.1", TFP_PHASE_WORK));
	/* A place is given back when a connection ends. */
	tfp_limits_leave(d.limits, d.clients[0]);
	d.clients[0] = NULL;
	assert_true(come(&d, "192.0.2.1", TFP_PHASE_WORK));
	close_door(&d);
	for (size_t i = 0; i < COUNT(near); i++) {
		open_door(&d, &config);
		for (int n = 0; n < 100; n++)
			assert_true(come(&d, near[i], TFP_PHASE_WORK));
		close_door(&d);
	}
	config.per_client = 0;
	open_door(&d, &config);
	for (int n = 0; n < 100; n++)
		assert_true(come(&d, "192.0.2.1", TFP_PHASE_WORK));
	close_door(&d);
}

/* libmicrohttpd's threads ask all at once, and then let in whom they were allowed to. */
static void test_places_of_an_address_admitted_at_once(void **state)
{
	const struct sockaddr_storage from = address_of("192.0.2.1");
	struct tfp_limits_config config = patient(20);
	struct door d;
	(void)state;
	config.per_client = 3;
	open_door(&d, &config);
	for (int i = 0; i < 5; i++)
		assert_true(admit(&d, "192.0.2.1"));
	for (int i = 0; i < 5; i++)
		d.clients[d.count++] =
			tfp_limits_enter(d.limits, -1, (const struct sockaddr *)&from);
	assert_int_equal(count_of(&d, TFP_METRIC_REFUSED_PER_CLIENT), 2);
	/* The first three stay, and those that were shut hold no places. */
	assert_false(admit(&d, "192.0.2.1"));
	tfp_limits_leave(d.limits, d.clients[0]);
	d.clients[0] = NULL;
	assert_true(come(&d, "192.0.2.1", TFP_PHASE_WORK));
	assert_int_equal(count_of(&d, TFP_METRIC_REFUSED_PER_CLIENT), 3);
	close_door(&d);
}

static void test_idle_ones_go_from_four_fifths_on(void **state)
{
	const struct tfp_limits_config config = patient(20);
	struct door d;
	(void)state;
	open_door(&d, &config);
	for (int i = 0; i < 16; i++) {
		assert_true(
			come(&d, "127.0.0.1", i == 5 || i == 9 ? TFP_PHASE_IDLE : TFP_PHASE_WORK));
		assert_int_equal(count_of(&d, TFP_METRIC_CLOSED_FOR_ROOM), 0);
	}
	/* 16 of 20 are there: each that comes takes the place of an idle one. */
	assert_true(come(&d, "127.0.0.1", TFP_PHASE_WORK));
	assert_int_equal(count_of(&d, TFP_METRIC_CLOSED_FOR_ROOM), 1);
	assert_true(come(&d, "127.0.0.1", TFP_PHASE_WORK));
	assert_int_equal(count_of(&d, TFP_METRIC_CLOSED_FOR_ROOM), 2);
	/* Then there is no idle one, and others keep theirs until all places are taken. */
	for (int i = 0; i < 4; i++)
		assert_true(come(&d, "127.0.0.1", TFP_PHASE_BODY));
	assert_int_equal(count_of(&d, TFP_METRIC_CLOSED_FOR_ROOM), 2);
	assert_int_equal(count_of(&d, TFP_METRIC_REFUSED_TOTAL), 0);
	assert_false(come(&d, "127.0.0.1", TFP_PHASE_WORK));
	assert_int_equal(count_of(&d, TFP_METRIC_REFUSED_TOTAL), 1);
	close_door(&d);
}

static void until(const struct door *d, enum tfp_metric which, int64_t least, const char *from)
{
	int64_t end_ns = tfp_clock_monotonic_ns() + INT64_C(60000000000);
	while (count_of(d, which) < least) {
		assert_true(tfp_clock_monotonic_ns() < end_ns);
		nanosleep(&(const struct timespec){.tv_nsec = 5000000}, NULL);
		if (from)
			admit((struct door *)(uintptr_t)d, from);
	}
}

static void test_silent_ones_go_when_nearly_full(void **state)
{
	const struct tfp_limits_config config = patient(20);
	struct door d;
	(void)state;
	open_door(&d, &config);
	for (int i = 0; i < 18; i++)
		assert_true(come(&d, "127.0.0.1", i < 2 ? TFP_PHASE_HEAD : TFP_PHASE_WORK));
	/* Below 19 of 20, however long they are silent. */
	nanosleep(&(const struct timespec){.tv_sec = 1, .tv_nsec = 100000000}, NULL);
	assert_true(come(&d, "127.0.0.1", TFP_PHASE_WORK));
	assert_int_equal(count_of(&d, TFP_METRIC_CLOSED_FOR_ROOM), 0);
	assert_true(come(&d, "127.0.0.1", TFP_PHASE_WORK));
	assert_int_equal(count_of(&d, TFP_METRIC_CLOSED_FOR_ROOM), 1);
	until(&d, TFP_METRIC_CLOSED_FOR_ROOM, 2, "127.0.0.1");
	close_door(&d);
}

/* Those that were shut have their descriptors until libmicrohttpd has noticed. */
static void test_descriptors_of_those_that_leave_count(void **state)
{
	const struct tfp_limits_config config = patient(8);
	struct door d;
	(void)state;
	open_door(&d, &config);
	for (int i = 0; i < 11; i++)
		assert_true(come(&d, "127.0.0.1", TFP_PHASE_IDLE));
	assert_false(come(&d, "127.0.0.1", TFP_PHASE_IDLE));
	close_door(&d);
}

static void test_deadlines(void **state)
{
	static const struct {
		enum tfp_phase phase;
		enum tfp_metric why;
	} cases[] = {
		{TFP_PHASE_HEAD, TFP_METRIC_CLOSED_SLOW_HEAD},
		{TFP_PHASE_BODY, TFP_METRIC_CLOSED_SLOW_BODY},
		{TFP_PHASE_ANSWER, TFP_METRIC_CLOSED_SLOW_READER},
		{TFP_PHASE_IDLE, TFP_METRIC_CLOSED_IDLE},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		/* One is short at a time: everybody comes in the first phase, and a busy machine
		 * may keep them there. */
		struct tfp_limits_config config = patient(20);
		unsigned *const ms[] = {&config.head_ms, &config.body_ms, &config.answer_ms,
					&config.idle_ms};
		struct door d;
		*ms[i] = 30;
		open_door(&d, &config);
		if (cases[i].phase != TFP_PHASE_HEAD) {
			/* Neither work of ours nor an answer that may take an hour is late. */
			assert_true(come(&d, "127.0.0.1", TFP_PHASE_WORK));
			assert_true(come(&d, "127.0.0.1", TFP_PHASE_WORK));
			tfp_client_phase(d.limits, d.clients[1], TFP_PHASE_ANSWER,
					 (size_t)config.bytes_per_s * 3600);
		}
		assert_true(come(&d, "127.0.0.1", cases[i].phase));
		until(&d, cases[i].why, 1, NULL);
		for (size_t k = 0; k < COUNT(cases); k++)
			assert_int_equal(count_of(&d, cases[k].why), k == i);
		assert_int_equal(count_of(&d, TFP_METRIC_CLOSED_FOR_ROOM), 0);
		close_door(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_address_or_network),
		cmocka_unit_test(test_places_of_an_address),
		cmocka_unit_test(test_places_of_an_address_admitted_at_once),
		cmocka_unit_test(test_idle_ones_go_from_four_fifths_on),
		cmocka_unit_test(test_silent_ones_go_when_nearly_full),
		cmocka_unit_test(test_descriptors_of_those_that_leave_count),
		cmocka_unit_test(test_deadlines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
