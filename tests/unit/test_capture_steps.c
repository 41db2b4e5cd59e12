/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a capture: the worked examples of XProf's own tests, and numbers computed by hand
 * for what those leave open: several devices, and executions as steps. */
#include "steps.h"

#include "analysis/steps/bottleneck.h"
#include "analysis/steps/steps_combine.h"

#define STEPS_LINE (-559038737)

static void kernel(struct builder_line *line, const char *name, int64_t begin, int64_t duration,
		   int64_t group)
{
	builder_stat_uint(grouped(line, name, begin, duration, group), "correlation_id", 7);
}

static void assert_sums(const struct tfp_steps *steps)
{
	for (size_t i = 0; i < steps->core_count; i++) {
		const struct tfp_core_step *core = &steps->cores[i];
		uint64_t categories[TFP_STEP_CATEGORY_COUNT], sum = 0;
		tfp_step_categories(core, categories);
		for (size_t c = 0; c < COUNT(categories); c++)
			sum += categories[c];
		for (size_t p = 0; core->is_tpu && p < TFP_TPU_PART_COUNT; p++)
			sum += core->tpu_ps[p];
		if (core->is_tpu)
			sum -= categories[TFP_STEP_ALL_OTHERS];
		assert_int_equal(sum, core->duration_ps);
	}
}

/* CpuOnlyStepDbTest. */
static void test_cpu_only(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *l0 = builder_line(host, 0, "0", 0);
	struct builder_line *l1 = builder_line(host, 1, "1", 0);
	(void)state;
	builder_stat_int(builder_event(l0, "TraceContext", 0, 100), "step_num", 123);
	struct builder_stats *e = builder_event(l0, "FunctionRun", 10, 90);
	builder_stat_int(e, "id", 0);
	builder_stat_int(e, "_pt", 1);
	builder_stat_int(e, "_p", 0);
	e = builder_event(l1, "ExecutorState::Process", 20, 80);
	builder_stat_int(e, "id", 0);
	builder_stat_int(e, "_ct", 1);
	builder_stat_int(e, "_c", 0);
	builder_event(l1, "matmul", 30, 70);
	struct opened o = open_built(b);
	const struct tfp_steps *steps = steps_of(&o);
	assert_int_equal(steps->count, 1);
	assert_int_equal(steps->steps[0].number, 0);
	assert_str(steps->steps[0].name, "TraceContext 123");
	const struct tfp_core_step *core = tfp_step_core(steps, 0, 0);
	assert_int_equal(core->core, 1);
	assert_int_equal(core->duration_ps, 100);
	assert_int_equal(core->type_ps[TFP_STEP_HOST_COMPUTE], 80);
	assert_int_equal(core->type_ps[TFP_STEP_UNKNOWN], 20);
	assert_sums(steps);
	close_built(&o);
}

/* Steps overlap, and a thread works for one and the other by turns. */
static void test_a_thread_for_two_steps(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *markers = builder_line(host, 0, "0", 0);
	struct builder_line *l = builder_line(host, 1, "1", 0);
	(void)state;
	grouped(markers, "train", 0, 100, 0);
	grouped(markers, "train", 50, 100, 1);
	grouped(l, "a", 60, 5, 0);
	grouped(l, "a", 70, 10, 1);
	grouped(l, "a", 85, 5, 0);
	grouped(l, "a", 110, 10, 1);
	grouped(l, "a", 130, 7, 0); /* after its step */
	struct opened o = open_built(b);
	const struct tfp_steps *steps = steps_of(&o);
	assert_int_equal(steps->count, 2);
	for (size_t s = 0; s < 2; s++) {
		const struct tfp_core_step *core = tfp_step_core(steps, s, 0);
		assert_int_equal(core->duration_ps, 100);
		assert_int_equal(core->type_ps[TFP_STEP_HOST_COMPUTE], s == 0 ? 10 : 20);
	}
	assert_sums(steps);
	close_built(&o);
}

/* GpuStepDbTest: the group goes from the host's launch to the kernel. */
static void test_gpu(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *l0 = builder_line(host, 0, "0", 0);
	struct builder_line *l1 = builder_line(host, 1, "1", 0);
	(void)state;
	builder_stat_int(builder_event(l0, "TraceContext", 0, 100), "step_num", 123);
	struct builder_stats *e = builder_event(l0, "FunctionRun", 10, 90);
	builder_stat_int(e, "id", 0);
	builder_stat_int(e, "_pt", 1);
	builder_stat_int(e, "_p", 0);
	e = builder_event(l1, "ExecutorState::Process", 20, 20);
	builder_stat_int(e, "id", 0);
	builder_stat_int(e, "_ct", 1);
	builder_stat_int(e, "_c", 0);
	builder_stat_int(builder_event(l1, "matmul", 30, 10), "correlation_id", 100);
	struct builder_plane *gpu = builder_plane(b, 1, "/device:GPU:0");
	builder_stat_int(builder_event(builder_line(gpu, 0, "stream", 0), "matmul", 50, 40),
			 "correlation_id", 100);
	struct opened o = open_built(b);
	const struct tfp_steps *steps = steps_of(&o);
	assert_int_equal(steps->count, 1);
	assert_int_equal(steps->compute_32_ps, 40);
	assert_int_equal(steps->compute_16_ps, 0);
	/* The host's marker holds the device's: it is the step. */
	assert_int_equal(tfp_step_time_ps(steps, 0), 100);
	const struct tfp_core_step *core = tfp_step_core(steps, 0, 0);
	assert_int_equal(core->type_ps[TFP_STEP_DEVICE_COMPUTE_32], 40);
	assert_int_equal(core->type_ps[TFP_STEP_HOST_PREPARE], 20);
	assert_sums(steps);
	close_built(&o);
}

/* A grouped capture with two GPUs: union of their events, host events only of groups that
 * a device has, the device's marker where the host's does not hold it. */
static void test_two_gpus(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *h = builder_line(host, 0, "python", 0);
	(void)state;
	builder_stat_str(grouped(h, "train", 0, 100, 4), "step_name", "train 12");
	grouped(h, "a/Op:Op", 10, 20, 4);
	kernel(h, "cuLaunchKernel", 15, 5, 4);
	grouped(h, "EagerExecute: x", 30, 60, 4);
	grouped(h, "b/Op:Op", 200, 50, 9); /* no device has group 9 */
	for (int g = 0; g < 2; g++) {
		struct builder_plane *gpu =
			builder_plane(b, 1 + g, g ? "/device:GPU:1" : "/device:GPU:0");
		struct builder_line *s = builder_line(gpu, 14, "stream", 0);
		struct builder_line *steps = builder_line(gpu, STEPS_LINE, "Steps", 0);
		kernel(s, "gemm", 40 + 20 * g, 30, 4);
		struct builder_stats *copy = grouped(s, "MemcpyD2H", 100, 20, 4);
		builder_stat_int(copy, "correlation_id", 8);
		builder_stat_str(copy, "memcpy_details", "size:1024 dest:0");
		grouped(s, "gemm", 300, 5, 4); /* nothing launched it */
		kernel(s, "gemm", 400, 5, 5);  /* a group without marker */
		grouped(steps, "4", 40, 80, 4);
	}
	struct opened o = open_built(b);
	const struct tfp_steps *steps = steps_of(&o);
	assert_int_equal(steps->count, 1);
	assert_int_equal(steps->steps[0].number, 4);
	assert_str(steps->steps[0].name, "train 12");
	const struct tfp_core_step *core = tfp_step_core(steps, 0, 0);
	assert_int_equal(core->begin_ps, 40);
	assert_int_equal(core->duration_ps, 80);
	assert_int_equal(core->type_ps[TFP_STEP_DEVICE_COMPUTE_32], 50);
	assert_int_equal(core->type_ps[TFP_STEP_DEVICE_TO_HOST], 20);
	assert_int_equal(core->type_ps[TFP_STEP_HOST_COMPUTE], 0);
	assert_int_equal(core->type_ps[TFP_STEP_UNKNOWN], 10);
	assert_int_equal(steps->steps[0].copies[TFP_COPY_D2H].count, 2);
	assert_int_equal(steps->steps[0].copies[TFP_COPY_D2H].time_ps, 40);
	assert_int_equal(steps->steps[0].copies[TFP_COPY_D2H].bytes, 2048);
	assert_int_equal(steps->compute_32_ps, 50);
	assert_sums(steps);
	close_built(&o);
}

/* A step that the capture cuts off at its end has a marker only on the device, and one
 * that is cut at its begin none of the host's ops: only what computed is a step. */
static void test_cut_steps(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *h = builder_line(builder_plane(b, 0, "/host:CPU"), 0, "python", 0);
	(void)state;
	grouped(h, "a/Op:Op", 0, 50, 0); /* its marker began before the capture */
	grouped(h, "train", 100, 100, 1);
	grouped(h, "a/Op:Op", 120, 30, 1);
	grouped(h, "train", 300, 0, 2); /* no length */
	grouped(h, "a/Op:Op", 300, 10, 2);
	grouped(h, "train", 400, 50, 3); /* nothing inside yet */
	grouped(h, "IteratorGetNext:IteratorGetNext", 410, 20, 3);
	struct opened o = open_built(b);
	const struct tfp_steps *steps = steps_of(&o);
	assert_int_equal(steps->count, 1);
	assert_int_equal(steps->steps[0].number, 1);
	assert_str(steps->steps[0].name, "");
	assert_int_equal(tfp_step_core(steps, 0, 0)->type_ps[TFP_STEP_HOST_COMPUTE], 30);
	assert_int_equal(tfp_step_core(steps, 0, 0)->type_ps[TFP_STEP_UNKNOWN], 70);
	assert_sums(steps);
	close_built(&o);
}

static void test_idle_gpu(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *h = builder_line(host, 0, "python", 0);
	(void)state;
	grouped(h, "train", 0, 100, 0);
	grouped(h, "a/Op:Op", 10, 20, 0);
	struct builder_plane *gpu = builder_plane(b, 1, "/device:GPU:0");
	builder_stat_name_id(gpu, "group_id");
	struct opened o = open_built(b);
	const struct tfp_steps *steps = steps_of(&o);
	assert_int_equal(steps->count, 0);
	assert_true(steps->has_groups);
	assert_non_null(tfp_step_diagnostic(steps));
	close_built(&o);
}

/* MayFixTpuStepAnalysis: input 210; cores 1000/300 and 900/250 -> 252/48 and 210/40. */
static void test_tpu(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	struct builder_line *h = builder_line(builder_plane(b, 0, "/host:CPU"), 0, "python", 0);
	grouped(h, "IteratorGetNext:IteratorGetNext", 0, 210, 0);
	for (int c = 0; c < 2; c++) {
		struct builder_plane *tpu =
			builder_plane(b, 2 + c, c ? "/device:TPU:1" : "/device:TPU:0");
		struct builder_line *steps = builder_line(tpu, 1, "Steps", 0);
		struct builder_line *ops = builder_line(tpu, 3, "XLA Ops", 0);
		builder_stat_str(builder_metadata_stats(tpu, "fusion"), "hlo_category",
				 "loop fusion");
		builder_stat_str(builder_metadata_stats(tpu, "all-reduce"), "hlo_category",
				 "all-reduce");
		grouped(steps, "0", 0, c ? 900 : 1000, 0);
		grouped(ops, "fusion", 0, c ? 650 : 700, 0);
		grouped(ops, "all-reduce", 100, 0, 0); /* inside the fusion */
	}
	struct opened o = open_built(b);
	const struct tfp_steps *steps = steps_of(&o);
	assert_int_equal(steps->count, 1);
	assert_int_equal(steps->steps[0].core_count, 2);
	const struct tfp_core_step *core = tfp_step_core(steps, 0, 0);
	assert_int_equal(core->core, 2);
	assert_int_equal(core->tpu_ps[TFP_TPU_COMPUTE], 700);
	assert_int_equal(core->tpu_ps[TFP_TPU_INFEED], 252);
	assert_int_equal(core->tpu_ps[TFP_TPU_IDLE], 48);
	core = tfp_step_core(steps, 0, 1);
	assert_int_equal(core->tpu_ps[TFP_TPU_INFEED], 210);
	assert_int_equal(core->tpu_ps[TFP_TPU_IDLE], 40);
	assert_sums(steps);
	close_built(&o);
}

/* A raw capture of two cores: steps are counted alike on each, ops go to the step that
 * they overlap. Step 0: 100 long on the first core, of which an op takes 60 and a copy in
 * it 20; 90 on the second, all but 10 of it infeed. Only one core has a third step. */
static void test_raw_tpu(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	builder_plane(b, 0, "/host:CPU");
	for (int c = 0; c < 2; c++) {
		struct builder_plane *tpu =
			builder_plane(b, 2 + c, c ? "/device:TPU:1" : "/device:TPU:0");
		struct builder_line *steps = builder_line(tpu, 1, "Steps", 0);
		struct builder_line *ops = builder_line(tpu, 3, "XLA Ops", 0);
		builder_stat_str(builder_metadata_stats(tpu, "fusion"), "hlo_category",
				 "loop fusion");
		builder_stat_str(builder_metadata_stats(tpu, "infeed"), "hlo_category", "infeed");
		builder_stat_str(builder_metadata_stats(tpu, "send"), "hlo_category", "host send");
		for (int s = 0; s < 3 - c; s++)
			builder_event(steps,
				      s == 0   ? "10"
				      : s == 1 ? "11"
					       : "12",
				      1000 * s, c ? 90 : 100);
		builder_event(ops, c ? "infeed" : "fusion", 10, c ? 80 : 60);
		if (c == 0)
			builder_event(ops, "send", 30, 20);
		builder_event(ops, "fusion", 500, 100); /* in no step */
	}
	struct opened o = open_built(b);
	const struct tfp_steps *steps = steps_of(&o);
	assert_int_equal(steps->count, 2);
	assert_int_equal(steps->steps[1].number, 1);
	assert_str(steps->steps[1].name, "1");
	const struct tfp_core_step *core = tfp_step_core(steps, 0, 0);
	assert_int_equal(core->duration_ps, 100);
	assert_int_equal(core->tpu_ps[TFP_TPU_COMPUTE], 40);
	assert_int_equal(core->tpu_ps[TFP_TPU_HOST_TRANSFER], 20);
	assert_int_equal(core->tpu_ps[TFP_TPU_IDLE], 40);
	core = tfp_step_core(steps, 0, 1);
	assert_int_equal(core->tpu_ps[TFP_TPU_INFEED], 80);
	assert_int_equal(core->tpu_ps[TFP_TPU_IDLE], 10);
	assert_int_equal(tfp_step_core(steps, 1, 0)->tpu_ps[TFP_TPU_IDLE], 100);
	assert_sums(steps);
	close_built(&o);
}

/* Of stages of an input pipeline only the outermost count as waiting, and one that works for
 * an event of another thread is no outermost one. */
static void test_stages_of_other_threads(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *h = builder_line(host, 0, "python", 0);
	struct builder_line *worker = builder_line(host, 1, "worker", 0);
	(void)state;
	grouped(h, "train", 0, 100, 0);
	struct builder_stats *e = grouped(h, "root", 10, 20, 0);
	builder_stat_str(e, "_ipl_stage_name", "Root");
	builder_stat_int(e, "_pt", 14);
	builder_stat_int(e, "_p", 5);
	e = grouped(worker, "read", 40, 30, 0);
	builder_stat_str(e, "_ipl_stage_name", "Read");
	builder_stat_int(e, "_ct", 14);
	builder_stat_int(e, "_c", 5);
	builder_stat_str(grouped(worker, "inner", 50, 10, 0), "_ipl_stage_name", "Inner");
	e = grouped(worker, "alone", 80, 5, 0);
	builder_stat_str(e, "_ipl_stage_name", "Alone");
	builder_stat_int(e, "_ct", 14);
	builder_stat_int(e, "_c", 6); /* that nobody produces */
	struct opened o = open_built(b);
	const struct tfp_core_step *core = tfp_step_core(steps_of(&o), 0, 0);
	assert_int_equal(core->type_ps[TFP_STEP_HOST_WAIT_INPUT], 20 + 5);
	assert_int_equal(core->type_ps[TFP_STEP_HOST_COMPUTE], 30);
	assert_sums(steps_of(&o));
	close_built(&o);
}

/* The time that a pool's thread works for a step is the step's, also between its events. */
static void test_threadpool_time(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *h = builder_line(host, 0, "python", 0);
	struct builder_line *pool = builder_line(host, 1, "pool", 0);
	(void)state;
	builder_stat_int(builder_event(h, "train", 0, 100), "_r", 1);
	struct builder_stats *e = builder_event(h, "FunctionRun", 0, 90);
	builder_stat_int(e, "_pt", 15);
	builder_stat_int(e, "_p", 3);
	e = builder_event(pool, "ThreadpoolListener::StartRegion", 20, 0);
	builder_stat_int(e, "_ct", 15);
	builder_stat_int(e, "_c", 3);
	builder_event(pool, "work", 25, 5);
	builder_event(pool, "ThreadpoolListener::StopRegion", 60, 0);
	builder_event(pool, "elsewhere", 70, 5);
	struct opened o = open_built(b);
	const struct tfp_core_step *core = tfp_step_core(steps_of(&o), 0, 0);
	assert_int_equal(core->type_ps[TFP_STEP_HOST_COMPUTE], 40);
	assert_int_equal(core->type_ps[TFP_STEP_UNKNOWN], 60);
	close_built(&o);
}

/* ---- executions as steps ---- */

static void hlo_kernel(struct builder_line *line, const char *name, const char *module, int program,
		       const char *op, int64_t begin, int64_t duration)
{
	struct builder_stats *e = builder_event(line, name, begin, duration);
	builder_stat_uint(e, "correlation_id", 1);
	builder_stat_ref(e, "hlo_module", module);
	builder_stat_int(e, "program_id", program);
	builder_stat_ref(e, "hlo_op", op);
}

static const struct tfp_steps *module_steps_of(const struct opened *o)
{
	const struct tfp_steps *steps;
	struct tfp_error err;
	if (tfp_steps_get_by_module(o->capture, NULL, &steps, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return steps;
}

/* A training step of a JAX program: a kernel, three runs of a loop's body on another
 * stream, a kernel; beside it a module with less time, and a longer one that runs once. Steps
 * begin at 1000, 2000 and 3500; the last ends with the last copy, at 4200. The host's event
 * at 1900 goes on into the next step, where it does not count. */
static void test_executions_on_a_gpu(void **state)
{
	static const int64_t begins[] = {1000, 2000, 3500};
	struct builder *b = builder_new();
	struct builder_line *h = builder_line(builder_plane(b, 0, "/host:CPU"), 0, "python", 0);
	struct builder_plane *gpu = builder_plane(b, 1, "/device:GPU:0");
	struct builder_line *one = builder_line(gpu, 7, "Stream #7", 0);
	struct builder_line *two = builder_line(gpu, 8, "Stream #8", 0);
	(void)state;
	hlo_kernel(one, "once", "jit_init", 1, "fusion", 0, 900);
	for (size_t i = 0; i < COUNT(begins); i++) {
		hlo_kernel(one, "first", "jit_step", 17, "fusion", begins[i], 100);
		for (int64_t loop = 0; loop < 3; loop++)
			hlo_kernel(two, "body", "jit_step", 17, "while.1::fusion.2",
				   begins[i] + 100 + 100 * loop, 50);
		hlo_kernel(one, "half_last", "jit_step", 17, "fusion.9", begins[i] + 400, 100);
		hlo_kernel(one, "first", "jit_other", 18, "fusion", begins[i] + 600, 10);
	}
	builder_stat_uint(builder_event(one, "MemcpyD2H", 4150, 50), "correlation_id", 2);
	builder_event(h, "train", 1000, 3000); /* marks nothing here, and computes nothing */
	builder_event(h, "prepare", 1900, 200);
	struct opened o = open_built(b);
	assert_int_equal(steps_of(&o)->count, 0);
	assert_int_equal(steps_of(&o)->module_steps, 3);
	const struct tfp_steps *steps = module_steps_of(&o);
	assert_str(steps->module, "jit_step(17)");
	assert_int_equal(steps->count, 3);
	const struct tfp_core_step *core = tfp_step_core(steps, 0, 0);
	assert_int_equal(core->begin_ps, 1000);
	assert_int_equal(core->duration_ps, 1000);
	assert_int_equal(core->type_ps[TFP_STEP_DEVICE_COMPUTE_32], 100 + 150 + 10);
	assert_int_equal(core->type_ps[TFP_STEP_DEVICE_COMPUTE_16], 100);
	assert_int_equal(core->type_ps[TFP_STEP_HOST_COMPUTE], 100);
	assert_int_equal(core->type_ps[TFP_STEP_UNKNOWN], 540);
	core = tfp_step_core(steps, 1, 0);
	assert_int_equal(core->duration_ps, 1500);
	assert_int_equal(core->type_ps[TFP_STEP_HOST_COMPUTE], 0);
	core = tfp_step_core(steps, 2, 0);
	assert_int_equal(core->duration_ps, 700);
	assert_int_equal(core->type_ps[TFP_STEP_DEVICE_TO_HOST], 50);
	assert_int_equal(steps->steps[2].number, 2);
	assert_str(steps->steps[2].name, "");
	assert_sums(steps);
	close_built(&o);
}

/* Two cores; the second was recorded from the second execution on. Steps are the three that
 * both have, each up to the next: 100, 150 and, the last, as long as its module. */
static void test_executions_on_a_tpu(void **state)
{
	static const int64_t begins[] = {900, 1000, 1100, 1250};
	struct builder *b = builder_new();
	(void)state;
	builder_plane(b, 0, "/host:CPU");
	for (int c = 0; c < 2; c++) {
		struct builder_plane *tpu =
			builder_plane(b, 2 + c, c ? "/device:TPU:1" : "/device:TPU:0");
		struct builder_line *modules = builder_line(tpu, 2, "XLA Modules", 0);
		struct builder_line *ops = builder_line(tpu, 3, "XLA Ops", 0);
		builder_stat_str(builder_metadata_stats(tpu, "fusion"), "hlo_category",
				 "loop fusion");
		builder_stat_str(builder_metadata_stats(tpu, "infeed"), "hlo_category", "infeed");
		for (size_t i = (size_t)c; i < COUNT(begins); i++) {
			builder_event(modules, "jit_f(12)", begins[i] + c, 80);
			builder_event(ops, "fusion", begins[i] + 10, 60);
			/* By the device's own clock elsewhere, which does not count here. */
			struct builder_stats *e = builder_event(ops, "infeed", begins[i] + 70, 5);
			builder_stat_int(e, "device_offset_ps", 5);
			builder_stat_int(e, "device_duration_ps", 500);
		}
	}
	struct opened o = open_built(b);
	assert_int_equal(steps_of(&o)->count, 0);
	const struct tfp_steps *steps = module_steps_of(&o);
	assert_str(steps->module, "jit_f(12)");
	assert_int_equal(steps->count, 3);
	for (size_t c = 0; c < 2; c++) {
		assert_int_equal(tfp_step_core(steps, 0, c)->begin_ps, 1000 + (int64_t)c);
		assert_int_equal(tfp_step_core(steps, 0, c)->duration_ps, 100);
		assert_int_equal(tfp_step_core(steps, 1, c)->duration_ps, 150);
		assert_int_equal(tfp_step_core(steps, 2, c)->duration_ps, 80);
		assert_int_equal(tfp_step_core(steps, 1, c)->tpu_ps[TFP_TPU_COMPUTE], 60);
		assert_int_equal(tfp_step_core(steps, 1, c)->tpu_ps[TFP_TPU_INFEED], 5);
		assert_int_equal(tfp_step_core(steps, 1, c)->tpu_ps[TFP_TPU_IDLE], 85);
	}
	assert_sums(steps);
	close_built(&o);
}

static void test_nothing_repeats(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *s =
		builder_line(builder_plane(b, 1, "/device:GPU:0"), 7, "Stream #7", 0);
	(void)state;
	hlo_kernel(s, "a", "jit_f", 1, "fusion", 0, 900);
	hlo_kernel(s, "b", "jit_f", 1, "fusion.2", 1000, 900);
	hlo_kernel(s, "a", "jit_f", 2, "fusion", 2000, 900);
	struct opened o = open_built(b);
	assert_int_equal(steps_of(&o)->module_steps, 0);
	assert_int_equal(module_steps_of(&o)->count, 0);
	close_built(&o);
}

static struct opened host_with_modules(const char *module, int64_t first)
{
	struct builder *b = builder_new();
	struct builder_line *s =
		builder_line(builder_plane(b, 1, "/device:GPU:0"), 7, "Stream #7", 0);
	for (int i = 0; i < 3; i++)
		hlo_kernel(s, "a", module, 5 + (int)first, "fusion", first + 1000 * i, 500);
	return open_built(b);
}

/* Hosts are combined as with marked steps; the number of a program differs between
 * processes, but another module is no counterpart. */
static void test_executions_on_several_hosts(void **state)
{
	struct opened opened[] = {host_with_modules("jit_step", 0),
				  host_with_modules("jit_step", 1100),
				  host_with_modules("jit_eval", 0)};
	struct tfp_steps hosts[3], out;
	struct tfp_error err;
	(void)state;
	for (size_t h = 0; h < 3; h++)
		hosts[h] = *module_steps_of(&opened[h]);
	tfp_steps_init(&out);
	assert_int_equal(tfp_steps_combine(hosts, 3, &out, &err), TFP_OK);
	assert_str(out.module, "jit_step(5)");
	/* The second host's first is the first one's second. */
	assert_int_equal(out.count, 2);
	assert_int_equal(out.steps[0].core_count, 2);
	assert_int_equal(tfp_step_core(&out, 0, 0)->begin_ps, 1000);
	assert_int_equal(tfp_step_core(&out, 0, 1)->begin_ps, 1100);
	tfp_steps_release(&out);
	for (size_t h = 0; h < 3; h++)
		close_built(&opened[h]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_only),
		cmocka_unit_test(test_a_thread_for_two_steps),
		cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_two_gpus),
		cmocka_unit_test(test_cut_steps),
		cmocka_unit_test(test_idle_gpu),
		cmocka_unit_test(test_tpu),
		cmocka_unit_test(test_raw_tpu),
		cmocka_unit_test(test_stages_of_other_threads),
		cmocka_unit_test(test_threadpool_time),
		cmocka_unit_test(test_executions_on_a_gpu),
		cmocka_unit_test(test_executions_on_a_tpu),
		cmocka_unit_test(test_nothing_repeats),
		cmocka_unit_test(test_executions_on_several_hosts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
