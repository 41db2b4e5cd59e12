/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "store/result_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#define PLENTY (UINT64_C(1) << 30)
#define BUILD  UINT64_C(77)

static char root[64];

static const char *path_of(const char *name)
{
	static char paths[4][4096];
	static unsigned turn;
	char *path = paths[turn++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", root, name);
	return path;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root, "/tmp/tfprof-results-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static void remove_all(const char *path)
{
	char inner[4096];
	DIR *dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(inner, sizeof(inner), "%s/%s", path, e->d_name);
		if (unlink(inner) != 0)
			remove_all(inner);
	}
	if (dir)
		closedir(dir);
	rmdir(path);
}

static int tear_down(void **state)
{
	(void)state;
	remove_all(root);
	return 0;
}

static struct tfp_result_cache *open_with(const char *name, uint64_t limit, uint64_t build)
{
	struct tfp_result_cache *cache;
	struct tfp_error err;
	if (tfp_result_cache_new(&cache, path_of(name), NULL, limit, build, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return cache;
}

static struct tfp_buf text(const char *s)
{
	return (struct tfp_buf){.data = (char *)(uintptr_t)s, .size = strlen(s)};
}

static bool put(struct tfp_result_cache *cache, const char *key, const char *value)
{
	struct tfp_buf k = text(key), v = text(value);
	return tfp_result_cache_put(cache, &k, &v);
}

/* NULL when there is nothing; valid until the next call. */
static const char *get(struct tfp_result_cache *cache, const char *key)
{
	static struct tfp_buf out;
	struct tfp_buf k = text(key);
	tfp_buf_release(&out);
	tfp_buf_init(&out, 1 << 24);
	return tfp_result_cache_get(cache, &k, &out) ? tfp_buf_text(&out) : NULL;
}

/* Names in a folder; the only one is written to only. */
static size_t count_files(const char *folder, char only[256])
{
	size_t n = 0;
	DIR *dir = opendir(path_of(folder));
	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		if (e->d_name[0] == '.')
			continue;
		n++;
		if (only)
			snprintf(only, 256, "%s", e->d_name);
	}
	closedir(dir);
	return n;
}

static void read_file(const char *path, uint8_t *bytes, size_t *size)
{
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	*size = fread(bytes, 1, *size, f);
	fclose(f);
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	fclose(f);
}

static void test_put_and_get(void **state)
{
	struct stat st;
	char name[256], file[512];
	(void)state;
	struct tfp_result_cache *cache = open_with("a/b", PLENTY, BUILD);
	assert_null(get(cache, "key"));
	assert_true(put(cache, "key", "value"));
	assert_true(put(cache, "", ""));
	assert_string_equal(get(cache, "key"), "value");
	assert_string_equal(get(cache, ""), "");
	assert_null(get(cache, "ke"));
	assert_true(put(cache, "key", "another"));
	assert_string_equal(get(cache, "key"), "another");
	tfp_result_cache_free(cache);
	/* Another process of the same build, and one of another. */
	cache = open_with("a/b", PLENTY, BUILD);
	assert_string_equal(get(cache, "key"), "another");
	tfp_result_cache_free(cache);
	cache = open_with("a/b", PLENTY, BUILD + 1);
	assert_null(get(cache, "key"));
	tfp_result_cache_free(cache);
	/* For the owner's eyes only. */
	assert_int_equal(count_files("a/b", name), 2);
	snprintf(file, sizeof(file), "a/b/%s", name);
	assert_int_equal(stat(path_of(file), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(path_of("a/b"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	/* Without a cache nothing is found and nothing kept. */
	assert_null(get(NULL, "key"));
	assert_false(put(NULL, "key", "value"));
	tfp_result_cache_free(NULL);
}

/* Every bit of a file counts. */
static void test_damage(void **state)
{
	char name[256], file[512];
	uint8_t bytes[4096], changed[4096];
	size_t size = sizeof(bytes);
	(void)state;
	struct tfp_result_cache *cache = open_with("c", PLENTY, BUILD);
	assert_true(put(cache, "key", "a value that is somewhat longer, a value that is longer"));
	assert_int_equal(count_files("c", name), 1);
	snprintf(file, sizeof(file), "c/%s", name);
	read_file(path_of(file), bytes, &size);
	assert_in_range(size, 50, 1000);
	for (size_t i = 0; i < size * 8; i++) {
		memcpy(changed, bytes, size);
		changed[i / 8] ^= (uint8_t)(1 << i % 8);
		write_file(path_of(file), changed, size);
		const char *value = get(cache, "key");
		/* A bit of the frame's head may mean nothing. */
		if (value)
			assert_string_equal(
				value, "a value that is somewhat longer, a value that is longer");
	}
	for (size_t n = 0; n < size; n++) {
		write_file(path_of(file), bytes, n);
		assert_null(get(cache, "key"));
	}
	/* Written anew. */
	assert_true(put(cache, "key", "again"));
	assert_string_equal(get(cache, "key"), "again");
	tfp_result_cache_free(cache);
}

/* A good file under the wrong name, one of somebody else's, a link, a folder. */
static void test_foreign_files(void **state)
{
	char name[256], file[512], other[512];
	(void)state;
	struct tfp_result_cache *cache = open_with("f", PLENTY, BUILD);
	assert_true(put(cache, "one", "1"));
	count_files("f", name);
	snprintf(file, sizeof(file), "f/%s", name);
	assert_int_equal(rename(path_of(file), path_of("kept")), 0);
	assert_true(put(cache, "two", "2"));
	count_files("f", name);
	snprintf(other, sizeof(other), "f/%s", name);
	/* The file of key one where that of key two should be. */
	assert_int_equal(rename(path_of("kept"), path_of(other)), 0);
	assert_null(get(cache, "two"));
	assert_true(put(cache, "two", "2"));
	assert_string_equal(get(cache, "two"), "2");
	/* A file that others could have written is not used. */
	assert_int_equal(chmod(path_of(other), 0666), 0);
	assert_null(get(cache, "two"));
	assert_int_equal(chmod(path_of(other), 0600), 0);
	assert_string_equal(get(cache, "two"), "2");
	assert_int_equal(rename(path_of(other), path_of("elsewhere")), 0);
	assert_int_equal(symlink(path_of("elsewhere"), path_of(other)), 0);
	assert_null(get(cache, "two"));
	assert_true(put(cache, "two", "3"));
	assert_string_equal(get(cache, "two"), "3");
	unlink(path_of(other));
	assert_int_equal(mkdir(path_of(other), 0700), 0);
	assert_null(get(cache, "two"));
	assert_false(put(cache, "two", "4"));
	tfp_result_cache_free(cache);
}

static void test_frames_of_others(void **state)
{
	struct tfp_buf key = text("k"), value = text("v"), file, out;
	char frame[256];
	(void)state;
	tfp_buf_init(&file, 1 << 20);
	tfp_buf_init(&out, 1 << 20);
	assert_true(tfp_result_encode(&key, &value, &file));
	assert_true(tfp_result_decode(file.data, file.size, &key, &out));
	assert_string_equal(tfp_buf_text(&out), "v");
	assert_false(tfp_result_decode(file.data, file.size, &value, &out));
	size_t n = ZSTD_compress(frame, sizeof(frame), "something else that is long enough", 34, 1);
	assert_false(tfp_result_decode(frame, n, &key, &out));
	assert_false(tfp_result_decode("", 0, &key, &out));
	/* No room for what is in it. */
	out.ceiling = out.size;
	assert_false(tfp_result_decode(file.data, file.size, &key, &out));
	tfp_buf_release(&file);
	tfp_buf_release(&out);
}

#define LIMIT_ON_DISK 40960

/* Of the disk. */
static uint64_t bytes_in(const char *folder)
{
	uint64_t sum = 0;
	char file[512];
	struct stat st;
	DIR *dir = opendir(path_of(folder));
	for (struct dirent *e; (e = readdir(dir));) {
		snprintf(file, sizeof(file), "%s/%s", folder, e->d_name);
		if (e->d_name[0] != '.' && stat(path_of(file), &st) == 0)
			sum += (uint64_t)st.st_blocks * 512;
	}
	closedir(dir);
	return sum;
}

/* A thousand bytes that no compressor makes less of. */
static void random_text(char out[1001], unsigned seed)
{
	for (int i = 0; i < 1000; i++) {
		seed = seed * 1103515245 + 12345;
		out[i] = (char)('!' + (seed >> 16) % 90);
	}
	out[1000] = '\0';
}

static void test_least_recently_used_go(void **state)
{
	char key[16], value[1001];
	const struct timespec tick = {.tv_nsec = 5000000};
	(void)state;
	/* A file of a thousand bytes takes a block of four, in most file systems. */
	struct tfp_result_cache *cache = open_with("l", LIMIT_ON_DISK, BUILD);
	write_file(path_of("l/a file of the user's.zst"), (const uint8_t *)"x", 1);
	for (unsigned i = 0; i < 30; i++) {
		snprintf(key, sizeof(key), "%u", i);
		random_text(value, i + 1);
		assert_true(put(cache, key, value));
		assert_true(bytes_in("l") <= LIMIT_ON_DISK + 4096); /* the user's */
		/* The first is used all the time. */
		nanosleep(&tick, NULL);
		assert_non_null(get(cache, "0"));
		nanosleep(&tick, NULL);
	}
	assert_non_null(get(cache, "29"));
	assert_non_null(get(cache, "28"));
	assert_null(get(cache, "1"));
	assert_null(get(cache, "15"));
	assert_in_range(count_files("l", NULL), 6, 14);
	assert_int_equal(access(path_of("l/a file of the user's.zst"), F_OK), 0);
	tfp_result_cache_free(cache);
	/* One that is larger than all may be is not kept. */
	cache = open_with("l", 500, BUILD);
	assert_false(put(cache, "large", value));
	tfp_result_cache_free(cache);
	cache = open_with("l", 2 * 4096, BUILD);
	/* What is there counts from the first put on. */
	assert_true(put(cache, "small", "x"));
	assert_non_null(get(cache, "small"));
	assert_true(bytes_in("l") <= 3 * 4096);
	tfp_result_cache_free(cache);
}

static void test_leftovers_of_the_dead(void **state)
{
	const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	const char *dead = path_of("d/0123456789abcdef0123456789abcdef.1.2.tmp");
	const char *alive = path_of("d/0123456789abcdef0123456789abcdee.1.2.tmp");
	(void)state;
	struct tfp_result_cache *cache = open_with("d", PLENTY, BUILD);
	write_file(dead, (const uint8_t *)"x", 1);
	write_file(alive, (const uint8_t *)"x", 1);
	assert_int_equal(utimensat(AT_FDCWD, dead, old, 0), 0);
	assert_true(put(cache, "k", "v"));
	assert_int_not_equal(access(dead, F_OK), 0);
	assert_int_equal(access(alive, F_OK), 0);
	tfp_result_cache_free(cache);
}

static enum tfp_status try_new(const char *folder, const char *outside)
{
	struct tfp_result_cache *cache;
	struct tfp_error err;
	tfp_error_init(&err);
	enum tfp_status status = tfp_result_cache_new(&cache, folder, outside, 1, 1, &err);
	assert_true((status == TFP_OK) == (cache != NULL));
	assert_true(status == TFP_OK || err.message[0]);
	tfp_result_cache_free(cache);
	return status;
}

static void test_where_it_must_not_be(void **state)
{
	struct stat st;
	(void)state;
	assert_int_equal(mkdir(path_of("logs"), 0700), 0);
	assert_int_equal(symlink(path_of("logs"), path_of("link")), 0);
	assert_int_equal(try_new(path_of("logs"), path_of("logs")), TFP_BAD_QUERY);
	assert_int_equal(try_new(path_of("logs/x/y"), path_of("logs/")), TFP_BAD_QUERY);
	assert_int_equal(try_new(path_of("link/x"), path_of("logs")), TFP_BAD_QUERY);
	assert_int_equal(try_new(path_of("logs/x"), path_of("link")), TFP_BAD_QUERY);
	assert_int_equal(try_new(path_of("logs/x"), "/"), TFP_BAD_QUERY);
	assert_int_not_equal(try_new(path_of("new/../logs/x"), path_of("logs")), TFP_OK);
	assert_int_not_equal(stat(path_of("logs/x"), &st), 0);
	/* A name that only begins alike, and a folder above. */
	assert_int_equal(try_new(path_of("logs2"), path_of("logs")), TFP_OK);
	assert_int_equal(try_new(root, path_of("logs")), TFP_OK);
	/* Others may write there. */
	assert_int_equal(mkdir(path_of("open"), 0700), 0);
	assert_int_equal(try_new(path_of("open"), NULL), TFP_OK);
	assert_int_equal(chmod(path_of("open"), 0770), 0);
	assert_int_equal(try_new(path_of("open"), NULL), TFP_FORBIDDEN);
	assert_int_equal(chmod(path_of("open"), 0702), 0);
	assert_int_equal(try_new(path_of("open"), NULL), TFP_FORBIDDEN);
	/* What is there is no folder. */
	write_file(path_of("file"), (const uint8_t *)"x", 1);
	assert_int_equal(try_new(path_of("file"), NULL), TFP_IO);
	assert_int_equal(try_new(path_of("file/x"), NULL), TFP_IO);
	assert_int_equal(try_new("", NULL), TFP_IO);
	assert_int_equal(try_new("/proc/nothing/here", NULL), TFP_IO);
}

/* A disk that is full, as a limit on the size of files has it. */
static void test_a_folder_that_went_away(void **state)
{
	char elsewhere[4096];
	(void)state;
	struct tfp_result_cache *cache = open_with("a/b", PLENTY, BUILD);
	assert_true(put(cache, "k", "1"));
	remove_all(path_of("a"));
	assert_null(get(cache, "k"));
	/* It is made again, with the folders above it, for us alone. */
	struct stat st;
	assert_true(put(cache, "k", "2"));
	assert_string_equal(get(cache, "k"), "2");
	assert_int_equal(stat(path_of("a/b"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);

	/* Not where a link leads, nor through one. */
	assert_int_equal(mkdir(path_of("other"), 0700), 0);
	assert_int_equal(mkdir(path_of("other/b"), 0700), 0);
	snprintf(elsewhere, sizeof(elsewhere), "%s", path_of("other"));
	remove_all(path_of("a/b"));
	assert_int_equal(symlink(elsewhere, path_of("a/b")), 0);
	assert_false(put(cache, "k", "3"));
	remove_all(path_of("a"));
	assert_int_equal(symlink(elsewhere, path_of("a")), 0);
	assert_false(put(cache, "k", "4"));
	assert_int_equal(count_files("other/b", NULL), 0);
	assert_int_equal(unlink(path_of("a")), 0);

	/* Nor where others may write. */
	assert_int_equal(mkdir(path_of("a"), 0700), 0);
	assert_int_equal(mkdir(path_of("a/b"), 0700), 0);
	assert_int_equal(chmod(path_of("a/b"), 0777), 0);
	assert_false(put(cache, "k", "5"));
	assert_int_equal(chmod(path_of("a/b"), 0700), 0);
	assert_true(put(cache, "k", "6"));
	assert_string_equal(get(cache, "k"), "6");
	tfp_result_cache_free(cache);
}

static void test_no_room(void **state)
{
	struct rlimit old, little = {200, 200};
	char value[1001];
	(void)state;
	struct tfp_result_cache *cache = open_with("n", PLENTY, BUILD);
	random_text(value, 9);
	assert_true(put(cache, "before", value));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	little.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	bool kept = put(cache, "key", value);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_false(kept);
	assert_null(get(cache, "key"));
	assert_non_null(get(cache, "before"));
	assert_int_equal(count_files("n", NULL), 1);
	assert_true(put(cache, "key", value));
	assert_string_equal(get(cache, "key"), value);
	tfp_result_cache_free(cache);
}

struct writer {
	struct tfp_result_cache *cache;
	unsigned seed, wrong;
};

static void *write_and_read(void *context)
{
	struct writer *w = context;
	struct tfp_buf out;
	char key[16], value[1001];
	for (unsigned i = 0; i < 200; i++) {
		unsigned which = (w->seed + i) % 7;
		snprintf(key, sizeof(key), "%u", which);
		random_text(value, which);
		struct tfp_buf k = text(key), v = text(value);
		tfp_buf_init(&out, 1 << 20);
		w->wrong += !tfp_result_cache_put(w->cache, &k, &v);
		/* Another may have made room by removing it, but a whole one is right. */
		if (tfp_result_cache_get(w->cache, &k, &out))
			w->wrong += strcmp(tfp_buf_text(&out), value) != 0;
		tfp_buf_release(&out);
	}
	return NULL;
}

/* Two caches on one folder, as two processes have it, with two threads each. */
static void test_many_writers(void **state)
{
	struct tfp_result_cache *caches[2] = {open_with("m", 4000, BUILD),
					      open_with("m", 4000, BUILD)};
	struct writer writers[4];
	pthread_t threads[4];
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		writers[i] = (struct writer){caches[i % 2], i, 0};
		pthread_create(&threads[i], NULL, write_and_read, &writers[i]);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(writers[i].wrong, 0);
	}
	assert_true(put(caches[0], "last", "x"));
	assert_true(bytes_in("m") <= 9000);
	tfp_result_cache_free(caches[0]);
	tfp_result_cache_free(caches[1]);
}

/* ---- keys ---- */

static struct tfp_buf key_of(struct tfp_logdir *dir, const char *name)
{
	const struct tfp_capture_file file = {.host = "h", .path = name, .name = name};
	struct tfp_error err;
	struct tfp_buf key;
	tfp_buf_init(&key, 1 << 16);
	if (tfp_result_key_add_file(&key, dir, &file, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return key;
}

static bool same_key(struct tfp_logdir *dir, const char *name, const struct tfp_buf *before)
{
	struct tfp_buf now = key_of(dir, name);
	bool same = now.size == before->size && memcmp(now.data, before->data, now.size) == 0;
	tfp_buf_release(&now);
	return same;
}

static void test_keys(void **state)
{
	struct tfp_logdir *dir;
	struct tfp_error err;
	struct stat st;
	uint8_t bytes[20000] = {0};
	(void)state;
	mkdir(path_of("keys"), 0700);
	assert_int_equal(tfp_logdir_new(&dir, path_of("keys"), 0, &err), TFP_OK);
	write_file(path_of("keys/a"), bytes, sizeof(bytes));
	write_file(path_of("keys/b"), bytes, sizeof(bytes));
	assert_int_equal(stat(path_of("keys/a"), &st), 0);
	const struct timespec times[2] = {st.st_mtim, st.st_mtim};
	assert_int_equal(utimensat(AT_FDCWD, path_of("keys/b"), times, 0), 0);
	struct tfp_buf key = key_of(dir, "a");
	assert_true(same_key(dir, "a", &key));
	assert_false(same_key(dir, "b", &key));
	/* Head, tail, time and size each count, whatever the others say. */
	for (size_t at = 0; at < sizeof(bytes); at += sizeof(bytes) - 1) {
		bytes[at] = 1;
		int fd = open(path_of("keys/a"), O_WRONLY);
		assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
		close(fd);
		assert_int_equal(utimensat(AT_FDCWD, path_of("keys/a"), times, 0), 0);
		assert_false(same_key(dir, "a", &key));
		bytes[at] = 0;
		fd = open(path_of("keys/a"), O_WRONLY);
		assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
		close(fd);
		assert_int_equal(utimensat(AT_FDCWD, path_of("keys/a"), times, 0), 0);
		assert_true(same_key(dir, "a", &key));
	}
	assert_int_equal(truncate(path_of("keys/a"), sizeof(bytes) - 1), 0);
	assert_int_equal(utimensat(AT_FDCWD, path_of("keys/a"), times, 0), 0);
	assert_false(same_key(dir, "a", &key));
	tfp_buf_release(&key);
	/* The same file from a folder above has the same key. */
	struct tfp_logdir *above;
	assert_int_equal(tfp_logdir_new(&above, root, 0, &err), TFP_OK);
	key = key_of(dir, "b");
	assert_true(same_key(above, "keys/b", &key));
	tfp_buf_release(&key);
	const struct tfp_capture_file none = {.host = "h", .path = "none", .name = "none"};
	tfp_buf_init(&key, 1 << 16);
	assert_int_equal(tfp_result_key_add_file(&key, dir, &none, &err), TFP_NOT_FOUND);
	tfp_buf_release(&key);
	tfp_logdir_free(above);
	tfp_logdir_free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_and_get),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_foreign_files),
		cmocka_unit_test(test_frames_of_others),
		cmocka_unit_test(test_least_recently_used_go),
		cmocka_unit_test(test_leftovers_of_the_dead),
		cmocka_unit_test(test_where_it_must_not_be),
		cmocka_unit_test(test_a_folder_that_went_away),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_many_writers),
		cmocka_unit_test(test_keys),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
