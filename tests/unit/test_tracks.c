/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "analysis/timeline/tracks.h"

static const struct tfp_tracks *tracks_of(const struct opened *o)
{
	const struct tfp_tracks *tracks;
	struct tfp_error err;
	if (tfp_tracks_get(o->capture, NULL, &tracks, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return tracks;
}

static void assert_tracks(const struct tfp_tracks *tracks, uint32_t process,
			  const char *const *names, size_t count)
{
	const struct tfp_process *p = &tracks->processes[process];
	assert_int_equal(p->track_count, count);
	for (size_t i = 0; i < count; i++) {
		assert_str(tracks->tracks[p->tracks[i]].name, names[i]);
		assert_int_equal(tracks->tracks[p->tracks[i]].process, process);
	}
}

static void test_processes_and_their_numbers(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	/* Neither TPUs beside GPUs, nor what is no device, nor planes without lines. */
	static const struct {
		int64_t id;
		const char *name;
	} planes[] = {{7, "/host:CPU"},        {3, "/device:GPU:3"},    {0, "/device:GPU:0"},
		      {1, "/device:TPU:0"},    {2, "/host:metadata"},   {600, "/device:GPU:600"},
		      {4, "/device:CUSTOM:x"}, {8, "/host:CPU [2]"},    {-1, "/device:CUSTOM:y"},
		      {9, "Task Environment"}, {10, "/host:CPU-before"}};
	for (size_t i = 0; i < COUNT(planes); i++)
		builder_event(
			builder_line(builder_plane(b, planes[i].id, planes[i].name), 1, "l", 0),
			"e", 0, 1);
	builder_plane(b, 5, "/device:GPU:5");
	struct opened o = open_built(b);
	const struct tfp_tracks *tracks = tracks_of(&o);
	static const struct {
		uint32_t pid;
		const char *name;
		enum tfp_process_kind kind;
	} expected[] = {{1, "/device:GPU:0", TFP_PROCESS_DEVICE},
			{1, "/device:GPU:600", TFP_PROCESS_DEVICE}, /* 601 is above 500 */
			{4, "/device:GPU:3", TFP_PROCESS_DEVICE},
			{501, "/device:CUSTOM:y", TFP_PROCESS_OTHER},
			{505, "/device:CUSTOM:x", TFP_PROCESS_OTHER},
			{701, "/host:CPU", TFP_PROCESS_HOST},
			{702, "/host:CPU [2]", TFP_PROCESS_HOST}, /* blank before '-' */
			{703, "/host:CPU-before", TFP_PROCESS_HOST}};
	assert_int_equal(tracks->process_count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		assert_int_equal(tracks->processes[i].pid, expected[i].pid);
		assert_str(tracks->processes[i].name, expected[i].name);
		assert_int_equal(tracks->processes[i].kind, expected[i].kind);
	}
	close_built(&o);
}

static void test_tpu_where_there_is_no_gpu(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	builder_event(builder_line(builder_plane(b, 2, "/device:TPU:2"), 1, "XLA Ops", 0), "e", 0,
		      1);
	struct opened o = open_built(b);
	const struct tfp_tracks *tracks = tracks_of(&o);
	assert_int_equal(tracks->process_count, 1);
	assert_int_equal(tracks->processes[0].pid, 3);
	assert_int_equal(tracks->tracks[0].kind, TFP_TRACK_STREAM);
	close_built(&o);
}

static void test_host_planes_that_nobody_merged(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	builder_event(builder_line(builder_plane(b, 1, "/host:python-tracer"), 42, "p", 0), "$f", 0,
		      1);
	builder_event(builder_line(builder_plane(b, 0, "/host:CPU"), 42, "python", 0), "e", 0, 1);
	struct opened o = open_built(b);
	const struct tfp_tracks *tracks = tracks_of(&o);
	assert_int_equal(tracks->process_count, 1);
	assert_int_equal(tracks->processes[0].pid, 701);
	assert_int_equal(tracks->track_count, 2);
	assert_int_equal(tracks->tracks[0].tid, 42);
	assert_int_equal(tracks->tracks[1].tid, 42);
	close_built(&o);
}

static void test_order_and_kinds_of_lines(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_plane *host = builder_plane(b, 1, "/host:CPU");
	(void)state;
	static const struct {
		int64_t id;
		const char *name;
	} lines[] = {{20, "Stream #20"},
		     {0xdeadbefe, "XLA Ops - from #7"},
		     {0xdeadbef4, "XLA Modules - from #20"},
		     {7, "Stream #7"},
		     {0xdeadbeef, "Steps"}};
	for (size_t i = 0; i < COUNT(lines); i++)
		builder_event(builder_line(gpu, lines[i].id, lines[i].name, 0), "e", 0, 1);
	builder_line(gpu, 5, "empty", 0);
	builder_event(builder_line(gpu, 6, "counters_old", 0), "e", 0, 1);
	builder_event(builder_line(host, 9, "worker", 0), "e", 0, 1);
	struct builder_line *wide = builder_line(host, (INT64_C(1) << 32) + 3, "n", 0);
	builder_line_display(wide, 0, "main");
	builder_event(wide, "e", 0, 1);
	builder_line_display(wide = builder_line(host, 1, "n", 0), -1, "minus");
	builder_event(wide, "e", 0, 1);
	struct opened o = open_built(b);
	const struct tfp_tracks *tracks = tracks_of(&o);
	assert_tracks(tracks, 0,
		      (const char *const[]){"Steps", "Stream #7", "XLA Ops - from #7", "Stream #20",
					    "XLA Modules - from #20"},
		      5);
	assert_tracks(tracks, 1, (const char *const[]){"worker", "main", "minus"}, 3);
	static const enum tfp_track_kind kinds[] = {TFP_TRACK_DERIVED, TFP_TRACK_STREAM,
						    TFP_TRACK_DERIVED, TFP_TRACK_STREAM,
						    TFP_TRACK_DERIVED, TFP_TRACK_THREAD};
	for (size_t i = 0; i < COUNT(kinds); i++)
		assert_int_equal(tracks->tracks[i].kind, kinds[i]);
	assert_int_equal(tracks->tracks[0].tid, 3735928559u);
	assert_int_equal(tracks->tracks[6].tid, 3);
	assert_int_equal(tracks->tracks[7].tid, UINT32_MAX);
	close_built(&o);
}

static void test_counters_by_name(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *line = builder_line(p, 1, "_counters_", 1);
	(void)state;
	builder_event(line, "power", 0, 0);
	builder_event(line, "clock", 5, 0);
	builder_event(line, "power", 70, 0);
	struct opened o = open_built(b);
	const struct tfp_tracks *tracks = tracks_of(&o);
	assert_tracks(tracks, 0, (const char *const[]){"power", "clock"}, 2);
	assert_int_equal(tracks->tracks[0].kind, TFP_TRACK_COUNTER);
	assert_int_equal(tracks->tracks[0].event_count, 2);
	assert_int_equal(tracks->tracks[0].begin_ps, 1000);
	assert_int_equal(tracks->tracks[0].end_ps, 1070);
	assert_int_equal(tracks->tracks[1].event_count, 1);
	assert_int_equal(tracks->tracks[1].begin_ps, 1005);
	close_built(&o);
}

static void test_extent_without_what_is_hidden(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "/host:CPU");
	struct builder_plane *task = builder_plane(b, 9, "Task Environment");
	struct builder_line *line = builder_line(p, 1, "t", 2);
	(void)state;
	builder_stat_uint(builder_plane_stats(task), "profile_start_time", 1699381139000000000u);
	builder_event(line, "MemoryAllocation", 0, 0);
	builder_event(line, "long", 100, 900);
	builder_event(line, "short", 200, 5);
	builder_event(line, "PrefetchProduce", 99999, 5);
	builder_event(line, "ParallelBatchProduce", 500, 5);
	struct opened o = open_built(b);
	const struct tfp_tracks *tracks = tracks_of(&o);
	assert_int_equal(tracks->event_count, 3);
	assert_int_equal(tracks->tracks[0].event_count, 3);
	assert_int_equal(tracks->begin_ps, 2100);
	assert_int_equal(tracks->end_ps, 3000);
	assert_int_equal(tracks->profile_start_ns, 1699381139000000000u);
	close_built(&o);
}

static void test_nothing(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	builder_plane(b, 0, "/host:CPU");
	struct opened o = open_built(b);
	const struct tfp_tracks *tracks = tracks_of(&o);
	assert_int_equal(tracks->process_count, 0);
	assert_int_equal(tracks->event_count, 0);
	assert_int_equal(tracks->profile_start_ns, 0);
	close_built(&o);
}

static void test_internal_names(void **state)
{
	(void)state;
	assert_true(tfp_event_name_is_internal(str_of("ParseExampleConsume")));
	assert_true(tfp_event_name_is_internal(str_of("MapAndBatchProduce")));
	assert_false(tfp_event_name_is_internal(str_of("ParallelBatchConsume")));
	assert_false(tfp_event_name_is_internal(str_of("")));
	assert_true(tfp_stat_name_is_internal(str_of("_ct")));
	assert_true(tfp_stat_name_is_internal(str_of("program_id")));
	assert_false(tfp_stat_name_is_internal(str_of("_a")));
	assert_false(tfp_stat_name_is_internal(str_of("kernel_details")));
}

/* A raw capture with a step, whose line is derived. */
static void test_lines_of_the_file_first(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *host = builder_line(builder_plane(b, 1, "/host:CPU"), 1, "main", 0);
	const struct tfp_tracks *file;
	struct tfp_error err;
	(void)state;
	struct builder_stats *e = builder_event(host, "train", 0, 1000);
	builder_stat_int(e, "_r", 1);
	builder_stat_int(e, "step_num", 3);
	builder_stat_uint(builder_event(host, "launch", 10, 5), "correlation_id", 9);
	for (int stream = 20; stream > 10; stream -= 9) {
		e = builder_event(builder_line(gpu, stream, stream > 11 ? "b" : "a", 0), "kernel",
				  50 * stream, 20);
		builder_stat_uint(e, "correlation_id", 9);
	}
	struct opened o = open_built(b);
	const struct tfp_tracks *all = tracks_of(&o);
	assert_int_equal(tfp_file_tracks_get(o.capture, NULL, &file, &err), TFP_OK);
	assert_int_equal(file->track_count, 3);
	assert_int_equal(file->file_track_count, 3);
	assert_int_equal(all->file_track_count, 3);
	assert_true(all->track_count > 3);
	assert_int_equal(all->process_count, file->process_count);
	for (uint32_t t = 0; t < all->track_count; t++) {
		assert_int_equal(all->tracks[t].capture == o.capture, t < 3);
		if (t < 3)
			assert_ptr_equal(all->tracks[t].line, file->tracks[t].line);
	}
	/* Shown in their places: the device's steps above its streams. */
	const struct tfp_process *device = &all->processes[0];
	assert_str(all->tracks[device->tracks[0]].name, "Steps");
	assert_true(device->tracks[0] >= 3);
	assert_tracks(file, 0, (const char *const[]){"a", "b"}, 2);
	assert_int_equal(all->begin_ps, file->begin_ps);
	assert_int_equal(all->end_ps, file->end_ps);
	close_built(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processes_and_their_numbers),
		cmocka_unit_test(test_tpu_where_there_is_no_gpu),
		cmocka_unit_test(test_host_planes_that_nobody_merged),
		cmocka_unit_test(test_order_and_kinds_of_lines),
		cmocka_unit_test(test_counters_by_name),
		cmocka_unit_test(test_extent_without_what_is_hidden),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_internal_names),
		cmocka_unit_test(test_lines_of_the_file_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
