/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_export.h"

#include "trace/trace_chrome.h"
#include "trace/trace_perfetto.h"
#include "trace/trace_source.h"

#include <string.h>

static enum tfp_status read_format(struct tfp_trace_export *export, const char *text,
				   struct tfp_error *err)
{
	export->format = TFP_TRACE_CHROME;
	if (!text || !text[0] || strcmp(text, "chrome") == 0)
		return TFP_OK;
	export->format = TFP_TRACE_PERFETTO;
	if (strcmp(text, "perfetto") == 0)
		return TFP_OK;
	tfp_fail(err, TFP_BAD_QUERY, "there is no format \"%.40s\"", text);
	tfp_error_set_hint(err, "format=chrome or format=perfetto");
	return TFP_BAD_QUERY;
}

/* Every track that was named must be there. */
static enum tfp_status check_tracks(const struct tfp_trace_selection *selection,
				    const struct tfp_session *session, struct tfp_error *err)
{
	size_t known = 0;
	enum tfp_status status = TFP_OK;
	for (size_t i = 0; selection->track_count && i < session->host_count; i++) {
		struct tfp_trace_source host;
		status = tfp_trace_source_open(&host, session, i, err);
		if (status != TFP_OK)
			return status;
		for (size_t t = 0; t < selection->track_count; t++)
			known += selection->tracks[t].host == host.index &&
				 selection->tracks[t].track < host.tracks->track_count;
		tfp_trace_source_release(&host);
	}
	if (known == selection->track_count)
		return TFP_OK;
	tfp_fail(err, TFP_NOT_FOUND, "not all of these tracks are there");
	tfp_error_set_hint(err, "/trace_viewer/tracks lists those of the run");
	return TFP_NOT_FOUND;
}

enum tfp_status tfp_trace_export_init(struct tfp_trace_export *export,
				      const struct tfp_session *session,
				      const struct tfp_query *query, struct tfp_error *err)
{
	struct tfp_trace_alignment alignment = {0};
	uint64_t from_ps = 0, to_ps = UINT64_MAX;
	*export = (struct tfp_trace_export){.session = session};
	enum tfp_status status = read_format(export, tfp_query_get(query, "format"), err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "from_ps", 0, &from_ps, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "to_ps", UINT64_MAX, &to_ps, err);
	if (status == TFP_OK && from_ps > to_ps)
		status = tfp_fail(err, TFP_BAD_QUERY, "from_ps is after to_ps");
	if (status == TFP_OK)
		status = tfp_trace_selection_tracks(&export->selection,
						    tfp_query_get(query, "tracks"), err);
	if (status == TFP_OK)
		status = check_tracks(&export->selection, session, err);
	/* A file that cannot be read is told of before anything is sent. */
	if (status == TFP_OK)
		status = tfp_trace_align(&alignment, session, err);
	tfp_trace_alignment_release(&alignment);
	if (status == TFP_OK) {
		struct tfp_trace_selection *s = &export->selection;
		s->has_window = from_ps > 0 || to_ps < UINT64_MAX;
		s->from_ps = from_ps < INT64_MAX ? (int64_t)from_ps : INT64_MAX;
		s->to_ps = to_ps < INT64_MAX ? (int64_t)to_ps : INT64_MAX;
	}
	if (status != TFP_OK)
		tfp_trace_export_release(export);
	return status;
}

void tfp_trace_export_release(struct tfp_trace_export *export)
{
	tfp_trace_selection_release(&export->selection);
}

enum tfp_status tfp_trace_export_write(const struct tfp_trace_export *export,
				       const struct tfp_sink *sink, struct tfp_error *err)
{
	const struct tfp_chrome_options chrome = {.dialect = TFP_CHROME_EXPORT};
	if (export->format == TFP_TRACE_PERFETTO)
		return tfp_perfetto_write(export->session, &export->selection, sink, err);
	return tfp_chrome_write(export->session, &chrome, &export->selection, sink, err);
}
