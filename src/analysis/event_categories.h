/*
 * Which step category the events of a track belong to, by their names: what
 * colours mean in a timeline. The rules are the ones by which the time of steps is split
 * (steps.h), as far as a name decides.
 *
 *     const struct tfp_event_categories *categories;
 *     tfp_event_categories_get(capture, pool, &categories, &err);
 *     enum tfp_step_category c = tfp_event_category(categories, track, tfp_event_meta_index(line,
 * i));
 */
#ifndef TFP_ANALYSIS_EVENT_CATEGORIES_H
#define TFP_ANALYSIS_EVENT_CATEGORIES_H

#include "analysis/steps.h"
#include "analysis/tracks.h"

struct tfp_track_category {
	const uint8_t *by_meta; /* NULL: always the same */
	uint8_t same;
};

struct tfp_event_categories {
	struct tfp_track_category *tracks; /* as the tracks of the capture */
	uint8_t **lists;                   /* what by_meta points to, by plane */
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

static inline enum tfp_step_category tfp_event_category(const struct tfp_event_categories *c,
							size_t track, uint32_t meta)
{
	const struct tfp_track_category *t = &c->tracks[track];
	return (enum tfp_step_category)(t->by_meta ? t->by_meta[meta] : t->same);
}

#endif
