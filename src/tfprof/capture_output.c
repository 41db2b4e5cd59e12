/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/capture_output.h"

#include "base/alloc.h"
#include "store/pack.h"
#include "tfprof/capture_shapes.h"
#include "tfprof/explain.h"
#include "tfprof/format.h"
#include "wire/pb_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a row has of its own as a whole number, times in nanoseconds; 0 also where it is unknown. */
static int64_t own_part(const struct tfp_capture_view *view, const struct tfp_tree_node *n,
			enum tfp_amount amount)
{
	int64_t value;
	if (!n->taken || !tfp_capture_own(n, amount, &value) || value <= 0)
		return 0;
	double shown = tfp_capture_amount(view, amount, value);
	if (amount <= TFP_CPU_TIME)
		shown *= 1000;
	return shown >= 0x1p62 ? INT64_MAX : (int64_t)llround(shown);
}

/* ---- folded stacks ---- */

static void put_frame(struct tfp_buf *out, struct tfp_str label)
{
	char *text = tfp_buf_reserve(out, label.size);
	if (!text)
		return;
	for (size_t i = 0; i < label.size; i++) {
		char c = label.data[i];
		text[i] = c == ';' ? ',' : (unsigned char)c < 0x20 ? ' ' : c;
	}
	out->size += label.size;
}

void tfp_capture_folded(const struct tfp_capture_view *view,
			const struct tfp_capture_request *request,
			const struct tfp_capture_rows *rows, struct tfp_buf *out)
{
	uint32_t *way = tfp_reallocarray(NULL, rows->count + 1, sizeof(*way));
	out->failed |= !way;
	for (size_t i = 1; way && i < rows->count; i++) {
		int64_t value = own_part(view, rows->nodes[i], request->quantity->amount);
		size_t depth = 0;
		if (value <= 0)
			continue;
		for (uint32_t at = (uint32_t)i; at != 0; at = rows->parents[at])
			way[depth++] = at;
		while (depth) {
			put_frame(out, rows->nodes[way[--depth]]->label);
			tfp_buf_putc(out, depth ? ';' : ' ');
		}
		tfp_buf_printf(out, "%" PRId64 "\n", value);
	}
	tfp_free(way);
}

/* ---- boxes ---- */

void tfp_capture_timeline(const struct tfp_capture_view *view,
			  const struct tfp_capture_request *request,
			  const struct tfp_capture_rows *rows, struct tfp_buf *out)
{
	enum tfp_amount amount = request->quantity->amount;
	/* Where the next child of a row begins. */
	double *next = tfp_calloc(rows->count + 1, sizeof(*next));
	struct tfp_json j;
	tfp_json_init(&j, out);
	tfp_json_begin_object(&j);
	tfp_json_begin_array_of(&j, "traceEvents");
	for (size_t i = 0; next && i < rows->count; i++) {
		const struct tfp_tree_node *n = rows->nodes[i];
		uint32_t parent = rows->parents[i];
		double begin = i ? next[parent] : 0,
		       size = tfp_capture_amount(view, amount, n->total[amount]);
		if (!(n->known_total & TFP_AMOUNT_BIT(amount)))
			continue;
		next[i] = begin;
		if (i)
			next[parent] += size;
		tfp_json_begin_object(&j);
		tfp_json_set_text(&j, "name", n->label.data, n->label.size);
		tfp_json_set_string(&j, "ph", "X");
		tfp_json_set_number(&j, "ts", begin);
		tfp_json_set_number(&j, "dur", size);
		tfp_json_set_count(&j, "pid", 0);
		tfp_json_set_count(&j, "tid", 0);
		tfp_json_end_object(&j);
	}
	tfp_json_end_array(&j);
	tfp_json_end_object(&j);
	out->failed |= !next;
	tfp_free(next);
}

/* ---- pprof ---- */

/* Fields of perftools.profiles.Profile and its parts. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	LOCATION_ID = 1,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
};

struct pprof {
	const struct tfp_capture_view *view;
	const struct tfp_capture_request *request;
	const struct tfp_capture_rows *rows;
	struct tfp_buf out;
	struct tfp_str_map strings;
	struct tfp_str *list; /* owned; by number */
	size_t count, room;
	bool failed;
};

static uint64_t string_of(struct pprof *p, struct tfp_str s)
{
	uint32_t at = tfp_str_map_add(&p->strings, s.data, s.size, (uint32_t)p->count);
	if (at == p->count && TFP_GROW(p->list, p->count, p->room))
		p->list[p->count++] = s;
	else if (at >= p->count)
		p->failed = true;
	return p->failed ? 0 : at;
}

static uint64_t word_of(struct pprof *p, const char *word)
{
	return string_of(p, (struct tfp_str){word, strlen(word)});
}

static void put_type(struct pprof *p, const char *type, const char *unit)
{
	size_t mark = tfp_pb_begin(&p->out, PROFILE_SAMPLE_TYPE);
	tfp_pb_put_uint(&p->out, TYPE_TYPE, word_of(p, type));
	tfp_pb_put_uint(&p->out, TYPE_UNIT, word_of(p, unit));
	tfp_pb_end(&p->out, mark);
}

static void put_sample(struct pprof *p, uint32_t row)
{
	const struct tfp_tree_node *n = p->rows->nodes[row];
	int64_t value = own_part(p->view, n, p->request->quantity->amount);
	int64_t runs = own_part(p->view, n, TFP_RUNS);
	if (value <= 0)
		return;
	size_t mark = tfp_pb_begin(&p->out, PROFILE_SAMPLE);
	for (uint32_t at = row; at != 0; at = p->rows->parents[at])
		tfp_pb_put_uint(&p->out, SAMPLE_LOCATION, at);
	tfp_pb_put_int(&p->out, SAMPLE_VALUE, runs);
	tfp_pb_put_int(&p->out, SAMPLE_VALUE, value);
	tfp_pb_end(&p->out, mark);
}

/* "file:line" of the code view. */
static bool read_frame(const struct pprof *p, struct tfp_str label, struct tfp_str *file,
		       int64_t *line)
{
	const char *colon = label.size ? memrchr(label.data, ':', label.size) : NULL;
	char digits[16];
	size_t size = colon ? label.size - (size_t)(colon - label.data) - 1 : 0;
	if (p->view->choice.view != TFP_VIEW_CODE || size == 0 || size >= sizeof(digits))
		return false;
	memcpy(digits, colon + 1, size);
	digits[size] = '\0';
	*file = (struct tfp_str){label.data, (size_t)(colon - label.data)};
	return tfp_view_integer(digits, 0, INT32_MAX, line);
}

/* A row is a location; rows of one label are one function, by the number of its name. */
static void put_location(struct pprof *p, uint32_t row, bool *is_written)
{
	struct tfp_str label = p->rows->nodes[row]->label, file = {"", 0};
	int64_t line = 0;
	bool frame = read_frame(p, label, &file, &line);
	uint64_t name = string_of(p, label), file_name = frame ? string_of(p, file) : 0;
	size_t mark = tfp_pb_begin(&p->out, PROFILE_LOCATION);
	tfp_pb_put_uint(&p->out, LOCATION_ID, row);
	size_t inner = tfp_pb_begin(&p->out, LOCATION_LINE);
	/* 0 stands for none, and "" has that number. */
	tfp_pb_put_uint(&p->out, LINE_FUNCTION, name + 1);
	if (frame)
		tfp_pb_put_int(&p->out, LINE_LINE, line);
	tfp_pb_end(&p->out, inner);
	tfp_pb_end(&p->out, mark);
	if (p->failed || is_written[name])
		return;
	is_written[name] = true;
	mark = tfp_pb_begin(&p->out, PROFILE_FUNCTION);
	tfp_pb_put_uint(&p->out, FUNCTION_ID, name + 1);
	tfp_pb_put_uint(&p->out, FUNCTION_NAME, name);
	tfp_pb_put_uint(&p->out, FUNCTION_SYSTEM_NAME, name);
	if (frame)
		tfp_pb_put_uint(&p->out, FUNCTION_FILE, file_name);
	tfp_pb_end(&p->out, mark);
}

static enum tfp_status into_buf(void *context, const void *bytes, size_t size,
				struct tfp_error *err)
{
	tfp_buf_add(context, bytes, size);
	return tfp_buf_failed(context) ? tfp_fail(err, TFP_NO_MEMORY, "no memory for the profile")
				       : TFP_OK;
}

static enum tfp_status write_plain(void *context, const struct tfp_sink *sink,
				   struct tfp_error *err)
{
	const struct pprof *p = context;
	return sink->write(sink->context, p->out.data, p->out.size, err);
}

enum tfp_status tfp_capture_pprof(const struct tfp_capture_view *view,
				  const struct tfp_capture_request *request,
				  const struct tfp_capture_rows *rows, struct tfp_buf *out,
				  struct tfp_error *err)
{
	const struct tfp_quantity *q = request->quantity;
	bool time = q->amount <= TFP_CPU_TIME;
	struct pprof p = {.view = view, .request = request, .rows = rows};
	const struct tfp_sink sink = {into_buf, out};
	/* Labels, their files, and a few words. */
	bool *is_written = tfp_calloc(2 * rows->count + 16, sizeof(*is_written));
	tfp_buf_init(&p.out, out->ceiling);
	p.failed = !is_written;
	word_of(&p, "");
	put_type(&p, "occurrence", "count");
	/* The unit says it: microseconds are nanoseconds here. */
	put_type(&p, q->id, time ? "nanoseconds" : q->unit);
	for (uint32_t i = 1; !p.failed && i < rows->count; i++)
		put_sample(&p, i);
	for (uint32_t i = 1; !p.failed && i < rows->count; i++)
		put_location(&p, i, is_written);
	tfp_pb_put_uint(&p.out, PROFILE_COMMENT, word_of(&p, q->label));
	tfp_pb_put_uint(&p.out, PROFILE_DEFAULT_TYPE, word_of(&p, q->id));
	for (size_t i = 0; i < p.count; i++)
		tfp_pb_put_bytes(&p.out, PROFILE_STRING, p.list[i].data, p.list[i].size);
	enum tfp_status status = p.failed || tfp_buf_failed(&p.out)
					 ? tfp_fail(err, TFP_NO_MEMORY, "no memory for the profile")
					 : tfp_gzip_all(&sink, write_plain, &p, err);
	tfp_buf_release(&p.out);
	tfp_str_map_release(&p.strings);
	tfp_free(p.list);
	tfp_free(is_written);
	return status;
}

/* ---- text ---- */

struct column {
	enum tfp_amount amount;
	const char *legend, *word;
};

/* In the original's order. */
static const struct column columns[] = {
	{TFP_PARAMETERS, "# parameters", " params"},
	{TFP_FLOAT_OPS, "# float_ops", " flops"},
	{TFP_MODEL_FLOPS, "# model flops", " model flops"},
	{TFP_REQUESTED_BYTES, "requested bytes", ""},
	{TFP_PEAK_BYTES, "peak bytes", ""},
	{TFP_RESIDUAL_BYTES, "residual bytes", ""},
	{TFP_OUTPUT_BYTES, "output bytes", ""},
	{TFP_BYTES_ACCESSED, "bytes accessed", ""},
	{TFP_TOTAL_TIME, "total execution time", ""},
	{TFP_ACCELERATOR_TIME, "accelerator execution time", ""},
	{TFP_CPU_TIME, "cpu execution time", ""},
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static bool is_selected(const struct tfp_capture_request *request, enum tfp_amount amount)
{
	for (size_t q = 0; q < TFP_QUANTITIES; q++) {
		if (tfp_quantities[q].amount == amount)
			return request->selected[q];
	}
	return false;
}

static void next_part(struct tfp_buf *out, bool *any, const char *between)
{
	if (*any)
		tfp_buf_puts(out, between);
	*any = true;
}

static void put_legend(struct tfp_buf *out, const struct tfp_capture_request *request)
{
	const struct {
		bool selected;
		const char *text;
	} more[] = {{request->device, "assigned devices"},
		    {request->op_types, "op types"},
		    {is_selected(request, TFP_RUNS), "op count (run|defined)"},
		    {request->input_shapes, "input shapes"}};
	bool any = false;
	tfp_buf_puts(out, "node name | ");
	for (size_t c = 0; c < COLUMNS; c++) {
		if (!is_selected(request, columns[c].amount))
			continue;
		next_part(out, &any, " | ");
		tfp_buf_puts(out, columns[c].legend);
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		if (!more[i].selected)
			continue;
		next_part(out, &any, " | ");
		tfp_buf_puts(out, more[i].text);
	}
	tfp_buf_putc(out, '\n');
}

/* Times with their fractions, which a kernel may be shorter than. */
static void put_value(struct tfp_buf *out, const struct tfp_capture_view *view,
		      enum tfp_amount amount, int64_t value)
{
	double shown = tfp_capture_amount(view, amount, value);
	if (amount <= TFP_CPU_TIME) {
		if (shown < 1e3)
			tfp_buf_printf(out, "%.2fus", shown);
		else if (shown < 1e6)
			tfp_buf_printf(out, "%.2fms", shown / 1e3);
		else
			tfp_buf_printf(out, "%.2fsec", shown / 1e6);
	} else if (shown < 1000 && shown != floor(shown)) {
		tfp_buf_printf(out, "%.2f", shown);
	} else {
		tfp_put_amount(out, amount == TFP_BYTES_ACCESSED ? TFP_OUTPUT_BYTES : amount,
			       shown >= 0x1p62 ? INT64_MAX : llround(shown));
	}
}

static void put_part(struct tfp_buf *out, const struct tfp_capture_view *view,
		     const struct tfp_tree_node *n, enum tfp_amount amount, const char *word)
{
	int64_t own;
	if (!n->accounted && n->shown_parent)
		tfp_buf_puts(out, "--");
	else if (tfp_capture_own(n, amount, &own))
		put_value(out, view, amount, own);
	else
		tfp_buf_putc(out, '-');
	tfp_buf_putc(out, '/');
	if (n->known_total & TFP_AMOUNT_BIT(amount))
		put_value(out, view, amount, n->total[amount]);
	else
		tfp_buf_putc(out, '-');
	tfp_buf_puts(out, word);
}

static void put_once(struct tfp_buf *out, size_t from, struct tfp_str text)
{
	if (tfp_buf_failed(out) ||
	    (out->size > from && memmem(out->data + from, out->size - from, text.data, text.size)))
		return;
	if (out->size > from)
		tfp_buf_putc(out, '|');
	tfp_put_str(out, text);
}

static void put_devices(struct tfp_buf *out, const struct tfp_capture_view *view,
			const struct tfp_capture_node *node)
{
	size_t from = out->size;
	for (uint32_t u = node->first_unit; u != TFP_UNIT_NONE; u = view->next_unit[u]) {
		uint32_t use = view->work->units[u].first_device;
		for (; use; use = view->work->uses[use - 1].next)
			put_once(out, from, view->work->devices[view->work->uses[use - 1].device]);
	}
}

static void put_shapes(struct tfp_buf *out, const struct tfp_capture_view *view,
		       const struct tfp_capture_node *node)
{
	for (uint32_t u = node->first_unit; u != TFP_UNIT_NONE; u = view->next_unit[u]) {
		struct tfp_shapes shapes;
		if (!tfp_shapes_read(view->work->units[u].expression, &shapes))
			continue;
		for (size_t i = 0; i < shapes.count; i++) {
			tfp_buf_printf(out, "%s%zu:", i ? "|" : "", i);
			tfp_put_str(out, shapes.inputs[i]);
		}
		return;
	}
	tfp_buf_putc(out, '-');
}

static void put_row(struct tfp_buf *out, const struct tfp_capture_view *view,
		    const struct tfp_capture_request *request, const struct tfp_tree_node *n,
		    size_t level)
{
	const struct tfp_capture_node *node = &view->nodes[n->place];
	bool any = false;
	for (size_t i = 0; i < level; i++)
		tfp_buf_puts(out, "  ");
	tfp_put_str(out, n->name);
	tfp_buf_puts(out, " (");
	for (size_t c = 0; c < COLUMNS; c++) {
		if (!is_selected(request, columns[c].amount))
			continue;
		next_part(out, &any, ", ");
		put_part(out, view, n, columns[c].amount, columns[c].word);
	}
	if (request->device && n->taken) {
		next_part(out, &any, ", ");
		put_devices(out, view, node);
	}
	if (request->op_types) {
		next_part(out, &any, ", ");
		for (size_t i = 0; n->taken && i < n->taken->type_count; i++) {
			tfp_buf_puts(out, i ? "|" : "");
			tfp_put_str(out, n->taken->types[i]);
		}
	}
	if (is_selected(request, TFP_RUNS)) {
		next_part(out, &any, ", ");
		put_part(out, view, n, TFP_RUNS, "|");
		put_part(out, view, n, TFP_DEFINED, "");
	}
	if (request->input_shapes && n->taken) {
		next_part(out, &any, ", ");
		put_shapes(out, view, node);
	}
	tfp_buf_puts(out, ")\n");
}

void tfp_capture_text(const struct tfp_capture_view *view,
		      const struct tfp_capture_request *request,
		      const struct tfp_capture_rows *rows, struct tfp_buf *out)
{
	uint32_t *levels = tfp_calloc(rows->count + 1, sizeof(*levels));
	out->failed |= !levels;
	tfp_put_explanation(out, view->choice.view, &request->options, false);
	put_legend(out, request);
	for (size_t i = 0; levels && i < rows->count && !tfp_buf_failed(out); i++) {
		levels[i] = i ? levels[rows->parents[i]] + 1 : 0;
		put_row(out, view, request, rows->nodes[i], levels[i]);
		if (rows->cut[i])
			tfp_buf_printf(out, "%*s... and %" PRIu32 " more\n",
				       (int)(2 * levels[i] + 2), "", rows->cut[i]);
	}
	tfp_free(levels);
}
