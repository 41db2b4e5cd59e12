/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/line_input.h"

#include "base/alloc.h"
#include "base/buf.h"

#include <histedit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define REMEMBERED     1000
#define LISTED_MAX     100u

struct tfp_line_input {
	struct tfp_buf line;
	struct tfp_completion words;
	EditLine *edit; /* NULL: not a terminal */
	History *history;
	struct tfp_buf history_path; /* empty: nothing is kept */
};

static char *prompt(EditLine *edit)
{
	static char text[] = "tfprof> ";
	(void)edit;
	return text;
}

static bool begins(struct tfp_str word, const char *typed, size_t size)
{
	return word.size >= size && memcmp(word.data, typed, size) == 0;
}

/* What all words that begin so have in common; their count. */
static size_t find_common(const struct tfp_completion *words, bool first, const char *typed,
			  size_t size, struct tfp_str *common)
{
	struct tfp_str word;
	size_t count = 0;
	for (size_t i = 0; words->word(words->context, first, i, &word); i++) {
		if (!begins(word, typed, size))
			continue;
		if (!count++)
			*common = word;
		for (size_t n = 0; n < common->size; n++) {
			if (n == word.size || word.data[n] != common->data[n])
				common->size = n;
		}
	}
	return count;
}

static void list_words(const struct tfp_completion *words, bool first, const char *typed,
		       size_t size)
{
	struct tfp_str word;
	size_t listed = 0;
	fputc('\n', stdout);
	for (size_t i = 0; words->word(words->context, first, i, &word); i++) {
		if (begins(word, typed, size) && listed++ < LISTED_MAX)
			printf("%.*s  ", (int)word.size, word.data);
	}
	if (listed > LISTED_MAX)
		printf("and %zu more", listed - LISTED_MAX);
	fputc('\n', stdout);
}

/* What can be typed without a choice is typed; where there is one, it is listed. */
static unsigned char complete(EditLine *edit, int c)
{
	struct tfp_line_input *input = NULL;
	const LineInfo *info = el_line(edit);
	const char *from = info->cursor;
	struct tfp_str common = {NULL, 0};
	(void)c;
	el_get(edit, EL_CLIENTDATA, &input);
	while (from > info->buffer && from[-1] != ' ')
		from--;
	bool first = from == info->buffer;
	size_t typed = (size_t)(info->cursor - from);
	size_t count = find_common(&input->words, first, from, typed, &common);
	if (!count)
		return CC_ERROR;
	if (common.size == typed && count > 1) {
		list_words(&input->words, first, from, typed);
		return CC_REDISPLAY;
	}
	tfp_buf_clear(&input->line);
	tfp_buf_add(&input->line, common.data + typed, common.size - typed);
	if (count == 1)
		tfp_buf_putc(&input->line, ' ');
	return el_insertstr(edit, tfp_buf_text(&input->line)) == 0 ? CC_REFRESH : CC_ERROR;
}

static bool open_editor(struct tfp_line_input *input)
{
	const char *home = getenv("HOME");
	HistEvent event;
	input->edit = el_init("tfprof", stdin, stdout, stderr);
	input->history = history_init();
	if (!input->edit || !input->history)
		return false;
	history(input->history, &event, H_SETSIZE, REMEMBERED);
	history(input->history, &event, H_SETUNIQUE, 1);
	if (home && *home) {
		tfp_buf_printf(&input->history_path, "%s/.tfprof_history", home);
		history(input->history, &event, H_LOAD, tfp_buf_text(&input->history_path));
	}
	el_set(input->edit, EL_CLIENTDATA, input);
	el_set(input->edit, EL_PROMPT, prompt);
	el_set(input->edit, EL_EDITOR, "emacs");
	el_set(input->edit, EL_HIST, history, input->history);
	el_set(input->edit, EL_ADDFN, "tfprof-complete", "complete a word", complete);
	el_set(input->edit, EL_BIND, "^I", "tfprof-complete", NULL);
	/* ~/.editrc may say otherwise. */
	el_source(input->edit, NULL);
	return true;
}

enum tfp_status tfp_line_input_new(struct tfp_line_input **out, const struct tfp_completion *words,
				   struct tfp_error *err)
{
	struct tfp_line_input *input = tfp_calloc(1, sizeof(*input));
	*out = NULL;
	if (!input)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for lines");
	input->words = *words;
	tfp_buf_init(&input->line, LINE_MAX_BYTES);
	tfp_buf_init(&input->history_path, LINE_MAX_BYTES);
	if (isatty(STDIN_FILENO) && !open_editor(input)) {
		tfp_line_input_free(input);
		return tfp_fail(err, TFP_NO_MEMORY, "the terminal cannot be used to edit lines");
	}
	*out = input;
	return TFP_OK;
}

void tfp_line_input_free(struct tfp_line_input *input)
{
	if (!input)
		return;
	if (input->history)
		history_end(input->history);
	if (input->edit)
		el_end(input->edit);
	tfp_buf_release(&input->line);
	tfp_buf_release(&input->history_path);
	tfp_free(input);
}

/* Of a line that is too long the rest is passed over, and the beginning means nothing. */
static const char *plain_line(struct tfp_line_input *input)
{
	int c;
	tfp_buf_clear(&input->line);
	while ((c = getchar()) != EOF && c != '\n')
		tfp_buf_putc(&input->line, (char)c);
	if (c == EOF && !input->line.size)
		return NULL;
	return tfp_buf_failed(&input->line) ? "" : tfp_buf_text(&input->line);
}

static const char *edited_line(struct tfp_line_input *input)
{
	HistEvent event;
	int size;
	const char *line = el_gets(input->edit, &size);
	if (!line || size <= 0)
		return NULL;
	if (line[0] != '\n') {
		history(input->history, &event, H_ENTER, line);
		if (input->history_path.size)
			history(input->history, &event, H_SAVE, tfp_buf_text(&input->history_path));
	}
	tfp_buf_clear(&input->line);
	tfp_buf_add(&input->line, line, (size_t)size - (line[size - 1] == '\n'));
	return tfp_buf_text(&input->line);
}

const char *tfp_line_input_next(struct tfp_line_input *input)
{
	return input->edit ? edited_line(input) : plain_line(input);
}
