/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a served model: numbers by hand, after the rules in
 * docs/tools/overview_page.md, "[4] Inference latency". */
#include "testing.h"

#include "analysis/steps/requests.h"

static const struct tfp_requests *requests_of(const struct opened *o)
{
	const struct tfp_requests *requests;
	struct tfp_error err;
	if (tfp_requests_get(o->capture, NULL, &requests, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return requests;
}

static void assert_request(const struct tfp_request *r, uint64_t total, uint64_t device,
			   uint64_t communication)
{
	assert_int_equal(r->total_ps, total);
	assert_int_equal(r->device_ps, device);
	assert_int_equal(r->communication_ps, communication);
}

static void produce(struct builder_stats *e, int64_t id)
{
	builder_stat_int(e, "_pt", 2);
	builder_stat_int(e, "_p", id);
}

static void consume(struct builder_stats *e, int64_t id)
{
	builder_stat_int(e, "_ct", 2);
	builder_stat_int(e, "_c", id);
}

static void launch(struct builder_stats *e, int64_t run_id, bool on_host)
{
	builder_stat_int(e, "run_id", run_id);
	builder_stat_int(e, "queue_id", 0);
	if (on_host)
		builder_stat_int(e, "device_ordinal", 0);
}

/* Two requests, each answered by a batch on another thread; the third has none.
 *   0: 0 to 100, its batch until 150; module 60 to 90; back from the device 85 to 105, of
 *      which 5 are computing.
 *   1: 200 to 300, its batch 220 to 280; modules 230 to 260 and 240 to 270.
 *   2: 400 to 450.
 * The session in the batch is no request, nor is the one outside. */
static void test_batches_on_a_tpu(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *server = builder_line(host, 1, "server", 0);
	struct builder_line *batches = builder_line(host, 2, "batches", 0);
	struct builder_plane *tpu = builder_plane(b, 2, "/device:TPU:0");
	struct builder_line *modules = builder_line(tpu, 2, "XLA Modules", 0);
	(void)state;
	produce(builder_event(server, "BatchingSessionRun", 0, 100), 5);
	produce(builder_event(server, "BatchingSessionRun", 200, 100), 6);
	builder_event(server, "BatchingSessionRun", 400, 50);
	builder_stat_int(builder_event(server, "SessionRun", 500, 100), "_r", 1);
	consume(builder_event(batches, "ProcessBatch", 50, 100), 5);
	launch(builder_event(batches, "DoEnqueueProgram", 55, 5), 1, true);
	builder_event(batches, "TransferD2HRequest", 85, 20);
	consume(builder_event(batches, "ProcessBatch", 220, 60), 6);
	builder_event(batches, "SessionRun", 221, 50);
	launch(builder_event(batches, "DoEnqueueProgram", 222, 2), 2, true);
	launch(builder_event(batches, "DoEnqueueProgram", 225, 2), 3, true);
	launch(builder_event(modules, "jit_f(1)", 60, 30), 1, false);
	launch(builder_event(modules, "jit_f(1)", 230, 30), 2, false);
	launch(builder_event(modules, "jit_f(1)", 240, 30), 3, false);
	struct opened o = open_built(b);
	const struct tfp_requests *requests = requests_of(&o);
	assert_int_equal(requests->count, 3);
	assert_request(&requests->list[0], 150, 30, 15);
	assert_request(&requests->list[1], 100, 40, 0);
	assert_request(&requests->list[2], 50, 0, 0);
	close_built(&o);
}

/* Without batching a session is a request. A grouped capture; transfers in two events: the
 * first is done after 30, the second never, the third was issued after it was done. */
static void test_sessions(void **state)
{
	static const char issue[] = "tpu::System::TransferToDevice=>IssueEvent";
	static const char done[] = "tpu::System::TransferToDevice=>IssueEvent=>Done";
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *h = builder_line(host, 1, "main", 0);
	const struct {
		const char *name;
		int64_t begin, duration, id;
	} events[] = {{"SessionRun", 100, 100, -1}, {issue, 110, 5, 1}, {done, 135, 5, 1},
		      {issue, 150, 5, 2},           {done, 160, 5, 3},  {issue, 170, 5, 3},
		      {"op:MatMul", 190, 30, -1}};
	(void)state;
	for (size_t i = 0; i < COUNT(events); i++) {
		struct builder_stats *e =
			builder_event(h, events[i].name, events[i].begin, events[i].duration);
		builder_stat_int(e, "group_id", 3);
		if (events[i].id >= 0)
			builder_stat_int(e, "_c", events[i].id);
	}
	builder_event(h, "SessionRun", 500, 100); /* of no group */
	struct opened o = open_built(b);
	assert_int_equal(requests_of(&o)->count, 1);
	assert_request(&requests_of(&o)->list[0], 120, 0, 30);
	close_built(&o);
}

/* Kernels of a GPU count where they lie in the request. */
static void test_sessions_on_a_gpu(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *h = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	struct builder_plane *gpu = builder_plane(b, 1, "/device:GPU:0");
	struct builder_line *s = builder_line(gpu, 7, "Stream", 0);
	const struct {
		const char *name;
		int64_t begin, duration;
	} kernels[] = {{"MemcpyH2D", 5, 10}, {"gemm", 20, 30}, {"gemm", 90, 30}};
	(void)state;
	builder_stat_int(builder_event(h, "SessionRun", 0, 100), "group_id", 0);
	for (size_t i = 0; i < COUNT(kernels); i++) {
		struct builder_stats *e =
			builder_event(s, kernels[i].name, kernels[i].begin, kernels[i].duration);
		builder_stat_int(e, "group_id", 0);
		builder_stat_int(e, "correlation_id", (int64_t)i);
	}
	struct opened o = open_built(b);
	assert_int_equal(requests_of(&o)->count, 1);
	assert_request(&requests_of(&o)->list[0], 100, 40, 10);
	close_built(&o);
}

static void test_requests_that_a_program_marks(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *h = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	(void)state;
	builder_stat_int(builder_event(h, "mine", 0, 100), "_r", -1);
	builder_stat_int(builder_event(h, "ModelServerRequest_7", 200, 50), "_r", 1);
	builder_stat_int(builder_event(h, "train", 300, 50), "_r", 1);
	struct opened o = open_built(b);
	assert_int_equal(requests_of(&o)->count, 2);
	close_built(&o);
}

static void test_none(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	builder_plane(b, 1, "/device:GPU:0");
	struct opened o = open_built(b);
	assert_int_equal(requests_of(&o)->count, 0);
	close_built(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_batches_on_a_tpu),
		cmocka_unit_test(test_sessions),
		cmocka_unit_test(test_sessions_on_a_gpu),
		cmocka_unit_test(test_requests_that_a_program_marks),
		cmocka_unit_test(test_none),
	};
	return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
