/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the HLO proto of a program whose instructions ran on a GPU. */
#include "analysis/hlo/hlo_text.h"
#include "fuzz.h"
#include "store/capture.h"
#include "support/sample_capture.h"

static uint8_t *compose(const uint8_t *data, size_t size, size_t *bytes_size)
{
	struct builder *b = builder_new();
	struct builder_plane *metadata = builder_plane(b, 0, "/host:metadata");
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *stream = builder_line(gpu, 1, "Stream #1", 0);
	struct tfp_buf proto = {.data = (char *)(uintptr_t)data, .size = size};
	sample_add_module(metadata, "fuzz(7)", &proto);
	static const char *const ops[] = {"fusion.1", "a", ""};
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct builder_stats *e = builder_event(stream, "kernel", (int64_t)i * 1000, 1000);
		builder_stat_str(e, "hlo_op", ops[i]);
		builder_stat_uint(e, "program_id", 7);
		builder_stat_str(e, "kernel_details", "regs:1");
	}
	uint8_t *bytes = builder_bytes(b, bytes_size);
	builder_free(b);
	return bytes;
}

/* Whatever XLA would read can be printed, and never longer than asked for. */
static void print(const uint8_t *data, size_t size)
{
	enum { MOST = 4096 };
	struct tfp_hlo_program program;
	struct tfp_hlo_frames frames = {0};
	struct tfp_hlo_source source;
	struct tfp_arena arena;
	struct tfp_error err;
	struct tfp_buf buf;
	tfp_buf_init(&buf, 1 << 24);
	tfp_arena_init(&arena, 1 << 24);
	struct tfp_str bytes = {(const char *)data, size};
	if (tfp_hlo_program_init(&program, bytes, &err) == TFP_OK) {
		MUST(tfp_hlo_frames_init(&frames, &program, &err) == TFP_OK);
		for (uint32_t i = 0; i < program.instruction_count && i < 256; i++) {
			tfp_buf_clear(&buf);
			tfp_hlo_write_op(&program, i, 7, MOST, &buf);
			MUST(tfp_buf_failed(&buf) || buf.size <= MOST);
			(void)tfp_hlo_source_of(&frames, &program.instructions[i], &arena, &source);
		}
	}
	tfp_hlo_frames_release(&frames);
	tfp_hlo_program_release(&program);
	tfp_arena_release(&arena);
	tfp_buf_release(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfp_capture *capture;
	struct tfp_error err;
	size_t bytes_size;
	print(data, size);
	uint8_t *bytes = compose(data, size, &bytes_size);
	MUST(tfp_capture_from_bytes(&capture, bytes, bytes_size, "fuzz", NULL, &err) == TFP_OK);
	fuzz_walk_capture(capture);
	fuzz_summarise(capture);
	tfp_capture_unref(capture);
	free(bytes);
	return 0;
}
