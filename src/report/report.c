/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include "base/alloc.h"
#include "base/number.h"
#include "base/utf8.h"
#include "report/text_width.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define GAP       2  /* blanks between columns */
#define TEXT_MIN  14 /* words are shortened to no less */
#define WRAP_MIN  8  /* text is not wrapped to less */
#define NAME_MIN  12 /* names: a fourth of the width, within these */
#define NAME_MAX  48
#define LAST_KEPT 2 /* so many columns are never left out */
#define TINY      4 /* to which their names may be shortened */
#define CELL_MAX  ((size_t)1 << 20)

enum item_kind { HEADING, SENTENCE, FACT, TABLE };

struct tfp_report_item {
	enum item_kind kind;
	const char *text, *label;
	const struct tfp_table *table;
	const struct tfp_report_column *columns;
	size_t column_count;
	const char *all;
};

void tfp_report_init(struct tfp_report *r)
{
	*r = (struct tfp_report){0};
	tfp_arena_init(&r->arena, (size_t)64 << 20);
}

void tfp_report_release(struct tfp_report *r)
{
	tfp_free(r->items);
	tfp_arena_release(&r->arena);
	*r = (struct tfp_report){0};
}

static void add(struct tfp_report *r, struct tfp_report_item item)
{
	if (r->failed || !TFP_GROW(r->items, r->count, r->room)) {
		r->failed = true;
		return;
	}
	r->items[r->count++] = item;
}

/* Cleans a text for a terminal, and takes out the markup of links, as texts for XProf's page
 * have it. */
static const char *keep_text(struct tfp_report *r, const char *text)
{
	struct tfp_buf plain, clean;
	const char *kept = NULL;
	tfp_buf_init(&plain, CELL_MAX);
	tfp_buf_init(&clean, CELL_MAX);
	while (*text) {
		size_t size = strcspn(text, "<");
		tfp_buf_add(&plain, text, size);
		text += size;
		bool link = strncmp(text, "<a ", 3) == 0 || strncmp(text, "</a>", 4) == 0;
		const char *end = link ? strchr(text, '>') : NULL;
		if (end)
			text = end + 1;
		else if (*text)
			tfp_buf_putc(&plain, *text++);
	}
	tfp_text_clean(&clean, plain.data, plain.size);
	if (!tfp_buf_failed(&plain) && !tfp_buf_failed(&clean))
		kept = tfp_arena_strndup(&r->arena, tfp_buf_text(&clean), clean.size);
	tfp_buf_release(&plain);
	tfp_buf_release(&clean);
	r->failed |= !kept;
	return kept ? kept : "";
}

__attribute__((format(printf, 2, 0))) static const char *
keep_format(struct tfp_report *r, const char *format, va_list args)
{
	char text[2000], *long_text = NULL;
	va_list again;
	va_copy(again, args);
	int size = vsnprintf(text, sizeof(text), format, args);
	if (size >= (int)sizeof(text)) {
		long_text = tfp_malloc((size_t)size + 1);
		if (long_text)
			vsnprintf(long_text, (size_t)size + 1, format, again);
		r->failed |= !long_text;
	}
	va_end(again);
	const char *kept = keep_text(r, long_text ? long_text : text);
	tfp_free(long_text);
	return kept;
}

void tfp_report_heading(struct tfp_report *r, const char *text)
{
	add(r, (struct tfp_report_item){.kind = HEADING, .text = keep_text(r, text)});
}

void tfp_report_say(struct tfp_report *r, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = keep_format(r, format, args);
	va_end(args);
	if (text[0])
		add(r, (struct tfp_report_item){.kind = SENTENCE, .text = text});
}

void tfp_report_fact(struct tfp_report *r, const char *label, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = keep_format(r, format, args);
	va_end(args);
	add(r, (struct tfp_report_item){.kind = FACT, .text = text, .label = keep_text(r, label)});
}

void tfp_report_table(struct tfp_report *r, const struct tfp_table *table,
		      const struct tfp_report_column *columns, size_t count, const char *all)
{
	add(r, (struct tfp_report_item){.kind = TABLE,
					.table = table,
					.columns = columns,
					.column_count = count,
					.all = all});
}

/* ---- quantities ---- */

/* A unit of time, for numbers of microseconds. */
struct time_unit {
	const char *name;
	double us;
};

static const struct time_unit *time_unit(double largest_us)
{
	static const struct time_unit units[] = {{"\xc2\xb5s", 1}, {"ms", 1e3}, {"s", 1e6}};
	return &units[largest_us < 1e4 ? 0 : largest_us < 1e7 ? 1 : 2];
}

static bool is_time(enum tfp_quantity quantity)
{
	return quantity == TFP_Q_PS || quantity == TFP_Q_US || quantity == TFP_Q_MS;
}

static double to_us(enum tfp_quantity quantity, double value)
{
	return quantity == TFP_Q_PS ? value / 1e6 : quantity == TFP_Q_MS ? value * 1e3 : value;
}

static void format_bytes(double bytes, char *out, size_t size)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	unsigned unit = 0;
	while (fabs(bytes) >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1024;
		unit++;
	}
	snprintf(out, size, unit ? "%.2f %s" : "%.0f %s", bytes, units[unit]);
}

/* With a comma between thousands. */
static void format_count(double value, char *out, size_t size)
{
	char digits[64];
	size_t at = 0;
	snprintf(digits, sizeof(digits), "%.0f", fabs(value));
	size_t count = strlen(digits);
	if (value < 0 && size > 1)
		out[at++] = '-';
	for (size_t i = 0; i < count && at + 2 < size; i++) {
		out[at++] = digits[i];
		if (i + 1 < count && (count - i - 1) % 3 == 0)
			out[at++] = ',';
	}
	out[at] = '\0';
}

/* unit: of times; NULL: the value's own, which then follows it. */
static void format_number(enum tfp_quantity quantity, double value, const struct time_unit *unit,
			  char *out, size_t size)
{
	if (is_time(quantity)) {
		double us = to_us(quantity, value);
		const struct time_unit *own = unit ? unit : time_unit(fabs(us));
		snprintf(out, size, unit ? "%.3f" : "%.3f %s", us / own->us, own->name);
	} else if (quantity == TFP_Q_BYTES) {
		format_bytes(value, out, size);
	} else if (quantity == TFP_Q_PERCENT || quantity == TFP_Q_SHARE) {
		snprintf(out, size, "%.1f %%", quantity == TFP_Q_SHARE ? value * 100 : value);
	} else if (quantity == TFP_Q_COUNT || (value == floor(value) && fabs(value) < 1e15)) {
		format_count(value, out, size);
	} else {
		snprintf(out, size, fabs(value) >= 100 ? "%.1f" : "%.4g", value);
	}
}

const char *tfp_report_quantity(enum tfp_quantity quantity, double value, char *out, size_t size)
{
	format_number(quantity, value, NULL, out, size);
	return out;
}

/* ---- tables ---- */

struct layout_column {
	const struct tfp_report_column *column;
	size_t index; /* in the table */
	const struct time_unit *unit;
	size_t natural, floor, width;
	bool numeric, left_out;
};

struct layout {
	const struct tfp_table *table;
	struct layout_column *columns;
	size_t count, rows;
	struct tfp_buf cell;
};

static bool says_something(const struct tfp_table *t, size_t row, size_t column)
{
	double number;
	struct tfp_text text;
	bool yes;
	if (tfp_table_number(t, row, column, &number))
		return number != 0;
	if (tfp_table_text(t, row, column, &text))
		return text.size > 0;
	return tfp_table_boolean(t, row, column, &yes) && yes;
}

static bool is_empty(const struct tfp_table *t, size_t column, size_t rows)
{
	for (size_t i = 0; i < rows; i++) {
		if (says_something(t, i, column))
			return false;
	}
	return true;
}

static const struct time_unit *unit_of(const struct layout *l, const struct layout_column *c)
{
	double largest = 0, value;
	if (!is_time(c->column->quantity))
		return NULL;
	for (size_t i = 0; i < l->rows; i++) {
		if (tfp_table_number(l->table, i, c->index, &value))
			largest = fmax(largest, fabs(to_us(c->column->quantity, value)));
	}
	return time_unit(largest);
}

/* Into l->cell. */
static void format_cell(struct layout *l, const struct layout_column *c, size_t row)
{
	char text[80];
	double number;
	struct tfp_text words;
	bool yes;
	tfp_buf_clear(&l->cell);
	if (tfp_table_number(l->table, row, c->index, &number)) {
		format_number(c->column->quantity, number, c->unit, text, sizeof(text));
		tfp_buf_puts(&l->cell, text);
	} else if (tfp_table_text(l->table, row, c->index, &words) && words.size) {
		tfp_text_clean(&l->cell, words.data,
			       words.size < CELL_MAX ? words.size
						     : tfp_utf8_prefix(words.data, CELL_MAX));
	} else if (tfp_table_boolean(l->table, row, c->index, &yes)) {
		tfp_buf_puts(&l->cell, yes ? "yes" : "no");
	} else {
		tfp_buf_puts(&l->cell, "-");
	}
}

static void format_title(struct layout *l, const struct layout_column *c)
{
	tfp_buf_clear(&l->cell);
	tfp_buf_puts(&l->cell, c->column->title);
	if (c->unit)
		tfp_buf_printf(&l->cell, " (%s)", c->unit->name);
}

static size_t cell_width(const struct layout *l)
{
	return tfp_text_width(l->cell.data, l->cell.size);
}

static void measure(struct layout *l, size_t width)
{
	size_t names = width / 4;
	names = names < NAME_MIN ? NAME_MIN : names > NAME_MAX ? NAME_MAX : names;
	for (size_t i = l->count; i-- > 0;) {
		struct layout_column *c = &l->columns[i];
		bool shares = c->column->unit_of_next && i + 1 < l->count;
		c->unit = shares ? c[1].unit : unit_of(l, c);
		format_title(l, c);
		size_t title = cell_width(l);
		c->natural = title;
		for (size_t row = 0; row < l->rows; row++) {
			format_cell(l, c, row);
			if (cell_width(l) > c->natural)
				c->natural = cell_width(l);
		}
		c->floor = c->natural;
		if (!c->numeric && c->column->quantity != TFP_Q_LABEL) {
			size_t least = c->column->quantity == TFP_Q_NAME  ? names
				       : c->column->quantity == TFP_Q_KEY ? 2 * width / 3
									  : TEXT_MIN;
			if (least < title)
				least = title;
			c->floor = least < c->natural ? least : c->natural;
		}
		c->width = c->natural;
	}
}

static size_t total(const struct layout *l, bool floors)
{
	size_t sum = 0, shown = 0;
	for (size_t i = 0; i < l->count; i++) {
		const struct layout_column *c = &l->columns[i];
		if (c->left_out)
			continue;
		sum += floors ? c->floor : c->width;
		shown++;
	}
	return sum + (shown ? (shown - 1) * GAP : 0);
}

static void leave_out_one(struct layout *l)
{
	struct layout_column *least = NULL;
	for (size_t i = 0; i < l->count; i++) {
		struct layout_column *c = &l->columns[i];
		if (!c->left_out && (!least || c->column->keep <= least->column->keep))
			least = c;
	}
	least->left_out = true;
}

/* Shortens the widest column of words again and again until all fit. */
static void shorten(struct layout *l, size_t width)
{
	for (size_t have = total(l, false); have > width;) {
		struct layout_column *widest = NULL;
		size_t second = 0;
		for (size_t i = 0; i < l->count; i++) {
			struct layout_column *c = &l->columns[i];
			if (c->left_out || c->numeric || c->width <= c->floor)
				continue;
			if (!widest || c->width > widest->width) {
				second = widest ? widest->width : 0;
				widest = c;
			} else if (c->width > second) {
				second = c->width;
			}
		}
		if (!widest)
			return;
		/* Down to where it is no longer the widest, and one more. */
		size_t to = second < widest->width ? second : widest->width - 1;
		if (to < widest->floor)
			to = widest->floor;
		if (widest->width - to > have - width)
			to = widest->width - (have - width);
		have -= widest->width - to;
		widest->width = to;
	}
}

static void fit(struct layout *l, size_t width)
{
	size_t shown = l->count;
	if (width == 0)
		return;
	while (shown > LAST_KEPT && total(l, true) > width) {
		leave_out_one(l);
		shown--;
	}
	/* Too narrow for anything: names give way, numbers never. */
	if (total(l, true) > width) {
		for (size_t i = 0; i < l->count; i++) {
			struct layout_column *c = &l->columns[i];
			if (!c->numeric && c->column->quantity != TFP_Q_LABEL && c->floor > TINY)
				c->floor = TINY;
		}
	}
	shorten(l, width);
}

static void pad(struct tfp_buf *out, size_t blanks)
{
	tfp_buf_printf(out, "%*s", (int)blanks, "");
}

/* One line of what format makes of each column. */
static void write_line(struct layout *l, bool titles, size_t row, struct tfp_buf *out)
{
	size_t owed = 0; /* blanks, which no line ends with */
	for (size_t i = 0; i < l->count; i++) {
		const struct layout_column *c = &l->columns[i];
		if (c->left_out)
			continue;
		if (titles)
			format_title(l, c);
		else
			format_cell(l, c, row);
		struct tfp_buf shown;
		tfp_buf_init(&shown, 2 * CELL_MAX);
		if (c->numeric)
			tfp_buf_add(&shown, l->cell.data, l->cell.size);
		else
			tfp_text_shorten(&shown, l->cell.data, l->cell.size, c->width);
		size_t have = tfp_text_width(shown.data, shown.size);
		size_t blanks = c->width > have ? c->width - have : 0;
		if (c->numeric)
			owed += blanks;
		if (shown.size) {
			pad(out, owed);
			tfp_buf_add(out, shown.data, shown.size);
			owed = 0;
		}
		owed += GAP + (c->numeric ? 0 : blanks);
		out->failed |= tfp_buf_failed(&shown);
		tfp_buf_release(&shown);
	}
	tfp_buf_putc(out, '\n');
}

static void write_wrapped(struct tfp_buf *out, const char *text, size_t indent, size_t width);

static void write_left_out(const struct layout *l, size_t width, struct tfp_buf *out)
{
	struct tfp_buf text;
	size_t count = 0;
	tfp_buf_init(&text, CELL_MAX);
	for (size_t i = 0; i < l->count; i++) {
		if (l->columns[i].left_out)
			tfp_buf_printf(&text, count++ ? ", %s" : "(not shown: %s",
				       l->columns[i].column->title);
	}
	tfp_buf_puts(&text, "; --width 0 shows all)");
	if (count)
		write_wrapped(out, tfp_buf_text(&text), 0, width);
	tfp_buf_release(&text);
}

static void write_table(const struct tfp_report_item *item, size_t width, size_t max_rows,
			struct tfp_buf *out)
{
	size_t rows = tfp_table_row_count(item->table);
	struct layout l = {.table = item->table, .rows = rows};
	if (item->all && max_rows && rows > max_rows)
		l.rows = max_rows;
	l.columns = tfp_calloc(item->column_count + 1, sizeof(*l.columns));
	if (!l.columns) {
		out->failed = true;
		return;
	}
	tfp_buf_init(&l.cell, 3 * CELL_MAX);
	for (size_t i = 0; i < item->column_count; i++) {
		const struct tfp_report_column *column = &item->columns[i];
		size_t index = tfp_table_column(item->table, column->id);
		if (index == TFP_NO_COLUMN ||
		    (column->optional && is_empty(item->table, index, l.rows)))
			continue;
		l.columns[l.count++] =
			(struct layout_column){.column = column,
					       .index = index,
					       .numeric = column->quantity != TFP_Q_TEXT &&
							  column->quantity != TFP_Q_LABEL &&
							  column->quantity != TFP_Q_NAME &&
							  column->quantity != TFP_Q_KEY &&
							  column->quantity != TFP_Q_BOOLEAN};
	}
	measure(&l, width);
	fit(&l, width);
	write_line(&l, true, 0, out);
	for (size_t i = 0; i < l.rows; i++)
		write_line(&l, false, i, out);
	/* The tool may have left some out already. */
	uint64_t whole = rows;
	if (item->all &&
	    tfp_number(tfp_table_property(item->table, "rows_total"), SIZE_MAX, &whole) &&
	    whole < rows)
		whole = rows;
	if (l.rows < whole) {
		char text[120];
		snprintf(text, sizeof(text), "... and %" PRIu64 " more %s: %.40s shows all",
			 whole - l.rows, whole - l.rows == 1 ? "row" : "rows", item->all);
		write_wrapped(out, text, 0, width);
	}
	write_left_out(&l, width, out);
	out->failed |= tfp_buf_failed(&l.cell);
	tfp_buf_release(&l.cell);
	tfp_free(l.columns);
}

/* ---- text ---- */

/* Breaks a text at blanks. The first line begins at indent already, further ones are moved
 * there. */
static void write_wrapped(struct tfp_buf *out, const char *text, size_t indent, size_t width)
{
	size_t room = width > indent + WRAP_MIN ? width - indent : WRAP_MIN;
	for (bool first = true; *text; first = false) {
		size_t size = strlen(text), line = size;
		if (width && tfp_text_width(text, size) > room) {
			line = tfp_text_prefix(text, size, room);
			size_t blank = line;
			while (blank > 0 && text[blank] != ' ')
				blank--;
			/* A word that is longer than the line is cut. */
			line = blank ? blank : line ? line : size;
		}
		if (!first)
			pad(out, indent);
		tfp_buf_add(out, text, line);
		tfp_buf_putc(out, '\n');
		text += line;
		text += strspn(text, " ");
	}
}

static void write_facts(const struct tfp_report *r, size_t *i, size_t width, struct tfp_buf *out)
{
	size_t labels = 0, end = *i;
	for (; end < r->count && r->items[end].kind == FACT; end++) {
		size_t own = tfp_text_width(r->items[end].label, strlen(r->items[end].label));
		labels = own > labels ? own : labels;
	}
	for (; *i < end; ++*i) {
		const struct tfp_report_item *fact = &r->items[*i];
		tfp_buf_puts(out, fact->label);
		pad(out, labels + GAP - tfp_text_width(fact->label, strlen(fact->label)));
		if (fact->text[0])
			write_wrapped(out, fact->text, labels + GAP, width);
		else
			tfp_buf_putc(out, '\n');
	}
	--*i;
}

void tfp_report_write(const struct tfp_report *r, size_t width, size_t max_rows,
		      struct tfp_buf *out)
{
	out->failed |= r->failed;
	for (size_t i = 0; i < r->count; i++) {
		const struct tfp_report_item *item = &r->items[i];
		bool after_heading = i > 0 && r->items[i - 1].kind == HEADING;
		bool same = i > 0 && r->items[i - 1].kind == item->kind && item->kind != TABLE;
		if (i > 0 && !after_heading && !same)
			tfp_buf_putc(out, '\n');
		switch (item->kind) {
		case HEADING:
		case SENTENCE:
			write_wrapped(out, item->text, 0, width);
			break;
		case FACT:
			write_facts(r, &i, width, out);
			break;
		case TABLE:
			write_table(item, width, max_rows, out);
			break;
		}
	}
}
