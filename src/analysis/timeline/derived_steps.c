/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/derived_steps.h"

#include "analysis/events/schema.h"
#include "analysis/timeline/derived_sort.h"
#include "base/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint32_t step_name(struct tfp_derived_plane *out, int32_t group)
{
	char number[16];
	snprintf(number, sizeof(number), "%" PRId32, group);
	return tfp_derived_name(out, (struct tfp_str){number, strlen(number)},
				(struct tfp_str){"", 0});
}

/* The steps while they are derived. */
struct step_line {
	struct tfp_derived_line line;
	const struct tfp_groups *groups;
	int32_t last;
	uint32_t name;
};

static void add_to_step(struct step_line *s, struct tfp_derived_span span, int32_t group)
{
	size_t before = s->line.count;
	if (group != s->last)
		s->name = step_name(s->line.plane, group);
	s->last = group;
	tfp_derived_expand_one(&s->line, s->name, NULL, span, group);
	if (s->line.count > before)
		tfp_derived_put_text(&s->line, before, TFP_DERIVED_STEP_NAME,
				     s->groups->groups[group].name);
}

/* Events of all streams, one after the other. false where it matters which of two that begin
 * and end at once comes first. */
static bool add_in_order(struct step_line *s, const struct tfp_derived_source *source,
			 struct tfp_derived_merge *merge)
{
	struct tfp_derived_span last = {0, 0};
	struct tfp_derived_ref ref;
	bool any = false;
	for (size_t i = 0;
	     tfp_derived_goes_on(s->line.plane, i) && tfp_derived_merge_next(merge, &ref); i++) {
		int32_t group =
			tfp_group_of(source->groups, source->plane_index, ref.line, ref.event);
		if (group == TFP_NO_GROUP)
			continue;
		if (any && group != s->last && last.begin_ps == ref.span.begin_ps &&
		    last.end_ps == ref.span.end_ps)
			return false;
		any = true;
		last = ref.span;
		add_to_step(s, ref.span, group);
	}
	return true;
}

static bool add_sorted(struct step_line *s, const struct tfp_derived_source *source)
{
	size_t count;
	struct tfp_derived_ref *events = tfp_derived_sorted(source->plane, NULL, false, &count);
	for (size_t i = 0; events && i < count && tfp_derived_goes_on(s->line.plane, i); i++) {
		int32_t group = tfp_group_of(source->groups, source->plane_index, events[i].line,
					     events[i].event);
		if (group != TFP_NO_GROUP)
			add_to_step(s, events[i].span, group);
	}
	tfp_free(events);
	return events != NULL;
}

enum tfp_status tfp_derive_steps(struct tfp_derived_plane *out,
				 const struct tfp_derived_source *source, struct tfp_error *err)
{
	struct step_line s = {.groups = source->groups, .last = TFP_NO_GROUP};
	struct tfp_derived_merge merge;
	if (source->groups->group_count == 0)
		return TFP_OK;
	tfp_derived_line_init(&s.line, out, true);
	bool ok = tfp_derived_merge_init(&merge, source->plane);
	if (ok && !add_in_order(&s, source, &merge)) {
		tfp_derived_line_release(&s.line);
		tfp_derived_line_init(&s.line, out, true);
		s.last = TFP_NO_GROUP;
		ok = add_sorted(&s, source);
	}
	tfp_derived_merge_release(&merge);
	tfp_derived_line_write(&s.line, TFP_LINE_STEPS, 0, (struct tfp_str){"Steps", 5});
	tfp_derived_line_release(&s.line);
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for derived lines");
}
