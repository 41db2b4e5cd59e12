/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of all dashboards: columns, rows of cells, properties. It is written as the gviz
 * JSON that XProf's clients read, or as CSV (docs/reference/data_table.md); report/ reads it
 * cell by cell.
 *
 *     struct tfp_table t;
 *     tfp_table_init(&t, columns, column_count);
 *     tfp_table_add_number(&t, 1);      cells left to right; a full row starts the next
 *     tfp_table_add_text(&t, "MatMul", 6);
 *     tfp_table_set_property(&t, "rows_total", "1");
 *     ...
 *     tfp_table_release(&t);
 */
#ifndef TFP_TOOLS_DATA_TABLE_H
#define TFP_TOOLS_DATA_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tfp_cell_kind { TFP_CELL_ABSENT, TFP_CELL_NUMBER, TFP_CELL_TEXT, TFP_CELL_BOOLEAN };

struct tfp_column {
	const char *id, *label;
	enum tfp_cell_kind kind; /* not ABSENT */
};

/* How numbers and truth values stand in CSV. */
enum tfp_csv_form {
	TFP_CSV_PLAIN,  /* 126, 0.5, true; quotes where they are needed */
	TFP_CSV_QUOTED, /* as XProf's: "126.0", "0.5", "True", everything in quotes */
};

struct tfp_table {
	const struct tfp_column *columns; /* the caller's */
	size_t column_count;
	struct tfp_cell *cells; /* row after row */
	size_t cell_count, cell_room;
	struct tfp_property *properties;
	size_t property_count;
	/* By column, or NULL: what a chart does with it ("tooltip", "interval"; NULL: draws
	 * it). The caller's. */
	const char *const *roles;
	bool is_nothing;        /* written as {}: the place of a table that there is none of */
	struct tfp_arena arena; /* texts */
	bool failed;            /* no memory: see tfp_table_failed */
};

/* columns must outlive the table. */
void tfp_table_init(struct tfp_table *t, const struct tfp_column *columns, size_t column_count);
/* Accepts zeroed memory. */
void tfp_table_release(struct tfp_table *t);
/* Whether an add failed for want of memory; checked once, at the end. */
bool tfp_table_failed(const struct tfp_table *t);

/* Numbers that are not finite become absent. Texts are copied, and repaired
 * to UTF-8. */
void tfp_table_add_number(struct tfp_table *t, double value);
void tfp_table_add_text(struct tfp_table *t, const char *text, size_t size);
void tfp_table_add_boolean(struct tfp_table *t, bool value);
void tfp_table_add_absent(struct tfp_table *t);
/* The last value set under a key counts. */
void tfp_table_set_property(struct tfp_table *t, const char *key, const char *value);

size_t tfp_table_row_count(const struct tfp_table *t);

/* ---- reading ---- */

#define TFP_NO_COLUMN SIZE_MAX

struct tfp_text {
	const char *data; /* UTF-8, the table's; not NUL-terminated */
	size_t size;
};

/* The column of that id, or TFP_NO_COLUMN. */
size_t tfp_table_column(const struct tfp_table *t, const char *id);
/* The cell must be there. False where it holds something else. */
bool tfp_table_number(const struct tfp_table *t, size_t row, size_t column, double *value);
bool tfp_table_text(const struct tfp_table *t, size_t row, size_t column, struct tfp_text *value);
bool tfp_table_boolean(const struct tfp_table *t, size_t row, size_t column, bool *value);
/* What was set under a key, or "". */
const char *tfp_table_property(const struct tfp_table *t, const char *key);

/* ---- writing ---- */

/* Writes the table as a value of the document. */
void tfp_table_write_json(const struct tfp_table *t, struct tfp_json *j);
/* Appends to out; a failure shows in tfp_buf_failed(out). RFC 4180 with \n line ends. A text that a
 * spreadsheet would take for a formula gets an apostrophe in front; numbers never do. */
void tfp_table_write_csv(const struct tfp_table *t, enum tfp_csv_form form, struct tfp_buf *out);

#endif
