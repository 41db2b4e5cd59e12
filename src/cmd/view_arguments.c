/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/view_arguments.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_USAGE 2

/* Options of the program that have no value. */
static const char *const alone[] = {"follow_symlinks", "no_cache", "help", "version"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_view(const char *word)
{
	static const char *const views[] = {"scope", "graph", "op", "code"};
	for (size_t i = 0; i < COUNT(views); i++) {
		if (strcmp(word, views[i]) == 0)
			return true;
	}
	return false;
}

bool tfp_view_arguments_wanted(int argc, char **argv)
{
	if (argc < 3 || !is_view(argv[1]) || argv[2][0] == '-' || access(argv[2], F_OK) != 0)
		return false;
	for (int i = 3; i < argc; i++) {
		const char *equals = strchr(argv[i], '=');
		if (strncmp(argv[i], "--", 2) == 0 && equals && equals - argv[i] > 5 &&
		    strncmp(equals - 5, "_path", 5) == 0)
			return false;
	}
	return true;
}

static int no_memory(void)
{
	fprintf(stderr, "tfprof: no memory for the arguments\n");
	return EXIT_FAILURE;
}

static int bad_usage(const char *format, const char *text)
{
	fprintf(stderr, "tfprof: ");
	fprintf(stderr, format, text);
	fprintf(stderr, "\nTry 'tfprof tfprof --help'.\n");
	return EXIT_USAGE;
}

/* A copy that lives as long as the arguments; NULL without memory. */
static const char *keep(struct tfp_view_arguments *a, const char *value)
{
	if (a->value_count == COUNT(a->values))
		return NULL;
	char *copy = tfp_strdup(value);
	if (copy)
		a->values[a->value_count++] = copy;
	return copy;
}

/* The last value under a name counts. */
static int give(struct tfp_view_arguments *a, const char *name, const char *value)
{
	size_t i = 0;
	while (i < a->given_count && strcmp(a->given[i].key, name) != 0)
		i++;
	if (i == COUNT(a->given))
		return bad_usage("too many options%s", "");
	a->given[i] = (struct tfp_param){name, value};
	a->given_count += i == a->given_count;
	return -1;
}

static const char *parameter_of(const struct tfp_tool *tool, const char *name)
{
	for (size_t i = 0; i < TFP_TOOL_PARAMETERS && tool->parameters[i].name; i++) {
		if (strcmp(tool->parameters[i].name, name) == 0)
			return tool->parameters[i].name;
	}
	return NULL;
}

/* "pprof:outfile=F" and its like. */
static int take_output(struct tfp_view_arguments *a, const char *value)
{
	static const struct {
		const char *word, *form;
	} forms[] = {{"stdout", "text"},   {"text", "text"},         {"file", "text"},
		     {"none", "text"},     {"timeline", "timeline"}, {"pprof", "pprof"},
		     {"folded", "folded"}, {"csv", "csv"},           {"json", "json"}};
	size_t size = strcspn(value, ":"), i = 0;
	while (i < COUNT(forms) &&
	       (strlen(forms[i].word) != size || memcmp(forms[i].word, value, size) != 0))
		i++;
	if (i == COUNT(forms))
		return bad_usage("-output takes text, file, timeline, pprof, folded, csv, json or "
				 "none, not '%s'",
				 value);
	const char *more = value[size] ? value + size + 1 : "";
	static const char outfile[] = "outfile=";
	if (strncmp(more, outfile, sizeof(outfile) - 1) == 0) {
		a->file = keep(a, more + sizeof(outfile) - 1);
		if (!a->file)
			return no_memory();
	} else if (*more) {
		return bad_usage("-output does not know '%s'", more);
	}
	if (strcmp(forms[i].word, "file") == 0 && !a->file)
		return bad_usage("-output file:outfile=NAME names the file%s", "");
	a->silent = strcmp(forms[i].word, "none") == 0;
	return give(a, "output", forms[i].form);
}

/* An option of the program, as it takes it. */
static int pass_on(struct tfp_view_arguments *a, const char *name, const char *value)
{
	size_t size = strlen(name) + (value ? strlen(value) : 0) + 4;
	char *option = tfp_malloc(size);
	if (!option)
		return no_memory();
	snprintf(option, size, "--%s%s%s", name, value ? "=" : "", value ? value : "");
	for (char *at = option; *at && *at != '='; at++)
		*at = *at == '_' ? '-' : *at;
	a->argv[a->argc++] = option;
	a->options[a->option_count++] = option;
	return -1;
}

/* name: with underscores. value: NULL when it comes next, or there is none. */
static int take(struct tfp_view_arguments *a, const struct tfp_tool *tool, const char *name,
		const char *value, char **next, int *used)
{
	bool boolean =
		strcmp(name, "account_displayed_op_only") == 0 || strcmp(name, "others") == 0;
	bool has_none = false;
	for (size_t i = 0; i < COUNT(alone); i++)
		has_none |= strcmp(name, alone[i]) == 0;
	*used = 0;
	if (!value && !has_none && *next &&
	    !(boolean && strcmp(*next, "true") != 0 && strcmp(*next, "false") != 0)) {
		value = *next;
		*used = 1;
	}
	if (boolean && !value)
		value = "true";
	if (!value && !has_none)
		return bad_usage("-%s takes a value", name);
	if (strcmp(name, "output") == 0)
		return take_output(a, value);
	const char *parameter = parameter_of(tool, name);
	if (parameter) {
		const char *kept = keep(a, value);
		return kept ? give(a, parameter, kept) : no_memory();
	}
	return pass_on(a, name, value);
}

static int take_option(struct tfp_view_arguments *a, const struct tfp_tool *tool, char **at,
		       int *used)
{
	const char *text = at[0] + 1 + (at[0][1] == '-');
	size_t size = strcspn(text, "=");
	char name[64];
	if (at[0][0] != '-' || size == 0 || size >= sizeof(name))
		return bad_usage("'%s' is one argument too many", at[0]);
	for (size_t i = 0; i < size; i++)
		name[i] = text[i] == '-' ? '_' : text[i];
	name[size] = '\0';
	return take(a, tool, name, text[size] ? text + size + 1 : NULL, at + 1, used);
}

int tfp_view_arguments_init(struct tfp_view_arguments *a, int argc, char **argv)
{
	const struct tfp_tool *tool = tfp_tool_find("tfprof");
	int code = -1, used;
	*a = (struct tfp_view_arguments){.argc = 3};
	a->argv = tfp_calloc((size_t)argc + 4, sizeof(*a->argv));
	a->options = tfp_calloc((size_t)argc + 4, sizeof(*a->options));
	if (!a->argv || !a->options)
		return no_memory();
	a->argv[0] = argv[0];
	a->argv[1] = (char *)(uintptr_t)tool->name;
	a->argv[2] = argv[2];
	code = give(a, "view", argv[1]);
	if (code < 0)
		code = give(a, "output", "text");
	/* What the original has without options. */
	if (code < 0)
		code = give(a, "select", "micros");
	if (code < 0)
		code = give(a, "max_depth", "10");
	for (int i = 3; code < 0 && i < argc; i += 1 + used)
		code = take_option(a, tool, &argv[i], &used);
	return code;
}

void tfp_view_arguments_release(struct tfp_view_arguments *a)
{
	for (size_t i = 0; i < a->option_count; i++)
		tfp_free(a->options[i]);
	tfp_free(a->options);
	tfp_free(a->argv);
	for (size_t i = 0; i < a->value_count; i++)
		tfp_free(a->values[i]);
	*a = (struct tfp_view_arguments){0};
}
