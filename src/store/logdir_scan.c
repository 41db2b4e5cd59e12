/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logdir_parts.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 30) /* of names, for a snapshot or a scan */

static uint64_t hash_text(const char *text, uint64_t seed)
{
	return tfp_hash_bytes(text, strlen(text), seed);
}

static uint64_t hash_runs(const struct tfp_run *runs, size_t count, uint64_t h)
{
	for (size_t i = 0; i < count; i++) {
		const struct tfp_run *run = &runs[i];
		h = hash_text(run->name, h);
		for (size_t j = 0; j < run->host_count; j++) {
			h = hash_text(run->hosts[j].path, h);
			h = tfp_file_identity_hash(&run->hosts[j].identity, h);
		}
	}
	return h;
}

/* Of the content, and no counter, so that it is the same after a restart. */
static uint64_t content_hash(const struct tfp_logdir_snapshot *s)
{
	const uint64_t totals[] = {s->run_count, s->event_run_count, s->folders, s->files,
				   s->truncated};
	uint64_t h = tfp_hash_bytes(totals, sizeof(totals), 0);
	h = hash_runs(s->runs, s->run_count, h);
	h = hash_runs(s->event_runs, s->event_run_count, h);
	for (size_t i = 0; i < s->note_count; i++)
		h = hash_text(s->notes[i], h);
	return h;
}

static void scan_release(struct tfp_scan *s)
{
	tfp_arena_release(&s->scratch);
	tfp_buf_release(&s->path);
	tfp_free(s->pending);
	tfp_free(s->found);
	tfp_free(s->events);
	tfp_free(s->folders);
	tfp_free(s->event_folders);
	tfp_free(s->links);
	tfp_free(s->visited);
	tfp_free(s->notes);
	tfp_free(s);
}

void tfp_snapshot_free(struct tfp_snapshot *snapshot)
{
	if (snapshot) {
		tfp_arena_release(&snapshot->arena);
		tfp_free(snapshot);
	}
}

enum tfp_status tfp_logdir_away(const struct tfp_logdir *dir, int error, struct tfp_error *err)
{
	const char *what = dir->only ? "file" : "log directory";
	if (error == ENOENT || error == ENOTDIR || error == ESTALE)
		tfp_fail(err, TFP_UNAVAILABLE, "the %s %s is not there any more", what, dir->path);
	else
		tfp_fail(err, TFP_UNAVAILABLE, "the %s %s cannot be read: %s", what, dir->path,
			 strerror(error));
	tfp_error_set_hint(err, "once it is back, so are its runs");
	return TFP_UNAVAILABLE;
}

enum tfp_status tfp_logdir_scan(struct tfp_logdir *dir, int root, const char *root_real,
				struct tfp_snapshot **out, struct tfp_error *err)
{
	struct tfp_snapshot *snapshot = tfp_calloc(1, sizeof(*snapshot));
	struct tfp_scan *s = tfp_calloc(1, sizeof(*s));
	if (!snapshot || !s) {
		tfp_free(snapshot);
		tfp_free(s);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to list %s", dir->path);
	}
	tfp_arena_init(&snapshot->arena, MAX_BYTES);
	tfp_arena_init(&s->scratch, MAX_BYTES);
	tfp_buf_init(&s->path, TFP_SCAN_MAX_PATH);
	atomic_init(&snapshot->references, 1);
	s->dir = dir;
	s->root = root;
	s->root_real = root_real;
	s->arena = &snapshot->arena;
	if (dir->only) {
		struct stat st;
		size_t stem;
		s->folder_total = 1;
		/* Named by the user, so it may be a link to anywhere. */
		if (fstatat(root, dir->only, &st, 0) != 0) {
			s->root_error = errno;
		} else if (!S_ISREG(st.st_mode)) {
			s->root_error = ENOENT;
		} else {
			s->file_total = 1;
			tfp_scan_add_capture(
				s, tfp_scan_copy(s, s->arena, dir->only, strlen(dir->only)),
				tfp_name_compression(dir->only, &stem), &st);
			tfp_scan_add_folder(s, "", 0);
		}
	} else {
		s->root_error = tfp_scan_walk(s);
		if (!s->root_error && s->founds.count == 0 && !s->no_memory)
			tfp_scan_explain(s);
	}
	if (s->root_error) {
		enum tfp_status status = tfp_logdir_away(dir, s->root_error, err);
		scan_release(s);
		tfp_snapshot_free(snapshot);
		return status;
	}
	struct tfp_logdir_snapshot *public = &snapshot->public;
	if (!s->no_memory)
		tfp_scan_make_runs(s, public);
	if (s->notes_dropped) {
		s->note_list.count--;
		tfp_scan_note(s, "and %zu more notes", s->notes_dropped + 1);
	}
	const char **notes = tfp_arena_alloc(s->arena, s->note_list.count * sizeof(*notes));
	if (!notes || s->no_memory) {
		scan_release(s);
		tfp_snapshot_free(snapshot);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to list %s", dir->path);
	}
	if (s->note_list.count)
		memcpy(notes, s->notes, s->note_list.count * sizeof(*notes));
	public->notes = notes;
	public->note_count = s->note_list.count;
	public->folders = s->folder_total;
	public->files = s->file_total;
	public->truncated = s->truncated;
	public->generation = content_hash(public);
	scan_release(s);
	*out = snapshot;
	return TFP_OK;
}
