/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HLO modules that a run's captures carry: as XProf's /module_list names them, and with
 * what each did on the devices.
 */
#ifndef TFP_TOOLS_MODULE_LIST_H
#define TFP_TOOLS_MODULE_LIST_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str_map.h"
#include "session/session.h"
#include "tools/tool.h"

struct tfp_listed_module {
	struct tfp_str name;  /* "jit_step"; any bytes, the list's */
	struct tfp_str label; /* "jit_step(17)" */
	uint64_t program_id;
	size_t instructions;
	/* Of all hosts and devices together (analysis/summary/program_times.h). */
	uint64_t time_ps, executions;
	bool has_time, has_executions;
};

struct tfp_module_list {
	struct tfp_listed_module *modules; /* the most time first */
	size_t count, room;
	struct tfp_str_map by_label;
	struct tfp_arena arena;
};

/* Modules of all hosts of the session; those of several hosts with one name and one id are one.
 * Released by the caller in any case. */
enum tfp_status tfp_module_list_init(struct tfp_module_list *list,
				     const struct tfp_session *session,
				     struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_module_list_release(struct tfp_module_list *list);

/* /module_list. Appends "name(program id)" of each, with commas, each once, in byte order; or
 * NO_MODULE. A comma in a name becomes a blank, as nobody could tell it apart. query is not
 * looked at. */
enum tfp_status tfp_module_list(const struct tfp_session *session, const struct tfp_query *query,
				struct tfp_buf *text, struct tfp_error *err) TFP_CHECK;
#endif
