/* Any bytes as the HLO proto of a program whose instructions ran on a GPU. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfp_capture *capture;
	struct tfp_error err;
	size_t bytes_size;
	uint8_t *bytes = compose(data, size, &bytes_size);
	MUST(tfp_capture_from_bytes(&capture, bytes, bytes_size, "fuzz", NULL, &err) == TFP_OK);
	fuzz_walk_capture(capture);
	fuzz_summarise(capture);
	tfp_capture_unref(capture);
	free(bytes);
	return 0;
}
