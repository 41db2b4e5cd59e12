/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/program_choice.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "session/summary.h"
#include "tools/module_list.h"

#include <inttypes.h>
#include <string.h>

/* Programs that an error names, and bytes of such a name. */
#define NAMES_MOST 12
#define NAME_MOST  1000
#define LISTS      "/module_list, and 'tfprof modules' in a terminal, lists the programs"

static bool is_wanted(const struct tfp_listed_module *module, const char *name)
{
	return !name || tfp_str_equal(module->name, name);
}

static void put_label(struct tfp_buf *out, struct tfp_str label)
{
	struct tfp_buf raw;
	tfp_buf_init(&raw, NAME_MOST);
	for (size_t i = 0; i < label.size; i++)
		tfp_buf_putc(&raw, (unsigned char)label.data[i] < ' ' ? ' ' : label.data[i]);
	tfp_utf8_repair(out, raw.data, raw.size);
	tfp_buf_release(&raw);
}

static enum tfp_status fail_to_choose(const struct tfp_module_list *list, size_t first,
				      const char *name, struct tfp_error *err)
{
	struct tfp_buf names;
	size_t told = 0;
	bool more = false;
	tfp_buf_init(&names, 500);
	for (size_t i = first; i < list->count && !more; i++) {
		if (!is_wanted(&list->modules[i], name))
			continue;
		more = told == NAMES_MOST;
		if (!more && told++)
			tfp_buf_puts(&names, ", ");
		if (!more)
			put_label(&names, list->modules[i].label);
	}
	more |= tfp_buf_failed(&names);
	tfp_fail(err, TFP_BAD_QUERY, "several programs could be meant: %s%s", tfp_buf_text(&names),
		 more ? " and more" : "");
	tfp_error_set_hint(err, "name one by its number, such as program_id=%" PRIu64,
			   list->modules[first].program_id);
	tfp_buf_release(&names);
	return TFP_BAD_QUERY;
}

/* Of those with the name (NULL: of all) the one with the most time on the devices, else the only
 * one. found: whether there is any. */
static enum tfp_status choose(const struct tfp_session *session, const char *name, bool *found,
			      uint64_t *id, struct tfp_error *err)
{
	struct tfp_module_list list;
	size_t count = 0, first = 0;
	enum tfp_status status = tfp_module_list_init(&list, session, err);
	for (size_t i = 0; status == TFP_OK && i < list.count; i++) {
		if (is_wanted(&list.modules[i], name) && count++ == 0)
			first = i;
	}
	*found = count > 0;
	if (count > 0) {
		*id = list.modules[first].program_id;
		if (count > 1 && !list.modules[first].has_time)
			status = fail_to_choose(&list, first, name, err);
	}
	tfp_module_list_release(&list);
	return status;
}

/* ---- by what it has ---- */

uint32_t tfp_find_computation(const struct tfp_hlo_program *program, struct tfp_str name)
{
	for (uint32_t i = 0; i < program->computation_count; i++) {
		if (tfp_str_compare(program->computations[i].name, name) == 0)
			return i;
	}
	return TFP_HLO_NONE;
}

struct search {
	struct tfp_str node;
	const char *name;     /* of the program, or NULL */
	struct tfp_buf names; /* of those that have it */
	uint64_t ids[NAMES_MOST];
	size_t count;
};

static bool is_known(const struct search *s, uint64_t id)
{
	for (size_t i = 0; i < s->count && i < NAMES_MOST; i++) {
		if (s->ids[i] == id)
			return true;
	}
	return false;
}

static enum tfp_status search_host(void *context, struct tfp_capture *capture, const char *host,
				   struct tfp_pool *pool, struct tfp_error *err)
{
	struct search *s = context;
	const struct tfp_hlo_modules *modules;
	(void)host;
	enum tfp_status status = tfp_hlo_modules_get(capture, pool, &modules, err);
	for (size_t i = 0; status == TFP_OK && i < modules->module_count; i++) {
		const struct tfp_hlo_module *module = &modules->modules[i];
		if (s->name && !tfp_str_equal(module->name, s->name))
			continue;
		if (tfp_str_map_find(&module->by_name, s->node.data, s->node.size) ==
			    TFP_STR_MAP_NONE &&
		    tfp_find_computation(&module->program, s->node) == TFP_HLO_NONE)
			continue;
		if (is_known(s, module->program_id))
			continue;
		if (s->count < NAMES_MOST) {
			s->ids[s->count] = module->program_id;
			tfp_buf_puts(&s->names, s->count ? ", " : "");
			put_label(&s->names, module->name);
			tfp_buf_printf(&s->names, "(%" PRIu64 ")", module->program_id);
		}
		s->count++;
	}
	return status;
}

static enum tfp_status choose_by_node(const struct tfp_session *session, const char *node,
				      const char *name, uint64_t *id, struct tfp_error *err)
{
	struct search s = {.node = {node, strlen(node)}, .name = name};
	tfp_buf_init(&s.names, 500);
	enum tfp_status status = tfp_session_each(session, search_host, &s, err);
	if (status == TFP_OK && s.count == 0) {
		/* XProf's words. */
		status = tfp_fail(err, TFP_NOT_FOUND,
				  "Couldn't find HloInstruction or HloComputation named %.200s.",
				  node);
		tfp_error_set_hint(err, "no program%s has it; %s", name ? " of that name" : "",
				   LISTS);
	} else if (status == TFP_OK && s.count > 1) {
		bool more = s.count > NAMES_MOST || tfp_buf_failed(&s.names);
		tfp_fail(err, TFP_BAD_QUERY, "several programs have %.200s: %s%s", node,
			 tfp_buf_text(&s.names), more ? " and more" : "");
		tfp_error_set_hint(err, "name one by its number, such as program_id=%" PRIu64,
				   s.ids[0]);
		status = TFP_BAD_QUERY;
	}
	*id = s.ids[0];
	tfp_buf_release(&s.names);
	return status;
}

/* ---- */

enum tfp_status tfp_choose_program(const struct tfp_session *session, const struct tfp_query *query,
				   const char *node, struct tfp_program_choice *choice,
				   struct tfp_error *err)
{
	const char *number = tfp_query_get(query, "program_id");
	const char *asked = tfp_query_get(query, "module_name");
	*choice = (struct tfp_program_choice){.any = true, .name = {"", 0}};
	if (number && *number)
		return tfp_query_get_count(query, "program_id", 0, &choice->id, err);
	bool is_named = asked && *asked;
	if (is_named) {
		choice->name = (struct tfp_str){asked, strlen(asked)};
		if (tfp_hlo_id_in_name(choice->name, &choice->id)) {
			choice->name.size = (size_t)(strrchr(asked, '(') - asked);
			return TFP_OK;
		}
	}
	if (node && *node)
		return choose_by_node(session, node, is_named ? asked : NULL, &choice->id, err);
	enum tfp_status status =
		choose(session, is_named ? asked : NULL, &choice->any, &choice->id, err);
	if (status == TFP_OK && is_named && !choice->any) {
		tfp_fail(err, TFP_NOT_FOUND, "no program has the name \"%.200s\"", asked);
		tfp_error_set_hint(err, LISTS);
		status = TFP_NOT_FOUND;
	}
	return status;
}

const struct tfp_hlo_module *tfp_chosen_module(const struct tfp_program_choice *choice,
					       const struct tfp_hlo_modules *modules)
{
	const struct tfp_hlo_module *module = tfp_hlo_module_find(modules, choice->id);
	if (!module || choice->name.size == 0 || tfp_str_compare(module->name, choice->name) == 0)
		return module;
	return NULL;
}

enum tfp_status tfp_no_such_program(const struct tfp_program_choice *choice, struct tfp_error *err)
{
	tfp_fail(err, TFP_NOT_FOUND, "no program has the id %" PRIu64 "%s%.*s", choice->id,
		 choice->name.size ? " and the name " : "", (int)choice->name.size,
		 choice->name.data);
	tfp_error_set_hint(err, LISTS);
	return TFP_NOT_FOUND;
}
