/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dashboard: src/tools/x.c, which defines `const struct tfp_tool tfp_x`. The build finds it in
 * the folder; nothing else lists tools by hand. The HTTP API, the command line with its help, the
 * page with its navigation, the tables in the documents and the tests take what they know of a
 * tool from this struct, those that are not C by /tools or `tfprof tools --format json`.
 */
#ifndef TFP_TOOLS_TOOL_H
#define TFP_TOOLS_TOOL_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sink.h"
#include "session/query.h"
#include "session/session.h"
#include "tools/data_table.h"
#include "tools/parameter.h"

#include <stdbool.h>
#include <stddef.h>

/* What a tool answers: tables, or JSON text ready made, or both: then the tables are for who
 * wants CSV or text. */
struct tfp_answer {
	struct tfp_table tables[8];
	size_t table_count;
	bool bare;           /* one table written as an object, not as an array of one */
	struct tfp_buf json; /* empty: the tables are the document */
	/* In place of a document, what is asked for as a file: json holds its bytes. NULL: none. */
	const char *file_type;   /* "text/plain; charset=utf-8" */
	const char *file_suffix; /* ".txt" */
	/* Set by who asks: JSON alone is wanted, and tables beside it may be left out. */
	bool document_only;
};

/* An answer that is written as it is made, because it may be larger than what should be in memory
 * at a time. */
struct tfp_answer_stream {
	const char *content_type, *ending; /* ".txt", of a file's name; constants */
	enum tfp_status (*write)(void *context, const struct tfp_sink *sink, struct tfp_error *err);
	void (*free)(void *context);
	void *context;
};

void tfp_answer_init(struct tfp_answer *answer);
void tfp_answer_release(struct tfp_answer *answer);
/* The document as JSON; appended to out. */
enum tfp_status tfp_answer_write_json(const struct tfp_answer *answer, struct tfp_buf *out,
				      struct tfp_error *err) TFP_CHECK;
/* The first table as CSV. TFP_BAD_QUERY when the tool has no table. */
enum tfp_status tfp_answer_write_csv(const struct tfp_answer *answer, enum tfp_csv_form form,
				     struct tfp_buf *out, struct tfp_error *err) TFP_CHECK;

enum tfp_host_scope {
	TFP_HOSTS_ONE = 1, /* one host at a time */
	TFP_HOSTS_ALL = 2, /* all together */
	TFP_HOSTS_BOTH = 3,
};

/* What a run holds, from a quick look at its files. */
struct tfp_run_traits {
	size_t gpu_planes, tpu_planes, host_planes;
	size_t program_planes; /* that hold compiled programs */
	bool unreadable;       /* no file of the run could be read */
	bool graph_run;        /* the run is of event files, and has no capture at all */
};

/* What a run can be without. */
enum tfp_tool_need {
	TFP_NEEDS_HOST = 1,
	TFP_NEEDS_GPU = 2,
	TFP_NEEDS_TPU = 4,
	TFP_NEEDS_PROGRAM = 8, /* HLO */
	TFP_NEEDS_DEVICE = TFP_NEEDS_GPU | TFP_NEEDS_TPU,
};

#define TFP_TOOL_ALIASES    3
#define TFP_TOOL_PARAMETERS 32
#define TFP_ROW_PARAMETERS  4

struct tfp_tool {
	const char *name;                      /* the word everywhere: URL, file, page, doc */
	const char *aliases[TFP_TOOL_ALIASES]; /* older names; NULL where there are fewer */
	const char *title;                     /* "Kernel stats" */
	const char *summary;                   /* a sentence */
	/* The place in the navigation, lowest first; no two tools have the same. 0: it is only for
	 * XProf's clients, and not listed. */
	unsigned place;
	char key;           /* on the page `g` and then this letter open it; 0: none */
	const char *filter; /* what the page's search box says, "Filter kernels"; NULL: "Filter" */
	bool shows_steps;   /* the page keeps the steps that were chosen on another such one */
	enum tfp_host_scope scope;
	/* What of it /hosts offers XProf's clients; 0: all. */
	enum tfp_host_scope peer_scope;
	bool takes_graph_runs; /* not captures alone */
	bool takes_hosts;      /* several hosts of a run may be chosen by name */
	/* The name under which XProf's clients know it (/run_tools); NULL: the same. */
	const char *peer_name;
	/* Of enum tfp_tool_need: a run that has one of these has something to show. 0: every run
	 * has. without is the sentence for the user about one that has none. */
	unsigned needs;
	const char *without;
	/* What it can be asked; those without a name are none. */
	struct tfp_parameter parameters[TFP_TOOL_PARAMETERS];
	/* Called by tfp_tool_render, which has checked the parameters. answer is initialised; what
	 * was added to it is released by the caller in any case. */
	enum tfp_status (*render)(const struct tfp_session *session, const struct tfp_query *query,
				  struct tfp_answer *answer, struct tfp_error *err);
	/* Whether the answer to a query is a stream, which stream begins and the caller frees; both
	 * NULL for most tools. What can be refused is refused before out is filled. The session
	 * outlives the stream. */
	bool (*streams)(const struct tfp_query *query);
	enum tfp_status (*stream)(const struct tfp_session *session, const struct tfp_query *query,
				  struct tfp_answer_stream *out, struct tfp_error *err);
	/* Writes /instances's JSON for one row of the tool's table (docs/api.md), which
	 * row_parameters name; NULL when the tool has none. */
	enum tfp_status (*instances)(const struct tfp_session *session,
				     const struct tfp_query *query, struct tfp_buf *json,
				     struct tfp_error *err);
	struct tfp_parameter row_parameters[TFP_ROW_PARAMETERS];
};

/* The tool behind another in the navigation; of NULL the first. NULL when there is none. What is
 * only for XProf's clients is not among them. */
const struct tfp_tool *tfp_tool_next(const struct tfp_tool *tool);

/* Whether a query can be put to the tool (TFP_BAD_QUERY): every parameter of its own has a value
 * that it takes, and no parameter is one that nobody has. What other tools take, or XProf's
 * clients send, is not read here. */
enum tfp_status tfp_tool_check(const struct tfp_tool *tool, const struct tfp_query *query,
			       struct tfp_error *err) TFP_CHECK;

/* Renders, unless the query cannot be put to the tool or the session has more hosts than the tool
 * shows at a time (TFP_BAD_QUERY). An answer is of one state of the files (one_state.h). */
enum tfp_status tfp_tool_render(const struct tfp_tool *tool, const struct tfp_session *session,
				const struct tfp_query *query, struct tfp_answer *answer,
				struct tfp_error *err) TFP_CHECK;

/* Whether the answer to the query is one that tfp_tool_stream begins. */
bool tfp_tool_streams(const struct tfp_tool *tool, const struct tfp_query *query);
/* The same checks as tfp_tool_render's. out->free(out->context) when it is TFP_OK. */
enum tfp_status tfp_tool_stream(const struct tfp_tool *tool, const struct tfp_session *session,
				const struct tfp_query *query, struct tfp_answer_stream *out,
				struct tfp_error *err) TFP_CHECK;

/* Why the tool has nothing to show, or NULL. A run that cannot be read is no reason:
 * asked, the tool answers with the error. */
const char *tfp_tool_reason(const struct tfp_tool *tool, const struct tfp_run_traits *traits);

/* By name or alias, also what only XProf's clients ask for; a trailing '^' (an old form of XProf's)
 * is ignored. NULL when there is none. */
const struct tfp_tool *tfp_tool_find(const char *name);

#endif
