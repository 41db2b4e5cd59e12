/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which step category an event belongs to: what colours mean in a timeline. The
 * rules are the ones by which the time of steps is split (steps.h), as far as the event's name
 * and whether it launched something decide.
 *
 *     const struct tfp_event_categories *categories;
 *     tfp_event_categories_get(capture, pool, &categories, &err);
 *     enum tfp_step_category c = tfp_event_category(categories, track, line, i);
 */
#ifndef TFP_ANALYSIS_TIMELINE_EVENT_CATEGORIES_H
#define TFP_ANALYSIS_TIMELINE_EVENT_CATEGORIES_H

#include "analysis/steps/step_kinds.h"
#include "analysis/timeline/tracks.h"

struct tfp_track_category {
	const uint8_t *by_meta; /* NULL: always the same */
	/* Of launches, by metadata; NULL where there are none. A thread can have a launch and
	 * something else of one name: XLA calls both after the kernel. */
	const uint8_t *of_launch;
	int64_t correlation_id; /* of the plane's stats: an event that has it launched something */
	uint8_t same;
};

struct tfp_event_categories {
	struct tfp_track_category *tracks; /* as the tracks of the capture */
	uint8_t **lists;                   /* what by_meta and of_launch point to */
	size_t list_count;
};

/* Of a capture; computed once and kept with it. */
enum tfp_status tfp_event_categories_get(struct tfp_capture *capture, struct tfp_pool *pool,
					 const struct tfp_event_categories **out,
					 struct tfp_error *err) TFP_CHECK;

/* The same for tfp_file_tracks_get's tracks. */
enum tfp_status tfp_file_event_categories_get(struct tfp_capture *capture, struct tfp_pool *pool,
					      const struct tfp_event_categories **out,
					      struct tfp_error *err) TFP_CHECK;

/* Whether the event's category is that of launches, where that is another. */
bool tfp_event_is_launch(const struct tfp_track_category *track, const struct tfp_line *line,
			 size_t event);

static inline enum tfp_step_category tfp_category_of(const struct tfp_track_category *track,
						     uint32_t meta, bool is_launch)
{
	const uint8_t *list = is_launch ? track->of_launch : track->by_meta;
	return (enum tfp_step_category)(list ? list[meta] : track->same);
}

static inline enum tfp_step_category tfp_event_category(const struct tfp_event_categories *c,
							size_t track, const struct tfp_line *line,
							size_t event)
{
	const struct tfp_track_category *t = &c->tracks[track];
	return tfp_category_of(t, tfp_event_meta_index(line, event),
			       tfp_event_is_launch(t, line, event));
}

#endif
