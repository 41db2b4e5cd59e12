/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/events/schema.h"
#include "analysis/grouping/capture_groups.h"
#include "analysis/memory/memory_events.h"
#include "analysis/ops/device_ops.h"
#include "analysis/ops/host_ops.h"
#include "analysis/ops/tf_functions.h"
#include "analysis/steps/capture_steps.h"
#include "analysis/steps/executions.h"
#include "analysis/steps/requests.h"
#include "analysis/steps/steps_combine.h"
#include "analysis/summary/op_stats.h"
#include "analysis/summary/utilization.h"
#include "analysis/tf_data/iterators.h"
#include "analysis/timeline/derived_lines.h"
#include "analysis/timeline/event_categories.h"
#include "analysis/timeline/flows.h"
#include "analysis/timeline/stretches.h"
#include "analysis/timeline/tracks.h"
#include "base/alloc.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "store/capture.h"
#include "tools/instances.h"

#include <string.h>

static void must_be_inside(const struct tfp_capture *capture, const void *data, size_t size)
{
	const uint8_t *at = data;
	if (size == 0)
		return;
	MUST(at >= capture->bytes.data);
	MUST(size <= capture->bytes.size);
	MUST(at <= capture->bytes.data + (capture->bytes.size - size));
}

static void walk_stats(const struct tfp_capture *capture, const struct tfp_plane *plane,
		       struct tfp_stat_iter it)
{
	struct tfp_stat stat;
	struct tfp_str text;
	int64_t number;
	double real;
	while (tfp_stat_next(&it, &stat)) {
		uint32_t index = tfp_id_map_find(&plane->stat_meta_ids, stat.metadata_id);
		MUST(index < plane->stat_meta_count);
		if (stat.kind == TFP_STAT_STR || stat.kind == TFP_STAT_BYTES)
			must_be_inside(capture, stat.text.data, stat.text.size);
		if (tfp_stat_text(plane, &stat, &text))
			must_be_inside(capture, text.data, text.size);
		MUST(!tfp_stat_int(&stat, &number) || tfp_stat_double(&stat, &real));
	}
}

static void walk_line(const struct tfp_capture *capture, const struct tfp_plane *plane,
		      const struct tfp_line *line)
{
	must_be_inside(capture, line->message.data, line->message.size);
	must_be_inside(capture, line->name.data, line->name.size);
	must_be_inside(capture, line->display_name.data, line->display_name.size);
	MUST(line->aggregated <= line->event_count);
	for (size_t i = 0; i < line->event_count; i++) {
		MUST(tfp_event_duration_ps(line, i) >= 0);
		MUST(tfp_event_meta_index(line, i) < plane->event_meta_count);
		MUST(tfp_event_offset_ps(line, i) <= INT64_MAX - tfp_event_duration_ps(line, i));
		if (i > 0) {
			MUST(tfp_event_offset_ps(line, i - 1) <= tfp_event_offset_ps(line, i));
			MUST(tfp_event_offset_ps(line, i - 1) < tfp_event_offset_ps(line, i) ||
			     tfp_event_duration_ps(line, i - 1) >= tfp_event_duration_ps(line, i));
		}
		struct tfp_span message = tfp_event_message(line, i);
		must_be_inside(capture, message.data, message.size);
		(void)tfp_event_start_ps(line, i);
		walk_stats(capture, plane, tfp_event_stats(line, i));
	}
}

void fuzz_walk_capture(struct tfp_capture *capture)
{
	uint64_t lines = 0, events = 0;
	for (size_t p = 0; p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		must_be_inside(capture, plane->message.data, plane->message.size);
		must_be_inside(capture, plane->name.data, plane->name.size);
		walk_stats(capture, plane, tfp_plane_stats(plane));
		MUST(plane->event_meta_count > 0 && plane->stat_meta_count > 0);
		for (size_t m = 0; m < plane->event_meta_count; m++) {
			const struct tfp_event_meta *meta = &plane->event_metas[m];
			must_be_inside(capture, meta->name.data, meta->name.size);
			must_be_inside(capture, meta->display_name.data, meta->display_name.size);
			walk_stats(capture, plane, tfp_event_meta_stats(meta));
			MUST(m == 0 || tfp_id_map_find(&plane->event_meta_ids, meta->id) >= m);
		}
		for (size_t m = 0; m < plane->stat_meta_count; m++)
			must_be_inside(capture, plane->stat_metas[m].name.data,
				       plane->stat_metas[m].name.size);
		for (size_t l = 0; l < plane->line_count; l++) {
			walk_line(capture, plane, &plane->lines[l]);
			lines++;
			events += plane->lines[l].event_count;
		}
	}
	MUST(lines == capture->line_count && events == capture->event_count);
	for (size_t d = 0; d < capture->diagnostic_count; d++) {
		const struct tfp_diagnostic *diagnostic = &capture->diagnostics[d];
		MUST(diagnostic->message[0] != '\0' && diagnostic->hint);
		MUST(tfp_utf8_valid(diagnostic->message, strlen(diagnostic->message)));
		MUST(diagnostic->offset == TFP_NO_OFFSET ||
		     diagnostic->offset <= capture->bytes.size);
	}
	MUST(tfp_capture_held_bytes(capture) >= capture->bytes.size);
}

static void visit(void *context, const struct tfp_plane *plane, const struct tfp_line *line,
		  size_t event, struct tfp_str name, struct tfp_str type)
{
	(void)tfp_op_is_gradient(name, type);
	tfp_instances_add(context, "host", plane, line, event);
}

static void check_ops(const struct tfp_op_db *db)
{
	uint64_t self = 0;
	uint32_t *order = tfp_op_db_sorted(db);
	MUST(order);
	for (size_t i = 0; i < db->count; i++) {
		const struct tfp_op *op = &db->ops[order[i]];
		MUST(op->self_time_ps <= op->time_ps);
		MUST(i == 0 || db->ops[order[i - 1]].self_time_ps >= op->self_time_ps);
		self += op->self_time_ps;
	}
	MUST(self == db->total_time_ps);
	tfp_free(order);
}

static void check_sums(const struct tfp_steps *steps)
{
	for (size_t c = 0; c < steps->core_count; c++) {
		const struct tfp_core_step *core = &steps->cores[c];
		uint64_t sum = 0;
		for (size_t t = 0; !core->is_tpu && t < TFP_STEP_EVENT_COUNT; t++)
			sum += core->type_ps[t];
		for (size_t t = 0; core->is_tpu && t < TFP_TPU_PART_COUNT; t++)
			sum += core->tpu_ps[t];
		MUST(core->duration_ps >= 0 && sum == (uint64_t)core->duration_ps);
	}
}

/* The parts of a step add up to it, whatever the capture says. */
static void check_steps(struct tfp_capture *capture)
{
	const struct tfp_groups *groups;
	const struct tfp_steps *steps, *by_module;
	const struct tfp_executions *executions;
	const struct tfp_functions *functions;
	const struct tfp_utilization *utilization;
	const struct tfp_requests *requests;
	struct tfp_steps combined, hosts[2];
	struct tfp_error err;
	MUST(tfp_groups_get(capture, NULL, &groups, &err) == TFP_OK);
	for (size_t p = 0; p < capture->plane_count; p++) {
		for (size_t l = 0; l < capture->planes[p].line_count; l++) {
			for (size_t i = 0; i < capture->planes[p].lines[l].event_count; i++)
				MUST(tfp_group_of(groups, p, l, i) < (int64_t)groups->group_count);
		}
	}
	for (size_t i = 0; i < groups->link_count; i++)
		MUST(groups->links[i].above < groups->group_count &&
		     groups->links[i].below < groups->group_count);
	MUST(tfp_steps_get(capture, NULL, &steps, &err) == TFP_OK);
	check_sums(steps);
	MUST(tfp_executions_get(capture, NULL, &executions, &err) == TFP_OK);
	MUST(executions->count != 1);
	for (size_t p = 0; executions->count && p < executions->plane_count; p++) {
		const struct tfp_time_span *spans = executions->spans[p];
		for (size_t s = 0; spans && s < executions->count; s++) {
			MUST(spans[s].begin_ps <= spans[s].end_ps);
			MUST(s == 0 || spans[s].begin_ps == spans[s - 1].end_ps);
		}
	}
	MUST(tfp_steps_get_by_module(capture, NULL, &by_module, &err) == TFP_OK);
	MUST(by_module->count <= executions->count);
	check_sums(by_module);
	hosts[0] = *steps;
	hosts[1] = *by_module;
	tfp_steps_init(&combined);
	MUST(tfp_steps_combine(hosts, 2, &combined, &err) == TFP_OK);
	tfp_steps_release(&combined);

	hosts[0] = hosts[1] = *steps;
	tfp_steps_init(&combined);
	MUST(tfp_steps_combine(hosts, 2, &combined, &err) == TFP_OK);
	MUST(combined.count <= steps->count);
	tfp_steps_release(&combined);
	MUST(tfp_functions_get(capture, NULL, &functions, &err) == TFP_OK);
	MUST(tfp_utilization_get(capture, NULL, &utilization, &err) == TFP_OK);
	MUST(tfp_requests_get(capture, NULL, &requests, &err) == TFP_OK);
	for (size_t i = 0; i < requests->count; i++)
		MUST(requests->list[i].device_ps + requests->list[i].communication_ps <=
		     requests->list[i].total_ps);
}

static void check_trace(struct tfp_capture *capture)
{
	const struct tfp_capture *derived;
	const struct tfp_tracks *tracks;
	const struct tfp_flows *flows;
	struct tfp_error err;
	MUST(tfp_derived_lines_get(capture, NULL, &derived, &err) == TFP_OK);
	MUST(derived->diagnostic_count == 0);
	MUST(tfp_tracks_get(capture, NULL, &tracks, &err) == TFP_OK);
	MUST(tfp_flows_get(capture, NULL, &flows, &err) == TFP_OK);
	for (size_t i = 0; i < flows->count; i++) {
		const struct tfp_flow_end *end = &flows->ends[i];
		size_t count;
		MUST(end->event < capture->planes[end->plane].lines[end->line].event_count);
		tfp_flows_of_event(flows, false, end->plane, end->line, end->event, &count);
		MUST(count > 0);
		tfp_flows_of_id(flows, end->id, &count);
		MUST(count > 1);
	}
}

/* Every zoom counts every event, and nothing is longer than time. */
static void check_track(const struct tfp_track *track, const struct tfp_timeline_track *t)
{
	const int64_t shifts[] = {0, INT64_C(1) << 61};
	for (unsigned level = 0; level <= TFP_LEVEL_MAX; level += 13) {
		struct tfp_window w = {shifts[level % 2], 0, INT64_C(1) << TFP_WINDOW_BITS, level};
		struct tfp_stretches list = {0};
		uint64_t events = 0;
		MUST(tfp_stretches_of(t, &w, SIZE_MAX, &list));
		MUST(list.count <= tfp_stretches_bound(t, &w));
		for (size_t i = 0; i < list.count; i++) {
			const struct tfp_stretch *s = &list.list[i];
			MUST(s->duration_ps >= 0 && s->busy_ps >= 0 && s->count > 0);
			MUST(s->event < track->line->event_count);
			MUST(s->start_ps <= INT64_MAX - s->duration_ps);
			events += s->before ? 0 : s->count;
		}
		MUST(events == list.events && events == tfp_window_events(t, &w));
		MUST(events <= track->event_count);
		/* The second shift leaves no event before the window. */
		MUST(level % 2 == 0 || events == track->event_count);
		tfp_stretches_release(&list);
	}
	for (uint32_t lane = 0; lane < t->lane_count; lane++) {
		for (uint32_t place = 0; place < t->lanes[lane].count && place < 50; place++) {
			uint32_t at_lane, at_place, from, to;
			uint32_t event = tfp_lane_event(t, lane, place);
			MUST(tfp_timeline_find_event(t, event, &at_lane, &at_place));
			MUST(at_lane == lane && at_place == place);
			uint32_t parent = tfp_timeline_parent(t, lane, place);
			MUST(parent == TFP_NO_EVENT || parent < event);
			tfp_timeline_children(t, lane, place, &from, &to);
			MUST(from <= to);
		}
	}
}

static void check_timeline(struct tfp_capture *capture)
{
	const struct tfp_tracks *tracks;
	const struct tfp_timeline *timeline;
	const struct tfp_event_categories *categories;
	struct tfp_error err;
	uint64_t events = 0;
	MUST(tfp_tracks_get(capture, NULL, &tracks, &err) == TFP_OK);
	MUST(tfp_timeline_get(capture, NULL, &timeline, &err) == TFP_OK);
	MUST(tfp_event_categories_get(capture, NULL, &categories, &err) == TFP_OK);
	MUST(timeline->track_count == tracks->track_count);
	for (uint32_t i = 0; i < tracks->track_count; i++) {
		const struct tfp_track *track = &tracks->tracks[i];
		MUST(track->process < tracks->process_count);
		events += track->event_count;
		check_track(track, &timeline->tracks[i]);
		for (size_t e = 0; e < track->line->event_count; e++)
			MUST(tfp_event_category(categories, i, track->line, e) <
			     TFP_STEP_CATEGORY_COUNT);
	}
	MUST(events == tracks->event_count);
}

/* Whatever the capture says, indexes lie inside and time is shared out at most once. */
static void check_iterators(struct tfp_capture *capture)
{
	const struct tfp_iterators *data;
	struct tfp_error err;
	size_t calls = 0, uses = 0;
	MUST(tfp_iterators_get(capture, NULL, &data, &err) == TFP_OK);
	for (size_t i = 0; i < data->iterator_count; i++) {
		const struct tfp_iterator *it = &data->iterators[i];
		MUST(it->parent == TFP_NO_ITERATOR || it->parent < data->iterator_count);
		must_be_inside(capture, it->name.data, it->name.size);
		must_be_inside(capture, it->long_name.data, it->long_name.size);
		MUST(i == 0 || data->iterators[i - 1].id < it->id);
	}
	for (size_t p = 0; p < data->pipeline_count; p++) {
		const struct tfp_pipeline *pipeline = &data->pipelines[p];
		MUST(pipeline->root < data->iterator_count && pipeline->call_count > 0);
		MUST(pipeline->first_call + pipeline->call_count <= data->call_count);
		MUST(pipeline->min_ps >= 0 && pipeline->min_ps <= pipeline->max_ps);
		MUST(pipeline->slow_count <= pipeline->call_count);
		calls += pipeline->call_count;
	}
	MUST(calls == data->call_count);
	for (size_t c = 0; c < data->call_count; c++) {
		const struct tfp_iterator_call *call = &data->calls[c];
		MUST(call->first_use == uses);
		MUST(call->bottleneck == SIZE_MAX ||
		     (call->bottleneck >= uses && call->bottleneck < uses + call->use_count));
		uses += call->use_count;
		MUST(uses <= data->use_count);
	}
	MUST(uses == data->use_count);
	for (size_t u = 0; u < data->use_count; u++) {
		const struct tfp_iterator_use *use = &data->uses[u];
		MUST(use->iterator < data->iterator_count && use->calls > 0);
		MUST(use->self_ps >= 0 && use->self_ps <= use->duration_ps);
	}
}

static void check_allocator(const struct tfp_memory *memory, const struct tfp_allocator *a)
{
	static const enum tfp_memory_scope scopes[] = {TFP_MEMORY_STEP, TFP_MEMORY_ALL};
	struct tfp_memory_moment moment;
	struct tfp_memory_state state;
	struct tfp_error err;
	size_t count;
	MUST(a->count > 0 && a->allocations + a->deallocations == a->count);
	MUST(!a->has_peak || a->peak < a->count);
	MUST((a->failed > 0) == (a->first_failed < a->count));
	for (size_t i = 0; i < a->count; i++) {
		MUST(i == 0 || a->time_ps[i - 1] <= a->time_ps[i]);
		MUST(a->label[i] < memory->label_count);
		MUST(a->next[i] == TFP_MEMORY_NONE || (a->next[i] > i && a->next[i] < a->count));
		MUST(a->next[i] == TFP_MEMORY_NONE || a->address[i] == a->address[a->next[i]]);
		MUST(!a->has_peak || a->used_bytes[i] <= a->used_bytes[a->peak]);
		tfp_memory_state_at(memory, a, i, &state);
	}
	for (int s = 0; s < 2; s++) {
		struct tfp_memory_rows rows;
		MUST(tfp_memory_moment_at(memory, a, INT64_MAX, &moment));
		MUST(moment.end == a->count);
		MUST(tfp_memory_alive(memory, a, &moment, scopes[s], &rows, &err) == TFP_OK);
		for (size_t i = 1; i < rows.count; i++)
			MUST(rows.rows[i - 1].allocation_bytes >= rows.rows[i].allocation_bytes);
		tfp_memory_rows_release(&rows);
		MUST(tfp_memory_moment_of_peak(memory, a, &moment) == a->has_peak);
		MUST(tfp_memory_alive(memory, a, &moment, scopes[s], &rows, &err) == TFP_OK);
		tfp_memory_rows_release(&rows);
	}
	uint32_t *chosen = tfp_memory_sample(a, 3, &count);
	MUST(chosen && count == (a->count < 3 ? a->count : 3));
	tfp_free(chosen);
	chosen = tfp_memory_outline(a, a->time_ps[0], a->time_ps[a->count - 1], 4, &count);
	MUST(chosen && count > 0 && count <= 4);
	tfp_free(chosen);
}

static void check_memory(struct tfp_capture *capture)
{
	const struct tfp_memory *memory;
	struct tfp_error err;
	MUST(tfp_memory_get(capture, NULL, &memory, &err) == TFP_OK);
	for (size_t i = 0; i < memory->allocator_count; i++) {
		check_allocator(memory, &memory->allocators[i]);
		MUST(i == 0 ||
		     tfp_str_compare(memory->allocators[i - 1].id, memory->allocators[i].id) < 0);
	}
}

void fuzz_summarise(struct tfp_capture *capture)
{
	const struct tfp_hlo_modules *modules;
	const struct tfp_op_stats *stats;
	struct tfp_op_stats merged;
	struct tfp_instances instances = {0};
	struct tfp_op_db by_op;
	const struct tfp_op_texts *texts;
	struct tfp_error err;
	struct tfp_buf json;
	MUST(tfp_op_stats_get(capture, NULL, &stats, &err) == TFP_OK);
	MUST(tfp_utf8_valid(stats->env.device_type, strlen(stats->env.device_type)));
	MUST(tfp_utf8_valid(stats->env.hostname, strlen(stats->env.hostname)));
	check_ops(&stats->host_ops);
	tfp_op_stats_init(&merged);
	MUST(tfp_op_stats_merge(&merged, stats, 0, &err) == TFP_OK);
	MUST(tfp_op_stats_merge(&merged, stats, 1, &err) == TFP_OK);
	tfp_op_stats_end(&merged);
	MUST(merged.kernels.count == 2 * stats->kernels.count);
	tfp_op_db_init(&by_op);
	MUST(tfp_op_db_by_framework_op(&merged.device.ops, &by_op));
	tfp_op_db_release(&by_op);
	tfp_op_stats_release(&merged);

	MUST(tfp_op_texts_get(capture, NULL, &texts, &err) == TFP_OK);
	MUST(texts->count <= stats->device.ops.count);
	MUST(tfp_hlo_modules_get(capture, NULL, &modules, &err) == TFP_OK);
	MUST(tfp_host_op_events(capture, visit, &instances, &err) == TFP_OK);
	MUST(tfp_device_op_events(capture, modules, visit, &instances, &err) == TFP_OK);
	tfp_buf_init(&json, (size_t)1 << 28);
	MUST(tfp_instances_write(&instances, &json, &err) == TFP_OK);
	MUST(tfp_utf8_valid(json.data, json.size));
	tfp_buf_release(&json);
	tfp_instances_release(&instances);
	check_steps(capture);
	check_memory(capture);
	check_iterators(capture);
	check_trace(capture);
	check_timeline(capture);
}

void fuzz_check_error(const struct tfp_error *err, size_t input_size)
{
	char text[sizeof(*err) + 64];
	MUST(err->status == TFP_BAD_INPUT || err->status == TFP_TOO_LARGE);
	MUST(err->message[0] != '\0' && err->file[0] != '\0');
	MUST(err->offset == TFP_NO_OFFSET || err->offset <= input_size);
	MUST(strlen(tfp_error_text(err, text, sizeof(text))) > 0);
}
