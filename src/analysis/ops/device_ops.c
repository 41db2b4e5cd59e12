/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/device_ops.h"

#include "analysis/events/schema.h"
#include "analysis/ops/device_ops_parts.h"
#include "base/alloc.h"

struct device_ops {
	const struct tfp_hlo_modules *modules;
	struct tfp_plane_ops *planes;
};

enum tfp_status tfp_device_ops_no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the metrics of device ops");
}

void tfp_device_work_init(struct tfp_device_work *work)
{
	*work = (struct tfp_device_work){0};
	tfp_op_db_init(&work->ops);
	tfp_op_db_init(&work->unnamed);
}

void tfp_device_work_release(struct tfp_device_work *work)
{
	tfp_op_db_release(&work->ops);
	tfp_op_db_release(&work->unnamed);
}

bool tfp_device_work_merge(struct tfp_device_work *to, const struct tfp_device_work *from)
{
	to->peers_time_ps += from->peers_time_ps;
	to->whole_time_ps += from->whole_time_ps;
	return tfp_op_db_merge(&to->ops, &from->ops) &&
	       tfp_op_db_merge(&to->unnamed, &from->unnamed);
}

bool tfp_device_op_texts(struct tfp_op_db *db, struct tfp_op *op, struct tfp_str category,
			 struct tfp_str provenance)
{
	op->category = tfp_op_db_text(db, category);
	op->provenance = tfp_op_db_text(db, provenance);
	return op->category.data && op->provenance.data;
}

bool tfp_device_ops_finish(struct tfp_device_work *work, const struct tfp_ops_span *span)
{
	struct tfp_op_db *db = &work->ops;
	uint64_t peers = 0, whole = db->total_op_time_ps + work->unnamed.total_op_time_ps;
	uint64_t window =
		span->last_ps > span->first_ps ? (uint64_t)(span->last_ps - span->first_ps) : 0;
	for (size_t i = 0; i < db->count; i++) {
		if (tfp_op_origin(&db->ops[i]) != TFP_ORIGIN_OTHER)
			peers += db->ops[i].self_time_ps;
	}
	work->peers_time_ps = window > peers ? window : peers;
	work->whole_time_ps = window > whole ? window : whole;
	db->total_time_ps = window > db->total_op_time_ps ? window : db->total_op_time_ps;
	return tfp_op_db_add_idle(db, db->total_time_ps - db->total_op_time_ps);
}

/* TPU cores are the devices where there is one, even beside GPUs. */
static enum tfp_plane_kind device_kind(const struct tfp_capture *capture)
{
	for (size_t p = 0; p < capture->plane_count; p++) {
		if (tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_TPU)
			return TFP_PLANE_TPU;
	}
	return TFP_PLANE_GPU;
}

static void run_plane(void *context, size_t index)
{
	struct device_ops *d = context;
	struct tfp_plane_ops *p = &d->planes[index];
	p->status = p->is_tpu ? tfp_device_ops_of_tpu(p) : tfp_device_ops_of_gpu(p, d->modules);
}

/* The planes of the devices, in the order of the file; freed with free_planes. */
static enum tfp_status list_planes(const struct tfp_capture *capture,
				   const struct tfp_groups *groups,
				   const struct tfp_stat_columns *stats, struct device_ops *d,
				   size_t *count, struct tfp_error *err)
{
	enum tfp_plane_kind wanted = device_kind(capture);
	*count = 0;
	d->planes = tfp_calloc(capture->plane_count, sizeof(*d->planes));
	if (!d->planes)
		return tfp_device_ops_no_memory(err);
	for (size_t p = 0; p < capture->plane_count; p++) {
		enum tfp_plane_kind kind = tfp_plane_kind(capture->planes[p].name);
		if (kind != wanted && kind != TFP_PLANE_GPU)
			continue;
		struct tfp_plane_ops *plane = &d->planes[(*count)++];
		plane->plane = &capture->planes[p];
		plane->groups = groups ? groups->planes[p] : NULL;
		plane->stats = stats->planes[p];
		plane->is_tpu = kind == TFP_PLANE_TPU;
		plane->has_ops = kind == wanted;
		tfp_device_work_init(&plane->work);
		tfp_kernels_init(&plane->kernels);
	}
	return TFP_OK;
}

static void release_plane(struct tfp_plane_ops *p)
{
	tfp_device_work_release(&p->work);
	tfp_kernels_release(&p->kernels);
	tfp_free(p->works);
}

/* What went wrong with a plane, if it is the first thing. */
static void take_status(const struct tfp_plane_ops *p, enum tfp_status *status,
			struct tfp_error *err)
{
	if (*status != TFP_OK || p->status == TFP_OK)
		return;
	*status = p->status;
	if (err)
		*err = p->error;
}

enum tfp_status tfp_device_ops(struct tfp_capture *capture, const struct tfp_hlo_modules *modules,
			       const struct tfp_groups *groups, struct tfp_pool *pool,
			       struct tfp_device_work *out, struct tfp_kernels *kernels,
			       struct tfp_error *err)
{
	struct device_ops d = {.modules = modules};
	const struct tfp_stat_columns *stats;
	size_t count;
	enum tfp_status status =
		tfp_stat_columns_get(capture, pool, TFP_STATS_OF_GPUS, &stats, err);
	if (status == TFP_OK)
		status = list_planes(capture, groups, stats, &d, &count, err);
	if (status != TFP_OK)
		return status;
	tfp_pool_for(pool, count, run_plane, &d);
	for (size_t p = 0; p < count; p++) {
		take_status(&d.planes[p], &status, err);
		if (status == TFP_OK && (!tfp_device_work_merge(out, &d.planes[p].work) ||
					 !tfp_kernels_merge(kernels, &d.planes[p].kernels)))
			status = tfp_device_ops_no_memory(err);
		release_plane(&d.planes[p]);
	}
	tfp_kernels_sort(kernels);
	tfp_free(d.planes);
	return status;
}

void tfp_devices_by_step_free(struct tfp_device_by_step *devices, size_t count)
{
	for (size_t i = 0; devices && i < count; i++) {
		tfp_device_work_release(&devices[i].work);
		tfp_op_steps_release(&devices[i].steps);
		tfp_op_steps_release(&devices[i].unnamed_steps);
	}
	tfp_free(devices);
}

/* Moves what a plane's reading made to its device. */
static enum tfp_status take_device(struct tfp_plane_ops *p, struct tfp_device_by_step *device,
				   struct tfp_error *err)
{
	device->work = p->work;
	tfp_kernels_release(&p->kernels);
	if (p->status != TFP_OK && err)
		*err = p->error;
	return p->status;
}

enum tfp_status tfp_devices_by_step(struct tfp_capture *capture,
				    const struct tfp_hlo_modules *modules,
				    const struct tfp_groups *groups, struct tfp_pool *pool,
				    struct tfp_device_by_step **out, size_t *count,
				    struct tfp_error *err)
{
	struct device_ops d = {.modules = modules};
	enum tfp_plane_kind wanted = device_kind(capture);
	const struct tfp_stat_columns *stats;
	size_t n = 0;
	*out = NULL;
	*count = 0;
	enum tfp_status status =
		tfp_stat_columns_get(capture, pool, TFP_STATS_OF_GPUS, &stats, err);
	if (status != TFP_OK)
		return status;
	d.planes = tfp_calloc(capture->plane_count, sizeof(*d.planes));
	*out = tfp_calloc(capture->plane_count, sizeof(**out));
	if (!d.planes || !*out) {
		tfp_free(d.planes);
		return tfp_device_ops_no_memory(err);
	}
	for (size_t p = 0; p < capture->plane_count; p++) {
		if (tfp_plane_kind(capture->planes[p].name) != wanted)
			continue;
		struct tfp_device_by_step *device = &(*out)[n];
		device->plane = &capture->planes[p];
		d.planes[n] = (struct tfp_plane_ops){
			.plane = device->plane,
			.groups = groups->planes[p],
			.stats = stats->planes[p],
			.is_tpu = wanted == TFP_PLANE_TPU,
			.has_ops = true,
			.steps = &device->steps,
			.unnamed_steps = &device->unnamed_steps,
		};
		tfp_device_work_init(&d.planes[n].work);
		tfp_kernels_init(&d.planes[n++].kernels);
	}
	*count = n;
	tfp_pool_for(pool, n, run_plane, &d);
	for (size_t p = 0; p < n; p++) {
		enum tfp_status own =
			take_device(&d.planes[p], &(*out)[p], status == TFP_OK ? err : NULL);
		if (status == TFP_OK)
			status = own;
	}
	tfp_free(d.planes);
	return status;
}

/* A device's own sums, with the durations of the steps. */
static bool make_works(struct tfp_plane_ops *p, const struct tfp_step_work *steps, size_t count)
{
	p->works = tfp_calloc(count, sizeof(*p->works));
	for (size_t s = 0; p->works && s < count; s++)
		p->works[s].duration_ps = steps[s].duration_ps;
	return p->works != NULL;
}

/* As many devices at a time as there are threads: each has sums for all steps. They are added in
 * the order of the file, so that sums are the same each time. */
enum tfp_status tfp_device_step_work(struct tfp_capture *capture,
				     const struct tfp_hlo_modules *modules,
				     const struct tfp_groups *groups, const uint32_t *step_of_group,
				     struct tfp_pool *pool, struct tfp_step_work *steps,
				     size_t count, struct tfp_error *err)
{
	struct device_ops all = {.modules = modules};
	const struct tfp_stat_columns *stats;
	size_t planes, batch = tfp_pool_threads(pool) + 1;
	enum tfp_status status =
		tfp_stat_columns_get(capture, pool, TFP_STATS_OF_GPUS, &stats, err);
	if (status == TFP_OK)
		status = list_planes(capture, groups, stats, &all, &planes, err);
	if (status != TFP_OK)
		return status;
	for (size_t first = 0; first < planes; first += batch) {
		struct device_ops d = {modules, all.planes + first};
		size_t n = planes - first < batch ? planes - first : batch;
		for (size_t p = 0; status == TFP_OK && p < n; p++) {
			d.planes[p].step_of_group = step_of_group;
			d.planes[p].group_count = groups->group_count;
			if (d.planes[p].has_ops && !make_works(&d.planes[p], steps, count))
				status = tfp_device_ops_no_memory(err);
		}
		if (status == TFP_OK)
			tfp_pool_for(pool, n, run_plane, &d);
		for (size_t p = 0; p < n; p++) {
			take_status(&d.planes[p], &status, err);
			if (status == TFP_OK && d.planes[p].works) {
				tfp_step_work_end_device(d.planes[p].works, count);
				for (size_t s = 0; s < count; s++)
					tfp_step_work_add(&steps[s], &d.planes[p].works[s]);
			}
			release_plane(&d.planes[p]);
		}
	}
	tfp_free(all.planes);
	return status;
}

enum tfp_status tfp_device_op_events(const struct tfp_capture *capture,
				     const struct tfp_hlo_modules *modules,
				     void (*call)(void *context, const struct tfp_plane *plane,
						  const struct tfp_line *line, size_t event,
						  struct tfp_str name, struct tfp_str type),
				     void *context, struct tfp_error *err)
{
	const struct tfp_op_visit visit = {call, context};
	enum tfp_plane_kind wanted = device_kind(capture);
	enum tfp_status status = TFP_OK;
	for (size_t p = 0; status == TFP_OK && p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		if (tfp_plane_kind(plane->name) != wanted)
			continue;
		status = wanted == TFP_PLANE_TPU
				 ? tfp_device_visit_tpu(plane, &visit, err)
				 : tfp_device_visit_gpu(plane, modules, &visit, err);
	}
	return status;
}
