/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sample_capture.h"

#include "wire/pb_writer.h"

#include <stdbool.h>

/* Field numbers of hlo.proto. */
enum {
	PROTO_MODULE = 1,
	MODULE_NAME = 1,
	MODULE_COMPUTATIONS = 3,
	COMPUTATION_NAME = 1,
	COMPUTATION_INSTRUCTIONS = 2,
	INSTRUCTION_NAME = 1,
	INSTRUCTION_OPCODE = 2,
	INSTRUCTION_METADATA = 7,
	METADATA_OP_TYPE = 1,
	METADATA_OP_NAME = 2,
};

void sample_hlo(struct tfp_buf *out, const char *name, const char *const (*instructions)[4],
		size_t count)
{
	size_t module = tfp_pb_begin(out, PROTO_MODULE);
	tfp_pb_put_text(out, MODULE_NAME, name);
	size_t computation = tfp_pb_begin(out, MODULE_COMPUTATIONS);
	tfp_pb_put_text(out, COMPUTATION_NAME, "main");
	for (size_t i = 0; i < count; i++) {
		size_t instruction = tfp_pb_begin(out, COMPUTATION_INSTRUCTIONS);
		tfp_pb_put_text(out, INSTRUCTION_NAME, instructions[i][0]);
		tfp_pb_put_text(out, INSTRUCTION_OPCODE, instructions[i][1]);
		if (instructions[i][2]) {
			size_t metadata = tfp_pb_begin(out, INSTRUCTION_METADATA);
			tfp_pb_put_text(out, METADATA_OP_TYPE, instructions[i][3]);
			tfp_pb_put_text(out, METADATA_OP_NAME, instructions[i][2]);
			tfp_pb_end(out, metadata);
		}
		tfp_pb_end(out, instruction);
	}
	tfp_pb_end(out, computation);
	tfp_pb_end(out, module);
}

void sample_add_module(struct builder_plane *metadata, const char *name_with_id,
		       const struct tfp_buf *proto)
{
	builder_stat_bytes(builder_metadata_stats(metadata, name_with_id), "Hlo Proto", proto->data,
			   proto->size);
}

/* Events of a model server, a pool's thread and the TPU runtime, which connect threads and
 * devices. */
static void add_server(struct builder_plane *host)
{
	struct builder_line *server = builder_line(host, 19, "server/19", 1000);
	struct builder_line *pool = builder_line(host, 20, "pool/20", 1000);
	for (int i = 0; i < 2; i++) {
		struct builder_stats *e =
			builder_event(server, "BatchingSessionRun", 4000000 * i, 3000000);
		builder_stat_int(e, "_pt", 15);
		builder_stat_int(e, "_p", 40 + i);
		e = builder_event(pool, "ThreadpoolListener::StartRegion", 4000000 * i + 500000, 0);
		builder_stat_int(e, "_ct", 15);
		builder_stat_int(e, "_c", 40 + i);
		builder_event(pool, "ProcessBatch", 4000000 * i + 600000, 900000);
		e = builder_event(pool, "DoEnqueueProgram", 4000000 * i + 700000, 100000);
		builder_stat_int(e, "device_ordinal", 0);
		builder_stat_int(e, "queue_id", 0);
		builder_stat_int(e, "run_id", (INT64_C(1) << 27) + i);
		builder_event(pool, "ThreadpoolListener::StopRegion", 4000000 * i + 2500000, 0);
	}
}

/* Four blocks on two allocators, one of them freed, and not in the order of time. */
static void add_memory(struct builder_line *line)
{
	static const int64_t at_ps[] = {5000000, 1000000, 2000000, 3000000, 4000000};
	for (int64_t i = 0; i < 5; i++) {
		bool give = i == 4;
		struct builder_stats *e = builder_event(
			line, give ? "MemoryDeallocation" : "MemoryAllocation", at_ps[i], 0);
		builder_stat_ref(e, "allocator_name", i == 3 ? "gpu_host_bfc" : "GPU_0_bfc");
		builder_stat_int(e, "bytes_reserved", 64);
		builder_stat_int(e, "bytes_allocated", give ? 1024 : 512 * (i + 1));
		builder_stat_int(e, "bytes_available", give ? 1024 : 2048 - 512 * (i + 1));
		builder_stat_double(e, "fragmentation", 0.125);
		builder_stat_int(e, "requested_bytes", 500);
		builder_stat_int(e, "allocation_bytes", 512);
		builder_stat_int(e, "addr", give ? 1001 : 1000 + i);
		builder_stat_int(e, "data_type", 1);
		if (!give) {
			builder_stat_ref(e, "tf_op", "dense/MatMul");
			builder_stat_ref(e, "region_type", "output");
			builder_stat_ref(e, "shape", "[8, 16]");
		}
	}
}

static void add_host(struct builder *b)
{
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *main = builder_line(host, 17, "main/17", 1000);
	struct builder_line *data = builder_line(host, 18, "tf_data_iterator", 1000);
	struct builder_stats *e = builder_event(main, "train 1", 0, 9000000);
	builder_stat_int(e, "group_id", 1);
	builder_stat_str(e, "step_name", "1");
	e = builder_event(main, "dense/MatMul:MatMul", 1000000, 4000000);
	builder_stat_int(e, "is_eager", 1);
	builder_stat_int(e, "group_id", 1);
	builder_event(main, "dense/BiasAdd:BiasAdd", 2000000, 1000000);
	builder_event(main, "EagerExecute", 6000000, 1000000);
	builder_line_display(main, 3, "python");
	e = builder_event(data, "Iterator::Root", 0, 3500000);
	builder_stat_int(e, "id", 70);
	e = builder_event(data, "Iterator::Root::Prefetch", 0, 3000000);
	builder_stat_int(e, "id", 71);
	builder_stat_int(e, "parent_id", 70);
	builder_stat_int(builder_event(data, "PrefetchConsume", 2000000, 500000), "element_id", 4);
	e = builder_event(data, "stage", 4000000, 1000000);
	builder_stat_int(e, "_ipl_stage_id", 5);
	builder_stat_str(e, "_ipl_stage_cat", "Preprocessing");
	builder_stat_str(e, "_ipl_stage_name", "stage");
	builder_event_aggregated(data, "counted", 12, 3400000);
	add_server(host);
	add_memory(builder_line(host, 21, "tf_Compute", 1000));
	data = builder_line(host, 22, "tf_data_producer", 1000);
	builder_stat_int(builder_event(data, "PrefetchProduce", 0, 2000000), "element_id", 4);
	e = builder_event(data, "Iterator::Root::Prefetch::Map", 500000, 1000000);
	builder_stat_int(e, "id", 72);
	builder_stat_int(e, "parent_id", 71);
}

static void add_gpu(struct builder *b)
{
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_stats *caps = builder_plane_stats(gpu);
	builder_stat_str(caps, "device_vendor", "Nvidia");
	builder_stat_int(caps, "compute_cap_major", 7);
	builder_stat_int(caps, "compute_cap_minor", 0);
	builder_stat_uint(caps, "clock_rate", 1530000);
	builder_stat_uint(caps, "core_count", 80);
	builder_stat_uint(caps, "memory_bandwidth", 900000000000);
	struct builder_line *stream = builder_line(gpu, 7, "Stream #7(Kernel)", 1000);
	struct builder_stats *e = builder_event(stream, "volta_h884gemm", 1500000, 2000000);
	builder_stat_ref(e, "tf_op", "dense/MatMul:MatMul");
	builder_stat_str(e, "kernel_details",
			 "regs:32 static_shared:16 dynamic_shared:1024 grid:8,4,1 block:128,1,1 "
			 "occ_pct:37.5");
	builder_stat_uint(e, "correlation_id", 99);
	builder_stat_int(e, "group_id", 1);
	e = builder_event(stream, "bias_kernel", 4000000, 500000);
	builder_stat_str(e, "level 0", "dense/BiasAdd:BiasAdd");
	builder_stat_str(e, "kernel_details", "regs:16\nshm:0\ngrid:1,1,1\nblock:1024,1,1");
	e = builder_event(stream, "loop_fusion_kernel", 5000000, 700000);
	builder_stat_str(e, "tf_op", "XlaModule:");
	builder_stat_str(e, "hlo_op", "while::fusion.1");
	builder_stat_str(e, "hlo_module", "jit_step");
	builder_stat_uint(e, "program_id", 12);
	builder_stat_str(e, "kernel_details", " grid:64,1,1 block:256,1,1 occ_pct:100");
	builder_event(stream, "MemcpyH2D", 7000000, 200000);
	struct builder_line *repeated = builder_line(gpu, 8, "Stream #8(Kernel)", 1000);
	for (int i = 0; i < 3; i++) {
		e = builder_event(repeated, "copy_kernel", 1000000 + 2000000 * i, 300000);
		builder_stat_str(e, "hlo_op", "copy.2");
		builder_stat_str(e, "hlo_module", "jit_step");
		builder_stat_uint(e, "program_id", 12);
		builder_stat_uint(e, "correlation_id", (uint64_t)(200 + i));
	}
	e = builder_event(builder_line(gpu, -559038737, "Steps", 1000), "1", 0, 9000000);
	builder_stat_int(e, "group_id", 1);
	builder_plane(b, 1, "/device:GPU:1");
}

static void add_tpu(struct builder *b)
{
	struct builder_plane *tpu = builder_plane(b, 0, "/device:TPU:0");
	builder_stat_str(builder_plane_stats(tpu), "device_type_string", "TPU v4");
	struct builder_line *ops = builder_line(tpu, 2, "XLA Ops", 1000);
	struct builder_stats *meta = builder_metadata_stats(tpu, "%fusion.1 = f32[8] fusion()");
	builder_metadata_display(tpu, "%fusion.1 = f32[8] fusion()", "fusion.1");
	builder_stat_uint(meta, "program_id", 12);
	builder_stat_uint(meta, "symbol_id", 3);
	builder_stat_str(meta, "hlo_category", "loop fusion");
	builder_stat_str(meta, "tf_op", "jit(f)/jit(main)/dot_general:");
	builder_stat_uint(meta, "flops", 2000);
	builder_stat_uint(meta, "bytes_accessed", 128);
	struct builder_stats *e =
		builder_event(ops, "%fusion.1 = f32[8] fusion()", 1000000, 3000000);
	builder_stat_uint(e, "device_offset_ps", 500000);
	builder_stat_uint(e, "device_duration_ps", 2500000);
	builder_event(ops, "%fusion.1 = f32[8] fusion()", 5000000, 1000000);
	builder_event(builder_line(tpu, 1, "Steps", 1000), "0", 0, 8000000);
	struct builder_line *modules = builder_line(tpu, 5, "XLA Modules", 1000);
	for (int i = 0; i < 2; i++) {
		e = builder_event(modules, "jit_step(12)", 500000 + 4500000 * i, 3500000);
		builder_stat_int(e, "queue_id", 0);
		builder_stat_int(e, "run_id", i);
	}
	struct builder_plane *sparse = builder_plane(b, 7, "/device:TPU:0 SparseCore 0");
	builder_event(builder_line(sparse, 1, "Sparse Core Modules", 1000), "gather", 0, 4000000);
	builder_plane(b, 1, "/device:TPU:1");
}

static void add_modules(struct builder *b)
{
	static const char *const instructions[][4] = {
		{"fusion.1", "fusion", "jit(f)/transpose(jvp(f))/dot_general", ""},
		{"copy.2", "copy", NULL, NULL},
	};
	struct builder_plane *metadata = builder_plane(b, 0, "/host:metadata");
	struct tfp_buf proto;
	tfp_buf_init(&proto, 1 << 16);
	sample_hlo(&proto, "jit_step", instructions, 2);
	sample_add_module(metadata, "jit_step(12)", &proto);
	tfp_buf_clear(&proto);
	tfp_buf_puts(&proto, "\xff this is no module");
	sample_add_module(metadata, "broken(13)", &proto);
	tfp_buf_release(&proto);
}

struct builder *sample_capture(enum sample_device device)
{
	struct builder *b = builder_new();
	builder_hostname(b, "node-1");
	add_host(b);
	if (device == SAMPLE_GPU)
		add_gpu(b);
	else if (device == SAMPLE_TPU)
		add_tpu(b);
	add_modules(b);
	builder_warning(b, "12 events were dropped");
	return b;
}
