/* SPDX-License-Identifier: Apache-2.0 */
/* The queue between a thread that makes a body and the connection that sends it. */
#include "testing.h"

#include "base/alloc.h"
#include "http/pipe.h"

#include <pthread.h>

struct reader {
	pthread_mutex_t lock;
	pthread_cond_t awake;
	bool asleep;
};

static void sleep_reader(void *context)
{
	struct reader *r = context;
	pthread_mutex_lock(&r->lock);
	r->asleep = true;
	pthread_mutex_unlock(&r->lock);
}

static void wake_reader(void *context)
{
	struct reader *r = context;
	pthread_mutex_lock(&r->lock);
	r->asleep = false;
	pthread_cond_signal(&r->awake);
	pthread_mutex_unlock(&r->lock);
}

static void wait_until_awake(struct reader *r)
{
	pthread_mutex_lock(&r->lock);
	while (r->asleep)
		pthread_cond_wait(&r->awake, &r->lock);
	pthread_mutex_unlock(&r->lock);
}

static struct reader reader = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
static atomic_bool stop;

static struct tfp_pipe *new_pipe(size_t room, unsigned patience_ms)
{
	const struct tfp_pipe_config config = {.room = room,
					       .patience_ms = patience_ms,
					       .stop = &stop,
					       .sleep = sleep_reader,
					       .wake = wake_reader,
					       .context = &reader};
	struct tfp_pipe *pipe;
	struct tfp_error err;
	reader.asleep = false;
	if (tfp_pipe_new(&pipe, &config, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return pipe;
}

#define TOTAL 100000u

static void *write_all(void *context)
{
	struct tfp_error err;
	unsigned char piece[777];
	enum tfp_status status = TFP_OK;
	for (unsigned at = 0; at < TOTAL && status == TFP_OK;) {
		unsigned n = TOTAL - at < sizeof(piece) ? TOTAL - at : (unsigned)sizeof(piece);
		for (unsigned i = 0; i < n; i++)
			piece[i] = (unsigned char)((at + i) * 7 >> 3);
		status = tfp_pipe_write(context, piece, n, &err);
		at += n;
	}
	tfp_pipe_close(context, status == TFP_OK);
	return NULL;
}

/* All bytes in order, through a queue that is smaller than a piece. */
static void test_bytes_in_order(void **state)
{
	struct tfp_pipe *pipe = new_pipe(500, 60000);
	pthread_t writer;
	size_t at = 0;
	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, write_all, pipe), 0);
	for (;;) {
		unsigned char piece[333];
		size_t size;
		enum tfp_pipe_state s = tfp_pipe_read(pipe, piece, sizeof(piece), &size);
		if (s == TFP_PIPE_EMPTY) {
			wait_until_awake(&reader);
			continue;
		}
		if (s != TFP_PIPE_DATA) {
			assert_int_equal(s, TFP_PIPE_END);
			break;
		}
		for (size_t i = 0; i < size; i++)
			assert_int_equal(piece[i], (unsigned char)((at + i) * 7 >> 3));
		at += size;
	}
	assert_int_equal(at, TOTAL);
	tfp_pipe_abandon(pipe);
	pthread_join(writer, NULL);
}

/* A reader that goes away ends the writer. */
static void test_reader_goes_away(void **state)
{
	struct tfp_pipe *pipe = new_pipe(500, 60000);
	pthread_t writer;
	char piece[10];
	size_t size;
	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, write_all, pipe), 0);
	while (tfp_pipe_read(pipe, piece, sizeof(piece), &size) == TFP_PIPE_EMPTY)
		wait_until_awake(&reader);
	tfp_pipe_abandon(pipe);
	pthread_join(writer, NULL);
}

/* So does one that takes nothing, and the end of the server. */
static void test_writer_gives_up(void **state)
{
	struct tfp_error err;
	char bytes[600] = {0};
	size_t size;
	(void)state;
	struct tfp_pipe *pipe = new_pipe(500, 1);
	assert_int_equal(tfp_pipe_write(pipe, bytes, sizeof(bytes), &err), TFP_IO);
	assert_string_equal(err.message, "the client takes nothing");
	tfp_pipe_close(pipe, false);
	/* What came is still there; then the reader learns that it is not all. */
	assert_int_equal(tfp_pipe_read(pipe, bytes, sizeof(bytes), &size), TFP_PIPE_DATA);
	assert_int_equal(size, 500);
	assert_int_equal(tfp_pipe_read(pipe, bytes, sizeof(bytes), &size), TFP_PIPE_BROKEN);
	tfp_pipe_abandon(pipe);

	pipe = new_pipe(500, 60000);
	atomic_store(&stop, true);
	assert_int_equal(tfp_pipe_write(pipe, bytes, sizeof(bytes), &err), TFP_IO);
	assert_string_equal(err.message, "the server stops");
	atomic_store(&stop, false);
	tfp_pipe_abandon(pipe);
	tfp_pipe_close(pipe, false);
}

static void test_no_memory(void **state)
{
	const struct tfp_pipe_config config = {.room = 16, .stop = &stop};
	struct tfp_pipe *pipe;
	struct tfp_error err;
	(void)state;
	for (uint64_t n = 1; n <= 2; n++) {
		tfp_alloc_fail_at(n);
		assert_int_equal(tfp_pipe_new(&pipe, &config, &err), TFP_NO_MEMORY);
		tfp_alloc_fail_at(0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_in_order),
		cmocka_unit_test(test_reader_goes_away),
		cmocka_unit_test(test_writer_gives_up),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
