/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/options.h"

#include "base/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *const tfp_view_command_words[TFP_VIEW_COMMANDS] = {
	"scope", "graph", "code", "op", "advise", "set", "help",
};

const char *const tfp_view_number_words[TFP_VIEW_NUMBERS] = {
	"max_depth",        "min_bytes",     "min_peak_bytes",         "min_residual_bytes",
	"min_output_bytes", "min_micros",    "min_accelerator_micros", "min_cpu_micros",
	"min_params",       "min_float_ops", "min_occurrence",         "step",
};

const char *const tfp_selected_words[TFP_SELECTABLE] = {
	"accelerator_micros", "bytes",        "cpu_micros", "device",
	"float_ops",          "input_shapes", "micros",     "occurrence",
	"op_types",           "output_bytes", "params",     "peak_bytes",
	"residual_bytes",     "tensor_value",
};

static const char *const orders[] = {
	"name",         "bytes",     "peak_bytes",         "residual_bytes",
	"output_bytes", "micros",    "accelerator_micros", "cpu_micros",
	"params",       "float_ops", "occurrence",
};

/* Options of a line behind the numbers; those with a text as they are in tfp_view_text. */
const char *const tfp_view_option_words[] = {
	"-max_depth",
	"-min_bytes",
	"-min_peak_bytes",
	"-min_residual_bytes",
	"-min_output_bytes",
	"-min_micros",
	"-min_accelerator_micros",
	"-min_cpu_micros",
	"-min_params",
	"-min_float_ops",
	"-min_occurrence",
	"-step",
	"-order_by",
	"-account_type_regexes",
	"-start_name_regexes",
	"-trim_name_regexes",
	"-show_name_regexes",
	"-hide_name_regexes",
	"-account_displayed_op_only",
	"-select",
	"-output",
	"-preset",
	NULL,
};

enum {
	WORD_ORDER = TFP_VIEW_NUMBERS,
	WORD_ACCOUNT,
	WORD_HIDE = WORD_ACCOUNT + 4,
	WORD_DISPLAYED,
	WORD_SELECT,
	WORD_OUTPUT,
	WORD_PRESET,
	WORD_NONE,
};

/* In the order of tfp_view_output. */
static const char *const output_words[] = {"timeline", "stdout", "file", "pprof", "none"};

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the options");
}

/* ---- a set of options ---- */

static bool set(struct tfp_view_options *o, enum tfp_view_text which, const char *value)
{
	char *copy = tfp_strdup(value);
	if (!copy)
		return false;
	tfp_free(o->texts[which]);
	o->texts[which] = copy;
	return true;
}

enum tfp_status tfp_view_options_init(struct tfp_view_options *o, struct tfp_error *err)
{
	static const char *const defaults[TFP_VIEW_TEXTS] = {"name", ".*", ".*",    "",
							     ".*",   "",   "micros"};
	*o = (struct tfp_view_options){.output = TFP_OUT_STDOUT};
	o->numbers[TFP_MAX_DEPTH] = 10;
	o->numbers[TFP_STEP] = -1;
	for (int i = 0; i < TFP_VIEW_TEXTS; i++) {
		if (defaults[i] && !set(o, (enum tfp_view_text)i, defaults[i])) {
			tfp_view_options_release(o);
			return no_memory(err);
		}
	}
	return TFP_OK;
}

void tfp_view_options_release(struct tfp_view_options *o)
{
	for (int i = 0; i < TFP_VIEW_TEXTS; i++)
		tfp_free(o->texts[i]);
	*o = (struct tfp_view_options){0};
}

enum tfp_status tfp_view_options_copy(struct tfp_view_options *to,
				      const struct tfp_view_options *from, struct tfp_error *err)
{
	*to = *from;
	memset(to->texts, 0, sizeof(to->texts));
	for (int i = 0; i < TFP_VIEW_TEXTS; i++) {
		if (from->texts[i] && !set(to, (enum tfp_view_text)i, from->texts[i])) {
			tfp_view_options_release(to);
			return no_memory(err);
		}
	}
	return TFP_OK;
}

const char *tfp_next_word(const char **list, size_t *size)
{
	const char *word = *list;
	if (!*word)
		return NULL;
	*size = strcspn(word, ",");
	*list = word + *size + (word[*size] == ',');
	return word;
}

static bool is_word(const char *word, size_t size, const char *expected)
{
	return strlen(expected) == size && memcmp(word, expected, size) == 0;
}

bool tfp_selects(const struct tfp_view_options *o, enum tfp_selected what)
{
	const char *list = o->texts[TFP_SELECT], *word;
	size_t size;
	while ((word = tfp_next_word(&list, &size))) {
		if (is_word(word, size, tfp_selected_words[what]))
			return true;
	}
	return false;
}

/* ---- lists ---- */

static int by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

/* Joins words by commas; sorted: in order, each once. NULL without memory. */
static char *join(const char **words, size_t count, bool sorted)
{
	struct tfp_buf out;
	tfp_buf_init(&out, SIZE_MAX / 2);
	if (sorted && count)
		qsort(words, count, sizeof(*words), by_text);
	for (size_t i = 0; i < count; i++) {
		if (sorted && i > 0 && strcmp(words[i - 1], words[i]) == 0)
			continue;
		if (i > 0)
			tfp_buf_putc(&out, ',');
		tfp_buf_puts(&out, words[i]);
	}
	tfp_buf_text(&out);
	char *text = tfp_buf_failed(&out) ? NULL : tfp_buf_take(&out, NULL);
	tfp_buf_release(&out);
	return text ? text : count ? NULL : tfp_strdup("");
}

enum tfp_status tfp_view_options_set_text(struct tfp_view_options *o, enum tfp_view_text which,
					  const char *value, struct tfp_error *err)
{
	const char **words = NULL;
	size_t count = 0, room = 0;
	char *copy = tfp_strdup(value), *rest = copy, *word;
	bool good = copy != NULL;
	while (good && (word = strsep(&rest, ","))) {
		if (!*word)
			continue;
		good = TFP_GROW(words, count, room);
		if (good)
			words[count++] = word;
	}
	char *joined = !good                   ? NULL
		       : which == TFP_ORDER_BY ? tfp_strdup(value)
					       : join(words, count, which == TFP_SELECT);
	if (joined) {
		tfp_free(o->texts[which]);
		o->texts[which] = joined;
	}
	tfp_free(words);
	tfp_free(copy);
	return joined ? TFP_OK : no_memory(err);
}

/* ---- outputs ---- */

static enum tfp_status unknown_output(const char *word, size_t size, struct tfp_error *err)
{
	return tfp_fail(err, TFP_BAD_QUERY,
			"E.g. Unknown output type: %.*s, Valid types: "
			"file,none,pprof,stdout,timeline\n",
			(int)(size < 500 ? size : 500), word);
}

static bool needs_file(enum tfp_view_output output)
{
	return output == TFP_OUT_TIMELINE || output == TFP_OUT_FILE_TABLE ||
	       output == TFP_OUT_PPROF;
}

/* One "key=value". */
static enum tfp_status set_output_key(struct tfp_view_options *o, char *pair, struct tfp_error *err)
{
	const char *output = output_words[o->output];
	char *value = strchr(pair, '=');
	if (!value || value == pair || !value[1])
		return tfp_fail(err, TFP_BAD_QUERY,
				"Visualize format: -output timeline:key=value,key=value,...");
	*value++ = '\0';
	if (!needs_file(o->output) || strcmp(pair, "outfile") != 0)
		return tfp_fail(err, TFP_BAD_QUERY,
				"Unrecognized options %.500s for output_type: %s\n", pair, output);
	return set(o, TFP_OUT_FILE, value) ? TFP_OK : no_memory(err);
}

enum tfp_status tfp_view_options_set_output(struct tfp_view_options *o, const char *value,
					    struct tfp_error *err)
{
	size_t size = strcspn(value, ":");
	size_t which = 0;
	enum tfp_status status = TFP_OK;
	if (!*value) {
		o->output = TFP_OUT_STDOUT;
		return TFP_OK;
	}
	while (which < COUNT(output_words) && !is_word(value, size, output_words[which]))
		which++;
	if (which == COUNT(output_words))
		return unknown_output(value, size, err);
	o->output = (enum tfp_view_output)which;
	char *copy = tfp_strdup(value[size] ? value + size + 1 : ""), *rest = copy, *pair;
	if (!copy)
		return no_memory(err);
	while (status == TFP_OK && (pair = strsep(&rest, ","))) {
		if (*pair)
			status = set_output_key(o, pair, err);
	}
	tfp_free(copy);
	if (status == TFP_OK && needs_file(o->output) && !o->texts[TFP_OUT_FILE])
		return tfp_fail(err, TFP_BAD_QUERY,
				"Missing required output_options for %s\n"
				"E.g. -output %s:outfile=...\n",
				output_words[which], output_words[which]);
	return status;
}

/* ---- presets ---- */

const char *const tfp_preset_words[TFP_PRESETS] = {
	"trainable_variables_parameter",
	"float_operation",
	"time_and_memory",
};

/* In the same order. */
struct preset {
	const char *account, *order, *select;
	int64_t min_bytes, min_micros, min_float_ops;
};

static const struct preset presets[TFP_PRESETS] = {
	{"_trainable_variables", "name", "params", 0, 0, 0},
	{".*", "float_ops", "float_ops", 0, 0, 1},
	{".*", "micros", "bytes,micros", 1, 1, 0},
};

enum tfp_status tfp_view_options_preset(struct tfp_view_options *o, const char *word,
					struct tfp_error *err)
{
	size_t which = 0;
	while (which < TFP_PRESETS && strcmp(tfp_preset_words[which], word) != 0)
		which++;
	if (which == TFP_PRESETS)
		return tfp_fail(err, TFP_BAD_QUERY,
				"Invalid option '-preset' value: '%.300s'; it takes %s, %s or %s",
				word, tfp_preset_words[0], tfp_preset_words[1],
				tfp_preset_words[2]);
	const struct preset *p = &presets[which];
	if (!set(o, TFP_ACCOUNT_TYPES, p->account) || !set(o, TFP_START_NAMES, ".*") ||
	    !set(o, TFP_TRIM_NAMES, "") || !set(o, TFP_SHOW_NAMES, ".*") ||
	    !set(o, TFP_HIDE_NAMES, "") || !set(o, TFP_ORDER_BY, p->order) ||
	    !set(o, TFP_SELECT, p->select))
		return no_memory(err);
	for (int i = TFP_MIN_BYTES; i <= TFP_MIN_OCCURRENCE; i++)
		o->numbers[i] = 0;
	o->numbers[TFP_MAX_DEPTH] = 10000;
	o->numbers[TFP_MIN_BYTES] = p->min_bytes;
	o->numbers[TFP_MIN_MICROS] = p->min_micros;
	o->numbers[TFP_MIN_FLOAT_OPS] = p->min_float_ops;
	o->displayed_only = true;
	/* As Python did before it showed them. */
	o->count_flops = p->min_float_ops > 0;
	return TFP_OK;
}

/* ---- lines ---- */

enum tfp_view_command tfp_view_command(const char *word)
{
	int i = 0;
	while (i < TFP_VIEW_COMMANDS && strcmp(word, tfp_view_command_words[i]) != 0)
		i++;
	return (enum tfp_view_command)i;
}

bool tfp_view_integer(const char *text, int64_t min, int64_t max, int64_t *value)
{
	const char *digits = text + (*text == '-');
	char *end;
	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	long long n = strtoll(text, &end, 10);
	if (*end || errno == ERANGE || n < min || n > max)
		return false;
	*value = n;
	return true;
}

static bool read_bool(const char *text, bool *value)
{
	static const char *const words[] = {"true",  "t", "yes", "y", "1",
					    "false", "f", "no",  "n", "0"};
	for (size_t i = 0; i < COUNT(words); i++) {
		if (strcasecmp(text, words[i]) == 0) {
			*value = i < COUNT(words) / 2;
			return true;
		}
	}
	return false;
}

static enum tfp_status invalid(const char *option, const char *value, struct tfp_error *err)
{
	return tfp_fail(err, TFP_BAD_QUERY, "Invalid option '%.300s' value: '%.300s'", option,
			value ? value : "");
}

/* Without quotes at its ends. */
static char *unquoted(char *text)
{
	size_t size;
	text += strspn(text, "\"'");
	size = strlen(text);
	while (size > 0 && strchr("\"'", text[size - 1]))
		size--;
	text[size] = '\0';
	return text;
}

static bool all_selectable(const char *list)
{
	while (*list) {
		size_t size = strcspn(list, ","), i = 0;
		while (size && i < TFP_SELECTABLE && !is_word(list, size, tfp_selected_words[i]))
			i++;
		if (i == TFP_SELECTABLE)
			return false;
		list += size + (list[size] == ',');
	}
	return true;
}

static bool is_order(const char *word)
{
	for (size_t i = 0; i < COUNT(orders); i++) {
		if (strcmp(orders[i], word) == 0)
			return true;
	}
	return false;
}

/* value: the next word, or NULL; what was wrong with it is told before it is changed. */
static enum tfp_status set_option(struct tfp_view_options *o, int option, char *value,
				  struct tfp_error *err)
{
	const char *word = tfp_view_option_words[option];
	if (!value)
		return invalid(word, NULL, err);
	if (option < TFP_VIEW_NUMBERS) {
		int64_t most = option == TFP_MAX_DEPTH ? INT32_MAX : INT64_MAX;
		if (!tfp_view_integer(value, -most - 1, most, &o->numbers[option]))
			return invalid(word, value, err);
		return TFP_OK;
	}
	switch (option) {
	case WORD_ORDER:
		if (!is_order(value))
			return invalid(word, value, err);
		return tfp_view_options_set_text(o, TFP_ORDER_BY, value, err);
	case WORD_SELECT: {
		char original[300];
		strncpy(original, value, sizeof(original) - 1);
		original[sizeof(original) - 1] = '\0';
		value = unquoted(value);
		if (!all_selectable(value))
			return invalid(word, original, err);
		return tfp_view_options_set_text(o, TFP_SELECT, value, err);
	}
	case WORD_OUTPUT:
		return tfp_view_options_set_output(o, value, err);
	case WORD_PRESET:
		return tfp_view_options_preset(o, value, err);
	default:
		return tfp_view_options_set_text(
			o, (enum tfp_view_text)(TFP_ACCOUNT_TYPES + option - WORD_ACCOUNT),
			unquoted(value), err);
	}
}

/* The words behind the command. */
static enum tfp_status read_words(struct tfp_view_options *o, char **words, size_t count,
				  struct tfp_error *err)
{
	for (size_t i = 0; i < count; i++) {
		char *value = i + 1 < count ? words[i + 1] : NULL;
		int option = 0;
		while (tfp_view_option_words[option] &&
		       strcmp(tfp_view_option_words[option], words[i]) != 0)
			option++;
		if (option == WORD_NONE)
			return invalid(words[i], value, err);
		if (option == WORD_DISPLAYED) {
			if (!value || value[0] == '-')
				o->displayed_only = true;
			else if (read_bool(value, &o->displayed_only))
				i++;
			else
				return invalid(words[i], value, err);
			continue;
		}
		enum tfp_status status = set_option(o, option, value, err);
		if (status != TFP_OK)
			return status;
		i++;
	}
	return TFP_OK;
}

enum tfp_status tfp_view_options_line(struct tfp_view_options *o, const char *line,
				      enum tfp_view_command *command, struct tfp_error *err)
{
	char **words = NULL, *word;
	size_t count = 0, room = 0;
	char *copy = tfp_strdup(line), *rest = copy;
	enum tfp_status status = copy ? TFP_OK : no_memory(err);
	*command = TFP_VIEW_NONE;
	while (status == TFP_OK && (word = strsep(&rest, " "))) {
		if (!*word)
			continue;
		if (!TFP_GROW(words, count, room))
			status = no_memory(err);
		else
			words[count++] = word;
	}
	if (status == TFP_OK && count) {
		*command = tfp_view_command(words[0]);
		status = *command == TFP_VIEW_NONE
				 ? tfp_fail(err, TFP_BAD_QUERY,
					    "First string must be a valid command.")
				 : read_words(o, words + 1, count - 1, err);
	}
	tfp_free(words);
	tfp_free(copy);
	return status;
}

/* ---- the table ---- */

void tfp_view_options_write(const struct tfp_view_options *o, struct tfp_buf *out)
{
	for (int i = 0; i < WORD_PRESET; i++) {
		tfp_buf_printf(out, "%-28s", tfp_view_option_words[i]);
		if (i < TFP_VIEW_NUMBERS)
			tfp_buf_printf(out, "%" PRId64, o->numbers[i]);
		else if (i <= WORD_HIDE)
			tfp_buf_puts(out, o->texts[TFP_ORDER_BY + i - WORD_ORDER]);
		else if (i == WORD_DISPLAYED)
			tfp_buf_puts(out, o->displayed_only ? "true" : "false");
		else if (i == WORD_SELECT)
			tfp_buf_puts(out, o->texts[TFP_SELECT]);
		else
			tfp_buf_printf(out, "%s:%s%s", output_words[o->output],
				       o->texts[TFP_OUT_FILE] ? "outfile=" : "",
				       o->texts[TFP_OUT_FILE] ? o->texts[TFP_OUT_FILE] : "");
		tfp_buf_putc(out, '\n');
	}
}
