/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/data_table.h"

#include "base/alloc.h"
#include "base/json_writer.h"
#include "base/number.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tfp_cell {
	enum tfp_cell_kind kind;
	union {
		double number;
		bool boolean;
		struct {
			const char *data;
			size_t size;
		} text;
	};
};

struct tfp_property {
	const char *key, *value;
};

void tfp_table_init(struct tfp_table *t, const struct tfp_column *columns, size_t column_count)
{
	*t = (struct tfp_table){.columns = columns, .column_count = column_count};
	tfp_arena_init(&t->arena, SIZE_MAX);
}

void tfp_table_release(struct tfp_table *t)
{
	tfp_free(t->cells);
	tfp_free(t->properties);
	tfp_arena_release(&t->arena);
	*t = (struct tfp_table){0};
}

bool tfp_table_failed(const struct tfp_table *t)
{
	return t->failed;
}

static void add(struct tfp_table *t, struct tfp_cell cell)
{
	if (t->failed)
		return;
	if (!TFP_GROW(t->cells, t->cell_count, t->cell_room)) {
		t->failed = true;
		return;
	}
	t->cells[t->cell_count++] = cell;
}

void tfp_table_add_number(struct tfp_table *t, double value)
{
	if (isfinite(value))
		add(t, (struct tfp_cell){.kind = TFP_CELL_NUMBER, .number = value});
	else
		tfp_table_add_absent(t);
}

void tfp_table_add_boolean(struct tfp_table *t, bool value)
{
	add(t, (struct tfp_cell){.kind = TFP_CELL_BOOLEAN, .boolean = value});
}

void tfp_table_add_absent(struct tfp_table *t)
{
	add(t, (struct tfp_cell){.kind = TFP_CELL_ABSENT});
}

void tfp_table_add_text(struct tfp_table *t, const char *text, size_t size)
{
	struct tfp_cell cell = {.kind = TFP_CELL_TEXT};
	if (tfp_utf8_valid(text, size)) {
		cell.text.data = tfp_arena_strndup(&t->arena, text, size);
		cell.text.size = size;
	} else {
		struct tfp_buf repaired;
		/* One bad byte becomes three good ones. */
		tfp_buf_init(&repaired, size <= SIZE_MAX / 3 ? size * 3 : SIZE_MAX);
		tfp_utf8_repair(&repaired, text, size);
		if (!tfp_buf_failed(&repaired)) {
			cell.text.data = tfp_arena_strndup(&t->arena, repaired.data, repaired.size);
			cell.text.size = repaired.size;
		}
		tfp_buf_release(&repaired);
	}
	if (cell.text.data)
		add(t, cell);
	else
		t->failed = true;
}

void tfp_table_set_property(struct tfp_table *t, const char *key, const char *value)
{
	const char *kept = tfp_arena_strndup(&t->arena, value, strlen(value));
	size_t i = 0;
	while (i < t->property_count && strcmp(t->properties[i].key, key) != 0)
		i++;
	if (i == t->property_count) {
		struct tfp_property *list = tfp_reallocarray(t->properties, i + 1, sizeof(*list));
		const char *kept_key = tfp_arena_strndup(&t->arena, key, strlen(key));
		if (list)
			t->properties = list;
		if (!list || !kept_key) {
			t->failed = true;
			return;
		}
		list[i].key = kept_key;
		t->property_count++;
	}
	t->properties[i].value = kept ? kept : "";
	t->failed |= !kept;
}

size_t tfp_table_row_count(const struct tfp_table *t)
{
	return t->column_count ? t->cell_count / t->column_count : 0;
}

/* ---- reading ---- */

size_t tfp_table_column(const struct tfp_table *t, const char *id)
{
	for (size_t i = 0; i < t->column_count; i++) {
		if (strcmp(t->columns[i].id, id) == 0)
			return i;
	}
	return TFP_NO_COLUMN;
}

static const struct tfp_cell *cell_at(const struct tfp_table *t, size_t row, size_t column)
{
	return &t->cells[row * t->column_count + column];
}

bool tfp_table_number(const struct tfp_table *t, size_t row, size_t column, double *value)
{
	const struct tfp_cell *cell = cell_at(t, row, column);
	if (cell->kind == TFP_CELL_NUMBER)
		*value = cell->number;
	return cell->kind == TFP_CELL_NUMBER;
}

bool tfp_table_text(const struct tfp_table *t, size_t row, size_t column, struct tfp_text *value)
{
	const struct tfp_cell *cell = cell_at(t, row, column);
	if (cell->kind == TFP_CELL_TEXT)
		*value = (struct tfp_text){cell->text.data, cell->text.size};
	return cell->kind == TFP_CELL_TEXT;
}

bool tfp_table_boolean(const struct tfp_table *t, size_t row, size_t column, bool *value)
{
	const struct tfp_cell *cell = cell_at(t, row, column);
	if (cell->kind == TFP_CELL_BOOLEAN)
		*value = cell->boolean;
	return cell->kind == TFP_CELL_BOOLEAN;
}

const char *tfp_table_property(const struct tfp_table *t, const char *key)
{
	for (size_t i = 0; i < t->property_count; i++) {
		if (strcmp(t->properties[i].key, key) == 0)
			return t->properties[i].value;
	}
	return "";
}

/* ---- JSON ---- */

static const char *type_name(enum tfp_cell_kind kind)
{
	return kind == TFP_CELL_NUMBER ? "number" : kind == TFP_CELL_BOOLEAN ? "boolean" : "string";
}

static void write_value(struct tfp_json *j, const struct tfp_cell *cell)
{
	switch (cell->kind) {
	case TFP_CELL_ABSENT:
		tfp_json_add_null(j);
		break;
	case TFP_CELL_NUMBER:
		tfp_json_add_number(j, cell->number);
		break;
	case TFP_CELL_BOOLEAN:
		tfp_json_add_boolean(j, cell->boolean);
		break;
	case TFP_CELL_TEXT:
		tfp_json_add_text(j, cell->text.data, cell->text.size);
		break;
	}
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct tfp_property *)a)->key, ((const struct tfp_property *)b)->key);
}

static void write_properties(const struct tfp_table *t, struct tfp_json *j)
{
	/* Sorting the list in place changes nothing that a reader can see. */
	qsort(t->properties, t->property_count, sizeof(*t->properties), by_key);
	tfp_json_begin_object_of(j, "p");
	for (size_t i = 0; i < t->property_count; i++)
		tfp_json_set_string(j, t->properties[i].key, t->properties[i].value);
	tfp_json_end_object(j);
}

static void write_columns(const struct tfp_table *t, struct tfp_json *j)
{
	tfp_json_begin_array_of(j, "cols");
	for (size_t c = 0; c < t->column_count; c++) {
		const struct tfp_column *column = &t->columns[c];
		tfp_json_begin_object(j);
		tfp_json_set_string(j, "id", column->id);
		tfp_json_set_string(j, "label", column->label);
		if (t->roles && t->roles[c]) {
			tfp_json_begin_object_of(j, "p");
			tfp_json_set_string(j, "role", t->roles[c]);
			tfp_json_end_object(j);
		}
		tfp_json_set_string(j, "type", type_name(column->kind));
		tfp_json_end_object(j);
	}
	tfp_json_end_array(j);
}

static void write_rows(const struct tfp_table *t, struct tfp_json *j)
{
	tfp_json_begin_array_of(j, "rows");
	for (size_t r = 0; r < tfp_table_row_count(t); r++) {
		tfp_json_begin_object(j);
		tfp_json_begin_array_of(j, "c");
		for (size_t c = 0; c < t->column_count; c++) {
			tfp_json_begin_object(j);
			tfp_json_key(j, "v");
			write_value(j, &t->cells[r * t->column_count + c]);
			tfp_json_end_object(j);
		}
		tfp_json_end_array(j);
		tfp_json_end_object(j);
	}
	tfp_json_end_array(j);
}

void tfp_table_write_json(const struct tfp_table *t, struct tfp_json *j)
{
	tfp_json_begin_object(j);
	if (!t->is_nothing) {
		write_columns(t, j);
		if (t->property_count)
			write_properties(t, j);
		write_rows(t, j);
	}
	tfp_json_end_object(j);
}

/* ---- CSV ---- */

static void write_doubling_quotes(struct tfp_buf *out, const char *text, size_t size)
{
	for (size_t from = 0; from < size;) {
		const char *quote = memchr(text + from, '"', size - from);
		size_t to = quote ? (size_t)(quote - text) + 1 : size;
		tfp_buf_add(out, text + from, to - from);
		if (quote)
			tfp_buf_putc(out, '"');
		from = to;
	}
}

/* A spreadsheet computes what begins so, wherever the text came from; with an apostrophe in
 * front it is text. */
static bool is_formula(const char *text, size_t size)
{
	return size > 0 && text[0] && strchr("=+-@\t\r\n", text[0]);
}

static void write_csv_text(struct tfp_buf *out, enum tfp_csv_form form, const char *text,
			   size_t size)
{
	bool quoted = form == TFP_CSV_QUOTED;
	for (size_t i = 0; i < size && !quoted; i++)
		quoted = text[i] && strchr(",\"\n\r", text[i]);
	if (quoted)
		tfp_buf_putc(out, '"');
	if (is_formula(text, size))
		tfp_buf_putc(out, '\'');
	write_doubling_quotes(out, text, size);
	if (quoted)
		tfp_buf_putc(out, '"');
}

static void write_number(struct tfp_buf *out, enum tfp_csv_form form, double value)
{
	char text[TFP_DOUBLE_MAX];
	bool whole = value == floor(value) && fabs(value) < 1e15;
	size_t size = form == TFP_CSV_PLAIN && whole ? tfp_put_integer(text, (int64_t)value)
						     : tfp_put_double(text, value);
	tfp_buf_add(out, text, size);
}

static void write_csv_cell(struct tfp_buf *out, enum tfp_csv_form form, const struct tfp_cell *cell)
{
	bool plain = form == TFP_CSV_PLAIN;
	if (cell->kind == TFP_CELL_TEXT) {
		write_csv_text(out, form, cell->text.data, cell->text.size);
		return;
	}
	if (!plain)
		tfp_buf_putc(out, '"');
	if (cell->kind == TFP_CELL_NUMBER)
		write_number(out, form, cell->number);
	else if (cell->kind == TFP_CELL_BOOLEAN && plain)
		tfp_buf_puts(out, cell->boolean ? "true" : "false");
	else if (cell->kind == TFP_CELL_BOOLEAN)
		tfp_buf_puts(out, cell->boolean ? "True" : "False");
	if (!plain)
		tfp_buf_putc(out, '"');
}

void tfp_table_write_csv(const struct tfp_table *t, enum tfp_csv_form form, struct tfp_buf *out)
{
	for (size_t c = 0; c < t->column_count; c++) {
		const char *label = t->columns[c].label[0] ? t->columns[c].label : t->columns[c].id;
		if (c)
			tfp_buf_putc(out, ',');
		write_csv_text(out, form, label, strlen(label));
	}
	tfp_buf_putc(out, '\n');
	for (size_t i = 0; i < tfp_table_row_count(t) * t->column_count; i++) {
		write_csv_cell(out, form, &t->cells[i]);
		tfp_buf_putc(out, (i + 1) % t->column_count ? ',' : '\n');
	}
}
