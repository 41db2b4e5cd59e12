/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "store/unpack.h"

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define ENOUGH (UINT64_C(64) << 20)

struct file {
	uint8_t data[1 << 18];
	size_t size;
};

static struct file file;

static void add_gzip(const void *bytes, size_t size)
{
	z_stream z = {0};
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	z.next_in = (Bytef *)(uintptr_t)bytes;
	z.avail_in = (uInt)size;
	z.next_out = file.data + file.size;
	z.avail_out = (uInt)(sizeof(file.data) - file.size);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	file.size = sizeof(file.data) - z.avail_out;
	deflateEnd(&z);
}

static void add_zstd(const void *bytes, size_t size)
{
	size_t n =
		ZSTD_compress(file.data + file.size, sizeof(file.data) - file.size, bytes, size, 3);
	assert_false(ZSTD_isError(n));
	file.size += n;
}

static void add(enum tfp_compression compression, const void *bytes, size_t size)
{
	if (compression == TFP_GZIP)
		add_gzip(bytes, size);
	else
		add_zstd(bytes, size);
}

static enum tfp_status unpack(enum tfp_compression compression, size_t size, uint64_t max_bytes,
			      struct tfp_unpacked *out, struct tfp_error *err)
{
	int fd = memfd_create("test", 0);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, file.data, size), size);
	enum tfp_status status = tfp_unpack(out, fd, "a file", compression, max_bytes, NULL, err);
	close(fd);
	return status;
}

static const enum tfp_compression both[] = {TFP_GZIP, TFP_ZSTD};

/* Bytes that do not compress to nothing. */
static uint8_t *noise(size_t size)
{
	uint8_t *bytes = malloc(size);
	uint32_t random = 1;
	for (size_t i = 0; i < size; i++) {
		random = random * 1664525 + 1013904223;
		bytes[i] = (uint8_t)((random >> 24) & 0x0f);
	}
	return bytes;
}

static void test_plain_is_mapped(void **state)
{
	struct tfp_unpacked u;
	struct tfp_error err;
	(void)state;
	memcpy(file.data, "hello", 5);
	/* The limit is for what unpacking makes, not for what lies on disk. */
	assert_int_equal(unpack(TFP_PLAIN, 5, 1, &u, &err), TFP_OK);
	assert_int_equal(u.size, 5);
	assert_int_equal(u.room, 0);
	assert_memory_equal(u.data, "hello", 5);
	tfp_unpacked_release(&u);
	tfp_unpacked_release(&u);
}

static void test_empty_file(void **state)
{
	struct tfp_unpacked u;
	struct tfp_error err;
	(void)state;
	for (int c = TFP_PLAIN; c <= TFP_ZSTD; c++) {
		assert_int_equal(unpack((enum tfp_compression)c, 0, ENOUGH, &u, &err), TFP_OK);
		assert_int_equal(u.size, 0);
		tfp_unpacked_release(&u);
	}
}

static void test_several_members(void **state)
{
	(void)state;
	for (size_t c = 0; c < COUNT(both); c++) {
		struct tfp_unpacked u;
		struct tfp_error err;
		file.size = 0;
		add(both[c], "first,", 6);
		add(both[c], "", 0);
		add(both[c], "second,", 7);
		add(both[c], "third", 5);
		assert_int_equal(unpack(both[c], file.size, ENOUGH, &u, &err), TFP_OK);
		assert_int_equal(u.size, 18);
		assert_false(u.truncated);
		assert_memory_equal(u.data, "first,second,third", 18);
		tfp_unpacked_release(&u);
	}
}

static void test_grows_over_several_rooms(void **state)
{
	const size_t size = (size_t)9 << 20;
	uint8_t *bytes = calloc(1, size);
	(void)state;
	for (size_t i = 0; i < size; i += 4096)
		bytes[i] = (uint8_t)(i >> 12);
	for (size_t c = 0; c < COUNT(both); c++) {
		struct tfp_unpacked u;
		struct tfp_error err;
		file.size = 0;
		add(both[c], bytes, size);
		assert_int_equal(unpack(both[c], file.size, ENOUGH, &u, &err), TFP_OK);
		assert_int_equal(u.size, size);
		assert_false(u.truncated);
		assert_memory_equal(u.data, bytes, size);
		tfp_unpacked_release(&u);
	}
	free(bytes);
}

/* Room grows by doubling from 1 MiB: a result that fills it exactly needs no more. */
static void test_exact_room(void **state)
{
	uint8_t *bytes = calloc(1, (size_t)1 << 20);
	(void)state;
	for (size_t c = 0; c < COUNT(both); c++) {
		struct tfp_unpacked u;
		struct tfp_error err;
		file.size = 0;
		add(both[c], bytes, (size_t)1 << 20);
		assert_int_equal(unpack(both[c], file.size, ENOUGH, &u, &err), TFP_OK);
		assert_int_equal(u.size, 1 << 20);
		assert_false(u.truncated);
		tfp_unpacked_release(&u);
	}
	free(bytes);
}

static void test_bomb_is_stopped(void **state)
{
	const size_t size = (size_t)32 << 20;
	uint8_t *bytes = calloc(1, size);
	(void)state;
	for (size_t c = 0; c < COUNT(both); c++) {
		struct tfp_unpacked u;
		struct tfp_error err;
		file.size = 0;
		add(both[c], bytes, size);
		assert_int_equal(unpack(both[c], file.size, 4 << 20, &u, &err), TFP_TOO_LARGE);
		assert_string_equal(err.file, "a file");
		assert_true(err.hint[0] != '\0');
		assert_null(u.data);
		assert_int_equal(unpack(both[c], file.size, 0, &u, &err), TFP_TOO_LARGE);
	}
	free(bytes);
}

static void test_truncated_at_every_byte(void **state)
{
	const size_t size = 2000;
	uint8_t *bytes = noise(size);
	(void)state;
	for (size_t c = 0; c < COUNT(both); c++) {
		struct tfp_unpacked u;
		struct tfp_error err;
		size_t most = 0;
		file.size = 0;
		add(both[c], bytes, size / 2);
		size_t first = file.size;
		add(both[c], bytes + size / 2, size / 2);
		for (size_t cut = 1; cut < file.size; cut++) {
			enum tfp_status status = unpack(both[c], cut, ENOUGH, &u, &err);
			if (status == TFP_OK) {
				/* Between two members nothing is missing that could be known. */
				assert_int_equal(u.truncated, cut != first);
				assert_true(u.size <= size);
				assert_memory_equal(u.data, bytes, u.size);
				if (cut >= first)
					assert_true(u.size >= size / 2);
				most = u.size > most ? u.size : most;
			} else {
				assert_int_equal(status, TFP_BAD_INPUT);
				assert_string_equal(err.file, "a file");
				assert_true(cut < first);
			}
			tfp_unpacked_release(&u);
		}
		assert_true(most >= size / 2);
	}
	free(bytes);
}

static void test_garbage(void **state)
{
	struct tfp_unpacked u;
	struct tfp_error err;
	(void)state;
	for (size_t c = 0; c < COUNT(both); c++) {
		memset(file.data, 'g', 100);
		assert_int_equal(unpack(both[c], 100, ENOUGH, &u, &err), TFP_BAD_INPUT);
		assert_null(u.data);
		/* Garbage after sound data: what came out is kept. */
		file.size = 0;
		add(both[c], "sound", 5);
		memset(file.data + file.size, 'g', 100);
		assert_int_equal(unpack(both[c], file.size + 100, ENOUGH, &u, &err), TFP_OK);
		assert_true(u.truncated);
		assert_int_equal(u.size, 5);
		assert_memory_equal(u.data, "sound", 5);
		tfp_unpacked_release(&u);
	}
}

static void test_changed_checksum(void **state)
{
	struct tfp_unpacked u;
	struct tfp_error err;
	(void)state;
	file.size = 0;
	add_gzip("sound", 5);
	file.data[file.size - 8] ^= 1;
	assert_int_equal(unpack(TFP_GZIP, file.size, ENOUGH, &u, &err), TFP_OK);
	assert_true(u.truncated);
	tfp_unpacked_release(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_is_mapped),
		cmocka_unit_test(test_empty_file),
		cmocka_unit_test(test_several_members),
		cmocka_unit_test(test_grows_over_several_rooms),
		cmocka_unit_test(test_exact_room),
		cmocka_unit_test(test_bomb_is_stopped),
		cmocka_unit_test(test_truncated_at_every_byte),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_changed_checksum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
