/* SPDX-License-Identifier: Apache-2.0 */
#include "synth/counters.h"

#include "synth/kernels.h"
#include "synth/rng.h"

static const char *const names[TFP_SYNTH_COUNTERS] = {
	"sm__throughput.avg.pct_of_peak_sustained_elapsed",
	"dram__throughput.avg.pct_of_peak_sustained_elapsed",
};

enum { COMPUTE, MEMORY };

void tfp_synth_counters_set_up(struct tfp_synth_host *h, struct tfp_synth_device *d,
			       int64_t timestamp_ns)
{
	d->counters = tfp_synth_space_line(&h->space, d->plane, 0, "_counters_", timestamp_ns);
	for (unsigned i = 0; i < TFP_SYNTH_COUNTERS; i++) {
		d->counter_names[i] = tfp_synth_intern(&h->space, &d->plane->events, names[i]);
		d->counter_stats[i] = tfp_synth_intern(&h->space, &d->plane->stats, names[i]);
	}
}

/* Adds a span's part in each stretch, weighted. */
static void spread(double *sums, unsigned count, int64_t start, int64_t stretch_ns,
		   struct tfp_synth_span span, double weight)
{
	int64_t from = span.start - start, to = from + span.ns;

	if (from < 0)
		from = 0;
	while (from < to && from / stretch_ns < count) {
		int64_t i = from / stretch_ns, next = (i + 1) * stretch_ns;
		int64_t end = next < to ? next : to;

		sums[i] += (double)(end - from) * weight;
		from = end;
	}
}

static void sample(struct tfp_synth_host *h, const struct tfp_synth_device *d, unsigned counter,
		   int64_t at, double share)
{
	double noise =
		(double)(synth_draw(h->key ^ d->counter_names[counter], (uint64_t)at) % 1000);
	double percent = 100 * share + noise / 500;
	size_t mark;
	struct tfp_buf *b =
		tfp_synth_event_begin(d->counters, d->counter_names[counter], at, 0, &mark);

	tfp_synth_stat_double(b, XEVENT_STATS, d->counter_stats[counter],
			      percent < 100 ? percent : 100);
	tfp_synth_event_end(d->counters, mark);
}

void tfp_synth_counters_step(struct tfp_synth_host *h, const struct tfp_synth_step *s,
			     unsigned device)
{
	const struct tfp_synth_device *d = &h->devices[device];
	const struct tfp_synth_launch *launch = s->devices[device].uses;
	unsigned count = h->o->counter_samples;
	int64_t stretch_ns = (s->end - s->start) / count + 1;
	double sums[TFP_SYNTH_COUNTERS][TFP_SYNTH_SAMPLES_MAX] = {{0}};

	for (unsigned i = 0; i < h->m->order_count; i++) {
		const struct tfp_synth_op *op = &h->m->ops[h->m->order[i]];

		for (unsigned u = 0; u < op->use_count; u++, launch++) {
			const struct tfp_synth_kernel *k = tfp_synth_kernel_at(op->uses[u].kernel);
			bool plain = k->class == KERNEL_PLAIN;

			spread(sums[COMPUTE], count, s->start, stretch_ns, launch->work,
			       plain ? k->occupancy / 100 : 0.02);
			spread(sums[MEMORY], count, s->start, stretch_ns, launch->work,
			       plain ? 0.35 : 0.9);
		}
	}
	for (unsigned i = 0; i < count; i++) {
		int64_t at = s->start + (i + 1) * stretch_ns - 1;

		for (unsigned c = 0; c < TFP_SYNTH_COUNTERS; c++)
			sample(h, d, c, at, sums[c][i] / (double)stretch_ns);
	}
}
