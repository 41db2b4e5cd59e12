/*
 * A dashboard. The registry is the only list of them: the HTTP API, the
 * command line, the page's navigation, the docs test and the golden tests
 * iterate it.
 */
#ifndef TFP_TOOLS_TOOL_H
#define TFP_TOOLS_TOOL_H

#include "base/buf.h"
#include "base/error.h"
#include "tools/data_table.h"
#include "tools/session.h"

#include <stdbool.h>
#include <stddef.h>

/* Parameters of a request, decoded. */
struct tfp_param {
	const char *key, *value;
};

struct tfp_query {
	const struct tfp_param *params;
	size_t count;
};

/* The first value under a key, or NULL. */
const char *tfp_query_get(const struct tfp_query *query, const char *key);
/* A whole number from 0 on; fallback when the key is absent, TFP_BAD_QUERY
 * when it is not a number. */
enum tfp_status tfp_query_get_count(const struct tfp_query *query, const char *key,
				    uint64_t fallback, uint64_t *value,
				    struct tfp_error *err) TFP_CHECK;

/* What a tool answers: tables, or JSON text ready made, or both: then the tables are for who
 * wants CSV or text. */
struct tfp_answer {
	struct tfp_table tables[8];
	size_t table_count;
	bool bare;           /* one table written as an object, not as an array of one */
	struct tfp_buf json; /* empty: the tables are the document */
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
	bool unreadable; /* no file of the run could be read */
};

struct tfp_tool {
	const char *name;       /* the word everywhere: URL, file, page, doc */
	const char *aliases[3]; /* older names; NULL where there are fewer */
	const char *title;      /* "Kernel stats" */
	const char *summary;    /* a sentence */
	enum tfp_host_scope scope;
	/* What of it /hosts offers XProf's clients; 0: all. */
	enum tfp_host_scope peer_scope;
	bool takes_hosts; /* several hosts of a run may be chosen by name */
	/* The name under which XProf's clients know it (/run_tools); NULL: the same. */
	const char *peer_name;
	/* NULL when the tool has something to show for such a run, else why
	 * not, as a sentence for the user. */
	const char *(*reason)(const struct tfp_run_traits *traits);
	/* Called by tfp_tool_render. answer is initialised; what was added to it is released by the
	 * caller in any case. */
	enum tfp_status (*render)(const struct tfp_session *session, const struct tfp_query *query,
				  struct tfp_answer *answer, struct tfp_error *err);
	/* Writes /instances's JSON for one row of the tool's table (docs/api.md);
	 * NULL when the tool has none. */
	enum tfp_status (*instances)(const struct tfp_session *session,
				     const struct tfp_query *query, struct tfp_buf *json,
				     struct tfp_error *err);
};

/* In the order of the page's navigation. */
extern const struct tfp_tool *const tfp_tools[];
extern const size_t tfp_tool_count;

/* Renders, unless the session has more hosts than the tool shows at a time (TFP_BAD_QUERY).
 * An answer is of one state of the files (one_state.h). */
enum tfp_status tfp_tool_render(const struct tfp_tool *tool, const struct tfp_session *session,
				const struct tfp_query *query, struct tfp_answer *answer,
				struct tfp_error *err) TFP_CHECK;

/* Why the tool has nothing to show, or NULL. A run that cannot be read is no reason:
 * asked, the tool answers with the error. */
const char *tfp_tool_reason(const struct tfp_tool *tool, const struct tfp_run_traits *traits);

/* By name or alias, also what only XProf's clients ask for and tfp_tools does not list; a
 * trailing '^' (an old form of XProf's) is ignored. NULL when there is none. */
const struct tfp_tool *tfp_tool_find(const char *name);

#endif
