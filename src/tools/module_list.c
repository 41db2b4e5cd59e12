#include "tools/module_list.h"

#include "analysis/hlo_modules.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "tools/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct names {
	struct tfp_arena arena;
	const char **list;
	size_t count, room;
};

static bool add_name(struct names *names, const struct tfp_hlo_module *module)
{
	size_t room = module->name.size + 24;
	char *name = tfp_arena_alloc(&names->arena, room);
	if (!name)
		return false;
	snprintf(name, room, "%.*s(%" PRIu64 ")", (int)module->name.size, module->name.data,
		 module->program_id);
	for (char *at = name; *at; at++) {
		if (*at == ',' || (unsigned char)*at < ' ')
			*at = ' ';
	}
	if (names->count == names->room) {
		size_t more = names->room ? 2 * names->room : 64;
		const char **list = tfp_realloc(names->list, more * sizeof(*list));
		if (!list)
			return false;
		names->list = list;
		names->room = more;
	}
	names->list[names->count++] = name;
	return true;
}

static enum tfp_status add_host(void *context, struct tfp_capture *capture, const char *host,
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
	enum tfp_status status = tfp_session_each(session, add_host, &names, err);
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
