/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/flows.h"

#include "analysis/events/runtime_events.h"
#include "analysis/events/schema.h"
#include "analysis/events/stat_columns.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/progress.h"
#include "base/sort.h"

#include <stdatomic.h>
#include <string.h>

/* Ids that we make are kept to 52 bits: JSON's readers have doubles. */
#define ID_BITS 52

enum {
	FLOW,
	CORRELATION_ID,
	PRODUCER_TYPE,
	PRODUCER_ID,
	CONSUMER_TYPE,
	CONSUMER_ID,
	STEP_ID,
	ITER_NUM,
	REQUEST_ID,
	QUEUE_ADDR,
	DEVICE_ORDINAL,
	QUEUE_ID,
	RUN_ID,
	CORE_TYPE,
	WANTED
};

static const char *const stat_names[WANTED] = {
	[FLOW] = "flow",
	[CORRELATION_ID] = "correlation_id",
	[PRODUCER_TYPE] = "_pt",
	[PRODUCER_ID] = "_p",
	[CONSUMER_TYPE] = "_ct",
	[CONSUMER_ID] = "_c",
	[STEP_ID] = "id",
	[ITER_NUM] = "iter_num",
	[REQUEST_ID] = "request_id",
	[QUEUE_ADDR] = "queue_addr",
	[DEVICE_ORDINAL] = "device_ordinal",
	[QUEUE_ID] = "queue_id",
	[RUN_ID] = "run_id",
	[CORE_TYPE] = "core_type",
};

struct facts {
	uint32_t present; /* bits */
	uint64_t number[WANTED];
};

struct line_task {
	const struct tfp_plane *plane;
	const struct tfp_line *line;
	const struct tfp_schema *schema;
	const struct tfp_line_stats *stats;
	const uint8_t *types; /* enum tfp_runtime_event, by event metadata */
	uint32_t plane_index, line_index;
	bool is_host, is_modules; /* a line of XLA modules of a TensorCore */
	uint64_t ordinal;         /* of the TensorCore */
	struct tfp_flow_end *ends;
	size_t count, room;
};

/* Ids that one event has; more than a file brings along by itself. */
#define EVENT_IDS_MAX 64u

struct work {
	struct line_task *lines;
	size_t line_count;
	/* Only ends of these flows are wanted; NULL: all. */
	const uint64_t *ids;
	size_t id_count;
	atomic_bool no_memory;
};

static bool has(const struct facts *f, int stat)
{
	return f->present & 1u << stat;
}

static uint64_t hash_numbers(uint64_t seed, const uint64_t *numbers, size_t count)
{
	return tfp_hash_bytes(numbers, count * sizeof(*numbers), seed) >> (64 - ID_BITS);
}

static bool add(struct line_task *t, size_t event, uint64_t id, unsigned category,
		enum tfp_flow_direction direction)
{
	if (!TFP_GROW(t->ends, t->count, t->room))
		return false;
	t->ends[t->count++] = (struct tfp_flow_end){
		.id = id,
		.plane = t->plane_index,
		.line = t->line_index,
		.event = (uint32_t)event,
		.category = (uint8_t)(category < TFP_CONTEXT_COUNT ? category : 0),
		.direction = (uint8_t)direction,
	};
	return true;
}

static bool add_context(struct line_task *t, size_t event, uint64_t type, uint64_t id,
			enum tfp_flow_direction direction)
{
	unsigned category = type < TFP_CONTEXT_COUNT ? (unsigned)type : 0;
	return add(t, event, hash_numbers(category, &id, 1), category, direction);
}

/* A stat packs direction, id and category, lowest bits first (XFlow). */
static bool add_packed(struct line_task *t, size_t event, uint64_t value)
{
	return add(t, event, value >> 2 & ((UINT64_C(1) << 56) - 1), (unsigned)(value >> 58),
		   (enum tfp_flow_direction)(value & 3));
}

static bool add_step(struct line_task *t, size_t event, const struct facts *f,
		     enum tfp_flow_direction direction)
{
	const uint64_t key[] = {f->number[STEP_ID], f->number[ITER_NUM]};
	return add(t, event, hash_numbers(TFP_CONTEXT_LEGACY, key, 2), TFP_CONTEXT_LEGACY,
		   direction);
}

static bool add_request(struct line_task *t, size_t event, const struct facts *f,
			enum tfp_flow_direction direction)
{
	const uint64_t key[] = {f->number[REQUEST_ID], f->number[QUEUE_ADDR]};
	return add(t, event, hash_numbers(TFP_CONTEXT_TPU_STREAM, key, 2), TFP_CONTEXT_TPU_STREAM,
		   direction);
}

static bool add_launch(struct line_task *t, size_t event, const struct facts *f, uint64_t ordinal,
		       uint64_t run_id, enum tfp_flow_direction direction)
{
	const uint64_t key[] = {ordinal, f->number[QUEUE_ID], run_id,
				has(f, CORE_TYPE) ? f->number[CORE_TYPE] : 0};
	return add(t, event, hash_numbers(TFP_CONTEXT_TPU_LAUNCH, key, 4), TFP_CONTEXT_TPU_LAUNCH,
		   direction);
}

/* Adds ends that names and older stats stand for. Sets *known for such an event: then the file's
 * own context ids do not count. */
static bool add_by_type(struct line_task *t, size_t i, enum tfp_runtime_event type,
			const struct facts *f, bool *known)
{
	const bool launches = has(f, QUEUE_ID) && has(f, RUN_ID);
	*known = true;
	switch (type) {
	case TFP_EVENT_EXECUTOR_PROCESS:
	case TFP_EVENT_TPU_EXECUTE_OP:
		/* Executors of all programs have these stats, but only with a TPU do they lead
		 * anywhere. Their context ids stay. */
		*known = false;
		return !has(f, STEP_ID) || !has(f, ITER_NUM) ||
		       add_step(t, i, f,
				type == TFP_EVENT_EXECUTOR_PROCESS ? TFP_FLOW_OUT : TFP_FLOW_IN);
	case TFP_EVENT_ENQUEUE_REQUEST:
	case TFP_EVENT_DEQUEUE_REQUEST:
		if (!has(f, REQUEST_ID) || !has(f, QUEUE_ADDR))
			break;
		return add_request(t, i, f,
				   type == TFP_EVENT_ENQUEUE_REQUEST ? TFP_FLOW_OUT : TFP_FLOW_IN);
	case TFP_EVENT_ENQUEUE_PROGRAM:
	case TFP_EVENT_COMPLETE_PROGRAM:
		if (!launches || !has(f, DEVICE_ORDINAL))
			break;
		return add_launch(t, i, f, f->number[DEVICE_ORDINAL],
				  f->number[RUN_ID] & TFP_RUN_ID_MASK,
				  type == TFP_EVENT_ENQUEUE_PROGRAM ? TFP_FLOW_OUT : TFP_FLOW_IN);
	default:
		if (!t->is_modules || !launches)
			break;
		return add_launch(t, i, f, t->ordinal, f->number[RUN_ID], TFP_FLOW_IN);
	}
	*known = false;
	return true;
}

static uint64_t launch_id(uint64_t correlation)
{
	return hash_numbers(TFP_CONTEXT_GPU_LAUNCH, &correlation, 1);
}

static bool read_event(struct line_task *t, size_t i)
{
	struct tfp_stat_iter it = tfp_event_stats(t->line, i);
	struct tfp_stat stat;
	struct facts f;
	bool ok = true, packed = false, known;
	int which;
	f.present = 0;
	while ((which = tfp_schema_next(t->schema, &it, &stat)) >= 0) {
		int64_t number;
		if (!tfp_stat_int(&stat, &number))
			continue;
		f.present |= 1u << which;
		f.number[which] = (uint64_t)number;
		if (which == FLOW) {
			ok = ok && add_packed(t, i, (uint64_t)number);
			packed = true;
		}
	}
	if (packed || f.present == 0)
		return ok;
	ok = add_by_type(t, i, (enum tfp_runtime_event)t->types[tfp_event_meta_index(t->line, i)],
			 &f, &known);
	if (ok && has(&f, CORRELATION_ID))
		ok = add(t, i, launch_id(f.number[CORRELATION_ID]), TFP_CONTEXT_GPU_LAUNCH,
			 t->is_host ? TFP_FLOW_OUT : TFP_FLOW_IN);
	if (ok && !known && has(&f, PRODUCER_TYPE) && has(&f, PRODUCER_ID))
		ok = add_context(t, i, f.number[PRODUCER_TYPE], f.number[PRODUCER_ID],
				 TFP_FLOW_OUT);
	if (ok && !known && has(&f, CONSUMER_TYPE) && has(&f, CONSUMER_ID))
		ok = add_context(t, i, f.number[CONSUMER_TYPE], f.number[CONSUMER_ID], TFP_FLOW_IN);
	return ok;
}

static bool is_wanted(const struct work *work, uint64_t id)
{
	bool found = !work->ids;
	for (size_t i = 0; !found && i < work->id_count; i++)
		found = work->ids[i] == id;
	return found;
}

/* Most events with a flow have a correlation id and nothing else that matters. */
static bool read_candidate(const struct work *work, struct line_task *t, size_t i)
{
	const struct tfp_line_stats *s = t->stats;
	size_t before = t->count;
	if (!tfp_event_set_has(&s->linked, i) && !tfp_event_set_has(&s->flowing, i)) {
		uint64_t id = launch_id(tfp_correlation_of(s, i));
		return !is_wanted(work, id) || add(t, i, id, TFP_CONTEXT_GPU_LAUNCH,
						   t->is_host ? TFP_FLOW_OUT : TFP_FLOW_IN);
	}
	if (!read_event(t, i))
		return false;
	size_t kept = before;
	for (size_t e = before; e < t->count; e++) {
		if (is_wanted(work, t->ends[e].id))
			t->ends[kept++] = t->ends[e];
	}
	t->count = kept;
	return true;
}

static void read_line(void *context, size_t index)
{
	struct work *work = context;
	struct line_task *t = &work->lines[index];
	const struct tfp_line_stats *s = t->stats;
	const size_t n = t->line->event_count;
	size_t steps = 0;
	/* By 64 events: most threads have many that lead nowhere. */
	for (size_t w = 0; n && w <= (n - 1) / 64; w++) {
		uint64_t word = (s->correlated.words ? s->correlated.words[w] : 0) |
				(s->linked.words ? s->linked.words[w] : 0) |
				(s->flowing.words ? s->flowing.words[w] : 0);
		for (; word; word &= word - 1) {
			if (!tfp_goes_on(steps++))
				return;
			if (!read_candidate(work, t, w * 64 + (size_t)__builtin_ctzll(word))) {
				atomic_store(&work->no_memory, true);
				return;
			}
		}
	}
}

/* ---- putting them together ---- */

/* Ends are dealt out by the highest bits of their ids into parts of about so many, which
 * fit the processor's cache and are sorted in parallel. */
#define PART_BITS     11
#define PART_BITS_MAX 14u

struct ordering {
	const struct tfp_capture *capture;
	struct tfp_flows *flows;
	size_t *part_at; /* by part, and where the last one ends */
	uint32_t *place; /* by end: UINT32_MAX where it leads nowhere */
	atomic_bool no_memory;
};

static unsigned direction_rank(uint8_t direction)
{
	static const uint8_t rank[] = {
		[TFP_FLOW_OUT] = 0, [TFP_FLOW_BOTH] = 1, [TFP_FLOW_IN] = 2, [TFP_FLOW_NONE] = 3};
	return rank[direction & 3];
}

/* Of two ends of one flow. */
static bool end_before(const struct ordering *o, uint32_t a, uint32_t b)
{
	const struct tfp_flow_end *x = &o->flows->ends[a], *y = &o->flows->ends[b];
	unsigned p = direction_rank(x->direction), q = direction_rank(y->direction);
	if (p != q)
		return p < q;
	const struct tfp_plane *planes = o->capture->planes;
	return tfp_event_start_ps(&planes[x->plane].lines[x->line], x->event) <
	       tfp_event_start_ps(&planes[y->plane].lines[y->line], y->event);
}

struct run {
	const struct ordering *ordering;
	const struct tfp_pair *pairs;
};

static bool pair_before(const void *context, uint32_t a, uint32_t b)
{
	const struct run *r = context;
	return end_before(r->ordering, (uint32_t)r->pairs[a].value, (uint32_t)r->pairs[b].value);
}

/* The ends of one flow into order. */
static bool put_run(const struct ordering *o, const struct tfp_pair *pairs, size_t count,
		    uint32_t *out)
{
	const struct run run = {o, pairs};
	if (count == 1) {
		out[0] = (uint32_t)pairs[0].value;
		return true;
	}
	if (count == 2) {
		bool swapped = pair_before(&run, 1, 0);
		out[0] = (uint32_t)pairs[swapped].value;
		out[1] = (uint32_t)pairs[!swapped].value;
		return true;
	}
	uint32_t *order = tfp_sort_indexes(count, pair_before, &run);
	for (size_t i = 0; order && i < count; i++)
		out[i] = (uint32_t)pairs[order[i]].value;
	tfp_free(order);
	return order != NULL;
}

/* A flow with one end, or with all ends in the same direction, leads nowhere. */
static bool leads(const struct tfp_flows *flows, const struct tfp_pair *pairs, size_t count)
{
	bool in = false, out = false;
	for (size_t i = 0; count > 1 && i < count; i++) {
		uint8_t direction = flows->ends[pairs[i].value].direction;
		in |= direction == TFP_FLOW_IN || direction == TFP_FLOW_BOTH;
		out |= direction == TFP_FLOW_OUT || direction == TFP_FLOW_BOTH;
	}
	return in && out;
}

static void sort_part(void *context, size_t part)
{
	struct ordering *o = context;
	uint32_t *order = o->flows->by_id + o->part_at[part];
	size_t count = o->part_at[part + 1] - o->part_at[part];
	struct tfp_pair *pairs = tfp_reallocarray(NULL, count, sizeof(*pairs));
	for (size_t i = 0; pairs && i < count; i++)
		pairs[i] = (struct tfp_pair){o->flows->ends[order[i]].id, order[i]};
	bool ok = pairs && tfp_sort_pairs(pairs, count);
	for (size_t i = 0; ok && i < count;) {
		size_t end = i + 1;
		while (end < count && pairs[end].key == pairs[i].key)
			end++;
		ok = put_run(o, pairs + i, end - i, order + i);
		uint32_t place = leads(o->flows, pairs + i, end - i) ? 0 : UINT32_MAX;
		for (; i < end; i++)
			o->place[pairs[i].value] = place;
	}
	tfp_free(pairs);
	if (!ok)
		atomic_store(&o->no_memory, true);
}

/* Orders ends by id, and notes which lead somewhere. */
static bool order_ends(struct ordering *o, struct tfp_pool *pool)
{
	struct tfp_flows *flows = o->flows;
	unsigned bits = 0, shift = 0;
	uint64_t most = 0;
	for (size_t i = 0; i < flows->count; i++)
		most = flows->ends[i].id > most ? flows->ends[i].id : most;
	while (bits < PART_BITS_MAX && flows->count >> (bits + PART_BITS))
		bits++;
	while (most >> shift >> bits)
		shift++;
	size_t parts = (size_t)1 << bits;
	size_t *next = tfp_calloc(parts + 2, sizeof(*next));
	if (!next)
		return false;
	/* While dealing, next[p + 1] is the next place of part p; then it is where the part
	 * after it begins. */
	for (size_t i = 0; i < flows->count; i++)
		next[(flows->ends[i].id >> shift) + 2]++;
	for (size_t p = 0; p < parts; p++)
		next[p + 2] += next[p + 1];
	for (size_t i = 0; i < flows->count; i++)
		flows->by_id[next[(flows->ends[i].id >> shift) + 1]++] = (uint32_t)i;
	o->part_at = next;
	tfp_pool_for(pool, parts, sort_part, o);
	tfp_free(next);
	return !atomic_load(&o->no_memory);
}

/* Leaves out flows that lead nowhere. */
static void drop_lonely(struct tfp_flows *flows, uint32_t *place)
{
	size_t kept = 0, n = 0;
	for (size_t i = 0; i < flows->count; i++) {
		if (place[i] == UINT32_MAX)
			continue;
		place[i] = (uint32_t)kept;
		flows->ends[kept++] = flows->ends[i];
	}
	for (size_t i = 0; i < flows->count; i++) {
		if (place[flows->by_id[i]] != UINT32_MAX)
			flows->by_id[n++] = place[flows->by_id[i]];
	}
	flows->count = kept;
	/* What was left out is often half of it. */
	void *ends = tfp_reallocarray(flows->ends, kept, sizeof(*flows->ends));
	void *by_id = tfp_reallocarray(flows->by_id, kept, sizeof(*flows->by_id));
	flows->ends = ends ? ends : flows->ends;
	flows->by_id = by_id ? by_id : flows->by_id;
}

static bool join(const struct tfp_capture *capture, struct tfp_pool *pool, struct work *work,
		 struct tfp_flows *flows)
{
	size_t count = 0, n = 0;
	for (size_t i = 0; i < work->line_count; i++)
		count += work->lines[i].count;
	if (count >= UINT32_MAX)
		return false;
	flows->ends = tfp_reallocarray(NULL, count, sizeof(*flows->ends));
	if (!flows->ends)
		return false;
	for (size_t i = 0; i < work->line_count; i++) {
		struct line_task *t = &work->lines[i];
		if (t->count)
			memcpy(&flows->ends[n], t->ends, t->count * sizeof(*t->ends));
		n += t->count;
		tfp_free(t->ends);
		t->ends = NULL;
	}
	struct ordering o = {.capture = capture, .flows = flows};
	flows->count = count;
	flows->by_id = tfp_reallocarray(NULL, count, sizeof(*flows->by_id));
	o.place = tfp_reallocarray(NULL, count, sizeof(*o.place));
	bool ok = flows->by_id && o.place && order_ends(&o, pool);
	if (ok)
		drop_lonely(flows, o.place);
	tfp_free(o.place);
	return ok;
}

static uint64_t ordinal_of(struct tfp_str name)
{
	uint64_t ordinal = 0;
	for (size_t i = strlen("/device:TPU:"); i < name.size; i++)
		ordinal = ordinal * 10 + (uint64_t)(name.data[i] - '0');
	return ordinal;
}

static enum tfp_status prepare(const struct tfp_capture *capture,
			       const struct tfp_stat_columns *const stats[2], struct work *work,
			       struct tfp_schema *schemas, uint8_t **types, struct tfp_error *err)
{
	for (size_t p = 0; p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		enum tfp_plane_kind kind = tfp_plane_kind(plane->name);
		enum tfp_status status =
			tfp_schema_init(&schemas[p], plane, stat_names, WANTED, err);
		if (status != TFP_OK)
			return status;
		types[p] = tfp_runtime_events_of(plane);
		if (!types[p])
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for flows");
		if (!tfp_schema_has_any(&schemas[p]))
			continue;
		for (size_t l = 0; l < plane->line_count; l++) {
			const struct tfp_line *line = &plane->lines[l];
			if (tfp_line_is_derived(line))
				continue;
			work->lines[work->line_count++] = (struct line_task){
				.plane = plane,
				.line = line,
				.schema = &schemas[p],
				.stats = &tfp_stats_of_plane(stats, p)[l],
				.types = types[p],
				.plane_index = (uint32_t)p,
				.line_index = (uint32_t)l,
				.is_host = tfp_str_starts(plane->name, "/host:"),
				.is_modules = kind == TFP_PLANE_TPU &&
					      tfp_str_equal(line->name, "XLA Modules"),
				.ordinal = kind == TFP_PLANE_TPU ? ordinal_of(plane->name) : 0,
			};
		}
	}
	return TFP_OK;
}

void tfp_flows_free(struct tfp_flows *flows)
{
	if (!flows)
		return;
	tfp_free(flows->ends);
	tfp_free(flows->by_id);
	tfp_free(flows);
}

static void free_flows(void *fact)
{
	tfp_flows_free(fact);
}

/* One event of a capture's own lines, or none. */
struct place {
	uint32_t plane, line, event;
};

/* Notes the ids of the flows that an event has a part in. */
static bool ids_of_event(struct work *work, const struct place *of, uint64_t *ids, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < work->line_count; i++) {
		struct line_task *t = &work->lines[i];
		if (t->plane_index != of->plane || t->line_index != of->line)
			continue;
		if (!read_event(t, of->event))
			return false;
		for (size_t e = 0; e < t->count && *count < EVENT_IDS_MAX; e++)
			ids[(*count)++] = t->ends[e].id;
		t->count = 0;
	}
	return true;
}

/* of: NULL for all flows of the capture. */
static enum tfp_status make(struct tfp_capture *capture, struct tfp_pool *pool,
			    const struct place *of, struct tfp_flows **out, struct tfp_error *err)
{
	const struct tfp_stat_columns *stats[2];
	uint64_t ids[EVENT_IDS_MAX];
	enum tfp_status status = tfp_stat_columns_get_all(capture, pool, stats, err);
	if (status != TFP_OK)
		return status;
	struct tfp_flows *flows = tfp_calloc(1, sizeof(*flows));
	struct tfp_schema *schemas = tfp_calloc(capture->plane_count, sizeof(*schemas));
	uint8_t **types = tfp_calloc(capture->plane_count, sizeof(*types));
	struct work work = {.lines = tfp_calloc(capture->line_count, sizeof(*work.lines))};
	status = TFP_NO_MEMORY;
	if (flows && schemas && types && work.lines)
		status = prepare(capture, stats, &work, schemas, types, err);
	if (status == TFP_OK && of) {
		if (!ids_of_event(&work, of, ids, &work.id_count))
			status = TFP_NO_MEMORY;
		work.ids = ids;
	}
	if (status == TFP_OK) {
		if (!of || work.id_count)
			tfp_pool_for(pool, work.line_count, read_line, &work);
		if (atomic_load(&work.no_memory) || !join(capture, pool, &work, flows))
			status = TFP_NO_MEMORY;
	}
	for (size_t i = 0; work.lines && i < work.line_count; i++)
		tfp_free(work.lines[i].ends);
	for (size_t p = 0; p < capture->plane_count; p++) {
		if (schemas)
			tfp_schema_release(&schemas[p]);
		if (types)
			tfp_free(types[p]);
	}
	tfp_free(schemas);
	tfp_free(types);
	tfp_free(work.lines);
	if (status != TFP_OK) {
		tfp_flows_free(flows);
		return tfp_fail(err, status, "no memory for flows");
	}
	*out = flows;
	return TFP_OK;
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	struct tfp_flows *flows;
	enum tfp_status status = make(capture, pool, NULL, &flows, err);
	if (status != TFP_OK)
		return status;
	*heap_bytes =
		sizeof(*flows) + flows->count * (sizeof(*flows->ends) + sizeof(*flows->by_id));
	*fact = flows;
	return TFP_OK;
}

enum tfp_status tfp_flows_near(struct tfp_capture *capture, struct tfp_pool *pool, uint32_t plane,
			       uint32_t line, uint32_t event, struct tfp_flows **out,
			       struct tfp_error *err)
{
	const struct place of = {plane, line, event};
	enum tfp_status status = make(capture, pool, &of, out, err);
	if (status == TFP_OK && tfp_cancelled()) {
		tfp_flows_free(*out);
		status = tfp_fail_cancelled(err);
	}
	if (status != TFP_OK)
		*out = NULL;
	return status;
}

enum tfp_status tfp_flows_get(struct tfp_capture *capture, struct tfp_pool *pool,
			      const struct tfp_flows **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_flows};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = status == TFP_OK ? fact : NULL;
	return status;
}

/* ---- asking ---- */

/* Whether an end lies before a place. */
static bool end_is_before(const struct tfp_flow_end *end, bool derived, uint32_t plane,
			  uint32_t line, uint32_t event)
{
	if (end->derived != derived)
		return end->derived < derived;
	if (end->plane != plane)
		return end->plane < plane;
	return end->line != line ? end->line < line : end->event < event;
}

const struct tfp_flow_end *tfp_flows_of_event(const struct tfp_flows *flows, bool derived,
					      uint32_t plane, uint32_t line, uint32_t event,
					      size_t *count)
{
	size_t low = 0, high = flows->count;
	*count = 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (end_is_before(&flows->ends[middle], derived, plane, line, event))
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i < flows->count; i++) {
		const struct tfp_flow_end *end = &flows->ends[i];
		if (end->derived != derived || end->plane != plane || end->line != line ||
		    end->event != event)
			break;
		++*count;
	}
	return flows->ends + low;
}

const uint32_t *tfp_flows_of_id(const struct tfp_flows *flows, uint64_t id, size_t *count)
{
	size_t low = 0, high = flows->count;
	*count = 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (flows->ends[flows->by_id[middle]].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i < flows->count && flows->ends[flows->by_id[i]].id == id; i++)
		++*count;
	return flows->by_id + low;
}

const char *tfp_flow_category_name(unsigned category)
{
	static const char *const names[TFP_CONTEXT_COUNT] = {
		"",
		"",
		"tf_exec",
		"tfrt_exec",
		"batch_sched",
		"PjRt",
		"as_batch_sched",
		"tfrt_rt",
		"tpu_embed",
		"gpu_launch",
		"batcher",
		"tpu_stream",
		"tpu_launch",
		"pathways_exec",
		"pjrt_library_call",
		"threadpool_event",
		"jax_serving",
		"sparsecore_offload",
	};
	return category < TFP_CONTEXT_COUNT ? names[category] : "";
}
