/* Steps: the worked examples of XProf's own tests, and numbers computed by hand for what
 * those leave open: spans of no length, several devices, hosts that are shifted. */
#include "testing.h"

#include "analysis/bottleneck.h"
#include "analysis/input_ops.h"
#include "analysis/step_align.h"
#include "analysis/step_events.h"
#include "analysis/steps.h"
#include "analysis/tf_functions.h"

/* ---- the sweep ---- */

struct swept {
	uint64_t in_step[TFP_STEP_EVENT_COUNT], everywhere[TFP_STEP_EVENT_COUNT];
	bool seen[TFP_STEP_EVENT_COUNT];
};

static struct swept sweep(const struct tfp_step_span *spans, size_t count, int64_t begin,
			  int64_t end)
{
	struct tfp_step_span copy[16];
	struct swept s = {0};
	assert_true(count <= COUNT(copy));
	memcpy(copy, spans, count * sizeof(*spans));
	assert_true(tfp_step_sweep(copy, count, begin, end, s.in_step, s.everywhere, s.seen));
	return s;
}

#define SWEEP(begin, end, ...)                                                                     \
	sweep((const struct tfp_step_span[]){__VA_ARGS__},                                         \
	      COUNT(((const struct tfp_step_span[]){__VA_ARGS__})), begin, end)

static void test_sweep_priorities(void **state)
{
	(void)state;
	struct swept s = SWEEP(
		0, 100, {0, 100, 0, TFP_STEP_HOST_COMPUTE}, {10, 40, 0, TFP_STEP_HOST_PREPARE},
		{30, 60, 0, TFP_STEP_DEVICE_COMPUTE_32}, {50, 70, 0, TFP_STEP_DEVICE_COMPUTE_16});
	assert_int_equal(s.in_step[TFP_STEP_HOST_COMPUTE], 10 + 30);
	assert_int_equal(s.in_step[TFP_STEP_HOST_PREPARE], 20);
	assert_int_equal(s.in_step[TFP_STEP_DEVICE_COMPUTE_32], 20);
	assert_int_equal(s.in_step[TFP_STEP_DEVICE_COMPUTE_16], 20);
	assert_int_equal(s.in_step[TFP_STEP_UNKNOWN], 0);
}

static void test_sweep_joins_spans_of_a_type(void **state)
{
	(void)state;
	/* Given out of order: overlapping, touching, one inside another, one far off. */
	struct swept s =
		SWEEP(0, 1000, {200, 300, 0, TFP_STEP_HOST_COMPUTE},
		      {0, 50, 0, TFP_STEP_HOST_COMPUTE}, {40, 80, 0, TFP_STEP_HOST_COMPUTE},
		      {80, 100, 0, TFP_STEP_HOST_COMPUTE}, {10, 20, 0, TFP_STEP_HOST_COMPUTE});
	assert_int_equal(s.in_step[TFP_STEP_HOST_COMPUTE], 200);
	assert_int_equal(s.in_step[TFP_STEP_UNKNOWN], 100);
	assert_true(s.seen[TFP_STEP_UNKNOWN]);
}

static void test_sweep_cuts_at_the_step(void **state)
{
	(void)state;
	struct swept s = SWEEP(50, 150, {0, 100, 0, TFP_STEP_DEVICE_COMPUTE_32},
			       {140, 200, 0, TFP_STEP_DEVICE_COMPUTE_32});
	assert_int_equal(s.in_step[TFP_STEP_DEVICE_COMPUTE_32], 60);
	assert_int_equal(s.in_step[TFP_STEP_UNKNOWN], 40);
	assert_int_equal(s.everywhere[TFP_STEP_DEVICE_COMPUTE_32], 160);
}

/* The peers' quirk: op_stats.md 3 has these numbers. */
static void test_sweep_span_without_length(void **state)
{
	(void)state;
	struct swept s =
		SWEEP(0, 200, {0, 100, 0, TFP_STEP_HOST_COMPUTE},
		      {20, 20, 0, TFP_STEP_HOST_WAIT_INPUT}, {150, 200, 0, TFP_STEP_HOST_COMPUTE});
	assert_int_equal(s.in_step[TFP_STEP_HOST_COMPUTE], 20);
	assert_int_equal(s.in_step[TFP_STEP_HOST_WAIT_INPUT], 180);
}

static void test_sweep_span_without_length_in_its_own_type(void **state)
{
	(void)state;
	/* Within a span of its type, and at its begin, it changes nothing ... */
	struct swept s =
		SWEEP(0, 100, {0, 50, 0, TFP_STEP_HOST_COMPUTE}, {20, 20, 0, TFP_STEP_HOST_COMPUTE},
		      {0, 0, 0, TFP_STEP_HOST_COMPUTE}, {80, 100, 0, TFP_STEP_HOST_COMPUTE});
	assert_int_equal(s.in_step[TFP_STEP_HOST_COMPUTE], 70);
	assert_int_equal(s.in_step[TFP_STEP_UNKNOWN], 30);
	/* ... at its end it goes on until the type ends again. */
	s = SWEEP(0, 100, {0, 50, 0, TFP_STEP_HOST_COMPUTE}, {50, 50, 0, TFP_STEP_HOST_COMPUTE},
		  {80, 90, 0, TFP_STEP_HOST_COMPUTE}, {95, 100, 0, TFP_STEP_HOST_COMPUTE});
	assert_int_equal(s.in_step[TFP_STEP_HOST_COMPUTE], 95);
	assert_int_equal(s.in_step[TFP_STEP_UNKNOWN], 5);
}

static void test_sweep_nothing(void **state)
{
	struct swept s = {0};
	(void)state;
	assert_true(tfp_step_sweep(NULL, 0, 0, 10, s.in_step, s.everywhere, s.seen));
	assert_int_equal(s.in_step[TFP_STEP_UNKNOWN], 0);
}

/* ---- kinds of events ---- */

static void test_kinds(void **state)
{
	static const struct {
		const char *name, *shape;
		enum tfp_step_event type;
	} gpu[] = {
		{"MEMCPYHtoD", "", TFP_STEP_HOST_TO_DEVICE},
		{"MemcpyH2D", "", TFP_STEP_HOST_TO_DEVICE},
		{"Memcpy HtoD (Pageable -> Device)", "", TFP_STEP_HOST_TO_DEVICE},
		{"CopyHostToDevice", "", TFP_STEP_HOST_TO_DEVICE},
		{"MemcpyD2H", "", TFP_STEP_DEVICE_TO_HOST},
		{"CopyDeviceToHost", "", TFP_STEP_DEVICE_TO_HOST},
		{"MemcpyD2D", "", TFP_STEP_DEVICE_TO_DEVICE},
		{"a:MemcpyH2D", "", TFP_STEP_DEVICE_COMPUTE_32},
		{"Memset 4", "", TFP_STEP_DEVICE_COMPUTE_32},
		{"ncclKernel_AllReduce", "", TFP_STEP_DEVICE_COLLECTIVES},
		{"NCCL", "", TFP_STEP_DEVICE_COLLECTIVES},
		{"volta_fp16_gemm", "", TFP_STEP_DEVICE_COMPUTE_16},
		{"gemm_half", "", TFP_STEP_DEVICE_COMPUTE_16},
		{"gemm_half", "float[2]", TFP_STEP_DEVICE_COMPUTE_32},
		{"gemm", "half[2]", TFP_STEP_DEVICE_COMPUTE_16},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(gpu); i++)
		assert_int_equal(
			tfp_step_type_of_gpu_event(str_of(gpu[i].name), str_of(gpu[i].shape)),
			gpu[i].type);
	static const struct {
		const char *name;
		bool has_gpu, correlated;
		enum tfp_step_event type;
	} host[] = {
		{"a/InfeedEnqueueTuple:InfeedEnqueueTuple", false, false, TFP_STEP_HOST_TO_DEVICE},
		{"MEMCPYHtoH", false, false, TFP_STEP_HOST_TO_HOST},
		{"ExecutorState::Process", true, false, TFP_STEP_HOST_PREPARE},
		{"executorstate::process", true, false, TFP_STEP_HOST_PREPARE},
		{"ExecutorState::Process", false, false, TFP_STEP_HOST_COMPUTE},
		{"cuLaunchKernel", true, true, TFP_STEP_HOST_PREPARE},
		{"cuLaunchKernel", false, true, TFP_STEP_HOST_COMPUTE},
		{"IteratorGetNext:IteratorGetNext", true, false, TFP_STEP_HOST_WAIT_INPUT},
		{"iteratorGetNextOp::DoCompute", true, false, TFP_STEP_HOST_WAIT_INPUT},
		{"a/MatMul:MatMul", true, false, TFP_STEP_HOST_COMPUTE},
	};
	for (size_t i = 0; i < COUNT(host); i++)
		assert_int_equal(tfp_step_type_of_host_event(str_of(host[i].name), host[i].has_gpu,
							     host[i].correlated),
				 host[i].type);
}

/* ---- steps of a capture ---- */

#define STEPS_LINE (-559038737)

static struct builder_stats *grouped(struct builder_line *line, const char *name, int64_t begin,
				     int64_t duration, int64_t group)
{
	struct builder_stats *e = builder_event(line, name, begin, duration);
	builder_stat_int(e, "group_id", group);
	return e;
}

static void kernel(struct builder_line *line, const char *name, int64_t begin, int64_t duration,
		   int64_t group)
{
	builder_stat_uint(grouped(line, name, begin, duration, group), "correlation_id", 7);
}

static const struct tfp_steps *steps_of(const struct opened *o)
{
	const struct tfp_steps *steps;
	struct tfp_error err;
	if (tfp_steps_get(o->capture, NULL, &steps, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return steps;
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

/* ---- several hosts ---- */

static struct opened host_with_steps(const int64_t (*steps)[2], size_t count)
{
	struct builder *b = builder_new();
	struct builder_line *h = builder_line(builder_plane(b, 0, "/host:CPU"), 0, "python", 0);
	for (size_t i = 0; i < count; i++) {
		grouped(h, "train", steps[i][0], steps[i][1], (int64_t)(10 + i));
		grouped(h, "a/Op:Op", steps[i][0], steps[i][1], (int64_t)(10 + i));
	}
	return open_built(b);
}

static void combine(struct opened *opened, size_t count, struct tfp_steps *out)
{
	struct tfp_steps *hosts = calloc(count, sizeof(*hosts));
	struct tfp_error err;
	for (size_t h = 0; h < count; h++) {
		tfp_steps_init(&hosts[h]);
		assert_true(tfp_steps_copy(&hosts[h], steps_of(&opened[h])));
	}
	tfp_steps_init(out);
	assert_int_equal(tfp_steps_combine(hosts, count, out, &err), TFP_OK);
	for (size_t h = 0; h < count; h++) {
		tfp_steps_release(&hosts[h]);
		close_built(&opened[h]);
	}
	free(hosts);
}

static void test_shifted_hosts(void **state)
{
	/* The second host's capture began a step earlier and ended one earlier. */
	static const int64_t a[][2] = {{1000, 90}, {1100, 90}, {1200, 90}};
	static const int64_t b[][2] = {{905, 90}, {1005, 90}, {1105, 95}};
	struct opened hosts[] = {host_with_steps(a, 3), host_with_steps(b, 3)};
	struct tfp_steps steps;
	(void)state;
	combine(hosts, 2, &steps);
	assert_int_equal(steps.count, 2);
	assert_int_equal(steps.steps[0].number, 0);
	assert_int_equal(steps.steps[1].number, 1);
	assert_int_equal(steps.steps[0].core_count, 2);
	assert_int_equal(tfp_step_core(&steps, 0, 0)->begin_ps, 1000);
	assert_int_equal(tfp_step_core(&steps, 0, 1)->begin_ps, 1005);
	assert_int_equal(tfp_step_core_id(tfp_step_core(&steps, 0, 0)), 1);
	assert_int_equal(tfp_step_core_id(tfp_step_core(&steps, 0, 1)), 1001);
	assert_int_equal(tfp_step_time_ps(&steps, 1), 95);
	assert_false(steps.intersection_empty);
	assert_ptr_equal(tfp_host_core(&steps, 1, 0), tfp_step_core(&steps, 1, 0));
	assert_ptr_equal(tfp_host_core(&steps, 1, 1), tfp_step_core(&steps, 1, 1));
	assert_null(tfp_host_core(&steps, 1, 2));
	assert_int_equal(tfp_host_time_ps(&steps, 0), 180);
	assert_int_equal(tfp_host_time_ps(&steps, 1), 185);
	assert_int_equal(tfp_host_time_ps(&steps, 2), 0);
	tfp_steps_release(&steps);
}

/* The definition, pair by pair, for comparison. */
static int64_t shift_by_definition(const struct tfp_time_span *a, size_t n,
				   const struct tfp_time_span *b, size_t m)
{
	int64_t best = 0;
	double most = -1;
	for (size_t test = 0; test < n + m; test++) {
		int64_t k = test < n ? (int64_t)test : -(int64_t)(test - n + 1);
		double sum = 0;
		if (test >= n && (size_t)-k >= m)
			break;
		for (size_t j = 0; j < m; j++) {
			int64_t i = (int64_t)j + k;
			if (i < 0 || i >= (int64_t)n)
				continue;
			int64_t begin =
				a[i].begin_ps > b[j].begin_ps ? a[i].begin_ps : b[j].begin_ps;
			int64_t end = a[i].end_ps < b[j].end_ps ? a[i].end_ps : b[j].end_ps;
			if (end > begin)
				sum += (double)(end - begin);
		}
		if (sum > most) {
			most = sum;
			best = k;
		}
	}
	return best;
}

static void test_shift_is_the_defined_one(void **state)
{
	uint64_t seed = 7;
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct tfp_time_span spans[2][24];
		size_t count[2];
		int64_t shift;
		for (int s = 0; s < 2; s++) {
			int64_t at = (int64_t)((seed = seed * 6364136223846793005u + 1) >> 60);
			count[s] = (seed >> 33) % COUNT(spans[s]);
			for (size_t i = 0; i < count[s]; i++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				/* Some begin before those ahead of them, some have no length. */
				at += (int64_t)(seed >> 61) - 1;
				spans[s][i].begin_ps = at;
				spans[s][i].end_ps = at + (int64_t)((seed >> 40) % 6);
			}
		}
		assert_true(tfp_step_shift(spans[0], count[0], spans[1], count[1], &shift));
		assert_int_equal(shift,
				 shift_by_definition(spans[0], count[0], spans[1], count[1]));
	}
}

static void test_one_host_keeps_its_numbers(void **state)
{
	static const int64_t a[][2] = {{1000, 90}, {1100, 90}};
	struct opened host = host_with_steps(a, 2);
	struct tfp_steps steps;
	(void)state;
	combine(&host, 1, &steps);
	assert_int_equal(steps.count, 2);
	assert_int_equal(steps.steps[0].number, 10);
	assert_int_equal(steps.steps[1].number, 11);
	tfp_steps_release(&steps);
}

static void test_host_without_steps(void **state)
{
	static const int64_t a[][2] = {{1000, 90}, {1100, 90}};
	struct opened hosts[] = {host_with_steps(a, 2), host_with_steps(NULL, 0)};
	struct tfp_steps steps;
	(void)state;
	combine(hosts, 2, &steps);
	assert_int_equal(steps.count, 0);
	assert_true(steps.intersection_empty);
	tfp_steps_release(&steps);
}

/* ---- verdicts ---- */

static void test_statistics(void **state)
{
	static const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	(void)state;
	struct tfp_stat_summary s = tfp_summarize(values, COUNT(values));
	assert_double(s.average, 5);
	assert_double(s.deviation * s.deviation, 32.0 / 7);
	assert_double(s.minimum, 2);
	assert_double(s.maximum, 9);
	s = tfp_summarize(values, 1);
	assert_double(s.deviation, 0);
	s = tfp_summarize(values, 0);
	assert_double(s.average, 0);
}

static struct tfp_bottleneck verdict(double input, double launch, double others)
{
	struct tfp_step_totals totals = {.steps = 1, .step_ms = 100};
	struct tfp_bottleneck b;
	totals.category_ms[TFP_STEP_INPUT] = input;
	totals.category_ms[TFP_STEP_KERNEL_LAUNCH] = launch;
	totals.category_ms[TFP_STEP_ALL_OTHERS] = others;
	tfp_bottleneck(&totals, true, &b);
	return b;
}

static void test_verdicts(void **state)
{
	(void)state;
	assert_string_equal(verdict(20, 0, 0).input.class, "host");
	assert_string_equal(verdict(19.9, 0, 0).input.class, "both");
	assert_string_equal(verdict(5, 0, 50).input.class, "both");
	assert_string_equal(verdict(5, 0, 50).all_others.class, "high");
	/* All others is said once. */
	assert_string_equal(verdict(4.9, 0, 3).input.class, "both");
	assert_string_equal(verdict(4.9, 0, 3).all_others.class, "no");
	assert_string_equal(verdict(4.9, 0, 2.9).input.class, "device");
	assert_string_equal(verdict(0, 15, 0).kernel_launch.class, "high");
	assert_string_equal(verdict(0, 3, 0).kernel_launch.class, "moderate");
	assert_string_equal(verdict(0, 2.9, 0).kernel_launch.class, "no");
	assert_string_equal(verdict(0, 2.9, 0).kernel_launch.statement, "");
	struct tfp_step_totals none = {0};
	struct tfp_bottleneck b;
	tfp_bottleneck(&none, false, &b);
	assert_string_equal(b.input.class, "unknown");
}

static void test_input_categories(void **state)
{
	static const struct {
		const char *name, *type;
		enum tfp_input_category category;
	} ops[] = {
		{"Iterator::Model::TFRecord", "Dataset", TFP_INPUT_DEMANDED_READ},
		{"Iterator::Prefetch::TFRecord", "Dataset", TFP_INPUT_ADVANCED_READ},
		{"Iterator::ParallelInterleave::TextLine", "Dataset", TFP_INPUT_DEMANDED_READ},
		{"Iterator::Prefetch::Map", "Dataset", TFP_INPUT_PREPROCESSING},
		{"x", "InfeedEnqueueTuple", TFP_INPUT_ENQUEUE},
		{"x", "MemcpyHToD", TFP_INPUT_ENQUEUE},
		{"x", "Read", TFP_INPUT_DEMANDED_READ},
		{"x", "preprocessing", TFP_INPUT_PREPROCESSING},
		{"x", "Unknown", TFP_INPUT_UNKNOWN},
		{"IteratorGetNext", "IteratorGetNext", TFP_INPUT_NONE},
		{"IDLE", "IDLE", TFP_INPUT_NONE},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(ops); i++)
		assert_int_equal(tfp_input_category(str_of(ops[i].name), str_of(ops[i].type)),
				 ops[i].category);
}

static void test_functions(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *l = builder_line(builder_plane(b, 0, "/host:CPU"), 0, "python", 0);
	const struct tfp_functions *f;
	struct tfp_error err;
	(void)state;
	builder_stat_str(builder_event(l, "outer", 0, 100), "tf_function_call", "notTraced-nonXla");
	struct builder_stats *e = builder_event(l, "inner", 20, 40);
	builder_stat_str(e, "tf_function_call", "traced-nonXla");
	builder_stat_int(e, "tracing_count", 3);
	builder_stat_str(builder_event(l, "inner", 100, 10), "tf_function_call", "eager");
	builder_event(l, "no function", 110, 10);
	struct opened o = open_built(b);
	assert_int_equal(tfp_functions_get(o.capture, NULL, &f, &err), TFP_OK);
	assert_int_equal(f->count, 2);
	for (size_t i = 0; i < f->count; i++) {
		const struct tfp_function *x = &f->list[i];
		if (tfp_str_equal(x->name, "outer")) {
			assert_int_equal(x->self_ps[TFP_FUNCTION_NOT_TRACED], 60);
			assert_double(tfp_function_expensive_percent(x), 0);
		} else {
			assert_int_equal(x->calls[TFP_FUNCTION_TRACED], 1);
			assert_int_equal(x->self_ps[TFP_FUNCTION_TRACED], 40);
			assert_int_equal(x->self_ps[TFP_FUNCTION_EAGER], 10);
			assert_int_equal(x->tracing_count, 3);
			assert_double(tfp_function_expensive_percent(x), 100);
		}
	}
	close_built(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sweep_priorities),
		cmocka_unit_test(test_sweep_joins_spans_of_a_type),
		cmocka_unit_test(test_sweep_cuts_at_the_step),
		cmocka_unit_test(test_sweep_span_without_length),
		cmocka_unit_test(test_sweep_span_without_length_in_its_own_type),
		cmocka_unit_test(test_sweep_nothing),
		cmocka_unit_test(test_kinds),
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
		cmocka_unit_test(test_shifted_hosts),
		cmocka_unit_test(test_shift_is_the_defined_one),
		cmocka_unit_test(test_one_host_keeps_its_numbers),
		cmocka_unit_test(test_host_without_steps),
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_input_categories),
		cmocka_unit_test(test_functions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
