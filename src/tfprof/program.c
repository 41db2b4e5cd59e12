/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/program.h"

#include "base/alloc.h"
#include "tfprof/advise.h"
#include "tfprof/line_input.h"
#include "tfprof/loading.h"
#include "tfprof/options.h"
#include "tfprof/output.h"
#include "tfprof/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2

static const char help[] =
	"Usage: tfprof --profile_path=FILE [--OPTION=VALUE]... [COMMAND]\n"
	"       tfprof --graph_path=FILE --run_meta_path=FILE[,...] --op_log_path=FILE\n"
	"              [--checkpoint_path=PREFIX] [--OPTION=VALUE]... [COMMAND]\n"
	"       tfprof --event_path=FILE[,...] [--OPTION=VALUE]... [COMMAND]\n"
	"\n"
	"Shows what the parts of a TensorFlow model took, from the files of TensorFlow's first\n"
	"profiler. Without a command it asks for commands until the end of the input.\n"
	"\n"
	"  scope    the nodes by the parts of their names\n"
	"  graph    below each node those that feed it\n"
	"  op       all nodes of one operation together\n"
	"  code     the lines of the Python program (needs call stacks: --op_log_path)\n"
	"  advise   what to look at first\n"
	"  set      options for the commands that follow; an empty line shows them\n"
	"  help     this\n"
	"\n"
	"Commands take options such as 'scope -select micros,bytes -order_by micros -max_depth "
	"4':\n"
	"  -max_depth N              levels, rows of the op view\n"
	"  -min_bytes N, -min_micros N, -min_params N, -min_float_ops N, -min_occurrence N,\n"
	"  -min_accelerator_micros N, -min_cpu_micros N, -min_peak_bytes N,\n"
	"  -min_residual_bytes N, -min_output_bytes N\n"
	"                            only what has that much\n"
	"  -step N                   one step (-1: the mean of all)\n"
	"  -order_by WORD            name, or one of the quantities\n"
	"  -select WORD,...          bytes, micros, params, float_ops, tensor_value, device, "
	"op_types,\n"
	"                            occurrence, input_shapes, accelerator_micros, cpu_micros,\n"
	"                            peak_bytes, residual_bytes, output_bytes\n"
	"  -account_type_regexes R,...\n"
	"                            what counts, by op, device or type\n"
	"  -start_name_regexes R,... where the table begins\n"
	"  -trim_name_regexes R,...  what has nothing below it\n"
	"  -show_name_regexes R,..., -hide_name_regexes R,...\n"
	"                            what is displayed\n"
	"  -account_displayed_op_only\n"
	"                            totals of what is displayed\n"
	"  -output stdout|none|file:outfile=F|timeline:outfile=F|pprof:outfile=F\n"
	"  -preset time_and_memory|trainable_variables_parameter|float_operation\n"
	"                            options for a purpose\n"
	"On the command line they are --max_depth=N and so on, before the command or behind it.\n"
	"'tfprof --help' tells of the commands for today's captures.\n";

/* ---- arguments ---- */

struct arguments {
	struct tfp_profile_paths paths;
	enum tfp_view_command command;
	size_t words; /* that are no option */
	bool asked_help;
	struct tfp_view_options options;
};

static const struct {
	const char *name;
	size_t path; /* in struct tfp_profile_paths */
} path_flags[] = {
	{"profile_path", offsetof(struct tfp_profile_paths, profile)},
	{"graph_path", offsetof(struct tfp_profile_paths, graph)},
	{"run_meta_path", offsetof(struct tfp_profile_paths, run_metadata)},
	{"op_log_path", offsetof(struct tfp_profile_paths, op_log)},
	{"checkpoint_path", offsetof(struct tfp_profile_paths, checkpoint)},
	{"event_path", offsetof(struct tfp_profile_paths, events)},
};

static const struct {
	const char *name;
	enum tfp_view_text text;
} text_flags[] = {
	{"order_by", TFP_ORDER_BY},
	/* A mistake of the original: its flag of that name sets where to start. */
	{"account_type_regexes", TFP_START_NAMES},
	{"start_name_regexes", TFP_START_NAMES},
	{"trim_name_regexes", TFP_TRIM_NAMES},
	{"show_name_regexes", TFP_SHOW_NAMES},
	{"hide_name_regexes", TFP_HIDE_NAMES},
	{"select", TFP_SELECT},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The value in "--name=value", or NULL. */
static const char *value_of(const char *argument, const char *name)
{
	size_t size = strlen(name);
	if (strncmp(argument, "--", 2) != 0 || strncmp(argument + 2, name, size) != 0 ||
	    argument[2 + size] != '=')
		return NULL;
	return argument + 3 + size;
}

bool tfp_views_wanted(int argc, char **argv)
{
	if (argc > 1 && tfp_view_command(argv[1]) != TFP_VIEW_NONE)
		return true;
	for (int i = 1; i < argc; i++) {
		for (size_t j = 0; j < COUNT(path_flags); j++) {
			if (value_of(argv[i], path_flags[j].name))
				return true;
		}
	}
	return false;
}

static int bad_value(const char *value, const char *name)
{
	fprintf(stderr, "Couldn't interpret value %s for flag %s.\nTry 'tfprof help'.\n", value,
		name);
	return EXIT_USAGE;
}

static int fail(const struct tfp_error *err)
{
	char text[2048];
	fprintf(stderr, "tfprof: %s\n", tfp_error_text(err, text, sizeof(text)));
	return EXIT_FAILURE;
}

/* -1: taken; 0: no such flag; else the status to exit with. */
static int take_number(struct arguments *a, const char *argument)
{
	for (int i = 0; i < TFP_VIEW_NUMBERS; i++) {
		const char *value = value_of(argument, tfp_view_number_words[i]);
		int64_t most = i == TFP_MAX_DEPTH ? INT32_MAX : INT64_MAX;
		if (!value)
			continue;
		if (!tfp_view_integer(value, -most - 1, most, &a->options.numbers[i]))
			return bad_value(value, tfp_view_number_words[i]);
		return -1;
	}
	return 0;
}

static int take_displayed_only(struct arguments *a, const char *argument)
{
	static const char name[] = "account_displayed_op_only";
	const char *value = value_of(argument, name);
	if (strncmp(argument, "--", 2) == 0 && strcmp(argument + 2, name) == 0)
		value = "true";
	if (!value)
		return 0;
	a->options.displayed_only = strcmp(value, "true") == 0;
	if (!a->options.displayed_only && strcmp(value, "false") != 0)
		return bad_value(value, name);
	return -1;
}

static int take_text(struct arguments *a, const char *argument, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	const char *value = NULL;
	for (size_t i = 0; i < COUNT(text_flags) && !value; i++) {
		value = value_of(argument, text_flags[i].name);
		if (value)
			status = tfp_view_options_set_text(&a->options, text_flags[i].text, value,
							   err);
	}
	if (!value && (value = value_of(argument, "output")))
		status = tfp_view_options_set_output(&a->options, value, err);
	if (!value && (value = value_of(argument, "preset")))
		status = tfp_view_options_preset(&a->options, value, err);
	if (status != TFP_OK)
		return fail(err);
	return value ? -1 : 0;
}

static int take_path(struct arguments *a, const char *argument)
{
	for (size_t i = 0; i < COUNT(path_flags); i++) {
		const char *value = value_of(argument, path_flags[i].name);
		if (!value)
			continue;
		const char **path = (const char **)((char *)&a->paths + path_flags[i].path);
		*path = *value ? value : NULL;
		return -1;
	}
	return 0;
}

static int take_argument(struct arguments *a, const char *argument, struct tfp_error *err)
{
	if (strncmp(argument, "--", 2) != 0) {
		/* The first word is the command, or else commands are asked for; those behind it
		 * count for nothing, as in the original. */
		if (a->words++ == 0)
			a->command = tfp_view_command(argument);
		return -1;
	}
	int taken = take_path(a, argument);
	if (!taken)
		taken = take_number(a, argument);
	if (!taken)
		taken = take_displayed_only(a, argument);
	if (!taken)
		taken = take_text(a, argument, err);
	if (!taken && strcmp(argument, "--help") == 0) {
		a->asked_help = true;
		taken = -1;
	}
	if (!taken) {
		fprintf(stderr, "tfprof: there is no option '%s'\nTry 'tfprof help'.\n", argument);
		taken = EXIT_USAGE;
	}
	return taken;
}

/* ---- commands ---- */

static enum tfp_status run_command(struct tfp_views *v, enum tfp_view_command command,
				   const struct tfp_view_options *o, struct tfp_error *err)
{
	switch (command) {
	case TFP_VIEW_ADVISE:
		return tfp_advise(v, err);
	case TFP_VIEW_HELP:
		fputs(help, stdout);
		return TFP_OK;
	case TFP_VIEW_SET:
	case TFP_VIEW_NONE:
		return TFP_OK;
	default:
		return tfp_views_show(v, command, o, err);
	}
}

static enum tfp_status show_options(const struct tfp_view_options *o, struct tfp_error *err)
{
	struct tfp_buf out;
	tfp_buf_init(&out, (size_t)1 << 24);
	tfp_view_options_write(o, &out);
	enum tfp_status status = tfp_print(&out, err);
	tfp_buf_release(&out);
	return status;
}

/* One line. Only what makes going on useless is an error. */
static enum tfp_status run_line(struct tfp_views *v, struct tfp_view_options *o, const char *line,
				struct tfp_error *err)
{
	enum tfp_view_command command;
	struct tfp_view_options now;
	if (!line[strspn(line, " ")])
		return show_options(o, err);
	enum tfp_status status = tfp_view_options_copy(&now, o, err);
	if (status != TFP_OK)
		return status;
	status = tfp_view_options_line(&now, line, &command, err);
	if (status == TFP_BAD_QUERY) {
		fprintf(stderr, "E: Invalid argument: %s\n", err->message);
		status = TFP_OK;
	} else if (status == TFP_OK && command == TFP_VIEW_SET) {
		struct tfp_view_options old = *o;
		*o = now;
		now = old;
	} else if (status == TFP_OK) {
		status = run_command(v, command, &now, err);
	}
	tfp_view_options_release(&now);
	/* Memory may suffice for the next one. */
	if (status == TFP_NO_MEMORY) {
		fail(err);
		status = TFP_OK;
	}
	return status;
}

/* The i-th of a list, or what is left of i behind it. */
static bool word_in(const char *const *list, size_t count, size_t *i, struct tfp_str *word)
{
	if (*i >= count) {
		*i -= count;
		return false;
	}
	*word = (struct tfp_str){list[*i], strlen(list[*i])};
	return true;
}

/* Commands for the first word; for the others options, what they take, and names of nodes. */
static bool completion_word(const void *context, bool first, size_t i, struct tfp_str *word)
{
	const struct tfp_profile *p = context;
	size_t options = 0;
	if (first)
		return word_in(tfp_view_command_words, TFP_VIEW_COMMANDS, &i, word);
	while (tfp_view_option_words[options])
		options++;
	if (word_in(tfp_view_option_words, options, &i, word) ||
	    word_in(tfp_selected_words, TFP_SELECTABLE, &i, word) ||
	    word_in(tfp_preset_words, TFP_PRESETS, &i, word))
		return true;
	if (i >= p->count)
		return false;
	*word = p->nodes[i]->name;
	return true;
}

static int interact(struct tfp_views *v, struct tfp_view_options *o, struct tfp_error *err)
{
	const struct tfp_completion words = {completion_word, v->profile};
	struct tfp_line_input *input;
	enum tfp_status status = tfp_line_input_new(&input, &words, err);
	const char *line;
	bool any = false;
	if (status != TFP_OK)
		return fail(err);
	while (status == TFP_OK && (line = tfp_line_input_next(input))) {
		any = true;
		status = run_line(v, o, line, err);
	}
	tfp_line_input_free(input);
	if (status != TFP_OK)
		return fail(err);
	if (!any)
		fprintf(stderr, "There was no command: standard input is empty.\n");
	return EXIT_SUCCESS;
}

static int run(struct arguments *a, struct tfp_error *err)
{
	struct tfp_loaded_profile loaded;
	struct tfp_views views;
	bool fatal;
	int code = EXIT_SUCCESS;
	enum tfp_status status = tfp_profile_load(&loaded, &a->paths, &fatal, err);
	if (status != TFP_OK && fatal) {
		fflush(stdout);
		tfp_profile_unload(&loaded);
		return EXIT_FAILURE;
	}
	tfp_views_init(&views, &loaded.profile, loaded.checkpoint);
	if (a->command == TFP_VIEW_NONE || a->command == TFP_VIEW_SET)
		code = interact(&views, &a->options, err);
	else if (run_command(&views, a->command, &a->options, err) != TFP_OK)
		code = fail(err);
	tfp_views_release(&views);
	tfp_profile_unload(&loaded);
	return code;
}

int tfp_views_run(int argc, char **argv)
{
	struct arguments a = {.command = TFP_VIEW_NONE};
	struct tfp_error err;
	int taken = -1;
	tfp_error_init(&err);
	if (tfp_view_options_init(&a.options, &err) != TFP_OK)
		return fail(&err);
	for (int i = 1; i < argc && taken < 0; i++)
		taken = take_argument(&a, argv[i], &err);
	if (taken < 0 && !a.asked_help && a.paths.profile &&
	    (a.paths.graph || a.paths.run_metadata)) {
		fprintf(stderr,
			"--profile_path is set, do not set --graph_path or --run_meta_path\n");
		taken = EXIT_FAILURE;
	}
	bool files = a.paths.profile || a.paths.graph || a.paths.run_metadata || a.paths.events;
	if (taken < 0 && (a.asked_help || a.command == TFP_VIEW_HELP || (!a.words && !files))) {
		fputs(help, stdout);
		taken = EXIT_SUCCESS;
	}
	if (taken < 0)
		taken = run(&a, &err);
	tfp_view_options_release(&a.options);
	return taken;
}
