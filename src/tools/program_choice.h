/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which compiled program a query means: by its number, by its name with its number or without, or
 * by an instruction that only one has. Never the first that fits.
 *
 *     struct tfp_program_choice choice;
 *     status = tfp_choose_program(session, query, NULL, &choice, &err);
 *     ... for each capture: module = tfp_chosen_module(&choice, modules) ...
 *     ... none: return tfp_no_such_program(&choice, &err);
 */
#ifndef TFP_TOOLS_PROGRAM_CHOICE_H
#define TFP_TOOLS_PROGRAM_CHOICE_H

#include "analysis/hlo/hlo_modules.h"
#include "session/query.h"
#include "session/session.h"

struct tfp_program_choice {
	uint64_t id;
	struct tfp_str name; /* which the program has to have, or empty; the query's */
	bool any;            /* false: the session has no program at all */
};

/* By the parameters program_id and module_name. Without them, or where several have the name: the
 * one that has an instruction or computation called node (NULL: whatever they have), else the one
 * with the most time on the devices. Of several that could be meant TFP_BAD_QUERY names them;
 * TFP_NOT_FOUND when nothing has the name. */
enum tfp_status tfp_choose_program(const struct tfp_session *session, const struct tfp_query *query,
				   const char *node, struct tfp_program_choice *choice,
				   struct tfp_error *err) TFP_CHECK;
/* The program in a capture; NULL when that does not have it. */
const struct tfp_hlo_module *tfp_chosen_module(const struct tfp_program_choice *choice,
					       const struct tfp_hlo_modules *modules);
/* The error of a choice that no capture has. */
enum tfp_status tfp_no_such_program(const struct tfp_program_choice *choice, struct tfp_error *err);

/* The computation of that name, or TFP_HLO_NONE. */
uint32_t tfp_find_computation(const struct tfp_hlo_program *program, struct tfp_str name);

#endif
