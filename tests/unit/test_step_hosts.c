/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "tools/step_hosts.h"

#include <stdio.h>

#define HOSTS 6

/* What all hosts take in their steps, and how much of it waits for input, goes to all others
 * and to collectives, in percent. */
struct shares {
	int64_t step_ps;
	double input, others, collectives;
};

static struct tfp_capture_file files[HOSTS] = {
	{.host = "a"}, {.host = "b"}, {.host = "c"}, {.host = "d"}, {.host = "e"}, {.host = "f"},
};
static struct tfp_host_verdict verdicts[HOSTS];
static struct tfp_session session;

/* Host 0 is shown unless another is named. */
static struct tfp_step_hosts hosts_of(const struct shares *shares, size_t count, uint32_t shown)
{
	struct tfp_step_hosts hosts = {.list = verdicts, .count = count, .shown = shown};
	session = (struct tfp_session){.hosts = files, .host_count = count};
	hosts.session = &session;
	for (size_t i = 0; i < count; i++) {
		struct tfp_step_totals totals = {.steps = 1, .step_ms = 100};
		totals.category_ms[TFP_STEP_INPUT] = shares[i].input;
		totals.category_ms[TFP_STEP_ALL_OTHERS] = shares[i].others;
		totals.category_ms[TFP_STEP_COLLECTIVES] = shares[i].collectives;
		verdicts[i] = (struct tfp_host_verdict){.host = (uint32_t)i,
							.time_ps = shares[i].step_ps};
		tfp_bottleneck(&totals, true, &verdicts[i].bottleneck);
		if (!hosts.slowest || shares[i].step_ps > hosts.slowest->time_ps)
			hosts.slowest = &verdicts[i];
	}
	return hosts;
}

static const char *said(const struct tfp_step_hosts *hosts, enum tfp_judgement which)
{
	static char text[2000];
	struct tfp_buf buf;
	tfp_buf_init(&buf, sizeof(text) - 1);
	tfp_step_hosts_sentence(hosts, which, &verdicts[hosts->shown].bottleneck, &buf);
	snprintf(text, sizeof(text), "%s", tfp_buf_text(&buf));
	tfp_buf_release(&buf);
	return text;
}

static void test_one_host_needs_no_name(void **state)
{
	struct tfp_step_hosts one = hosts_of((struct shares[]){{100, 30, 0, 0}}, 1, 0);
	struct tfp_buf buf;
	(void)state;
	assert_string_equal(said(&one, TFP_ON_INPUT), "");
	tfp_buf_init(&buf, 1000);
	tfp_step_hosts_verdict(&one, TFP_ON_INPUT, &verdicts[0].bottleneck, &buf);
	assert_string_equal(tfp_buf_text(&buf), verdicts[0].bottleneck.input.statement);
	tfp_buf_release(&buf);
}

static void test_for_which_hosts(void **state)
{
	static const struct shares all[HOSTS] = {
		{100, 30, 0, 0}, {200, 0, 0, 16},  {100, 30.5, 0, 5},
		{100, 45, 0, 0}, {100, 7, 0, 3.5}, {100, 1, 4, 0},
	};
	struct tfp_step_hosts hosts = hosts_of(all, HOSTS, 1);
	(void)state;
	assert_string_equal(said(&hosts, TFP_ON_INPUT),
			    "This verdict is for b, the slowest of 6 hosts, and holds for no other "
			    "host; a, c and d "
			    "are HIGHLY input-bound; e is MODERATELY input-bound; f is "
			    "POTENTIALLY input-bound.");
	assert_string_equal(said(&hosts, TFP_ON_COLLECTIVES),
			    "It holds for 3 of 6 hosts (b, c and e).");
	assert_string_equal(said(&hosts, TFP_ON_KERNEL_LAUNCH), "");
	hosts = hosts_of(all, HOSTS, 0);
	/* Of the three d is worse by more than a point. */
	assert_string_equal(
		said(&hosts, TFP_ON_INPUT),
		"This verdict is for a, one of 6 hosts (the slowest is b), and holds for 3 of "
		"them (a, c and d), most for d (45.0%); e is MODERATELY input-bound; "
		"f is POTENTIALLY input-bound; b is NOT input-bound.");
	/* a has none; the sentence is that of the host with the most. */
	assert_string_equal(said(&hosts, TFP_ON_COLLECTIVES),
			    "This verdict is for b; it holds for 3 of 6 hosts (b, c and e).");
}

static void test_many_are_counted(void **state)
{
	static const struct shares same[HOSTS] = {
		{100, 0, 5, 9}, {101, 0, 5, 0}, {102, 0, 5, 9},
		{103, 0, 8, 9}, {104, 0, 5, 9}, {105, 0, 5, 9},
	};
	struct tfp_step_hosts hosts = hosts_of(same, HOSTS, 5);
	(void)state;
	assert_string_equal(
		said(&hosts, TFP_ON_INPUT),
		"This verdict is for f, the slowest of 6 hosts, and holds for all 6, most for d "
		"(8.0%).");
	assert_string_equal(said(&hosts, TFP_ON_COLLECTIVES),
			    "It holds for 5 of 6 hosts (a, c, d and 2 more).");
	/* Already said by "POTENTIALLY". */
	assert_string_equal(said(&hosts, TFP_ON_ALL_OTHERS), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_host_needs_no_name),
		cmocka_unit_test(test_for_which_hosts),
		cmocka_unit_test(test_many_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
