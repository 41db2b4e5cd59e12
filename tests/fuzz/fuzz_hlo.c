/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the HLO proto of a program whose instructions ran on a GPU. */
#include "analysis/hlo/hlo_dot.h"
#include "analysis/hlo/hlo_listing.h"
#include "analysis/hlo/hlo_text.h"
#include "fuzz.h"
#include "store/capture.h"
#include "support/sample_capture.h"
#include "tools/program_graph.h"

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

static struct tfp_str no_category(const void *context, uint32_t instruction)
{
	(void)context;
	(void)instruction;
	return (struct tfp_str){"", 0};
}

static enum tfp_status count_bytes(void *context, const void *bytes, size_t size,
				   struct tfp_error *err)
{
	(void)bytes;
	(void)err;
	*(size_t *)context += size;
	return TFP_OK;
}

/* Any line alone, cut, is the beginning of that line of the whole. */
static void list(const struct tfp_hlo_program *program, unsigned flags)
{
	struct tfp_hlo_listing listing;
	struct tfp_error err;
	struct tfp_buf buf;
	size_t total = 0, sum = 0;
	const struct tfp_sink sink = {count_bytes, &total};
	tfp_buf_init(&buf, 1 << 26);
	MUST(tfp_hlo_listing_init(&listing, program, flags, &err) == TFP_OK);
	MUST(tfp_hlo_listing_write_all(&listing, &sink, &err) == TFP_OK);
	for (uint64_t n = 0; n < listing.line_count; n++) {
		tfp_buf_clear(&buf);
		struct tfp_hlo_line line = tfp_hlo_listing_write(&listing, n, 1 << 24, &buf);
		sum += buf.size + 1;
		MUST(line.instruction == TFP_HLO_NONE ||
		     tfp_hlo_listing_line_of(&listing, line.instruction) == n);
		tfp_buf_clear(&buf);
		line = tfp_hlo_listing_write(&listing, n, 20, &buf);
		MUST(tfp_buf_failed(&buf) || buf.size <= 20);
	}
	MUST(sum == total);
	tfp_hlo_listing_release(&listing);
	tfp_buf_release(&buf);
}

static void draw(const struct tfp_hlo_program *program, uint32_t instruction)
{
	struct tfp_hlo_dot_request dot = {
		.instruction = instruction, .radius = 3, .category = no_category};
	struct tfp_graph_request part = {.instruction = instruction, .hops = 2, .limit = 50};
	struct tfp_program_graph graph;
	struct tfp_error err;
	struct tfp_buf buf;
	tfp_buf_init(&buf, 1 << 26);
	MUST(tfp_hlo_write_dot(program, &dot, &buf, &err) == TFP_OK);
	MUST(tfp_program_graph_init(&graph, program, &part, &err) == TFP_OK);
	MUST(graph.node_count <= 50);
	for (size_t i = 0; i < graph.edge_count; i++)
		MUST(graph.place[graph.edges[i].from] && graph.place[graph.edges[i].to]);
	tfp_program_graph_release(&graph);
	tfp_buf_release(&buf);
}

static void show(const uint8_t *data, size_t size)
{
	struct tfp_hlo_program program;
	struct tfp_error err;
	if (tfp_hlo_program_init(&program, (struct tfp_str){(const char *)data, size}, &err) ==
	    TFP_OK) {
		list(&program, TFP_HLO_LISTING_LONG | TFP_HLO_LISTING_METADATA);
		list(&program, TFP_HLO_LISTING_SHORT);
		for (uint32_t i = 0; i < program.instruction_count && i < 16; i++)
			draw(&program, i);
	}
	tfp_hlo_program_release(&program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfp_capture *capture;
	struct tfp_error err;
	size_t bytes_size;
	print(data, size);
	show(data, size);
	uint8_t *bytes = compose(data, size, &bytes_size);
	MUST(tfp_capture_from_bytes(&capture, bytes, bytes_size, "fuzz", NULL, &err) == TFP_OK);
	fuzz_walk_capture(capture);
	fuzz_summarise(capture);
	tfp_capture_unref(capture);
	free(bytes);
	return 0;
}
