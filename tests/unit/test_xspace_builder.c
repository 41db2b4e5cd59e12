/* SPDX-License-Identifier: Apache-2.0 */
#include "support/pb_walk.h"
#include "support/xspace_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Fields of a message, in order, as digits: "2234". */
static void fields_of(struct pb_walk w, char *out, size_t room)
{
	size_t n = 0;

	while (pb_next(&w) && n + 1 < room)
		out[n++] = w.field < 10 ? (char)('0' + w.field) : '?';
	out[n] = '\0';
	assert_true(pb_good(&w));
}

static struct pb_walk find(struct pb_walk w, uint32_t field, unsigned index)
{
	while (pb_next(&w))
		if (w.field == field && index-- == 0)
			return w;
	fail_msg("no field %u", field);
	return w;
}

static void makes_an_ordinary_capture(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 3, "/device:GPU:3");
	struct builder_line *l = builder_line(p, 13, "Stream #13", 1000);
	struct builder_stats *e = builder_event(l, "kernel", 5, 7);
	struct pb_walk plane, line, event;
	char fields[64];
	uint8_t *bytes;
	size_t size;

	(void)state;
	builder_stat_uint(e, "correlation_id", 9);
	builder_stat_ref(e, "tf_op", "a/b:C");
	builder_stat_double(builder_plane_stats(p), "ratio", 0.5);
	builder_hostname(b, "here");
	bytes = builder_bytes(b, &size);
	fields_of(pb_walk(bytes, size), fields, sizeof(fields));
	assert_string_equal(fields, "14");
	plane = find(pb_walk(bytes, size), 1, 0);
	fields_of(pb_inside(&plane), fields, sizeof(fields));
	assert_string_equal(fields, "123455556");
	line = find(pb_inside(&plane), 3, 0);
	fields_of(pb_inside(&line), fields, sizeof(fields));
	assert_string_equal(fields, "1234");
	event = find(pb_inside(&line), 4, 0);
	fields_of(pb_inside(&event), fields, sizeof(fields));
	assert_string_equal(fields, "12344");
	event = find(pb_inside(&event), 4, 1);
	assert_int_equal(find(pb_inside(&event), 7, 0).value, builder_stat_name_id(p, "a/b:C"));
	free(bytes);
	builder_free(b);
}

static void makes_odd_captures(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "/host:CPU");
	struct builder_line *l = builder_line(p, 1, "t", 0);
	struct pb_walk plane, line;
	char fields[64];
	uint8_t *bytes;
	size_t size;

	(void)state;
	builder_metadata_first(p);
	builder_event_id(l, 99, 500, 0);
	builder_event_aggregated(l, "many", 12, 100);
	builder_event(l, "early", 1, 0);
	builder_event_metadata(p, 99, "late name");
	builder_event_metadata(p, 99, "later name");
	builder_event_metadata_key(p, false, 0, 7, "no key");
	builder_raw(b, "\x0a\x02\x12\x00", 4);
	bytes = builder_bytes(b, &size);
	plane = find(pb_walk(bytes, size), 1, 0);
	fields_of(pb_inside(&plane), fields, sizeof(fields));
	assert_string_equal(fields, "2444443");
	line = find(pb_inside(&plane), 3, 0);
	fields_of(pb_inside(&line), fields, sizeof(fields));
	assert_string_equal(fields, "12444");
	plane = find(pb_walk(bytes, size), 1, 1);
	assert_int_equal(plane.size, 2);
	free(bytes);
	builder_unknown_fields(b);
	bytes = builder_bytes(b, &size);
	plane = find(pb_walk(bytes, size), 1, 0);
	fields_of(pb_inside(&plane), fields, sizeof(fields));
	assert_string_equal(fields, "2444443?????");
	free(bytes);
	builder_free(b);
}

static void an_empty_capture_has_no_bytes(void **state)
{
	struct builder *b = builder_new();
	size_t size = 1;
	uint8_t *bytes = builder_bytes(b, &size);

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(size, 0);
	free(bytes);
	builder_free(b);
	builder_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_an_ordinary_capture),
		cmocka_unit_test(makes_odd_captures),
		cmocka_unit_test(an_empty_capture_has_no_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
