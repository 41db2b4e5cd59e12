/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/steps_combine.h"

#include "analysis/events/time_span.h"
#include "analysis/steps/step_align.h"
#include "base/alloc.h"

#include <string.h>

static bool copy_step(struct tfp_steps *to, const struct tfp_steps *from, size_t step,
		      uint32_t number)
{
	const struct tfp_step *src = &from->steps[step];
	struct tfp_step *added = tfp_steps_add(to, number, src->name);
	if (!added)
		return false;
	memcpy(added->copies, src->copies, sizeof(added->copies));
	return true;
}

static bool copy_cores(struct tfp_steps *to, const struct tfp_steps *from, size_t step,
		       uint32_t host)
{
	for (size_t c = 0; c < from->steps[step].core_count; c++) {
		struct tfp_core_step core = *tfp_step_core(from, step, c);
		core.host = host;
		core.host_step = (uint32_t)step;
		if (!tfp_steps_add_core(to, &core))
			return false;
	}
	return true;
}

static bool add_totals(struct tfp_steps *to, const struct tfp_steps *from)
{
	to->compute_16_ps += from->compute_16_ps;
	to->compute_32_ps += from->compute_32_ps;
	to->has_device |= from->has_device;
	to->has_groups |= from->has_groups;
	/* At most so many are on all hosts. */
	if (from->module_steps && (!to->module_steps || from->module_steps < to->module_steps))
		to->module_steps = from->module_steps;
	return to->module.size || tfp_steps_set_module(to, from->module);
}

bool tfp_steps_copy(struct tfp_steps *to, const struct tfp_steps *from)
{
	for (size_t s = 0; s < from->count; s++) {
		if (!copy_step(to, from, s, from->steps[s].number) || !copy_cores(to, from, s, 0))
			return false;
	}
	return add_totals(to, from);
}

/* From the first begin to the last end of each step's cores; count entries, freed with
 * tfp_free. NULL without memory. */
static struct tfp_time_span *spans_of(const struct tfp_steps *steps)
{
	struct tfp_time_span *spans = tfp_calloc(steps->count + 1, sizeof(*spans));
	for (size_t s = 0; spans && s < steps->count; s++) {
		for (size_t c = 0; c < steps->steps[s].core_count; c++) {
			const struct tfp_core_step *core = tfp_step_core(steps, s, c);
			int64_t end = core->begin_ps + core->duration_ps;
			if (c == 0 || core->begin_ps < spans[s].begin_ps)
				spans[s].begin_ps = core->begin_ps;
			if (c == 0 || end > spans[s].end_ps)
				spans[s].end_ps = end;
		}
	}
	return spans;
}

static int64_t whole_span(const struct tfp_time_span *spans, size_t count)
{
	int64_t first = 0, last = 0;
	for (size_t s = 0; s < count; s++) {
		if (s == 0 || spans[s].begin_ps < first)
			first = spans[s].begin_ps;
		if (s == 0 || spans[s].end_ps > last)
			last = spans[s].end_ps;
	}
	return last - first;
}

struct aligned {
	bool counts;
	struct tfp_time_span *spans;
	int64_t shift;
};

static size_t find_chief(const struct tfp_steps *hosts, size_t host_count,
			 const struct aligned *aligned)
{
	size_t chief = SIZE_MAX;
	int64_t least = 0;
	for (size_t h = 0; h < host_count; h++) {
		if (!aligned[h].counts)
			continue;
		int64_t span = whole_span(aligned[h].spans, hosts[h].count);
		if (chief == SIZE_MAX || span < least) {
			chief = h;
			least = span;
		}
	}
	return chief;
}

/* Without the number of the program, which every process gives anew. */
static struct tfp_str bare_name(struct tfp_str module)
{
	const char *end = module.size ? memrchr(module.data, '(', module.size) : NULL;
	return end ? (struct tfp_str){module.data, (size_t)(end - module.data)} : module;
}

/* Executions of one module are no counterpart to those of another. */
static bool same_module(const struct tfp_steps *a, const struct tfp_steps *b)
{
	return b->count == 0 || tfp_str_compare(bare_name(a->module), bare_name(b->module)) == 0;
}

static bool combine(const struct tfp_steps *hosts, size_t host_count, struct aligned *aligned,
		    struct tfp_steps *out)
{
	bool has_steps = false;
	for (size_t h = 0; h < host_count; h++) {
		/* A coordinator has no accelerator where others have one. */
		aligned[h].counts = !hosts[h].absent && (hosts[h].has_device || !out->has_device) &&
				    same_module(out, &hosts[h]);
		has_steps |= aligned[h].counts && hosts[h].count > 0;
		aligned[h].spans = aligned[h].counts ? spans_of(&hosts[h]) : NULL;
		if (aligned[h].counts && !aligned[h].spans)
			return false;
	}
	size_t chief = find_chief(hosts, host_count, aligned);
	if (chief == SIZE_MAX)
		return true;
	int64_t first = 0, last = (int64_t)hosts[chief].count;
	for (size_t h = 0; h < host_count; h++) {
		if (!aligned[h].counts)
			continue;
		if (h != chief &&
		    !tfp_step_shift(aligned[chief].spans, hosts[chief].count, aligned[h].spans,
				    hosts[h].count, &aligned[h].shift))
			return false;
		int64_t end = aligned[h].shift + (int64_t)hosts[h].count;
		if (first < aligned[h].shift)
			first = aligned[h].shift;
		if (last > end)
			last = end;
	}
	out->intersection_empty = has_steps && first >= last;
	for (int64_t s = first; s < last; s++) {
		if (!copy_step(out, &hosts[chief], (size_t)s, (uint32_t)(s - first)))
			return false;
		for (size_t h = 0; h < host_count; h++) {
			if (aligned[h].counts &&
			    !copy_cores(out, &hosts[h], (size_t)(s - aligned[h].shift),
					(uint32_t)h))
				return false;
		}
	}
	return true;
}

enum tfp_status tfp_steps_combine(const struct tfp_steps *hosts, size_t host_count,
				  struct tfp_steps *out, struct tfp_error *err)
{
	if (host_count == 1)
		return tfp_steps_copy(out, &hosts[0])
			       ? TFP_OK
			       : tfp_fail(err, TFP_NO_MEMORY, "no memory for the steps");
	for (size_t h = 0; h < host_count; h++) {
		if (!add_totals(out, &hosts[h]))
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for the steps");
	}
	struct aligned *aligned = tfp_calloc(host_count + 1, sizeof(*aligned));
	bool ok = aligned && combine(hosts, host_count, aligned, out);
	for (size_t h = 0; aligned && h < host_count; h++)
		tfp_free(aligned[h].spans);
	tfp_free(aligned);
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for the steps");
}
