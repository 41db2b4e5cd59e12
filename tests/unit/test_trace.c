/* SPDX-License-Identifier: Apache-2.0 */
/* The trace viewer's answers about small captures, worked out by hand. */
#include "testing.h"

#include "base/alloc.h"
#include "base/progress.h"

#include "trace/trace.h"
#include "trace/trace_hits.h"

#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a run of one or two hosts ---- */

struct lived {
	char folder[64];
	struct tfp_logdir *dir;
	struct tfp_capture_cache *cache;
	const struct tfp_logdir_snapshot *snapshot;
	struct tfp_session session;
	size_t hosts;
};

static void path_of(const struct lived *l, size_t parts, size_t host, char *out, size_t size)
{
	static const char *const names[] = {"", "/plugins", "/plugins/profile",
					    "/plugins/profile/run"};
	if (parts < COUNT(names))
		snprintf(out, size, "%s%s", l->folder, names[parts]);
	else
		snprintf(out, size, "%s%s/h%zu.xplane.pb", l->folder, names[3], host);
}

/* Takes the builders; b may be NULL. */
static struct lived live(struct builder *a, struct builder *b)
{
	struct builder *const builders[] = {a, b};
	struct lived l = {.folder = "/tmp/tfprof-test-XXXXXX"};
	struct tfp_error err;
	char path[256];
	assert_non_null(mkdtemp(l.folder));
	for (size_t i = 1; i < 4; i++) {
		path_of(&l, i, 0, path, sizeof(path));
		assert_int_equal(mkdir(path, 0777), 0);
	}
	for (; l.hosts < 2 && builders[l.hosts]; l.hosts++) {
		path_of(&l, 4, l.hosts, path, sizeof(path));
		builder_write(builders[l.hosts], path);
		builder_free(builders[l.hosts]);
	}
	if (tfp_logdir_new(&l.dir, l.folder, 0, &err) != TFP_OK ||
	    tfp_capture_cache_new(&l.cache, l.dir, (uint64_t)1 << 30, NULL, &err) != TFP_OK ||
	    tfp_logdir_snapshot(l.dir, &l.snapshot, &err) != TFP_OK ||
	    tfp_session_init(&l.session, l.cache, NULL, NULL, &l.snapshot->runs[0], NULL, &err) !=
		    TFP_OK)
		fail_msg("%s", err.message);
	return l;
}

static void bury(struct lived *l)
{
	char path[256];
	tfp_logdir_snapshot_unref(l->snapshot);
	tfp_capture_cache_free(l->cache);
	tfp_logdir_free(l->dir);
	for (size_t h = 0; h < l->hosts; h++) {
		path_of(l, 4, h, path, sizeof(path));
		unlink(path);
	}
	for (size_t i = 4; i-- > 0;) {
		path_of(l, i, 0, path, sizeof(path));
		rmdir(path);
	}
}

/* ---- asking ---- */

/* One of the functions that answer. */
#define ANSWER(name)                                                                               \
	enum tfp_status (*name)(const struct tfp_session *, const struct tfp_query *,              \
				struct tfp_buf *, struct tfp_error *)

/* params: "key=value" texts, NULL at the end. */
static enum tfp_status ask(const struct lived *l, ANSWER(answer), const char *const *params,
			   json_t **out, struct tfp_error *err)
{
	struct tfp_param list[12];
	char texts[12][512];
	struct tfp_query query = {list, 0};
	struct tfp_buf json;
	json_error_t where;
	for (; params[query.count]; query.count++) {
		char *text = texts[query.count], *equals;
		snprintf(text, sizeof(texts[0]), "%s", params[query.count]);
		equals = strchr(text, '=');
		*equals = '\0';
		list[query.count] = (struct tfp_param){text, equals + 1};
	}
	tfp_buf_init(&json, 1 << 26);
	*out = NULL;
	enum tfp_status status = answer(&l->session, &query, &json, err);
	if (status == TFP_OK) {
		*out = json_loads(tfp_buf_text(&json), JSON_DECODE_ANY, &where);
		if (!*out)
			fail_msg("%s in %.200s", where.text, tfp_buf_text(&json));
	}
	tfp_buf_release(&json);
	return status;
}

static json_t *get(const struct lived *l, ANSWER(answer), const char *const *params)
{
	struct tfp_error err;
	json_t *out;
	if (ask(l, answer, params, &out, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return out;
}

#define ASK(l, answer, ...) get(l, answer, (const char *const[]){__VA_ARGS__, NULL})
#define REFUSED(l, answer, code, ...)                                                              \
	do {                                                                                       \
		struct tfp_error refused_err;                                                      \
		json_t *refused_out;                                                               \
		assert_int_equal(ask(l, answer, (const char *const[]){__VA_ARGS__, NULL},          \
				     &refused_out, &refused_err),                                  \
				 code);                                                            \
	} while (0)

/* The answer as text with sorted keys, against what it should be; frees it. */
static void assert_json(json_t *json, const char *expected)
{
	json_error_t where;
	json_t *right = json_loads(expected, JSON_DECODE_ANY, &where);
	if (!right)
		fail_msg("%s in %s", where.text, expected);
	char *a = json_dumps(json, JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_COMPACT);
	char *b = json_dumps(right, JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_COMPACT);
	assert_string_equal(a, b);
	free(a);
	free(b);
	json_decref(right);
}

static void assert_part(json_t *json, const char *key, const char *expected)
{
	json_t *part = json_object_get(json, key);
	if (!part)
		fail_msg("no %s", key);
	assert_json(part, expected);
}

/* ---- a capture ---- */

/* Thread "main": outer 100-1100 holds inner 200-500 (holds leaf 250-350) and inner 600-700;
 * then outer 2000-2050 and nothing. Stream: gemm 300-900, copy 800-1000 beside it. All times
 * in ps from the first event, which begins at 100 ns. */
static struct builder *small(void)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *main = builder_line(host, 7, "main", 100);
	struct builder_line *stream = builder_line(gpu, 13, "Stream #13", 100);
	struct builder_line *counters = builder_line(gpu, 20, "_counters_", 100);
	builder_event(main, "outer", 0, 1000);
	struct builder_stats *inner = builder_event(main, "inner", 100, 300);
	builder_stat_str(inner, "shape", "(8, 128)<float32>");
	builder_stat_int(inner, "wide", INT64_MAX);
	builder_stat_int(inner, "_pt", 5);
	builder_stat_double(inner, "share", 0.1);
	builder_stat_ref(inner, "by", "a referred text");
	builder_stat_bytes(inner, "blob", "\0\1\2", 3);
	builder_event(main, "leaf", 150, 100);
	builder_event(main, "MemoryAllocation", 160, 10);
	builder_event(main, "inner", 500, 100);
	builder_event(main, "outer", 1900, 50);
	builder_metadata_display(host, "leaf", "a leaf <b>");
	builder_event(stream, "gemm", 200, 600);
	builder_event(stream, "MemcpyD2H", 700, 200);
	builder_stat_int(builder_event(counters, "power", 0, 0), "watts", 40);
	builder_stat_int(builder_event(counters, "power", 1000, 0), "watts", 70);
	return b;
}

static void test_tracks(void **state)
{
	struct lived l = live(small(), NULL);
	json_t *tracks = ASK(&l, tfp_trace_tracks_json, "run=run");
	json_t *quick = ASK(&l, tfp_trace_tracks_json, "run=run", "derived=0");
	(void)state;
	assert_part(tracks, "complete", "true");
	assert_part(quick, "complete", "false");
	assert_true(json_equal(json_object_get(quick, "processes"),
			       json_object_get(tracks, "processes")));
	json_decref(quick);
	REFUSED(&l, tfp_trace_tracks_json, TFP_BAD_QUERY, "run=run", "derived=2");
	assert_part(tracks, "duration_ps", "1950");
	assert_part(tracks, "events", "9");
	assert_part(tracks, "begin_ns", "null");
	assert_part(tracks, "alignment", "null");
	assert_part(tracks, "hosts",
		    "[{\"index\":0,\"host\":\"h0\",\"offset_ps\":0,\"aligned\":false}]");
	assert_part(
		tracks, "processes",
		"[{\"id\":\"0.1\",\"host\":0,\"pid\":1,\"name\":\"/"
		"device:GPU:0\",\"kind\":\"device\","
		"\"tracks\":["
		"{\"id\":\"0.0\",\"tid\":13,\"name\":\"Stream "
		"#13\",\"kind\":\"stream\",\"events\":2,"
		"\"depth\":2,\"begin_ps\":200,\"end_ps\":900},"
		"{\"id\":\"0.1\",\"tid\":20,\"name\":\"power\",\"kind\":\"counter\",\"events\":2,"
		"\"depth\":1,\"begin_ps\":0,\"end_ps\":1000,\"min\":40.0,\"max\":70.0}]},"
		"{\"id\":\"0.701\",\"host\":0,\"pid\":701,\"name\":\"/host:CPU\",\"kind\":\"host\","
		"\"tracks\":[{\"id\":\"0.2\",\"tid\":7,\"name\":\"main\",\"kind\":\"thread\","
		"\"events\":5,\"depth\":3,\"begin_ps\":0,\"end_ps\":1950}]}]");
	json_t *density = json_object_get(tracks, "density");
	assert_int_equal(json_array_size(json_object_get(density, "host")), 1000);
	/* The host is busy from 0 to 1000 of 1950, the device from 200 to 800. */
	json_t *host = json_object_get(density, "host");
	assert_int_equal(json_integer_value(json_array_get(host, 0)), 255);
	assert_int_equal(json_integer_value(json_array_get(host, 511)), 255);
	assert_int_equal(json_integer_value(json_array_get(host, 520)), 0);
	json_t *device = json_object_get(density, "device");
	assert_int_equal(json_integer_value(json_array_get(device, 100)), 0);
	assert_int_equal(json_integer_value(json_array_get(device, 104)), 255);
	json_decref(tracks);
	bury(&l);
}

static void test_tiles(void **state)
{
	struct lived l = live(small(), NULL);
	(void)state;
	/* Slots of 2 ps: nothing is merged. The second tile is 1024-2048. */
	json_t *tiles = ASK(&l, tfp_trace_tiles_json, "level=1", "tracks=0.2,0.1");
	assert_part(tiles, "from_ps", "0");
	assert_part(tiles, "to_ps", "1024");
	assert_part(tiles, "slot_ps", "2");
	assert_part(tiles, "names", "[\"outer\",\"inner\",\"a leaf <b>\"]");
	assert_part(tiles, "categories", "[3,3,3]");
	assert_part(tiles, "events", "6");
	assert_part(
		tiles, "tracks",
		"[{\"id\":\"0.2\",\"slot_ps\":2,\"start\":[0,100,400,150],"
		"\"duration\":[1000,300,100,100],\"depth\":[[0,1],[1,2],[2,1]],"
		"\"name\":[0,1,1,2],\"event\":[0,1,3,2],\"merged\":[],\"count\":[],\"busy\":[],"
		"\"events\":4,\"before\":0},"
		"{\"id\":\"0.1\",\"slot_ps\":2,\"time\":[0,1000],\"min\":[40,70],\"max\":[40,70],"
		"\"last\":[40,70],\"count\":[1,1],\"events\":2,\"before\":0}]");
	json_decref(tiles);
	/* Slots of 512: outer and outer, inner with inner, the leaf. */
	tiles = ASK(&l, tfp_trace_tiles_json, "level=9", "tracks=0.2", "tile=0");
	assert_part(tiles, "shown", "4");
	json_decref(tiles);
	/* Slots of 1024: inner and inner are one stretch, from 100 to 600; its ends go outward to
	 * multiples of 64. outer at 0 is 1000 long, shorter than a slot, but alone in it. */
	tiles = ASK(&l, tfp_trace_tiles_json, "level=10", "tracks=0.2");
	assert_part(tiles, "tracks",
		    "[{\"id\":\"0.2\",\"slot_ps\":1024,\"start\":[0,1900,64,150],"
		    "\"duration\":[1000,50,576,100],\"depth\":[[0,2],[1,1],[2,1]],"
		    "\"name\":[0,0,1,2],\"event\":[0,5,1,2],\"merged\":[2],\"count\":[2],"
		    "\"busy\":[400],\"events\":5,\"before\":0}]");
	json_decref(tiles);
	/* From 512 on: outer reaches in, inner at 500 too. */
	tiles = ASK(&l, tfp_trace_tiles_json, "level=0", "tile=1", "tiles=2", "tracks=0.2,0.1");
	assert_part(
		tiles, "tracks",
		"[{\"id\":\"0.2\",\"slot_ps\":1,\"start\":[0,500],\"duration\":[1000,100],"
		"\"depth\":[[0,1],[1,1]],\"name\":[0,1],\"event\":[0,4],\"merged\":[],"
		"\"count\":[],\"busy\":[],\"events\":0,\"before\":2},"
		"{\"id\":\"0.1\",\"slot_ps\":1,\"time\":[0,1000],\"min\":[40,70],\"max\":[40,70],"
		"\"last\":[40,70],\"count\":[0,1],\"events\":1,\"before\":1}]");
	json_decref(tiles);
	REFUSED(&l, tfp_trace_tiles_json, TFP_BAD_QUERY, "tile=0");
	REFUSED(&l, tfp_trace_tiles_json, TFP_BAD_QUERY, "level=54");
	REFUSED(&l, tfp_trace_tiles_json, TFP_BAD_QUERY, "level=10", "tiles=17");
	REFUSED(&l, tfp_trace_tiles_json, TFP_BAD_QUERY, "level=53", "tile=18446744073709551615");
	REFUSED(&l, tfp_trace_tiles_json, TFP_BAD_QUERY, "level=53", "tracks=0");
	REFUSED(&l, tfp_trace_tiles_json, TFP_BAD_QUERY, "level=53", "tracks=0.1,");
	REFUSED(&l, tfp_trace_tiles_json, TFP_NOT_FOUND, "level=53", "tracks=0.3");
	REFUSED(&l, tfp_trace_tiles_json, TFP_NOT_FOUND, "level=53", "tracks=1.0");
	bury(&l);
}

/* A launch as TensorFlow 2.4 writes it: its own details are of memory that nobody wrote to.
 * Another launched nothing that is in the file. */
static void test_launch_details(void **state)
{
	static const char garbage[] = "regs:1885363264 shm:140039589713024 "
				      "grid:99839920,140039424170224,99839840 "
				      "block:140039741180448,0,140039741204646";
	static const char right[] = "regs:57 shm:0 grid:2,8,256 block:170,1,1";
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *main = builder_line(host, 7, "main", 100);
	struct builder_line *stream = builder_line(gpu, 13, "Stream #13", 100);
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct builder_stats *launch = builder_event(main, "pool", 100 * i, 50);
		builder_stat_int(launch, "correlation_id", 19 + i);
		builder_stat_str(launch, "kernel_details", garbage);
	}
	struct builder_stats *kernel = builder_event(stream, "pool", 200, 600);
	builder_stat_int(kernel, "correlation_id", 19);
	builder_stat_str(kernel, "kernel_details", right);
	struct lived l = live(b, NULL);
	json_t *e = ASK(&l, tfp_trace_event_json, "id=0.1.0");
	assert_part(e, "args",
		    "[{\"name\":\"correlation_id\",\"value\":19},{\"name\":\"kernel_details\","
		    "\"value\":\"regs:57 shm:0 grid:2,8,256 block:170,1,1\"}]");
	json_decref(e);
	e = ASK(&l, tfp_trace_event_json, "id=0.1.1");
	assert_part(e, "args", "[{\"name\":\"correlation_id\",\"value\":20}]");
	json_decref(e);
	e = ASK(&l, tfp_trace_event_json, "id=0.0.0");
	assert_part(e, "args",
		    "[{\"name\":\"correlation_id\",\"value\":19},{\"name\":\"kernel_details\","
		    "\"value\":\"regs:57 shm:0 grid:2,8,256 block:170,1,1\"}]");
	json_decref(e);
	e = ASK(&l, tfp_trace_search_json, "q=regs", "in=args");
	assert_part(e, "total", "1");
	json_decref(e);
	bury(&l);
}

static void test_event(void **state)
{
	struct lived l = live(small(), NULL);
	json_t *e = ASK(&l, tfp_trace_event_json, "id=0.2.1");
	(void)state;
	assert_part(e, "name", "\"inner\"");
	assert_part(e, "process", "\"/host:CPU\"");
	assert_part(e, "track_name", "\"main\"");
	assert_part(e, "start_ps", "100");
	assert_part(e, "duration_ps", "300");
	assert_part(e, "self_ps", "200");
	assert_part(e, "depth", "1");
	assert_part(e, "category", "3");
	assert_part(e, "step", "null");
	assert_part(e, "parent", "\"0.2.0\"");
	assert_part(e, "children", "1");
	assert_part(e, "first_child", "\"0.2.2\"");
	assert_part(e, "previous", "null");
	assert_part(e, "next", "\"0.2.4\"");
	assert_part(e, "args",
		    "[{\"name\":\"shape\",\"value\":\"(8, 128)<float32>\"},"
		    "{\"name\":\"wide\",\"value\":\"9223372036854775807\"},"
		    "{\"name\":\"share\",\"value\":0.1},"
		    "{\"name\":\"by\",\"value\":\"a referred text\"},"
		    "{\"name\":\"blob\",\"value\":null,\"bytes\":3}]");
	json_decref(e);
	e = ASK(&l, tfp_trace_event_json, "id=0.2.2");
	assert_part(e, "name", "\"a leaf <b>\"");
	assert_part(e, "long_name", "\"leaf\"");
	json_decref(e);
	e = ASK(&l, tfp_trace_event_json, "id=0.0.1");
	assert_part(e, "category", "6");
	assert_part(e, "depth", "1");
	assert_part(e, "parent", "null");
	json_decref(e);
	REFUSED(&l, tfp_trace_event_json, TFP_NOT_FOUND, "id=0.2.3"); /* hidden */
	REFUSED(&l, tfp_trace_event_json, TFP_NOT_FOUND, "id=0.2.99999999999");
	REFUSED(&l, tfp_trace_event_json, TFP_BAD_QUERY, "id=0.2");
	REFUSED(&l, tfp_trace_event_json, TFP_BAD_QUERY, "id=0.2.1,0.2.2");
	REFUSED(&l, tfp_trace_event_json, TFP_BAD_QUERY, "id=");
	bury(&l);
}

static void test_neighbours(void **state)
{
	struct lived l = live(small(), NULL);
	static const struct {
		const char *id, *direction, *expected;
	} cases[] = {
		{"id=0.2.0", "direction=next", "\"0.2.5\""},
		{"id=0.2.5", "direction=previous", "\"0.2.0\""},
		{"id=0.2.0", "direction=child", "\"0.2.1\""},
		{"id=0.2.2", "direction=parent", "\"0.2.1\""},
		{"id=0.2.1", "direction=same_name_next", "\"0.2.4\""},
		{"id=0.2.4", "direction=same_name_previous", "\"0.2.1\""},
		{"id=0.2.4", "direction=same_name_next", NULL},
		{"id=0.2.0", "direction=parent", NULL},
		{"id=0.2.2", "direction=child", NULL},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		json_t *e = ASK(&l, tfp_trace_neighbour_json, cases[i].id, cases[i].direction);
		if (cases[i].expected)
			assert_part(e, "id", cases[i].expected);
		else
			assert_true(json_is_null(e));
		json_decref(e);
	}
	REFUSED(&l, tfp_trace_neighbour_json, TFP_BAD_QUERY, "id=0.2.0", "direction=up");
	REFUSED(&l, tfp_trace_neighbour_json, TFP_BAD_QUERY, "id=0.2.0");
	bury(&l);
}

static void test_list(void **state)
{
	struct lived l = live(small(), NULL);
	/* 550 to 750: outer, gemm and inner reach in, the copy begins. */
	json_t *list = ASK(&l, tfp_trace_events_json, "from_ps=550", "to_ps=750");
	(void)state;
	assert_json(list,
		    "{\"total\":4,\"rows\":["
		    "{\"id\":\"0.2.0\",\"track\":\"0.2\",\"name\":\"outer\",\"start_ps\":0,"
		    "\"duration_ps\":1000,\"depth\":0},"
		    "{\"id\":\"0.0.0\",\"track\":\"0.0\",\"name\":\"gemm\",\"start_ps\":200,"
		    "\"duration_ps\":600,\"depth\":0},"
		    "{\"id\":\"0.2.4\",\"track\":\"0.2\",\"name\":\"inner\",\"start_ps\":500,"
		    "\"duration_ps\":100,\"depth\":1},"
		    "{\"id\":\"0.0.1\",\"track\":\"0.0\",\"name\":\"MemcpyD2H\",\"start_ps\":700,"
		    "\"duration_ps\":200,\"depth\":1}]}");
	json_decref(list);
	list = ASK(&l, tfp_trace_events_json, "from_ps=550", "to_ps=750", "offset=2", "limit=1");
	assert_part(list, "total", "4");
	assert_part(list, "rows",
		    "[{\"id\":\"0.2.4\",\"track\":\"0.2\",\"name\":\"inner\",\"start_ps\":500,"
		    "\"duration_ps\":100,\"depth\":1}]");
	json_decref(list);
	list = ASK(&l, tfp_trace_events_json, "offset=8");
	assert_part(list, "total", "9"); /* counters too, hidden ones not */
	assert_int_equal(json_array_size(json_object_get(list, "rows")), 1);
	json_decref(list);
	REFUSED(&l, tfp_trace_events_json, TFP_BAD_QUERY, "limit=2001");
	REFUSED(&l, tfp_trace_events_json, TFP_BAD_QUERY, "from_ps=2", "to_ps=1");
	bury(&l);
}

static void assert_hits(json_t *found, const char *tracks, const char *ids)
{
	json_t *hits = json_object_get(found, "hits"), *list = json_array();
	for (size_t i = 0; i < json_array_size(hits); i++)
		json_array_append(list, json_object_get(json_array_get(hits, i), "id"));
	assert_part(found, "tracks", tracks);
	assert_json(list, ids);
	json_decref(list);
	json_decref(found);
}

/* Names on which "^(a+)+$" takes more steps than one may. */
static struct builder *costly_names(int count)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "t", 0);
	for (int i = 0; i < count; i++) {
		char name[80];
		snprintf(name, sizeof(name),
			 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%d", i);
		builder_event(line, name, i * 100, 50);
	}
	return b;
}

static void test_costly_search(void **state)
{
	struct lived l = live(costly_names(200), NULL);
	(void)state;
	json_t *found = ASK(&l, tfp_trace_search_json, "q=^(a+)+$", "mode=regex");
	assert_int_equal(json_integer_value(json_object_get(found, "gave_up")), 200);
	json_decref(found);
	bury(&l);
	l = live(costly_names(201), NULL);
	REFUSED(&l, tfp_trace_search_json, TFP_TOO_LARGE, "q=^(a+)+$", "mode=regex");
	bury(&l);
}

/* Nobody waits any more when it has begun. */
static void test_search_that_nobody_wants(void **state)
{
	struct lived l = live(costly_names(150), NULL);
	struct tfp_progress job = {0};
	struct tfp_error err;
	json_t *found;
	(void)state;
	json_decref(ASK(&l, tfp_trace_search_json, "q=none")); /* all facts are there */
	atomic_store(&job.unwanted, true);
	tfp_progress_enter(&job);
	enum tfp_status status =
		ask(&l, tfp_trace_search_json,
		    (const char *const[]){"q=^(a+)+$", "mode=regex", NULL}, &found, &err);
	tfp_progress_enter(NULL);
	assert_int_equal(status, TFP_CANCELLED);
	bury(&l);
}

static void test_search(void **state)
{
	struct lived l = live(small(), NULL);
	(void)state;
	assert_hits(
		ASK(&l, tfp_trace_search_json, "q=E"),
		"[{\"id\":\"0.0\",\"count\":2},{\"id\":\"0.1\",\"count\":2},"
		"{\"id\":\"0.2\",\"count\":5}]",
		"[\"0.1.0\",\"0.2.0\",\"0.2.1\",\"0.2.2\",\"0.0.0\",\"0.2.4\",\"0.0.1\",\"0.1.1\","
		"\"0.2.5\"]");
	assert_hits(ASK(&l, tfp_trace_search_json, "q=E", "case=1"), "[]", "[]");
	assert_hits(ASK(&l, tfp_trace_search_json, "q=^(in|out)er$", "mode=regex", "offset=1",
			"limit=2", "tracks=0.2"),
		    "[{\"id\":\"0.2\",\"count\":2}]", "[\"0.2.5\"]");
	assert_hits(ASK(&l, tfp_trace_search_json, "q=^(inn|out)er$", "mode=regex", "offset=1",
			"limit=2"),
		    "[{\"id\":\"0.2\",\"count\":4}]", "[\"0.2.1\",\"0.2.4\"]");
	assert_hits(ASK(&l, tfp_trace_search_json, "q=inner", "from_ps=101"),
		    "[{\"id\":\"0.2\",\"count\":1}]", "[\"0.2.4\"]");
	/* Arguments: a text, a referred one, numbers, the name that is not shown; not internal
	 * ones. */
	assert_hits(ASK(&l, tfp_trace_search_json, "q=FLOAT", "in=args"),
		    "[{\"id\":\"0.2\",\"count\":1}]", "[\"0.2.1\"]");
	assert_hits(ASK(&l, tfp_trace_search_json, "q=referred", "in=args"),
		    "[{\"id\":\"0.2\",\"count\":1}]", "[\"0.2.1\"]");
	assert_hits(ASK(&l, tfp_trace_search_json, "q=70", "in=args"),
		    "[{\"id\":\"0.1\",\"count\":1}]", "[\"0.1.1\"]");
	assert_hits(ASK(&l, tfp_trace_search_json, "q=^0.1$", "in=args", "mode=regex"),
		    "[{\"id\":\"0.2\",\"count\":1}]", "[\"0.2.1\"]");
	assert_hits(ASK(&l, tfp_trace_search_json, "q=^leaf", "in=args", "mode=regex"),
		    "[{\"id\":\"0.2\",\"count\":1}]", "[\"0.2.2\"]");
	assert_hits(ASK(&l, tfp_trace_search_json, "q=^5$", "in=args", "mode=regex"), "[]", "[]");
	assert_hits(ASK(&l, tfp_trace_search_json, "q=float|gemm", "in=all", "mode=regex"),
		    "[{\"id\":\"0.0\",\"count\":1},{\"id\":\"0.2\",\"count\":1}]",
		    "[\"0.2.1\",\"0.0.0\"]");
	assert_hits(ASK(&l, tfp_trace_search_json, "q=MemoryAllocation", "in=all"), "[]", "[]");
	/* How many begin in each third of 1951 ps, and of a part of that. */
	json_t *found = ASK(&l, tfp_trace_search_json, "q=e", "limit=1", "slots=3");
	assert_part(found, "density", "{\"from_ps\":0,\"to_ps\":1951,\"counts\":[6,2,1]}");
	json_decref(found);
	found = ASK(&l, tfp_trace_search_json, "q=e", "slots=2", "from_ps=150", "to_ps=1000");
	assert_part(found, "density", "{\"from_ps\":150,\"to_ps\":1000,\"counts\":[3,1]}");
	json_decref(found);
	REFUSED(&l, tfp_trace_search_json, TFP_BAD_QUERY, "q=e", "slots=8193");
	REFUSED(&l, tfp_trace_search_json, TFP_BAD_QUERY, "q=(", "mode=regex");
	REFUSED(&l, tfp_trace_search_json, TFP_BAD_QUERY, "q=a", "mode=glob");
	REFUSED(&l, tfp_trace_search_json, TFP_BAD_QUERY, "mode=text");
	bury(&l);
}

/* Ids by which profilers mark lines that they derived. */
enum { DERIVED_STEPS = -559038737, DERIVED_OPS = -559038730 };

/* f calls itself twice; two streams run beside each other and overlap; the file brings a line of
 * steps and two of ops that say the same of the streams in other words. */
static void test_sums_count_nothing_twice(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *main = builder_line(host, 7, "main", 0);
	struct builder_line *first = builder_line(gpu, 13, "Stream #13", 0);
	struct builder_line *second = builder_line(gpu, 14, "Stream #14", 0);
	struct builder_line *steps = builder_line(gpu, DERIVED_STEPS, "Steps", 0);
	struct builder_line *ops = builder_line(gpu, DERIVED_OPS, "TensorFlow Ops - from #13", 0);
	(void)state;
	builder_event(main, "f", 0, 100);
	builder_event(main, "f", 20, 40);
	builder_event(main, "g", 30, 10);
	builder_event(main, "f", 32, 5);
	builder_event(main, "f", 200, 50);
	/* 0-100 and 50-150, 120-140 beside them, 300-310: 160 in all, the sum is 230. */
	builder_event(first, "k", 0, 100);
	builder_event(first, "k", 50, 100);
	builder_event(first, "k", 300, 10);
	builder_event(second, "k", 120, 20);
	builder_event(steps, "1", 0, 310);
	builder_event(ops, "k", 0, 150);
	struct lived l = live(b, NULL);
	json_t *sums = ASK(&l, tfp_trace_aggregate_json, "run=run");
	assert_part(sums, "layers",
		    "[{\"layer\":\"\",\"tracks\":3},{\"layer\":\"Steps\",\"tracks\":1},"
		    "{\"layer\":\"TensorFlow Ops\",\"tracks\":1}]");
	assert_part(sums, "layer", "\"\"");
	assert_part(sums, "host_busy_ps", "150");
	assert_part(sums, "device_busy_ps", "160");
	assert_part(sums, "events", "9");
	assert_part(sums, "rows",
		    "[{\"name\":\"k\",\"category\":0,\"count\":4,\"total_ps\":230,"
		    "\"self_ps\":230,\"avg_ps\":57,\"min_ps\":10,\"max_ps\":100},"
		    "{\"name\":\"f\",\"category\":3,\"count\":4,\"total_ps\":150,"
		    "\"self_ps\":145,\"avg_ps\":48,\"min_ps\":5,\"max_ps\":100},"
		    "{\"name\":\"g\",\"category\":3,\"count\":1,\"total_ps\":10,"
		    "\"self_ps\":5,\"avg_ps\":10,\"min_ps\":10,\"max_ps\":10}]");
	json_decref(sums);
	/* From inside the inner f on: the outer f is open, and counts for both. */
	sums = ASK(&l, tfp_trace_aggregate_json, "from_ps=25", "to_ps=130", "tracks=0.4,0.1");
	assert_part(sums, "host_busy_ps", "75");
	assert_part(sums, "device_busy_ps", "105");
	assert_part(json_array_get(json_object_get(sums, "rows"), 1), "total_ps", "75");
	json_decref(sums);
	sums = ASK(&l, tfp_trace_aggregate_json, "layer=TensorFlow Ops");
	assert_part(sums, "events", "1");
	assert_part(sums, "device_busy_ps", "150");
	assert_part(sums, "host_busy_ps", "null");
	json_decref(sums);
	REFUSED(&l, tfp_trace_aggregate_json, TFP_NOT_FOUND, "layer=Steps", "tracks=0.4");
	bury(&l);
}

/* They are busy for no time, and do not keep sums from coming to an end. */
static void test_sums_of_events_without_length(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *main = builder_line(builder_plane(b, 0, "/host:CPU"), 7, "main", 0);
	(void)state;
	builder_event(main, "mark", 100, 0);
	builder_event(main, "f", 200, 50);
	builder_event(main, "mark", 303, 0);
	builder_event(main, "f", 400, 20);
	builder_event(main, "mark", 420, 0);
	struct lived l = live(b, NULL);
	json_t *sums = ASK(&l, tfp_trace_aggregate_json, "run=run");
	assert_part(sums, "host_busy_ps", "70");
	assert_part(sums, "events", "5");
	json_decref(sums);
	bury(&l);
}

static void test_aggregate(void **state)
{
	struct lived l = live(small(), NULL);
	(void)state;
	json_t *sums = ASK(&l, tfp_trace_aggregate_json, "tracks=0.2,0.1");
	/* outer 1000 + 50, less 300 + 100 of inner; inner 400 less 100 of the leaf. */
	assert_json(sums,
		    "{\"from_ps\":0,\"to_ps\":1951,\"layer\":\"\",\"layers\":[{\"layer\":\"\","
		    "\"tracks\":1}],\"host_busy_ps\":1050,\"device_busy_ps\":null,"
		    "\"events\":5,\"rows_total\":3,\"rows\":["
		    "{\"name\":\"outer\",\"category\":3,\"count\":2,\"total_ps\":1050,"
		    "\"self_ps\":650,\"avg_ps\":525,\"min_ps\":50,\"max_ps\":1000},"
		    "{\"name\":\"inner\",\"category\":3,\"count\":2,\"total_ps\":400,"
		    "\"self_ps\":300,\"avg_ps\":200,\"min_ps\":100,\"max_ps\":300},"
		    "{\"name\":\"a leaf <b>\",\"category\":3,\"count\":1,\"total_ps\":100,"
		    "\"self_ps\":100,\"avg_ps\":100,\"min_ps\":100,\"max_ps\":100}]}");
	json_decref(sums);
	/* Cut at 200 and 550: outer 350, inner 200 and 50, leaf 50; gemm 350. */
	sums = ASK(&l, tfp_trace_aggregate_json, "from_ps=200", "to_ps=550", "limit=3");
	assert_json(sums,
		    "{\"from_ps\":200,\"to_ps\":550,\"layer\":\"\",\"layers\":[{\"layer\":\"\","
		    "\"tracks\":2}],\"host_busy_ps\":350,\"device_busy_ps\":350,"
		    "\"events\":5,\"rows_total\":4,\"rows\":["
		    "{\"name\":\"gemm\",\"category\":0,\"count\":1,\"total_ps\":350,"
		    "\"self_ps\":350,\"avg_ps\":350,\"min_ps\":350,\"max_ps\":350},"
		    "{\"name\":\"outer\",\"category\":3,\"count\":1,\"total_ps\":350,"
		    "\"self_ps\":100,\"avg_ps\":350,\"min_ps\":350,\"max_ps\":350},"
		    "{\"name\":\"inner\",\"category\":3,\"count\":2,\"total_ps\":250,"
		    "\"self_ps\":200,\"avg_ps\":125,\"min_ps\":50,\"max_ps\":200}]}");
	json_decref(sums);
	bury(&l);
}

/* ---- categories ---- */

/* XLA calls a thread's op, the launch within it and the kernel alike. */
static struct builder *one_name(void)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *thread = builder_line(host, 7, "python", 0);
	struct builder_line *stream = builder_line(gpu, 13, "Stream #13", 0);
	builder_event(thread, "fusion", 0, 100);
	builder_stat_int(builder_event(thread, "fusion", 10, 20), "correlation_id", 4);
	builder_event(thread, "fusion", 200, 100);
	builder_stat_int(builder_event(thread, "fusion", 210, 20), "correlation_id", 5);
	/* No launch: the peers take a negative number for none. */
	builder_stat_int(builder_event(thread, "fusion", 400, 40), "correlation_id", -1);
	builder_stat_int(builder_event(stream, "fusion", 50, 70), "correlation_id", 4);
	builder_event(stream, "MemcpyH2D", 200, 10);
	return b;
}

static json_int_t category_in_tile(json_t *tile, json_t *track, size_t entry)
{
	json_int_t name = json_integer_value(json_array_get(json_object_get(track, "name"), entry));
	return json_integer_value(
		json_array_get(json_object_get(tile, "categories"), (size_t)name));
}

static void test_categories(void **state)
{
	struct lived l = live(one_name(), NULL);
	(void)state;
	/* Thread: what lies outermost, then within. device_compute 0, host_compute 3,
	 * kernel_launch 4, input 5. */
	static const struct {
		const char *id;
		json_int_t category;
	} right[] = {{"id=0.1.0", 3}, {"id=0.1.2", 3}, {"id=0.1.4", 3}, {"id=0.1.1", 4},
		     {"id=0.1.3", 4}, {"id=0.0.0", 0}, {"id=0.0.1", 5}};
	json_t *tile = ASK(&l, tfp_trace_tiles_json, "level=0", "tracks=0.1,0.0");
	json_t *thread = json_array_get(json_object_get(tile, "tracks"), 0);
	json_t *stream = json_array_get(json_object_get(tile, "tracks"), 1);
	assert_part(thread, "depth", "[[0,3],[1,2]]");
	for (size_t i = 0; i < COUNT(right); i++) {
		json_t *event = ASK(&l, tfp_trace_event_json, right[i].id);
		assert_int_equal(json_integer_value(json_object_get(event, "category")),
				 right[i].category);
		json_decref(event);
		assert_int_equal(category_in_tile(tile, i < 5 ? thread : stream, i < 5 ? i : i - 5),
				 right[i].category);
	}
	json_decref(tile);
	json_t *sums = ASK(&l, tfp_trace_aggregate_json, "tracks=0.1");
	assert_part(sums, "rows",
		    "[{\"name\":\"fusion\",\"category\":3,\"count\":3,\"total_ps\":240,"
		    "\"self_ps\":200,\"avg_ps\":80,\"min_ps\":40,\"max_ps\":100},"
		    "{\"name\":\"fusion\",\"category\":4,\"count\":2,\"total_ps\":40,"
		    "\"self_ps\":40,\"avg_ps\":20,\"min_ps\":20,\"max_ps\":20}]");
	json_decref(sums);
	bury(&l);
}

/* ---- damaged times ---- */

static int64_t only_start(const struct lived *l, const char *id)
{
	json_t *e = ASK(l, tfp_trace_event_json, id);
	int64_t start = json_integer_value(json_object_get(e, "start_ps"));
	json_decref(e);
	return start;
}

static void assert_inside(json_t *json, json_int_t duration_ps)
{
	json_int_t begin = json_integer_value(json_object_get(json, "begin_ps"));
	json_int_t end = json_integer_value(json_object_get(json, "end_ps"));
	assert_true(begin >= 0 && begin < end && end <= duration_ps);
}

/* Lines further apart than picoseconds in 64 bits reach: their order is kept, nothing is before
 * the begin, and all answers have the same times. */
static void test_lines_far_apart(void **state)
{
	static const int64_t at_ns[] = {128, -INT64_MAX, INT64_MAX, INT64_MIN, 0};
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	(void)state;
	for (size_t i = 0; i < COUNT(at_ns); i++) {
		struct builder_line *line = builder_line(host, (int64_t)i + 1, "thread", at_ns[i]);
		builder_event(line, "e", 7, 10);
		builder_event(line, "e", 50, 10);
	}
	struct lived l = live(b, NULL);
	json_t *answer = ASK(&l, tfp_trace_tracks_json, "run=run");
	json_t *tracks =
		json_object_get(json_array_get(json_object_get(answer, "processes"), 0), "tracks");
	json_int_t duration = json_integer_value(json_object_get(answer, "duration_ps"));
	assert_int_equal(json_array_size(tracks), COUNT(at_ns));
	for (size_t i = 0; i < COUNT(at_ns); i++) {
		json_t *track = json_array_get(tracks, i);
		char id[32];
		assert_inside(track, duration);
		snprintf(id, sizeof(id), "id=0.%zu.0", i);
		assert_int_equal(only_start(&l, id),
				 json_integer_value(json_object_get(track, "begin_ps")));
		snprintf(id, sizeof(id), "id=0.%zu.1", i);
		assert_int_equal(only_start(&l, id),
				 json_integer_value(json_object_get(track, "end_ps")) - 10);
	}
	/* The earliest of all is where the trace begins. */
	assert_int_equal(only_start(&l, "id=0.1.0"), 0);
	assert_int_equal(only_start(&l, "id=0.3.0"), 0);
	assert_true(only_start(&l, "id=0.0.0") > 0);
	assert_true(only_start(&l, "id=0.2.0") >= only_start(&l, "id=0.0.0"));
	json_decref(answer);
	json_t *list = ASK(&l, tfp_trace_events_json, "run=run");
	assert_part(list, "total", "10");
	json_decref(list);
	bury(&l);
}

/* ---- several hosts ---- */

static struct builder *host_from(uint64_t start_ns, int64_t first_ps)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "t", 0);
	builder_event(line, "e", first_ps, 10);
	if (start_ns)
		builder_stat_uint(builder_plane_stats(builder_plane(b, 1, "Task Environment")),
				  "profile_start_time", start_ns);
	return b;
}

static void test_hosts_are_aligned(void **state)
{
	/* h0 begins 3 ns after h1, and its event 500 ps later: h1's is first at 2000 ps of its
	 * clock, h0's at 3000 + 500. */
	struct lived l = live(host_from(1003, 500), host_from(1000, 2000));
	json_t *tracks = ASK(&l, tfp_trace_tracks_json, "run=run");
	(void)state;
	assert_part(tracks, "begin_ns", "\"1002\"");
	assert_part(tracks, "alignment", "null");
	assert_part(tracks, "duration_ps", "1510");
	assert_part(tracks, "hosts",
		    "[{\"index\":0,\"host\":\"h0\",\"offset_ps\":3000,\"aligned\":true},"
		    "{\"index\":1,\"host\":\"h1\",\"offset_ps\":0,\"aligned\":true}]");
	assert_int_equal(only_start(&l, "id=0.0.0"), 1500);
	assert_int_equal(only_start(&l, "id=1.0.0"), 0);
	json_decref(tracks);
	/* One of them alone: ids stay, and so do times. */
	struct tfp_error err;
	assert_int_equal(
		tfp_session_init(&l.session, l.cache, NULL, NULL, &l.snapshot->runs[0], "h0", &err),
		TFP_OK);
	assert_int_equal(only_start(&l, "id=0.0.0"), 1500);
	REFUSED(&l, tfp_trace_event_json, TFP_NOT_FOUND, "id=1.0.0");
	tracks = ASK(&l, tfp_trace_tracks_json, "run=run");
	assert_part(tracks, "begin_ns", "\"1002\"");
	assert_part(tracks, "first_ps", "1500");
	assert_part(tracks, "duration_ps", "1510");
	json_decref(tracks);
	bury(&l);
}

static void test_hosts_that_do_not_say_when(void **state)
{
	struct lived l = live(host_from(0, 500), host_from(1000, 2000));
	json_t *tracks = ASK(&l, tfp_trace_tracks_json, "run=run");
	(void)state;
	assert_true(json_is_string(json_object_get(tracks, "alignment")));
	assert_part(tracks, "begin_ns", "null");
	assert_int_equal(only_start(&l, "id=0.0.0"), 0);
	assert_int_equal(only_start(&l, "id=1.0.0"), 0);
	json_decref(tracks);
	bury(&l);
}

static void test_a_host_that_cannot_be_read(void **state)
{
	struct builder *bad = builder_new();
	(void)state;
	builder_raw(bad, "\xff\xff\xff\xff", 4);
	struct lived l = live(host_from(1000, 500), bad);
	json_t *tracks = ASK(&l, tfp_trace_tracks_json, "run=run");
	json_t *host = json_array_get(json_object_get(tracks, "hosts"), 1);
	assert_true(json_is_string(json_object_get(host, "problem")));
	assert_part(tracks, "events", "1");
	json_decref(tracks);
	bury(&l);
}

/* ---- pages of very many hits ---- */

static int by_order(const void *a, const void *b)
{
	const struct tfp_hit *x = a, *y = b;
	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

static void test_pages_of_many(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "/host:CPU");
	const uint32_t per_track = 90000;
	uint64_t random = 88172645463325252u;
	(void)state;
	for (int t = 0; t < 3; t++) {
		struct builder_line *line = builder_line(p, t + 1, "t", 0);
		for (uint32_t i = 0; i < per_track; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			/* Most at one moment; the others here and there. */
			builder_event(line, random % 5 ? "yes" : "no",
				      random % 10 < 7 ? 123456 : (int64_t)(random >> 20) % 1000000,
				      0);
		}
	}
	struct lived l = live(b, NULL);
	struct tfp_trace trace;
	struct tfp_error err;
	struct tfp_query none = {0};
	struct tfp_trace_track *tracks;
	size_t count;
	assert_int_equal(tfp_trace_open(&l.session, &trace, &err), TFP_OK);
	assert_int_equal(tfp_trace_tracks(&trace, &none, 100, &tracks, &count, &err), TFP_OK);
	assert_int_equal(count, 3);
	struct tfp_hit_track list[3];
	struct tfp_hit *all = calloc((size_t)3 * per_track, sizeof(*all)), page[500];
	const struct tfp_plane *plane = tracks[0].track->plane;
	uint8_t wanted[3] = {0};
	size_t total = 0;
	for (size_t m = 0; m < plane->event_meta_count; m++)
		wanted[m] = tfp_str_equal(plane->event_metas[m].name, "yes");
	for (uint32_t t = 0; t < 3; t++) {
		list[t] = (struct tfp_hit_track){
			.track = tracks[t], .from = 0, .to = per_track, .by_meta = wanted};
		for (uint32_t e = 0; e < per_track; e++) {
			if (wanted[tfp_event_meta_index(tracks[t].track->line, e)])
				all[total++] =
					(struct tfp_hit){tfp_trace_start_ps(&tracks[t], e), t, e};
		}
	}
	qsort(all, total, sizeof(*all), by_order);
	assert_int_equal(tfp_hits_count(list, 3, NULL), total);
	const uint64_t offsets[] = {0,         1,      499,      1000,      total / 10,
				    total / 3, 100000, 131072,   total / 2, total - 7,
				    total - 1, total,  total + 5};
	for (size_t i = 0; i < COUNT(offsets); i++) {
		size_t found, expected = offsets[i] < total ? total - offsets[i] : 0;
		expected = expected > COUNT(page) ? COUNT(page) : expected;
		assert_int_equal(
			tfp_hits_page(list, 3, offsets[i], COUNT(page), NULL, page, &found, &err),
			TFP_OK);
		assert_int_equal(found, expected);
		for (size_t k = 0; k < found; k++) {
			assert_int_equal(page[k].start_ps, all[offsets[i] + k].start_ps);
			assert_int_equal(page[k].track, all[offsets[i] + k].track);
			assert_int_equal(page[k].event, all[offsets[i] + k].event);
		}
	}
	/* As many in each slot as there are, whatever does not divide evenly. */
	static const int64_t ends[][2] = {{0, 1000000}, {3, 999983}, {123456, 123457}, {5, 5}};
	for (size_t i = 0; i < COUNT(ends); i++) {
		enum { SLOTS = 997 };
		atomic_uint_least64_t counts[SLOTS] = {0};
		uint64_t right[SLOTS] = {0};
		const int64_t from = ends[i][0], to = ends[i][1];
		for (size_t k = 0; k < total; k++) {
			if (all[k].start_ps >= from && all[k].start_ps < to)
				right[(all[k].start_ps - from) * SLOTS / (to - from)]++;
		}
		tfp_hits_density(list, 3, from, to, SLOTS, NULL, counts);
		for (size_t k = 0; k < SLOTS; k++)
			assert_int_equal(atomic_load(&counts[k]), right[k]);
	}
	free(all);
	tfp_free(tracks);
	tfp_trace_release(&trace);
	bury(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tracks),
		cmocka_unit_test(test_tiles),
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_launch_details),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_costly_search),
		cmocka_unit_test(test_search_that_nobody_wants),
		cmocka_unit_test(test_sums_count_nothing_twice),
		cmocka_unit_test(test_sums_of_events_without_length),
		cmocka_unit_test(test_aggregate),
		cmocka_unit_test(test_categories),
		cmocka_unit_test(test_lines_far_apart),
		cmocka_unit_test(test_hosts_are_aligned),
		cmocka_unit_test(test_hosts_that_do_not_say_when),
		cmocka_unit_test(test_a_host_that_cannot_be_read),
		cmocka_unit_test(test_pages_of_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
