/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/memory_views.h"

#include "analysis/steps/capture_steps.h"
#include "base/alloc.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/str_map.h"
#include "base/utf8.h"
#include "tools/step_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define COUNT(array)      (sizeof(array) / sizeof((array)[0]))
#define DEFAULT_POINTS    4000
#define DEFAULT_ROWS      10000
#define NEARLY_FULL_SHARE 0.95

static int64_t clamp_time(__int128 ps)
{
	return ps < INT64_MIN ? INT64_MIN : ps > INT64_MAX ? INT64_MAX : (int64_t)ps;
}

static int64_t from_zero(struct tfp_memory_clock clock, int64_t time_ps)
{
	return clamp_time(clock.shift_ps + time_ps);
}

static void add_time(struct tfp_table *t, struct tfp_memory_clock clock, int64_t time_ps)
{
	tfp_table_add_number(t, (double)from_zero(clock, time_ps));
}

/* A moment of the run, which may lie before its zero, as an allocator's time. */
static enum tfp_status get_time(const struct tfp_query *query, const char *key,
				struct tfp_memory_clock clock, int64_t fallback, int64_t *time_ps,
				struct tfp_error *err)
{
	const char *text = tfp_query_get(query, key);
	uint64_t size;
	*time_ps = fallback;
	if (!text)
		return TFP_OK;
	bool before = text[0] == '-';
	if (!tfp_number(text + before, UINT64_MAX, &size))
		return tfp_fail(err, TFP_BAD_QUERY,
				"parameter %s: \"%.100s\" is not a whole number", key, text);
	*time_ps = clamp_time((before ? -(__int128)size : (__int128)size) - clock.shift_ps);
	return TFP_OK;
}

static void add_str(struct tfp_table *t, struct tfp_str text)
{
	tfp_table_add_text(t, text.data, text.size);
}

static void add_text(struct tfp_table *t, const char *text)
{
	tfp_table_add_text(t, text, strlen(text));
}

static void set_text(struct tfp_table *t, const char *key, struct tfp_str text)
{
	struct tfp_buf b;
	tfp_buf_init(&b, text.size <= SIZE_MAX / 3 ? text.size * 3 : SIZE_MAX);
	tfp_utf8_repair(&b, text.data, text.size);
	if (tfp_buf_failed(&b))
		t->failed = true;
	else
		tfp_table_set_property(t, key, tfp_buf_text(&b));
	tfp_buf_release(&b);
}

static const struct tfp_column summary_columns[] = {
	{"memory_id", "Allocator", TFP_CELL_TEXT},
	{"allocations", "Allocations", TFP_CELL_NUMBER},
	{"deallocations", "Deallocations", TFP_CELL_NUMBER},
	{"capacity_bytes", "Memory capacity (bytes)", TFP_CELL_NUMBER},
	{"lifetime_peak_bytes", "Peak heap usage, lifetime (bytes)", TFP_CELL_NUMBER},
	{"peak_bytes", "Peak memory usage, in the profile (bytes)", TFP_CELL_NUMBER},
	{"peak_time_ps", "Time of the peak (ps)", TFP_CELL_NUMBER},
	{"stack_bytes", "Stack at the peak (bytes)", TFP_CELL_NUMBER},
	{"heap_bytes", "Heap at the peak (bytes)", TFP_CELL_NUMBER},
	{"free_bytes", "Free at the peak (bytes)", TFP_CELL_NUMBER},
	{"fragmentation", "Fragmentation at the peak", TFP_CELL_NUMBER},
	{"peak_step", "Step of the peak", TFP_CELL_NUMBER},
	{"first_ps", "First event (ps)", TFP_CELL_NUMBER},
	{"last_ps", "Last event (ps)", TFP_CELL_NUMBER},
	{"alive_at_end", "Never freed", TFP_CELL_NUMBER},
	{"alive_at_end_bytes", "Never freed (bytes)", TFP_CELL_NUMBER},
	{"last_step", "Step of the last event", TFP_CELL_NUMBER},
	{"failed", "Failed allocations", TFP_CELL_NUMBER},
	{"severity", "Severity", TFP_CELL_TEXT},
	{"note", "Note", TFP_CELL_TEXT},
};

static void format_bytes(int64_t bytes, char *text, size_t size)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	unsigned unit = 0;
	while (fabs(value) >= 1024 && unit + 1 < COUNT(units)) {
		value /= 1024;
		unit++;
	}
	snprintf(text, size, unit ? "%.2f %s" : "%.0f %s", value, units[unit]);
}

/* What a user should know of an allocator, as a sentence; its severity, or "". */
static const char *note_of(const struct tfp_memory *memory, const struct tfp_allocator *a,
			   const struct tfp_memory_state *peak, bool has_peak,
			   struct tfp_memory_clock clock, struct tfp_buf *note)
{
	int64_t capacity = tfp_memory_capacity_bytes(peak), used = peak->peak_bytes;
	char most[32], all[32];
	if (a->failed) {
		const struct tfp_memory_label *label = &memory->labels[a->label[a->first_failed]];
		format_bytes(a->requested_bytes[a->first_failed], most, sizeof(most));
		tfp_buf_printf(note,
			       "%" PRIu64 " %s no memory. The first, at %.1f ms, asked for %s",
			       a->failed, a->failed == 1 ? "allocation got" : "allocations got",
			       (double)from_zero(clock, a->time_ps[a->first_failed]) / 1e9, most);
		if (label->op.size) {
			tfp_buf_puts(note, " for ");
			tfp_buf_add(note, label->op.data, label->op.size);
		}
		tfp_buf_putc(note, '.');
		return "error";
	}
	if (!has_peak || !a->knows_free || capacity <= 0 ||
	    (double)used < NEARLY_FULL_SHARE * (double)capacity)
		return "";
	format_bytes(used, most, sizeof(most));
	format_bytes(capacity, all, sizeof(all));
	tfp_buf_printf(note,
		       "The peak of %s is %.1f %% of the capacity of %s: if slightly more is "
		       "needed, an allocation fails.",
		       most, 100 * (double)used / (double)capacity, all);
	return "warning";
}

static bool moment_of_end(const struct tfp_memory *memory, const struct tfp_allocator *a,
			  struct tfp_memory_moment *moment)
{
	return tfp_memory_moment_at(memory, a, a->time_ps[a->count - 1], moment);
}

static enum tfp_status add_summary(struct tfp_table *t, const struct tfp_memory *memory,
				   const struct tfp_allocator *a, struct tfp_memory_clock clock,
				   struct tfp_error *err)
{
	struct tfp_memory_moment peak, end;
	struct tfp_memory_rows rows;
	struct tfp_buf note;
	double alive = 0, alive_bytes = 0;
	bool has_peak = tfp_memory_moment_of_peak(memory, a, &peak);
	moment_of_end(memory, a, &end);
	enum tfp_status status = tfp_memory_alive(memory, a, &end, TFP_MEMORY_ALL, &rows, err);
	if (status != TFP_OK)
		return status;
	for (size_t i = 0; i < rows.count; i++) {
		if (rows.rows[i].first == TFP_MEMORY_NONE)
			continue;
		alive += (double)rows.rows[i].occurrences;
		alive_bytes +=
			(double)rows.rows[i].occurrences * (double)rows.rows[i].allocation_bytes;
	}
	tfp_memory_rows_release(&rows);
	add_str(t, a->id);
	tfp_table_add_number(t, (double)a->allocations);
	tfp_table_add_number(t, (double)a->deallocations);
	const double of_peak[] = {(double)tfp_memory_capacity_bytes(&peak.state),
				  (double)a->lifetime_peak_bytes,
				  (double)peak.state.peak_bytes,
				  (double)from_zero(clock, peak.time_ps),
				  (double)peak.state.stack_bytes,
				  (double)peak.state.heap_bytes,
				  (double)peak.state.free_bytes,
				  peak.state.fragmentation,
				  (double)peak.step};
	for (size_t i = 0; i < COUNT(of_peak); i++) {
		if (has_peak || i == 1)
			tfp_table_add_number(t, of_peak[i]);
		else
			tfp_table_add_absent(t);
	}
	add_time(t, clock, a->time_ps[0]);
	add_time(t, clock, a->time_ps[a->count - 1]);
	tfp_table_add_number(t, alive);
	tfp_table_add_number(t, alive_bytes);
	tfp_table_add_number(t, (double)a->step[a->count - 1]);
	tfp_table_add_number(t, (double)a->failed);
	tfp_buf_init(&note, SIZE_MAX / 4);
	add_text(t, note_of(memory, a, &peak.state, has_peak, clock, &note));
	tfp_table_add_text(t, tfp_buf_text(&note), note.size);
	t->failed |= tfp_buf_failed(&note);
	tfp_buf_release(&note);
	return TFP_OK;
}

/* Whether a text of the profiler speaks of memory that was not there. */
static bool is_out_of_memory(struct tfp_str text)
{
	static const char *const signs[] = {"resource_exhausted", "resource exhausted",
					    "out of memory", "out_of_memory", "oom when"};
	for (size_t s = 0; s < COUNT(signs); s++) {
		size_t n = strlen(signs[s]);
		for (size_t i = 0; i + n <= text.size; i++) {
			if (strncasecmp(text.data + i, signs[s], n) == 0)
				return true;
		}
	}
	return false;
}

static void set_run_notes(struct tfp_table *t, const struct tfp_capture *capture,
			  const struct tfp_memory *memory)
{
	const struct tfp_str *texts[] = {capture->errors, capture->warnings};
	const size_t counts[] = {capture->error_count, capture->warning_count};
	if (memory->clocks_differ)
		tfp_table_set_property(t, "clocks_differ", "true");
	for (int k = 1; k >= 0; k--) {
		for (size_t i = counts[k]; i-- > 0;) {
			if (is_out_of_memory(texts[k][i]))
				set_text(t, "out_of_memory", texts[k][i]);
		}
	}
}

enum tfp_status tfp_memory_summary_table(struct tfp_table *t, const struct tfp_capture *capture,
					 const struct tfp_memory *memory,
					 struct tfp_memory_clock clock, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	tfp_table_init(t, summary_columns, COUNT(summary_columns));
	for (size_t i = 0; status == TFP_OK && i < memory->allocator_count; i++)
		status = add_summary(t, memory, &memory->allocators[i], clock, err);
	set_run_notes(t, capture, memory);
	return status;
}

static const struct tfp_column timeline_columns[] = {
	{"time_ps", "Time (ps)", TFP_CELL_NUMBER},
	{"stack_bytes", "Stack (bytes)", TFP_CELL_NUMBER},
	{"heap_bytes", "Heap (bytes)", TFP_CELL_NUMBER},
	{"free_bytes", "Free (bytes)", TFP_CELL_NUMBER},
	{"fragmentation", "Fragmentation", TFP_CELL_NUMBER},
	{"event", "Event", TFP_CELL_TEXT},
	{"allocation_bytes", "Allocation size (bytes)", TFP_CELL_NUMBER},
	{"requested_bytes", "Requested size (bytes)", TFP_CELL_NUMBER},
	{"op_name", "Op name", TFP_CELL_TEXT},
	{"region_type", "Region type", TFP_CELL_TEXT},
	{"data_type", "Data type", TFP_CELL_TEXT},
	{"shape", "Shape", TFP_CELL_TEXT},
	{"step", "Step", TFP_CELL_NUMBER},
	{"address", "Address", TFP_CELL_TEXT},
};

static void add_event(struct tfp_table *t, const struct tfp_memory *memory,
		      const struct tfp_allocator *a, struct tfp_memory_clock clock, size_t i)
{
	const struct tfp_memory_label *label = &memory->labels[a->label[i]];
	struct tfp_memory_state state;
	char address[24];
	tfp_memory_state_at(memory, a, i, &state);
	add_time(t, clock, a->time_ps[i]);
	tfp_table_add_number(t, (double)state.stack_bytes);
	tfp_table_add_number(t, (double)state.heap_bytes);
	tfp_table_add_number(t, (double)state.free_bytes);
	tfp_table_add_number(t, state.fragmentation);
	add_text(t, a->activity[i] == TFP_MEMORY_ALLOCATION ? "allocation" : "deallocation");
	tfp_table_add_number(t, (double)a->allocation_bytes[i]);
	tfp_table_add_number(t, (double)a->requested_bytes[i]);
	add_str(t, label->op);
	add_str(t, label->region);
	add_str(t, label->data_type);
	add_str(t, label->shape);
	tfp_table_add_number(t, (double)a->step[i]);
	snprintf(address, sizeof(address), "0x%" PRIx64, (uint64_t)a->address[i]);
	add_text(t, address);
}

enum tfp_status tfp_memory_timeline_table(struct tfp_table *t, const struct tfp_memory *memory,
					  const struct tfp_allocator *a,
					  struct tfp_memory_clock clock,
					  const struct tfp_query *query, struct tfp_error *err)
{
	uint64_t points;
	int64_t from, to;
	size_t count;
	tfp_table_init(t, timeline_columns, COUNT(timeline_columns));
	enum tfp_status status = tfp_query_get_count(query, "points", DEFAULT_POINTS, &points, err);
	if (status == TFP_OK)
		status = get_time(query, "from_ps", clock, INT64_MIN, &from, err);
	if (status == TFP_OK)
		status = get_time(query, "to_ps", clock, INT64_MAX, &to, err);
	if (status != TFP_OK || !a)
		return status;
	if (points == 0 || points > a->count)
		points = a->count;
	uint32_t *chosen = tfp_memory_outline(a, from, to, points < 4 ? 4 : points, &count);
	if (!chosen)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the timeline");
	for (size_t i = 0; i < count; i++)
		add_event(t, memory, a, clock, chosen[i]);
	tfp_free(chosen);
	set_text(t, "memory_id", a->id);
	tfp_set_property(t, "events_total", "%zu", a->count);
	return TFP_OK;
}

static const struct tfp_column breakdown_columns[] = {
	{"op_name", "Op name", TFP_CELL_TEXT},
	{"total_bytes", "Total (bytes)", TFP_CELL_NUMBER},
	{"total_requested_bytes", "Requested (bytes)", TFP_CELL_NUMBER},
	{"occurrences", "Occurrences", TFP_CELL_NUMBER},
	{"allocation_bytes", "Allocation size (bytes)", TFP_CELL_NUMBER},
	{"requested_bytes", "Requested size (bytes)", TFP_CELL_NUMBER},
	{"region_type", "Region type", TFP_CELL_TEXT},
	{"data_type", "Data type", TFP_CELL_TEXT},
	{"shape", "Shape", TFP_CELL_TEXT},
	{"first_ps", "Earliest allocated at (ps)", TFP_CELL_NUMBER},
	{"step", "Step of the earliest", TFP_CELL_NUMBER},
	{"kind", "Kind", TFP_CELL_TEXT},
};

enum group { BY_ALLOCATION, BY_OP, BY_REGION, BY_SHAPE, BY_DATA_TYPE, GROUP_COUNT };

static const char *const group_names[] = {"allocation", "op", "region", "shape", "data_type"};

static struct tfp_str group_key(const struct tfp_memory_label *label, enum group by)
{
	switch (by) {
	case BY_OP:
		return label->op;
	case BY_REGION:
		return label->region;
	case BY_SHAPE:
		return label->shape;
	default:
		return label->data_type;
	}
}

/* Rows of the breakdown that become one. */
struct sum {
	const struct tfp_memory_row *row; /* the first */
	double bytes, requested, occurrences;
	uint32_t earliest; /* event, or TFP_MEMORY_NONE */
	bool special;
};

struct sums {
	struct sum *sums;
	size_t count;
	struct tfp_str_map map;
};

static void sum_row(struct sum *s, const struct tfp_memory_row *row)
{
	s->bytes += (double)row->allocation_bytes * (double)row->occurrences;
	s->requested += (double)row->requested_bytes * (double)row->occurrences;
	s->occurrences += (double)row->occurrences;
	if (row->first < s->earliest)
		s->earliest = row->first;
}

/* A row that stands for no allocation is always a group of its own. */
static bool group_rows(const struct tfp_memory *memory, const struct tfp_memory_rows *rows,
		       enum group by, struct sums *out)
{
	*out = (struct sums){0};
	out->sums = tfp_calloc(rows->count, sizeof(*out->sums));
	for (size_t i = 0; out->sums && i < rows->count; i++) {
		const struct tfp_memory_row *row = &rows->rows[i];
		uint32_t at = (uint32_t)out->count;
		if (by != BY_ALLOCATION && row->first != TFP_MEMORY_NONE) {
			struct tfp_str key = group_key(&memory->labels[row->label], by);
			at = tfp_str_map_add(&out->map, key.data, key.size, at);
			if (at == TFP_STR_MAP_NONE)
				return false;
		}
		if (at == out->count)
			out->sums[out->count++] =
				(struct sum){.row = row,
					     .earliest = TFP_MEMORY_NONE,
					     .special = row->first == TFP_MEMORY_NONE};
		sum_row(&out->sums[at], row);
	}
	return out->sums != NULL;
}

static bool larger_sum(const void *context, uint32_t a, uint32_t b)
{
	const struct sum *sums = context;
	return sums[a].bytes > sums[b].bytes;
}

static void add_sum(struct tfp_table *t, const struct tfp_memory *memory,
		    const struct tfp_allocator *a, struct tfp_memory_clock clock, enum group by,
		    const struct sum *s)
{
	const struct tfp_memory_label *l = &memory->labels[s->row->label];
	const struct tfp_str none = {"", 0};
	bool one = by == BY_ALLOCATION || s->special;
	add_str(t, one || by == BY_OP ? l->op : none);
	tfp_table_add_number(t, s->bytes);
	tfp_table_add_number(t, s->requested);
	tfp_table_add_number(t, s->occurrences);
	if (one) {
		tfp_table_add_number(t, (double)s->row->allocation_bytes);
		tfp_table_add_number(t, (double)s->row->requested_bytes);
	} else {
		tfp_table_add_absent(t);
		tfp_table_add_absent(t);
	}
	add_str(t, one || by == BY_REGION ? l->region : none);
	add_str(t, one || by == BY_DATA_TYPE ? l->data_type : none);
	add_str(t, one || by == BY_SHAPE ? l->shape : none);
	if (s->earliest == TFP_MEMORY_NONE) {
		tfp_table_add_absent(t);
		tfp_table_add_absent(t);
	} else {
		add_time(t, clock, a->time_ps[s->earliest]);
		tfp_table_add_number(t, (double)a->step[s->earliest]);
	}
	add_text(t, !s->special                                ? "allocation"
		    : tfp_memory_row_is_unused(memory, s->row) ? "unused"
							       : "stack");
}

static bool add_sums(struct tfp_table *t, const struct tfp_memory *memory,
		     const struct tfp_allocator *a, struct tfp_memory_clock clock, enum group by,
		     uint64_t limit, const struct sums *sums)
{
	uint32_t *order = tfp_sort_indexes(sums->count, larger_sum, sums->sums);
	for (size_t i = 0; order && i < sums->count && (limit == 0 || i < limit); i++)
		add_sum(t, memory, a, clock, by, &sums->sums[order[i]]);
	tfp_free(order);
	return order != NULL;
}

/* The moment that the query asks for: the peak's, or at_ps=, or the end. *found is false
 * when nothing had happened by then. */
static enum tfp_status moment_of(const struct tfp_memory *memory, const struct tfp_allocator *a,
				 struct tfp_memory_clock clock, const struct tfp_query *query,
				 bool at_end, struct tfp_memory_moment *moment, bool *found,
				 struct tfp_error *err)
{
	int64_t at;
	enum tfp_status status = get_time(query, "at_ps", clock, 0, &at, err);
	if (status != TFP_OK)
		return status;
	if (at_end)
		*found = moment_of_end(memory, a, moment);
	else if (tfp_query_get(query, "at_ps"))
		*found = tfp_memory_moment_at(memory, a, at, moment);
	else
		*found = tfp_memory_moment_of_peak(memory, a, moment);
	return TFP_OK;
}

static void set_moment(struct tfp_table *t, struct tfp_memory_clock clock,
		       const struct tfp_memory_moment *m)
{
	tfp_set_property(t, "time_ps", "%" PRId64, from_zero(clock, m->time_ps));
	tfp_set_property(t, "step", "%" PRId64, m->step);
	tfp_set_property(t, "stack_bytes", "%" PRId64, m->state.stack_bytes);
	tfp_set_property(t, "heap_bytes", "%" PRId64, m->state.heap_bytes);
	tfp_set_property(t, "free_bytes", "%" PRId64, m->state.free_bytes);
	tfp_set_property(t, "fragmentation", "%.17g", m->state.fragmentation);
}

enum tfp_status tfp_memory_breakdown_table(struct tfp_table *t, const struct tfp_memory *memory,
					   const struct tfp_allocator *a,
					   struct tfp_memory_clock clock,
					   const struct tfp_query *query, struct tfp_error *err)
{
	static const char *const scopes[] = {"step", "all"}, *const ends[] = {"", "end"};
	struct tfp_memory_moment moment;
	struct tfp_memory_rows rows;
	struct sums sums;
	size_t by, scope, alive;
	uint64_t limit;
	bool found;
	tfp_table_init(t, breakdown_columns, COUNT(breakdown_columns));
	enum tfp_status status = tfp_query_get_count(query, "limit", DEFAULT_ROWS, &limit, err);
	if (status == TFP_OK)
		status = tfp_query_get_word(query, "group", group_names, GROUP_COUNT, &by, err);
	if (status == TFP_OK)
		status = tfp_query_get_word(query, "scope", scopes, COUNT(scopes), &scope, err);
	if (status == TFP_OK)
		status = tfp_query_get_word(query, "alive", ends, COUNT(ends), &alive, err);
	if (status != TFP_OK || !a)
		return status;
	status = moment_of(memory, a, clock, query, alive, &moment, &found, err);
	if (status != TFP_OK || !found)
		return status;
	status = tfp_memory_alive(memory, a, &moment,
				  scope || alive ? TFP_MEMORY_ALL : TFP_MEMORY_STEP, &rows, err);
	if (status != TFP_OK)
		return status;
	bool ok = group_rows(memory, &rows, (enum group)by, &sums) &&
		  add_sums(t, memory, a, clock, (enum group)by, limit, &sums);
	set_text(t, "memory_id", a->id);
	set_moment(t, clock, &moment);
	tfp_set_property(t, "rows_total", "%zu", sums.count);
	tfp_str_map_release(&sums.map);
	tfp_free(sums.sums);
	tfp_memory_rows_release(&rows);
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for the breakdown");
}

static const struct tfp_column step_columns[] = {
	{"step", "Step", TFP_CELL_NUMBER},
	{"name", "Name", TFP_CELL_TEXT},
	{"begin_ps", "Begin (ps)", TFP_CELL_NUMBER},
	{"end_ps", "End (ps)", TFP_CELL_NUMBER},
};

enum tfp_status tfp_memory_steps_table(struct tfp_table *t, struct tfp_capture *capture,
				       __int128 host_shift_ps, struct tfp_pool *pool,
				       struct tfp_error *err)
{
	const struct tfp_steps *steps;
	tfp_table_init(t, step_columns, COUNT(step_columns));
	enum tfp_status status = tfp_steps_get(capture, pool, &steps, err);
	for (size_t s = 0; status == TFP_OK && s < steps->count; s++) {
		const struct tfp_step *step = &steps->steps[s];
		double begin = 0, end = 0;
		for (size_t c = 0; c < step->core_count; c++) {
			const struct tfp_core_step *core = tfp_step_core(steps, s, c);
			/* Doubles cannot overflow; a picosecond in hours does not matter here. */
			double from = (double)(core->begin_ps + host_shift_ps);
			double to = from + (double)core->duration_ps;
			begin = c == 0 || from < begin ? from : begin;
			end = c == 0 || to > end ? to : end;
		}
		tfp_table_add_number(t, step->number);
		add_str(t, step->name);
		tfp_table_add_number(t, begin);
		tfp_table_add_number(t, end);
	}
	return status;
}
