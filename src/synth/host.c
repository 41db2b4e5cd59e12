/* SPDX-License-Identifier: Apache-2.0 */
#include "synth/host.h"

#include "base/alloc.h"
#include "synth/counters.h"
#include "synth/host_state.h"
#include "synth/rng.h"
#include "synth/vocabulary.h"

#include <stdio.h>
#include <string.h>

/* 2026-01-15 10:00:00 UTC, as in the default name of the run. */
#define PROFILE_START_NS UINT64_C(1768471200000000000)
#define BATCH            8 /* records of an element of the input pipeline */
#define FIRST_STEP_NUM   1200
#define HISTORY_STEPS    64 /* whose blocks are kept for good */
#define HISTORY_BYTES    (INT64_C(4) << 20)
#define SCRATCH_BYTES    (INT64_C(768) << 10)
#define SCRATCH_HELD     32 /* blocks at most at a time */

/* Of tsl's ContextType. */
enum { CONTEXT_GENERIC = 0, CONTEXT_TF_EXECUTOR = 2, CONTEXT_LEGACY = 1 };

/* Why a number is drawn. */
enum { FOR_FUNCTION = 0x7402, FOR_ITERATOR, FOR_CAPTURED };

/* ---- events ---- */

static struct tfp_buf *begin(struct tfp_synth_line *line, uint32_t name, int64_t start, int64_t ns,
			     size_t *mark)
{
	return tfp_synth_event_begin(line, name, start, ns, mark);
}

static void put_int(struct tfp_buf *b, enum synth_stat stat, int64_t value)
{
	tfp_synth_stat_int(b, XEVENT_STATS, stat, value);
}

static void put_uint(struct tfp_buf *b, enum synth_stat stat, uint64_t value)
{
	tfp_synth_stat_uint(b, XEVENT_STATS, stat, value);
}

static void put_ref(struct tfp_buf *b, enum synth_stat stat, uint32_t text)
{
	tfp_synth_stat_ref(b, XEVENT_STATS, stat, text);
}

/* Ends an event of the current group. */
static void end(struct tfp_synth_host *h, struct tfp_synth_line *line, size_t mark)
{
	if (h->o->grouped && h->group >= 0)
		put_int(&line->pending, ST_GROUP_ID, h->group);
	tfp_synth_event_end(line, mark);
}

/* Ends an op's event. */
static void end_op(struct tfp_synth_host *h, struct tfp_synth_line *line, size_t mark, bool eager)
{
	if (h->o->grouped && h->group >= 0) {
		put_int(&line->pending, ST_GROUP_ID, h->group);
		put_int(&line->pending, ST_IS_EAGER, eager);
	}
	tfp_synth_event_end(line, mark);
}

static void plain(struct tfp_synth_host *h, struct tfp_synth_line *line, uint32_t name,
		  int64_t start, int64_t ns)
{
	size_t mark;

	begin(line, name, start, ns, &mark);
	end(h, line, mark);
}

static void plain_op(struct tfp_synth_host *h, struct tfp_synth_line *line, uint32_t name,
		     int64_t start, int64_t ns, bool eager)
{
	size_t mark;

	begin(line, name, start, ns, &mark);
	end_op(h, line, mark, eager);
}

static void with_int(struct tfp_synth_host *h, struct tfp_synth_line *line, uint32_t name,
		     int64_t start, int64_t ns, enum synth_stat stat, int64_t value)
{
	size_t mark;
	struct tfp_buf *b = begin(line, name, start, ns, &mark);

	put_int(b, stat, value);
	end(h, line, mark);
}

/* How old and new profilers tell that a function's executor belongs to it. */
static void put_context(struct tfp_synth_host *h, struct tfp_buf *b, bool producer, int64_t id)
{
	enum synth_stat type = producer ? ST_PRODUCER_TYPE : ST_CONSUMER_TYPE;
	enum synth_stat what = producer ? ST_PRODUCER_ID : ST_CONSUMER_ID;

	put_int(b, type, h->o->grouped ? CONTEXT_LEGACY : CONTEXT_TF_EXECUTOR);
	if (h->o->grouped)
		put_uint(b, what, synth_mix((uint64_t)id));
	else
		put_int(b, what, id);
}

static void function_run(struct tfp_synth_host *h, struct tfp_synth_line *line, int64_t start,
			 int64_t ns, int64_t id)
{
	size_t mark;
	struct tfp_buf *b = begin(line, EV_FUNCTION_RUN, start, ns, &mark);

	put_int(b, ST_ID, id);
	if (!h->o->grouped)
		put_int(b, ST_ROOT, 1);
	put_context(h, b, true, id);
	end(h, line, mark);
}

static void executor_process(struct tfp_synth_host *h, struct tfp_synth_line *line, int64_t start,
			     int64_t ns, int64_t id)
{
	size_t mark;
	struct tfp_buf *b = begin(line, EV_EXECUTOR, start, ns, &mark);

	put_int(b, ST_ID, id);
	put_int(b, ST_ITER_NUM, 0);
	put_context(h, b, false, id);
	end(h, line, mark);
}

enum { IT_NONE, IT_ROOT, IT_PREFETCH, IT_MAP, IT_BATCH, IT_PARALLEL_MAP, IT_SHUFFLE, IT_RECORD };

static int64_t iterator_id(const struct tfp_synth_host *h, unsigned number)
{
	return (int64_t)synth_draw(h->key ^ FOR_ITERATOR, number);
}

static void iterator(struct tfp_synth_host *h, struct tfp_synth_line *line, uint32_t name,
		     int64_t start, int64_t ns, unsigned which, unsigned parent)
{
	size_t mark;
	struct tfp_buf *b = begin(line, name, start, ns, &mark);

	put_int(b, ST_ID, iterator_id(h, which));
	if (parent != IT_NONE)
		put_int(b, ST_PARENT_ID, iterator_id(h, parent));
	end(h, line, mark);
}

struct take {
	int64_t bytes, requested, address;
	uint32_t path, region, shape; /* path 0: unknown to the allocator */
	int data_type;
	int64_t id;
};

static void memory_event(struct tfp_synth_host *h, struct tfp_synth_line *line,
			 struct tfp_synth_allocator *a, int64_t at, const struct take *t, bool give)
{
	size_t mark;
	struct tfp_buf *b = begin(line, give ? EV_DEALLOCATION : EV_ALLOCATION, at, 0, &mark);
	int64_t micro;

	a->in_use += give ? -t->bytes : t->bytes;
	if (a->in_use > a->peak)
		a->peak = a->in_use;
	/* More in use, more holes; in millionths, as a decimal text would be,
	 * and never a whole number, which would be stored as another type. */
	micro = 11003 + (a->in_use - a->resident) / 1024 * 230000 / (a->swing / 1024 + 1);
	micro += (int64_t)(synth_mix((uint64_t)a->in_use) >> 53);
	put_ref(b, ST_ALLOCATOR, a->name);
	put_int(b, ST_BYTES_RESERVED, 0);
	put_int(b, ST_BYTES_ALLOCATED, a->in_use);
	put_int(b, ST_BYTES_AVAILABLE, a->limit - a->in_use);
	tfp_synth_stat_double(b, XEVENT_STATS, ST_FRAGMENTATION, (double)micro / 1e6);
	put_int(b, ST_PEAK_BYTES, a->peak);
	put_int(b, ST_REQUESTED_BYTES, t->requested);
	put_int(b, ST_ALLOCATION_BYTES, t->bytes);
	put_int(b, ST_ADDRESS, t->address);
	if (!give && t->path)
		put_ref(b, ST_TF_OP, t->path);
	put_int(b, ST_ID, give ? 0 : t->id);
	if (!give)
		put_ref(b, ST_REGION_TYPE, t->region);
	put_int(b, ST_DATA_TYPE, give ? 0 : t->data_type);
	if (!give)
		put_ref(b, ST_SHAPE, t->shape);
	end(h, line, mark);
}

/* A call of the driver on a host thread. text, details: 0 for none. */
static void driver_call(struct tfp_synth_host *h, struct tfp_synth_line *line, uint32_t name,
			struct tfp_synth_span call, unsigned device, uint64_t correlation,
			uint32_t text, uint32_t details)
{
	size_t mark;
	struct tfp_buf *b = begin(line, name, call.start, call.ns, &mark);

	if (!h->o->grouped)
		put_uint(b, ST_DEVICE_ID, device);
	put_uint(b, ST_CORRELATION_ID, correlation);
	tfp_synth_stat_text(b, XEVENT_STATS, ST_CONTEXT_ID, h->devices[device].context);
	if (text && !h->o->grouped)
		put_ref(b, ST_TF_OP, text);
	if (details)
		put_ref(b, ST_MEMCPY_DETAILS, details);
	end(h, line, mark);
}

/* Work on a device. */
static struct tfp_buf *begin_work(struct tfp_synth_host *h, struct tfp_synth_line *line,
				  uint32_t name, struct tfp_synth_span work, unsigned device,
				  uint64_t correlation, size_t *mark)
{
	struct tfp_buf *b = begin(line, name, work.start, work.ns, mark);

	put_uint(b, ST_CORRELATION_ID, correlation);
	tfp_synth_stat_text(b, XEVENT_STATS, ST_CONTEXT_ID, h->devices[device].context);
	return b;
}

static void put_op(struct tfp_synth_host *h, struct tfp_buf *b, uint32_t text)
{
	if (h->o->grouped) {
		put_ref(b, ST_ANNOTATION, text);
		put_ref(b, ST_LEVEL_0, text);
	} else {
		put_ref(b, ST_TF_OP, text);
	}
}

static void device_copy(struct tfp_synth_host *h, struct tfp_synth_line *line, uint32_t name,
			struct tfp_synth_span work, unsigned device, uint64_t correlation,
			uint32_t details, uint32_t text)
{
	size_t mark;
	struct tfp_buf *b = begin_work(h, line, name, work, device, correlation, &mark);

	put_ref(b, ST_MEMCPY_DETAILS, details);
	put_op(h, b, text);
	end_op(h, line, mark, false);
}

static void put_kernel(struct tfp_synth_host *h, struct tfp_buf *b, double occupancy,
		       unsigned block, uint32_t details)
{
	put_ref(b, ST_KERNEL_DETAILS, details);
	if (h->o->grouped)
		return;
	tfp_synth_stat_double(b, XEVENT_STATS, ST_OCCUPANCY, occupancy);
	put_int(b, ST_OCCUPANCY_GRID, 108 * (1 + (int64_t)occupancy / 50));
	put_int(b, ST_OCCUPANCY_BLOCK, block < 512 ? 512 : 1024);
}

/* ---- a step ---- */

/* Calls of the driver in a step, all devices and the eager op included. */
static uint64_t calls_per_step(const struct tfp_synth_host *h)
{
	return (uint64_t)h->o->devices * (h->m->use_total + 2) + 1;
}

static uint64_t first_correlation(const struct tfp_synth_host *h, unsigned device)
{
	return 1000 + h->clock.step.number * calls_per_step(h) +
	       (uint64_t)device * (h->m->use_total + 2);
}

static int64_t device_address(const struct tfp_synth_host *h, unsigned device, int64_t offset)
{
	return INT64_C(0x7f1000000000) + ((int64_t)device << 36) + ((int64_t)h->index << 28) +
	       offset;
}

/* After the step's other blocks. */
static struct take input_block(const struct tfp_synth_host *h, unsigned device)
{
	const struct tfp_synth_model *m = h->m;
	const struct tfp_synth_op *last = &m->ops[m->op_count - 1];
	int64_t requested = (int64_t)m->input_bytes;

	return (struct take){.bytes = (requested + 255) / 256 * 256,
			     .requested = requested,
			     .address = device_address(h, device, last->address + last->bytes),
			     .path = h->text_recv,
			     .region = h->text_dynamic,
			     .shape = h->text_bytes,
			     .data_type = 4};
}

static struct take pinned_block(const struct tfp_synth_host *h, const struct tfp_synth_pinned *p)
{
	int64_t base = INT64_C(0x7f2c40000000) + ((int64_t)h->index << 32);
	int64_t size = (int64_t)h->m->input_bytes;
	bool loss = p->kind == LOSS_TAKE || p->kind == LOSS_GIVE;
	int64_t block = (size + 255) / 256 * 256;

	return (struct take){.bytes = loss ? 256 : block,
			     .requested = loss ? 4 : size,
			     .address =
				     base + (int64_t)p->device * (block + 256) + (loss ? block : 0),
			     .path = loss ? h->devices[p->device].fetch_path : h->text_recv,
			     .region = h->text_dynamic,
			     .shape = loss ? h->text_scalar : h->text_bytes,
			     .data_type = loss ? 1 : 4};
}

static bool gives(const struct tfp_synth_pinned *p)
{
	return p->kind == INPUT_GIVE || p->kind == LOSS_GIVE;
}

static int64_t end_of(struct tfp_synth_span span)
{
	return span.start + span.ns;
}

static void keep_pinned_books(struct tfp_synth_host *h, const struct tfp_synth_step *s)
{
	size_t count = (size_t)h->o->devices * PINNED_KINDS;
	int64_t in_use = h->pinned.resident;

	for (size_t i = 0; i < count; i++) {
		struct tfp_synth_pinned *p = &h->pinned_events[i];
		const struct tfp_synth_device_step *d;
		size_t k = i;

		p->device = (unsigned)(i / PINNED_KINDS);
		p->kind = (unsigned)(i % PINNED_KINDS);
		d = &s->devices[p->device];
		p->at = p->kind == INPUT_TAKE   ? d->input.call.start - 7000
			: p->kind == INPUT_GIVE ? end_of(d->input.work) + 9000
			: p->kind == LOSS_TAKE  ? d->loss.call.start - 2000
						: end_of(d->loss.work) + 8000;
		while (k > 0 && h->pinned_order[k - 1]->at > p->at) {
			h->pinned_order[k] = h->pinned_order[k - 1];
			k--;
		}
		h->pinned_order[k] = p;
	}
	for (size_t i = 0; i < count; i++) {
		struct tfp_synth_pinned *p = h->pinned_order[i];
		struct take t = pinned_block(h, p);

		p->before = in_use;
		in_use += gives(p) ? -t.bytes : t.bytes;
	}
}

static void pinned_event(struct tfp_synth_host *h, struct tfp_synth_line *line,
			 const struct tfp_synth_pinned *p)
{
	struct take t = pinned_block(h, p);

	h->pinned.in_use = p->before;
	memory_event(h, line, &h->pinned, p->at, &t, gives(p));
}

static void manage_events(struct tfp_synth_host *h)
{
	for (size_t i = 0; i < (size_t)h->o->devices * PINNED_KINDS; i++)
		if (gives(h->pinned_order[i]))
			pinned_event(h, h->event_manager, h->pinned_order[i]);
}

static void get_next(struct tfp_synth_host *h, const struct tfp_synth_step *s)
{
	int64_t start = s->get_next, ns = s->input_ready - start;
	size_t mark;
	struct tfp_buf *b = begin(h->get_next, EV_GET_NEXT, start, ns, &mark);

	put_int(b, ST_ID, h->function_id);
	put_int(b, ST_ITER_NUM, 0);
	end(h, h->get_next, mark);
	iterator(h, h->get_next, EV_IT_ROOT, start + 900, ns - 1900, IT_ROOT, 0);
	iterator(h, h->get_next, EV_IT_PREFETCH, start + 1900, ns - 3800, IT_PREFETCH, IT_ROOT);
	with_int(h, h->get_next, EV_PREFETCH_CONSUME, start + ns - 3000, 700, ST_ELEMENT_ID,
		 s->number);
}

static void send_inputs(struct tfp_synth_host *h, const struct tfp_synth_step *s)
{
	struct tfp_synth_line *line = h->executor;
	int64_t start = s->input_ready + 4000;
	int64_t last = end_of(s->devices[h->o->devices - 1].input.call) + 4000;

	executor_process(h, line, s->get_next - 16000, 15000, h->function_id);
	plain_op(h, line, EV_OP_GET_NEXT, s->get_next - 13000, 11000, false);
	executor_process(h, line, start, last - start, h->function_id);
	for (unsigned d = 0; d < h->o->devices; d++) {
		const struct tfp_synth_launch *l = &s->devices[d].input;
		struct take t = input_block(h, d);

		plain_op(h, line, h->devices[d].send_name, l->call.start - 8000, l->call.ns + 10000,
			 false);
		pinned_event(h, line, &h->pinned_events[d * PINNED_KINDS + INPUT_TAKE]);
		memory_event(h, line, &h->devices[d].memory, l->call.start - 4000, &t, false);
		driver_call(h, line, EV_CU_HTOD, l->call, d, first_correlation(h, d),
			    h->devices[d].send_text, h->devices[d].host_input_details);
	}
}

/* One element of the input pipeline: on the prefetching thread, the threads of
 * the parallel map and the thread that runs the mapped function. */
static void produce(struct tfp_synth_host *h, const struct tfp_synth_step *s)
{
	static const struct {
		uint32_t name;
		unsigned permille;
	} ops[] = {{EV_OP_DECODE, 420},  {EV_OP_CROP, 60}, {EV_OP_RESIZE, 210}, {EV_OP_FLIP, 50},
		   {EV_OP_CONTRAST, 70}, {EV_OP_HUE, 90},  {EV_OP_CLIP, 30},    {EV_OP_CAST, 40}};
	int64_t start = s->produced.start, ns = s->produced.ns;
	int64_t batch = start + 1600, batch_ns = ns * 3 / 10, at = batch + 300, round;
	int64_t function = batch + batch_ns + 600, function_ns = start + ns - 1900 - function;
	int64_t first = (int64_t)s->produced_element * BATCH;
	int64_t captured = (int64_t)synth_draw(h->key ^ FOR_CAPTURED, s->produced_element);

	with_int(h, h->producer, EV_PREFETCH_PRODUCE, start, ns, ST_ELEMENT_ID,
		 s->produced_element);
	iterator(h, h->producer, EV_IT_MAP, start + 800, ns - 1600, IT_MAP, IT_PREFETCH);
	iterator(h, h->producer, EV_IT_BATCH, batch, batch_ns, IT_BATCH, IT_MAP);
	round = batch_ns / 2;
	for (unsigned j = 0; j < BATCH; j++) {
		struct tfp_synth_line *line = h->maps[j % TFP_SYNTH_MAP_THREADS];
		int64_t from = batch + 500 + j / TFP_SYNTH_MAP_THREADS * round +
			       j % TFP_SYNTH_MAP_THREADS * 700;
		int64_t record_id = (int64_t)synth_draw((uint64_t)captured, j + 1);
		int64_t long_ns = synth_jitter((uint64_t)record_id, round * 8 / 10, 90);
		int64_t read = long_ns * 3 / 10, until;

		with_int(h, line, EV_MAP_PRODUCE, from, long_ns, ST_ELEMENT_ID, first + j);
		iterator(h, line, EV_IT_SHUFFLE, from + 300, read, IT_SHUFFLE, IT_PARALLEL_MAP);
		iterator(h, line, EV_IT_RECORD, from + 500, read - 500, IT_RECORD, IT_SHUFFLE);
		with_int(h, line, EV_CAPTURED_ASYNC, from + read + 600, long_ns - read - 900, ST_ID,
			 record_id);
		until = from + long_ns + 900;
		if (until < at + 1500)
			until = at + 1500;
		iterator(h, h->producer, EV_IT_PARALLEL_MAP, at, until - at, IT_PARALLEL_MAP,
			 IT_BATCH);
		with_int(h, h->producer, EV_MAP_CONSUME, until - 600, 300, ST_ELEMENT_ID,
			 first + j);
		at = until + 300;
	}
	with_int(h, h->producer, EV_CAPTURED, function, function_ns, ST_ID, captured);
	function_run(h, h->producer, function + 700, 4200, captured);
	at = function + 9000;
	function_ns -= 12000;
	executor_process(h, h->map_executor, at, function_ns, captured);
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		int64_t op_ns = function_ns * ops[i].permille / 1000;

		plain_op(h, h->map_executor, ops[i].name, at + 400, op_ns - 700, false);
		at += op_ns;
	}
}

static struct take op_block(const struct tfp_synth_host *h, unsigned device, unsigned op)
{
	const struct tfp_synth_op *o = &h->m->ops[op];

	return (struct take){.bytes = o->bytes,
			     .requested = o->requested,
			     .address = device_address(h, device, o->address),
			     .path = h->devices[device].host_path[op],
			     .region = o->region[0] == 't' ? h->text_temp : h->text_output,
			     .shape = h->shapes[op],
			     .data_type = o->data_type,
			     .id = h->function_id};
}

static void launch(struct tfp_synth_host *h, struct tfp_synth_line *line, unsigned device,
		   unsigned op, unsigned k, const struct tfp_synth_launch *l, uint64_t correlation)
{
	struct tfp_synth_device *d = &h->devices[device];
	const struct tfp_synth_use *use = &h->m->ops[op].uses[k];
	const struct tfp_synth_kernel *kernel = tfp_synth_kernel_at(use->kernel);
	uint32_t details = d->details[h->first_use[op] + k];
	bool reduces = h->m->ops[op].phase == PHASE_REDUCE;
	struct tfp_synth_line *stream_line = reduces ? d->nccl : d->compute;
	struct tfp_buf *b;
	size_t mark;

	driver_call(h, line, h->launches[use->kernel], l->call, device, correlation,
		    d->host_text[op], 0);
	b = begin_work(h, stream_line, d->kernels[use->kernel], l->work, device, correlation,
		       &mark);
	if (kernel->class == KERNEL_PLAIN)
		put_kernel(h, b, kernel->occupancy, kernel->block, details);
	else
		put_ref(b, kernel->class == KERNEL_COPY ? ST_MEMCPY_DETAILS : ST_MEMSET_DETAILS,
			details);
	put_op(h, b, d->text[op]);
	if (!h->o->grouped && h->equations[op])
		put_ref(b, ST_EQUATION, d->equations[op]);
	end_op(h, stream_line, mark, false);
}

static void reduce(struct tfp_synth_host *h, struct tfp_synth_line *line, unsigned device,
		   unsigned op, struct tfp_synth_span span, const struct tfp_synth_launch *l,
		   uint64_t correlation)
{
	struct tfp_synth_line *other = h->devices[device].collectives;
	int64_t id = (int64_t)(correlation << 16);
	size_t mark;
	struct tfp_buf *b;

	b = begin(line, EV_COLLECTIVE_START, span.start + 900, span.ns - 1400, &mark);
	put_int(b, ST_PRODUCER_TYPE, CONTEXT_GENERIC);
	put_int(b, ST_PRODUCER_ID, id);
	end(h, line, mark);
	b = begin(other, EV_COLLECTIVE_RUN, l->call.start - 1800, l->call.ns + 2300, &mark);
	put_int(b, ST_CONSUMER_TYPE, CONTEXT_GENERIC);
	put_int(b, ST_CONSUMER_ID, id);
	end(h, other, mark);
	launch(h, other, device, op, 0, l, correlation);
}

/* The event of an op on its thread, and what happens inside and right after. */
static void run_op(struct tfp_synth_host *h, struct tfp_synth_line *line, unsigned device,
		   unsigned op, struct tfp_synth_span span, const struct tfp_synth_launch *uses,
		   uint64_t correlation)
{
	const struct tfp_synth_op *o = &h->m->ops[op];
	struct tfp_synth_device *d = &h->devices[device];
	size_t mark;
	struct tfp_buf *b = begin(line, d->host_name[op], span.start, span.ns, &mark);
	struct take t;

	put_ref(b, ST_SHAPE, h->arguments[op]);
	if (o->equation)
		put_ref(b, ST_EQUATION, h->equations[op]);
	end_op(h, line, mark, false);
	if (o->bytes > 0) {
		t = op_block(h, device, op);
		memory_event(h, line, &d->memory, span.start + 600, &t, false);
	}
	if (o->phase == PHASE_REDUCE) {
		reduce(h, line, device, op, span, uses, correlation);
		return;
	}
	for (unsigned k = 0; k < o->use_count; k++)
		launch(h, line, device, op, k, &uses[k], correlation + k);
	for (unsigned k = 0; k < o->free_count; k++) {
		t = op_block(h, device, o->frees[k]);
		memory_event(h, line, &d->memory, end_of(span) + 300 + (int64_t)k * 250, &t, true);
	}
}

static void fetch_loss(struct tfp_synth_host *h, struct tfp_synth_line *line, unsigned device,
		       const struct tfp_synth_launch *l, uint64_t correlation)
{
	struct tfp_synth_device *d = &h->devices[device];
	int64_t start = l->call.start - 4000;
	struct take t = input_block(h, device);

	executor_process(h, line, start - 800, l->call.ns + 7300, h->function_id);
	plain_op(h, line, d->fetch_name, start, l->call.ns + 5500, false);
	pinned_event(h, line, &h->pinned_events[device * PINNED_KINDS + LOSS_TAKE]);
	driver_call(h, line, EV_CU_DTOH, l->call, device, correlation, d->fetch_text,
		    d->host_loss_details);
	memory_event(h, line, &d->memory, end_of(l->call) + 1900, &t, true);
}

static void run_device(struct tfp_synth_host *h, const struct tfp_synth_step *s, unsigned device)
{
	const struct tfp_synth_model *m = h->m;
	const struct tfp_synth_device_step *d = &s->devices[device];
	struct tfp_synth_device *to = &h->devices[device];
	uint64_t correlation = first_correlation(h, device);
	const struct tfp_synth_launch *use = d->uses;
	struct tfp_synth_line *line = NULL;

	device_copy(h, to->h2d, to->h2d_name, d->input.work, device, correlation++,
		    to->input_details, to->send_device_text);
	for (unsigned i = 0, last; i < m->order_count; i++) {
		const struct tfp_synth_op *op = &m->ops[m->order[i]];

		if (i == 0 || m->thread_run[i] != m->thread_run[i - 1]) {
			for (last = i; last + 1 < m->order_count; last++)
				if (m->thread_run[last + 1] != m->thread_run[i])
					break;
			line = to->threads[m->thread_run[i] % TFP_SYNTH_COMPUTE_THREADS];
			executor_process(h, line, d->ops[i].start - 3000,
					 end_of(d->ops[last]) + 2000 - d->ops[i].start + 3000,
					 h->function_id);
		}
		run_op(h, line, device, m->order[i], d->ops[i], use, correlation);
		use += op->use_count;
		correlation += op->use_count;
	}
	/* On the next thread in turn: the runs before it may still be open on
	 * theirs. */
	line = to->threads[(m->thread_run[m->order_count - 1] + 1) % TFP_SYNTH_COMPUTE_THREADS];
	fetch_loss(h, line, device, &d->loss, correlation);
	device_copy(h, to->d2h, to->d2h_name, d->loss.work, device, correlation, to->loss_details,
		    to->fetch_device_text);
}

/* ---- the Python thread ---- */

static void eager_execute(struct tfp_synth_host *h, uint32_t op, bool function, int64_t start,
			  int64_t ns)
{
	size_t mark;
	struct tfp_buf *b = begin(h->python, EV_EAGER_EXECUTE, start, ns, &mark);

	put_ref(b, ST_EAGER_OP, op);
	put_int(b, ST_IS_FUNC, function);
	end(h, h->python, mark);
}

static void eager_kernel(struct tfp_synth_host *h, int64_t at)
{
	struct tfp_synth_device *d = &h->devices[0];
	uint64_t correlation = first_correlation(h, h->o->devices);
	struct tfp_synth_span call = {at, 3800}, work = {at + 4900, 1900};
	size_t mark;
	struct tfp_buf *b;

	driver_call(h, h->python, h->eager_launch, call, 0, correlation, h->text_eager_op, 0);
	b = begin_work(h, d->compute, d->eager_kernel, work, 0, correlation, &mark);
	put_kernel(h, b, 100, 256, d->eager_details);
	put_op(h, b, d->eager_text);
	end_op(h, d->compute, mark, true);
}

/* A block that nobody gives back. */
static void keep_history(struct tfp_synth_host *h, int64_t at)
{
	struct take t = {.bytes = HISTORY_BYTES,
			 .requested = HISTORY_BYTES,
			 .address = INT64_C(0x7e8000000000) +
				    (int64_t)h->clock.step.number * HISTORY_BYTES,
			 .path = h->text_history,
			 .region = h->text_output,
			 .shape = h->text_history_shape,
			 .data_type = 1,
			 .id = h->function_id};

	if (h->clock.step.number < HISTORY_STEPS)
		memory_event(h, h->python, &h->devices[0].memory, at, &t, false);
}

/* Blocks of host memory, taken by one thread after the other and given back by the next
 * ones; how many are held at a time rises and falls twice. */
static void churn(struct tfp_synth_host *h, const struct tfp_synth_step *s)
{
	uint64_t events = (uint64_t)h->o->allocations * 2, taken = 0, given = 0;
	int64_t start = s->function, ns = s->devices_end - s->function;

	for (uint64_t i = 0; i < events; i++) {
		int64_t at =
			start + (int64_t)((long double)ns * (long double)i / (long double)events);
		/* Two waves. */
		uint64_t phase = i * 4 * SCRATCH_HELD / events % (2 * SCRATCH_HELD);
		uint64_t most = 1 + (phase < SCRATCH_HELD ? phase : 2 * SCRATCH_HELD - 1 - phase);
		uint64_t held = taken - given;
		bool give = held == events - i || (held > 0 && held >= most);
		uint64_t block = give ? given++ : taken++;
		struct take t = {.bytes = SCRATCH_BYTES,
				 .requested = SCRATCH_BYTES - 256 + (int64_t)(block % 256),
				 .address = INT64_C(0x7d0000000000) +
					    (int64_t)(block % (2 * SCRATCH_HELD)) * SCRATCH_BYTES,
				 .path = h->text_scratch,
				 .region = h->text_temp,
				 .shape = h->text_scratch_shape,
				 .data_type = 4,
				 .id = h->function_id};

		memory_event(h, h->scratch_threads[i % TFP_SYNTH_SCRATCH_THREADS], &h->scratch, at,
			     &t, give);
	}
}

/* Three ops without a function around them; the middle one runs on a device. */
static void update_metrics(struct tfp_synth_host *h, int64_t start)
{
	const struct {
		uint32_t text, local, op;
	} ops[] = {{h->text_assign, EV_LOCAL_ASSIGN, EV_OP_ASSIGN},
		   {h->text_and, EV_LOCAL_AND, EV_OP_AND},
		   {h->text_read, EV_LOCAL_READ, EV_OP_READ}};
	struct take t = {.bytes = 256,
			 .requested = 1,
			 .address = device_address(h, 0, -4096),
			 .path = h->text_and,
			 .region = h->text_output,
			 .shape = h->text_scalar,
			 .data_type = 10};
	size_t mark;
	struct tfp_buf *b = begin(h->python, EV_UPDATE_METRICS, start, 330000, &mark);

	put_ref(b, ST_FUNCTION_CALL, h->text_eager);
	put_int(b, ST_TRACING_COUNT, 0);
	end(h, h->python, mark);
	for (unsigned i = 0; i < 3; i++) {
		int64_t at = start + 8000 + (int64_t)i * 105000;

		plain(h, h->python, EV_FAST_PATH, at, 96000);
		eager_execute(h, ops[i].text, false, at + 6000, 84000);
		plain(h, h->python, ops[i].local, at + 7000, 81000);
		plain(h, h->python, EV_EAGER_KERNEL, at + 21000, 62000);
		plain_op(h, h->python, ops[i].op, at + 24000, 56000, true);
		if (ops[i].op == EV_OP_AND) {
			memory_event(h, h->python, &h->devices[0].memory, at + 27000, &t, false);
			keep_history(h, at + 30000);
			eager_kernel(h, at + 36000);
		}
	}
	memory_event(h, h->python, &h->devices[0].memory, start + 326000, &t, true);
}

static void train_step(struct tfp_synth_host *h, const struct tfp_synth_step *s)
{
	struct tfp_synth_line *line = h->python;
	int64_t end_devices = s->devices_end, call = s->function + s->trace_ns;
	size_t mark;
	struct tfp_buf *b;

	b = begin(line, EV_TRAIN, s->start, s->end - s->start, &mark);
	put_int(b, ST_STEP_NUM, FIRST_STEP_NUM + (int64_t)s->number);
	put_int(b, ST_ROOT, 1);
	if (h->o->grouped) {
		put_int(b, ST_GROUP_ID, s->number);
		tfp_synth_stat_text(b, XEVENT_STATS, ST_STEP_NAME, h->step_name);
	}
	tfp_synth_event_end(line, mark);
	plain(h, line, EV_BATCH_BEGIN, s->start + 9000, 21000);
	b = begin(line, EV_TRAIN_FUNCTION, s->function, end_devices + 40000 - s->function, &mark);
	put_ref(b, ST_FUNCTION_CALL, s->trace_ns ? h->text_traced : h->text_not_traced);
	put_int(b, ST_TRACING_COUNT, s->number >= h->o->steps / 3 && h->o->steps >= 3 ? 2 : 1);
	end(h, line, mark);
	if (s->trace_ns)
		plain(h, line, EV_TRACING, s->function + 15000, s->trace_ns - 30000);
	plain(h, line, EV_EXECUTE_CANCELABLE, call + 60000, end_devices + 25000 - call - 60000);
	eager_execute(h, h->text_function, true, call + 72000, end_devices + 16000 - call - 72000);
	plain(h, line, EV_LOCAL_FUNCTION, call + 76000, end_devices + 14000 - call - 76000);
	plain(h, line, EV_EAGER_KERNEL, call + 100000, end_devices + 10000 - call - 100000);
	function_run(h, line, call + 125000, 22000, h->function_id);
	update_metrics(h, end_devices + 60000);
	plain(h, line, EV_BATCH_END, end_devices + 410000, 110000);
	plain(h, line, EV_PROGRESS, end_devices + 420000, 81000);
}

/* ---- derived lines, which old profilers wrote ---- */

static bool push(struct tfp_synth_host *h, struct tfp_synth_scope **list, size_t *count,
		 size_t *room, uint32_t name, struct tfp_synth_span span)
{
	if (!TFP_GROW(*list, *count, *room)) {
		h->space.no_memory = true;
		return false;
	}
	(*list)[(*count)++] = (struct tfp_synth_scope){name, span.start, end_of(span)};
	return true;
}

/* Scopes are opened in the order of time, outer first, which is the order that
 * their line needs; their ends grow while the same scope goes on. */
static bool derive_op(struct tfp_synth_host *h, const struct tfp_synth_device *d, unsigned op,
		      struct tfp_synth_span span, size_t open[TFP_SYNTH_SCOPES_MAX],
		      uint32_t names[TFP_SYNTH_SCOPES_MAX], uint32_t *last_op)
{
	const uint32_t *scopes = d->scope_names + (size_t)op * TFP_SYNTH_SCOPES_MAX;
	unsigned level = 0;

	while (level < TFP_SYNTH_SCOPES_MAX && scopes[level] && scopes[level] == names[level])
		h->scopes[open[level++]].end = end_of(span);
	if (*last_op == d->op_names[op] && (level == TFP_SYNTH_SCOPES_MAX || !scopes[level])) {
		h->op_events[h->op_count - 1].end = end_of(span);
	} else {
		if (!push(h, &h->op_events, &h->op_count, &h->op_room, d->op_names[op], span))
			return false;
		*last_op = d->op_names[op];
	}
	for (; level < TFP_SYNTH_SCOPES_MAX; level++) {
		names[level] = scopes[level];
		if (!scopes[level])
			continue;
		open[level] = h->scope_count;
		if (!push(h, &h->scopes, &h->scope_count, &h->scope_room, scopes[level], span))
			return false;
	}
	return true;
}

static void write_derived(struct tfp_synth_host *h, struct tfp_synth_line *line,
			  const struct tfp_synth_scope *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		plain(h, line, events[i].name, events[i].start, events[i].end - events[i].start);
}

static void derive(struct tfp_synth_host *h, const struct tfp_synth_step *s, unsigned device)
{
	const struct tfp_synth_model *m = h->m;
	const struct tfp_synth_device_step *times = &s->devices[device];
	struct tfp_synth_device *d = &h->devices[device];
	const struct tfp_synth_launch *use = times->uses;
	uint32_t names[TFP_SYNTH_SCOPES_MAX] = {0}, last_op = 0;
	size_t open[TFP_SYNTH_SCOPES_MAX] = {0};
	int64_t start = times->input.work.start;
	struct tfp_buf *b;
	size_t mark;

	h->scope_count = h->op_count = 0;
	for (unsigned i = 0; i < m->order_count; i++) {
		const struct tfp_synth_op *op = &m->ops[m->order[i]];

		for (unsigned k = 0; k < op->use_count; k++, use++)
			if (op->phase != PHASE_REDUCE &&
			    tfp_synth_kernel_at(op->uses[k].kernel)->class == KERNEL_PLAIN &&
			    !derive_op(h, d, m->order[i], use->work, open, names, &last_op))
				return;
	}
	write_derived(h, d->ops, h->op_events, h->op_count);
	write_derived(h, d->scopes, h->scopes, h->scope_count);
	b = begin(d->steps, d->first_step_name + s->number, start, times->end - start, &mark);
	put_int(b, ST_GROUP_ID, s->number);
	tfp_synth_stat_text(b, XEVENT_STATS, ST_STEP_NAME, h->step_name);
	tfp_synth_event_end(d->steps, mark);
}

/* ---- a capture ---- */

static void open_books(struct tfp_synth_host *h)
{
	int64_t limit = INT64_C(40034631680);

	h->pinned.limit = INT64_C(68719476736);
	h->pinned.resident = h->pinned.in_use = INT64_C(2097152);
	h->pinned.swing = (int64_t)(h->m->input_bytes + 256) * h->o->devices + 1;
	h->pinned.peak = h->pinned.in_use + h->pinned.swing;
	h->scratch.limit = INT64_C(34359738368);
	h->scratch.resident = h->scratch.in_use = SCRATCH_BYTES;
	h->scratch.swing = SCRATCH_BYTES * (SCRATCH_HELD + 1);
	h->scratch.peak = h->scratch.in_use;
	for (unsigned d = 0; d < h->o->devices; d++) {
		struct tfp_synth_allocator *a = &h->devices[d].memory;

		a->limit = limit;
		a->resident = a->in_use = h->m->resident_bytes;
		a->swing = h->m->step_bytes + (int64_t)h->m->input_bytes + 1024;
		a->peak = a->in_use + a->swing;
	}
}

static void write_step(struct tfp_synth_host *h, unsigned number)
{
	const struct tfp_synth_step *s = &h->clock.step;

	tfp_synth_clock_step(&h->clock, number);
	/* Step ids of functions are random and may be negative. */
	h->function_id = (int64_t)synth_draw(h->key ^ FOR_FUNCTION, number);
	snprintf(h->step_name, sizeof(h->step_name), "train %u", FIRST_STEP_NUM + number);
	keep_pinned_books(h, s);
	h->group = -1;
	if (s->produced.ns > 0)
		produce(h, s);
	h->group = number;
	get_next(h, s);
	send_inputs(h, s);
	for (unsigned d = 0; d < h->o->devices; d++) {
		run_device(h, s, d);
		if (h->o->grouped)
			derive(h, s, d);
		if (h->o->counter_samples)
			tfp_synth_counters_step(h, s, d);
	}
	manage_events(h);
	churn(h, s);
	train_step(h, s);
	h->last = s->end;
}

static void write_steps(struct tfp_synth_host *h)
{
	tfp_synth_clock_reset(&h->clock);
	open_books(h);
	for (unsigned i = 0; i < h->o->steps; i++)
		write_step(h, i);
}

/* What is known when all steps are. */
static void close_capture(struct tfp_synth_host *h)
{
	struct tfp_synth_plane *p = tfp_synth_space_plane(&h->space, 0, "Task Environment");
	uint64_t start = PROFILE_START_NS + (uint64_t)h->index * 41231;
	uint32_t start_stat = tfp_synth_intern(&h->space, &p->stats, "profile_start_time");
	uint32_t stop_stat = tfp_synth_intern(&h->space, &p->stats, "profile_stop_time");

	h->last += 2100000;
	tfp_synth_stat_uint(&p->plane_stats, XPLANE_STATS, start_stat, start);
	tfp_synth_stat_uint(&p->plane_stats, XPLANE_STATS, stop_stat, start + (uint64_t)h->last);
	tfp_synth_event_first(h->python, EV_FIT, h->last - 1000000 - TFP_SYNTH_HOST_LINES_NS);
}

static void release(struct tfp_synth_host *h)
{
	tfp_free(h->scopes);
	tfp_free(h->op_events);
	tfp_synth_clock_release(&h->clock);
	tfp_synth_space_release(&h->space);
}

/* Everything up to the end of pass one. On failure nothing is left to
 * release. */
static enum tfp_status first_pass(struct tfp_synth_host *h, const struct tfp_synth_options *o,
				  const struct tfp_synth_model *m, unsigned index,
				  struct tfp_error *err)
{
	enum tfp_status status;

	memset(h, 0, sizeof(*h));
	h->o = o;
	h->m = m;
	h->index = index;
	h->key = synth_draw(synth_mix(o->seed ^ 0x686f7374), index + 1);
	status = tfp_synth_space_init(&h->space, o->devices + 2, err);
	if (status == TFP_OK)
		status = tfp_synth_clock_init(&h->clock, o, m, index, err);
	if (status == TFP_OK && !tfp_synth_host_set_up(h))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the names of a capture");
	if (status != TFP_OK) {
		release(h);
		return status;
	}
	write_steps(h);
	close_capture(h);
	return TFP_OK;
}

enum tfp_status tfp_synth_host_write(const struct tfp_synth_options *o,
				     const struct tfp_synth_model *m, unsigned host, int fd,
				     struct tfp_error *err)
{
	char name[TFP_SYNTH_HOST_NAME_SIZE];
	struct tfp_synth_host h;
	enum tfp_status status = first_pass(&h, o, m, host, err);

	if (status != TFP_OK)
		return status;
	tfp_synth_host_name(host, name);
	status = tfp_synth_space_lay_out(&h.space, fd, name, err);
	if (status == TFP_OK) {
		write_steps(&h);
		status = tfp_synth_space_finish(&h.space, err);
	}
	release(&h);
	return status;
}

enum tfp_status tfp_synth_host_size(const struct tfp_synth_options *o,
				    const struct tfp_synth_model *m, unsigned host, uint64_t *bytes,
				    struct tfp_error *err)
{
	char name[TFP_SYNTH_HOST_NAME_SIZE];
	struct tfp_synth_host h;
	enum tfp_status status = first_pass(&h, o, m, host, err);

	if (status != TFP_OK)
		return status;
	tfp_synth_host_name(host, name);
	*bytes = tfp_synth_space_size(&h.space, name);
	release(&h);
	return TFP_OK;
}
