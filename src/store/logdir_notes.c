/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logdir_parts.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_NOTES 100u

bool tfp_scan_grow(struct tfp_scan *s, void *array, struct tfp_scan_list *list, size_t size)
{
	if (list->count < list->room || tfp_grow(array, &list->room, size))
		return true;
	s->no_memory = true;
	return false;
}

const char *tfp_scan_copy(struct tfp_scan *s, struct tfp_arena *arena, const char *text,
			  size_t size)
{
	const char *c = tfp_arena_strndup(arena, text, size);
	if (!c)
		s->no_memory = true;
	return c;
}

const char *tfp_scan_clean_copy(struct tfp_scan *s, const char *text, size_t size)
{
	if (tfp_utf8_valid(text, size))
		return tfp_scan_copy(s, s->arena, text, size);
	struct tfp_buf buf;
	tfp_buf_init(&buf, 3 * size);
	tfp_utf8_repair(&buf, text, size);
	const char *c = NULL;
	if (tfp_buf_failed(&buf))
		s->no_memory = true;
	else
		c = tfp_scan_copy(s, s->arena, tfp_buf_text(&buf), buf.size);
	tfp_buf_release(&buf);
	return c;
}

void tfp_scan_note(struct tfp_scan *s, const char *format, ...)
{
	if (s->note_list.count == MAX_NOTES) {
		s->notes_dropped++;
		return;
	}
	char text[PATH_MAX + 256];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	const char *clean = tfp_scan_clean_copy(s, text, strlen(text));
	if (clean && tfp_scan_grow(s, &s->notes, &s->note_list, sizeof(*s->notes)))
		s->notes[s->note_list.count++] = clean;
}
