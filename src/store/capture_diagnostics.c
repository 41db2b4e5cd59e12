/* SPDX-License-Identifier: Apache-2.0 */
#include "store/capture_parts.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tfp_diagnose(struct tfp_capture_parts *cap, enum tfp_severity severity, const uint8_t *at,
		  const char *hint, const char *format, ...)
{
	size_t n = cap->pub.diagnostic_count;
	if (n == TFP_MAX_DIAGNOSTICS) {
		cap->more_diagnostics++;
		return;
	}
	char raw[512];
	va_list args;
	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	struct tfp_buf text;
	tfp_buf_init(&text, 4 * sizeof(raw));
	tfp_utf8_repair(&text, raw, strlen(raw));
	if (tfp_buf_failed(&text) || !text.data) {
		tfp_buf_release(&text);
		atomic_store(&cap->no_memory, true);
		return;
	}
	cap->diagnostics[n] = (struct tfp_diagnostic){
		severity, at ? (uint64_t)(at - cap->pub.bytes.data) : TFP_NO_OFFSET,
		tfp_buf_take(&text, NULL), hint};
	cap->pub.diagnostic_count = n + 1;
}

const char tfp_hint_copy_again[] =
	"copy the file again in binary mode, or profile again; what could be read is shown";
const char tfp_hint_was_it_complete[] =
	"was it still being written, or was a copy interrupted? What is there is shown";

static int shown(struct tfp_str s)
{
	return s.size > 80 ? 80 : (int)s.size;
}

static void diagnose_line(struct tfp_capture_parts *cap, const struct tfp_plane *plane,
			  const struct tfp_line *line, const struct tfp_line_state *s)
{
	if (s->bad_events)
		tfp_diagnose(cap, TFP_WARNING, s->bad_event_at, tfp_hint_copy_again,
			     "%" PRIu64
			     " events of line \"%.*s\" of plane \"%.*s\" are damaged and left "
			     "out: %s",
			     s->bad_events, shown(line->name), line->name.data, shown(plane->name),
			     plane->name.data, tfp_pb_damage_text(s->bad_event_kind));
	if (s->damage.kind != TFP_PB_SOUND && !s->damage.cut)
		tfp_diagnose(cap, TFP_WARNING, s->damage.at, tfp_hint_copy_again,
			     "line \"%.*s\" of plane \"%.*s\" is damaged, the rest of it is left "
			     "out: %s",
			     shown(line->name), line->name.data, shown(plane->name),
			     plane->name.data, tfp_pb_damage_text(s->damage.kind));
	if (s->unknown_events)
		tfp_diagnose(cap, TFP_WARNING, NULL, "they are shown without a name",
			     "%" PRIu64
			     " events of line \"%.*s\" of plane \"%.*s\" name no metadata "
			     "that the plane has",
			     s->unknown_events, shown(line->name), line->name.data,
			     shown(plane->name), plane->name.data);
	if (s->clamped_events)
		tfp_diagnose(cap, TFP_WARNING, NULL, "they are shown at the nearest possible time",
			     "%" PRIu64
			     " events of line \"%.*s\" of plane \"%.*s\" have an impossible "
			     "time",
			     s->clamped_events, shown(line->name), line->name.data,
			     shown(plane->name), plane->name.data);
}

void tfp_diagnose_planes(struct tfp_capture_parts *cap)
{
	for (size_t p = 0; p < cap->pub.plane_count; p++) {
		const struct tfp_plane *plane = &cap->planes[p];
		const struct tfp_plane_state *s = &cap->states[p];
		if (s->damage.cut)
			tfp_diagnose(cap, TFP_WARNING, plane->message.data,
				     tfp_hint_was_it_complete,
				     "the file ends in the middle of plane \"%.*s\"",
				     shown(plane->name), plane->name.data);
		else if (s->damage.kind != TFP_PB_SOUND)
			tfp_diagnose(cap, TFP_WARNING, s->damage.at, tfp_hint_copy_again,
				     "plane \"%.*s\" is damaged, the rest of it is left out: %s",
				     shown(plane->name), plane->name.data,
				     tfp_pb_damage_text(s->damage.kind));
		if (s->bad_metadata)
			tfp_diagnose(cap, TFP_WARNING, s->bad_metadata_at, tfp_hint_copy_again,
				     "%" PRIu64 " names of plane \"%.*s\" are damaged and left out",
				     s->bad_metadata, shown(plane->name), plane->name.data);
		for (size_t l = 0; l < plane->line_count; l++)
			diagnose_line(cap, plane, &plane->lines[l], &s->line_states[l]);
	}
	if (cap->more_diagnostics) {
		/* The last one gives up its place to say how many there are. */
		struct tfp_diagnostic *last = &cap->diagnostics[--cap->pub.diagnostic_count];
		size_t more = cap->more_diagnostics + 1;
		tfp_free((char *)(uintptr_t)last->message);
		tfp_diagnose(cap, TFP_WARNING, NULL, tfp_hint_copy_again,
			     "and %zu more of the kind", more);
	}
}
