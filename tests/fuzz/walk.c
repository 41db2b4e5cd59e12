#include "analysis/device_ops.h"
#include "analysis/groups.h"
#include "analysis/host_ops.h"
#include "analysis/op_stats.h"
#include "analysis/schema.h"
#include "analysis/steps.h"
#include "analysis/tf_functions.h"
#include "analysis/utilization.h"
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
		MUST(line->duration_ps[i] >= 0);
		MUST(line->meta[i] < plane->event_meta_count);
		MUST(line->start_ps[i] <= INT64_MAX - line->duration_ps[i]);
		if (i > 0) {
			MUST(line->start_ps[i - 1] <= line->start_ps[i]);
			MUST(line->start_ps[i - 1] < line->start_ps[i] ||
			     line->duration_ps[i - 1] >= line->duration_ps[i]);
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

/* The parts of a step add up to it, whatever the capture says. */
static void check_steps(struct tfp_capture *capture)
{
	const struct tfp_groups *groups;
	const struct tfp_steps *steps;
	const struct tfp_functions *functions;
	const struct tfp_utilization *utilization;
	struct tfp_steps combined, hosts[2];
	struct tfp_error err;
	MUST(tfp_groups_get(capture, NULL, &groups, &err) == TFP_OK);
	for (size_t p = 0; p < capture->plane_count; p++) {
		for (size_t l = 0; l < capture->planes[p].line_count; l++) {
			for (size_t i = 0; i < capture->planes[p].lines[l].event_count; i++)
				MUST(tfp_group_of(groups, p, l, i) < (int64_t)groups->group_count);
		}
	}
	MUST(tfp_steps_get(capture, NULL, &steps, &err) == TFP_OK);
	for (size_t c = 0; c < steps->core_count; c++) {
		const struct tfp_core_step *core = &steps->cores[c];
		uint64_t sum = 0;
		for (size_t t = 0; !core->is_tpu && t < TFP_STEP_EVENT_COUNT; t++)
			sum += core->type_ps[t];
		for (size_t t = 0; core->is_tpu && t < TFP_TPU_PART_COUNT; t++)
			sum += core->tpu_ps[t];
		MUST(core->duration_ps >= 0 && sum == (uint64_t)core->duration_ps);
	}
	hosts[0] = hosts[1] = *steps;
	tfp_steps_init(&combined);
	MUST(tfp_steps_combine(hosts, 2, &combined, &err) == TFP_OK);
	MUST(combined.count <= steps->count);
	tfp_steps_release(&combined);
	MUST(tfp_functions_get(capture, NULL, &functions, &err) == TFP_OK);
	MUST(tfp_utilization_get(capture, NULL, &utilization, &err) == TFP_OK);
}

void fuzz_summarise(struct tfp_capture *capture)
{
	const struct tfp_hlo_modules *modules;
	const struct tfp_op_stats *stats;
	struct tfp_op_stats merged;
	struct tfp_instances instances = {0};
	struct tfp_op_db by_op;
	struct tfp_error err;
	struct tfp_buf json;
	MUST(tfp_op_stats_get(capture, NULL, &stats, &err) == TFP_OK);
	MUST(tfp_utf8_valid(stats->env.device_type, strlen(stats->env.device_type)));
	MUST(tfp_utf8_valid(stats->env.hostname, strlen(stats->env.hostname)));
	check_ops(&stats->host_ops);
	tfp_op_stats_init(&merged);
	MUST(tfp_op_stats_merge(&merged, stats, 0, &err) == TFP_OK);
	MUST(tfp_op_stats_merge(&merged, stats, 1, &err) == TFP_OK);
	MUST(merged.kernels.count == 2 * stats->kernels.count);
	tfp_op_db_init(&by_op);
	MUST(tfp_op_db_by_framework_op(&merged.device_ops, &by_op));
	tfp_op_db_release(&by_op);
	tfp_op_stats_release(&merged);

	MUST(tfp_hlo_modules_get(capture, NULL, &modules, &err) == TFP_OK);
	MUST(tfp_host_op_events(capture, visit, &instances, &err) == TFP_OK);
	MUST(tfp_device_op_events(capture, modules, visit, &instances, &err) == TFP_OK);
	tfp_buf_init(&json, (size_t)1 << 28);
	MUST(tfp_instances_write(&instances, &json, &err) == TFP_OK);
	MUST(tfp_utf8_valid(json.data, json.size));
	tfp_buf_release(&json);
	tfp_instances_release(&instances);
	check_steps(capture);
}

void fuzz_check_error(const struct tfp_error *err, size_t input_size)
{
	char text[sizeof(*err) + 64];
	MUST(err->status == TFP_BAD_INPUT || err->status == TFP_TOO_LARGE);
	MUST(err->message[0] != '\0' && err->file[0] != '\0');
	MUST(err->offset == TFP_NO_OFFSET || err->offset <= input_size);
	MUST(strlen(tfp_error_text(err, text, sizeof(text))) > 0);
}
