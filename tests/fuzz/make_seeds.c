/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the composed seeds of tests/fuzz/corpus again: make_seeds FOLDER. Run by
 * hand when the format that is read grows. */
#include "analysis/summary/op_stats_message.h"
#include "store/result_cache.h"
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

static void put_summary(const char *name, const void *bytes, size_t size)
{
	struct tfp_host_summary summary = {0};
	struct tfp_capture *capture;
	struct tfp_buf message;
	const unsigned parts = TFP_SUMMARY_OPS | TFP_SUMMARY_STEPS | TFP_SUMMARY_BRIEF |
			       TFP_SUMMARY_PROGRAMS | TFP_SUMMARY_WORK;
	tfp_buf_init(&message, 1 << 20);
	if (tfp_capture_from_bytes(&capture, bytes, size, name, NULL, NULL) != TFP_OK ||
	    tfp_host_summary_get(&summary, capture, parts, NULL, NULL) != TFP_OK ||
	    tfp_op_stats_pack(&summary, parts, &message, NULL) != TFP_OK)
		exit(1);
	put("fuzz_op_stats", name, "", 0, message.data, message.size);
	tfp_host_summary_release(&summary);
	tfp_capture_unref(capture);
	tfp_buf_release(&message);
}

static void put_result(void)
{
	struct tfp_buf key = {.data = "fuzz", .size = 4}, bytes = {.data = "a result", .size = 8};
	struct tfp_buf file;
	tfp_buf_init(&file, 1 << 20);
	if (!tfp_result_encode(&key, &bytes, &file))
		exit(1);
	put("fuzz_result", "whole", "", 0, file.data, file.size);
	tfp_buf_release(&file);
}

/* Steps of a GPU and of a TPU. */
static void put_steps(void)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	struct builder_plane *tpu = builder_plane(b, 2, "/device:TPU:0");
	size_t size;
	for (int i = 0; i < 3; i++) {
		struct builder_stats *e = builder_event(line, "train", i * 10000, 9000);
		builder_stat_int(e, "group_id", i);
		builder_stat_str(e, "step_name", "train");
		e = builder_event(builder_line(tpu, 1, "Steps", 0), "s", i * 10000, 8000);
		builder_stat_int(e, "group_id", i);
	}
	builder_stat_str(builder_event(line, "f", 50000, 50), "tf_function_call", "eager");
	uint8_t *bytes = builder_bytes(b, &size);
	put_summary("steps", bytes, size);
	free(bytes);
	builder_free(b);
}

/* Lines whose moments are further apart than 64 bits of picoseconds reach, with something
 * on each that is put in relation to others. */
static void put_far_lines(void)
{
	static const int64_t at_ns[] = {128, -INT64_MAX, INT64_MAX, INT64_MAX / 1000,
					INT64_MIN / 1000};
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_plane *gpu = builder_plane(b, 1, "/device:GPU:0");
	size_t size;
	for (int64_t i = 0; i < 5; i++) {
		struct builder_line *line = builder_line(host, i + 1, "main", at_ns[i]);
		builder_stat_int(builder_event(line, "train", 0, 900), "step_num", i);
		builder_stat_int(builder_event(line, "cuLaunchKernel", 100, 50), "correlation_id",
				 i);
		builder_stat_int(builder_event(line, "MemoryAllocation", 200, 0), "addr", i);
		line = builder_line(gpu, i + 1, "Stream #1(Compute)", at_ns[4 - i]);
		builder_stat_int(builder_event(line, "gemm", 300, 400), "correlation_id", i);
		line = builder_line(gpu, i + 20, "_counters_", at_ns[i]);
		builder_stat_int(builder_event(line, "power", 0, 0), "watts", i);
	}
	uint8_t *bytes = builder_bytes(b, &size);
	put("fuzz_capture", "far_lines", "", 0, bytes, size);
	put("fuzz_tools", "far_lines", "", 0, bytes, size);
	free(bytes);
	builder_free(b);
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
		put_summary(names[device], bytes, size);
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
	put_far_lines();
	put_steps();
	put_result();
	return 0;
}
