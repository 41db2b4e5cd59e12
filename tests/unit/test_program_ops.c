/* SPDX-License-Identifier: Apache-2.0 */
/* The device ops of programs of two hosts: times worked out by hand. */
#include "testing.h"

#include "base/alloc.h"
#include "support/sample_capture.h"
#include "tools/program_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/tfprof-program-ops-XXXXXX";

/* From 0 to 1000 ps: 300 ps of the instruction add.1, 100 ps of a framework's op, 200 ps of a
 * kernel that nobody names. */
static void put_host(const char *host, bool has_program)
{
	static const char *const instructions[][4] = {{"add.1", "add", "a/Add", "AddV2"}};
	char path[200];
	struct builder *b = builder_new();
	struct builder_line *l = builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "s", 0);
	struct builder_stats *e = builder_event(l, "kernel", 0, 300);
	if (has_program) {
		struct tfp_buf proto;
		tfp_buf_init(&proto, 1 << 20);
		sample_hlo(&proto, "jit_f", instructions, 1);
		sample_add_module(builder_plane(b, 9, "/host:metadata"), "jit_f(7)", &proto);
		tfp_buf_release(&proto);
	}
	builder_stat_str(e, "hlo_op", "add.1");
	builder_stat_str(e, "hlo_module", "jit_f");
	builder_stat_uint(e, "program_id", 7);
	e = builder_event(l, "kernel", 400, 100);
	builder_stat_str(e, "tf_op", "b/Relu:Relu");
	builder_event(l, "kernel", 800, 200);
	snprintf(path, sizeof(path), "%s/run/%s.xplane.pb", root, host);
	builder_write(b, path);
	builder_free(b);
}

struct asked {
	struct tfp_logdir *dir;
	struct tfp_capture_cache *cache;
	const struct tfp_logdir_snapshot *snapshot;
	struct tfp_session session;
	struct tfp_program_ops ops;
};

static void ask(struct asked *a, const char *host, const struct tfp_query *query)
{
	struct tfp_error err;
	assert_int_equal(tfp_logdir_new(&a->dir, root, 0, &err), TFP_OK);
	assert_int_equal(tfp_capture_cache_new(&a->cache, a->dir, 1 << 30, NULL, &err), TFP_OK);
	assert_int_equal(tfp_logdir_snapshot(a->dir, &a->snapshot, &err), TFP_OK);
	assert_int_equal(tfp_session_init(&a->session, a->cache, NULL, NULL, &a->snapshot->runs[0],
					  host, &err),
			 TFP_OK);
	if (tfp_program_ops(&a->session, query, &a->ops, &err) != TFP_OK)
		fail_msg("%s", err.message);
}

static void release(struct asked *a)
{
	tfp_program_ops_release(&a->ops);
	tfp_logdir_snapshot_unref(a->snapshot);
	tfp_capture_cache_free(a->cache);
	tfp_logdir_free(a->dir);
}

static void test_two_hosts(void **state)
{
	static const struct tfp_query query = {0};
	struct asked a;
	(void)state;
	ask(&a, NULL, &query);
	assert_false(a.ops.has_others);
	assert_true(a.ops.has_devices);
	/* The instruction of both hosts is one op; what nobody names is left out, and told. */
	assert_int_equal(a.ops.count, 2);
	assert_str(a.ops.list[0]->name, "add.1");
	assert_int_equal(a.ops.list[0]->self_time_ps, 300);
	assert_int_equal(a.ops.op_time_ps, 300 + 2 * 100);
	assert_int_equal(a.ops.busy_time_ps, 2 * 600);
	/* On the second host its program is not known. */
	assert_int_equal(a.ops.no_hlo_time_ps, 300 + 600);
	assert_str(tfp_program_ops_text(&a.ops, a.ops.list[0])->expression,
		   "%add.1 = invalid[] add()");
	assert_str(tfp_program_ops_text(&a.ops, a.ops.list[1])->expression, "");
	struct tfp_op idle = tfp_program_ops_idle(&a.ops);
	assert_str(idle.name, "IDLE");
	assert_int_equal(idle.time_ps, a.ops.total_time_ps - a.ops.op_time_ps);
	release(&a);
}

static void test_others(void **state)
{
	static const struct tfp_param others = {"others", "true"};
	static const struct tfp_query query = {&others, 1}, nothing = {0};
	struct asked a;
	(void)state;
	ask(&a, "a", &query);
	assert_true(a.ops.has_others);
	assert_int_equal(a.ops.count, 3);
	assert_int_equal(a.ops.op_time_ps, 600);
	/* From the first event to the end of the last. */
	assert_int_equal(a.ops.total_time_ps, 1000);
	assert_int_equal(tfp_program_ops_idle(&a.ops).self_time_ps, 400);
	release(&a);
	/* Where no program is known, all is shown without being asked for. */
	ask(&a, "b", &nothing);
	assert_true(a.ops.has_others);
	assert_int_equal(a.ops.op_time_ps, 600);
	assert_int_equal(a.ops.no_hlo_time_ps, 600);
	release(&a);
}

static void test_peaks_that_are_asked_for(void **state)
{
	static const struct tfp_param peaks[] = {{"peak_tflops", "5"}, {"peak_sram_gbs", "7"}};
	static const struct tfp_query query = {peaks, COUNT(peaks)};
	struct asked a;
	(void)state;
	ask(&a, "a", &query);
	assert_double(a.ops.stats.env.peaks.teraflops, 5);
	assert_double(a.ops.stats.env.peaks.gigabytes_per_second[TFP_PEAK_SRAM_WRITE], 7);
	assert_true(a.ops.stats.env.peaks.gigabytes_per_second[TFP_PEAK_VMEM_READ] == 0);
	assert_memory_equal(a.ops.stats.env.peaks.source, "what was asked for", 18);
	release(&a);
}

static int set_up(void **state)
{
	char path[100];
	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/run", root);
	if (mkdir(path, 0700))
		return -1;
	put_host("a", true);
	put_host("b", false);
	return 0;
}

static int tear_down(void **state)
{
	char path[100];
	(void)state;
	for (const char *host = "ab"; *host; host++) {
		snprintf(path, sizeof(path), "%s/run/%c.xplane.pb", root, *host);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/run", root);
	rmdir(path);
	return rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_hosts),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_peaks_that_are_asked_for),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
