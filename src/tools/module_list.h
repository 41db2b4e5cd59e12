/*
 * The HLO modules that a run's captures carry, as XProf's /module_list names them.
 */
#ifndef TFP_TOOLS_MODULE_LIST_H
#define TFP_TOOLS_MODULE_LIST_H

#include "base/buf.h"
#include "base/error.h"
#include "tools/session.h"
#include "tools/tool.h"

/* Appends "name(program id)" of each, with commas, each once, in byte order; or NO_MODULE. A
 * comma in a name becomes a blank, as nobody could tell it apart. query is not looked at. */
enum tfp_status tfp_module_list(const struct tfp_session *session, const struct tfp_query *query,
				struct tfp_buf *text, struct tfp_error *err) TFP_CHECK;

#endif
