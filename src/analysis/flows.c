#include "analysis/flows.h"

#include "analysis/schema.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/sort.h"

#include <stdatomic.h>
#include <string.h>

/* context_types.h */
enum {
	CONTEXT_LEGACY = 1,
	CONTEXT_GPU_LAUNCH = 9,
	CONTEXT_TPU_STREAM = 11,
	CONTEXT_TPU_LAUNCH = 12,
	CONTEXT_COUNT = 18
};

/* Ids that we make are kept to 52 bits: JSON's readers have doubles. */
#define ID_BITS 52

/* Of the run ids of host events only these bits are the device's. */
#define RUN_ID_MASK ((1 << 27) - 1)

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

/* Events whose names stand for an end of a flow (preprocess.md B3). */
enum type {
	OTHER,
	EXECUTOR_PROCESS,
	TPU_EXECUTE_OP,
	ENQUEUE_REQUEST,
	RUN_REQUEST,
	ENQUEUE_PROGRAM,
	COMPLETE_CALLBACKS,
};

struct facts {
	uint32_t present; /* bits */
	uint64_t number[WANTED];
};

struct line_task {
	const struct tfp_plane *plane;
	const struct tfp_line *line;
	const struct tfp_schema *schema;
	const uint8_t *types; /* by event metadata */
	uint32_t plane_index, line_index;
	bool is_host, is_modules; /* a line of XLA modules of a TensorCore */
	uint64_t ordinal;         /* of the TensorCore */
	struct tfp_flow_end *ends;
	size_t count, room;
};

struct work {
	struct line_task *lines;
	size_t line_count;
	atomic_bool no_memory;
};

static enum type type_of(struct tfp_str name)
{
	static const struct {
		const char *name;
		enum type type;
	} known[] = {
		{"ExecutorState::Process", EXECUTOR_PROCESS},
		{"TpuExecuteOp", TPU_EXECUTE_OP},
		{"EnqueueRequestLocked", ENQUEUE_REQUEST},
		{"RunProgramRequest", RUN_REQUEST},
		{"HostCallbackRequest", RUN_REQUEST},
		{"TransferH2DRequest", RUN_REQUEST},
		{"TransferPreprocessedH2DRequest", RUN_REQUEST},
		{"TransferD2HRequest", RUN_REQUEST},
		{"OnDeviceSendRequest", RUN_REQUEST},
		{"OnDeviceRecvRequest", RUN_REQUEST},
		{"OnDeviceSendRecvLocalRequest", RUN_REQUEST},
		{"CustomWait", RUN_REQUEST},
		{"OnDeviceSendRequestMulti", RUN_REQUEST},
		{"OnDeviceRecvRequestMulti", RUN_REQUEST},
		{"PjrtAsyncWait", RUN_REQUEST},
		{"DoEnqueueProgram", ENQUEUE_PROGRAM},
		{"CompleteCallbacks", COMPLETE_CALLBACKS},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (tfp_str_equal(name, known[i].name))
			return known[i].type;
	}
	return OTHER;
}

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
	if (t->count == t->room) {
		size_t room = t->room ? t->room * 2 : 64;
		void *ends = tfp_reallocarray(t->ends, room, sizeof(*t->ends));
		if (!ends)
			return false;
		t->ends = ends;
		t->room = room;
	}
	t->ends[t->count++] = (struct tfp_flow_end){
		.id = id,
		.plane = t->plane_index,
		.line = t->line_index,
		.event = (uint32_t)event,
		.category = (uint8_t)(category < CONTEXT_COUNT ? category : 0),
		.direction = (uint8_t)direction,
	};
	return true;
}

static bool add_context(struct line_task *t, size_t event, uint64_t type, uint64_t id,
			enum tfp_flow_direction direction)
{
	unsigned category = type < CONTEXT_COUNT ? (unsigned)type : 0;
	return add(t, event, hash_numbers(category, &id, 1), category, direction);
}

/* A stat packs direction, id and category, lowest bits first (XFlow). */
static bool add_packed(struct line_task *t, size_t event, uint64_t value)
{
	return add(t, event, value >> 2 & ((UINT64_C(1) << 56) - 1), (unsigned)(value >> 58),
		   (enum tfp_flow_direction)(value & 3));
}

static uint64_t launch_id(const struct facts *f, uint64_t ordinal, uint64_t run_id)
{
	const uint64_t key[] = {ordinal, f->number[QUEUE_ID], run_id,
				has(f, CORE_TYPE) ? f->number[CORE_TYPE] : 0};
	return hash_numbers(CONTEXT_TPU_LAUNCH, key, 4);
}

/* Ends that names and older stats stand for; *known when the event is one of
 * them, and the file's own context ids do not count. */
static bool add_by_type(struct line_task *t, size_t i, enum type type, const struct facts *f,
			bool *known)
{
	const uint64_t step[] = {f->number[STEP_ID], f->number[ITER_NUM]};
	const uint64_t request[] = {f->number[REQUEST_ID], f->number[QUEUE_ADDR]};
	const bool launches = has(f, QUEUE_ID) && has(f, RUN_ID);
	*known = true;
	switch (type) {
	case EXECUTOR_PROCESS:
	case TPU_EXECUTE_OP:
		/* Executors of all programs have these stats; only with a TPU do they
		 * lead anywhere, and their context ids stay. */
		*known = false;
		return !has(f, STEP_ID) || !has(f, ITER_NUM) ||
		       add(t, i, hash_numbers(CONTEXT_LEGACY, step, 2), CONTEXT_LEGACY,
			   type == EXECUTOR_PROCESS ? TFP_FLOW_OUT : TFP_FLOW_IN);
	case ENQUEUE_REQUEST:
	case RUN_REQUEST:
		if (!has(f, REQUEST_ID) || !has(f, QUEUE_ADDR))
			break;
		return add(t, i, hash_numbers(CONTEXT_TPU_STREAM, request, 2), CONTEXT_TPU_STREAM,
			   type == ENQUEUE_REQUEST ? TFP_FLOW_OUT : TFP_FLOW_IN);
	case ENQUEUE_PROGRAM:
	case COMPLETE_CALLBACKS:
		if (!launches || !has(f, DEVICE_ORDINAL))
			break;
		return add(t, i,
			   launch_id(f, f->number[DEVICE_ORDINAL], f->number[RUN_ID] & RUN_ID_MASK),
			   CONTEXT_TPU_LAUNCH,
			   type == ENQUEUE_PROGRAM ? TFP_FLOW_OUT : TFP_FLOW_IN);
	case OTHER:
		if (!t->is_modules || !launches)
			break;
		return add(t, i, launch_id(f, t->ordinal, f->number[RUN_ID]), CONTEXT_TPU_LAUNCH,
			   TFP_FLOW_IN);
	}
	*known = false;
	return true;
}

static bool read_event(struct line_task *t, size_t i)
{
	struct tfp_stat_iter it = tfp_event_stats(t->line, i);
	struct tfp_stat stat;
	struct facts f = {0};
	bool ok = true, packed = false, known;
	while (tfp_stat_next(&it, &stat)) {
		int which = tfp_schema_of(t->schema, &stat);
		int64_t number;
		if (which < 0 || !tfp_stat_int(&stat, &number))
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
	ok = add_by_type(t, i, (enum type)t->types[tfp_event_meta_index(t->line, i)], &f, &known);
	if (ok && has(&f, CORRELATION_ID))
		ok = add(t, i, hash_numbers(CONTEXT_GPU_LAUNCH, &f.number[CORRELATION_ID], 1),
			 CONTEXT_GPU_LAUNCH, t->is_host ? TFP_FLOW_OUT : TFP_FLOW_IN);
	if (ok && !known && has(&f, PRODUCER_TYPE) && has(&f, PRODUCER_ID))
		ok = add_context(t, i, f.number[PRODUCER_TYPE], f.number[PRODUCER_ID],
				 TFP_FLOW_OUT);
	if (ok && !known && has(&f, CONSUMER_TYPE) && has(&f, CONSUMER_ID))
		ok = add_context(t, i, f.number[CONSUMER_TYPE], f.number[CONSUMER_ID], TFP_FLOW_IN);
	return ok;
}

static void read_line(void *context, size_t index)
{
	struct work *work = context;
	struct line_task *t = &work->lines[index];
	for (size_t i = 0; i < t->line->event_count; i++) {
		if (!read_event(t, i)) {
			atomic_store(&work->no_memory, true);
			return;
		}
	}
}

/* ---- putting them together ---- */

struct sorting {
	const struct tfp_capture *capture;
	const struct tfp_flow_end *ends;
};

static unsigned direction_rank(uint8_t direction)
{
	static const uint8_t rank[] = {
		[TFP_FLOW_OUT] = 0, [TFP_FLOW_BOTH] = 1, [TFP_FLOW_IN] = 2, [TFP_FLOW_NONE] = 3};
	return rank[direction & 3];
}

static bool end_before(const void *context, uint32_t a, uint32_t b)
{
	const struct sorting *s = context;
	const struct tfp_flow_end *x = &s->ends[a], *y = &s->ends[b];
	if (x->id != y->id)
		return x->id < y->id;
	unsigned p = direction_rank(x->direction), q = direction_rank(y->direction);
	if (p != q)
		return p < q;
	const struct tfp_plane *planes = s->capture->planes;
	return tfp_event_start_ps(&planes[x->plane].lines[x->line], x->event) <
	       tfp_event_start_ps(&planes[y->plane].lines[y->line], y->event);
}

/* Leaves out flows that lead nowhere: whose ends are one, or all go the same way. */
static bool drop_lonely(struct tfp_flows *flows)
{
	uint32_t *place = tfp_reallocarray(NULL, flows->count, sizeof(*place));
	size_t kept = 0, n = 0;
	if (!place)
		return false;
	for (size_t i = 0; i < flows->count;) {
		size_t end = i;
		bool in = false, out = false;
		uint64_t id = flows->ends[flows->by_id[i]].id;
		for (; end < flows->count && flows->ends[flows->by_id[end]].id == id; end++) {
			uint8_t direction = flows->ends[flows->by_id[end]].direction;
			in |= direction == TFP_FLOW_IN || direction == TFP_FLOW_BOTH;
			out |= direction == TFP_FLOW_OUT || direction == TFP_FLOW_BOTH;
		}
		bool leads = in && out && end - i > 1;
		for (; i < end; i++)
			place[flows->by_id[i]] = leads ? 0 : UINT32_MAX;
	}
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
	tfp_free(place);
	flows->count = kept;
	return true;
}

static bool join(const struct tfp_capture *capture, struct work *work, struct tfp_flows *flows)
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
	struct sorting sorting = {capture, flows->ends};
	flows->count = count;
	flows->by_id = tfp_sort_indexes(count, end_before, &sorting);
	return flows->by_id && drop_lonely(flows);
}

static uint64_t ordinal_of(struct tfp_str name)
{
	uint64_t ordinal = 0;
	for (size_t i = strlen("/device:TPU:"); i < name.size; i++)
		ordinal = ordinal * 10 + (uint64_t)(name.data[i] - '0');
	return ordinal;
}

static enum tfp_status prepare(const struct tfp_capture *capture, struct work *work,
			       struct tfp_schema *schemas, uint8_t **types, struct tfp_error *err)
{
	for (size_t p = 0; p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		enum tfp_plane_kind kind = tfp_plane_kind(plane->name);
		enum tfp_status status =
			tfp_schema_init(&schemas[p], plane, stat_names, WANTED, err);
		if (status != TFP_OK)
			return status;
		types[p] = tfp_calloc(plane->event_meta_count, 1);
		if (!types[p])
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for flows");
		for (size_t m = 0; m < plane->event_meta_count; m++)
			types[p][m] = (uint8_t)type_of(plane->event_metas[m].name);
		for (size_t l = 0; l < plane->line_count; l++) {
			const struct tfp_line *line = &plane->lines[l];
			if (tfp_line_is_derived(line))
				continue;
			work->lines[work->line_count++] = (struct line_task){
				.plane = plane,
				.line = line,
				.schema = &schemas[p],
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

static void free_flows(void *fact)
{
	struct tfp_flows *flows = fact;
	tfp_free(flows->ends);
	tfp_free(flows->by_id);
	tfp_free(flows);
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	struct tfp_flows *flows = tfp_calloc(1, sizeof(*flows));
	struct tfp_schema *schemas = tfp_calloc(capture->plane_count, sizeof(*schemas));
	uint8_t **types = tfp_calloc(capture->plane_count, sizeof(*types));
	struct work work = {.lines = tfp_calloc(capture->line_count, sizeof(*work.lines))};
	enum tfp_status status = TFP_NO_MEMORY;
	if (flows && schemas && types && work.lines)
		status = prepare(capture, &work, schemas, types, err);
	if (status == TFP_OK) {
		tfp_pool_for(pool, work.line_count, read_line, &work);
		if (atomic_load(&work.no_memory) || !join(capture, &work, flows))
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
		if (flows)
			free_flows(flows);
		return tfp_fail(err, status, "no memory for flows");
	}
	*heap_bytes =
		sizeof(*flows) + flows->count * (sizeof(*flows->ends) + sizeof(*flows->by_id));
	*fact = flows;
	return TFP_OK;
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
	static const char *const names[CONTEXT_COUNT] = {
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
	return category < CONTEXT_COUNT ? names[category] : "";
}
