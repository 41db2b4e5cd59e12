/* SPDX-License-Identifier: Apache-2.0 */
#include "synth/timing.h"

#include "base/alloc.h"
#include "synth/rng.h"

#include <string.h>

#define FIRST_STEP_NS INT64_C(3000000)
#define TRACE_NS      INT64_C(25000000)
#define GET_NEXT_NS   INT64_C(14000)
/* Bytes per ns between pinned memory and a card. */
#define LINK_BYTES_PER_NS 20

/* What a number is drawn for. */
enum { FOR_PACE = 1, FOR_PRODUCE, FOR_OP, FOR_USE, FOR_COPY };

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static uint64_t host_key(const struct tfp_synth_clock *c, unsigned host)
{
	return synth_draw(synth_mix(c->o->seed), host + 1);
}

static bool is_straggler(const struct tfp_synth_clock *c, unsigned host)
{
	unsigned hosts = c->o->hosts;

	return hosts > 1 && host == 1 + c->o->seed % (hosts - 1);
}

/* How slow a host's devices are in a step, in thousandths. */
static int64_t pace(const struct tfp_synth_clock *c, unsigned host, unsigned step)
{
	uint64_t draw = synth_draw(host_key(c, host) ^ FOR_PACE, step);

	return (is_straggler(c, host) ? 1030 : 995) + synth_below(draw, 16);
}

static bool input_bound(const struct tfp_synth_clock *c, unsigned element)
{
	uint64_t position = (uint64_t)element * 100;

	return position >= (uint64_t)c->o->steps * 45 && position < (uint64_t)c->o->steps * 65;
}

/* How long a host's input pipeline needs for an element. */
static int64_t produce_ns(const struct tfp_synth_clock *c, unsigned host, unsigned element)
{
	uint64_t draw = synth_draw(host_key(c, host) ^ ((uint64_t)FOR_PRODUCE << 32), element);
	int64_t permille = input_bound(c, element) ? 1720 : 720;

	if (is_straggler(c, host))
		permille = input_bound(c, element) ? 1800 : 1330;
	return synth_jitter(draw, c->nominal_end * permille / 1000, 80);
}

static int64_t *produced_end(struct tfp_synth_clock *c, unsigned host, unsigned element)
{
	return &c->produced_end[(size_t)host * (TFP_SYNTH_PREFETCHED + 1) +
				element % (TFP_SYNTH_PREFETCHED + 1)];
}

static int64_t trace_ns(const struct tfp_synth_clock *c, unsigned step)
{
	return step > 0 && step == c->o->steps / 3 ? TRACE_NS : 0;
}

/* When a host that starts the step at start asks for input. */
static int64_t asks_at(const struct tfp_synth_clock *c, unsigned step, int64_t start)
{
	return start + 260000 + trace_ns(c, step);
}

/* When it has it; and starts the element that has room now. */
static int64_t take_input(struct tfp_synth_clock *c, unsigned host, unsigned step, int64_t asked)
{
	int64_t ready = later(asked + GET_NEXT_NS, *produced_end(c, host, step) + 4000);
	unsigned next = step + TFP_SYNTH_PREFETCHED;
	int64_t start = later(ready + 2000, *produced_end(c, host, next - 1) + 3000);
	int64_t ns = produce_ns(c, host, next);

	*produced_end(c, host, next) = start + ns;
	if (host == c->host) {
		c->step.produced = (struct tfp_synth_span){start, next < c->o->steps ? ns : 0};
		c->step.produced_element = next;
	}
	return ready;
}

/* slow: thousandths of the nominal duration; key 0: no variation, and nobody
 * waits for other hosts. */
static void device_step(struct tfp_synth_clock *c, unsigned device, uint64_t key, int64_t slow)
{
	const struct tfp_synth_model *m = c->m;
	struct tfp_synth_device_step *d = &c->step.devices[device];
	struct tfp_synth_launch *use = d->uses;
	int64_t vary = key ? 60 : 0, host_vary = key ? 250 : 0;
	int64_t thread, stream, reduce_stream = 0, reduce_thread = 0, reduced = 0;

	d->input.call.start = c->step.input_ready + 14000 + (int64_t)device * 62000;
	d->input.call.ns = synth_jitter(synth_draw(key ^ FOR_COPY, 0), 9000, host_vary);
	d->input.work.start = d->input.call.start + d->input.call.ns + 1800;
	d->input.work.ns = synth_jitter(synth_draw(key ^ FOR_COPY, 1),
					(int64_t)(m->input_bytes / LINK_BYTES_PER_NS), vary);
	thread = d->input.call.start + d->input.call.ns + 16000;
	stream = d->input.work.start + d->input.work.ns + 1200;
	for (unsigned i = 0; i < m->order_count; i++) {
		const struct tfp_synth_op *op = &m->ops[m->order[i]];
		uint64_t draw = synth_draw(key ^ FOR_OP, i);
		int64_t host_ns = synth_jitter(draw, op->host_ns, host_vary);
		bool reduces = op->phase == PHASE_REDUCE;
		int64_t at;

		if (i == 0 || m->thread_run[i] != m->thread_run[i - 1])
			thread += 9000 + synth_below(synth_mix(draw), key ? 9000 : 1);
		/* The update runs when the collectives have called back. */
		if (op->phase == PHASE_UPDATE && reduced > 0) {
			thread = later(thread, reduced + 24000);
			stream = later(stream, reduced);
			reduced = 0;
		}
		d->ops[i].start = thread;
		at = thread + host_ns / 2;
		if (reduces)
			at = reduce_thread = later(thread + host_ns + 14000, reduce_thread + 4000);
		for (unsigned k = 0; k < op->use_count; k++, use++) {
			uint64_t more = synth_draw(draw ^ FOR_USE, k);
			int64_t ns = synth_jitter(more, op->uses[k].ns * slow / 1000, vary), end;

			use->call = (struct tfp_synth_span){
				at, synth_jitter(synth_mix(more), 4300, host_vary)};
			at += use->call.ns + 600;
			use->work.start = later(use->call.start + use->call.ns + 300, stream + 900);
			end = use->work.start + ns;
			if (reduces) {
				use->work.start = later(use->work.start, reduce_stream + 1500);
				end = use->work.start + ns;
				/* All take part from when the last one is there. */
				if (key)
					end = later(end, c->reduce_ready[op->bucket] + ns);
				else
					c->nominal_reduce[op->bucket] =
						use->work.start - c->step.input_ready;
				reduce_stream = reduced = end;
				reduce_thread = at;
			} else {
				stream = end;
			}
			use->work.ns = end - use->work.start;
		}
		d->ops[i].ns =
			reduces ? host_ns : later(at, thread + host_ns / 2) + host_ns / 3 - thread;
		thread += d->ops[i].ns + 1100 + (int64_t)op->free_count * 250;
	}
	stream = later(stream, reduce_stream);
	d->loss.call.start = thread + 5000;
	d->loss.call.ns = synth_jitter(synth_draw(key ^ FOR_COPY, 2), 7000, host_vary);
	d->loss.work.start = later(d->loss.call.start + d->loss.call.ns + 500, stream + 1600);
	d->loss.work.ns = synth_jitter(synth_draw(key ^ FOR_COPY, 3), 2100, vary);
	d->end = d->loss.work.start + d->loss.work.ns;
}

void tfp_synth_clock_reset(struct tfp_synth_clock *c)
{
	c->common_start = FIRST_STEP_NS;
	c->step.end = 0;
	memset(c->produced_end, 0,
	       (size_t)c->o->hosts * (TFP_SYNTH_PREFETCHED + 1) * sizeof(*c->produced_end));
}

enum tfp_status tfp_synth_clock_init(struct tfp_synth_clock *c, const struct tfp_synth_options *o,
				     const struct tfp_synth_model *m, unsigned host,
				     struct tfp_error *err)
{
	size_t ops = (size_t)m->order_count * o->devices;
	size_t uses = (size_t)m->use_total * o->devices;

	memset(c, 0, sizeof(*c));
	c->o = o;
	c->m = m;
	c->host = host;
	c->key = host_key(c, host);
	c->step.devices = tfp_calloc(o->devices, sizeof(*c->step.devices));
	c->produced_end =
		tfp_calloc((size_t)o->hosts * (TFP_SYNTH_PREFETCHED + 1), sizeof(*c->produced_end));
	c->op_memory = tfp_calloc(ops, sizeof(*c->op_memory));
	c->use_memory = tfp_calloc(uses, sizeof(*c->use_memory));
	if (!c->step.devices || !c->produced_end || !c->op_memory || !c->use_memory) {
		tfp_synth_clock_release(c);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a step of %zu ops", ops);
	}
	for (unsigned d = 0; d < o->devices; d++) {
		c->step.devices[d].ops = c->op_memory + (size_t)d * m->order_count;
		c->step.devices[d].uses = c->use_memory + (size_t)d * m->use_total;
	}
	device_step(c, 0, 0, 1000);
	c->nominal_end = c->step.devices[0].end;
	tfp_synth_clock_reset(c);
	return TFP_OK;
}

void tfp_synth_clock_release(struct tfp_synth_clock *c)
{
	tfp_free(c->step.devices);
	tfp_free(c->produced_end);
	tfp_free(c->op_memory);
	tfp_free(c->use_memory);
	memset(c, 0, sizeof(*c));
}

/* What the others do: from it follow the reductions and the next start. */
static void common_step(struct tfp_synth_clock *c, unsigned number)
{
	int64_t end = 0;

	memset(c->reduce_ready, 0, sizeof(c->reduce_ready));
	for (unsigned h = 0; h < c->o->hosts; h++) {
		int64_t slow = pace(c, h, number), ready;

		if (h == c->host)
			ready = c->step.input_ready;
		else
			ready = take_input(c, h, number, asks_at(c, number, c->common_start));
		for (unsigned b = 0; b < c->m->buckets; b++)
			c->reduce_ready[b] = later(c->reduce_ready[b],
						   ready + c->nominal_reduce[b] * slow / 1000);
		end = later(end, ready + c->nominal_end * slow / 1000);
	}
	c->common_start = end + TFP_SYNTH_TAIL_NS + 60000;
}

void tfp_synth_clock_step(struct tfp_synth_clock *c, unsigned number)
{
	struct tfp_synth_step *s = &c->step;

	s->number = number;
	s->start = later(c->common_start, s->end + 15000);
	s->trace_ns = trace_ns(c, number);
	s->get_next = asks_at(c, number, s->start);
	s->function = s->start + 60000;
	s->input_ready = take_input(c, c->host, number, s->get_next);
	common_step(c, number);
	s->devices_end = 0;
	for (unsigned d = 0; d < c->o->devices; d++) {
		/* Never 0: that means no variation. */
		uint64_t key = synth_draw(synth_draw(c->key, number + 1), d + 1) | 1;

		device_step(c, d, key, pace(c, c->host, number));
		s->devices_end = later(s->devices_end, s->devices[d].end);
	}
	s->end = s->devices_end + TFP_SYNTH_TAIL_NS;
}
