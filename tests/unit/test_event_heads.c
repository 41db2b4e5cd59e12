/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking through the heads of event files: what is found, what is passed over, and that a look
 * is bounded and goes on where the last one ended.
 */
#include "testing.h"

#include "store/event_heads.h"

#include <stdlib.h>
#include <unistd.h>

struct file {
	int fd;
	uint64_t size;
};

static struct file new_file(void)
{
	char name[] = "/tmp/tfprof-test-XXXXXX";
	struct file f = {.fd = mkstemp(name)};
	assert_true(f.fd >= 0);
	unlink(name);
	return f;
}

static void put(struct file *f, const void *bytes, size_t size)
{
	assert_int_equal(pwrite(f->fd, bytes, size, (off_t)f->size), (ssize_t)size);
	f->size += size;
}

/* A record as long as it says, of which only the beginning is written; the rest is a hole. */
static void put_record(struct file *f, const void *begin, size_t size, uint64_t length)
{
	uint8_t head[12] = {0};
	for (unsigned i = 0; i < 8; i++)
		head[i] = (uint8_t)(length >> (8 * i));
	put(f, head, sizeof(head));
	put(f, begin, size);
	f->size += length - size + 4;
	assert_int_equal(ftruncate(f->fd, (off_t)f->size), 0);
}

/* wall_time = 1000.5, step 7, and a field. */
#define TIME "\x09\x00\x00\x00\x00\x00\x44\x8f\x40\x10\x07"
static const char version[] = TIME "\x1a\x0d"
				   "brain.Event:2";
static const char summary[] = TIME "\x2a\x00";
static const char run[] = TIME "\x42\x00";

#define PUT(f, text, length) put_record(f, text, sizeof(text) - 1, length)

static struct tfp_event_heads look(const struct file *f, struct tfp_event_heads from)
{
	tfp_event_heads_look(f->fd, f->size, &from);
	return from;
}

static void test_runs_are_found(void **state)
{
	struct file f = new_file();
	(void)state;
	PUT(&f, version, sizeof(version) - 1);
	PUT(&f, summary, 5000000); /* not read */
	PUT(&f, run, sizeof(run) - 1);
	PUT(&f, run, 100000);
	PUT(&f, summary, sizeof(summary) - 1);
	struct tfp_event_heads heads = look(&f, (struct tfp_event_heads){0});
	assert_true(heads.ended && !heads.no_file);
	assert_int_equal(heads.runs, 2);
	assert_true(heads.time_s == 1000.5);
	assert_int_equal(heads.at, f.size);
	/* It grows, with half a record at its end. */
	PUT(&f, run, sizeof(run) - 1);
	uint64_t whole = f.size;
	put(&f, "half", 4);
	heads = look(&f, heads);
	assert_true(heads.ended);
	assert_int_equal(heads.runs, 3);
	assert_int_equal(heads.at, whole);
	close(f.fd);
}

static void test_no_events(void **state)
{
	static const char other[] = "\x0a\x03 no event file at all, whatever its name";
	struct file f = new_file();
	(void)state;
	assert_true(look(&f, (struct tfp_event_heads){0}).ended);
	PUT(&f, other, sizeof(other) - 1);
	PUT(&f, run, sizeof(run) - 1);
	struct tfp_event_heads heads = look(&f, (struct tfp_event_heads){0});
	assert_true(heads.ended && heads.no_file);
	assert_int_equal(heads.runs, 0);
	close(f.fd);
}

/* A length beyond the file, also one that overflows, ends it. */
static void test_damaged_lengths(void **state)
{
	static const uint64_t lengths[] = {1000, UINT64_MAX, UINT64_MAX - 15, INT64_MAX};
	(void)state;
	for (size_t i = 0; i < COUNT(lengths); i++) {
		struct file f = new_file();
		uint8_t head[28] = {0};
		PUT(&f, version, sizeof(version) - 1);
		uint64_t whole = f.size;
		memcpy(head, &lengths[i], sizeof(lengths[i]));
		put(&f, head, sizeof(head));
		struct tfp_event_heads heads = look(&f, (struct tfp_event_heads){0});
		assert_true(heads.ended);
		assert_int_equal(heads.at, whole);
		close(f.fd);
	}
}

/* Far apart, so that each costs a read: more than one look makes. */
static void test_a_look_is_bounded(void **state)
{
	enum { RECORDS = 9000 };
	struct file f = new_file();
	struct tfp_event_heads heads = {0};
	unsigned looks = 0;
	(void)state;
	PUT(&f, version, sizeof(version) - 1);
	for (int i = 0; i < RECORDS; i++)
		PUT(&f, run, 40000);
	while (!heads.ended) {
		uint64_t before = heads.at;
		heads = look(&f, heads);
		assert_true(heads.at > before);
		looks++;
	}
	assert_int_equal(heads.runs, RECORDS);
	assert_true(looks > 2 && looks < 10);
	close(f.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_are_found),
		cmocka_unit_test(test_no_events),
		cmocka_unit_test(test_damaged_lengths),
		cmocka_unit_test(test_a_look_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
