/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event_heads.h"

#include "wire/pb_cursor.h"

#include <string.h>
#include <unistd.h>

#define HEAD_SIZE 12u /* a length and its checksum */
#define TAIL_SIZE 4u  /* the checksum of what is between */

/* An event's time, step and the field of what it is fit into this: writers put them first. */
#define PEEK_SIZE 48u

/* Of one look. */
#define RECORDS_MOST 65536u
#define READS_MOST   4096u
#define WINDOW       16384u

/* Fields of an Event. */
enum { EVENT_TIME = 1, EVENT_STEP = 2, EVENT_VERSION = 3, EVENT_RUN = 8 };

struct window {
	int fd;
	uint64_t size; /* of the file */
	uint64_t from;
	size_t filled;
	unsigned reads;
	uint8_t bytes[WINDOW];
};

/* Bytes of the file from a place on, at least so many; NULL where it has not so many, or after too
 * many reads. */
static const uint8_t *bytes_at(struct window *w, uint64_t at, size_t need)
{
	if (at > w->size || w->size - at < need)
		return NULL;
	if (at < w->from || at + need > w->from + w->filled) {
		if (w->reads++ == READS_MOST)
			return NULL;
		ssize_t got = pread(w->fd, w->bytes, WINDOW, (off_t)at);
		w->from = at;
		w->filled = got > 0 ? (size_t)got : 0;
	}
	return at + need <= w->from + w->filled ? w->bytes + (at - w->from) : NULL;
}

static uint64_t read_length(const uint8_t *at)
{
	uint64_t n = 0;
	for (unsigned i = 8; i-- > 0;)
		n = n << 8 | at[i];
	return n;
}

/* What an event is of: the first field behind its time and step; 0 where it has none. */
static uint32_t kind_of(const uint8_t *bytes, size_t size, double *time_s, bool *is_version)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(bytes, size);
	uint32_t tag;
	*is_version = false;
	while (tfp_pb_next(&c, &tag)) {
		if (tag == TFP_PB_TAG(EVENT_TIME, TFP_PB_FIXED64))
			tfp_pb_double(&c, time_s);
		else if (tag == TFP_PB_TAG(EVENT_STEP, TFP_PB_VARINT))
			tfp_pb_skip(&c, tag);
		else {
			static const char word[] = "brain.Event:";
			*is_version = tag == TFP_PB_TAG(EVENT_VERSION, TFP_PB_BYTES) &&
				      memmem(bytes, size, word, sizeof(word) - 1) != NULL;
			return tag >> 3;
		}
	}
	return 0;
}

/* The record at heads->at; false where there is none to be had. */
static bool look_at_one(struct window *w, struct tfp_event_heads *heads)
{
	const uint8_t *head = bytes_at(w, heads->at, HEAD_SIZE);
	double time_s = 0;
	bool is_version;
	if (!head)
		return false;
	uint64_t length = read_length(head), left = w->size - heads->at - HEAD_SIZE;
	if (left < TAIL_SIZE || length > left - TAIL_SIZE)
		return false;
	size_t peek = length < PEEK_SIZE ? (size_t)length : PEEK_SIZE;
	const uint8_t *event = bytes_at(w, heads->at + HEAD_SIZE, peek);
	if (!event)
		return false;
	uint32_t kind = kind_of(event, peek, &time_s, &is_version);
	if (heads->at == 0 && !is_version) {
		heads->no_file = true;
		return false;
	}
	if (kind == EVENT_RUN && heads->runs++ == 0)
		heads->time_s = time_s;
	heads->at += HEAD_SIZE + length + TAIL_SIZE;
	return true;
}

void tfp_event_heads_look(int fd, uint64_t size, struct tfp_event_heads *heads)
{
	struct window w = {.fd = fd, .size = size};
	heads->ended = false;
	for (unsigned i = 0; i < RECORDS_MOST; i++) {
		if (!look_at_one(&w, heads)) {
			/* Otherwise the rest is for the next look. */
			heads->ended = w.reads <= READS_MOST;
			return;
		}
	}
}
