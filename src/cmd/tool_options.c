/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/tool_options.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_option(const struct tfp_tool_options *list, const char *name)
{
	for (size_t i = 0; i < list->own + list->count; i++) {
		if (strcmp(list->options[i].name, name) == 0)
			return true;
	}
	return false;
}

char *tfp_tool_option_name(const char *parameter)
{
	char *name = tfp_strndup(parameter, strlen(parameter));
	for (char *at = name; at && *at; at++)
		*at = *at == '_' ? '-' : *at;
	return name;
}

void tfp_tool_options_release(struct tfp_tool_options *list)
{
	for (size_t i = 0; i < list->count; i++)
		tfp_free((char *)list->options[list->own + i].name);
	tfp_free(list->options);
	tfp_free(list->names);
}

bool tfp_tool_options_init(struct tfp_tool_options *list, const struct option *own_options,
			   int first_id)
{
	size_t own = 0;
	while (own_options[own].name)
		own++;
	size_t room = own + 1;
	for (const struct tfp_tool *t = tfp_tool_next(NULL); t; t = tfp_tool_next(t))
		room += tfp_parameter_count(t->parameters, TFP_TOOL_PARAMETERS);
	*list = (struct tfp_tool_options){
		.options = tfp_calloc(room, sizeof(*list->options)),
		.names = tfp_calloc(room, sizeof(*list->names)),
		.own = own,
	};
	if (!list->options || !list->names)
		return false;
	memcpy(list->options, own_options, own * sizeof(*own_options));
	for (const struct tfp_tool *t = tfp_tool_next(NULL); t; t = tfp_tool_next(t)) {
		for (size_t i = 0; i < TFP_TOOL_PARAMETERS && t->parameters[i].name; i++) {
			char *name = tfp_tool_option_name(t->parameters[i].name);
			if (!name)
				return false;
			if (has_option(list, name)) {
				tfp_free(name);
				continue;
			}
			list->names[list->count] = t->parameters[i].name;
			list->options[own + list->count] = (struct option){
				name, required_argument, NULL, first_id + (int)list->count};
			list->count++;
		}
	}
	return true;
}

/* The words of text from the given column to the 79th, in as many lines as it takes. A list
 * without blanks may be parted behind its commas. */
static void print_wrapped(const char *text, int column)
{
	int at = column, blanks = 0;
	while (*text) {
		int size = (int)strcspn(text, " ");
		if (column + size > 79)
			size = (int)strcspn(text, " ,") + (text[strcspn(text, " ,")] == ',');
		if (at > column && at + blanks + size > 79) {
			printf("\n%*s", column, "");
			at = column;
		}
		at += printf("%*s%.*s", at > column ? blanks : 0, "", size, text);
		text += size;
		blanks = (int)strspn(text, " ") > 0;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_parameter(const struct tfp_parameter *p)
{
	char *name = tfp_tool_option_name(p->name);
	char text[600];
	int used = printf("      --%s ", name ? name : p->name);
	tfp_free(name);
	if (p->kind == TFP_PARAMETER_CHOICE) {
		for (size_t i = 0; i < TFP_PARAMETER_VALUES && p->values[i]; i++) {
			int size = (int)strlen(p->values[i]) + 2;
			if (used + size > 79)
				used = printf("\n%*s", 23, "") - 1;
			used += printf("%s%s", p->values[i],
				       i + 1 < TFP_PARAMETER_VALUES && p->values[i + 1] ? "|" : "");
		}
	} else {
		for (const char *at = tfp_parameter_kind_name(p->kind); *at; at++)
			used += printf("%c", *at - 'a' + 'A');
	}
	if (used > 22)
		used = printf("\n") - 1;
	printf("%*s", 23 - used, "");
	snprintf(text, sizeof(text), "%s%s%s%s%s", p->sentence, p->fallback ? " (" : "",
		 p->fallback ? p->fallback : "",
		 p->fallback && strcmp(p->name, "limit") == 0 ? "; of a table to read 40" : "",
		 p->fallback ? ")" : "");
	print_wrapped(text, 23);
}

int tfp_tool_print_help(const struct tfp_tool *tool)
{
	printf("Usage: tfprof %s PATH [OPTION]...\n\n%s\n", tool->name, tool->summary);
	for (size_t i = 0; i < TFP_TOOL_ALIASES && tool->aliases[i]; i++)
		printf("%s%s%s", i ? " and " : "Also called ", tool->aliases[i],
		       i + 1 == TFP_TOOL_ALIASES || !tool->aliases[i + 1] ? ".\n" : "");
	putchar('\n');
	for (size_t i = 0; i < TFP_TOOL_PARAMETERS && tool->parameters[i].name; i++) {
		/* --format is the program's. */
		if (strcmp(tool->parameters[i].name, "format") != 0)
			print_parameter(&tool->parameters[i]);
	}
	puts("\nThe options that all tools have: 'tfprof --help'.");
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
