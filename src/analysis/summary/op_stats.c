/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/summary/op_stats.h"

#include "analysis/events/schema.h"
#include "analysis/grouping/capture_groups.h"
#include "analysis/hlo/hlo_modules.h"
#include "analysis/ops/device_ops.h"
#include "analysis/ops/host_ops.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void tfp_op_stats_init(struct tfp_op_stats *stats)
{
	*stats = (struct tfp_op_stats){0};
	tfp_op_db_init(&stats->host_ops);
	tfp_device_work_init(&stats->device);
	tfp_kernels_init(&stats->kernels);
}

void tfp_op_stats_release(struct tfp_op_stats *stats)
{
	tfp_op_db_release(&stats->host_ops);
	tfp_device_work_release(&stats->device);
	tfp_kernels_release(&stats->kernels);
}

static void free_fact(void *fact)
{
	tfp_op_stats_release(fact);
	tfp_free(fact);
}

/* In raw captures grouping tells what ran eagerly. Without a single eager call nothing did, and
 * grouping is spared. */
static bool needs_groups(const struct tfp_capture *capture)
{
	if (tfp_capture_is_grouped(capture))
		return false;
	for (size_t p = 0; p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		for (size_t m = 1; m < plane->event_meta_count; m++) {
			if (tfp_str_equal(plane->event_metas[m].name, "EagerExecute"))
				return true;
		}
	}
	return false;
}

static uint64_t held_bytes(const struct tfp_op_stats *s)
{
	const struct tfp_op_db *dbs[] = {&s->host_ops, &s->device.ops, &s->device.unnamed};
	uint64_t ops = 0;
	for (size_t i = 0; i < sizeof(dbs) / sizeof(dbs[0]); i++)
		ops += dbs[i]->arena.bytes + dbs[i]->room * sizeof(struct tfp_op);
	return sizeof(*s) + ops + s->kernels.arena.bytes +
	       s->kernels.room * sizeof(struct tfp_kernel);
}

enum { OF_DEVICES, OF_HOST, SIDES };

struct making {
	struct tfp_capture *capture;
	const struct tfp_hlo_modules *modules;
	const struct tfp_groups *groups;
	struct tfp_pool *pool;
	struct tfp_op_stats *stats;
	enum tfp_status status[SIDES];
	struct tfp_error errors[SIDES];
};

/* Devices first: a capture of one device is the longest piece that cannot be divided. */
static void make_side(void *context, size_t side)
{
	struct making *m = context;
	struct tfp_error *err = &m->errors[side];
	if (side == OF_DEVICES)
		m->status[side] = tfp_device_ops(m->capture, m->modules, m->groups, m->pool,
						 &m->stats->device, &m->stats->kernels, err);
	else
		m->status[side] =
			tfp_host_ops(m->capture, m->groups, m->pool, &m->stats->host_ops, err);
}

static enum tfp_status make_sides(struct making *m, struct tfp_error *err)
{
	tfp_pool_for(m->pool, SIDES, make_side, m);
	for (size_t side = 0; side < SIDES; side++) {
		if (m->status[side] == TFP_OK)
			continue;
		if (err)
			*err = m->errors[side];
		return m->status[side];
	}
	return TFP_OK;
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	struct tfp_op_stats *s = tfp_malloc(sizeof(*s));
	struct making m = {.capture = capture, .pool = pool, .stats = s};
	if (!s)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a summary");
	tfp_op_stats_init(s);
	enum tfp_status status = tfp_hlo_modules_get(capture, pool, &m.modules, err);
	if (status == TFP_OK && needs_groups(capture))
		status = tfp_groups_get(capture, pool, &m.groups, err);
	if (status == TFP_OK)
		status = make_sides(&m, err);
	if (status != TFP_OK) {
		free_fact(s);
		return status;
	}
	tfp_run_env(capture, &s->env);
	s->is_training = m.modules->is_training;
	*heap_bytes = held_bytes(s);
	*fact = s;
	return TFP_OK;
}

enum tfp_status tfp_op_stats_get(struct tfp_capture *capture, struct tfp_pool *pool,
				 const struct tfp_op_stats **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_fact};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}

static void free_texts(void *fact)
{
	tfp_op_texts_release(fact);
	tfp_free(fact);
}

static enum tfp_status compute_texts(struct tfp_capture *capture, struct tfp_pool *pool,
				     void **fact, uint64_t *heap_bytes, struct tfp_error *err)
{
	const struct tfp_hlo_modules *modules;
	const struct tfp_op_stats *stats;
	struct tfp_op_texts *texts = tfp_malloc(sizeof(*texts));
	if (!texts)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the texts of instructions");
	tfp_op_texts_init(texts);
	enum tfp_status status = tfp_hlo_modules_get(capture, pool, &modules, err);
	if (status == TFP_OK)
		status = tfp_op_stats_get(capture, pool, &stats, err);
	if (status == TFP_OK)
		status = tfp_op_texts_make(texts, capture, modules, &stats->device.ops, err);
	if (status != TFP_OK) {
		free_texts(texts);
		return status;
	}
	*heap_bytes = sizeof(*texts) + tfp_op_texts_heap_bytes(texts);
	*fact = texts;
	return TFP_OK;
}

enum tfp_status tfp_op_texts_get(struct tfp_capture *capture, struct tfp_pool *pool,
				 const struct tfp_op_texts **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute_texts, free_texts};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}

static void merge_env(struct tfp_run_env *to, const struct tfp_run_env *from)
{
	uint32_t devices = to->device_count + from->device_count;
	if (from->hardware > to->hardware)
		*to = *from;
	to->device_count = devices;
}

enum tfp_status tfp_op_stats_merge(struct tfp_op_stats *stats, const struct tfp_op_stats *host,
				   uint32_t index, struct tfp_error *err)
{
	if (!tfp_op_db_merge(&stats->host_ops, &host->host_ops) ||
	    !tfp_device_work_merge(&stats->device, &host->device) ||
	    !tfp_kernels_add_host(&stats->kernels, &host->kernels, index))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to combine hosts");
	merge_env(&stats->env, &host->env);
	stats->is_training |= host->is_training;
	return TFP_OK;
}

void tfp_op_stats_end(struct tfp_op_stats *stats)
{
	tfp_kernels_sort(&stats->kernels);
}
