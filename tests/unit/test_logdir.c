/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/alloc.h"
#include "store/logdir.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root, "/tmp/tfprof-logdir-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *path_of(const char *name)
{
	static char path[4096];
	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

/* A file with the folders that it needs. */
static void put(const char *name, const char *content)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *slash = path + strlen(root); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}

static struct tfp_logdir *open_dir(const char *path, unsigned flags)
{
	struct tfp_logdir *dir;
	struct tfp_error err;
	if (tfp_logdir_new(&dir, path, flags, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return dir;
}

static const struct tfp_logdir_snapshot *look(struct tfp_logdir *dir)
{
	const struct tfp_logdir_snapshot *s;
	struct tfp_error err;
	if (tfp_logdir_snapshot(dir, &s, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return s;
}

static bool has_note(const struct tfp_logdir_snapshot *s, const char *part)
{
	for (size_t i = 0; i < s->note_count; i++) {
		if (strstr(s->notes[i], part))
			return true;
	}
	return false;
}

static void test_runs_and_hosts(void **state)
{
	(void)state;
	put("plugins/profile/b/h2.xplane.pb", "12345");
	put("plugins/profile/b/h1.xplane.pb.gz", "123");
	put("plugins/profile/b/h10.xplane.pb.zst", "1");
	put("plugins/profile/a/xplane.pb", "1");
	put("train/sub/plugins/profile/c/h.xplane.pb", "1");
	put("loose/h.xplane.pb", "1");
	struct tfp_logdir *dir = open_dir(root, 0);
	assert_string_equal(tfp_logdir_path(dir), root);
	const struct tfp_logdir_snapshot *s = look(dir);
	static const char *const names[] = {"train/sub/c", "loose", "b", "a"};
	assert_int_equal(s->run_count, COUNT(names));
	for (size_t i = 0; i < COUNT(names); i++) {
		assert_string_equal(s->runs[i].name, names[i]);
		assert_ptr_equal(tfp_logdir_find_run(s, names[i]), &s->runs[i]);
	}
	assert_null(tfp_logdir_find_run(s, "plugins/profile/b"));
	assert_null(tfp_logdir_find_run(s, ""));
	assert_null(tfp_logdir_find_run(s, "zzz"));
	const struct tfp_run *b = &s->runs[2];
	assert_int_equal(b->host_count, 3);
	assert_string_equal(b->hosts[0].host, "h1");
	assert_int_equal(b->hosts[0].compression, TFP_GZIP);
	assert_string_equal(b->hosts[1].host, "h10");
	assert_int_equal(b->hosts[1].compression, TFP_ZSTD);
	assert_string_equal(b->hosts[2].host, "h2");
	assert_string_equal(b->hosts[2].path, "plugins/profile/b/h2.xplane.pb");
	assert_string_equal(b->hosts[2].name, "h2.xplane.pb");
	assert_int_equal(b->hosts[2].identity.bytes, 5);
	assert_int_equal(b->bytes, 9);
	assert_string_equal(s->runs[3].hosts[0].host, "localhost");
	assert_false(s->truncated);
	assert_int_equal(s->files, 6);
	tfp_logdir_snapshot_unref(s);
	tfp_logdir_free(dir);
}

static void test_one_host_two_files(void **state)
{
	(void)state;
	put("r/h.xplane.pb.zst", "1");
	put("r/h.xplane.pb", "1");
	put("r/h.xplane.pb.gz", "1");
	put("r/localhost.xplane.pb", "1");
	put("r/xplane.pb", "1");
	struct tfp_logdir *dir = open_dir(root, 0);
	const struct tfp_logdir_snapshot *s = look(dir);
	assert_int_equal(s->runs[0].host_count, 2);
	assert_string_equal(s->runs[0].hosts[0].name, "h.xplane.pb");
	assert_string_equal(s->runs[0].hosts[1].name, "localhost.xplane.pb");
	assert_int_equal(s->note_count, 3);
	assert_true(has_note(s, "r/h.xplane.pb.gz is not used: h.xplane.pb is there"));
	tfp_logdir_snapshot_unref(s);
	tfp_logdir_free(dir);
}

static void test_snapshots_are_kept_while_fresh(void **state)
{
	(void)state;
	put("plugins/profile/a/h.xplane.pb", "1");
	struct tfp_logdir *dir = open_dir(root, 0);
	const struct tfp_logdir_snapshot *first = look(dir), *second = look(dir);
	assert_ptr_equal(first, second);
	put("plugins/profile/b/h.xplane.pb", "1");
	usleep(1100000);
	const struct tfp_logdir_snapshot *third = look(dir);
	assert_int_equal(first->run_count, 1);
	assert_int_equal(third->run_count, 2);
	assert_int_not_equal(first->generation, third->generation);
	usleep(1100000);
	const struct tfp_logdir_snapshot *fourth = look(dir);
	assert_ptr_equal(third, fourth); /* nothing has changed */
	tfp_logdir_snapshot_unref(fourth);
	tfp_logdir_snapshot_unref(third);
	tfp_logdir_snapshot_unref(second);
	tfp_logdir_snapshot_unref(first);
	tfp_logdir_snapshot_unref(NULL);
	tfp_logdir_free(dir);
	tfp_logdir_free(NULL);
}

static void test_expiring(void **state)
{
	(void)state;
	put("plugins/profile/a/h.xplane.pb", "1");
	struct tfp_logdir *dir = open_dir(root, 0);
	const struct tfp_logdir_snapshot *first = look(dir);
	put("plugins/profile/b/h.xplane.pb", "1");
	tfp_logdir_expire(dir);
	const struct tfp_logdir_snapshot *second = look(dir);
	assert_int_equal(first->run_count, 1);
	assert_int_equal(second->run_count, 2);
	tfp_logdir_snapshot_unref(first);
	tfp_logdir_snapshot_unref(second);
	tfp_logdir_free(dir);
}

/* NULL where a new run has no place. */
static const char *runs_folder_of(const char *name)
{
	static char folder[512];
	struct tfp_error err;
	struct tfp_logdir *dir = open_dir(path_of(name), 0);
	enum tfp_status status = tfp_logdir_runs_folder(dir, folder, sizeof(folder), &err);
	tfp_logdir_free(dir);
	assert_true(status == TFP_OK || (status == TFP_BAD_QUERY && err.hint[0]));
	return status == TFP_OK ? folder + strlen(root) : NULL;
}

static void test_where_new_runs_go(void **state)
{
	(void)state;
	put("plugins/profile/a/h.xplane.pb", "1");
	put("x/loose.xplane.pb", "1");
	assert_string_equal(runs_folder_of(""), "/plugins/profile");
	assert_string_equal(runs_folder_of("x"), "/x/plugins/profile");
	assert_string_equal(runs_folder_of("x/../x//"), "/x/plugins/profile");
	assert_string_equal(runs_folder_of("plugins"), "/plugins/profile");
	assert_string_equal(runs_folder_of("plugins/profile/"), "/plugins/profile");
	assert_null(runs_folder_of("plugins/profile/a"));
	assert_null(runs_folder_of("x/loose.xplane.pb"));
}

static uint64_t generation_of(const char *path)
{
	struct tfp_logdir *dir = open_dir(path, 0);
	const struct tfp_logdir_snapshot *s = look(dir);
	uint64_t generation = s->generation;
	tfp_logdir_snapshot_unref(s);
	tfp_logdir_free(dir);
	return generation;
}

static void test_generation_tells_states_apart(void **state)
{
	(void)state;
	put("plugins/profile/a/h.xplane.pb", "1");
	uint64_t before = generation_of(root);
	assert_int_equal(generation_of(root), before);
	put("plugins/profile/a/h.xplane.pb", "12");
	uint64_t grown = generation_of(root);
	assert_int_not_equal(grown, before);
	put("plugins/profile/a/i.xplane.pb", "1");
	assert_int_not_equal(generation_of(root), grown);
}

static void *look_often(void *context)
{
	for (int i = 0; i < 200; i++)
		tfp_logdir_snapshot_unref(look(context));
	return NULL;
}

static void test_many_threads(void **state)
{
	(void)state;
	pthread_t threads[8];
	put("plugins/profile/a/h.xplane.pb", "1");
	struct tfp_logdir *dir = open_dir(root, 0);
	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, look_often, dir), 0);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	tfp_logdir_free(dir);
}

static void test_what_cannot_be_opened(void **state)
{
	(void)state;
	struct tfp_logdir *dir;
	struct tfp_error err;
	assert_int_equal(tfp_logdir_new(&dir, path_of("none"), 0, &err), TFP_NOT_FOUND);
	assert_null(dir);
	assert_true(err.hint[0]);
	assert_int_equal(tfp_logdir_new(&dir, "", 0, &err), TFP_NOT_FOUND);
	assert_int_equal(tfp_logdir_new(&dir, "/dev/null", 0, &err), TFP_BAD_QUERY);
	assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
	assert_int_equal(tfp_logdir_new(&dir, path_of("fifo"), 0, &err), TFP_BAD_QUERY);
}

/* What opening a path gives. */
static enum tfp_status try_open(const char *name, unsigned flags)
{
	struct tfp_file_identity identity;
	struct tfp_error err;
	int fd;
	const struct tfp_capture_file file = {.path = name, .name = name, .host = "h"};
	struct tfp_logdir *dir = open_dir(path_of("logs"), flags);
	enum tfp_status status = tfp_logdir_open(dir, &file, &fd, &identity, &err);
	if (status == TFP_OK) {
		assert_int_equal(identity.bytes, 3);
		close(fd);
	} else {
		assert_int_equal(fd, -1);
		assert_string_equal(err.file, name);
	}
	tfp_logdir_free(dir);
	return status;
}

static void make_links(void)
{
	char absolute[4096];
	put("logs/run/h.xplane.pb", "abc");
	put("secret/h.xplane.pb", "abc");
	snprintf(absolute, sizeof(absolute), "%s/logs/run", root);
	assert_int_equal(symlink("run/h.xplane.pb", path_of("logs/file")), 0);
	assert_int_equal(symlink("run", path_of("logs/folder")), 0);
	assert_int_equal(symlink(absolute, path_of("logs/absolute")), 0);
	assert_int_equal(symlink("../secret/h.xplane.pb", path_of("logs/file-out")), 0);
	assert_int_equal(symlink("../secret", path_of("logs/out")), 0);
	assert_int_equal(symlink("../logs/run", path_of("logs/out-and-in")), 0);
	assert_int_equal(symlink("circle", path_of("logs/circle")), 0);
	assert_int_equal(mkfifo(path_of("logs/fifo"), 0600), 0);
}

static void check_opening(void)
{
	static const struct {
		const char *path;
		enum tfp_status status, following;
	} cases[] = {
		{"run/h.xplane.pb", TFP_OK, TFP_OK},
		{"file", TFP_OK, TFP_OK},
		{"folder/h.xplane.pb", TFP_OK, TFP_OK},
		{"absolute/h.xplane.pb", TFP_OK, TFP_OK},
		{"out-and-in/h.xplane.pb", TFP_OK, TFP_OK},
		{"file-out", TFP_NOT_FOUND, TFP_OK},
		{"out/h.xplane.pb", TFP_NOT_FOUND, TFP_OK},
		{"../secret/h.xplane.pb", TFP_NOT_FOUND, TFP_OK},
		{"run/../../secret/h.xplane.pb", TFP_NOT_FOUND, TFP_OK},
		{"/etc/passwd", TFP_NOT_FOUND, TFP_OK},
		{"none", TFP_NOT_FOUND, TFP_NOT_FOUND},
		{"run/h.xplane.pb/x", TFP_NOT_FOUND, TFP_NOT_FOUND},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (try_open(cases[i].path, 0) != cases[i].status)
			fail_msg("%s", cases[i].path);
		if (cases[i].path[0] != '/')
			assert_int_equal(try_open(cases[i].path, TFP_LOGDIR_FOLLOW_SYMLINKS),
					 cases[i].following);
	}
	assert_int_not_equal(try_open("circle", 0), TFP_OK);
	assert_int_equal(try_open("run", 0), TFP_IO);
	assert_int_equal(try_open("fifo", 0), TFP_IO);
}

static void test_opening_stays_beneath(void **state)
{
	(void)state;
	make_links();
	check_opening();
}

/* As on a kernel without openat2. */
static void forbid_openat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {COUNT(code), code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(77);
	if (syscall(SYS_openat2, 0, 0, 0, 0) != -1 || errno != ENOSYS)
		_exit(78);
}

static void test_opening_stays_beneath_on_old_kernels(void **state)
{
	(void)state;
	int status;
	make_links();
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		forbid_openat2();
		check_opening();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* no seccomp here */
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_identity_changes_with_the_file(void **state)
{
	(void)state;
	struct tfp_file_identity first, second;
	const struct tfp_capture_file file = {.path = "h.xplane.pb", .name = "h.xplane.pb"};
	int fd;
	put("h.xplane.pb", "1");
	struct tfp_logdir *dir = open_dir(root, 0);
	assert_int_equal(tfp_logdir_open(dir, &file, &fd, &first, NULL), TFP_OK);
	close(fd);
	put("h.xplane.pb", "123");
	assert_int_equal(tfp_logdir_open(dir, &file, &fd, &second, NULL), TFP_OK);
	close(fd);
	assert_int_equal(second.bytes, 3);
	assert_int_equal(second.inode, first.inode);
	assert_true(second.modified_ns >= first.modified_ns);
	tfp_logdir_free(dir);
}

static void test_without_memory(void **state)
{
	(void)state;
	put("plugins/profile/b/h2.xplane.pb", "12345");
	put("plugins/profile/b/\xff.xplane.pb", "12345");
	put("train/plugins/profile/c/h.xplane.pb", "1");
	put("loose/xplane.pb.gz", "1");
	assert_int_equal(symlink("/etc", path_of("etc")), 0);
	for (unsigned flags = 0; flags < 2; flags++) {
		for (uint64_t n = 1;; n++) {
			struct tfp_logdir *dir;
			const struct tfp_logdir_snapshot *s = NULL;
			struct tfp_error err;
			if (flags)
				unlink(path_of("etc"));
			tfp_alloc_fail_at(n);
			enum tfp_status status = tfp_logdir_new(&dir, root, flags, &err);
			if (status == TFP_OK)
				status = tfp_logdir_snapshot(dir, &s, &err);
			uint64_t asked = tfp_alloc_count();
			tfp_alloc_fail_at(0);
			if (status == TFP_OK)
				assert_int_equal(s->run_count, 3);
			else
				assert_int_equal(status, TFP_NO_MEMORY);
			tfp_logdir_snapshot_unref(s);
			tfp_logdir_free(dir);
			if (asked < n)
				break;
			assert_true(n < 10000);
		}
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_runs_and_hosts),
		TEST(test_one_host_two_files),
		TEST(test_snapshots_are_kept_while_fresh),
		TEST(test_expiring),
		TEST(test_where_new_runs_go),
		TEST(test_generation_tells_states_apart),
		TEST(test_many_threads),
		TEST(test_what_cannot_be_opened),
		TEST(test_opening_stays_beneath),
		TEST(test_opening_stays_beneath_on_old_kernels),
		TEST(test_identity_changes_with_the_file),
		TEST(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
