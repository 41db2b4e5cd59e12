/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/memory_document.h"

#include "base/alloc.h"
#include "base/json_writer.h"

#include <inttypes.h>
#include <string.h>

#define PEERS_SAMPLES 1000

static void set_str(struct tfp_json *j, const char *key, struct tfp_str text)
{
	tfp_json_set_text(j, key, text.data, text.size);
}

/* As protobuf prints numbers of 64 bits: between quotes. */
static void set_int64(struct tfp_json *j, const char *key, int64_t value)
{
	tfp_json_set_format(j, key, "%" PRId64, value);
}

static void set_uint64(struct tfp_json *j, const char *key, uint64_t value)
{
	tfp_json_set_format(j, key, "%" PRIu64, value);
}

static void put_state(struct tfp_json *j, const char *key, const struct tfp_memory_state *s)
{
	tfp_json_begin_object_of(j, key);
	set_int64(j, "stackReservedBytes", s->stack_bytes);
	set_int64(j, "heapAllocatedBytes", s->heap_bytes);
	set_int64(j, "freeMemoryBytes", s->free_bytes);
	tfp_json_key(j, "fragmentation");
	tfp_json_add_double(j, s->fragmentation);
	set_int64(j, "peakBytesInUse", s->peak_bytes);
	tfp_json_end_object(j);
}

static const char *const activities[] = {
	[TFP_MEMORY_ALLOCATION] = "ALLOCATION",
	[TFP_MEMORY_DEALLOCATION] = "DEALLOCATION",
};

static void put_activity(struct tfp_json *j, enum tfp_memory_activity activity, int64_t requested,
			 int64_t bytes, int64_t address, int64_t step,
			 const struct tfp_memory_label *label)
{
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "memoryActivity", activities[activity]);
	set_int64(j, "requestedBytes", requested);
	set_int64(j, "allocationBytes", bytes);
	set_uint64(j, "address", (uint64_t)address);
	set_str(j, "tfOpName", label->op);
	set_int64(j, "stepId", step);
	set_str(j, "regionType", label->region);
	set_str(j, "dataType", label->data_type);
	set_str(j, "tensorShape", label->shape);
	tfp_json_end_object(j);
}

static void put_snapshot(struct tfp_json *j, const struct tfp_memory *memory,
			 const struct tfp_allocator *a, size_t i)
{
	struct tfp_memory_state state;
	tfp_memory_state_at(memory, a, i, &state);
	tfp_json_begin_object(j);
	set_int64(j, "timeOffsetPs", a->time_ps[i]);
	put_state(j, "aggregationStats", &state);
	tfp_json_key(j, "activityMetadata");
	put_activity(j, (enum tfp_memory_activity)a->activity[i], a->requested_bytes[i],
		     a->allocation_bytes[i], a->address[i], a->step[i],
		     &memory->labels[a->label[i]]);
	tfp_json_end_object(j);
}

/* The parts of an allocator's peak. */
struct peak {
	bool found;
	struct tfp_memory_moment moment;
	struct tfp_memory_rows rows;
};

static enum tfp_status find_peak(const struct tfp_memory *memory, const struct tfp_allocator *a,
				 struct peak *peak, struct tfp_error *err)
{
	*peak = (struct peak){0};
	peak->found = tfp_memory_moment_of_peak(memory, a, &peak->moment);
	return tfp_memory_alive(memory, a, &peak->moment, TFP_MEMORY_STEP, &peak->rows, err);
}

static void put_summary(struct tfp_json *j, const struct tfp_allocator *a, const struct peak *peak)
{
	const struct tfp_memory_state *state = &peak->moment.state;
	tfp_json_begin_object_of(j, "profileSummary");
	set_int64(j, "peakBytesUsageLifetime", a->lifetime_peak_bytes);
	if (peak->found)
		put_state(j, "peakStats", state);
	set_int64(j, "peakStatsTimePs", peak->moment.time_ps);
	set_int64(j, "memoryCapacity", peak->found ? tfp_memory_capacity_bytes(state) : 0);
	tfp_json_end_object(j);
}

/* Rows that an allocation stands for are numbered in the order of the snapshots that are
 * listed for them, others downwards from -1. */
static void put_active(struct tfp_json *j, const struct tfp_memory *memory,
		       const struct tfp_memory_rows *rows)
{
	int64_t snapshot = 0;
	tfp_json_begin_array_of(j, "activeAllocations");
	for (size_t i = 0; i < rows->count; i++) {
		const struct tfp_memory_row *row = &rows->rows[i];
		bool special = row->first == TFP_MEMORY_NONE;
		/* The stack comes second where something is unused. */
		int64_t number =
			special && !tfp_memory_row_is_unused(memory, row) && rows->unused_bytes > 0;
		tfp_json_begin_object(j);
		set_int64(j, "snapshotIndex", special ? -number - 1 : snapshot);
		set_int64(j, "specialIndex", special ? number : -1);
		set_uint64(j, "numOccurrences", row->occurrences);
		tfp_json_end_object(j);
		snapshot += !special;
	}
	tfp_json_end_array(j);
}

static void put_special(struct tfp_json *j, const struct tfp_memory *memory,
			const struct tfp_allocator *a, const struct tfp_memory_rows *rows)
{
	const int64_t bytes[] = {rows->unused_bytes, rows->stack_bytes};
	const uint32_t labels[] = {memory->unused_label, memory->stack_label};
	tfp_json_begin_array_of(j, "specialAllocations");
	for (int i = 0; i < 2; i++) {
		if (bytes[i] > 0)
			put_activity(j, TFP_MEMORY_ALLOCATION, bytes[i], bytes[i], 0, a->peak_step,
				     &memory->labels[labels[i]]);
	}
	tfp_json_end_array(j);
}

static enum tfp_status put_allocator(struct tfp_json *j, const struct tfp_memory *memory,
				     const struct tfp_allocator *a, struct tfp_error *err)
{
	struct peak peak;
	size_t samples;
	enum tfp_status status = find_peak(memory, a, &peak, err);
	if (status != TFP_OK)
		return status;
	tfp_json_key_text(j, a->id.data, a->id.size);
	tfp_json_begin_object(j);
	tfp_json_begin_array_of(j, "memoryProfileSnapshots");
	for (size_t i = 0; i < peak.rows.count; i++) {
		if (peak.rows.rows[i].first != TFP_MEMORY_NONE)
			put_snapshot(j, memory, a, peak.rows.rows[i].first);
	}
	tfp_json_end_array(j);
	put_summary(j, a, &peak);
	put_active(j, memory, &peak.rows);
	put_special(j, memory, a, &peak.rows);
	tfp_memory_rows_release(&peak.rows);
	uint32_t *chosen = tfp_memory_sample(a, PEERS_SAMPLES, &samples);
	if (!chosen)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the timeline");
	tfp_json_begin_array_of(j, "sampledTimelineSnapshots");
	for (size_t i = 0; i < samples; i++)
		put_snapshot(j, memory, a, chosen[i]);
	tfp_json_end_array(j);
	tfp_free(chosen);
	/* Ours; readers of protobuf messages ignore fields that they do not know. */
	set_uint64(j, "allocationCount", a->allocations);
	set_uint64(j, "deallocationCount", a->deallocations);
	set_uint64(j, "failedCount", a->failed);
	tfp_json_end_object(j);
	return TFP_OK;
}

static void put_module(struct tfp_json *j, const struct tfp_plane *plane,
		       const struct tfp_line *line, size_t i, uint64_t number)
{
	const size_t prefix = strlen("/device:");
	tfp_json_begin_object(j);
	set_str(j, "name", tfp_event_meta(plane, line, i)->name);
	set_int64(j, "startTimePs", tfp_event_offset_ps(line, i));
	set_int64(j, "endTimePs", tfp_event_end_offset_ps(line, i));
	set_uint64(j, "id", number);
	tfp_json_set_text(j, "planeName", plane->name.data + prefix, plane->name.size - prefix);
	tfp_json_end_object(j);
}

/* Programs that ran on TPUs, for finding one's place in the timeline. */
static void put_modules(struct tfp_json *j, const struct tfp_capture *capture)
{
	uint64_t number = 0;
	tfp_json_begin_array_of(j, "hloModules");
	for (size_t p = 0; p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		if (!tfp_str_starts(plane->name, "/device:TPU:"))
			continue;
		for (size_t l = 0; l < plane->line_count; l++) {
			const struct tfp_line *line = &plane->lines[l];
			if (!tfp_str_equal(line->name, "XLA Modules"))
				continue;
			for (size_t i = 0; i < line->event_count; i++)
				put_module(j, plane, line, i, number++);
		}
	}
	tfp_json_end_array(j);
}

enum tfp_status tfp_memory_document(const struct tfp_capture *capture,
				    const struct tfp_memory *memory,
				    const struct tfp_allocator *only, struct tfp_buf *json,
				    struct tfp_error *err)
{
	struct tfp_json j;
	tfp_json_init(&j, json);
	tfp_json_begin_object(&j);
	tfp_json_begin_object_of(&j, "memoryProfilePerAllocator");
	for (size_t i = 0; i < memory->allocator_count; i++) {
		const struct tfp_allocator *a = &memory->allocators[i];
		if (only && a != only)
			continue;
		enum tfp_status status = put_allocator(&j, memory, a, err);
		if (status != TFP_OK)
			return status;
	}
	tfp_json_end_object(&j);
	tfp_json_set_integer(&j, "numHosts", 1);
	tfp_json_begin_array_of(&j, "memoryIds");
	for (size_t i = 0; i < memory->allocator_count; i++)
		tfp_json_add_text(&j, memory->allocators[i].id.data, memory->allocators[i].id.size);
	tfp_json_end_array(&j);
	tfp_json_set_integer(&j, "version", 1);
	put_modules(&j, capture);
	tfp_json_end_object(&j);
	return tfp_json_finish(&j, err);
}
