/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that are wrong: read as far as they go, said where, never a crash. */
#include "testing.h"

#include "base/utf8.h"
#include "fuzz.h"
#include "store/capture_parts.h"
#include "support/sample_capture.h"

#include <sys/mman.h>
#include <unistd.h>

static enum tfp_status open_bytes(const void *bytes, size_t size, struct tfp_capture **capture,
				  struct tfp_error *err)
{
	return tfp_capture_from_bytes(capture, bytes, size, "a.xplane.pb", NULL, err);
}

static void assert_no_capture(const void *bytes, size_t size, uint64_t offset)
{
	struct tfp_capture *capture;
	struct tfp_error err;
	assert_int_equal(open_bytes(bytes, size, &capture, &err), TFP_BAD_INPUT);
	assert_null(capture);
	assert_string_equal(err.file, "a.xplane.pb");
	assert_int_equal(err.offset, offset);
	assert_true(err.message[0] != '\0');
	assert_true(err.hint[0] != '\0');
}

#define NO_CAPTURE(text, offset) assert_no_capture(text, sizeof(text) - 1, offset)

static void test_what_is_no_capture(void **state)
{
	(void)state;
	NO_CAPTURE("", 0);
	NO_CAPTURE("{\"traceEvents\": []}", 2);     /* group 15, in it a text of 116 bytes */
	NO_CAPTURE("<!DOCTYPE html>\n", 1);         /* the end of group 7 */
	NO_CAPTURE("\x1f\x8b\x08\0\0\0\0\0", 0);    /* gzip: wire type 7 */
	NO_CAPTURE("\x28\xb5\x2f\xfd", 3);          /* zstd: a number, and a tag without end */
	NO_CAPTURE("PK\x03\x04 a zip", 2);          /* a number, and field 0 */
	NO_CAPTURE("\x0a\xff\xff\xff\x7f\x0f!", 5); /* a plane of 256 MiB, damaged inside */
	NO_CAPTURE("\x08\x05", 0);                  /* sound, but nothing of it is ours */
	NO_CAPTURE("\0\0\0\0", 0);
}

static void test_hint_for_a_file_repaired_as_text(void **state)
{
	static const char text[] =
		"\x0a\xef\xbf\xbd\xef\xbf\xbd\x0f\x12\x09/host:CPU\x0f\xef\xbf\xbd"
		"\xef\xbf\xbd";
	struct tfp_capture *capture;
	struct tfp_error err;
	(void)state;
	assert_int_equal(open_bytes(text, sizeof(text) - 1, &capture, &err), TFP_BAD_INPUT);
	assert_non_null(strstr(err.hint, "U+FFFD"));
	assert_non_null(strstr(err.hint, "binary"));
}

/* A capture of one plane, or of many, with so many empty fields in it. */
static enum tfp_status open_empties(uint8_t tag, size_t count, bool in_plane)
{
	struct tfp_capture *capture;
	struct tfp_error err;
	size_t size = 2 * count;
	uint8_t *bytes = malloc(8 + size), *at = bytes;
	assert_non_null(bytes);
	if (in_plane) {
		*at++ = 0x0a;
		for (size_t rest = size; rest || at == bytes + 1; rest >>= 7)
			*at++ = (uint8_t)((rest & 0x7f) | (rest >> 7 ? 0x80 : 0));
	}
	for (size_t i = 0; i < count; i++) {
		*at++ = tag;
		*at++ = 0;
	}
	enum tfp_status status = open_bytes(bytes, (size_t)(at - bytes), &capture, &err);
	tfp_capture_unref(capture);
	free(bytes);
	return status;
}

static void test_more_than_any_profiler_writes(void **state)
{
	(void)state;
	assert_int_equal(open_empties(0x0a, TFP_MAX_PLANES, false), TFP_BAD_INPUT); /* all empty */
	assert_int_equal(open_empties(0x0a, TFP_MAX_PLANES + 1, false), TFP_TOO_LARGE);
	assert_int_equal(open_empties(0x1a, 1000, true), TFP_OK);
	assert_int_equal(open_empties(0x1a, TFP_MAX_LINES + 1, true), TFP_TOO_LARGE);
	assert_int_equal(open_empties(0x22, 1000, true), TFP_OK);
	assert_int_equal(open_empties(0x22, TFP_MAX_METAS + 1, true), TFP_TOO_LARGE);
	assert_int_equal(open_empties(0x2a, TFP_MAX_METAS + 1, true), TFP_TOO_LARGE);
}

static void test_an_empty_plane_is_a_capture(void **state)
{
	struct tfp_capture *capture;
	struct tfp_error err;
	(void)state;
	assert_int_equal(open_bytes("\x0a\x03\x12\x01p", 5, &capture, &err), TFP_OK);
	assert_int_equal(capture->plane_count, 1);
	tfp_capture_unref(capture);
	/* And so is one that says only what went wrong. */
	assert_int_equal(open_bytes("\x12\x02no", 4, &capture, &err), TFP_OK);
	assert_int_equal(capture->error_count, 1);
	tfp_capture_unref(capture);
}

static const struct tfp_diagnostic *only_diagnostic(const struct tfp_capture *capture)
{
	assert_int_equal(capture->diagnostic_count, 1);
	return &capture->diagnostics[0];
}

static bool is_whole(const struct tfp_capture *capture, const struct tfp_capture *whole)
{
	return capture->event_count == whole->event_count &&
	       capture->plane_count == whole->plane_count &&
	       capture->warning_count == whole->warning_count;
}

static void test_truncated_at_every_byte(void **state)
{
	(void)state;
	for (int device = SAMPLE_GPU; device <= SAMPLE_NO_DEVICE; device++) {
		struct opened o = open_built(sample_capture((enum sample_device)device));
		uint64_t events = 0;
		for (size_t size = 0; size < o.size; size++) {
			struct tfp_capture *capture;
			struct tfp_error err;
			/* Exactly that long, for the address sanitizer. */
			uint8_t *bytes = malloc(size ? size : 1);
			memcpy(bytes, o.bytes, size);
			if (open_bytes(bytes, size, &capture, &err) == TFP_OK) {
				/* More of the file never shows less. */
				assert_true(capture->event_count >= events);
				events = capture->event_count;
				if (capture->diagnostic_count == 0)
					assert_true(capture->event_count < o.capture->event_count ||
						    capture->plane_count < o.capture->plane_count ||
						    size >= o.size - 40);
				fuzz_walk_capture(capture);
				fuzz_summarise(capture);
				tfp_capture_unref(capture);
			} else {
				assert_int_equal(err.status, TFP_BAD_INPUT);
				assert_true(err.offset <= size);
				/* One name of a plane is enough to go on with. */
				assert_true(size < 16);
			}
			free(bytes);
		}
		assert_true(events == o.capture->event_count);
		assert_true(is_whole(o.capture, o.capture));
		close_built(&o);
	}
}

static void test_every_byte_changed(void **state)
{
	static const uint8_t changes[] = {0xff, 0x80, 0x01, 0x7f};
	struct opened o = open_built(sample_capture(SAMPLE_GPU));
	uint8_t *bytes = malloc(o.size);
	(void)state;
	memcpy(bytes, o.bytes, o.size);
	for (size_t i = 0; i < o.size; i++) {
		for (size_t c = 0; c < COUNT(changes); c++) {
			struct tfp_capture *capture;
			struct tfp_error err;
			bytes[i] = o.bytes[i] ^ changes[c];
			if (open_bytes(bytes, o.size, &capture, &err) == TFP_OK) {
				fuzz_walk_capture(capture);
				if (c == 0)
					fuzz_summarise(capture);
				tfp_capture_unref(capture);
			} else {
				assert_int_equal(err.status, TFP_BAD_INPUT);
			}
		}
		bytes[i] = o.bytes[i];
	}
	free(bytes);
	close_built(&o);
}

/* A plane "p" of a line "l" with two events and something bad after them, then
 * another plane. offset is where in raw the damage is. */
static struct opened with_bad_line(const void *raw, size_t size, uint64_t *at)
{
	struct builder *b = builder_new();
	struct builder_line *l = builder_line(builder_plane(b, 0, "p"), 1, "l", 0);
	builder_event(l, "e", 1, 1);
	builder_event(l, "e", 2, 1);
	builder_raw_line(l, raw, size);
	builder_event(builder_line(builder_plane(b, 0, "q"), 1, "l", 0), "e", 1, 1);
	struct opened o = open_built(b);
	const uint8_t *found = memmem(o.bytes, o.size, raw, size);
	assert_non_null(found);
	*at = (uint64_t)(found - o.bytes);
	return o;
}

static void test_damage_within_a_line(void **state)
{
	static const struct {
		const char *raw;
		size_t size, offset;
		const char *words;
	} cases[] = {
		/* a length beyond the line's end */
		{"\x22\x7f\x08\x01", 4, 1, "beyond the end"},
		/* a varint of eleven bytes */
		{"\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, 1, "64-bit"},
		/* 64 bits are exceeded */
		{"\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11, 1, "64-bit"},
		/* wire type 7, and a field number of 0 */
		{"\x0f\x01\x01\x01", 4, 0, "impossible"},
		{"\x02\x01\x01\x01", 4, 0, "impossible"},
		/* the end of a group that did not begin */
		{"\x9c\x3f\x08\x01", 4, 2, "group"},
		/* the line ends inside a number */
		{"\xc0\x3e\x80\x80", 4, 2, "middle of a value"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t at;
		struct opened o = with_bad_line(cases[i].raw, cases[i].size, &at);
		const struct tfp_diagnostic *d = only_diagnostic(o.capture);
		assert_int_equal(d->severity, TFP_WARNING);
		assert_int_equal(d->offset, at + cases[i].offset);
		assert_non_null(strstr(d->message, cases[i].words));
		assert_non_null(strstr(d->message, "line \"l\" of plane \"p\""));
		assert_true(d->hint[0] != '\0');
		/* What stands before it and in other planes is there. */
		assert_int_equal(o.capture->planes[0].lines[0].event_count, 2);
		assert_int_equal(o.capture->planes[1].lines[0].event_count, 1);
		close_built(&o);
	}
}

static void test_damaged_events_are_left_out_and_counted(void **state)
{
	/* A duration without end, and after it a sound event. */
	static const char raw[] =
		"\x22\x04\x08\x01\x18\x80\x22\x03\x08\x01\x0f\x22\x04\x08\x01\x10\x05";
	uint64_t at;
	struct opened o = with_bad_line(raw, sizeof(raw) - 1, &at);
	const struct tfp_diagnostic *d = only_diagnostic(o.capture);
	const struct tfp_line *line = &o.capture->planes[0].lines[0];
	(void)state;
	assert_non_null(strstr(d->message, "2 events"));
	assert_int_equal(d->offset, at + 5);
	assert_int_equal(line->event_count, 3);
	assert_int_equal(tfp_event_offset_ps(line, 2), 5);
	close_built(&o);
}

static void test_wrong_wire_types_are_unknown_fields(void **state)
{
	/* Of an event: metadata_id as text, offset as fixed64, stats as a number. */
	static const char event[] = "\x22\x12\x0a\x01x\x11"
				    "12345678\x20\x05\x10\x09\x08\x01";
	/* Of a line: id as text, name as a number, events as a number. */
	static const char line[] = "\x0a\x01y\x10\x07\x20\x03";
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 4, "p");
	struct builder_line *l = builder_line(p, 1, "l", 0);
	(void)state;
	builder_event(l, "e", 1, 1);
	builder_raw_line(l, event, sizeof(event) - 1);
	builder_raw_line(l, line, sizeof(line) - 1);
	/* Of a plane: id as text, name, lines and metadata as numbers. */
	builder_raw_plane(p, "\x0a\x01z\x10\x01\x18\x01\x20\x01\x28\x01\x30\x01", 13);
	builder_raw(b, "\x08\x01\x10\x01\x18\x01\x20\x01", 8);
	struct opened o = open_built(b);
	const struct tfp_plane *plane = &o.capture->planes[0];
	assert_int_equal(o.capture->diagnostic_count, 0);
	assert_int_equal(plane->id, 4);
	assert_str(plane->name, "p");
	assert_int_equal(plane->line_count, 1);
	assert_int_equal(plane->lines[0].id, 1);
	assert_str(plane->lines[0].name, "l");
	assert_int_equal(plane->lines[0].event_count, 2);
	assert_int_equal(tfp_event_offset_ps(&plane->lines[0], 1), 9);
	assert_str(tfp_event_meta(plane, &plane->lines[0], 1)->name, "e");
	close_built(&o);
}

static void test_damaged_metadata_is_left_out(void **state)
{
	/* An entry whose value has a name longer than itself. */
	static const char raw[] = "\x22\x08\x08\x09\x12\x04\x12\x09no";
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "p");
	(void)state;
	builder_event(builder_line(p, 1, "l", 0), "e", 1, 1);
	builder_raw_plane(p, raw, sizeof(raw) - 1);
	struct opened o = open_built(b);
	assert_non_null(strstr(only_diagnostic(o.capture)->message, "1 names of plane \"p\""));
	assert_int_equal(o.capture->planes[0].event_meta_count, 2);
	close_built(&o);
}

static void test_damaged_stats_end_the_walk(void **state)
{
	/* A stat with a number without end; then one that is sound. */
	static const char raw[] = "\x22\x03\x08\x01\x20";
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "p");
	struct builder_stats *e = builder_event(builder_line(p, 1, "l", 0), "e", 1, 1);
	struct tfp_stat stat;
	(void)state;
	builder_stat_int(e, "s", 1);
	builder_raw_stats(e, raw, sizeof(raw) - 1);
	builder_raw_stats(e, "\x80", 1);
	struct opened o = open_built(b);
	/* The event itself is damaged, so it is left out whole. */
	assert_int_equal(o.capture->event_count, 0);
	close_built(&o);

	b = builder_new();
	p = builder_plane(b, 0, "p");
	e = builder_event(builder_line(p, 1, "l", 0), "e", 1, 1);
	builder_stat_int(e, "s", 1);
	builder_raw_stats(e, "\x22\x03\x08\x01\x80", 5);
	builder_stat_int(e, "s", 2);
	o = open_built(b);
	assert_int_equal(o.capture->event_count, 1);
	struct tfp_stat_iter it = tfp_event_stats(&o.capture->planes[0].lines[0], 0);
	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(stat.int_value, 1);
	assert_false(tfp_stat_next(&it, &stat));
	close_built(&o);
}

static void test_damage_at_the_top(void **state)
{
	struct builder *b = builder_new();
	uint64_t at;
	(void)state;
	builder_plane(b, 0, "p");
	builder_hostname(b, "h");
	builder_raw(b, "\x07\x07\x07", 3);
	struct opened o = open_built(b);
	at = o.size - 3;
	assert_int_equal(only_diagnostic(o.capture)->offset, at);
	assert_int_equal(o.capture->plane_count, 1);
	close_built(&o);
}

static void test_a_plane_longer_than_the_file(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *l;
	(void)state;
	builder_event(builder_line(builder_plane(b, 0, "p"), 1, "l", 0), "e", 1, 1);
	/* 100 bytes are announced, and these are there: a name and a line with an event. */
	builder_raw(b, "\x0a\x64\x12\x01q\x1a\x30\x12\x01m\x22\x02\x08\x05", 14);
	struct opened o = open_built(b);
	assert_int_equal(o.capture->plane_count, 2);
	assert_str(o.capture->planes[1].name, "q");
	assert_int_equal(o.capture->planes[1].lines[0].event_count, 1);
	bool said = false;
	for (size_t i = 0; i < o.capture->diagnostic_count; i++)
		said |= strstr(o.capture->diagnostics[i].message,
			       "ends in the middle of plane \"q\"") != NULL;
	assert_true(said);
	close_built(&o);

	/* The same with nonsense inside: the length was never right. */
	b = builder_new();
	l = builder_line(builder_plane(b, 0, "p"), 1, "l", 0);
	builder_event(l, "e", 1, 1);
	builder_raw(b, "\x0a\x64\x12\x01q\x0f\x0f", 7);
	o = open_built(b);
	assert_int_equal(o.capture->plane_count, 1);
	assert_non_null(strstr(only_diagnostic(o.capture)->message, "left out"));
	close_built(&o);
}

static void test_diagnostics_are_bounded(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	for (int64_t i = 0; i < 100; i++)
		builder_event_id(builder_line(builder_plane(b, 0, "p"), 1, "l", 0), 99, 0, 1);
	struct opened o = open_built(b);
	assert_int_equal(o.capture->diagnostic_count, 32);
	assert_string_equal(o.capture->diagnostics[31].message, "and 69 more of the kind");
	close_built(&o);
}

static int write_file(const void *bytes, size_t size)
{
	int fd = memfd_create("test", 0);
	assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

struct seen {
	size_t planes, most;
};

static bool see(void *context, const struct tfp_plane *plane)
{
	struct seen *seen = context;
	assert_int_equal(plane->line_count, 0);
	seen->planes++;
	return seen->planes < seen->most;
}

static enum tfp_status peek(const void *bytes, size_t size, struct seen *seen,
			    struct tfp_error *err)
{
	int fd = write_file(bytes, size);
	enum tfp_status status = tfp_capture_peek(fd, "f", TFP_PLAIN, 0, NULL, see, seen, err);
	close(fd);
	return status;
}

static void test_peek(void **state)
{
	struct opened o = open_built(sample_capture(SAMPLE_GPU));
	struct tfp_error err;
	(void)state;
	for (size_t most = 1; most < 10; most++) {
		struct seen seen = {.most = most};
		assert_int_equal(peek(o.bytes, o.size, &seen, &err), TFP_OK);
		assert_int_equal(seen.planes, most < 4 ? most : 4);
	}
	for (size_t size = 0; size < o.size; size++) {
		struct seen seen = {.most = 10};
		if (peek(o.bytes, size, &seen, &err) != TFP_OK) {
			assert_int_equal(err.status, TFP_BAD_INPUT);
			assert_string_equal(err.file, "f");
			assert_true(size < 16);
		}
	}
	struct seen none = {.most = 10};
	assert_int_equal(peek("<html>", 6, &none, &err), TFP_BAD_INPUT);
	assert_int_equal(err.offset, 1);
	assert_int_equal(none.planes, 0);
	close_built(&o);
}

static void test_open_tells_the_file(void **state)
{
	struct tfp_capture *capture;
	struct tfp_error err;
	(void)state;
	int fd = write_file("", 0);
	assert_int_equal(
		tfp_capture_open(&capture, fd, "run/h.xplane.pb", TFP_PLAIN, 0, NULL, &err),
		TFP_BAD_INPUT);
	assert_string_equal(err.file, "run/h.xplane.pb");
	assert_int_equal(err.offset, 0);
	assert_non_null(strstr(err.message, "empty"));
	close(fd);
	fd = write_file("not gzip at all", 15);
	assert_int_equal(tfp_capture_open(&capture, fd, "g", TFP_GZIP, 1 << 20, NULL, &err),
			 TFP_BAD_INPUT);
	assert_string_equal(err.file, "g");
	assert_null(capture);
	close(fd);
	assert_int_equal(tfp_capture_open(&capture, fd, "closed", TFP_PLAIN, 0, NULL, &err),
			 TFP_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_capture),
		cmocka_unit_test(test_hint_for_a_file_repaired_as_text),
		cmocka_unit_test(test_more_than_any_profiler_writes),
		cmocka_unit_test(test_an_empty_plane_is_a_capture),
		cmocka_unit_test(test_truncated_at_every_byte),
		cmocka_unit_test(test_every_byte_changed),
		cmocka_unit_test(test_damage_within_a_line),
		cmocka_unit_test(test_damaged_events_are_left_out_and_counted),
		cmocka_unit_test(test_wrong_wire_types_are_unknown_fields),
		cmocka_unit_test(test_damaged_metadata_is_left_out),
		cmocka_unit_test(test_damaged_stats_end_the_walk),
		cmocka_unit_test(test_damage_at_the_top),
		cmocka_unit_test(test_a_plane_longer_than_the_file),
		cmocka_unit_test(test_diagnostics_are_bounded),
		cmocka_unit_test(test_peek),
		cmocka_unit_test(test_open_tells_the_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
