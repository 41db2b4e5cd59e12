/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Level of detail, by trace_events.md 6.
 */
#include "testing.h"

#include "trace/trace_select.h"
#include "trace/trace_visibility.h"

#define SLOT 100

struct seen {
	struct opened o;
	const struct tfp_tracks *tracks;
	struct tfp_visibility *v;
};

static struct seen see(struct builder *b)
{
	struct seen s = {.o = open_built(b)};
	struct tfp_error err;
	if (tfp_tracks_get(s.o.capture, NULL, &s.tracks, &err) != TFP_OK ||
	    tfp_visibility_new(&s.v, s.tracks, NULL, SLOT, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return s;
}

static void leave(struct seen *s)
{
	tfp_visibility_free(s->v);
	close_built(&s->o);
}

/* The next event's start, and whether it is shown; as part of a flow when id is not 0. */
static bool next(struct seen *s, int64_t *start_ps, uint64_t flow_id, uint8_t direction)
{
	uint32_t track;
	size_t i;
	assert_true(tfp_visibility_next(s->v, &track, &i));
	const struct tfp_line *line = s->tracks->tracks[track].line;
	struct tfp_trace_event event = {.start_ps = tfp_event_start_ps(line, i),
					.duration_ps = tfp_event_duration_ps(line, i),
					.has_flow = flow_id != 0,
					.flow_id = flow_id,
					.direction = direction};
	*start_ps = event.start_ps;
	return tfp_visibility_shows(s->v, track, &event, false);
}

static void test_by_distance_and_depth(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "a", 0);
	static const struct {
		int64_t start, duration;
		bool shown;
	} events[] = {
		{0, 1000, true},  /* long */
		{10, 5, true},    /* the first at its depth */
		{20, 5, false},   /* 5 after the last one of its depth */
		{116, 5, true},   /* 101 after it: events left out do not count */
		{200, 150, true}, /* long */
		{360, 5, false},  /* 10 after the one before, at its depth */
		{1005, 5, false}, /* on the ground again, 5 after the first */
		{1105, 5, true},  /* 105 after */
	};
	(void)state;
	for (size_t i = 0; i < COUNT(events); i++)
		builder_event(line, "e", events[i].start, events[i].duration);
	struct seen s = see(b);
	for (size_t i = 0; i < COUNT(events); i++) {
		int64_t start;
		bool shown = next(&s, &start, 0, 0);
		assert_int_equal(start, events[i].start);
		if (shown != events[i].shown)
			fail_msg("the event at %d is %s", (int)start, shown ? "shown" : "hidden");
	}
	uint32_t track;
	size_t i;
	assert_false(tfp_visibility_next(s.v, &track, &i));
	assert_false(tfp_visibility_failed(s.v));
	leave(&s);
}

/* A flow is shown where it leads when it is shown where it begins. */
static void test_flows(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *one = builder_line(host, 1, "a", 0);
	struct builder_line *two = builder_line(host, 2, "b", 0);
	int64_t start;
	(void)state;
	builder_event(one, "first", 0, 10);
	builder_event(one, "near", 20, 10);
	builder_event(two, "first", 40, 10);
	builder_event(two, "near, of a shown flow", 60, 10);
	builder_event(two, "near, of a hidden flow", 80, 10);
	struct seen s = see(b);
	assert_true(next(&s, &start, 7, TFP_FLOW_OUT));
	/* 20 after the last arrow of the row. */
	assert_false(next(&s, &start, 8, TFP_FLOW_OUT));
	assert_true(next(&s, &start, 0, 0));
	assert_true(next(&s, &start, 7, TFP_FLOW_IN));
	assert_false(next(&s, &start, 8, TFP_FLOW_IN));
	leave(&s);
}

static void test_order_over_rows(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	enum { LINES = 9, EVENTS = 40 };
	int64_t last = -1;
	(void)state;
	for (int l = 0; l < LINES; l++) {
		struct builder_line *line = builder_line(host, l + 1, "a", 0);
		for (int i = 0; i < EVENTS; i++)
			builder_event(line, "e", (i * 37 + l * 11) % 1000, 1);
	}
	struct seen s = see(b);
	for (int i = 0; i < LINES * EVENTS; i++) {
		int64_t start;
		next(&s, &start, 0, 0);
		assert_true(start >= last);
		last = start;
	}
	leave(&s);
}

static void test_selections(void **state)
{
	struct tfp_trace_selection s = {0};
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_trace_selection_tracks(&s, "1.2,0.13,0.2", &err), TFP_OK);
	assert_true(tfp_trace_selects_track(&s, 0, 13));
	assert_true(tfp_trace_selects_track(&s, 1, 2));
	assert_false(tfp_trace_selects_track(&s, 1, 13));
	tfp_trace_selection_release(&s);
	static const char *const wrong[] = {"0",   "0.",       ".1",   "0.1,",
					    "a.b", "0.1 ,0.2", "-1.0", "0.4294967296"};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		assert_int_equal(tfp_trace_selection_tracks(&s, wrong[i], &err), TFP_BAD_QUERY);
		tfp_trace_selection_release(&s);
	}
	assert_int_equal(tfp_trace_selection_tracks(&s, NULL, &err), TFP_OK);
	assert_true(tfp_trace_selects_track(&s, 5, 5));
	s = (struct tfp_trace_selection){.has_window = true, .from_ps = 100, .to_ps = 200};
	assert_true(tfp_trace_selects_time(&s, 0, 100)); /* both ends touch */
	assert_false(tfp_trace_selects_time(&s, 0, 99));
	assert_true(tfp_trace_selects_time(&s, 200, 0));
	assert_false(tfp_trace_selects_time(&s, 201, 0));
	assert_true(tfp_trace_selects_time(&s, INT64_MIN, INT64_MAX) ==
		    (100 - (uint64_t)INT64_MIN <= INT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_distance_and_depth),
		cmocka_unit_test(test_flows),
		cmocka_unit_test(test_order_over_rows),
		cmocka_unit_test(test_selections),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
