/* SPDX-License-Identifier: Apache-2.0 */
/* What control groups allow, from folders made as the kernel shows them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/machine.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(root, "/tmp/tfprof-machine-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(path, 0700);
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_no_groups(void **state)
{
	(void)state;
	assert_true(tfp_memory_of_cgroups(root) == UINT64_MAX);
	put("proc/self/cgroup", "nonsense\n0\n::\n0::/somewhere\n");
	assert_true(tfp_memory_of_cgroups(root) == UINT64_MAX);
	assert_true(tfp_memory_of_machine() > 0);
}

static void test_version_2(void **state)
{
	(void)state;
	put("proc/self/cgroup", "0::/jobs/mine/step\n");
	put("sys/fs/cgroup/jobs/mine/step/memory.max", "max\n");
	assert_true(tfp_memory_of_cgroups(root) == UINT64_MAX);
	put("sys/fs/cgroup/jobs/mine/memory.max", "4000000\n");
	put("sys/fs/cgroup/jobs/memory.max", "5000000\n");
	put("sys/fs/cgroup/jobs/others/memory.max", "1000\n");
	assert_int_equal(tfp_memory_of_cgroups(root), 4000000);
	/* a container sees its own group at the top */
	put("proc/self/cgroup", "0::/\n");
	put("sys/fs/cgroup/memory.max", "3000000\n");
	assert_int_equal(tfp_memory_of_cgroups(root), 3000000);
}

static void test_version_1(void **state)
{
	(void)state;
	put("proc/self/cgroup", "5:cpu,memory:/a/b\n4:memoryless:/c\n1:name=systemd:/\n0::/\n");
	put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
	put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "700000\n");
	put("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "7\n");
	assert_int_equal(tfp_memory_of_cgroups(root), 700000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_groups),
		TEST(test_version_2),
		TEST(test_version_1),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
