/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/summary/op_stats_fields.h"
#include "analysis/summary/op_stats_message.h"

#include <string.h>

static ProtobufCBinaryData bytes_of(struct tfp_str s)
{
	return (ProtobufCBinaryData){s.size, (uint8_t *)(uintptr_t)s.data};
}

static ProtobufCBinaryData bytes_of_text(const char *text)
{
	return bytes_of((struct tfp_str){text, strlen(text)});
}

/* Only what is not 0. */
static bool pack_device(struct tfp_arena *a, const struct tfp_device_metrics *device,
			Tfp__OpMetrics *out)
{
	enum { MOST = TFP_SPACE_COUNT * TFP_ACCESS_COUNT };
	Tfp__MemoryAccessed *all = tfp_arena_zalloc(a, MOST, sizeof(*all));
	out->memory_accessed_breakdown =
		tfp_arena_zalloc(a, MOST, sizeof(*out->memory_accessed_breakdown));
	if (!all || !out->memory_accessed_breakdown)
		return false;
	out->origin = device->origin;
	out->cost_by = device->cost_by;
	out->core_type = device->core;
	out->normalized_time_ps = device->normalized_ps;
	out->dma_stall_ps = device->dma_stall_ps;
	for (int m = 0; device->has_breakdown && m < TFP_SPACE_COUNT; m++) {
		for (int k = 0; k < TFP_ACCESS_COUNT; k++) {
			double bytes = device->bytes[m][k];
			Tfp__MemoryAccessed *one = &all[out->n_memory_accessed_breakdown];
			/* One at least: that there is a breakdown is told by that. */
			if (bytes == 0 && (m || k))
				continue;
			tfp__memory_accessed__init(one);
			one->operation_type = k;
			one->memory_space = (uint64_t)(m == TFP_SPACE_OTHER ? 0 : m + 1);
			one->bytes_accessed = bytes >= 0 && bytes < 0x1p63 ? (uint64_t)bytes : 0;
			one->bytes_accessed_exact = bytes;
			out->memory_accessed_breakdown[out->n_memory_accessed_breakdown++] = one;
		}
	}
	return true;
}

static bool pack_parts(struct tfp_arena *a, const struct tfp_op_text *text, Tfp__OpMetrics *out)
{
	Tfp__OpPart *all = tfp_arena_zalloc(a, text->part_count, sizeof(*all));
	out->parts = tfp_arena_zalloc(a, text->part_count, sizeof(*out->parts));
	if (!all || !out->parts)
		return false;
	for (uint32_t i = 0; i < text->part_count; i++) {
		tfp__op_part__init(&all[i]);
		all[i].depth = text->parts[i].depth;
		all[i].name = bytes_of(text->parts[i].name);
		all[i].category = bytes_of(text->parts[i].category);
		all[i].provenance = bytes_of(text->parts[i].provenance);
		all[i].expression = bytes_of(text->parts[i].expression);
		out->parts[out->n_parts++] = &all[i];
	}
	return true;
}

static bool pack_texts_of_ops(struct tfp_arena *a, const struct tfp_op_texts *texts,
			      Tfp__OpMetricsDb *out)
{
	struct one {
		Tfp__OpMetrics op;
		Tfp__SourceInfo source;
	} *all = tfp_arena_zalloc(a, texts->count, sizeof(*all));
	out->metrics_db = tfp_arena_zalloc(a, texts->count, sizeof(*out->metrics_db));
	if (!all || !out->metrics_db)
		return false;
	for (size_t i = 0; i < texts->count; i++) {
		const struct tfp_op_text *text = &texts->list[i];
		tfp__op_metrics__init(&all[i].op);
		tfp__source_info__init(&all[i].source);
		all[i].op.hlo_module_id = text->module_id;
		all[i].op.name = bytes_of(text->name);
		all[i].op.deduplicated_name = bytes_of(text->deduplicated_name);
		all[i].op.long_name = bytes_of(text->expression);
		all[i].op.source_info = &all[i].source;
		all[i].source.file_name = bytes_of(text->source_file);
		all[i].source.line_number = text->source_line;
		all[i].source.stack_frame = bytes_of(text->source_stack);
		if (!pack_parts(a, text, &all[i].op))
			return false;
		out->metrics_db[out->n_metrics_db++] = &all[i].op;
	}
	return true;
}

static bool pack_programs(struct tfp_arena *a, const struct tfp_op_texts *texts, Tfp__OpStats *out)
{
	Tfp__ProgramEntry *all = tfp_arena_zalloc(a, texts->program_count, sizeof(*all));
	out->program_id_to_name_map =
		tfp_arena_zalloc(a, texts->program_count, sizeof(*out->program_id_to_name_map));
	if (!all || !out->program_id_to_name_map)
		return false;
	for (size_t i = 0; i < texts->program_count; i++) {
		tfp__program_entry__init(&all[i]);
		all[i].key = texts->programs[i].id;
		all[i].value = bytes_of(texts->programs[i].name);
		all[i].instructions = texts->programs[i].instructions;
		out->program_id_to_name_map[out->n_program_id_to_name_map++] = &all[i];
	}
	return true;
}

static bool pack_ops(struct tfp_arena *a, const struct tfp_op_db *db, Tfp__OpMetricsDb *out)
{
	Tfp__OpMetrics *ops = tfp_arena_zalloc(a, db->count, sizeof(*ops));
	out->metrics_db = tfp_arena_zalloc(a, db->count, sizeof(*out->metrics_db));
	if (!ops || !out->metrics_db)
		return false;
	out->total_time_ps = db->total_time_ps;
	out->total_op_time_ps = db->total_op_time_ps;
	for (size_t i = 0; i < db->count; i++) {
		const struct tfp_op *op = &db->ops[i];
		double bytes = op->bytes_accessed;
		tfp__op_metrics__init(&ops[i]);
		ops[i].hlo_module_id = op->module_id;
		ops[i].name = bytes_of(op->name);
		ops[i].category = bytes_of(op->category);
		ops[i].provenance = bytes_of(op->provenance);
		ops[i].is_eager = op->is_eager;
		ops[i].occurrences = op->occurrences;
		ops[i].time_ps = op->time_ps;
		ops[i].self_time_ps = op->self_time_ps;
		ops[i].flops_v2 = op->flops;
		ops[i].model_flops_v2 = op->model_flops;
		ops[i].bytes_accessed = bytes >= 0 && bytes < 0x1p63 ? (uint64_t)bytes : 0;
		ops[i].bytes_accessed_exact = bytes;
		ops[i].has_cost = op->has_cost;
		if (op->device && !pack_device(a, op->device, &ops[i]))
			return false;
		out->metrics_db[out->n_metrics_db++] = &ops[i];
	}
	return true;
}

static bool pack_kernels(struct tfp_arena *a, const struct tfp_kernels *kernels,
			 Tfp__KernelStatsDb *out)
{
	Tfp__KernelReport *reports = tfp_arena_zalloc(a, kernels->count, sizeof(*reports));
	out->reports = tfp_arena_zalloc(a, kernels->count, sizeof(*out->reports));
	if (!reports || !out->reports)
		return false;
	for (size_t i = 0; i < kernels->count; i++) {
		const struct tfp_kernel *k = &kernels->kernels[i];
		Tfp__KernelReport *r = &reports[i];
		tfp__kernel_report__init(r);
		r->name = bytes_of(k->name);
		r->op_name = bytes_of(k->op_name);
		r->op_type = bytes_of(k->op_type);
		r->registers_per_thread = k->registers;
		r->static_shmem_bytes = k->static_shared_bytes;
		r->dynamic_shmem_bytes = k->dynamic_shared_bytes;
		r->n_block_dim = r->n_grid_dim = 3;
		r->block_dim = (uint32_t *)(uintptr_t)k->block;
		r->grid_dim = (uint32_t *)(uintptr_t)k->grid;
		r->total_duration_ns = k->total_ns;
		r->min_duration_ns = k->min_ns;
		r->max_duration_ns = k->max_ns;
		r->is_kernel_using_tensor_core = k->uses_tensor_core;
		r->is_op_tensor_core_eligible = k->op_is_tensor_core_eligible;
		r->occurrences = k->occurrences;
		r->occupancy_pct = k->occupancy_percent;
		r->flops = k->flops;
		r->bytes_accessed = k->bytes;
		r->has_no_cost = k->has_no_cost;
		out->reports[out->n_reports++] = r;
	}
	return true;
}

static bool pack_functions(struct tfp_arena *a, const struct tfp_functions *functions,
			   Tfp__TfFunctionDb *out)
{
	struct one {
		Tfp__TfFunctionEntry entry;
		Tfp__TfFunction function;
		Tfp__TfFunctionMetricsEntry mode[TFP_FUNCTION_MODE_COUNT];
		Tfp__TfFunctionMetrics metrics[TFP_FUNCTION_MODE_COUNT];
		Tfp__TfFunctionMetricsEntry *modes[TFP_FUNCTION_MODE_COUNT];
	} *all = tfp_arena_zalloc(a, functions->count, sizeof(*all));
	out->tf_functions = tfp_arena_zalloc(a, functions->count, sizeof(*out->tf_functions));
	if (!all || !out->tf_functions)
		return false;
	for (size_t i = 0; i < functions->count; i++) {
		const struct tfp_function *f = &functions->list[i];
		struct one *o = &all[i];
		tfp__tf_function_entry__init(&o->entry);
		tfp__tf_function__init(&o->function);
		o->entry.key = bytes_of(f->name);
		o->entry.value = &o->function;
		o->function.total_tracing_count = f->tracing_count;
		o->function.metrics = o->modes;
		for (int m = 0; m < TFP_FUNCTION_MODE_COUNT; m++) {
			if (!f->calls[m] && !f->self_ps[m])
				continue;
			tfp__tf_function_metrics_entry__init(&o->mode[m]);
			tfp__tf_function_metrics__init(&o->metrics[m]);
			o->mode[m].key = m;
			o->mode[m].value = &o->metrics[m];
			o->metrics[m].count = f->calls[m];
			o->metrics[m].self_time_ps = f->self_ps[m];
			o->modes[o->function.n_metrics++] = &o->mode[m];
		}
		out->tf_functions[out->n_tf_functions++] = &o->entry;
	}
	return true;
}

/* The bytes of a message within a message. */
static bool pack_any(struct tfp_arena *a, const char *url, const ProtobufCMessage *message,
		     Tfp__Any *out)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *bytes = tfp_arena_alloc(a, size);
	if (!bytes)
		return false;
	protobuf_c_message_pack(message, bytes);
	out->type_url = bytes_of_text(url);
	out->value = (ProtobufCBinaryData){size, bytes};
	return true;
}

static bool pack_breakdown(struct tfp_arena *a, const struct tfp_core_step *core, Tfp__Any *out)
{
	if (core->is_tpu) {
		Tfp__TpuStepBreakdown tpu = TFP__TPU_STEP_BREAKDOWN__INIT;
		tpu.compute_ps = core->tpu_ps[TFP_TPU_COMPUTE];
		tpu.infeed_duration_ps = core->tpu_ps[TFP_TPU_INFEED];
		tpu.host_outfeed_ps = core->tpu_ps[TFP_TPU_OUTFEED];
		tpu.host_transfer_ps = core->tpu_ps[TFP_TPU_HOST_TRANSFER];
		tpu.crs_duration_ps = core->tpu_ps[TFP_TPU_ALL_REDUCE];
		tpu.tc_idle_ps = core->tpu_ps[TFP_TPU_IDLE];
		return pack_any(a, TFP_TPU_URL, &tpu.base, out);
	}
	Tfp__GenericStepBreakdown generic = TFP__GENERIC_STEP_BREAKDOWN__INIT;
	Tfp__TypeTime times[TFP_STEP_EVENT_COUNT], *list[TFP_STEP_EVENT_COUNT];
	generic.type_ps = list;
	for (int e = 0; e < TFP_STEP_EVENT_COUNT; e++) {
		if (core->type_ps[e] == 0)
			continue;
		tfp__type_time__init(&times[e]);
		times[e].key = tfp_event_numbers[e];
		times[e].value = core->type_ps[e];
		list[generic.n_type_ps++] = &times[e];
	}
	return pack_any(a, TFP_GENERIC_URL, &generic.base, out);
}

static bool pack_cores(struct tfp_arena *a, const struct tfp_steps *steps, size_t step,
		       Tfp__PerCoreStepInfo *out)
{
	const struct tfp_step *from = &steps->steps[step];
	struct one {
		Tfp__StepInfoEntry entry;
		Tfp__StepInfoResult info;
		Tfp__Any any;
	} *all = tfp_arena_zalloc(a, from->core_count, sizeof(*all));
	out->step_info_per_core =
		tfp_arena_zalloc(a, from->core_count, sizeof(*out->step_info_per_core));
	if (!all || !out->step_info_per_core)
		return false;
	for (size_t c = 0; c < from->core_count; c++) {
		const struct tfp_core_step *core = tfp_step_core(steps, step, c);
		struct one *o = &all[c];
		tfp__step_info_entry__init(&o->entry);
		tfp__step_info_result__init(&o->info);
		tfp__any__init(&o->any);
		o->entry.key = core->core;
		o->entry.value = &o->info;
		o->info.step_num = from->number;
		o->info.step_name = bytes_of(from->name);
		o->info.begin_ps = core->begin_ps;
		o->info.duration_ps = (uint64_t)core->duration_ps;
		o->info.step_breakdown = &o->any;
		if (!pack_breakdown(a, core, &o->any))
			return false;
		out->step_info_per_core[out->n_step_info_per_core++] = &o->entry;
	}
	return true;
}

static bool pack_copies(struct tfp_arena *a, const struct tfp_step *step, Tfp__PerCoreStepInfo *out)
{
	Tfp__DeviceMemoryTransfer *all = tfp_arena_zalloc(a, TFP_COPY_COUNT, sizeof(*all));
	out->device_memory_transfers =
		tfp_arena_zalloc(a, TFP_COPY_COUNT, sizeof(*out->device_memory_transfers));
	if (!all || !out->device_memory_transfers)
		return false;
	for (int i = 0; i < TFP_COPY_COUNT; i++) {
		tfp__device_memory_transfer__init(&all[i]);
		all[i].occurrence = step->copies[i].count;
		all[i].time_us = (double)step->copies[i].time_ps / 1e6;
		all[i].time_ps = step->copies[i].time_ps;
		all[i].bytes_transferred = step->copies[i].bytes;
		out->device_memory_transfers[out->n_device_memory_transfers++] = &all[i];
	}
	return true;
}

static bool pack_steps(struct tfp_arena *a, const struct tfp_steps *steps,
		       Tfp__StepDatabaseResult *out)
{
	Tfp__PerCoreStepInfo *all = tfp_arena_zalloc(a, steps->count, sizeof(*all));
	out->step_sequence = tfp_arena_zalloc(a, steps->count, sizeof(*out->step_sequence));
	if (!all || !out->step_sequence)
		return false;
	out->has_device = steps->has_device;
	out->has_groups = steps->has_groups;
	out->empty_intersect = steps->intersection_empty;
	out->module = bytes_of(steps->module);
	out->module_steps = steps->module_steps;
	for (size_t s = 0; s < steps->count; s++) {
		tfp__per_core_step_info__init(&all[s]);
		all[s].step_num = steps->steps[s].number;
		all[s].step_name = bytes_of(steps->steps[s].name);
		if (!pack_cores(a, steps, s, &all[s]) || !pack_copies(a, &steps->steps[s], &all[s]))
			return false;
		out->step_sequence[out->n_step_sequence++] = &all[s];
	}
	return true;
}

static bool pack_brief(struct tfp_arena *a, const struct tfp_capture_brief *brief,
		       Tfp__CaptureBrief *out)
{
	Tfp__Damage *all = tfp_arena_zalloc(a, brief->diagnostic_count, sizeof(*all));
	out->damage = tfp_arena_zalloc(a, brief->diagnostic_count, sizeof(*out->damage));
	if (!all || !out->damage)
		return false;
	out->planes = brief->planes;
	out->lines = brief->lines;
	out->events = brief->events;
	out->broken_modules = brief->broken_modules;
	out->duration_ms = brief->duration_ms;
	out->is_shown = brief->start.any;
	out->begin_ps = brief->start.begin_ps;
	out->profile_start_ns = brief->start.profile_start_ns;
	for (size_t i = 0; i < brief->diagnostic_count; i++) {
		const struct tfp_diagnostic *d = &brief->diagnostics[i];
		tfp__damage__init(&all[i]);
		all[i].severity = (uint32_t)d->severity;
		all[i].offset = d->offset;
		all[i].message = bytes_of_text(d->message);
		all[i].hint = bytes_of_text(d->hint);
		out->damage[out->n_damage++] = &all[i];
	}
	return true;
}

static bool pack_texts(struct tfp_arena *a, const struct tfp_str *texts, size_t count,
		       ProtobufCBinaryData **out, size_t *out_count)
{
	*out = tfp_arena_zalloc(a, count, sizeof(**out));
	if (!*out)
		return false;
	for (size_t i = 0; i < count; i++)
		(*out)[i] = bytes_of(texts[i]);
	*out_count = count;
	return true;
}

/* The messages below an OpStats, of which there is one each. */
struct message {
	Tfp__OpStats top;
	Tfp__OpMetricsDb host_ops, device_ops, unnamed_ops, op_texts;
	Tfp__PerfEnv perf;
	Tfp__RunEnvironment env;
	Tfp__HostnameEntry hostname, *hostnames[1];
	Tfp__KernelStatsDb kernels;
	Tfp__PrecisionStats precision;
	Tfp__StepDatabaseResult steps;
	Tfp__TfFunctionDb functions;
	Tfp__Diagnostics diagnostics;
	Tfp__PerformanceCounterResult counters;
	Tfp__CaptureBrief brief;
	Tfp__StepWorks works;
};

static void init_message(struct message *m)
{
	tfp__op_stats__init(&m->top);
	tfp__op_metrics_db__init(&m->host_ops);
	tfp__op_metrics_db__init(&m->device_ops);
	tfp__op_metrics_db__init(&m->unnamed_ops);
	tfp__op_metrics_db__init(&m->op_texts);
	tfp__perf_env__init(&m->perf);
	tfp__run_environment__init(&m->env);
	tfp__hostname_entry__init(&m->hostname);
	tfp__kernel_stats_db__init(&m->kernels);
	tfp__precision_stats__init(&m->precision);
	tfp__step_database_result__init(&m->steps);
	tfp__tf_function_db__init(&m->functions);
	tfp__diagnostics__init(&m->diagnostics);
	tfp__performance_counter_result__init(&m->counters);
	tfp__capture_brief__init(&m->brief);
	tfp__step_works__init(&m->works);
}

static bool pack_op_stats(struct tfp_arena *a, const struct tfp_op_stats *stats, struct message *m)
{
	const struct tfp_run_env *env = &stats->env;
	m->top.host_op_metrics_db = &m->host_ops;
	m->top.device_op_metrics_db = &m->device_ops;
	m->top.perf_env = &m->perf;
	const struct tfp_peaks *peaks = &env->peaks;
	m->perf.peak_tera_flops_per_second = peaks->teraflops;
	m->perf.peak_hbm_bw_giga_bytes_per_second = peaks->gigabytes_per_second[TFP_PEAK_HBM];
	m->perf.peak_bws_giga_bytes_per_second = (double *)(uintptr_t)peaks->gigabytes_per_second;
	m->perf.n_peak_bws_giga_bytes_per_second = TFP_PEAK_COUNT;
	m->perf.has_cmem = peaks->gigabytes_per_second[TFP_PEAK_CMEM_READ] > 0 ||
			   peaks->gigabytes_per_second[TFP_PEAK_CMEM_WRITE] > 0;
	m->perf.has_merged_vmem = peaks->has_merged_vmem;
	m->perf.has_megacore = peaks->has_megacore;
	m->perf.source = bytes_of_text(peaks->source);
	m->top.unnamed_op_metrics_db = &m->unnamed_ops;
	m->top.peers_time_ps = stats->device.peers_time_ps;
	m->top.whole_time_ps = stats->device.whole_time_ps;
	m->top.run_environment = &m->env;
	m->hostname.key = bytes_of_text(env->hostname);
	m->hostname.value = true;
	m->hostnames[0] = &m->hostname;
	m->env.hostnames = m->hostnames;
	m->env.n_hostnames = 1;
	m->env.host_count = 1;
	m->env.device_type = bytes_of_text(env->device_type);
	m->env.device_core_count = env->device_count;
	m->env.is_training = stats->is_training;
	m->env.hardware_type = (Tfp__HardwareType)env->hardware;
	m->top.kernel_stats_db = &m->kernels;
	return pack_ops(a, &stats->host_ops, &m->host_ops) &&
	       pack_ops(a, &stats->device.ops, &m->device_ops) &&
	       pack_ops(a, &stats->device.unnamed, &m->unnamed_ops) &&
	       pack_kernels(a, &stats->kernels, &m->kernels);
}

static bool pack_requests(struct tfp_arena *a, const struct tfp_requests *requests,
			  Tfp__OpStats *out)
{
	Tfp__Request *all = tfp_arena_zalloc(a, requests->count, sizeof(*all));
	out->requests = tfp_arena_zalloc(a, requests->count, sizeof(*out->requests));
	if (!all || !out->requests)
		return false;
	for (size_t i = 0; i < requests->count; i++) {
		tfp__request__init(&all[i]);
		all[i].total_ps = requests->list[i].total_ps;
		all[i].device_ps = requests->list[i].device_ps;
		all[i].communication_ps = requests->list[i].communication_ps;
		out->requests[out->n_requests++] = &all[i];
	}
	return true;
}

static bool pack_step_parts(struct tfp_arena *a, const struct tfp_host_summary *summary,
			    struct message *m)
{
	const struct tfp_utilization *u = summary->utilization;
	m->top.host_op_metrics_db = &m->host_ops;
	m->top.device_op_metrics_db = &m->device_ops;
	m->host_ops.total_host_infeed_enq_duration_ps = u->enqueue_ps;
	m->host_ops.total_host_infeed_enq_start_timestamp_ps_diff = u->enqueue_window_ps;
	m->device_ops.idle_time_ps = u->idle_ps;
	m->device_ops.busy_time_ps = u->busy_ps;
	m->device_ops.devices_active = u->devices_active;
	m->device_ops.precision_stats = &m->precision;
	m->precision.compute_16bit_ps = summary->steps->compute_16_ps;
	m->precision.compute_32bit_ps = summary->steps->compute_32_ps;
	m->top.performance_counter_result = &m->counters;
	m->counters.matrix_unit_utilization_percent = u->matrix_unit_percent;
	m->counters.hbm_utilization_percent = u->hbm_percent;
	m->top.step_db = &m->steps;
	m->top.tf_function_db = &m->functions;
	return pack_steps(a, summary->steps, &m->steps) &&
	       pack_requests(a, summary->requests, &m->top) &&
	       pack_functions(a, summary->functions, &m->functions);
}

static bool pack_works(struct tfp_arena *a, const struct tfp_step_works *works, Tfp__StepWorks *out)
{
	struct one {
		Tfp__StepWork step;
		Tfp__WorkSum sums[TFP_WORK_PARTS], *parts[TFP_WORK_PARTS];
	} *all = tfp_arena_zalloc(a, works->count, sizeof(*all));
	out->steps = tfp_arena_zalloc(a, works->count, sizeof(*out->steps));
	if (!all || !out->steps)
		return false;
	out->has_device = works->has_device;
	out->module = bytes_of(works->module);
	out->module_steps = works->module_steps;
	for (size_t s = 0; s < works->count; s++) {
		const struct tfp_step_work *from = &works->list[s];
		struct one *o = &all[s];
		tfp__step_work__init(&o->step);
		o->step.number = from->number;
		o->step.begin_ps = from->begin_ps;
		o->step.end_ps = from->end_ps;
		o->step.duration_ps = from->duration_ps;
		o->step.peers_time_ps = from->peers_time_ps;
		o->step.whole_time_ps = from->whole_time_ps;
		o->step.parts = o->parts;
		for (unsigned p = 0; p < TFP_WORK_PARTS; p++) {
			const struct tfp_work_sum *sum = &from->parts[p];
			Tfp__WorkSum *to = &o->sums[p];
			if (!sum->time_ps && !sum->self_time_ps && !sum->has_cost)
				continue;
			tfp__work_sum__init(to);
			to->part = p;
			to->self_time_ps = sum->self_time_ps;
			to->time_ps = sum->time_ps;
			to->has_cost = sum->has_cost;
			to->flops = sum->flops;
			to->model_flops = sum->model_flops;
			to->bytes_accessed = sum->bytes_accessed;
			if (sum->has_breakdown) {
				to->bytes = (double *)(uintptr_t)&sum->bytes[0][0];
				to->n_bytes = TFP_SPACE_COUNT * TFP_ACCESS_COUNT;
			}
			o->parts[o->step.n_parts++] = to;
		}
		out->steps[out->n_steps++] = &o->step;
	}
	return true;
}

static bool pack_diagnostics(struct tfp_arena *a, const struct tfp_host_summary *summary,
			     struct message *m)
{
	m->top.diagnostics = &m->diagnostics;
	return pack_texts(a, summary->errors, summary->error_count, &m->diagnostics.errors,
			  &m->diagnostics.n_errors) &&
	       pack_texts(a, summary->warnings, summary->warning_count, &m->diagnostics.warnings,
			  &m->diagnostics.n_warnings);
}

enum tfp_status tfp_op_stats_pack(const struct tfp_host_summary *summary, unsigned parts,
				  struct tfp_buf *out, struct tfp_error *err)
{
	struct tfp_arena arena;
	struct message m = {0};
	bool ok = true;
	tfp_arena_init(&arena, SIZE_MAX);
	init_message(&m);
	if (parts & TFP_SUMMARY_OPS)
		ok = pack_op_stats(&arena, summary->op_stats, &m);
	if (parts & TFP_SUMMARY_ANY_STEPS)
		ok = ok && pack_step_parts(&arena, summary, &m);
	if (parts & TFP_SUMMARY_PROGRAMS) {
		m.top.op_texts = &m.op_texts;
		ok = ok && pack_texts_of_ops(&arena, summary->op_texts, &m.op_texts) &&
		     pack_programs(&arena, summary->op_texts, &m.top);
	}
	if (parts & TFP_SUMMARY_ANY_WORK) {
		m.top.step_works = &m.works;
		ok = ok && pack_works(&arena, summary->step_works, &m.works);
	}
	if (parts & TFP_SUMMARY_BRIEF) {
		m.top.capture_brief = &m.brief;
		ok = ok && pack_brief(&arena, summary->brief, &m.brief);
	}
	if (parts & (TFP_SUMMARY_ANY_STEPS | TFP_SUMMARY_BRIEF))
		ok = ok && pack_diagnostics(&arena, summary, &m);
	if (ok) {
		size_t size = tfp__op_stats__get_packed_size(&m.top);
		uint8_t *to = (uint8_t *)tfp_buf_reserve(out, size);
		ok = to != NULL;
		if (ok)
			out->size += tfp__op_stats__pack(&m.top, to);
	}
	tfp_arena_release(&arena);
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory to keep a summary");
}
