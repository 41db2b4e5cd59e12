/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "remote/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[40], parent[128];

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/tfprof-test-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(parent, sizeof(parent), "%s/plugins/profile", root);
	return 0;
}

static int remove_root(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof(command), "chmod -R u+w %s; rm -rf %s", root, root);
	return system(command);
}

/* Names below the folder with runs, hidden ones too. */
static unsigned entries(const char *path)
{
	unsigned n = 0;
	DIR *dir = opendir(path);
	if (!dir)
		return 0;
	for (const struct dirent *e; (e = readdir(dir));)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(dir);
	return n;
}

static off_t size_of(const char *name)
{
	char path[512];
	struct stat st;
	snprintf(path, sizeof(path), "%s/%s", parent, name);
	return stat(path, &st) == 0 ? st.st_size : -1;
}

static void put(struct tfp_run_folder *f, const char *stem, const char *text)
{
	struct tfp_run_file file;
	struct tfp_error err;
	assert_int_equal(tfp_run_file_open(&file, f, stem, &err), TFP_OK);
	assert_int_equal(tfp_run_file_write(&file, text, strlen(text), &err), TFP_OK);
	assert_int_equal(tfp_run_file_keep(&file, &err), TFP_OK);
}

static void test_a_run_appears_whole(void **state)
{
	struct tfp_run_folder f;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_run_folder_make(&f, parent, "my run", &err), TFP_OK);
	assert_string_equal(f.name, "my_run");
	put(&f, "a", "one");
	put(&f, "a", "three");
	assert_int_equal(size_of("my_run"), -1);
	assert_int_equal(tfp_run_folder_publish(&f, &err), TFP_OK);
	tfp_run_folder_release(&f);
	assert_int_equal(size_of("my_run/a.xplane.pb"), 3);
	assert_int_equal(size_of("my_run/a-2.xplane.pb"), 5);
	assert_int_equal(entries(parent), 1);
}

static void test_nothing_stays_of_a_failure(void **state)
{
	struct tfp_run_folder f;
	struct tfp_run_file file;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_run_folder_make(&f, parent, "", &err), TFP_OK);
	assert_int_equal(strlen(f.name), strlen("2026_01_15_10_00_00"));
	assert_int_equal(tfp_run_file_open(&file, &f, "a", &err), TFP_OK);
	assert_int_equal(tfp_run_file_write(&file, "x", 1, &err), TFP_OK);
	tfp_run_file_drop(&file);
	tfp_run_file_drop(&file);
	assert_int_equal(tfp_run_folder_publish(&f, &err), TFP_OK);
	tfp_run_folder_release(&f);
	tfp_run_folder_release(&f);
	assert_int_equal(entries(parent), 0);
}

static void test_names_are_taken_once(void **state)
{
	struct tfp_run_folder a, b, c;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_run_folder_make(&a, parent, "x", &err), TFP_OK);
	assert_int_equal(tfp_run_folder_make(&b, parent, "x", &err), TFP_BAD_QUERY);
	tfp_run_folder_release(&b);
	put(&a, "h", "1");
	assert_int_equal(tfp_run_folder_publish(&a, &err), TFP_OK);
	tfp_run_folder_release(&a);
	assert_int_equal(tfp_run_folder_make(&b, parent, "x", &err), TFP_BAD_QUERY);
	tfp_run_folder_release(&b);
	assert_int_equal(size_of("x/h.xplane.pb"), 1);
	/* Two in the same second. */
	assert_int_equal(tfp_run_folder_make(&b, parent, "", &err), TFP_OK);
	assert_int_equal(tfp_run_folder_make(&c, parent, "", &err), TFP_OK);
	assert_string_not_equal(b.name, c.name);
	tfp_run_folder_release(&b);
	tfp_run_folder_release(&c);
}

static void test_clean_names(void **state)
{
	static const char *const pairs[][2] = {
		{"", ""},
		{"run-1.b", "run-1.b"},
		{"..", "_."},
		{"../../etc", "_._.._etc"},
		{"/abs", "_abs"},
		{".hidden", "_hidden"},
		{"a b\n\x1b", "a_b__"},
		{"\xc3\xa9", "__"},
	};
	char out[TFP_RUN_NAME_MAX + 1], big[400];
	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		tfp_run_name_clean(pairs[i][0], out);
		assert_string_equal(out, pairs[i][1]);
	}
	memset(big, 'x', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	tfp_run_name_clean(big, out);
	assert_int_equal(strlen(out), TFP_RUN_NAME_MAX);
}

static void test_a_folder_that_cannot_be_written(void **state)
{
	struct tfp_run_folder f;
	struct tfp_error err;
	char path[256];
	(void)state;
	/* Three levels are not made: that is a slip, and no log directory. */
	snprintf(path, sizeof(path), "%s/no/such/plugins/profile", root);
	assert_int_equal(tfp_run_folder_make(&f, path, "", &err), TFP_IO);
	tfp_run_folder_release(&f);
	/* Where the folder would be is a file. */
	snprintf(path, sizeof(path), "%s/plugins", root);
	FILE *file = fopen(path, "w");
	fclose(file);
	assert_int_equal(tfp_run_folder_make(&f, parent, "", &err), TFP_IO);
	tfp_run_folder_release(&f);
	unlink(path);
	if (geteuid() == 0)
		return; /* root is not refused */
	chmod(root, 0555);
	assert_int_equal(tfp_run_folder_make(&f, parent, "", &err), TFP_IO);
	assert_non_null(strstr(err.hint, "writable"));
	tfp_run_folder_release(&f);
}

static void test_a_full_disk(void **state)
{
	struct tfp_run_folder f;
	struct tfp_run_file file;
	struct tfp_error err;
	struct rlimit old, small = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
	char bytes[3000] = "";
	(void)state;
	/* A limit on the size of files fails writing like a disk that is full. */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	assert_int_equal(tfp_run_folder_make(&f, parent, "full", &err), TFP_OK);
	assert_int_equal(tfp_run_file_open(&file, &f, "h", &err), TFP_OK);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(tfp_run_file_write(&file, bytes, sizeof(bytes), &err), TFP_OK);
	assert_int_equal(tfp_run_file_write(&file, bytes, sizeof(bytes), &err), TFP_IO);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_non_null(strstr(err.hint, "free some space"));
	tfp_run_file_drop(&file);
	assert_int_equal(tfp_run_folder_publish(&f, &err), TFP_OK);
	tfp_run_folder_release(&f);
	assert_int_equal(entries(parent), 0);
}

static void test_a_program_on_the_same_disk(void **state)
{
	struct tfp_run_folder f;
	struct tfp_error err;
	char path[256];
	(void)state;
	assert_int_equal(tfp_run_folder_make(&f, parent, "both", &err), TFP_OK);
	assert_int_equal(tfp_run_folder_foreign(&f, "old_1.xplane.pb"), -1);
	snprintf(path, sizeof(path), "%s/both", parent);
	mkdir(path, 0777);
	strcat(path, "/old_1.xplane.pb");
	FILE *file = fopen(path, "w");
	fputs("12345", file);
	fclose(file);
	assert_int_equal(tfp_run_folder_foreign(&f, "old_1.xplane.pb"), 5);
	put(&f, "new_2", "123");
	assert_int_equal(tfp_run_folder_publish(&f, &err), TFP_OK);
	tfp_run_folder_release(&f);
	assert_int_equal(size_of("both/old_1.xplane.pb"), 5);
	assert_int_equal(size_of("both/new_2.xplane.pb"), 3);
	assert_int_equal(entries(parent), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_run_appears_whole),
		TEST(test_nothing_stays_of_a_failure),
		TEST(test_names_are_taken_once),
		TEST(test_clean_names),
		TEST(test_a_folder_that_cannot_be_written),
		TEST(test_a_full_disk),
		TEST(test_a_program_on_the_same_disk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
