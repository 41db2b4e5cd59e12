/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "base/sort.h"
#include "base/str_map.h"

#include <stdalign.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void test_arena_aligns_and_keeps_apart(void **state)
{
	struct tfp_arena a;
	(void)state;
	tfp_arena_init(&a, SIZE_MAX);
	unsigned char *before = NULL;
	for (size_t size = 1; size < 3000; size += 7) {
		unsigned char *p = tfp_arena_alloc(&a, size);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % alignof(max_align_t), 0);
		memset(p, 0xaa, size);
		if (before)
			assert_int_equal(before[0], 0xaa);
		before = p;
	}
	const unsigned char *zeroed = tfp_arena_zalloc(&a, 100, 8);
	for (size_t i = 0; i < 800; i++)
		assert_int_equal(zeroed[i], 0);
	assert_string_equal(tfp_arena_strndup(&a, "abcdef", 3), "abc");
	assert_string_equal(tfp_arena_strndup(&a, NULL, 0), "");
	tfp_arena_release(&a);
	assert_int_equal(a.bytes, 0);
}

__attribute__((format(printf, 2, 3))) static char *printed(struct tfp_arena *a, const char *format,
							   ...)
{
	va_list args;
	va_start(args, format);
	char *text = tfp_arena_vprintf(a, format, args);
	va_end(args);
	return text;
}

static void test_arena_prints_texts_of_any_length(void **state)
{
	struct tfp_arena a;
	(void)state;
	tfp_arena_init(&a, 100000);
	assert_string_equal(printed(&a, "%s.%u", "fusion", 3u), "fusion.3");
	const char *text = printed(&a, "%05000d|", 7);
	assert_int_equal(strlen(text), 5001);
	assert_string_equal(text + 4999, "7|");
	assert_null(printed(&a, "%200000d", 7));
	tfp_arena_release(&a);
}

static void test_arena_keeps_its_ceiling(void **state)
{
	struct tfp_arena a;
	size_t got = 0;
	(void)state;
	tfp_arena_init(&a, 100000);
	while (tfp_arena_alloc(&a, 1000)) {
		got += 1000;
		assert_true(got <= 100000);
		assert_true(a.bytes <= 100000);
	}
	assert_true(got > 30000);
	assert_null(tfp_arena_alloc(&a, 200000));
	assert_null(tfp_arena_alloc(&a, SIZE_MAX));
	assert_null(tfp_arena_alloc(&a, SIZE_MAX - 4096));
	assert_null(tfp_arena_zalloc(&a, SIZE_MAX / 2, 3));
	assert_null(tfp_arena_strndup(&a, "x", SIZE_MAX));
	tfp_arena_release(&a);
	/* Released, it is as new. */
	assert_non_null(tfp_arena_alloc(&a, 1000));
	tfp_arena_release(&a);
	struct tfp_arena zeroed = {0};
	tfp_arena_release(&zeroed);
}

static void test_arena_big_object_leaves_room_for_small_ones(void **state)
{
	struct tfp_arena a;
	(void)state;
	tfp_arena_init(&a, SIZE_MAX);
	char *first = tfp_arena_alloc(&a, 16);
	assert_non_null(tfp_arena_alloc(&a, (size_t)3 << 20));
	char *second = tfp_arena_alloc(&a, 16);
	assert_ptr_equal(second, first + 16);
	tfp_arena_release(&a);
}

static void test_buf_grows_and_terminates(void **state)
{
	struct tfp_buf b;
	char expected[3001] = "";
	size_t size;
	(void)state;
	tfp_buf_init(&b, 1 << 20);
	assert_string_equal(tfp_buf_text(&b), "");
	for (int i = 0; i < 1000; i++) {
		tfp_buf_printf(&b, "%03d", i);
		sprintf(expected + 3 * i, "%03d", i);
	}
	assert_int_equal(b.size, 3000);
	assert_string_equal(tfp_buf_text(&b), expected);
	tfp_buf_clear(&b);
	tfp_buf_printf(&b, "%0600d", 1);
	assert_int_equal(b.size, 600);
	tfp_buf_putc(&b, '!');
	tfp_buf_puts(&b, "?");
	tfp_buf_add(&b, NULL, 0);
	char *taken = tfp_buf_take(&b, &size);
	assert_int_equal(size, 602);
	assert_string_equal(taken + 599, "1!?");
	assert_int_equal(b.size, 0);
	assert_null(b.data);
	tfp_free(taken);
	tfp_buf_release(&b);
	struct tfp_buf zeroed = {0};
	tfp_buf_release(&zeroed);
}

static void test_buf_keeps_its_ceiling_and_stays_failed(void **state)
{
	struct tfp_buf b;
	(void)state;
	tfp_buf_init(&b, 10);
	tfp_buf_puts(&b, "0123456789");
	assert_false(tfp_buf_failed(&b));
	assert_string_equal(tfp_buf_text(&b), "0123456789");
	tfp_buf_putc(&b, 'x');
	assert_true(tfp_buf_failed(&b));
	assert_string_equal(tfp_buf_text(&b), "0123456789");
	assert_null(tfp_buf_reserve(&b, 0));
	tfp_buf_clear(&b);
	assert_false(tfp_buf_failed(&b));
	tfp_buf_puts(&b, "ab");
	assert_string_equal(tfp_buf_text(&b), "ab");
	assert_null(tfp_buf_reserve(&b, SIZE_MAX));
	assert_true(tfp_buf_failed(&b));
	tfp_buf_puts(&b, "c");
	assert_string_equal(tfp_buf_text(&b), "ab");
	tfp_buf_release(&b);
}

static void test_buf_without_memory_fails(void **state)
{
	struct tfp_buf b;
	(void)state;
	tfp_buf_init(&b, 1000);
	tfp_alloc_fail_at(1);
	tfp_buf_puts(&b, "x");
	tfp_alloc_fail_at(0);
	assert_true(tfp_buf_failed(&b));
	assert_string_equal(tfp_buf_text(&b), "");
	tfp_buf_release(&b);
}

static void test_alloc_counts_and_fails(void **state)
{
	(void)state;
	tfp_alloc_fail_at(3);
	void *first = tfp_malloc(0), *second = tfp_calloc(0, 7), *third = tfp_malloc(1);
	char *fourth = tfp_strdup("x");
	assert_int_equal(tfp_alloc_count(), 4);
	tfp_alloc_fail_at(0);
	assert_non_null(first);
	assert_non_null(second);
	assert_null(third);
	assert_null(fourth);
	assert_null(tfp_reallocarray(NULL, SIZE_MAX / 4, 5));
	char *copy = tfp_strndup("abc", 2);
	assert_string_equal(copy, "ab");
	tfp_free(first);
	tfp_free(second);
	tfp_free(copy);
	tfp_free(NULL);
}

static void test_arrays_grow(void **state)
{
	uint32_t *list = NULL;
	size_t room = 0, huge = SIZE_MAX / 2 + 1, grown = 0;
	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		size_t before = room;
		assert_true(TFP_GROW(list, (size_t)i, room));
		assert_true(room > i);
		grown += room != before;
		list[i] = i;
	}
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(list[i], i);
	assert_true(grown < 15);
	/* Without memory, or with a size that no number has, all is as it was. */
	const uint32_t *const old = list;
	size_t full = room;
	tfp_alloc_fail_at(1);
	assert_false(TFP_GROW(list, full, room));
	tfp_alloc_fail_at(0);
	assert_ptr_equal(list, old);
	assert_int_equal(room, full);
	assert_false(TFP_GROW(list, huge, huge));
	huge /= 4;
	assert_false(TFP_GROW(list, huge, huge));
	assert_ptr_equal(list, old);
	tfp_free(list);
}

static void test_str_map_finds_what_was_added(void **state)
{
	static char keys[5000][12];
	struct tfp_str_map m = {0};
	(void)state;
	assert_int_equal(tfp_str_map_find(&m, "a", 1), TFP_STR_MAP_NONE);
	for (uint32_t i = 0; i < 5000; i++) {
		int n = snprintf(keys[i], sizeof(keys[i]), "key%u", (unsigned)i);
		assert_int_equal(tfp_str_map_add(&m, keys[i], (size_t)n, i), i);
	}
	assert_int_equal(m.count, 5000);
	for (uint32_t i = 0; i < 5000; i++) {
		assert_int_equal(tfp_str_map_find(&m, keys[i], strlen(keys[i])), i);
		/* The first value stays. */
		assert_int_equal(tfp_str_map_add(&m, keys[i], strlen(keys[i]), 7), i);
	}
	assert_int_equal(m.count, 5000);
	assert_int_equal(tfp_str_map_find(&m, "key", 3), TFP_STR_MAP_NONE);
	assert_int_equal(tfp_str_map_add(&m, NULL, 0, 77), 77);
	assert_int_equal(tfp_str_map_find(&m, "", 0), 77);
	assert_int_equal(tfp_str_map_add(&m, "a\0b", 3, 1), 1);
	assert_int_equal(tfp_str_map_add(&m, "a\0c", 3, 2), 2);
	tfp_str_map_release(&m);
	tfp_alloc_fail_at(1);
	assert_int_equal(tfp_str_map_add(&m, "a", 1, 1), TFP_STR_MAP_NONE);
	tfp_alloc_fail_at(0);
}

static bool smaller(const void *values, uint32_t a, uint32_t b)
{
	const int *v = values;
	return v[a] < v[b];
}

static void check_sort(const int *values, size_t n)
{
	uint32_t *order = tfp_sort_indexes(n, smaller, values);
	unsigned char *seen = calloc(n + 1, 1);
	assert_non_null(order);
	for (size_t i = 0; i < n; i++) {
		assert_true(order[i] < n);
		assert_false(seen[order[i]]);
		seen[order[i]] = 1;
		if (i == 0)
			continue;
		assert_true(values[order[i - 1]] <= values[order[i]]);
		if (values[order[i - 1]] == values[order[i]])
			assert_true(order[i - 1] < order[i]);
	}
	free(seen);
	tfp_free(order);
}

static void test_sort_is_stable(void **state)
{
	int values[1000] = {0};
	uint32_t random = 1;
	(void)state;
	for (size_t n = 0; n <= 40; n++) {
		for (size_t i = 0; i < n; i++) {
			random = random * 1664525 + 1013904223;
			values[i] = (int)(random >> 29);
		}
		check_sort(values, n);
	}
	for (size_t i = 0; i < 1000; i++)
		values[i] = (int)i;
	check_sort(values, 1000);
	for (size_t i = 0; i < 1000; i++)
		values[i] = (int)(1000 - i);
	check_sort(values, 1000);
	values[500] = values[3] = values[999] = 400;
	check_sort(values, 999);
	tfp_alloc_fail_at(2);
	assert_null(tfp_sort_indexes(3, smaller, values));
	tfp_alloc_fail_at(0);
}

static void check_pairs(struct tfp_pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		pairs[i].value = i;
	struct tfp_pair *before = malloc(n * sizeof(*before) + 1);
	assert_non_null(before);
	memcpy(before, pairs, n * sizeof(*before));
	assert_true(tfp_sort_pairs(pairs, n));
	unsigned char *seen = calloc(n + 1, 1);
	for (size_t i = 0; i < n; i++) {
		assert_true(pairs[i].value < n);
		assert_false(seen[pairs[i].value]);
		seen[pairs[i].value] = 1;
		assert_true(pairs[i].key == before[pairs[i].value].key);
		if (i == 0)
			continue;
		assert_true(pairs[i - 1].key <= pairs[i].key);
		if (pairs[i - 1].key == pairs[i].key)
			assert_true(pairs[i - 1].value < pairs[i].value);
	}
	free(seen);
	free(before);
}

static void test_sort_of_pairs(void **state)
{
	struct tfp_pair pairs[3000] = {{0, 0}};
	uint64_t random = 1;
	(void)state;
	check_pairs(pairs, 0);
	check_pairs(pairs, 1);
	/* Few keys, many keys, keys that differ only at the top. */
	for (unsigned shift = 0; shift < 64; shift++) {
		for (size_t i = 0; i < COUNT(pairs); i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			pairs[i].key = shift % 2 ? random >> shift : random << shift;
		}
		check_pairs(pairs, shift * 47);
	}
	check_pairs(pairs, COUNT(pairs));
	for (size_t i = 0; i < COUNT(pairs); i++)
		pairs[i].key = COUNT(pairs) - i / 3;
	check_pairs(pairs, COUNT(pairs));
	struct tfp_pair swapped[2] = {{2, 0}, {1, 0}};
	tfp_alloc_fail_at(1);
	assert_false(tfp_sort_pairs(swapped, 2));
	tfp_alloc_fail_at(0);
	assert_int_equal(swapped[0].key, 2);
}

static void test_hash_sees_every_byte(void **state)
{
	unsigned char bytes[40] = {0};
	(void)state;
	uint64_t plain = tfp_hash_bytes(bytes, sizeof(bytes), 0);
	assert_int_equal(plain, tfp_hash_bytes(bytes, sizeof(bytes), 0));
	assert_int_not_equal(plain, tfp_hash_bytes(bytes, sizeof(bytes), 1));
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = 1;
		assert_int_not_equal(plain, tfp_hash_bytes(bytes, sizeof(bytes), 0));
		bytes[i] = 0;
		assert_int_not_equal(plain, tfp_hash_bytes(bytes, i, 0));
	}
	assert_int_not_equal(tfp_hash_u64(1), tfp_hash_u64(2));
}

static void test_error_text(void **state)
{
	struct tfp_error err;
	char text[256], small[8];
	(void)state;
	assert_int_equal(tfp_fail(&err, TFP_BAD_INPUT, "%d apples", 3), TFP_BAD_INPUT);
	assert_int_equal(err.status, TFP_BAD_INPUT);
	assert_string_equal(tfp_error_text(&err, text, sizeof(text)), "3 apples");
	tfp_error_set_offset(&err, 0);
	assert_string_equal(tfp_error_text(&err, text, sizeof(text)), "at byte 0: 3 apples");
	tfp_error_set_file(&err, "f.pb");
	tfp_error_set_file(&err, "other.pb");
	tfp_error_set_offset(&err, UINT64_C(4294967296));
	tfp_error_set_hint(&err, "eat %s", "one");
	assert_string_equal(tfp_error_text(&err, text, sizeof(text)),
			    "f.pb: at byte 4294967296: 3 apples; eat one");
	assert_string_equal(tfp_error_text(&err, small, sizeof(small)), "f.pb: a");
	/* A new failure forgets everything. */
	tfp_fail(&err, TFP_IO, "no");
	assert_string_equal(tfp_error_text(&err, text, sizeof(text)), "no");
	/* Nobody has to listen. */
	assert_int_equal(tfp_fail(NULL, TFP_INTERNAL, "x"), TFP_INTERNAL);
	tfp_error_set_file(NULL, "f");
	tfp_error_set_offset(NULL, 1);
	tfp_error_set_hint(NULL, "h");
}

static void test_long_error_is_cut(void **state)
{
	static char name[2000];
	struct tfp_error err;
	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	tfp_fail(&err, TFP_IO, "%s", name);
	tfp_error_set_file(&err, name);
	tfp_error_set_hint(&err, "%s", name);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	assert_int_equal(strlen(err.file), sizeof(err.file) - 1);
	assert_int_equal(strlen(err.hint), sizeof(err.hint) - 1);
}

static void test_status_names(void **state)
{
	static const char *const names[] = {"ok",           "no_memory",   "bad_input",
					    "bad_query",    "not_found",   "not_applicable",
					    "unauthorized", "forbidden",   "busy",
					    "changing",     "unavailable", "too_many",
					    "cancelled",    "io",          "too_large",
					    "internal"};
	(void)state;
	assert_int_equal(COUNT(names), TFP_STATUS_COUNT);
	for (size_t i = 0; i < COUNT(names); i++)
		assert_string_equal(tfp_status_name((enum tfp_status)i), names[i]);
	assert_string_equal(tfp_status_name((enum tfp_status)99), "internal");
}

static void test_mapped_file(void **state)
{
	struct tfp_mapped_file file;
	struct tfp_error err;
	int fd = memfd_create("test", 0), pipe_ends[2];
	(void)state;
	assert_int_equal(tfp_mapped_file_open(&file, fd, "f", &err), TFP_OK);
	assert_null(file.data);
	assert_int_equal(file.size, 0);
	tfp_mapped_file_release(&file);
	assert_int_equal(write(fd, "hello", 5), 5);
	assert_int_equal(tfp_mapped_file_open(&file, fd, "f", &err), TFP_OK);
	close(fd);
	assert_int_equal(file.size, 5);
	assert_memory_equal(file.data, "hello", 5);
	tfp_mapped_file_release(&file);
	tfp_mapped_file_release(&file);
	assert_int_equal(pipe(pipe_ends), 0);
	assert_int_equal(tfp_mapped_file_open(&file, pipe_ends[0], "the pipe", &err), TFP_IO);
	assert_string_equal(err.file, "the pipe");
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	assert_int_equal(tfp_mapped_file_open(&file, pipe_ends[0], "closed", &err), TFP_IO);
}

static void test_a_file_cut_while_it_is_mapped(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct tfp_mapped_file files[2];
	struct tfp_error err;
	int fds[2];
	(void)state;
	assert_int_equal(tfp_mapped_file_guard(&err), TFP_OK);
	for (int i = 0; i < 2; i++) {
		fds[i] = memfd_create("test", 0);
		for (size_t n = 0; n < 5; n++)
			assert_int_equal(pwrite(fds[i], "x", 1, (off_t)(n * page)), 1);
		assert_int_equal(tfp_mapped_file_open(&files[i], fds[i], "f", &err), TFP_OK);
	}
	assert_int_equal(ftruncate(fds[0], (off_t)(2 * page)), 0);
	const volatile uint8_t *data = files[0].data;
	assert_int_equal(data[page], 'x');
	assert_false(tfp_mapped_file_was_cut(&files[0]));
	assert_int_equal(data[3 * page], 0);
	assert_true(tfp_mapped_file_was_cut(&files[0]));
	assert_int_equal(data[4 * page], 0);
	assert_int_equal(data[2 * page], 0);
	assert_int_equal(data[page], 'x');
	/* The other one has nothing to do with it. */
	assert_int_equal(files[1].data[4 * page], 'x');
	assert_false(tfp_mapped_file_was_cut(&files[1]));
	for (int i = 0; i < 2; i++) {
		tfp_mapped_file_release(&files[i]);
		close(fds[i]);
	}
	/* A new mapping in the same place is not cut. */
	int fd = memfd_create("test", 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(tfp_mapped_file_open(&files[0], fd, "f", &err), TFP_OK);
	assert_false(tfp_mapped_file_was_cut(&files[0]));
	tfp_mapped_file_release(&files[0]);
	close(fd);
}

static void test_log_writes_whole_harmless_lines(void **state)
{
	static char name[6000];
	char got[20000] = "";
	int ends[2], saved = dup(STDERR_FILENO);
	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	tfp_log("plain %d", 1);
	tfp_log_warning("a\033[2Jb\nc\x7f\xff \xc3\xa9");
	tfp_log_verbose("not shown");
	tfp_log_set_verbose(true);
	tfp_log_verbose("shown");
	tfp_log_set_verbose(false);
	tfp_log("%s", name);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[1]);
	ssize_t size = read(ends[0], got, sizeof(got) - 1);
	close(ends[0]);
	static const char start[] =
		"plain 1\nwarning: a\\x1b[2Jb\\x0ac\\x7f\\xff \xc3\xa9\nshown\nnnnn";
	assert_memory_equal(got, start, sizeof(start) - 1);
	/* The long one is cut, not split. */
	assert_true(size < 6000);
	assert_int_equal(got[size - 1], '\n');
	assert_null(memchr(got + sizeof(start), '\n', (size_t)size - sizeof(start) - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena_aligns_and_keeps_apart),
		cmocka_unit_test(test_arena_prints_texts_of_any_length),
		cmocka_unit_test(test_arena_keeps_its_ceiling),
		cmocka_unit_test(test_arena_big_object_leaves_room_for_small_ones),
		cmocka_unit_test(test_buf_grows_and_terminates),
		cmocka_unit_test(test_buf_keeps_its_ceiling_and_stays_failed),
		cmocka_unit_test(test_buf_without_memory_fails),
		cmocka_unit_test(test_alloc_counts_and_fails),
		cmocka_unit_test(test_arrays_grow),
		cmocka_unit_test(test_str_map_finds_what_was_added),
		cmocka_unit_test(test_sort_is_stable),
		cmocka_unit_test(test_sort_of_pairs),
		cmocka_unit_test(test_hash_sees_every_byte),
		cmocka_unit_test(test_error_text),
		cmocka_unit_test(test_long_error_is_cut),
		cmocka_unit_test(test_status_names),
		cmocka_unit_test(test_mapped_file),
		cmocka_unit_test(test_a_file_cut_while_it_is_mapped),
		cmocka_unit_test(test_log_writes_whole_harmless_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
