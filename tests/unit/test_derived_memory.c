/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of memory on the timeline: where they lie, what they hold, and that no peak is lost
 * at any level, against a slow computation from the list of what was written.
 */
#include "testing.h"

#include "analysis/timeline/derived_memory.h"
#include "analysis/timeline/stretches.h"
#include "analysis/timeline/timeline.h"

#include <math.h>

static void report(struct builder_line *line, const char *allocator, int64_t at_ps, int64_t heap)
{
	struct builder_stats *e = builder_event(line, "MemoryAllocation", at_ps, 0);
	if (allocator)
		builder_stat_ref(e, "allocator_name", allocator);
	builder_stat_int(e, "bytes_reserved", 16);
	builder_stat_int(e, "bytes_allocated", heap);
	builder_stat_int(e, "bytes_available", 1000);
}

struct shown {
	struct opened o;
	const struct tfp_tracks *tracks;
	const struct tfp_timeline *timeline;
};

static struct shown show(struct builder *b)
{
	struct shown s = {.o = open_built(b)};
	struct tfp_error err;
	if (tfp_tracks_get(s.o.capture, NULL, &s.tracks, &err) != TFP_OK ||
	    tfp_timeline_get(s.o.capture, NULL, &s.timeline, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return s;
}

/* The track of an allocator's counter, or UINT32_MAX. */
static uint32_t find(const struct shown *s, const char *allocator)
{
	for (uint32_t t = 0; t < s->tracks->track_count; t++) {
		const struct tfp_track *track = &s->tracks->tracks[t];
		if (track->is_memory && tfp_str_equal(tfp_track_allocator(track), allocator))
			return t;
	}
	return UINT32_MAX;
}

static struct tfp_str process_of(const struct shown *s, uint32_t t)
{
	return s->tracks->processes[s->tracks->tracks[t].process].name;
}

struct sample {
	int64_t time_ps, bytes;
};

static void check_samples(const struct shown *s, const char *allocator, const char *process,
			  const struct sample *expected, size_t count)
{
	uint32_t t = find(s, allocator);
	assert_int_not_equal(t, UINT32_MAX);
	assert_true(t >= s->tracks->file_track_count);
	assert_int_equal(s->tracks->tracks[t].kind, TFP_TRACK_COUNTER);
	assert_str(process_of(s, t), process);
	assert_int_equal(s->tracks->tracks[t].event_count, count);
	const struct tfp_timeline_track *index = &s->timeline->tracks[t];
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(tfp_event_start_ps(index->line, tfp_lane_event(index, 0, i)),
				 expected[i].time_ps);
		assert_true(index->counter.values[i] == (double)expected[i].bytes);
	}
}

static void test_where_they_lie(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *host = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 2);
	struct builder_plane *gpu = builder_plane(b, 1, "/device:GPU:1");
	(void)state;
	builder_event(builder_line(gpu, 7, "Stream #7", 0), "kernel", 5000, 1000);
	builder_event(host, "op", 1000, 9000);
	report(host, "GPU_1_bfc", 4000, 100);
	report(host, "GPU_0_bfc", 5000, 200); /* has no plane */
	report(host, "GPU_1x", 5000, 300);    /* is no number */
	report(host, "gpu_host_bfc", 6000, 400);
	report(host, "GPU_1_bfc", 7000, 50);
	report(host, "idle", 7000, -16); /* never anything in use */
	report(host, NULL, 8000, 500);   /* does not say who it is */
	report(host, "GPU_1_bfc", 9000, 0);
	struct shown s = show(b);
	/* The line's clock begins at 2 ns. */
	static const struct sample device[] = {{6000, 116}, {9000, 66}, {11000, 16}};
	static const struct sample other[] = {{7000, 216}}, odd[] = {{7000, 316}};
	static const struct sample pinned[] = {{8000, 416}}, nameless[] = {{10000, 516}};
	check_samples(&s, "GPU_1_bfc", "/device:GPU:1", device, COUNT(device));
	check_samples(&s, "GPU_0_bfc", "/host:CPU", other, COUNT(other));
	check_samples(&s, "GPU_1x", "/host:CPU", odd, COUNT(odd));
	check_samples(&s, "gpu_host_bfc", "/host:CPU", pinned, COUNT(pinned));
	check_samples(&s, "", "/host:CPU", nameless, COUNT(nameless));
	assert_int_equal(find(&s, "idle"), UINT32_MAX);
	assert_str(s.tracks->tracks[find(&s, "GPU_1_bfc")].name, "Memory GPU_1_bfc");
	/* They come last, and the peers' timelines do not have them. */
	const struct tfp_process *process = &s.tracks->processes[0];
	assert_int_equal(process->tracks[process->track_count - 1], find(&s, "GPU_1_bfc"));
	assert_int_equal(s.tracks->event_count, s.tracks->event_count_of_peers + 7);
	close_built(&s.o);
}

/* A number alone is a TPU's. */
static void test_of_a_tpu(void **state)
{
	static const struct sample expected[] = {{2000, 116}};
	struct builder *b = builder_new();
	struct builder_line *host = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	struct builder_plane *tpu = builder_plane(b, 1, "/device:TPU:3");
	(void)state;
	builder_event(builder_line(tpu, 3, "XLA Ops", 0), "fusion", 1000, 1000);
	struct builder_stats *e = builder_event(host, "MemoryAllocation", 2000, 0);
	builder_stat_int(e, "device_ordinal", 3);
	builder_stat_int(e, "bytes_reserved", 16);
	builder_stat_int(e, "bytes_allocated", 100);
	struct shown s = show(b);
	check_samples(&s, "3", "/device:TPU:3", expected, COUNT(expected));
	close_built(&s.o);
}

/* The timeline begins where its first event does: what was in use then is told at its begin. */
static void test_before_the_first_event(void **state)
{
	static const struct sample expected[] = {{5000, 146}, {6000, 26}, {20000, 36}};
	struct builder *b = builder_new();
	struct builder_line *host = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	(void)state;
	report(host, "cpu", 1000, 120);
	report(host, "cpu", 2000, 130);
	builder_event(host, "op", 5000, 1000);
	report(host, "cpu", 6000, 10);
	report(host, "cpu", 20000, 20);
	struct shown s = show(b);
	check_samples(&s, "cpu", "/host:CPU", expected, COUNT(expected));
	assert_int_equal(s.tracks->begin_ps, 5000);
	assert_int_equal(s.tracks->end_of_peers_ps, 6000);
	assert_int_equal(s.tracks->end_ps, 20000);
	close_built(&s.o);
}

/* Without an event that is shown there is no timeline to lie on. */
static void test_nothing_else(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	report(builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0), "cpu", 1000, 120);
	struct shown s = show(b);
	assert_int_equal(find(&s, "cpu"), UINT32_MAX);
	assert_int_equal(s.tracks->event_count, 0);
	close_built(&s.o);
}

/* The peers derive no lines of a capture that is grouped already. */
static void test_grouped(void **state)
{
	static const struct sample expected[] = {{2000, 136}};
	struct builder *b = builder_new();
	struct builder_line *host = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	(void)state;
	builder_stat_int(builder_event(host, "op", 1000, 5000), "group_id", 1);
	report(host, "cpu", 2000, 120);
	struct shown s = show(b);
	assert_true(tfp_capture_is_grouped(s.o.capture));
	check_samples(&s, "cpu", "/host:CPU", expected, COUNT(expected));
	assert_int_equal(s.tracks->track_count, s.tracks->file_track_count + 1);
	close_built(&s.o);
}

/* ---- levels ---- */

enum { SAMPLES = 4000 };
static const char *const names[] = {"GPU_0_bfc", "cpu", "gpu_host_bfc"};

static uint32_t next_number(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* What a slot of an allocator's samples holds, by looking at all of them. */
static struct tfp_counter_slot slow_slot(const struct sample *list, size_t count, int64_t slot,
					 unsigned level)
{
	struct tfp_counter_slot out = {.time_ps = -1};
	for (size_t i = 0; i < count; i++) {
		double bytes = (double)list[i].bytes;
		if (list[i].time_ps >> level != slot)
			continue;
		if (out.count++ == 0) {
			out.time_ps = list[i].time_ps;
			out.low = out.high = bytes;
		}
		out.low = bytes < out.low ? bytes : out.low;
		out.high = bytes > out.high ? bytes : out.high;
		out.last = bytes;
	}
	return out;
}

static void check_level(const struct tfp_timeline_track *index, const struct sample *list,
			size_t count, unsigned level)
{
	const struct tfp_window w = {
		.shift_ps = 0, .from_ps = 0, .to_ps = (int64_t)1 << 40, .level = level};
	struct tfp_counter_slots slots = {0};
	double most = 0;
	uint64_t counted = 0;
	assert_true(tfp_counter_slots_of(index, &w, SIZE_MAX, &slots));
	for (size_t i = 0; i < slots.count; i++) {
		const struct tfp_counter_slot *got = &slots.list[i];
		struct tfp_counter_slot expected =
			slow_slot(list, count, got->time_ps >> level, level);
		assert_int_equal(got->time_ps, expected.time_ps);
		assert_int_equal(got->count, expected.count);
		assert_true(got->low == expected.low && got->high == expected.high &&
			    got->last == expected.last);
		most = got->high > most ? got->high : most;
		counted += got->count;
	}
	assert_int_equal(counted, count);
	for (size_t i = 0; i < count; i++)
		assert_true((double)list[i].bytes <= most);
	tfp_counter_slots_release(&slots);
}

/* Three allocators whose reports are mixed, in bursts, several at once. */
static void test_levels(void **state)
{
	static struct sample lists[COUNT(names)][SAMPLES];
	size_t counts[COUNT(names)] = {0};
	uint32_t random = 7;
	int64_t time_ps = 0;
	struct builder *b = builder_new();
	struct builder_line *host = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	struct builder_plane *gpu = builder_plane(b, 1, "/device:GPU:0");
	(void)state;
	builder_event(builder_line(gpu, 7, "Stream #7", 0), "kernel", 0, 1000);
	for (int i = 0; i < SAMPLES; i++) {
		uint32_t which = next_number(&random) % COUNT(names);
		int64_t heap = next_number(&random) % 100000;
		if (next_number(&random) % 4)
			time_ps += next_number(&random) % (i % 50 == 0 ? 1000000 : 300);
		report(host, names[which], time_ps, heap);
		lists[which][counts[which]++] = (struct sample){time_ps, heap + 16};
	}
	struct shown s = show(b);
	for (size_t n = 0; n < COUNT(names); n++) {
		uint32_t t = find(&s, names[n]);
		check_samples(&s, names[n], n == 0 ? "/device:GPU:0" : "/host:CPU", lists[n],
			      counts[n]);
		for (unsigned level = 0; level <= 30; level += 3)
			check_level(&s.timeline->tracks[t], lists[n], counts[n], level);
	}
	close_built(&s.o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_they_lie),
		cmocka_unit_test(test_of_a_tpu),
		cmocka_unit_test(test_before_the_first_event),
		cmocka_unit_test(test_nothing_else),
		cmocka_unit_test(test_grouped),
		cmocka_unit_test(test_levels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
