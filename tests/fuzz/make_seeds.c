/* Writes the composed seeds of tests/fuzz/corpus again: make_seeds FOLDER. Run by
 * hand when the format that is read grows. */
#include "support/sample_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

static const char *root;

static void put(const char *target, const char *name, const void *head, size_t head_size,
		const void *bytes, size_t size)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s/%s", root, target, name);
	FILE *file = fopen(path, "wb");
	if (!file || fwrite(head, 1, head_size, file) != head_size ||
	    fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		exit(1);
	}
}

static void put_packed(const void *bytes, size_t size)
{
	size_t room = ZSTD_compressBound(size);
	uint8_t *packed = malloc(room);
	size_t n = ZSTD_compress(packed, room, bytes, size, 3);
	put("fuzz_unpack", "zstd", "\1", 1, packed, n);
	free(packed);
	z_stream z = {0};
	deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
	room = deflateBound(&z, size);
	packed = malloc(room);
	z.next_in = (Bytef *)(uintptr_t)bytes;
	z.avail_in = (uInt)size;
	z.next_out = packed;
	z.avail_out = (uInt)room;
	deflate(&z, Z_FINISH);
	put("fuzz_unpack", "gzip", "\0", 1, packed, room - z.avail_out);
	deflateEnd(&z);
	free(packed);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"gpu", "tpu", "host"};
	static const char *const instructions[][4] = {
		{"fusion.1", "fusion", "jit(f)/jit(main)/add", "add"},
		{"a", "convolution", NULL, NULL},
	};
	struct tfp_buf proto;
	if (argc != 2)
		return 2;
	root = argv[1];
	for (int device = SAMPLE_GPU; device <= SAMPLE_NO_DEVICE; device++) {
		struct builder *b = sample_capture((enum sample_device)device);
		size_t size;
		uint8_t *bytes = builder_bytes(b, &size);
		put("fuzz_capture", names[device], "", 0, bytes, size);
		if (device == SAMPLE_GPU)
			put_packed(bytes, size);
		free(bytes);
		builder_unknown_fields(b);
		bytes = builder_bytes(b, &size);
		if (device == SAMPLE_NO_DEVICE)
			put("fuzz_capture", "unknown_fields", "", 0, bytes, size);
		free(bytes);
		builder_free(b);
	}
	tfp_buf_init(&proto, 1 << 16);
	sample_hlo(&proto, "jit_f", instructions, 2);
	put("fuzz_hlo", "module", "", 0, proto.data, proto.size);
	tfp_buf_release(&proto);
	return 0;
}
