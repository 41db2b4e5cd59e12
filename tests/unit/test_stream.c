/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed captures, read while they are unpacked, against the same from memory. */
#include "testing.h"

#include "base/pool.h"
#include "base/progress.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define PLANES 12
#define EVENTS 30000

static uint8_t *bytes;
static size_t bytes_size;

/* Together larger than several of the steps in which is unpacked. */
static int set_up(void **state)
{
	struct builder *b = builder_new();
	char name[32];
	(void)state;
	for (int p = 0; p < PLANES; p++) {
		snprintf(name, sizeof(name), "plane %d", p);
		struct builder_plane *plane = builder_plane(b, p, name);
		struct builder_line *line = builder_line(plane, 1, "line", p);
		for (int i = 0; i < EVENTS; i++) {
			struct builder_stats *e = builder_event_id(line, i % 7, i * 10, p + 5);
			builder_stat_str(e, "some", "text that makes an event of this size longer");
		}
		builder_event_metadata(plane, 3, "three");
	}
	builder_warning(b, "a warning");
	bytes = builder_bytes(b, &bytes_size);
	builder_free(b);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(bytes);
	return 0;
}

static size_t gzip_member(const uint8_t *data, size_t size, uint8_t *packed, size_t room)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)data,
		      .avail_in = (uInt)size,
		      .next_out = packed,
		      .avail_out = (uInt)room};
	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, 0), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

/* In frames of a third each, as tools that append write them. */
static int compressed(enum tfp_compression compression, size_t size)
{
	int fd = memfd_create("test", 0);
	size_t room = ZSTD_compressBound(size) + 4096;
	uint8_t *packed = malloc(room);
	assert_true(fd >= 0);
	for (size_t at = 0, n; at < size; at += n) {
		size_t out;
		n = size / 3 + 1 < size - at ? size / 3 + 1 : size - at;
		if (compression == TFP_ZSTD) {
			out = ZSTD_compress(packed, room, bytes + at, n, 1);
			assert_false(ZSTD_isError(out));
		} else {
			out = gzip_member(bytes + at, n, packed, room);
		}
		assert_int_equal(write(fd, packed, out), out);
	}
	free(packed);
	return fd;
}

static void assert_same(const struct tfp_capture *a, const struct tfp_capture *b)
{
	assert_int_equal(a->plane_count, b->plane_count);
	assert_int_equal(a->event_count, b->event_count);
	assert_int_equal(a->warning_count, b->warning_count);
	assert_int_equal(a->diagnostic_count, b->diagnostic_count);
	for (size_t d = 0; d < a->diagnostic_count; d++)
		assert_string_equal(a->diagnostics[d].message, b->diagnostics[d].message);
	for (size_t p = 0; p < a->plane_count; p++) {
		const struct tfp_plane *x = &a->planes[p], *y = &b->planes[p];
		assert_int_equal(tfp_str_compare(x->name, y->name), 0);
		assert_int_equal(x->line_count, y->line_count);
		for (size_t l = 0; l < x->line_count; l++) {
			assert_int_equal(x->lines[l].event_count, y->lines[l].event_count);
			for (size_t i = 0; i < x->lines[l].event_count; i++) {
				struct tfp_span m = tfp_event_message(&x->lines[l], i);
				struct tfp_span n = tfp_event_message(&y->lines[l], i);
				assert_int_equal(m.size, n.size);
				assert_memory_equal(m.data, n.data, n.size);
			}
		}
	}
}

static void check(enum tfp_compression compression, size_t size, unsigned threads)
{
	struct tfp_capture *plain, *streamed;
	struct tfp_pool *pool;
	struct tfp_error err;
	int fd = compressed(compression, size);
	assert_int_equal(tfp_pool_new(&pool, threads, &err), TFP_OK);
	if (tfp_capture_from_bytes(&plain, bytes, size, "f", NULL, &err) != TFP_OK)
		fail_msg("%s", err.message);
	struct tfp_progress progress = {0}, *before = tfp_progress_enter(&progress);
	if (tfp_capture_open(&streamed, fd, "f", compression, UINT64_MAX, pool, &err) != TFP_OK)
		fail_msg("%s", err.message);
	tfp_progress_enter(before);
	/* Of the file, not of what comes out of it. */
	assert_int_equal(atomic_load(&progress.bytes_total), lseek(fd, 0, SEEK_END));
	assert_int_equal(atomic_load(&progress.bytes_done), atomic_load(&progress.bytes_total));
	assert_int_equal(atomic_load(&progress.events), streamed->event_count);
	assert_same(plain, streamed);
	assert_true(tfp_capture_held_bytes(streamed) >= size);
	tfp_capture_unref(streamed);

	/* It does not fit. */
	assert_int_equal(tfp_capture_open(&streamed, fd, "f", compression, size / 2, pool, &err),
			 TFP_TOO_LARGE);
	assert_non_null(strstr(err.message, "times"));
	tfp_capture_unref(plain);
	tfp_pool_free(pool);
	close(fd);
}

static void test_as_from_memory(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 4; threads += 3) {
		check(TFP_GZIP, bytes_size, threads);
		check(TFP_ZSTD, bytes_size, threads);
	}
}

static void test_cut_in_a_plane(void **state)
{
	(void)state;
	check(TFP_GZIP, bytes_size / 2, 3);
	check(TFP_ZSTD, bytes_size / 3 * 2 + 1, 3);
}

/* Members of two bytes, all in a group that is never closed: were it looked through anew
 * for each of them, this would take hours. */
static void test_a_group_in_many_members(void **state)
{
	static const uint8_t head[] = {0x0a, 3, 0x12, 1, 'x', 0x7b}, field[] = {8, 1};
	const size_t members = 1000000;
	struct tfp_capture *capture;
	struct tfp_pool *pool;
	struct tfp_error err;
	uint8_t packed[128];
	(void)state;
	int fd = memfd_create("test", 0);
	FILE *f = fdopen(dup(fd), "wb");
	assert_non_null(f);
	size_t n = gzip_member(head, sizeof(head), packed, sizeof(packed));
	assert_int_equal(fwrite(packed, 1, n, f), n);
	n = gzip_member(field, sizeof(field), packed, sizeof(packed));
	for (size_t i = 0; i < members; i++)
		assert_int_equal(fwrite(packed, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(tfp_pool_new(&pool, 2, &err), TFP_OK);
	if (tfp_capture_open(&capture, fd, "f", TFP_GZIP, UINT64_MAX, pool, &err) != TFP_OK)
		fail_msg("%s", err.message);
	assert_int_equal(capture->plane_count, 1);
	assert_int_equal(capture->bytes.size, sizeof(head) + members * sizeof(field));
	tfp_capture_unref(capture);
	tfp_pool_free(pool);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_from_memory),
		cmocka_unit_test(test_cut_in_a_plane),
		cmocka_unit_test(test_a_group_in_many_members),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
