/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/module_list.h"

#include "analysis/summary/program_times.h"
#include "base/alloc.h"
#include "session/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "name(program id)" in the arena; data is NULL without memory. */
static struct tfp_str label_of(struct tfp_arena *arena, const struct tfp_hlo_module *module)
{
	char id[24];
	int id_size = snprintf(id, sizeof(id), "(%" PRIu64 ")", module->program_id);
	size_t size = module->name.size + (size_t)id_size;
	char *label = tfp_arena_alloc(arena, size + 1);
	if (!label)
		return (struct tfp_str){NULL, 0};
	if (module->name.size)
		memcpy(label, module->name.data, module->name.size);
	memcpy(label + module->name.size, id, (size_t)id_size + 1);
	return (struct tfp_str){label, size};
}

/* ---- with times ---- */

/* The module in the list, made if need be; NULL without memory. */
static struct tfp_listed_module *enter(struct tfp_module_list *list,
				       const struct tfp_hlo_module *module)
{
	struct tfp_str label = label_of(&list->arena, module);
	if (!label.data)
		return NULL;
	uint32_t known = tfp_str_map_find(&list->by_label, label.data, label.size);
	if (known != TFP_STR_MAP_NONE)
		return &list->modules[known];
	if (list->count >= TFP_STR_MAP_NONE || !TFP_GROW(list->modules, list->count, list->room) ||
	    tfp_str_map_add(&list->by_label, label.data, label.size, (uint32_t)list->count) ==
		    TFP_STR_MAP_NONE)
		return NULL;
	list->modules[list->count] = (struct tfp_listed_module){
		.name = {label.data, module->name.size},
		.label = label,
		.program_id = module->program_id,
		.instructions = module->instruction_count,
		.has_executions = true,
	};
	return &list->modules[list->count++];
}

static enum tfp_status add_times(struct tfp_module_list *list,
				 const struct tfp_program_times *times, struct tfp_error *err)
{
	for (size_t i = 0; i < times->modules->module_count; i++) {
		const struct tfp_program_time *time = &times->list[i];
		struct tfp_listed_module *module = enter(list, &times->modules->modules[i]);
		if (!module)
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for a list of modules");
		module->time_ps += time->time_ps;
		module->executions += time->executions;
		module->has_time |= time->has_time;
		/* Where it ran they have to be known. */
		module->has_executions &= time->has_executions || !time->has_time;
	}
	return TFP_OK;
}

static enum tfp_status add_host(void *context, struct tfp_capture *capture, const char *host,
				struct tfp_pool *pool, struct tfp_error *err)
{
	struct tfp_program_times times;
	(void)host;
	enum tfp_status status = tfp_program_times_init(&times, capture, pool, err);
	if (status == TFP_OK)
		status = add_times(context, &times, err);
	tfp_program_times_release(&times);
	return status;
}

static int by_time(const void *a, const void *b)
{
	const struct tfp_listed_module *x = a, *y = b;
	if (x->time_ps != y->time_ps)
		return x->time_ps < y->time_ps ? 1 : -1;
	if (x->has_time != y->has_time)
		return x->has_time ? -1 : 1;
	if (x->instructions != y->instructions)
		return x->instructions < y->instructions ? 1 : -1;
	return tfp_str_compare(x->label, y->label);
}

enum tfp_status tfp_module_list_init(struct tfp_module_list *list,
				     const struct tfp_session *session, struct tfp_error *err)
{
	*list = (struct tfp_module_list){0};
	tfp_arena_init(&list->arena, SIZE_MAX);
	enum tfp_status status = tfp_session_each(session, add_host, list, err);
	/* Places change. */
	tfp_str_map_release(&list->by_label);
	if (status == TFP_OK && list->count)
		qsort(list->modules, list->count, sizeof(*list->modules), by_time);
	for (size_t i = 0; i < list->count; i++)
		list->modules[i].has_executions &= list->modules[i].executions > 0;
	return status;
}

void tfp_module_list_release(struct tfp_module_list *list)
{
	tfp_free(list->modules);
	tfp_str_map_release(&list->by_label);
	tfp_arena_release(&list->arena);
	*list = (struct tfp_module_list){0};
}

/* ---- XProf's text ---- */

struct names {
	struct tfp_arena arena;
	const char **list;
	size_t count, room;
};

static bool add_name(struct names *names, const struct tfp_hlo_module *module)
{
	struct tfp_str label = label_of(&names->arena, module);
	if (!label.data || !TFP_GROW(names->list, names->count, names->room))
		return false;
	for (char *at = (char *)label.data; *at; at++) {
		if (*at == ',' || (unsigned char)*at < ' ')
			*at = ' ';
	}
	names->list[names->count++] = label.data;
	return true;
}

static enum tfp_status add_names(void *context, struct tfp_capture *capture, const char *host,
				 struct tfp_pool *pool, struct tfp_error *err)
{
	struct names *names = context;
	const struct tfp_hlo_modules *modules;
	enum tfp_status status = tfp_hlo_modules_get(capture, pool, &modules, err);
	(void)host;
	for (size_t i = 0; status == TFP_OK && i < modules->module_count; i++) {
		if (!add_name(names, &modules->modules[i]))
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for a list of modules");
	}
	return status;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum tfp_status tfp_module_list(const struct tfp_session *session, const struct tfp_query *query,
				struct tfp_buf *text, struct tfp_error *err)
{
	struct names names = {0};
	(void)query;
	tfp_arena_init(&names.arena, SIZE_MAX);
	enum tfp_status status = tfp_session_each(session, add_names, &names, err);
	if (status == TFP_OK) {
		if (names.count)
			qsort(names.list, names.count, sizeof(*names.list), by_name);
		for (size_t i = 0; i < names.count; i++) {
			if (i && strcmp(names.list[i - 1], names.list[i]) == 0)
				continue;
			if (i)
				tfp_buf_putc(text, ',');
			tfp_buf_puts(text, names.list[i]);
		}
		if (names.count == 0)
			tfp_buf_puts(text, "NO_MODULE");
	}
	tfp_free(names.list);
	tfp_arena_release(&names.arena);
	return status;
}
