/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures composed in a test, in memory, right or wrong on purpose. For small
 * ones; large ones come from src/synth.
 *
 *     struct builder *b = builder_new();
 *     struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
 *     struct builder_line *line = builder_line(host, 42, "python", 1000);
 *     struct builder_stats *e = builder_event(line, "train", 0, 5000000);
 *     builder_stat_int(e, "_r", 1);
 *     builder_stat_ref(e, "step_name", "train 1");
 *     uint8_t *bytes = builder_bytes(b, &size);
 *     ...
 *     free(bytes);
 *     builder_free(b);
 *
 * Names of events and stats become metadata with ids 1, 2, ... in the order in
 * which they are mentioned; events keep the order in which they are added.
 * Everything belongs to the builder. A failure ends the test program: there is
 * nothing to test without the bytes.
 */
#ifndef TFP_TESTS_SUPPORT_XSPACE_BUILDER_H
#define TFP_TESTS_SUPPORT_XSPACE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct builder;
struct builder_plane;
struct builder_line;
/* A thing that can have stats: an event, an event's metadata, a plane. */
struct builder_stats;

struct builder *builder_new(void);
void builder_free(struct builder *b);

/* XSpace.hostnames, .warnings, .errors. */
void builder_hostname(struct builder *b, const char *name);
void builder_warning(struct builder *b, const char *text);
void builder_error(struct builder *b, const char *text);

struct builder_plane *builder_plane(struct builder *b, int64_t id, const char *name);
struct builder_line *builder_line(struct builder_plane *p, int64_t id, const char *name,
				  int64_t timestamp_ns);
void builder_line_display(struct builder_line *l, int64_t id, const char *name);
void builder_line_duration(struct builder_line *l, int64_t ps);

/* Offset and duration in ps; a duration of 0 is left out, as protobuf does. */
struct builder_stats *builder_event(struct builder_line *l, const char *name, int64_t start_ps,
				    int64_t duration_ps);
/* An event without a time that stands for several. */
struct builder_stats *builder_event_aggregated(struct builder_line *l, const char *name,
					       int64_t occurrences, int64_t duration_ps);
/* An event whose metadata id is given, and need not be known. */
struct builder_stats *builder_event_id(struct builder_line *l, int64_t metadata_id,
				       int64_t start_ps, int64_t duration_ps);

struct builder_stats *builder_plane_stats(struct builder_plane *p);
/* Of the metadata of that name, made if there is none. */
struct builder_stats *builder_metadata_stats(struct builder_plane *p, const char *name);
void builder_metadata_display(struct builder_plane *p, const char *name, const char *display_name);
void builder_metadata_child(struct builder_plane *p, const char *name, const char *child);

void builder_stat_int(struct builder_stats *s, const char *name, int64_t value);
void builder_stat_uint(struct builder_stats *s, const char *name, uint64_t value);
void builder_stat_double(struct builder_stats *s, const char *name, double value);
void builder_stat_str(struct builder_stats *s, const char *name, const char *value);
void builder_stat_ref(struct builder_stats *s, const char *name, const char *value);
void builder_stat_bytes(struct builder_stats *s, const char *name, const void *bytes, size_t size);
/* A stat whose ids are given; ref: the id of the text. */
void builder_stat_int_id(struct builder_stats *s, int64_t stat_id, int64_t value);
void builder_stat_ref_id(struct builder_stats *s, const char *name, uint64_t ref);
/* A stat without a value. */
void builder_stat_empty(struct builder_stats *s, const char *name);

/* ---- odd things ---- */

/* Map entries as given: any id, also twice. Names that are mentioned later do
 * not use these entries. */
void builder_event_metadata(struct builder_plane *p, int64_t id, const char *name);
void builder_stat_metadata(struct builder_plane *p, int64_t id, const char *name);
/* An entry whose key is key though the metadata says id; without the key if
 * with_key is false. */
void builder_event_metadata_key(struct builder_plane *p, bool with_key, int64_t key, int64_t id,
				const char *name);
/* Metadata before the lines; after them by default, as writers do. */
void builder_metadata_first(struct builder_plane *p);
/* Bytes put as they are at the end of the message (of an event: where its
 * stats are). */
void builder_raw(struct builder *b, const void *bytes, size_t size);
void builder_raw_plane(struct builder_plane *p, const void *bytes, size_t size);
void builder_raw_line(struct builder_line *l, const void *bytes, size_t size);
void builder_raw_stats(struct builder_stats *s, const void *bytes, size_t size);
/* Fields that no version of the format has, one of every wire type, in the
 * space and in every plane, line, event and metadata entry made so far. */
void builder_unknown_fields(struct builder *b);

/* The id under which a name is known; makes it known. */
int64_t builder_event_name_id(struct builder_plane *p, const char *name);
int64_t builder_stat_name_id(struct builder_plane *p, const char *name);

/* The encoded XSpace; the caller frees it with free(). The builder stays as it
 * is and can go on. */
uint8_t *builder_bytes(struct builder *b, size_t *size);
/* The same into a file. */
void builder_write(struct builder *b, const char *path);

#endif
