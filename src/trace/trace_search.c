/* SPDX-License-Identifier: Apache-2.0 */
/* /trace_viewer/search: events whose names or arguments contain or match a text. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/progress.h"
#include "trace/text_match.h"
#include "trace/trace_hits.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define LIMIT     200u
#define LIMIT_MAX 2000u
#define SLOTS_MAX 8192u
/* Nobody waits longer for an answer. */
#define PATIENCE_NS INT64_C(20000000000)
/* Texts that may be given up on. More say that the expression is too costly for these names,
 * and an answer that leaves so many out would be of little use. */
#define GAVE_UP_MAX 200u
/* Texts between two checks of the clock, and of whether a client still waits. A text that is
 * given up on takes a millisecond. */
#define LOOK_EVERY 64u

/* Events whose arguments are looked at together at first, unless they lie in more bytes each. */
#define TOGETHER  1024u
#define FAR_APART 4096u

struct plane_names {
	const struct tfp_plane *plane;
	uint8_t *matched; /* by metadata, the masks' */
	uint8_t *texts; /* by stat metadata: its name as the value of a stat; NULL: not searched */
	bool in_texts;  /* one of these matches */
};

struct search {
	const struct tfp_trace *trace;
	struct tfp_text_pattern *pattern;
	bool in_names, in_args, numbers; /* numbers: the text can be one's */
	uint64_t offset, limit, slots;
	int64_t from_ps, to_ps, deadline_ns;
	struct tfp_trace_track *tracks;
	struct tfp_hit_track *hits; /* beside tracks */
	uint8_t **bits;             /* beside tracks; owned */
	size_t count;
	struct tfp_hit_masks masks;
	struct plane_names *planes; /* as the masks */
	atomic_uint_least64_t gave_up;
	atomic_bool no_memory, too_long, cancelled;
};

/* ---- matching ---- */

/* The tools of one thread. */
struct hand {
	struct search *s;
	struct tfp_text_matcher *matcher;
	unsigned until_look;
	uint64_t told; /* of what it gave up on, already in the search's sum */
};

static bool hand_init(struct hand *h, struct search *s)
{
	*h = (struct hand){s, tfp_text_matcher_new(s->pattern), LOOK_EVERY, 0};
	if (!h->matcher)
		atomic_store(&s->no_memory, true);
	return h->matcher != NULL;
}

static void tell_gave_up(struct hand *h)
{
	uint64_t all = tfp_text_matcher_gave_up(h->matcher);
	atomic_fetch_add(&h->s->gave_up, all - h->told);
	h->told = all;
}

static void hand_release(struct hand *h)
{
	if (h->matcher) {
		tell_gave_up(h);
		if (tfp_text_matcher_failed(h->matcher))
			atomic_store(&h->s->no_memory, true);
	}
	tfp_text_matcher_free(h->matcher);
}

/* Whether to go on: false when it takes too long, costs too much, memory has run out, or
 * no client waits any more. */
static bool go_on(struct hand *h)
{
	struct search *s = h->s;
	if (--h->until_look > 0)
		return true;
	h->until_look = LOOK_EVERY;
	tell_gave_up(h);
	if (tfp_clock_monotonic_ns() > s->deadline_ns)
		atomic_store(&s->too_long, true);
	if (tfp_cancelled())
		atomic_store(&s->cancelled, true);
	return !atomic_load(&s->too_long) && !atomic_load(&s->no_memory) &&
	       !atomic_load(&s->cancelled) && atomic_load(&s->gave_up) <= GAVE_UP_MAX;
}

static bool matches(struct hand *h, struct tfp_str text)
{
	return tfp_text_matches(h->matcher, text.data, text.size);
}

/* Numbers are searched as they are shown. */
static bool number_matches(struct hand *h, const struct tfp_stat *stat)
{
	char digits[40];
	int size;
	if (stat->kind == TFP_STAT_INT)
		size = snprintf(digits, sizeof(digits), "%" PRId64, stat->int_value);
	else if (stat->kind == TFP_STAT_UINT)
		size = snprintf(digits, sizeof(digits), "%" PRIu64, stat->uint_value);
	else
		size = snprintf(digits, sizeof(digits), "%.15g", stat->double_value);
	return size > 0 && tfp_text_matches(h->matcher, digits, (size_t)size);
}

static bool stats_match(struct hand *h, const struct plane_names *p, struct tfp_stat_iter it)
{
	const struct tfp_plane *plane = p->plane;
	const bool numbers = h->s->numbers;
	struct tfp_stat stat;
	while (numbers ? tfp_stat_next(&it, &stat) : tfp_stat_next_text(&it, &stat)) {
		bool found = false;
		switch (stat.kind) {
		case TFP_STAT_STR:
			found = matches(h, stat.text);
			break;
		case TFP_STAT_REF:
			found = p->texts[tfp_id_map_find(&plane->stat_meta_ids,
							 (int64_t)stat.uint_value)];
			break;
		case TFP_STAT_INT:
		case TFP_STAT_UINT:
		case TFP_STAT_DOUBLE:
			found = number_matches(h, &stat);
			break;
		default:
			break;
		}
		if (!found)
			continue;
		uint32_t name = tfp_id_map_find(&plane->stat_meta_ids, stat.metadata_id);
		if (!tfp_stat_name_is_internal(plane->stat_metas[name].name) &&
		    !tfp_stat_is_unset(plane, plane->stat_metas[name].name))
			return true;
	}
	return false;
}

/* Matches texts that all events of a name share: the name, and the stats of its metadata. */
static void match_plane(void *context, size_t index)
{
	struct search *s = context;
	struct plane_names *p = &s->planes[index];
	const struct tfp_plane *plane = p->plane;
	struct hand h;
	bool ok = hand_init(&h, s);
	if (ok && s->in_args) {
		p->texts = tfp_calloc(plane->stat_meta_count, 1);
		ok = p->texts != NULL;
		if (!ok)
			atomic_store(&s->no_memory, true);
		for (size_t i = 0; ok && i < plane->stat_meta_count && go_on(&h); i++)
			p->in_texts |= p->texts[i] = matches(&h, plane->stat_metas[i].name);
	}
	for (size_t m = 0; ok && m < plane->event_meta_count && go_on(&h); m++) {
		const struct tfp_event_meta *meta = &plane->event_metas[m];
		bool shown_other = meta->display_name.size > 0, found = false;
		if (tfp_event_name_is_internal(meta->name))
			continue;
		if (s->in_names)
			found = matches(&h, shown_other ? meta->display_name : meta->name);
		if (!found && s->in_args)
			found = (shown_other && matches(&h, meta->name)) ||
				stats_match(&h, p, tfp_event_meta_stats(meta));
		p->matched[m] = found;
	}
	hand_release(&h);
}

static uint8_t *bits_of(struct search *s, size_t index)
{
	size_t n = s->tracks[index].track->line->event_count;
	if (!s->bits[index])
		s->bits[index] = tfp_calloc(n / 8 + 1, 1);
	if (!s->bits[index])
		atomic_store(&s->no_memory, true);
	return s->bits[index];
}

static const struct plane_names *names_of(const struct search *s, const struct tfp_plane *plane)
{
	size_t i = 0;
	while (s->planes[i].plane != plane)
		i++;
	return &s->planes[i];
}

/* Events that are called by their step. */
static void match_named(struct hand *h, struct search *s, size_t index)
{
	const struct tfp_hit_track *t = &s->hits[index];
	const uint32_t *list;
	size_t count;
	tfp_trace_named_events(&t->track, &list, &count);
	for (size_t i = 0; i < count && go_on(h); i++) {
		uint32_t event = list ? list[i] : (uint32_t)i;
		uint32_t lane, place;
		if (!matches(h, tfp_trace_event_name(&t->track, event)) ||
		    !tfp_timeline_find_event(t->track.timeline, event, &lane, &place))
			continue;
		uint8_t *bits = bits_of(s, index);
		if (!bits)
			return;
		bits[event / 8] |= (uint8_t)(1u << (event % 8));
	}
}

/* Whether arguments of these events might match: their messages lie near one another, and most
 * searches are for something that few have. */
static bool may_match(const struct search *s, const struct tfp_line *line, uint32_t from,
		      uint32_t to)
{
	uint32_t last = from;
	uint64_t low = UINT64_MAX, high = 0;
	for (uint32_t e = from; e < to; e++) {
		uint64_t at = tfp_event_at(line, e);
		low = at < low ? at : low;
		if (at >= high) {
			high = at;
			last = e;
		}
	}
	struct tfp_span end = tfp_event_message(line, last);
	const uint8_t *begin = line->message.data + low;
	size_t size = (size_t)(end.data - begin) + end.size;
	return size > FAR_APART * (size_t)(to - from) ||
	       tfp_text_may_lie_in(s->pattern, begin, size);
}

static void match_args(struct hand *h, struct search *s, size_t index)
{
	const struct tfp_hit_track *t = &s->hits[index];
	const struct tfp_track *track = t->track.track;
	const struct plane_names *p = names_of(s, track->plane);
	bool only_own_texts = !s->numbers && !p->in_texts;
	for (uint32_t e = t->from; e < t->to && go_on(h); e++) {
		if (only_own_texts && (e - t->from) % TOGETHER == 0) {
			uint32_t next = t->to - e < TOGETHER ? t->to : e + TOGETHER;
			if (!may_match(s, track->line, e, next)) {
				e = next - 1;
				continue;
			}
		}
		uint32_t meta = tfp_event_meta_index(track->line, e);
		if (t->by_meta[meta] ||
		    (track->kind == TFP_TRACK_COUNTER && meta != track->counter_meta) ||
		    !stats_match(h, p, tfp_event_stats(track->line, e)) ||
		    tfp_event_name_is_internal(track->plane->event_metas[meta].name))
			continue;
		uint8_t *bits = bits_of(s, index);
		if (!bits)
			return;
		bits[e / 8] |= (uint8_t)(1u << (e % 8));
	}
}

static void match_track(void *context, size_t index)
{
	struct search *s = context;
	struct hand h;
	if (hand_init(&h, s)) {
		if (s->in_names)
			match_named(&h, s, index);
		if (s->in_args)
			match_args(&h, s, index);
		s->hits[index].bits = s->bits[index];
	}
	hand_release(&h);
}

/* ---- the whole ---- */

static bool list_planes(struct search *s)
{
	bool ok = true, is_new;
	s->hits = tfp_calloc(s->count, sizeof(*s->hits));
	s->bits = tfp_calloc(s->count, sizeof(*s->bits));
	s->planes = tfp_calloc(s->count, sizeof(*s->planes));
	ok = s->hits && s->bits && s->planes;
	for (size_t i = 0; ok && i < s->count; i++) {
		const struct tfp_trace_track *t = &s->tracks[i];
		uint8_t *matched = tfp_hit_masks_get(&s->masks, t->track->plane, &is_new);
		ok = matched != NULL;
		if (ok && is_new)
			s->planes[s->masks.count - 1] =
				(struct plane_names){.plane = t->track->plane, .matched = matched};
		s->hits[i] = (struct tfp_hit_track){
			.track = *t,
			.from = tfp_hits_find(t, s->from_ps),
			.to = tfp_hits_find(t, s->to_ps),
			.by_meta = matched,
		};
	}
	return ok;
}

static enum tfp_status match_all(struct search *s, struct tfp_error *err)
{
	struct tfp_pool *pool = s->trace->pool;
	s->deadline_ns = tfp_clock_monotonic_ns() + PATIENCE_NS;
	bool ok = list_planes(s);
	if (ok)
		tfp_pool_for(pool, s->masks.count, match_plane, s);
	/* Tracks rest on all that was to be found for planes. */
	if (ok && !atomic_load(&s->no_memory))
		tfp_pool_for(pool, s->count, match_track, s);
	if (!ok || atomic_load(&s->no_memory))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a search");
	if (atomic_load(&s->cancelled))
		return tfp_fail_cancelled(err);
	if (atomic_load(&s->gave_up) > GAVE_UP_MAX) {
		tfp_fail(err, TFP_TOO_LARGE,
			 "the expression is too costly: matching gave up on more than %u names or "
			 "arguments",
			 GAVE_UP_MAX);
		tfp_error_set_hint(err, "repetitions within repetitions, such as (a+)+, are "
					"costly; or search some tracks or a part of the time");
		return TFP_TOO_LARGE;
	}
	if (atomic_load(&s->too_long)) {
		tfp_fail(err, TFP_TOO_LARGE, "the search takes too long");
		tfp_error_set_hint(err, "search some tracks or a part of the time, names "
					"only, or for something simpler");
		return TFP_TOO_LARGE;
	}
	return TFP_OK;
}

/* How many hits begin where, for marks over a trace with more of them than clients ask for. */
static enum tfp_status put_density(const struct search *s, struct tfp_json *j,
				   struct tfp_error *err)
{
	atomic_uint_least64_t *counts = tfp_calloc(s->slots, sizeof(*counts));
	if (!counts)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a search");
	tfp_hits_density(s->hits, s->count, s->from_ps, s->to_ps, (uint32_t)s->slots,
			 s->trace->pool, counts);
	tfp_json_begin_object_of(j, "density");
	tfp_json_set_integer(j, "from_ps", s->from_ps);
	tfp_json_set_integer(j, "to_ps", s->to_ps);
	tfp_json_begin_array_of(j, "counts");
	for (uint64_t i = 0; i < s->slots; i++)
		tfp_json_add_count(j, atomic_load(&counts[i]));
	tfp_json_end_array(j);
	tfp_json_end_object(j);
	tfp_free(counts);
	return TFP_OK;
}

static enum tfp_status put_hits(struct search *s, struct tfp_buf *out, struct tfp_error *err)
{
	struct tfp_pool *pool = s->trace->pool;
	uint64_t total = tfp_hits_count(s->hits, s->count, pool);
	struct tfp_hit *page = tfp_reallocarray(NULL, s->limit, sizeof(*page));
	size_t n = 0;
	enum tfp_status status;
	struct tfp_json j;
	if (!page)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a search");
	status = tfp_hits_page(s->hits, s->count, s->offset, (size_t)s->limit, pool, page, &n, err);
	tfp_json_init(&j, out);
	tfp_json_begin_object(&j);
	tfp_json_set_count(&j, "total", total);
	tfp_json_set_count(&j, "gave_up", atomic_load(&s->gave_up));
	tfp_json_begin_array_of(&j, "tracks");
	for (size_t i = 0; i < s->count; i++) {
		if (s->hits[i].count == 0)
			continue;
		tfp_json_begin_object(&j);
		tfp_trace_set_track_id(&j, "id", &s->tracks[i]);
		tfp_json_set_count(&j, "count", s->hits[i].count);
		tfp_json_end_object(&j);
	}
	tfp_json_end_array(&j);
	tfp_json_begin_array_of(&j, "hits");
	for (size_t i = 0; status == TFP_OK && i < n; i++)
		tfp_hits_put(&j, &s->tracks[page[i].track], page[i].event);
	tfp_json_end_array(&j);
	if (status == TFP_OK && s->slots)
		status = put_density(s, &j, err);
	tfp_json_end_object(&j);
	if (status == TFP_OK)
		status = tfp_json_finish(&j, err);
	tfp_free(page);
	return status;
}

static enum tfp_status read_query(struct search *s, const struct tfp_query *query,
				  struct tfp_error *err)
{
	static const char *const modes[] = {"text", "regex"};
	static const char *const places[] = {"name", "args", "all"};
	static const char *const cases[] = {"0", "1"};
	const char *text = tfp_query_get(query, "q");
	size_t mode, place, minds_case;
	enum tfp_status status = tfp_query_get_word(query, "mode", modes, 2, &mode, err);
	if (status == TFP_OK)
		status = tfp_query_get_word(query, "in", places, 3, &place, err);
	if (status == TFP_OK)
		status = tfp_query_get_word(query, "case", cases, 2, &minds_case, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "offset", 0, &s->offset, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "limit", LIMIT, &s->limit, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "slots", 0, &s->slots, err);
	if (status != TFP_OK)
		return status;
	if (s->limit > LIMIT_MAX)
		return tfp_fail(err, TFP_BAD_QUERY, "parameter limit: at most %u", LIMIT_MAX);
	if (s->slots > SLOTS_MAX)
		return tfp_fail(err, TFP_BAD_QUERY, "parameter slots: at most %u", SLOTS_MAX);
	text = text ? text : "";
	s->in_names = place != 1;
	s->in_args = place != 0;
	s->numbers = mode == 1 || text[strspn(text, "0123456789+-.eEinfatyINFATY")] == '\0';
	return tfp_text_pattern_new(&s->pattern, text, mode == 1, minds_case == 1, err);
}

enum tfp_status tfp_trace_search_json(const struct tfp_session *session,
				      const struct tfp_query *query, struct tfp_buf *json,
				      struct tfp_error *err)
{
	struct tfp_trace trace = {0};
	struct search s = {.trace = &trace};
	enum tfp_status status = read_query(&s, query, err);
	if (status == TFP_OK)
		status = tfp_trace_open(session, &trace, err);
	if (status == TFP_OK)
		status = tfp_trace_range(&trace, query, &s.from_ps, &s.to_ps, err);
	if (status == TFP_OK)
		status = tfp_trace_tracks(&trace, query, SIZE_MAX, &s.tracks, &s.count, err);
	if (status == TFP_OK)
		status = match_all(&s, err);
	if (status == TFP_OK)
		status = put_hits(&s, json, err);
	for (size_t i = 0; s.bits && i < s.count; i++)
		tfp_free(s.bits[i]);
	for (size_t i = 0; s.planes && i < s.masks.count; i++)
		tfp_free(s.planes[i].texts);
	tfp_hit_masks_release(&s.masks);
	tfp_text_pattern_free(s.pattern);
	tfp_free(s.bits);
	tfp_free(s.planes);
	tfp_free(s.hits);
	tfp_free(s.tracks);
	tfp_trace_release(&trace);
	return status;
}
