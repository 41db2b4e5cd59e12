/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dashboard for a person at a terminal: sentences, facts and tables, in units, laid out to a
 * width. A report is made of a tool's answer, as the page is, and computes nothing that the page
 * computes otherwise.
 *
 *     struct tfp_report r;
 *     tfp_report_init(&r);
 *     tfp_report_heading(&r, "Environment");
 *     tfp_report_fact(&r, "Device", "%s", type);
 *     tfp_report_table(&r, table, columns, count, NULL);
 *     tfp_report_write(&r, 100, 40, &out);
 *     tfp_report_release(&r);
 */
#ifndef TFP_REPORT_REPORT_H
#define TFP_REPORT_REPORT_H

#include "base/arena.h"
#include "base/buf.h"
#include "tools/data_table.h"

#include <stdbool.h>
#include <stddef.h>

/* What a column holds, and so how it is shown. */
enum tfp_quantity {
	TFP_Q_TEXT,    /* words, shortened as names but later */
	TFP_Q_LABEL,   /* few letters, never shortened: a time of day, a word */
	TFP_Q_NAME,    /* a name or path: long ones lose their middle */
	TFP_Q_KEY,     /* a name that is typed elsewhere: shortened only where nothing else helps */
	TFP_Q_COUNT,   /* whole numbers */
	TFP_Q_NUMBER,  /* any number */
	TFP_Q_PERCENT, /* the number is in percent */
	TFP_Q_SHARE,   /* the number is of 1 */
	TFP_Q_PS,      /* times: all of a column are shown in one unit, which its title says */
	TFP_Q_US,
	TFP_Q_MS,
	TFP_Q_BYTES, /* each in its own unit */
	TFP_Q_BOOLEAN,
};

struct tfp_report_column {
	const char *id;    /* of the table's column */
	const char *title; /* without a unit */
	enum tfp_quantity quantity;
	/* Where not all columns fit, those with the least go first; names are shortened
	 * before any goes. */
	unsigned keep;
	bool optional;     /* left out where no row has anything else than "", 0 or nothing in it */
	bool unit_of_next; /* a time, in the unit of the column behind it */
};

struct tfp_report_item;

struct tfp_report {
	struct tfp_report_item *items;
	size_t count, room;
	struct tfp_arena arena;
	bool failed; /* no memory: tfp_report_write says so in out->failed */
};

void tfp_report_init(struct tfp_report *r);
/* Accepts zeroed memory. */
void tfp_report_release(struct tfp_report *r);

/* A line with a blank one in front. */
void tfp_report_heading(struct tfp_report *r, const char *text);
/* A paragraph; markup of links is taken out, "" is none. */
void tfp_report_say(struct tfp_report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A label and its value; facts that follow one another are aligned. */
void tfp_report_fact(struct tfp_report *r, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Table and columns must live until the report is written. Columns that the table does not have
 * are left out. all: the option that shows all rows where they are cut, such as "--limit 0";
 * NULL: rows are never cut. */
void tfp_report_table(struct tfp_report *r, const struct tfp_table *table,
		      const struct tfp_report_column *columns, size_t count, const char *all);

/* Appends the text. No line is longer than width, except where a number needs it; 0: lines are
 * as long as they come. A table shows max_rows, 0 for all. */
void tfp_report_write(const struct tfp_report *r, size_t width, size_t max_rows,
		      struct tfp_buf *out);

/* How a quantity reads, into out: "1.234 ms", "4.9 %", "126.90 MiB". */
const char *tfp_report_quantity(enum tfp_quantity quantity, double value, char *out, size_t size);

#endif
