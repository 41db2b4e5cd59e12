/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines whose events are in no file. The rest of such a capture is bytes: planes, names and heads
 * of lines. There can be more such events than the file has, so they go into columns as they come,
 * and events with the same stats share them.
 *
 *     struct tfp_made_line *made = tfp_made_line_new();
 *     for each event, about in order of their begins
 *             tfp_made_line_add(made, offset_ps, duration_ps, name, at);
 *     tfp_made_line_finish(made, head);
 *     ...
 *     tfp_capture_from_made(&capture, bytes, size, "derived lines", planes, count, pool, &err);
 */
#ifndef TFP_STORE_CAPTURE_MADE_H
#define TFP_STORE_CAPTURE_MADE_H

#include "store/capture.h"

struct tfp_made_line;

/* NULL without memory. */
struct tfp_made_line *tfp_made_line_new(void);
/* Accepts NULL. */
void tfp_made_line_free(struct tfp_made_line *line);

/* Times as in an XEvent, brought within the bounds of those that are read. name: index of the
 * metadata. at: the byte of the line's message behind head where the event's message is: its
 * length, then its stats; many events can have one. false without memory. */
bool tfp_made_line_add(struct tfp_made_line *line, int64_t offset_ps, int64_t duration_ps,
		       uint32_t name, uint32_t at) TFP_CHECK;
/* All events are there. head: bytes of the line's message before those that at counts from.
 * false without memory, or for 2^32 events and more. */
bool tfp_made_line_finish(struct tfp_made_line *line, size_t head) TFP_CHECK;
size_t tfp_made_line_count(const struct tfp_made_line *line);

struct tfp_made_plane {
	struct tfp_made_line **lines; /* by line of the plane; NULL: its events are bytes */
	size_t line_count;
};

/* As tfp_capture_from_bytes, with the lines made. planes: by plane of the bytes. Lines that
 * come into the capture are taken out of the lists; the others, and the lists, stay the
 * caller's. TFP_BAD_INPUT where they do not go with the bytes. */
enum tfp_status tfp_capture_from_made(struct tfp_capture **out, const void *bytes, size_t size,
				      const char *name, const struct tfp_made_plane *planes,
				      size_t plane_count, struct tfp_pool *pool,
				      struct tfp_error *err) TFP_CHECK;

#endif
