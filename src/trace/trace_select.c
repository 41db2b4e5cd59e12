/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_select.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static int by_id(const void *a, const void *b)
{
	const struct tfp_track_id *x = a, *y = b;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->track < y->track ? -1 : x->track > y->track;
}

static bool read_number(const char **at, uint32_t *number)
{
	const char *p = *at;
	uint64_t n = 0;
	for (; *p >= '0' && *p <= '9'; p++) {
		n = n * 10 + (uint64_t)(*p - '0');
		if (n > UINT32_MAX)
			return false;
	}
	bool any = p != *at;
	*number = (uint32_t)n;
	*at = p;
	return any;
}

enum tfp_status tfp_trace_selection_tracks(struct tfp_trace_selection *selection, const char *text,
					   struct tfp_error *err)
{
	size_t room = 1;
	if (!text || !text[0])
		return TFP_OK;
	for (const char *p = text; *p; p++)
		room += *p == ',';
	selection->tracks = tfp_reallocarray(NULL, room, sizeof(*selection->tracks));
	if (!selection->tracks)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
	for (const char *p = text;; p++) {
		struct tfp_track_id *id = &selection->tracks[selection->track_count++];
		bool ok = read_number(&p, &id->host) && *p == '.';
		if (ok) {
			p++;
			ok = read_number(&p, &id->track) && (*p == ',' || *p == '\0');
		}
		if (!ok) {
			tfp_fail(err, TFP_BAD_QUERY, "tracks: \"%.100s\" is not a list of tracks",
				 text);
			tfp_error_set_hint(err, "such as 0.1,0.2; /trace_viewer/tracks lists them");
			return TFP_BAD_QUERY;
		}
		if (*p == '\0')
			break;
	}
	qsort(selection->tracks, selection->track_count, sizeof(*selection->tracks), by_id);
	return TFP_OK;
}

void tfp_trace_selection_release(struct tfp_trace_selection *selection)
{
	tfp_free(selection->tracks);
	*selection = (struct tfp_trace_selection){0};
}

bool tfp_trace_selects_track(const struct tfp_trace_selection *selection, uint32_t host,
			     uint32_t track)
{
	const struct tfp_track_id id = {host, track};
	return selection->track_count == 0 ||
	       bsearch(&id, selection->tracks, selection->track_count, sizeof(id), by_id);
}
