/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/alloc.h"
#include "support/sample_capture.h"
#include "tools/module_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/tfprof-module-list-XXXXXX";

/* A capture with modules of these names. */
static void put(const char *host, const char *const *names, size_t count)
{
	static const char *const instructions[][4] = {{"add.1", "add", "a/Add", "AddV2"}};
	char path[200];
	size_t size;
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "/host:metadata");
	for (size_t i = 0; i < count; i++) {
		struct tfp_buf proto;
		char name[100];
		tfp_buf_init(&proto, 1 << 20);
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(names[i], "("), names[i]);
		sample_hlo(&proto, name, instructions, 1);
		sample_add_module(p, names[i], &proto);
		tfp_buf_release(&proto);
	}
	uint8_t *bytes = builder_bytes(b, &size);
	snprintf(path, sizeof(path), "%s/run/%s.xplane.pb", root, host);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
	free(bytes);
	builder_free(b);
}

static char *list(const char *host)
{
	struct tfp_logdir *dir;
	struct tfp_capture_cache *cache;
	const struct tfp_logdir_snapshot *snapshot;
	struct tfp_session session;
	struct tfp_error err;
	struct tfp_buf text;
	tfp_buf_init(&text, 1 << 20);
	assert_int_equal(tfp_logdir_new(&dir, root, 0, &err), TFP_OK);
	assert_int_equal(tfp_capture_cache_new(&cache, dir, 1 << 30, NULL, &err), TFP_OK);
	assert_int_equal(tfp_logdir_snapshot(dir, &snapshot, &err), TFP_OK);
	assert_int_equal(snapshot->run_count, 1);
	assert_int_equal(
		tfp_session_init(&session, cache, NULL, NULL, &snapshot->runs[0], host, &err),
		TFP_OK);
	assert_int_equal(tfp_module_list(&session, NULL, &text, &err), TFP_OK);
	tfp_logdir_snapshot_unref(snapshot);
	tfp_capture_cache_free(cache);
	tfp_logdir_free(dir);
	tfp_buf_text(&text);
	return tfp_buf_take(&text, NULL);
}

static void expect(const char *host, const char *expected)
{
	char *text = list(host);
	assert_string_equal(text, expected);
	tfp_free(text);
}

static void test_modules_of_hosts(void **state)
{
	static const char *const a[] = {"jit_g(7)", "jit_f(12190760917235803885)"};
	static const char *const b[] = {"jit_g(17)", "jit_g(7)", "a,b(1)"};
	(void)state;
	put("a", a, 2);
	put("b", b, 3);
	put("c", NULL, 0);
	/* Each once; a name has no comma of its own. */
	expect(NULL, "a b(1),jit_f(12190760917235803885),jit_g(17),jit_g(7)");
	expect("a", "jit_f(12190760917235803885),jit_g(7)");
	expect("c", "NO_MODULE");
}

static int set_up(void **state)
{
	char path[100];
	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/run", root);
	return mkdir(path, 0700);
}

static int tear_down(void **state)
{
	char path[100];
	(void)state;
	for (const char *host = "abc"; *host; host++) {
		snprintf(path, sizeof(path), "%s/run/%c.xplane.pb", root, *host);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/run", root);
	rmdir(path);
	return rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_modules_of_hosts)};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
