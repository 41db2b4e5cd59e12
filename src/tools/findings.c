/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/findings.h"

#include "base/json_writer.h"
#include "session/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_ENTRIES        1000u /* in one answer */
#define MAX_CAPTURES_BYTES ((size_t)256 << 20)

static struct tfp_str str(const char *t)
{
	return (struct tfp_str){t, strlen(t)};
}

/* What to do about things that profilers write into captures. */
static struct tfp_str known_hint(struct tfp_str message)
{
	static const char *const hints[][2] = {
		{"libcupti",
		 "put CUPTI's folder (extras/CUPTI/lib64 of CUDA) on LD_LIBRARY_PATH and "
		 "profile again; only GPU events are missing"},
		{"INSUFFICIENT_PRIVILEGES", "allow all users to profile the GPU "
					    "(NVreg_RestrictProfilingToAdminUsers=0 for the "
					    "nvidia module) or profile as root"},
		{"MULTIPLE_SUBSCRIBERS",
		 "another profiler of the GPU is running (nsys, ncu, DCGM): "
		 "stop it and profile again"},
		{"dropped", "the profiler had no room for all events: profile a shorter time"},
	};
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		if (message.size &&
		    memmem(message.data, message.size, hints[i][0], strlen(hints[i][0])))
			return str(hints[i][1]);
	}
	return str("");
}

void tfp_see_failure(void (*see)(void *context, struct tfp_finding finding), void *context,
		     const char *host, const struct tfp_error *error)
{
	see(context, (struct tfp_finding){TFP_ERROR, host, str(error->message), str(error->hint),
					  error->offset, true});
}

static void see_texts(void (*see)(void *context, struct tfp_finding finding), void *context,
		      const char *host, enum tfp_severity severity, const struct tfp_str *texts,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		see(context, (struct tfp_finding){severity, host, texts[i], known_hint(texts[i]),
						  TFP_NO_OFFSET, false});
}

void tfp_see_findings(void (*see)(void *context, struct tfp_finding finding), void *context,
		      const char *host, const struct tfp_host_summary *summary)
{
	const struct tfp_capture_brief *brief = summary->brief;
	for (size_t i = 0; i < brief->diagnostic_count; i++) {
		const struct tfp_diagnostic *d = &brief->diagnostics[i];
		see(context, (struct tfp_finding){d->severity, host, str(d->message), str(d->hint),
						  d->offset, d->severity != TFP_INFO});
	}
	if (brief->broken_modules) {
		char text[96];
		snprintf(text, sizeof(text),
			 "%" PRIu64 " HLO modules of the capture could not be read",
			 brief->broken_modules);
		see(context,
		    (struct tfp_finding){TFP_WARNING, host, str(text),
					 str("their ops are shown under the names that the "
					     "events have"),
					 TFP_NO_OFFSET, true});
	}
	see_texts(see, context, host, TFP_ERROR, summary->errors, summary->error_count);
	see_texts(see, context, host, TFP_WARNING, summary->warnings, summary->warning_count);
}

struct told {
	const struct tfp_session *session;
	void (*see)(void *context, struct tfp_finding finding);
	void *context;
};

static enum tfp_status tell_findings(void *context, size_t place,
				     const struct tfp_host_summary *summary, struct tfp_error *err)
{
	const struct told *told = context;
	const char *host = told->session->hosts[place].host;
	if (summary)
		tfp_see_findings(told->see, told->context, host, summary);
	else
		tfp_see_failure(told->see, told->context, host, err);
	return TFP_OK;
}

enum tfp_status tfp_session_findings(const struct tfp_session *session,
				     void (*see)(void *context, struct tfp_finding finding),
				     void *context, struct tfp_error *err)
{
	struct told told = {session, see, context};
	/* Event files have no summaries. */
	if (session->run->kind != TFP_RUN_CAPTURE)
		return TFP_OK;
	return tfp_session_summaries(session, TFP_SUMMARY_BRIEF, tell_findings, &told, err);
}

const char *tfp_severity_word(enum tfp_severity severity)
{
	return severity == TFP_ERROR ? "error" : severity == TFP_WARNING ? "warning" : "info";
}

/* ---- /diagnostics ---- */

struct diagnostics {
	const struct tfp_session *session;
	struct tfp_json *entries;
	size_t entry_count;
	/* Beside the entries, of which more may come. */
	struct tfp_json captures;
	struct tfp_buf capture_bytes;
};

static void write_finding(const struct tfp_finding *f, struct tfp_json *j)
{
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "severity", tfp_severity_word(f->severity));
	tfp_json_set_string(j, "host", f->host);
	tfp_json_set_text(j, "message", f->message.data, f->message.size);
	if (f->hint.size)
		tfp_json_set_text(j, "hint", f->hint.data, f->hint.size);
	else
		tfp_json_set_null(j, "hint");
	if (f->offset == TFP_NO_OFFSET)
		tfp_json_set_null(j, "offset");
	else
		tfp_json_set_count(j, "offset", f->offset);
	tfp_json_end_object(j);
}

static void add_entry(void *context, struct tfp_finding finding)
{
	struct diagnostics *d = context;
	if (d->entry_count++ < MAX_ENTRIES)
		write_finding(&finding, d->entries);
}

static enum tfp_status add_diagnostics(void *context, size_t place,
				       const struct tfp_host_summary *summary,
				       struct tfp_error *err)
{
	struct diagnostics *d = context;
	const struct tfp_capture_file *file = &d->session->hosts[place];
	struct tfp_json *j = &d->captures;
	if (!summary) {
		tfp_see_failure(add_entry, d, file->host, err);
		return TFP_OK;
	}
	const struct tfp_capture_brief *brief = summary->brief;
	tfp_see_findings(add_entry, d, file->host, summary);
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "host", file->host);
	tfp_json_set_count(j, "bytes", file->identity.bytes);
	tfp_json_set_count(j, "planes", brief->planes);
	tfp_json_set_count(j, "lines", brief->lines);
	tfp_json_set_count(j, "events", brief->events);
	tfp_json_set_number(j, "duration_ms", brief->duration_ms);
	tfp_json_end_object(j);
	return TFP_OK;
}

enum tfp_status tfp_diagnostics_json(const struct tfp_session *session, struct tfp_buf *json,
				     struct tfp_error *err)
{
	struct tfp_json j;
	struct diagnostics d = {.session = session, .entries = &j};
	tfp_json_init(&j, json);
	tfp_buf_init(&d.capture_bytes, MAX_CAPTURES_BYTES);
	tfp_json_init(&d.captures, &d.capture_bytes);
	tfp_json_begin_object(&j);
	tfp_json_begin_array_of(&j, "entries");
	tfp_json_begin_array(&d.captures);
	enum tfp_status status = TFP_OK;
	if (session->run->kind == TFP_RUN_CAPTURE)
		status =
			tfp_session_summaries(session, TFP_SUMMARY_BRIEF, add_diagnostics, &d, err);
	tfp_json_end_array(&d.captures);
	tfp_json_end_array(&j);
	tfp_json_key(&j, "captures");
	tfp_json_add_raw(&j, d.capture_bytes.data, d.capture_bytes.size);
	tfp_json_end_object(&j);
	bool failed = tfp_buf_failed(&d.capture_bytes);
	tfp_buf_release(&d.capture_bytes);
	/* When no file can be read, that is an answer, too. */
	if (status == TFP_NO_MEMORY)
		return status;
	return failed ? tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer")
		      : tfp_json_finish(&j, err);
}
