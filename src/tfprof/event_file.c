/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/event_file.h"

#include "base/alloc.h"
#include "tfprof/crc32c.h"
#include "tfprof/messages.h"

#define HEAD_SIZE 12 /* a length and its checksum */
#define TAIL_SIZE 4  /* the checksum of what is between */

static uint64_t read_little(const uint8_t *at, size_t size)
{
	uint64_t n = 0;
	while (size-- > 0)
		n = n << 8 | at[size];
	return n;
}

/* The record at a byte; false when it is cut or damaged. */
static bool read_record(struct tfp_span bytes, size_t at, struct tfp_span *record)
{
	size_t left = bytes.size - at;
	const uint8_t *head = bytes.data + at;
	if (left < HEAD_SIZE + TAIL_SIZE ||
	    tfp_crc32c_masked(head, 8) != (uint32_t)read_little(head + 8, 4))
		return false;
	uint64_t size = read_little(head, 8);
	if (size > left - HEAD_SIZE - TAIL_SIZE)
		return false;
	*record = (struct tfp_span){head + HEAD_SIZE, (size_t)size};
	return tfp_crc32c_masked(record->data, record->size) ==
	       (uint32_t)read_little(record->data + record->size, 4);
}

/* A MetaGraphDef's GraphDef. */
static bool find_graph(struct tfp_span meta, struct tfp_span *graph)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(meta.data, meta.size);
	bool found = false;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		if (tag == TFP_PB_TAG(2, TFP_PB_BYTES))
			found |= tfp_read_span(&c, graph);
		else
			tfp_pb_skip(&c, tag);
	}
	return found && !c.damage;
}

static bool read_run(struct tfp_span message, struct tfp_event_run *run)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	uint32_t tag;
	run->tag = (struct tfp_str){"", 0};
	run->metadata = (struct tfp_span){NULL, 0};
	while (tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(1, TFP_PB_BYTES):
			tfp_read_text(&c, &run->tag);
			break;
		case TFP_PB_TAG(2, TFP_PB_BYTES):
			tfp_read_span(&c, &run->metadata);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	return !c.damage;
}

/* An Event; what is damaged inside one is left out. */
static bool read_event(struct tfp_event_file *f, struct tfp_span event)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(event.data, event.size);
	struct tfp_event_run run = {.step = 0};
	struct tfp_span span;
	bool has_run = false;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(2, TFP_PB_VARINT):
			tfp_pb_int64(&c, &run.step);
			break;
		case TFP_PB_TAG(4, TFP_PB_BYTES):
			if (tfp_read_span(&c, &f->graph))
				f->has_graph = true;
			break;
		case TFP_PB_TAG(8, TFP_PB_BYTES):
			has_run = tfp_read_span(&c, &span) && read_run(span, &run);
			break;
		case TFP_PB_TAG(9, TFP_PB_BYTES):
			if (tfp_read_span(&c, &span) && find_graph(span, &f->graph))
				f->has_graph = true;
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	if (!has_run)
		return true;
	if (!TFP_GROW(f->runs, f->count, f->room))
		return false;
	f->runs[f->count++] = run;
	return true;
}

enum tfp_status tfp_event_file_read(struct tfp_event_file *f, struct tfp_span bytes,
				    struct tfp_error *err)
{
	size_t at = 0;
	struct tfp_span record;
	*f = (struct tfp_event_file){.damaged_at = bytes.size};
	for (; at < bytes.size; at += HEAD_SIZE + record.size + TAIL_SIZE) {
		if (!read_record(bytes, at, &record)) {
			f->damaged_at = at;
			break;
		}
		f->records++;
		if (!read_event(f, record)) {
			tfp_event_file_release(f);
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for the events");
		}
	}
	if (!f->records) {
		tfp_fail(err, TFP_BAD_INPUT, "this is no file of events: its first record is %s",
			 bytes.size ? "damaged" : "missing");
		tfp_error_set_offset(err, 0);
		return TFP_BAD_INPUT;
	}
	return TFP_OK;
}

void tfp_event_file_release(struct tfp_event_file *f)
{
	tfp_free(f->runs);
	*f = (struct tfp_event_file){0};
}
