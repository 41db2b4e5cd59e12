/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/summary/op_stats_fields.h"
#include "analysis/summary/op_stats_message.h"
#include "base/alloc.h"
#include "base/utf8.h"

#include <string.h>

/* Unpacked messages take more room than their bytes: a number of ten bytes
 * becomes a structure with a place in a list. */
#define UNPACK_FACTOR 64
#define UNPACK_SLACK  ((size_t)1 << 20)
/* Times beyond come from no clock, and their sums would overflow. */
#define TIME_MAX (INT64_C(1) << 61)

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for a summary");
}

static enum tfp_status bad(struct tfp_error *err, const char *what)
{
	return tfp_fail(err, TFP_BAD_INPUT, "a summary with %s", what);
}

static struct tfp_str str_of(ProtobufCBinaryData bytes)
{
	return (struct tfp_str){bytes.len ? (const char *)bytes.data : "", bytes.len};
}

/* data is NULL without memory. */
static struct tfp_str keep(struct tfp_arena *a, ProtobufCBinaryData bytes)
{
	struct tfp_str s = str_of(bytes);
	if (s.size)
		s.data = tfp_arena_strndup(a, s.data, s.size);
	return s;
}

static bool fill(char *out, size_t size, ProtobufCBinaryData bytes)
{
	if (bytes.len >= size || (bytes.len && memchr(bytes.data, '\0', bytes.len)) ||
	    !tfp_utf8_valid((const char *)bytes.data, bytes.len))
		return false;
	if (bytes.len)
		memcpy(out, bytes.data, bytes.len);
	out[bytes.len] = '\0';
	return true;
}

static enum tfp_status unpack_device(struct tfp_op_db *db, struct tfp_op *op,
				     const Tfp__OpMetrics *from, struct tfp_error *err)
{
	if (from->origin == TFP_ORIGIN_NONE)
		return TFP_OK;
	if (from->origin > TFP_ORIGIN_UNNAMED || from->cost_by > TFP_COST_BY_US ||
	    from->core_type < 0 || from->core_type > TFP_CORE_SPARSE)
		return bad(err, "an operation of an unknown kind");
	struct tfp_device_metrics *device = tfp_op_db_device(db, op);
	if (!device)
		return no_memory(err);
	device->origin = (uint8_t)from->origin;
	device->cost_by = (uint8_t)from->cost_by;
	device->core = (uint8_t)from->core_type;
	device->normalized_ps = from->normalized_time_ps;
	device->dma_stall_ps = from->dma_stall_ps;
	device->has_breakdown = from->n_memory_accessed_breakdown > 0;
	for (size_t i = 0; i < from->n_memory_accessed_breakdown; i++) {
		const Tfp__MemoryAccessed *one = from->memory_accessed_breakdown[i];
		if (one->memory_space > TFP_SPACE_OTHER || one->operation_type < 0 ||
		    one->operation_type >= TFP_ACCESS_COUNT)
			return bad(err, "bytes of an unknown memory");
		size_t memory = one->memory_space ? one->memory_space - 1 : TFP_SPACE_OTHER;
		device->bytes[memory][one->operation_type] = one->bytes_accessed_exact;
	}
	return TFP_OK;
}

static enum tfp_status unpack_ops(struct tfp_op_db *db, const Tfp__OpMetricsDb *in,
				  struct tfp_error *err)
{
	if (!in)
		return bad(err, "no operations");
	for (size_t i = 0; i < in->n_metrics_db; i++) {
		const Tfp__OpMetrics *from = in->metrics_db[i];
		struct tfp_op *op = tfp_op_db_enter(db, from->hlo_module_id, str_of(from->name));
		if (!op)
			return no_memory(err);
		if (db->count != i + 1)
			return bad(err, "an operation twice");
		op->category = tfp_op_db_text(db, str_of(from->category));
		op->provenance = tfp_op_db_text(db, str_of(from->provenance));
		if (!op->category.data || !op->provenance.data)
			return no_memory(err);
		op->is_eager = from->is_eager;
		op->occurrences = from->occurrences;
		op->time_ps = from->time_ps;
		op->self_time_ps = from->self_time_ps;
		op->has_cost = from->has_cost;
		op->flops = from->flops_v2;
		op->model_flops = from->model_flops_v2;
		op->bytes_accessed = from->bytes_accessed_exact;
		enum tfp_status status = unpack_device(db, op, from, err);
		if (status != TFP_OK)
			return status;
	}
	db->total_time_ps = in->total_time_ps;
	db->total_op_time_ps = in->total_op_time_ps;
	return TFP_OK;
}

static enum tfp_status unpack_kernels(struct tfp_kernels *out, const Tfp__KernelStatsDb *in,
				      struct tfp_error *err)
{
	if (!in)
		return bad(err, "no kernels");
	out->kernels = tfp_calloc(in->n_reports, sizeof(*out->kernels));
	if (!out->kernels)
		return no_memory(err);
	out->room = in->n_reports;
	for (; out->count < in->n_reports; out->count++) {
		const Tfp__KernelReport *r = in->reports[out->count];
		struct tfp_kernel *k = &out->kernels[out->count];
		if (r->n_block_dim != 3 || r->n_grid_dim != 3 || r->occurrences == 0)
			return bad(err, "a kernel that never ran");
		*k = (struct tfp_kernel){
			.name = keep(&out->arena, r->name),
			.op_name = keep(&out->arena, r->op_name),
			.op_type = keep(&out->arena, r->op_type),
			.op_is_tensor_core_eligible = r->is_op_tensor_core_eligible,
			.uses_tensor_core = r->is_kernel_using_tensor_core,
			.registers = r->registers_per_thread,
			.static_shared_bytes = r->static_shmem_bytes,
			.dynamic_shared_bytes = r->dynamic_shmem_bytes,
			.occupancy_percent = r->occupancy_pct,
			.occurrences = r->occurrences,
			.total_ns = r->total_duration_ns,
			.min_ns = r->min_duration_ns,
			.max_ns = r->max_duration_ns,
			.flops = r->flops,
			.bytes = r->bytes_accessed,
			.has_no_cost = r->has_no_cost,
		};
		memcpy(k->block, r->block_dim, sizeof(k->block));
		memcpy(k->grid, r->grid_dim, sizeof(k->grid));
		if (!k->name.data || !k->op_name.data || !k->op_type.data)
			return no_memory(err);
	}
	return TFP_OK;
}

static enum tfp_status unpack_env(struct tfp_op_stats *out, const Tfp__OpStats *in,
				  struct tfp_error *err)
{
	const Tfp__RunEnvironment *env = in->run_environment;
	const Tfp__PerfEnv *perf = in->perf_env;
	struct tfp_run_env *to = &out->env;
	if (!env || env->n_hostnames != 1 || !perf ||
	    perf->n_peak_bws_giga_bytes_per_second != TFP_PEAK_COUNT || env->hardware_type < 0 ||
	    (int)env->hardware_type > TFP_HW_TPU ||
	    !fill(to->hostname, sizeof(to->hostname), env->hostnames[0]->key) ||
	    !fill(to->device_type, sizeof(to->device_type), env->device_type) ||
	    !fill(to->peaks.source, sizeof(to->peaks.source), perf->source))
		return bad(err, "an unknown environment");
	to->hardware = (enum tfp_hardware)env->hardware_type;
	to->device_count = env->device_core_count;
	to->peaks.teraflops = perf->peak_tera_flops_per_second;
	memcpy(to->peaks.gigabytes_per_second, perf->peak_bws_giga_bytes_per_second,
	       sizeof(to->peaks.gigabytes_per_second));
	to->peaks.has_merged_vmem = perf->has_merged_vmem;
	to->peaks.has_megacore = perf->has_megacore;
	out->is_training = env->is_training;
	return TFP_OK;
}

static enum tfp_status unpack_functions(struct tfp_functions *out, const Tfp__TfFunctionDb *in,
					struct tfp_error *err)
{
	if (!in)
		return bad(err, "no functions");
	out->list = tfp_calloc(in->n_tf_functions, sizeof(*out->list));
	if (!out->list)
		return no_memory(err);
	out->room = in->n_tf_functions;
	for (size_t i = 0; i < in->n_tf_functions; i++) {
		const Tfp__TfFunctionEntry *entry = in->tf_functions[i];
		struct tfp_function *f = &out->list[i];
		if (!entry->value)
			return bad(err, "a function without calls");
		f->name = keep(&out->arena, entry->key);
		if (!f->name.data)
			return no_memory(err);
		uint32_t at =
			tfp_str_map_add(&out->by_name, f->name.data, f->name.size, (uint32_t)i);
		if (at == TFP_STR_MAP_NONE)
			return no_memory(err);
		if (at != i)
			return bad(err, "a function twice");
		f->tracing_count = entry->value->total_tracing_count;
		for (size_t m = 0; m < entry->value->n_metrics; m++) {
			const Tfp__TfFunctionMetricsEntry *metrics = entry->value->metrics[m];
			if (metrics->key < 0 || metrics->key >= TFP_FUNCTION_MODE_COUNT ||
			    !metrics->value)
				return bad(err, "a function of an unknown mode");
			f->calls[metrics->key] = metrics->value->count;
			f->self_ps[metrics->key] = metrics->value->self_time_ps;
		}
		out->count++;
	}
	return TFP_OK;
}

static bool is_url(const Tfp__Any *any, const char *url)
{
	return tfp_str_equal(str_of(any->type_url), url);
}

static enum tfp_status unpack_breakdown(ProtobufCAllocator *allocator, const Tfp__Any *any,
					struct tfp_core_step *core, struct tfp_error *err)
{
	if (any && is_url(any, TFP_TPU_URL)) {
		const Tfp__TpuStepBreakdown *tpu =
			tfp__tpu_step_breakdown__unpack(allocator, any->value.len, any->value.data);
		if (!tpu)
			return bad(err, "a step of no known form");
		core->is_tpu = true;
		core->tpu_ps[TFP_TPU_COMPUTE] = tpu->compute_ps;
		core->tpu_ps[TFP_TPU_INFEED] = tpu->infeed_duration_ps;
		core->tpu_ps[TFP_TPU_OUTFEED] = tpu->host_outfeed_ps;
		core->tpu_ps[TFP_TPU_HOST_TRANSFER] = tpu->host_transfer_ps;
		core->tpu_ps[TFP_TPU_ALL_REDUCE] = tpu->crs_duration_ps;
		core->tpu_ps[TFP_TPU_IDLE] = tpu->tc_idle_ps;
		return TFP_OK;
	}
	const Tfp__GenericStepBreakdown *generic =
		any && is_url(any, TFP_GENERIC_URL)
			? tfp__generic_step_breakdown__unpack(allocator, any->value.len,
							      any->value.data)
			: NULL;
	if (!generic)
		return bad(err, "a step of no known form");
	for (size_t i = 0; i < generic->n_type_ps; i++) {
		int e = 0;
		while (e < TFP_STEP_EVENT_COUNT && tfp_event_numbers[e] != generic->type_ps[i]->key)
			e++;
		if (e == TFP_STEP_EVENT_COUNT)
			return bad(err, "a step of unknown events");
		core->type_ps[e] = generic->type_ps[i]->value;
	}
	return TFP_OK;
}

static enum tfp_status unpack_core(ProtobufCAllocator *allocator, const Tfp__StepInfoEntry *entry,
				   struct tfp_core_step *core, struct tfp_error *err)
{
	const Tfp__StepInfoResult *info = entry->value;
	if (!info || info->begin_ps < -TIME_MAX || info->begin_ps > TIME_MAX ||
	    info->duration_ps > (uint64_t)TIME_MAX)
		return bad(err, "a step out of time");
	*core = (struct tfp_core_step){
		.core = entry->key,
		.begin_ps = info->begin_ps,
		.duration_ps = (int64_t)info->duration_ps,
	};
	return unpack_breakdown(allocator, info->step_breakdown, core, err);
}

static enum tfp_status unpack_steps(ProtobufCAllocator *allocator, struct tfp_steps *out,
				    const Tfp__StepDatabaseResult *in, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	size_t cores = 0;
	if (!in)
		return bad(err, "no steps");
	for (size_t s = 0; s < in->n_step_sequence; s++)
		cores += in->step_sequence[s]->n_step_info_per_core;
	if (cores > UINT32_MAX)
		return bad(err, "too many cores");
	out->steps = tfp_calloc(in->n_step_sequence, sizeof(*out->steps));
	out->cores = tfp_calloc(cores, sizeof(*out->cores));
	if (!out->steps || !out->cores)
		return no_memory(err);
	out->room = in->n_step_sequence;
	out->core_room = cores;
	out->has_device = in->has_device;
	out->has_groups = in->has_groups;
	out->intersection_empty = in->empty_intersect;
	out->module_steps = in->module_steps;
	out->module = keep(&out->arena, in->module);
	if (!out->module.data)
		return no_memory(err);
	for (; out->count < in->n_step_sequence; out->count++) {
		const Tfp__PerCoreStepInfo *from = in->step_sequence[out->count];
		struct tfp_step *step = &out->steps[out->count];
		if (from->n_device_memory_transfers != TFP_COPY_COUNT)
			return bad(err, "a step of no known form");
		*step = (struct tfp_step){
			.number = from->step_num,
			.name = keep(&out->arena, from->step_name),
			.first_core = (uint32_t)out->core_count,
			.core_count = (uint32_t)from->n_step_info_per_core,
		};
		if (!step->name.data)
			return no_memory(err);
		for (int i = 0; i < TFP_COPY_COUNT; i++) {
			const Tfp__DeviceMemoryTransfer *t = from->device_memory_transfers[i];
			step->copies[i] = (struct tfp_step_copies){t->occurrence, t->time_ps,
								   t->bytes_transferred};
		}
		for (size_t c = 0; c < from->n_step_info_per_core; c++) {
			status = unpack_core(allocator, from->step_info_per_core[c],
					     &out->cores[out->core_count++], err);
			if (status != TFP_OK)
				return status;
		}
	}
	return status;
}

static enum tfp_status unpack_texts(struct tfp_arena *a, const ProtobufCBinaryData *texts,
				    size_t count, const struct tfp_str **out, size_t *out_count,
				    struct tfp_error *err)
{
	struct tfp_str *list = tfp_arena_zalloc(a, count, sizeof(*list));
	if (!list)
		return no_memory(err);
	for (size_t i = 0; i < count; i++) {
		list[i] = keep(a, texts[i]);
		if (!list[i].data)
			return no_memory(err);
	}
	*out = list;
	*out_count = count;
	return TFP_OK;
}

static enum tfp_status unpack_op_stats(struct tfp_host_summary *summary, const Tfp__OpStats *in,
				       struct tfp_error *err)
{
	struct tfp_op_stats *stats = &summary->memory->op_stats;
	enum tfp_status status = unpack_env(stats, in, err);
	if (status == TFP_OK)
		status = unpack_ops(&stats->host_ops, in->host_op_metrics_db, err);
	if (status == TFP_OK)
		status = unpack_ops(&stats->device.ops, in->device_op_metrics_db, err);
	if (status == TFP_OK)
		status = unpack_ops(&stats->device.unnamed, in->unnamed_op_metrics_db, err);
	stats->device.peers_time_ps = in->peers_time_ps;
	stats->device.whole_time_ps = in->whole_time_ps;
	if (status == TFP_OK)
		status = unpack_kernels(&stats->kernels, in->kernel_stats_db, err);
	if (status == TFP_OK)
		summary->op_stats = stats;
	return status;
}

static enum tfp_status unpack_op_parts(struct tfp_arena *a, const Tfp__OpMetrics *in,
				       struct tfp_op_text *out, struct tfp_error *err)
{
	struct tfp_op_part *parts = tfp_arena_zalloc(a, in->n_parts, sizeof(*parts));
	if (!parts || in->n_parts > UINT32_MAX)
		return no_memory(err);
	for (size_t i = 0; i < in->n_parts; i++) {
		const Tfp__OpPart *from = in->parts[i];
		/* A tree in the order of its leaves. */
		if (from->depth == 0 || from->depth > TFP_OP_PART_DEPTH_MAX ||
		    from->depth > (i ? parts[i - 1].depth + 1 : 1))
			return bad(err, "parts of a fusion in no order");
		parts[i] = (struct tfp_op_part){from->depth, keep(a, from->name),
						keep(a, from->category), keep(a, from->provenance),
						keep(a, from->expression)};
		if (!parts[i].name.data || !parts[i].category.data || !parts[i].provenance.data ||
		    !parts[i].expression.data)
			return no_memory(err);
	}
	out->parts = parts;
	out->part_count = (uint32_t)in->n_parts;
	return TFP_OK;
}

static enum tfp_status unpack_op_text(struct tfp_op_texts *texts, const Tfp__OpMetrics *in,
				      struct tfp_error *err)
{
	struct tfp_op_text *text = tfp_op_texts_enter(texts, in->hlo_module_id, str_of(in->name));
	struct tfp_arena *a = &texts->arena;
	if (!text)
		return no_memory(err);
	if (!in->source_info)
		return bad(err, "an instruction without a source");
	text->deduplicated_name = keep(a, in->deduplicated_name);
	text->expression = keep(a, in->long_name);
	text->source_file = keep(a, in->source_info->file_name);
	text->source_line = in->source_info->line_number;
	text->source_stack = keep(a, in->source_info->stack_frame);
	if (!text->deduplicated_name.data || !text->expression.data || !text->source_file.data ||
	    !text->source_stack.data)
		return no_memory(err);
	return unpack_op_parts(a, in, text, err);
}

static enum tfp_status unpack_programs(struct tfp_host_summary *summary, const Tfp__OpStats *in,
				       struct tfp_error *err)
{
	struct tfp_op_texts *texts = &summary->memory->op_texts;
	enum tfp_status status = TFP_OK;
	if (!in->op_texts)
		return bad(err, "no instructions");
	for (size_t i = 0; status == TFP_OK && i < in->op_texts->n_metrics_db; i++) {
		status = unpack_op_text(texts, in->op_texts->metrics_db[i], err);
		if (status == TFP_OK && texts->count != i + 1)
			return bad(err, "an instruction twice");
	}
	for (size_t i = 0; status == TFP_OK && i < in->n_program_id_to_name_map; i++) {
		const Tfp__ProgramEntry *entry = in->program_id_to_name_map[i];
		if (i && in->program_id_to_name_map[i - 1]->key >= entry->key)
			return bad(err, "programs in no order");
		struct tfp_program *program =
			tfp_op_texts_program(texts, entry->key, str_of(entry->value));
		if (!program)
			return no_memory(err);
		program->instructions = entry->instructions;
		program->hosts = 1;
	}
	if (status == TFP_OK)
		summary->op_texts = texts;
	return status;
}

static enum tfp_status unpack_requests(struct tfp_requests *out, const Tfp__OpStats *in,
				       struct tfp_error *err)
{
	out->list = tfp_calloc(in->n_requests, sizeof(*out->list));
	if (!out->list)
		return no_memory(err);
	for (; out->count < in->n_requests; out->count++) {
		const Tfp__Request *from = in->requests[out->count];
		out->list[out->count] = (struct tfp_request){from->total_ps, from->device_ps,
							     from->communication_ps};
	}
	return TFP_OK;
}

static enum tfp_status unpack_step_parts(ProtobufCAllocator *allocator,
					 struct tfp_host_summary *summary, const Tfp__OpStats *in,
					 struct tfp_error *err)
{
	struct tfp_host_summary_memory *m = summary->memory;
	const Tfp__OpMetricsDb *host = in->host_op_metrics_db, *device = in->device_op_metrics_db;
	if (!host || !device || !device->precision_stats || !in->performance_counter_result)
		return bad(err, "parts missing");
	m->utilization = (struct tfp_utilization){
		.busy_ps = device->busy_time_ps,
		.idle_ps = device->idle_time_ps,
		.devices_active = device->devices_active,
		.matrix_unit_percent =
			in->performance_counter_result->matrix_unit_utilization_percent,
		.hbm_percent = in->performance_counter_result->hbm_utilization_percent,
		.enqueue_ps = host->total_host_infeed_enq_duration_ps,
		.enqueue_window_ps = host->total_host_infeed_enq_start_timestamp_ps_diff,
	};
	m->steps.compute_16_ps = device->precision_stats->compute_16bit_ps;
	m->steps.compute_32_ps = device->precision_stats->compute_32bit_ps;
	enum tfp_status status = unpack_steps(allocator, &m->steps, in->step_db, err);
	if (status == TFP_OK)
		status = unpack_functions(&m->functions, in->tf_function_db, err);
	if (status == TFP_OK)
		status = unpack_requests(&m->requests, in, err);
	if (status == TFP_OK) {
		summary->steps = &m->steps;
		summary->functions = &m->functions;
		summary->utilization = &m->utilization;
		summary->requests = &m->requests;
	}
	return status;
}

/* NULL without memory, and for what is no text. */
static const char *keep_text(struct tfp_arena *a, ProtobufCBinaryData bytes)
{
	const char *text = str_of(bytes).data;
	if ((bytes.len && memchr(text, '\0', bytes.len)) || !tfp_utf8_valid(text, bytes.len))
		return NULL;
	return tfp_arena_strndup(a, text, bytes.len);
}

static enum tfp_status unpack_brief(struct tfp_host_summary *summary, const Tfp__CaptureBrief *in,
				    struct tfp_error *err)
{
	struct tfp_host_summary_memory *m = summary->memory;
	if (!in)
		return bad(err, "no description of the capture");
	struct tfp_diagnostic *list = tfp_arena_zalloc(&m->texts, in->n_damage, sizeof(*list));
	if (!list)
		return no_memory(err);
	for (size_t i = 0; i < in->n_damage; i++) {
		const Tfp__Damage *from = in->damage[i];
		list[i] = (struct tfp_diagnostic){
			.severity = (enum tfp_severity)from->severity,
			.offset = from->offset,
			.message = keep_text(&m->texts, from->message),
			.hint = keep_text(&m->texts, from->hint),
		};
		if (from->severity > TFP_ERROR || !list[i].message || !list[i].hint)
			return bad(err, "damage of an unknown kind");
	}
	m->brief = (struct tfp_capture_brief){
		.planes = in->planes,
		.lines = in->lines,
		.events = in->events,
		.broken_modules = in->broken_modules,
		.duration_ms = in->duration_ms,
		.start = {in->is_shown, in->begin_ps, in->profile_start_ns},
		.diagnostics = list,
		.diagnostic_count = in->n_damage,
	};
	summary->brief = &m->brief;
	return TFP_OK;
}

static enum tfp_status unpack_work(struct tfp_step_work *to, const Tfp__StepWork *from,
				   struct tfp_error *err)
{
	enum { MEMORIES = TFP_SPACE_COUNT * TFP_ACCESS_COUNT };
	if (from->begin_ps < -TIME_MAX || from->end_ps > TIME_MAX || from->end_ps < from->begin_ps)
		return bad(err, "a step out of time");
	to->number = from->number;
	to->begin_ps = from->begin_ps;
	to->end_ps = from->end_ps;
	to->duration_ps = from->duration_ps;
	to->peers_time_ps = from->peers_time_ps;
	to->whole_time_ps = from->whole_time_ps;
	for (size_t p = 0; p < from->n_parts; p++) {
		const Tfp__WorkSum *in = from->parts[p];
		if (in->part >= TFP_WORK_PARTS || (in->n_bytes && in->n_bytes != MEMORIES))
			return bad(err, "work of an unknown kind");
		struct tfp_work_sum *sum = &to->parts[in->part];
		sum->self_time_ps = in->self_time_ps;
		sum->time_ps = in->time_ps;
		sum->has_cost = in->has_cost;
		sum->flops = in->flops;
		sum->model_flops = in->model_flops;
		sum->bytes_accessed = in->bytes_accessed;
		sum->has_breakdown = in->n_bytes > 0;
		for (size_t i = 0; i < in->n_bytes; i++)
			sum->bytes[i / TFP_ACCESS_COUNT][i % TFP_ACCESS_COUNT] = in->bytes[i];
	}
	return TFP_OK;
}

static enum tfp_status unpack_works(struct tfp_host_summary *summary, const Tfp__StepWorks *in,
				    struct tfp_error *err)
{
	struct tfp_host_summary_memory *m = summary->memory;
	if (!in)
		return bad(err, "no work of steps");
	struct tfp_step_work *list = tfp_calloc(in->n_steps + 1, sizeof(*list));
	enum tfp_status status = list ? TFP_OK : no_memory(err);
	for (size_t s = 0; status == TFP_OK && s < in->n_steps; s++)
		status = unpack_work(&list[s], in->steps[s], err);
	if (status == TFP_OK) {
		/* A copy owns its module's name. */
		const struct tfp_step_works works = {.list = list,
						     .count = in->n_steps,
						     .has_device = in->has_device,
						     .module_steps = in->module_steps,
						     .module = str_of(in->module)};
		if (!tfp_step_works_copy(&m->step_works, &works))
			status = no_memory(err);
	}
	tfp_free(list);
	summary->step_works = &m->step_works;
	return status;
}

static enum tfp_status unpack_diagnostics(struct tfp_host_summary *summary,
					  const Tfp__Diagnostics *in, struct tfp_error *err)
{
	struct tfp_arena *texts = &summary->memory->texts;
	if (!in)
		return bad(err, "no diagnostics");
	enum tfp_status status = unpack_texts(texts, in->errors, in->n_errors, &summary->errors,
					      &summary->error_count, err);
	if (status == TFP_OK)
		status = unpack_texts(texts, in->warnings, in->n_warnings, &summary->warnings,
				      &summary->warning_count, err);
	return status;
}

static void *arena_alloc(void *arena, size_t size)
{
	return tfp_arena_alloc(arena, size);
}

static void arena_free(void *arena, void *memory)
{
	(void)arena;
	(void)memory; /* all at once, with the arena */
}

enum tfp_status tfp_op_stats_unpack(struct tfp_host_summary *summary, unsigned parts,
				    const void *bytes, size_t size, struct tfp_error *err)
{
	struct tfp_arena arena;
	ProtobufCAllocator allocator = {arena_alloc, arena_free, &arena};
	enum tfp_status status = TFP_OK;
	if (size > TFP_OP_STATS_MESSAGE_MAX)
		return bad(err, "too many bytes");
	if (!tfp_host_summary_own(summary))
		return no_memory(err);
	tfp_arena_init(&arena, size * UNPACK_FACTOR + UNPACK_SLACK);
	const Tfp__OpStats *in = tfp__op_stats__unpack(&allocator, size, bytes);
	if (!in)
		status = bad(err, "bytes that are no message");
	if (status == TFP_OK && (parts & TFP_SUMMARY_OPS))
		status = unpack_op_stats(summary, in, err);
	if (status == TFP_OK && (parts & TFP_SUMMARY_ANY_STEPS))
		status = unpack_step_parts(&allocator, summary, in, err);
	if (status == TFP_OK && (parts & TFP_SUMMARY_PROGRAMS))
		status = unpack_programs(summary, in, err);
	if (status == TFP_OK && (parts & TFP_SUMMARY_ANY_WORK))
		status = unpack_works(summary, in->step_works, err);
	if (status == TFP_OK && (parts & TFP_SUMMARY_BRIEF))
		status = unpack_brief(summary, in->capture_brief, err);
	if (status == TFP_OK && (parts & (TFP_SUMMARY_ANY_STEPS | TFP_SUMMARY_BRIEF)))
		status = unpack_diagnostics(summary, in->diagnostics, err);
	tfp_arena_release(&arena);
	return status;
}
