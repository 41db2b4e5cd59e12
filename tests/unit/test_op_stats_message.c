/* SPDX-License-Identifier: Apache-2.0 */
#include "ops.h"

#include "analysis/summary/op_stats_message.h"
#include "support/pb_walk.h"
#include "support/sample_capture.h"
#include "wire/pb_writer.h"

#define STEPS_LINE (-559038737)
#define ALL                                                                                        \
	(TFP_SUMMARY_OPS | TFP_SUMMARY_STEPS | TFP_SUMMARY_BRIEF | TFP_SUMMARY_PROGRAMS |          \
	 TFP_SUMMARY_WORK)

static struct tfp_host_summary summary_of(const struct opened *o)
{
	struct tfp_host_summary s = {0};
	struct tfp_error err;
	if (tfp_host_summary_get(&s, o->capture, ALL, NULL, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return s;
}

static struct tfp_buf pack(const struct tfp_host_summary *s, unsigned parts)
{
	struct tfp_buf bytes;
	struct tfp_error err;
	tfp_buf_init(&bytes, TFP_OP_STATS_MESSAGE_MAX);
	assert_int_equal(tfp_op_stats_pack(s, parts, &bytes, &err), TFP_OK);
	return bytes;
}

static enum tfp_status unpack(struct tfp_host_summary *s, unsigned parts, const struct tfp_buf *b)
{
	struct tfp_error err;
	*s = (struct tfp_host_summary){0};
	return tfp_op_stats_unpack(s, parts, b->data, b->size, &err);
}

static void assert_same_bytes(const struct tfp_buf *a, const struct tfp_buf *b)
{
	assert_int_equal(a->size, b->size);
	assert_memory_equal(a->data, b->data, a->size);
}

/* One step of 1000 ns with a kernel of 400, a function, and what the profiler said. */
static struct builder *stepped_capture(void)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_plane *gpu = builder_plane(b, 1, "/device:GPU:0");
	struct builder_line *line = builder_line(host, 1, "main", 0);
	struct builder_stats *e = builder_event(line, "train", 0, 1000000);
	builder_hostname(b, "node-7");
	builder_warning(b, "mind this");
	builder_error(b, "an error \x01");
	builder_error(b, "");
	builder_stat_int(e, "group_id", 4);
	builder_stat_str(e, "step_name", "train 4");
	e = builder_event(line, "a:MatMul", 100000, 300000);
	builder_stat_int(e, "group_id", 4);
	builder_stat_str(builder_event(line, "f", 600000, 50000), "tf_function_call", "eager");
	e = builder_event(builder_line(gpu, 7, "Stream #7", 0), "kernel", 500000, 400000);
	builder_stat_int(e, "group_id", 4);
	builder_stat_uint(e, "correlation_id", 1);
	builder_stat_str(e, "kernel_details", "regs:9 grid:2,3,4 block:5,6,7");
	e = builder_event(builder_line(gpu, STEPS_LINE, "Steps", 0), "4", 0, 1000000);
	builder_stat_int(e, "group_id", 4);
	return b;
}

static void test_round_trip(void **state)
{
	(void)state;
	for (int device = SAMPLE_GPU; device <= SAMPLE_NO_DEVICE + 1; device++) {
		struct opened o = open_built(device > SAMPLE_NO_DEVICE
						     ? stepped_capture()
						     : sample_capture((enum sample_device)device));
		struct tfp_host_summary made = summary_of(&o), read;
		struct tfp_buf ops = pack(&made, TFP_SUMMARY_OPS);
		struct tfp_buf steps = pack(&made, TFP_SUMMARY_STEPS);
		struct tfp_buf brief = pack(&made, TFP_SUMMARY_BRIEF);
		struct tfp_buf programs = pack(&made, TFP_SUMMARY_PROGRAMS);
		struct tfp_buf work = pack(&made, TFP_SUMMARY_WORK);
		struct tfp_buf all = pack(&made, ALL), again;
		assert_true(ops.size > 20 && steps.size > 10);

		assert_int_equal(unpack(&read, ALL, &all), TFP_OK);
		again = pack(&read, ALL);
		assert_same_bytes(&again, &all);
		tfp_buf_release(&again);
		/* The copy owes nothing to the capture. */
		assert_null(read.capture);
		assert_int_equal(read.op_stats->kernels.count, made.op_stats->kernels.count);
		for (size_t i = 0; i < made.op_stats->host_ops.count; i++) {
			const struct tfp_op *a = &made.op_stats->host_ops.ops[i];
			const struct tfp_op *b = &read.op_stats->host_ops.ops[i];
			assert_int_equal(tfp_str_compare(a->name, b->name), 0);
			assert_int_equal(a->self_time_ps, b->self_time_ps);
			assert_true(a->has_cost == b->has_cost && a->flops == b->flops);
		}
		assert_int_equal(read.steps->count, made.steps->count);
		assert_int_equal(read.steps->core_count, made.steps->core_count);
		for (size_t c = 0; c < made.steps->core_count; c++) {
			const struct tfp_core_step *a = &made.steps->cores[c];
			const struct tfp_core_step *b = &read.steps->cores[c];
			assert_true(a->is_tpu == b->is_tpu && a->core == b->core);
			assert_int_equal(a->begin_ps, b->begin_ps);
			assert_memory_equal(a->type_ps, b->type_ps, sizeof(a->type_ps));
			assert_memory_equal(a->tpu_ps, b->tpu_ps, sizeof(a->tpu_ps));
		}
		assert_int_equal(read.error_count, made.error_count);
		assert_int_equal(read.warning_count, made.warning_count);
		tfp_host_summary_release(&read);

		/* One part after the other. */
		assert_int_equal(unpack(&read, TFP_SUMMARY_STEPS, &steps), TFP_OK);
		assert_null(read.op_stats);
		struct tfp_error err;
		assert_int_equal(
			tfp_op_stats_unpack(&read, TFP_SUMMARY_OPS, ops.data, ops.size, &err),
			TFP_OK);
		assert_null(read.brief);
		assert_null(read.op_texts);
		assert_null(read.step_works);
		assert_int_equal(
			tfp_op_stats_unpack(&read, TFP_SUMMARY_WORK, work.data, work.size, &err),
			TFP_OK);
		assert_int_equal(tfp_op_stats_unpack(&read, TFP_SUMMARY_PROGRAMS, programs.data,
						     programs.size, &err),
				 TFP_OK);
		assert_int_equal(
			tfp_op_stats_unpack(&read, TFP_SUMMARY_BRIEF, brief.data, brief.size, &err),
			TFP_OK);
		assert_int_equal(read.brief->events, o.capture->event_count);
		again = pack(&read, ALL);
		assert_same_bytes(&again, &all);
		tfp_buf_release(&again);
		tfp_host_summary_release(&read);
		tfp_buf_release(&all);
		tfp_buf_release(&brief);
		tfp_buf_release(&programs);
		tfp_buf_release(&steps);
		tfp_buf_release(&work);
		tfp_buf_release(&ops);
		tfp_host_summary_release(&made);
		close_built(&o);
	}
}

/* What no capture of the samples has: every field different from its default. */
static void test_every_field(void **state)
{
	struct tfp_host_summary s = {0}, read;
	(void)state;
	assert_true(tfp_host_summary_own(&s));
	struct tfp_host_summary_memory *m = s.memory;
	m->op_stats.env = (struct tfp_run_env){
		.hardware = TFP_HW_TPU,
		.device_type = "TPU v9",
		.device_count = 3,
		.hostname = "h\xc3\xa4",
		.peaks = {.teraflops = 0.1,
			  .gigabytes_per_second = {1e-300, 7, 8, 9, 10, 11, 12},
			  .has_merged_vmem = true,
			  .has_megacore = true,
			  .source = "s\xc3\xb6mebody"}};
	m->op_stats.is_training = true;
	struct tfp_op *op = tfp_op_db_enter(&m->op_stats.device.ops, UINT64_MAX,
					    (struct tfp_str){"a\0b\xff", 4});
	op->category = str_of("c");
	op->provenance = str_of("p/q:R");
	op->is_eager = op->has_cost = true;
	op->occurrences = UINT64_C(1) << 40;
	op->time_ps = UINT64_MAX;
	op->self_time_ps = 12;
	op->flops = 0x1.fffffffffffffp1023;
	op->model_flops = -1.5;
	op->bytes_accessed = 0.25;
	struct tfp_device_metrics *device = tfp_op_db_device(&m->op_stats.device.ops, op);
	assert_non_null(device);
	*device = (struct tfp_device_metrics){.origin = TFP_ORIGIN_FRAMEWORK,
					      .cost_by = TFP_COST_BY_US,
					      .core = TFP_CORE_SPARSE,
					      .has_breakdown = true,
					      .normalized_ps = 41,
					      .dma_stall_ps = 42};
	for (int i = 0; i < TFP_SPACE_COUNT * TFP_ACCESS_COUNT; i++)
		(&device->bytes[0][0])[i] = i + 0.5;
	m->op_stats.device.peers_time_ps = 43;
	m->op_stats.device.whole_time_ps = UINT64_MAX;
	assert_non_null(tfp_op_db_enter(&m->op_stats.device.unnamed, 0, str_of("memcpy")));
	struct tfp_op_text *text = tfp_op_texts_enter(&m->op_texts, UINT64_MAX, str_of("a"));
	text->deduplicated_name = str_of("b");
	text->expression = str_of("%a = \xff");
	text->source_file = str_of("f.py");
	text->source_line = -1;
	text->source_stack = str_of("f.py:1:2\n");
	const struct tfp_op_part parts[] = {
		{1, str_of("c"), str_of("d"), str_of("e"), str_of("f")},
		{2, str_of("g"), str_of(""), str_of(""), str_of("h")},
		{1, str_of("i"), str_of("j"), str_of(":"), str_of("k")},
	};
	text->parts = parts;
	text->part_count = COUNT(parts);
	tfp_op_texts_program(&m->op_texts, 9, str_of("jit_g"))->instructions = 50;
	tfp_op_texts_program(&m->op_texts, 8, str_of("jit_f"))->instructions = UINT64_MAX;
	s.op_texts = &m->op_texts;
	m->op_stats.device.ops.total_time_ps = 5;
	m->op_stats.device.ops.total_op_time_ps = 6;
	m->op_stats.host_ops.total_time_ps = 7;
	struct tfp_kernel kernel = {
		.name = str_of("k"),
		.op_name = str_of("o"),
		.op_type = str_of("t"),
		.op_is_tensor_core_eligible = true,
		.uses_tensor_core = true,
		.registers = 1,
		.static_shared_bytes = 2,
		.dynamic_shared_bytes = 3,
		.block = {4, 5, 6},
		.grid = {7, 8, UINT32_MAX},
		.occupancy_percent = 37.5F,
		.occurrences = 10,
		.total_ns = 11,
		.min_ns = 12,
		.max_ns = 13,
	};
	m->op_stats.kernels.kernels = &kernel;
	m->op_stats.kernels.count = 1;
	struct tfp_core_step cores[2] = {
		{.core = 1, .begin_ps = -5, .duration_ps = 100},
		{.core = 70000, .is_tpu = true, .begin_ps = 1, .duration_ps = 21},
	};
	for (int i = 0; i < TFP_STEP_EVENT_COUNT; i++)
		cores[0].type_ps[i] = (uint64_t)i * i;
	for (int i = 0; i < TFP_TPU_PART_COUNT; i++)
		cores[1].tpu_ps[i] = (uint64_t)i + 1;
	struct tfp_step step = {.number = 9,
				.name = str_of("train 9"),
				.core_count = 2,
				.copies = {{1, 2, 3}, {4, 5, 6}, {7, UINT64_MAX, 9}}};
	m->steps.steps = &step;
	m->steps.count = 1;
	m->steps.cores = cores;
	m->steps.core_count = 2;
	m->steps.compute_16_ps = 16;
	m->steps.compute_32_ps = 32;
	m->steps.has_device = m->steps.has_groups = m->steps.intersection_empty = true;
	m->steps.module = str_of("jit_step(7)");
	m->steps.module_steps = 33;
	struct tfp_step_work work[2] = {{.number = 9,
					 .begin_ps = -5,
					 .end_ps = 95,
					 .duration_ps = 100,
					 .peers_time_ps = 200,
					 .whole_time_ps = UINT64_MAX,
					 .parts[TFP_WORK_FEEDS] = {.self_time_ps = 1,
								   .time_ps = 2,
								   .has_cost = true,
								   .flops = -0.5,
								   .model_flops = 0x1p1000,
								   .bytes_accessed = 0.25,
								   .has_breakdown = true},
					 .parts[TFP_WORK_OTHERS] = {.time_ps = 7}}};
	for (int i = 0; i < TFP_SPACE_COUNT * TFP_ACCESS_COUNT; i++)
		(&work[0].parts[TFP_WORK_FEEDS].bytes[0][0])[i] = i + 0.5;
	m->step_works = (struct tfp_step_works){.list = work,
						.count = 2,
						.has_device = true,
						.module_steps = 34,
						.module = str_of("jit_step(7)")};
	s.step_works = &m->step_works;
	struct tfp_request requests[] = {{40, 30, 10}, {UINT64_MAX, 1, 2}};
	m->requests = (struct tfp_requests){requests, COUNT(requests)};
	struct tfp_function function = {.name = str_of("f"), .tracing_count = -1};
	for (int i = 0; i < TFP_FUNCTION_MODE_COUNT; i++) {
		function.calls[i] = 10 + (uint64_t)i;
		function.self_ps[i] = 20 + (uint64_t)i;
	}
	m->functions.list = &function;
	m->functions.count = 1;
	m->utilization = (struct tfp_utilization){1, 2, 3.25, 4.5, 5, 6, 7};
	const struct tfp_diagnostic damage[] = {{TFP_WARNING, 77, "cut", "copy it again"},
						{TFP_ERROR, TFP_NO_OFFSET, "bad", ""}};
	m->brief = (struct tfp_capture_brief){
		1, 2, UINT64_MAX, 4, 0.1, {true, -5, UINT64_MAX}, damage, COUNT(damage)};
	s.brief = &m->brief;
	const struct tfp_str errors[] = {str_of("e")}, warnings[] = {str_of("w"), str_of("")};
	s.op_stats = &m->op_stats;
	s.steps = &m->steps;
	s.functions = &m->functions;
	s.utilization = &m->utilization;
	s.requests = &m->requests;
	s.errors = errors;
	s.error_count = 1;
	s.warnings = warnings;
	s.warning_count = 2;

	struct tfp_buf bytes = pack(&s, ALL);
	assert_int_equal(unpack(&read, ALL, &bytes), TFP_OK);
	assert_memory_equal(&read.op_stats->env, &m->op_stats.env, sizeof(struct tfp_run_env));
	assert_true(read.op_stats->is_training);
	const struct tfp_op *other = &read.op_stats->device.ops.ops[0];
	assert_true(other->module_id == UINT64_MAX && other->name.size == 4);
	assert_memory_equal(other->name.data, "a\0b\xff", 4);
	assert_str(other->category, "c");
	assert_str(other->provenance, "p/q:R");
	assert_true(other->is_eager && other->has_cost);
	assert_true(other->occurrences == op->occurrences && other->time_ps == UINT64_MAX);
	assert_true(other->self_time_ps == 12 && other->flops == op->flops);
	assert_true(other->model_flops == -1.5 && other->bytes_accessed == 0.25);
	assert_memory_equal(other->device, device, sizeof(*device));
	assert_int_equal(read.op_stats->device.peers_time_ps, 43);
	assert_true(read.op_stats->device.whole_time_ps == UINT64_MAX);
	assert_str(read.op_stats->device.unnamed.ops[0].name, "memcpy");
	const struct tfp_op_text *t = tfp_op_texts_find(read.op_texts, UINT64_MAX, str_of("a"));
	assert_non_null(t);
	assert_str(t->deduplicated_name, "b");
	assert_str(t->expression, "%a = \xff");
	assert_str(t->source_file, "f.py");
	assert_str(t->source_stack, "f.py:1:2\n");
	assert_int_equal(t->source_line, -1);
	assert_int_equal(t->part_count, 3);
	assert_int_equal(t->parts[1].depth, 2);
	assert_str(t->parts[2].provenance, ":");
	assert_str(tfp_op_texts_find_program(read.op_texts, 8)->name, "jit_f");
	assert_int_equal(tfp_op_texts_find_program(read.op_texts, 9)->instructions, 50);
	assert_null(tfp_op_texts_find_program(read.op_texts, 7));
	assert_int_equal(read.op_stats->device.ops.total_time_ps, 5);
	assert_int_equal(read.op_stats->device.ops.total_op_time_ps, 6);
	assert_int_equal(read.op_stats->host_ops.total_time_ps, 7);
	struct tfp_kernel k = read.op_stats->kernels.kernels[0];
	assert_int_equal(tfp_kernel_compare(&k, &kernel), 0);
	assert_true(k.occupancy_percent == 37.5F && k.min_ns == 12 && k.max_ns == 13);
	assert_true(k.occurrences == 10 && k.grid[2] == UINT32_MAX && k.registers == 1);
	assert_true(k.uses_tensor_core && k.op_is_tensor_core_eligible);
	assert_str(k.op_type, "t");
	assert_memory_equal(read.steps->cores, cores, sizeof(cores));
	assert_memory_equal(read.steps->steps[0].copies, step.copies, sizeof(step.copies));
	assert_str(read.steps->steps[0].name, "train 9");
	assert_int_equal(read.steps->steps[0].number, 9);
	assert_true(read.steps->compute_16_ps == 16 && read.steps->compute_32_ps == 32);
	assert_true(read.steps->has_device && read.steps->has_groups);
	assert_true(read.steps->intersection_empty && !read.steps->absent);
	assert_str(read.steps->module, "jit_step(7)");
	assert_int_equal(read.steps->module_steps, 33);
	assert_int_equal(read.step_works->count, 2);
	assert_memory_equal(read.step_works->list, work, sizeof(work));
	assert_true(read.step_works->has_device && !read.step_works->absent);
	assert_str(read.step_works->module, "jit_step(7)");
	assert_int_equal(read.step_works->module_steps, 34);
	assert_int_equal(read.requests->count, COUNT(requests));
	assert_memory_equal(read.requests->list, requests, sizeof(requests));
	assert_str(read.functions->list[0].name, "f");
	assert_int_equal(read.functions->list[0].tracing_count, -1);
	assert_memory_equal(read.functions->list[0].calls, function.calls, sizeof(function.calls));
	assert_memory_equal(read.functions->list[0].self_ps, function.self_ps,
			    sizeof(function.self_ps));
	assert_memory_equal(read.utilization, &m->utilization, sizeof(m->utilization));
	assert_int_equal(read.brief->planes, 1);
	assert_int_equal(read.brief->lines, 2);
	assert_true(read.brief->events == UINT64_MAX && read.brief->broken_modules == 4);
	assert_true(read.brief->duration_ms == 0.1 && read.brief->diagnostic_count == 2);
	assert_true(read.brief->start.any && read.brief->start.begin_ps == -5 &&
		    read.brief->start.profile_start_ns == UINT64_MAX);
	for (size_t i = 0; i < COUNT(damage); i++) {
		assert_int_equal(read.brief->diagnostics[i].severity, damage[i].severity);
		assert_true(read.brief->diagnostics[i].offset == damage[i].offset);
		assert_string_equal(read.brief->diagnostics[i].message, damage[i].message);
		assert_string_equal(read.brief->diagnostics[i].hint, damage[i].hint);
	}
	assert_str(read.errors[0], "e");
	assert_str(read.warnings[0], "w");
	assert_int_equal(read.warning_count, 2);
	/* The code that merges asks the map. */
	assert_int_equal(tfp_str_map_find(&read.functions->by_name, "f", 1), 0);
	tfp_host_summary_release(&read);
	tfp_buf_release(&bytes);

	/* These are the stack's. */
	m->op_stats.kernels = (struct tfp_kernels){.arena = m->op_stats.kernels.arena};
	m->steps.steps = NULL;
	m->steps.cores = NULL;
	m->functions.list = NULL;
	m->requests.list = NULL;
	m->step_works = (struct tfp_step_works){0};
	tfp_host_summary_release(&s);
}

/* The field of a message, entered; the test fails without it. */
static struct pb_walk enter(struct pb_walk w, uint32_t field)
{
	while (pb_next(&w)) {
		if (w.field == field && w.wire == 2)
			return pb_inside(&w);
	}
	fail_msg("there is no field %d", (int)field);
	return w;
}

static uint64_t number(struct pb_walk w, uint32_t field)
{
	while (pb_next(&w)) {
		if (w.field == field && w.wire != 2)
			return w.value;
	}
	return 0;
}

static void assert_field(struct pb_walk w, uint32_t field, const char *expected)
{
	struct pb_walk in = enter(w, field);
	assert_str((struct tfp_str){(const char *)in.at, (size_t)(in.end - in.at)}, expected);
}

/* By the numbers in XProf's files, which a peer would read it with. */
static void test_as_a_peer_reads_it(void **state)
{
	(void)state;
	struct opened o = open_built(stepped_capture());
	struct tfp_host_summary s = summary_of(&o);
	struct tfp_buf bytes = pack(&s, ALL);
	struct pb_walk top = pb_walk(bytes.data, bytes.size);
	/* host_op_metrics_db.metrics_db: IDLE and a. */
	struct pb_walk ops = enter(top, 1);
	bool found = false;
	while (pb_next(&ops)) {
		if (ops.field != 10)
			continue;
		struct pb_walk op = pb_inside(&ops);
		struct pb_walk name = enter(op, 6);
		if (name.end - name.at != 1 || *name.at != 'a')
			continue;
		found = true;
		assert_field(op, 11, "MatMul");
		assert_int_equal(number(op, 1), 300000);
		assert_int_equal(number(op, 7), 300000);
		assert_int_equal(number(op, 3), 1);
	}
	assert_true(found && pb_good(&ops));
	/* run_environment. */
	struct pb_walk env = enter(top, 5);
	assert_field(enter(env, 3), 1, "node-7");
	assert_int_equal(number(env, 5), 1);
	assert_int_equal(number(env, 16), 2);
	/* kernel_stats_db.reports. */
	struct pb_walk report = enter(enter(top, 6), 1);
	assert_field(report, 1, "kernel");
	assert_int_equal(number(report, 2), 9);
	assert_int_equal(number(report, 13), 1);
	/* step_db.step_sequence.step_info_per_core of core 1. */
	struct pb_walk step = enter(enter(top, 4), 1);
	assert_int_equal(number(step, 1), 4);
	struct pb_walk entry = enter(step, 2);
	assert_int_equal(number(entry, 1), 1);
	struct pb_walk info = enter(entry, 2);
	assert_int_equal(number(info, 1), 4);
	assert_int_equal(number(info, 2), 1000000);
	struct pb_walk any = enter(info, 4);
	assert_field(any, 1, "type.googleapis.com/tensorflow.profiler.GenericStepBreakdown");
	/* type_ps: the sum is the step, and DEVICE_COMPUTE_32 is 140. */
	struct pb_walk types = enter(any, 2);
	uint64_t sum = 0, compute = 0;
	while (pb_next(&types)) {
		assert_int_equal(types.field, 1);
		sum += number(pb_inside(&types), 2);
		if (number(pb_inside(&types), 1) == 140)
			compute = number(pb_inside(&types), 2);
	}
	assert_int_equal(sum, 1000000);
	assert_int_equal(compute, 400000);
	/* diagnostics.warnings. */
	assert_field(enter(top, 9), 2, "mind this");
	tfp_buf_release(&bytes);
	tfp_host_summary_release(&s);
	close_built(&o);
}

/* Bytes that are refused, by what was changed in good ones. */
static void test_bad_bytes(void **state)
{
	struct opened o = open_built(stepped_capture());
	struct tfp_host_summary s = summary_of(&o), read;
	struct tfp_buf bytes = pack(&s, ALL), changed;
	(void)state;
	for (size_t n = 0; n < bytes.size; n++) {
		struct tfp_buf cut = {.data = bytes.data, .size = n};
		enum tfp_status status = unpack(&read, ALL, &cut);
		assert_true(status == TFP_BAD_INPUT || status == TFP_OK);
		tfp_host_summary_release(&read);
	}
	struct tfp_buf nothing = {.data = "", .size = 0};
	assert_int_equal(unpack(&read, ALL, &nothing), TFP_BAD_INPUT);
	tfp_host_summary_release(&read);
	/* Numbers that no capture gives. */
	for (int i = 0; i < 5; i++) {
		assert_int_equal(unpack(&read, ALL, &bytes), TFP_OK);
		struct tfp_host_summary_memory *m = read.memory;
		assert_true(m->steps.core_count > 0 && m->op_stats.kernels.count > 0);
		if (i == 0)
			m->op_stats.env.hardware = (enum tfp_hardware)4;
		else if (i == 1)
			m->op_stats.kernels.kernels[0].occurrences = 0;
		else if (i == 2)
			m->steps.cores[0].begin_ps = INT64_MAX;
		else if (i == 3)
			m->steps.cores[0].duration_ps = -1;
		else
			strcpy(m->op_stats.env.hostname, "\xff");
		changed = pack(&read, ALL);
		tfp_host_summary_release(&read);
		assert_int_equal(unpack(&read, ALL, &changed), TFP_BAD_INPUT);
		tfp_host_summary_release(&read);
		tfp_buf_release(&changed);
	}
	/* Elements that lack what they need, added at the end. */
	static const struct {
		uint32_t top, inner, field, value;
	} wrong[] = {
		{6, 1, 13, 1}, /* a kernel without a grid */
		{4, 1, 1, 5},  /* a step without copies */
		{8, 1, 9, 1},  /* a function without a value */
	};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		tfp_buf_init(&changed, 1 << 20);
		tfp_buf_add(&changed, bytes.data, bytes.size);
		size_t top = tfp_pb_begin(&changed, wrong[i].top);
		size_t inner = tfp_pb_begin(&changed, wrong[i].inner);
		tfp_pb_put_uint(&changed, wrong[i].field, wrong[i].value);
		tfp_pb_end(&changed, inner);
		tfp_pb_end(&changed, top);
		assert_int_equal(unpack(&read, ALL, &changed), TFP_BAD_INPUT);
		tfp_host_summary_release(&read);
		tfp_buf_release(&changed);
	}
	/* The same operation twice. */
	tfp_buf_init(&changed, 1 << 20);
	tfp_buf_add(&changed, bytes.data, bytes.size);
	for (int i = 0; i < 2; i++) {
		size_t db = tfp_pb_begin(&changed, 1), op = tfp_pb_begin(&changed, 10);
		tfp_pb_put_text(&changed, 6, "twice");
		tfp_pb_end(&changed, op);
		tfp_pb_end(&changed, db);
	}
	assert_int_equal(unpack(&read, ALL, &changed), TFP_BAD_INPUT);
	tfp_host_summary_release(&read);
	tfp_buf_release(&changed);
	tfp_buf_release(&bytes);
	tfp_host_summary_release(&s);
	close_built(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_every_field),
		cmocka_unit_test(test_as_a_peer_reads_it),
		cmocka_unit_test(test_bad_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
